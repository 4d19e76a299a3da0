"""Which value of a decoding parameter comes closest: paired samples, grids, a result as others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.commands.tune.run import make_points
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding, read_over
from calipers.language_model.model import Completion, LanguageModel, Request
from calipers.language_model.sampling import uniforms
from calipers.results.result import load

TOPICS = [f"topic{number} " + " ".join(f"w{number}x{k}" for k in range(6)) for number in range(8)]


class Topics(LanguageModel):
    """Texts of eight topics; a low temperature knows few of them."""

    name, revision = "topics", "1"

    def __init__(self) -> None:
        self.signature = {"embedder": "topics"}
        self.calls: list[str] = []

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Any = None,
    ) -> Iterator[Completion]:
        self.calls.append(str(decoding))
        weights = np.exp(-np.arange(8) / (decoding.temperature * 20)) ** (1 / decoding.temperature)
        for request in requests:
            u = uniforms(seed, request.id, 5)
            topic = int(np.searchsorted(np.cumsum(weights / weights.sum()), u[0]))
            words = TOPICS[min(topic, 7)].split()
            text = " ".join(words[int(each * len(words))] for each in u[1:])
            yield Completion(request.id, text, "stop", 4)


def real(size: int = 160, seed: int = 5) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(TOPICS[rng.integers(8)].split(), 4)) for _ in range(size)]


QUICK: dict[str, Any] = {"embedder": "tfidf", "floor": False, "cache": False}


@pytest.fixture(scope="module")
def tuning() -> calipers.Tuning:
    return calipers.tune(real(), model=Topics(), over="temperature=0.05,0.9,1.0", n=160, **QUICK)


def test_the_closest_value_and_those_like_it_are_named(tuning: calipers.Tuning) -> None:
    tuned = tuning.tuned
    assert tuned is not None
    assert tuned.score == "mauve_star"
    assert tuned.closest in ("temperature=0.9", "temperature=1")
    assert "temperature=0.05" in tuned.worse
    assert {tuned.closest, *tuned.tied} == {"temperature=0.9", "temperature=1"}
    assert [point.values for point in tuned.points] == [
        {"temperature": 0.05},
        {"temperature": 0.9},
        {"temperature": 1.0},
    ]
    best = max(tuning, key=lambda system: system["mauve_star"].value)
    assert best.name == tuned.closest


def test_values_are_compared_in_pairs(tuning: calipers.Tuning) -> None:
    between = [test for test in tuning.tests if test.b != "reference"]
    assert between
    assert all(test.paired for test in between)


def test_a_reference_that_nobody_continued_is_no_pair(tuning: calipers.Tuning) -> None:
    assert all(system.prompts is None for system in tuning)
    assert "pairs of rows" not in str(tuning)


def test_the_json_lists_systems_as_that_of_a_comparison_does(tuning: calipers.Tuning) -> None:
    data = tuning.to_dict()
    assert [system["name"] for system in data["systems"]] == [
        "temperature=0.05",
        "temperature=0.9",
        "temperature=1",
    ]
    assert data["tuned"]["closest"] == tuning.tuned.closest
    assert data["settings"]["generation"]["over"] == ["temperature"]
    assert calipers.Tuning.from_dict(data).tuned == tuning.tuned


def test_it_is_saved_and_shown_like_every_result(tuning: calipers.Tuning, tmp_path: Path) -> None:
    tuning.save(tmp_path / "run.zip")
    found = load(tmp_path / "run.zip")
    assert isinstance(found, calipers.Tuning)
    assert found.tuned == tuning.tuned
    assert str(found) == str(tuning)
    assert found["temperature=1"]["recall"].value == tuning["temperature=1"]["recall"].value
    assert "temperature=0.9" in found.html()


def test_the_first_screen_says_which_is_closest(tuning: calipers.Tuning) -> None:
    assert f"{tuning.tuned.closest} is closest to" in " ".join(str(tuning).split())


def test_the_figure_has_a_panel_for_each_score(tuning: calipers.Tuning) -> None:
    from calipers.report.plots.parameter import tuning_plot

    axes = tuning_plot(tuning.to_dict()).figure().axes
    assert len(axes) == 4  # precision, recall, coverage, MAUVE*
    assert axes[0].lines[0].get_xdata().tolist() == [0.05, 0.9, 1.0]


def test_prompts_are_taken_from_the_reference_and_off_it() -> None:
    model = Topics()
    texts = [f"begin here now {text}" for text in real(60)]
    found = calipers.tune(
        texts, model=model, over="temperature=0.5,1", prompt_words=3, level=None, **QUICK
    )
    assert found.reference.words["median"] == 4
    assert len(found.reference_samples.texts) == 60
    assert all(not text.startswith("begin") for text in found.reference_samples.texts)


def test_samples_are_kept_and_a_second_run_writes_none(tmp_path: Path) -> None:
    first, second = Topics(), Topics()
    how = {"over": "temperature=0.5,1", "n": 60, "samples": tmp_path / "runs", "level": None}
    before = calipers.tune(real(60), model=first, **how, **QUICK)
    after = calipers.tune(real(60), model=second, **how, **QUICK)
    assert first.calls == ["temperature=0.5", "temperature=1"]
    assert second.calls == []
    hashes = [each["temperature=1"].summary.content_hash for each in (before, after)]
    assert hashes[0] == hashes[1]


def test_two_parameters_make_a_grid() -> None:
    points = make_points(Decoding.parse("top_p=0.9"), {"temperature": [0.7, 1], "top_k": [5, 50]})
    assert [(point.system, point.decoding) for point in points] == [
        ("temperature=0.7,top_k=5", "temperature=0.7,top_p=0.9,top_k=5"),
        ("temperature=0.7,top_k=50", "temperature=0.7,top_p=0.9,top_k=50"),
        ("temperature=1,top_k=5", "temperature=1,top_p=0.9,top_k=5"),
        ("temperature=1,top_k=50", "temperature=1,top_p=0.9,top_k=50"),
    ]


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ("top_p", "parameter and its values"),
        ("top_p=0.9", "at least two values"),
        ("top_p=0.9,0.9", "a value of top_p twice"),
        ("top_p=0.9,1.5", "top_p .*above 0 and at most 1.* '1.5'"),
        ("colour=1,2", "unknown decoding parameter 'colour'"),
        ("", "found none"),
        ("top_p=0.8,0.9, top-p=0.7,0.8", "over names top_p twice"),
    ],
)
def test_what_varies_is_checked(over: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_over(over)


def test_a_parameter_that_the_decoding_does_not_take_is_refused() -> None:
    with pytest.raises(InputError, match="beam and temperature"):
        make_points(Decoding.parse("beam=4"), "temperature=0.5,1")
