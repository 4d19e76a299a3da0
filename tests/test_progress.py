"""The progress that shows nothing."""

from __future__ import annotations

import pytest

from calipers.progress import Progress, Silent


def test_silent_takes_any_task_and_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    progress: Progress = Silent()
    with progress.task("embedding human", total=None) as advance:
        advance(3)
        with progress.task("neighbours", total=10) as inner:
            inner(10)
    assert capsys.readouterr() == ("", "")


def test_silent_lets_an_error_through() -> None:
    with pytest.raises(KeyError, match="row"), Silent().task("embedding", total=1):
        raise KeyError("row")
