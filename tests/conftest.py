from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROOT = Path(__file__).resolve().parent.parent

# Laws are no tests of time: a first example may load a package, and the machine may be busy
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

LANGUAGE = {"generated_foreign": 0.05, "expected": 0.0, "example": EXAMPLE}


EXPLAINED: list[str | None] = []
"""With which maps a comparison was explained."""


def stand_in_comparison() -> Any:
    """A comparison as the command line sees one; what takes time and room is left out."""
    from calipers.evaluate.verdict import decided
    from calipers.results.comparison import Comparison

    class StandIn(Comparison):
        def _of_samples(self) -> dict[str, Any]:
            return {"settings": {**self.settings, "per": True}}

        def explained(self, *, map_method: Any = None, progress: Any = None) -> Any:
            EXPLAINED.append(map_method)
            return self

    human = {**row("human"), "warnings": ["one text is empty"]}
    quoted = {**row("model_b", 0.25), "confounders": {"language": LANGUAGE}}
    quoted["warnings"] = [f"in 5 % of its texts, such as {EXAMPLE!r}: they are foreign"]
    settings = {"embedder": "minilm", "views": ["meaning"], "seed": 0}
    data = {"calipers": "0.1.0", "kind": "comparison", "settings": settings, "reference": human}
    systems = [row("model_a", 0.75), quoted]
    undecided = {"shown": [], "findings": [], "verdict": {"cautions": []}}
    rest = {"systems": systems, "warnings": [], **undecided}
    return decided(StandIn.from_dict({**data, **rest}))


def stand_in_page(comparison: Any, *, redact: bool = False, sort: str | None = None) -> str:
    """A page as short as can be."""
    about = {"redacted": redact, "method": EXPLAINED[-1]}
    return f"<html>{about}{comparison.to_dict()}</html>\n"


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

    def measure(reference, generated, **options):
        seen.compare.append({"reference": reference, "generated": generated, **options})
        seen.act()
        return stand_in_comparison()

    def compare(reference, generated, *, options):
        return measure(reference, generated, **vars(options))

    def read(
        paths,
        *,
        field=None,
        group=None,
        cluster=None,
        cluster_needed=True,
        skip_bad=False,
        beside=(),
    ):
        seen.read.append((paths, field))
        seen.groups.append((paths, group))
        seen.clusters.append((paths, cluster))
        seen.skips.append(skip_bad)
        return paths

    stand_in(monkeypatch, "calipers.commands.compare.run", compare=compare)
    monkeypatch.setattr("calipers.samples.read_samples", read)
    monkeypatch.setattr("calipers.samples.read_systems", read)
    monkeypatch.setattr("calipers.results.result.Result.load", lambda path: stand_in_comparison())
    monkeypatch.setattr(
        "calipers.results.Comparison.save", lambda self, path: Path(path).write_bytes(b"zip")
    )
    monkeypatch.setattr("calipers.report.html.html_page", stand_in_page)

    def run(*, seed=0, progress=None):
        return measure("topics", ["held_out"], seed=seed, progress=progress)

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
