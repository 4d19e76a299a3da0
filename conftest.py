"""Where an optional package is missing, its modules are left out of the search for doctests."""

from importlib.util import find_spec

NEEDS_TORCH = ["src/calipers/embed/states/bert.py"]

collect_ignore = [] if find_spec("torch") else NEEDS_TORCH
