"""A check ──► JUnit XML, as the test reports of CI systems read it.

A test case for each condition on each system: one that fails holds a ``failure``, one that is
inconclusive is ``skipped``, or fails where an inconclusive check is to fail.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from calipers.commands.check.document import sentence
from calipers.report.table import Data
from calipers.wording.names import clean


def junit(data: Data) -> str:
    """Write a check as JUnit XML.

    Parameters
    ----------
    data
        What ``Check.to_dict()`` gives.
    """
    strict = data["settings"]["inconclusive"] == "fail"
    cases = [(row, _kind(row["outcome"], strict=strict)) for row in data["checked"]]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(kind == "failure" for _, kind in cases)),
        "errors": "0",
        "skipped": str(sum(kind == "skipped" for _, kind in cases)),
    }
    root = Element("testsuites", counts)
    suite = SubElement(
        root, "testsuite", {"name": f"calipers check {clean(data['run'])}", **counts}
    )
    for row, kind in cases:
        system, condition = clean(row["system"]), clean(row["condition"])
        about = {"classname": system, "name": condition, "time": "0"}
        case = SubElement(suite, "testcase", about)
        found = sentence(row)
        if kind:
            SubElement(case, kind, {"message": found})
        else:
            SubElement(case, "system-out").text = found
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _kind(outcome: str, *, strict: bool) -> str:
    """What a test case holds; nothing where it passes."""
    undecided = "failure" if strict else "skipped"
    return {"passes": "", "fails": "failure"}.get(outcome, undecided)
