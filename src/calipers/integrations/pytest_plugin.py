"""A pytest fixture that fails a test when scores are worse than a limit or a baseline.

pytest detects this module automatically once Calipers is installed; it loads nothing heavy before
the fixture is used.

    def test_the_model_keeps_its_variety(calipers_check):
        calipers_check("run.zip", fail_if="recall < 0.8", against="baseline.zip")

A test fails where :func:`calipers.check` fails. Where that is inconclusive, the test is skipped,
passes with a warning, or fails: ``--calipers-inconclusive`` on the command line, or
``calipers_inconclusive`` in the settings of pytest, says which.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from calipers.commands.check.result import Check
    from calipers.results.comparison import Comparison
    from calipers.results.texts import TextComparison

    Run = Comparison | TextComparison | str | Path

INI, FLAG = "calipers_inconclusive", "--calipers-inconclusive"
ENDS = ("skip", "pass", "fail")


class InconclusiveWarning(UserWarning):
    """A check passed by setting although the samples were too few to decide it."""


class CalipersCheck(Protocol):
    """The fixture ``calipers_check``: checks scores of generated samples against limits."""

    def __call__(
        self,
        run: Run,
        *,
        fail_if: str | Sequence[str],
        against: Run | None = None,
        level: float = 0.95,
    ) -> Check:
        """Fail the test where a condition is met by more than chance.

        Parameters
        ----------
        run
            A comparison, or the path of one that was saved.
        fail_if
            One condition or several, as ``"recall < 0.8"`` or ``"mauve_star < baseline - 0.02"``.
        against
            The comparison that ``baseline`` stands for, or its path.
        level
            One less the chance of a false failure, and of a false pass; in (0.5, 1).

        Returns
        -------
        Check
            What was found, where the test goes on.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting for the outcome of an inconclusive check."""
    help = "outcome of a test whose calipers_check is inconclusive"
    parser.getgroup("calipers").addoption(FLAG, choices=ENDS, default=None, help=help)
    parser.addini(INI, f"{help}: {', '.join(ENDS)}", default=ENDS[0])


def pytest_configure(config: pytest.Config) -> None:
    """Refuse an invalid setting.

    Raises
    ------
    pytest.UsageError
        Names the setting and what was found.
    """
    if config.getini(INI) not in ENDS:
        raise pytest.UsageError(f"{INI} must be skip, pass or fail; found {config.getini(INI)!r}")


@pytest.fixture
def calipers_check(pytestconfig: pytest.Config) -> CalipersCheck:
    """Check the scores of generated samples against limits; see :class:`CalipersCheck`."""
    ends = pytestconfig.getoption(FLAG) or pytestconfig.getini(INI)

    def check(
        run: Run,
        *,
        fail_if: str | Sequence[str],
        against: Run | None = None,
        level: float = 0.95,
    ) -> Check:
        __tracebackhide__ = True
        from calipers.commands.check.run import check as run_check

        result = run_check(run, fail_if=fail_if, baseline=against, level=level)
        if result.outcome == "fails" or (result.outcome == "inconclusive" and ends == "fail"):
            pytest.fail(result.sentence, pytrace=False)
        if result.outcome == "inconclusive":
            if ends == "skip":
                pytest.skip(result.sentence)
            warnings.warn(InconclusiveWarning(result.sentence), stacklevel=2)
        return result

    return check
