"""Small studies with a clock that stands still, and visitors of their pages."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from calipers.annotation.study import AnnotationStudy
from calipers.judgements.rubric import PAIRS


def _beside(name: str) -> None:
    """Let tests import a helper that stands beside this file."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


if "annotation_helpers" not in sys.modules:
    _beside("annotation_helpers")

from annotation_helpers import Clock, Visitor, make_items, make_long_checks  # noqa: E402


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def study(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., AnnotationStudy]]:
    """Make a study; closed at the end of the test."""
    opened: list[AnnotationStudy] = []

    def make(
        number: int = 6, *, name: str = "study.sqlite", checks: int = 0, **changed: Any
    ) -> AnnotationStudy:
        given: dict[str, Any] = {"annotators": ["ada", "grace"], "rubric": PAIRS, **changed}
        items = given.pop("items", None) or make_items(number)
        made = AnnotationStudy.make(
            tmp_path / name, items, checks=make_long_checks(checks), clock=clock, **given
        )
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def visit() -> Callable[..., Visitor]:
    """Visit a study, as an annotator where one is named."""

    def visiting(study: AnnotationStudy, name: str | None = None, **settings: Any) -> Visitor:
        from calipers.annotation.app import make_app

        visitor = Visitor(make_app(study, **settings))
        if name is not None:
            token = next(each.token for each in study.annotators if each.name == name)
            assert visitor.get(f"/a/{token}").status_code == 303
        return visitor

    return visiting
