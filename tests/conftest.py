from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROOT = Path(__file__).resolve().parent.parent

# Laws are no tests of time: a first example may compile a kernel, and the machine may be busy
settings.register_profile(
    "calipers", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calipers")


def pytest_collection_modifyitems(config, items):
    """Try laws on a third of their examples while working; on all in full runs and in CI."""
    if config.option.markexpr != "not slow" or "CI" in os.environ:
        return
    functions = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for law in filter(is_hypothesis_test, functions):
        full = law._hypothesis_internal_use_settings
        fewer = settings(full, max_examples=max(5, full.max_examples // 3))
        law._hypothesis_internal_use_settings = fewer


@pytest.fixture
def no_keys(monkeypatch):
    """No key for services in the environment."""
    for name in ("CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def waits():
    """How long a client waited each time it would have slept."""
    return []


@pytest.fixture
def rng():
    return np.random.default_rng(20180712)


def outside(variable, default):
    folder = Path(os.environ.get(variable, ROOT.parent / "shared" / default))
    if not folder.is_dir():
        pytest.skip(f"{variable} does not name a folder, and the default is absent")
    return folder


@pytest.fixture(scope="session")
def data_folder():
    """Real texts that are not part of the project; tests that use them skip without."""
    return outside("CALIPERS_DATA", "data")


@pytest.fixture(scope="module")
def experiments():
    """The folder of the experiments, importable by name; an sdist does not hold it."""
    folder = ROOT / "research" / "experiments"
    if not folder.is_dir():
        pytest.skip("the experiments are not part of an sdist")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


# Stand-ins for the computing, so that tests can be about the command line alone


def scores(value: float) -> dict[str, Any]:
    rest = {"interval": None, "level": None, "range": [0.0, 1.0], "better": "higher"}
    rest["signature"] = ""
    keys = ("precision", "recall", "coverage", "mauve_star")
    return {key: {"value": value, "reason": None, **rest} for key in keys}


def row(name: str, value: float | None = None) -> dict[str, Any]:
    some = {} if value is None else {"scores": scores(value), "seeds": []}
    about = {"source": name, "n": 9, "n_given": 9, "words": {"mean": 5.0, "median": 5.0}}
    about["content_hash"] = "0"
    return {"name": name, **about, **some, "warnings": []}


EXAMPLE = "A secret text of model_b"
"""What the warning of the second system quotes."""


EXPLAINED: list[str | None] = []
"""With which maps a comparison was explained."""


@dataclass(frozen=True)
class StandInComparison:
    """What the command line sees of a comparison."""

    kind: ClassVar[str] = "comparison"

    settings: dict[str, Any] = field(
        default_factory=lambda: {"embedder": "minilm", "views": ["meaning"], "seed": 0}
    )

    data: dict[str, Any] | None = None

    def to_dict(self, *, per_sample: bool = False) -> dict[str, Any]:
        if self.data is not None:
            return self.data
        settings = {**self.settings, "per": per_sample}
        human = {**row("human"), "warnings": ["one text is empty"]}
        shares = ("usual", "generated_usual", "generated_foreign", "expected")
        shares += ("reference_foreign", "reference_expected", "n", "m")
        language = {**dict.fromkeys(shares, 0.5), "example": EXAMPLE}
        quoted = {**row("model_b", 0.25), "confounders": {"language": language}}
        quoted["warnings"] = [f"in 5 % of its texts, such as {EXAMPLE!r}: they are foreign"]
        systems = [row("model_a", 0.75), quoted]
        data = {"calipers": "0.1.0", "settings": settings, "reference": human}
        return {**data, "systems": systems, "warnings": []}

    def document(self, **options: Any) -> Any:
        from calipers.report.comparison.document import document

        return document(self.typed(), **options)

    def summary(self) -> Any:
        from calipers.report.comparison.document import summary

        return summary(self.typed())

    def typed(self) -> Any:
        """The comparison that this stands for."""
        from calipers.results.comparison import Comparison

        return Comparison.from_dict(self.data or self.to_dict())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StandInComparison:
        return cls(data=data)

    def report_data(self, *, redact: bool = False, map_method: str | None = None) -> dict[str, Any]:
        return {"comparison": self.to_dict(), "redacted": redact, "method": map_method}

    def explained(self, *, map_method: str | None = None, progress: Any = None) -> Any:
        EXPLAINED.append(map_method)
        return self

    def save(self, path: str) -> None:
        Path(path).write_bytes(b"zip")

    @classmethod
    def load(cls, path: str) -> StandInComparison:
        return cls()


class Calls:
    """Remembers what was asked for, and can be told what to do instead of computing."""

    def __init__(self) -> None:
        self.compare: list[dict[str, Any]] = []
        self.read: list[tuple[Any, str | None]] = []
        self.groups: list[tuple[Any, str | None]] = []
        self.clusters: list[tuple[Any, str | None]] = []
        self.skips: list[bool] = []
        self.explained = EXPLAINED
        EXPLAINED.clear()
        self.act = lambda: None


@pytest.fixture
def calls(monkeypatch) -> Calls:
    """Put the stand-ins in the place of the modules that compute."""
    seen = Calls()

    def compare(reference, generated, **options):
        seen.compare.append({"reference": reference, "generated": generated, **options})
        seen.act()
        return StandInComparison()

    def read(paths, *, field=None, group=None, cluster=None, cluster_needed=True, skip_bad=False):
        seen.read.append((paths, field))
        seen.groups.append((paths, group))
        seen.clusters.append((paths, cluster))
        seen.skips.append(skip_bad)
        return paths

    stand_in(monkeypatch, "calipers.commands.compare.run", compare=compare)
    monkeypatch.setattr("calipers.samples.read_samples", read)
    monkeypatch.setattr("calipers.samples.read_systems", read)
    monkeypatch.setattr("calipers.results.Comparison", StandInComparison)
    monkeypatch.setattr("calipers.results.result.Result.load", StandInComparison.load)
    monkeypatch.setattr("calipers.report.html.html_page", lambda data: f"<html>{data}</html>\n")

    def run(*, seed=0, progress=None):
        return compare("topics", ["held_out"], seed=seed, progress=progress)

    stand_in(monkeypatch, "calipers.commands.demo.run", demo=run, READING="One. Two. Three.")
    return seen


def stand_in(monkeypatch, name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def calipers(tmp_path, monkeypatch):
    """Run ``calipers`` with some arguments in an empty folder."""
    from typer.testing import CliRunner

    from calipers.cli import app

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str):
        return CliRunner().invoke(app, [*arguments], prog_name="calipers")

    return run
