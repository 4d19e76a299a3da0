"""A check as JUnit XML, the format in which CI systems read test reports.

There is a test case for each condition on each system: one that fails has a ``failure``, one that
is inconclusive is ``skipped``, or fails where an inconclusive check is to fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from calipers.commands.check.document import sentence
from calipers.wording.names import clean

if TYPE_CHECKING:
    from calipers.commands.check.result import Check, Outcome


def junit(check: Check) -> str:
    """Write a check as JUnit XML."""
    strict = check.settings["inconclusive"] == "fail"
    cases = [(row, _kind(row.outcome, strict=strict)) for row in check]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(kind == "failure" for _, kind in cases)),
        "errors": "0",
        "skipped": str(sum(kind == "skipped" for _, kind in cases)),
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": f"calipers check {clean(check.run)}", **counts})
    for row, kind in cases:
        about = {"classname": clean(row.system), "name": clean(row.condition), "time": "0"}
        case = SubElement(suite, "testcase", about)
        if kind:
            SubElement(case, kind, {"message": sentence(row)})
        else:
            SubElement(case, "system-out").text = sentence(row)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _kind(outcome: Outcome, *, strict: bool) -> str:
    """Name the element of a test case; none where it passes."""
    undecided = "failure" if strict else "skipped"
    return {"passes": "", "fails": "failure"}.get(outcome, undecided)
