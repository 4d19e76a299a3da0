"""What all tests and the examples in docstrings share: which of them run, and what was left out.

``pytest`` alone runs all but the slow tests, a file at a time in as many processes as there are
processors; ``pytest --slow`` runs them too. Whatever names files, marks or words runs what it
names, in one process. The last lines say what was left out, and which extras it needs.
"""

from __future__ import annotations

import doctest
import os
import signal
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from extras import REASON, lack_of, need_all  # tests/helpers

# Processes that tests start, Ray's actors and torch's ranks, import the tests that they come from
HELPERS = str(Path(__file__).parent / "tests" / "helpers")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), HELPERS]))

# A shell starts what runs in its background deaf to Ctrl-C, and so all that tests start there
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["tests/data/inspect/make_logs.py", "tests/data/lm_eval/make_log.py"]  # by hand

PROCESSES = 8
"""The most that are used unasked; each takes up to 2 GB."""

SLOW = pytest.StashKey[int]()
"""How many slow tests were left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Leave the slow tests out and use all processors, where nothing else was asked for."""
    option = config.option
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    if not (option.slow or option.markexpr or option.keyword):
        option.markexpr = "not slow"
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # one of the processes: it starts none
    if getattr(option, "numprocesses", 0) is None and not option.usepdb:  # xdist is there, unasked
        option.numprocesses = min(_processors(), PROCESSES)
        option.dist = "loadfile"
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # beside others, waiting awake is slow


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr == "not slow":
        config.stash[SLOW] = sum(item.get_closest_marker("slow") is not None for item in items)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip the examples of a module of ours that imports what an extra brings.

    A file that is skipped is reported as itself: xdist hands on one of several equal reports.
    """
    if type(collector).__name__ == "DoctestModule":
        collector.collect = need_all(collector.collect)  # type: ignore[method-assign]
    report = yield
    if _needed(report):
        report.longrepr = (str(collector.path), None, report.longrepr[2])
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Skip an example in a docstring that calls what an extra brings."""
    try:
        yield
    except doctest.UnexpectedException as failure:
        lack_of(failure.exc_info[1])
        raise


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # a process of xdist: hand on what it counted
        session.config.workeroutput["slow"] = session.config.stash.get(SLOW, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if "slow" in getattr(node, "workeroutput", {}):
        node.config.stash[SLOW] = node.workeroutput["slow"]  # each collects all tests


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Sum up what was left out, and why."""
    files, tests = Counter[str](), Counter[str]()
    for report in terminalreporter.stats.get("skipped", []):
        needed = _needed(report)
        if needed:
            (files if isinstance(report, pytest.CollectReport) else tests)[needed] += 1
    parts = [
        f"{' and '.join(filter(None, amounts))} for want of {needed}"
        for needed, _ in (files + tests).most_common()
        for amounts in [(_amount(files[needed], "file"), _amount(tests[needed], "test"))]
    ]
    if slow := config.stash.get(SLOW, 0):
        parts.append(f"{_amount(slow, 'slow test')} (pytest --slow)")
    if parts:
        terminalreporter.write_line("Not run:")
    for part in parts:
        terminalreporter.write_line(f"  {part}")


def _needed(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What a test, or a file, was skipped for want of; nothing where it was for another reason."""
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
    _, found, needed = reason.partition(f"Skipped: {REASON}")
    return needed if found else ""


def _amount(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count > 1 else ''}" if count else ""
