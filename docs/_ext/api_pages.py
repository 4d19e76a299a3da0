"""A page for each public name, from its docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

FOLDER = "api"

MODULES = (
    "calipers",
    "calipers.metrics",
    "calipers.text",
    "calipers.samples",
    "calipers.embedders",
    "calipers.estimate",
    "calipers.curves",
    "calipers.explain",
    "calipers.results",
    "calipers.report",
    "calipers.report.plots",
)
"""Modules whose public names are in ``__all__``."""

ROOMS = ("calipers.integrations", "calipers.compat")
"""Packages each module of which is for another tool."""

ABSOLUTE = re.compile(r"\|(\w[^|`]* - [^|`]*)\|")
"""The absolute value of a difference."""

BAR = re.compile(r"(``.*?``|`.*?`)|\|", re.DOTALL)
"""A bar of a module's docstring, or code, in which bars stay as they are."""


@cache
def public_modules() -> tuple[str, ...]:
    """List the modules of the reference; those for other tools as far as these are installed."""
    found = list(MODULES)
    for room in ROOMS:
        try:
            package = importlib.import_module(room)
        except ImportError:
            continue
        for each in sorted(pkgutil.iter_modules(package.__path__), key=lambda each: each.name):
            name = f"{room}.{each.name}"
            if not each.name.startswith("_") and _names(name):
                found.append(name)
    return tuple(found)


@cache
def _names(module: str) -> tuple[str, ...]:
    """List the public names of a module that are no modules themselves, sorted."""
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        return ()
    own = [
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]
    before = MODULES[: MODULES.index(module)] if module in MODULES else MODULES
    elsewhere = [value for each in before for value in _values(each)]
    names = getattr(loaded, "__all__", own)
    public = [name for name in names if not name.startswith("__")]
    return tuple(sorted(name for name in public if _is_own(getattr(loaded, name), elsewhere)))


def _values(module: str) -> list[object]:
    """List what the public names of a module stand for."""
    loaded = importlib.import_module(module)
    return [getattr(loaded, name) for name in loaded.__all__]


def _is_own(value: object, elsewhere: list[object]) -> bool:
    """Whether a value is of this package, no module, and not documented with a module before."""
    if inspect.ismodule(value) or any(value is each for each in elsewhere):
        return False
    return getattr(value, "__module__", "calipers").startswith("calipers")


def _pages(module: str) -> dict[str, list[str]]:
    """Group the names by page: those that differ in case alone share one, as file systems may."""
    found: dict[str, list[str]] = {}
    for name in _names(module):
        found.setdefault(f"{module}.{name}".lower(), []).append(name)
    return found


def _page(module: str, names: list[str]) -> str:
    """Write the page of one name, or of some that differ in case alone."""
    title = f"{module}.{' and '.join(names)}"
    parts = [f"{title}\n{'=' * len(title)}\n", *(_directive(module, name) for name in names)]
    return "\n".join(parts)


def _directive(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        options = "   :members:\n"
    else:
        kind, options = ("autofunction" if callable(value) else "autodata"), ""
    return f".. {kind}:: {module}.{name}\n{options}{_makers(module, value)}"


def _makers(module: str, value: object) -> str:
    """Say which functions return a class that shows no example itself: their pages have one."""
    if not inspect.isclass(value) or ">>> " in (inspect.getdoc(value) or ""):
        return ""
    word = re.compile(rf"\b{value.__name__}\b")
    links = [
        f":func:`{place}.{other}`"
        for place in dict.fromkeys((module, *MODULES))
        for other in _names(place)
        if inspect.isroutine(function := getattr(importlib.import_module(place), other))
        and word.search(str(inspect.unwrap(function).__annotations__.get("return", "")))
    ]
    return f"\nReturned by {', '.join(links)}, with an example there.\n" if links else ""


def _first(value: object) -> str:
    """Return the first paragraph of a docstring, on one line."""
    if not callable(value):
        return f"A {type(value).__name__}."
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split())


def _module_page(module: str, names: Sequence[str]) -> str:
    loaded = importlib.import_module(module)
    told = BAR.sub(lambda found: found[1] or r"\|", inspect.getdoc(loaded) or "")
    lines = [module, "=" * len(module), "", told, ""]
    lines += [".. list-table::", "   :widths: 35 65", ""]
    for name in names:
        lines += [
            f"   * - :doc:`{name} <{f'{module}.{name}'.lower()}>`",
            f"     - {_first(getattr(loaded, name))}",
        ]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {' and '.join(group)} <{page}>" for page, group in _pages(module).items()]
    return "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    """Write all pages below the source folder, but those that are as they should be."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    modules = public_modules()
    entries = "\n".join(modules)
    pages = {
        "index.md": "# API reference\n\nThe public names, from their docstrings. What is not "
        "listed here may "
        "change at any time. Every option of the commands, in Python and on the command line, "
        "is on "
        "[a page of its own](../options.md).\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"
    }
    for module in modules:
        names = _names(module)
        pages[f"{module}.rst"] = _module_page(module, names)
        pages |= {f"{page}.rst": _page(module, group) for page, group in _pages(module).items()}
    for stale in [*folder.glob("*.rst"), *folder.glob("*.md")]:
        if stale.name not in pages:
            stale.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def escape_bars(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep absolute values, |a - b|, from being read as substitutions."""
    lines[:] = [ABSOLUTE.sub(r"\\|\1\\|", line) for line in lines]


def find(target: str) -> object:
    """Find what a dotted name stands for; None where it stands for nothing."""
    module, rest = target, []
    while module:
        try:
            value: object = importlib.import_module(module)
        except ImportError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
            continue
        for name in rest:
            value = getattr(value, name, None)
        return value
    return None


def link(app: Sphinx, env: Any, node: pending_xref, content: nodes.Element) -> nodes.Node | None:
    """Link a name of the inner modules to the page of the public name that stands for the same."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("calipers."):
        return None
    value = find(target)
    for module in public_modules() if value is not None else ():
        for name in _names(module):
            if getattr(importlib.import_module(module), name) is value:
                domain = env.get_domain("py")
                public = f"{module}.{name}"
                return domain.resolve_xref(
                    env, node["refdoc"], app.builder, "obj", public, node, content
                )
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
    app.connect("missing-reference", link)
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
