"""The commands of docs/text.md print what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "text.md").read_text("utf-8")


def without_zlib(text):
    """Leave out the row that belongs to the version of zlib."""
    return [line for line in text.splitlines() if not line.startswith("  Compression")]


def test_the_commands_of_the_page(calipers):
    (code,) = re.findall(r"```python\n(import random\n.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/text.md", "exec"), {})
    shown = re.findall(r"```sh\n(calipers text .*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for command, expected in shown:
        printed = calipers(*shlex.split(command)[1:]).stdout.rstrip()
        assert without_zlib(printed) == without_zlib(expected)


def test_every_key_of_the_page_is_known():
    from calipers.catalogue.choosing import find_text
    from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

    keys = set(re.findall(r"`([a-z_0-9]+(?::[\w=.]+)*)`", PAGE))
    metrics = {key for key in keys if key.partition(":")[0] in TEXT_METRICS}
    assert len(metrics) > 20
    for key in metrics:
        find_text(key)
    assert {*TEXT_FAMILIES} <= keys
