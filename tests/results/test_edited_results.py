"""Results that were edited: refused on reading by one sentence, or shown, and never a traceback.

Places of the data are changed one at a time to what cannot stand there, or to what might. What is
read in spite of it must come through every format.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import calipers
from calipers.cli import app
from calipers.commands.check.run import check
from calipers.errors import CalipersError, InputError
from calipers.report import json_text, latex, markdown, plain, scores_csv
from calipers.report.render.csv import tables_csv
from calipers.report.render.html import page
from calipers.results import Comparison, Result
from calipers.results.result import class_of, load


def sample_results() -> dict[str, Callable[[], Result]]:
    """Give what makes a result of each kind, of the tests that stand beside these."""
    beside = Path(__file__).with_name("test_round_trips.py")
    spec = importlib.util.spec_from_file_location("sample_results", beside)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EVERY


EVERY = sample_results()
TRIED = 60
"""Changes of each result."""

CONDITIONS = ("recall < 0.5", "precision < 0.99", "frechet_distance > 3", "mauve_star < 0.5")
SCORED = ("comparison", "tuning", "texts", "likelihoods")


def nested(levels: int) -> Any:
    deep: Any = 0
    for _ in range(levels):
        deep = [deep]
    return deep


GONE = object()
VALUES = (GONE, None, True, 0, -1, 5.0, -0.5, 1e300, 10**400, "", "x", "y" * 5_000, "<b>", [], {})
VALUES += (
    [1],
    [None],
    ["x"],
    [[]],
    {"x": {}},
    {"a": None},
    nested(200),
    float("nan"),
    float("inf"),
)


def places(data: Any, at: tuple = ()) -> Iterator[tuple]:
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, each in items:
        yield (*at, key)
        if isinstance(each, dict | list):
            yield from places(each, (*at, key))


def edits(data: Any, seed: int) -> Iterator[tuple[tuple, Any]]:
    """Give a place of each shape with each value, in a random order."""
    rng, alike = random.Random(seed), {}
    for place in places(data):
        alike.setdefault(tuple("#" if isinstance(s, int) else s for s in place), []).append(place)
    every = [(rng.choice(found), value) for found in alike.values() for value in VALUES]
    rng.shuffle(every)
    yield from every[:TRIED]


def edited(data: Any, place: tuple, value: Any) -> Any:
    new = part = copy.deepcopy(data)
    for step in place[:-1]:
        part = part[step]
    if value is GONE:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    return new


def show_all(result: Result) -> None:
    """Write a result in every format, and check what can be checked."""
    data, kind = result.to_dict(), result.kind
    json_text(data)
    details = {"details": True} if kind in ("comparison", "tuning") else {}
    result = class_of(kind).from_dict(data)
    for document in (result.document(**details), result.summary()):
        for write in (plain, markdown, latex, tables_csv, page):
            write(document)
    list(result._rows())
    if kind in SCORED:
        scores_csv(result)
        for condition in CONDITIONS:
            try:
                assert check(result, fail_if=condition).exit_code in (0, 1, 3)
            except InputError:
                continue
    if kind == "check":
        result.junit()


def try_out(data: Any, kind: str, seed: int) -> int:
    """Edit a result in many ways; give how often it was refused."""
    show_all(class_of(kind).from_dict(data))
    refused = 0
    for place, value in edits(data, seed):
        try:
            found = class_of(kind).from_dict(edited(data, place, value))
        except InputError:
            refused += 1
            continue
        try:
            show_all(found)
        except CalipersError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{kind}: {place} as {value!r:.40}: {error!r}") from error
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("made", EVERY.values(), ids=EVERY)
def test_an_edited_result_is_refused_or_shown(made):
    result = made()
    assert try_out(json.loads(json.dumps(result.to_dict())), result.kind, seed=0) > 0


@pytest.fixture(scope="module")
def run() -> Comparison:
    rng = np.random.default_rng(0)
    reference, *others = rng.normal(size=(3, 240, 4))
    return calipers.compare(
        reference,
        {"a": others[0], "b": others[1] + 0.5},
        metrics="precision,recall,mauve_star,frechet_distance",
        floor=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_edited_comparison_is_refused_or_shown_and_checked(run, seed):
    assert try_out(json.loads(json.dumps(run.to_dict())), "comparison", seed) > 0


RECALL = ("systems", 0, "scores", "recall")


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (
            (*RECALL, "value"),
            5.0,
            "systems[0].scores.recall: value is 5, outside of its range 0 to",
        ),
        ((*RECALL, "value"), -0.5, "value is -0.5, outside of its range 0 to 1"),
        ((*RECALL, "value"), float("nan"), "it holds NaN, which is no JSON"),
        ((*RECALL, "value"), float("inf"), "it holds Infinity, which is no JSON"),
        ((*RECALL, "value"), 1e300, "value is 1e+300, beyond what a number can be"),
        ((*RECALL, "value"), True, "value is True, not a number"),
        ((*RECALL, "interval"), [0.9, 0.1], "interval is (0.9, 0.1), not a lower and an upper"),
        ((*RECALL, "level"), None, "level is null, though there is an interval"),
        ((*RECALL, "level"), 2.0, "level is 2, not a number between 0 and 1"),
        ((*RECALL, "range"), [1.0, 0.0], "range is 1 to 0, which holds no number"),
        ((*RECALL, "standard_error"), -1.0, "standard_error is -1, not a number of at least 0"),
        (("systems", 0, "scores"), [], "systems[0].scores is [], not an object"),
        (("settings", "metrics_shown"), 3, "settings.metrics_shown is 3, not a list"),
        (("settings", "views"), [], "settings lack 'views'"),
        (("settings", "note"), nested(50), "the setting 'note' has more than 8 levels"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".zip"])
def test_what_cannot_be_is_named_with_its_rule(
    run, tmp_path, monkeypatch, suffix, place, value, says
):
    monkeypatch.chdir(tmp_path)
    name = f"run{suffix}"
    write(run, name, edited(json.loads(json.dumps(run.to_dict())), place, value))
    with pytest.raises(InputError) as told:
        load(name)
    assert str(told.value).startswith(f"{name}: is not ")
    assert says in str(told.value)
    for command in (["check", name, "--fail-if", "recall < 0.5"], ["show", name]):
        done = CliRunner().invoke(app, command)
        assert (done.exit_code, "Traceback" in done.stderr) == (2, False)


def write(run: Comparison, name: str, data: Any) -> None:
    """Write a result whose JSON was edited."""
    if name.endswith(".json"):
        with open(name, "w") as file:
            json.dump(data, file)
        return
    run.save("sound.zip")
    with zipfile.ZipFile("sound.zip") as sound, zipfile.ZipFile(name, "w") as made:
        for part in sound.namelist():
            content = sound.read(part)
            made.writestr(part, json.dumps(data) if part == "comparison.json" else content)


def test_a_plot_of_an_edited_sweep_is_refused_in_its_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = json.loads(json.dumps(EVERY["sweep"]().to_dict()))
    del data["settings"]["tolerance"]
    Path("run.json").write_text(json.dumps(data))
    done = CliRunner().invoke(app, ["plot", "sweep", "run.json", "-o", "out.svg"])
    assert done.exit_code == 2
    assert "run.json: is not a sweep of calipers, or is damaged: settings lack" in done.stderr
