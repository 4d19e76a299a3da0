"""Intervals on the scores of texts: in results, tables, comparisons and on the command line."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from calipers import measure_texts
from calipers.catalogue.choosing import choose_text
from calipers.cli import app
from calipers.comparison import Comparison
from calipers.errors import InputError
from calipers.progress import Silent
from calipers.report.text_table import text_table
from calipers.road.intake import summarise, take_in
from calipers.road.text_scores import with_text_scores
from calipers.samples import SampleSet
from calipers.uncertainty.differences import differences
from calipers.uncertainty.spread import confidence_interval

WORDS = [f"w{rank}" for rank in range(60)]
KEYS = "mean_length,distinct:n=2,self_bleu,novelty:n=2,corpus_match_bleu"


def texts(seed, n=80, words=WORDS):
    rng = random.Random(seed)
    return [" ".join(rng.choices(words, k=rng.randint(3, 12))) for _ in range(n)]


def measured(generated=None, reference=None, **options):
    return measure_texts(
        generated or {"good": texts(1), "narrow": texts(2, words=WORDS[:12])},
        reference=reference or texts(0),
        metrics=options.pop("metrics", KEYS),
        tokenizer="whitespace",
        threads=1,
        **options,
    )


@pytest.fixture(scope="module")
def found():
    return measured()


def test_every_score_has_an_interval_about_its_value(found):
    for system in found:
        for key, score in system.scores.items():
            low, high = score.interval
            assert low < score.value < high, key
            assert score.level == 0.95
            assert score.standard_error > 0
            assert not score.approximate


def test_sources_say_what_was_drawn(found):
    scores = found["good"].scores
    assert set(scores["self_bleu"].sources) == {"generated"}
    assert set(scores["novelty:n=2"].sources) == {"generated", "reference"}
    total = np.sqrt(sum(part**2 for part in scores["novelty:n=2"].sources.values()))
    assert scores["novelty:n=2"].standard_error == pytest.approx(total)
    assert set(found.reference_scores["self_bleu"].sources) == {"reference"}
    assert found.reference_scores["self_bleu"].interval is not None


def test_spreads_stand_beside_the_scores_and_not_in_the_data(found):
    system = found["good"]
    assert set(system.spreads) == set(system.scores)
    assert set(system.gap_spreads) == {"mean_length", "distinct:n=2", "self_bleu"}
    spread, score = system.spreads["self_bleu"], system.scores["self_bleu"]
    assert score.interval == confidence_interval(score.value, spread, bounds=score.range)
    data = found.to_dict()
    assert not {"spreads", "gap_spreads"} & set(data["systems"][0])
    assert data["settings"]["level"] == 0.95
    assert data["systems"][0]["scores"]["self_bleu"]["interval"] == list(score.interval)


def test_the_gaps_of_two_systems_can_be_tested(found):
    """What the reference does to both gaps cancels, since both lie on one side of it."""
    good, narrow = found["good"], found["narrow"]
    key = "distinct:n=2"
    both = good, narrow
    (told,) = differences(
        [{key: system[key].gap} for system in both],
        [{key: system.gap_spreads[key]} for system in both],
        draws=999,
    )
    assert told.p_value < 0.01
    assert told.value < 0
    apart = sum(system.gap_spreads[key].variance for system in both)
    assert told.standard_error < 0.9 * np.sqrt(apart)


def test_a_wider_level_makes_longer_intervals(found):
    wide = measured(level=0.99)
    for key, score in found["good"].scores.items():
        low, high = wide["good"][key].interval
        assert low < score.interval[0] < score.interval[1] < high
        assert wide["good"][key].value == score.value


def test_no_level_leaves_intervals_out():
    found = measured(level=None)
    assert found["good"].spreads == {}
    for score in (*found["good"].scores.values(), *found.reference_scores.values()):
        assert (score.interval, score.level, score.standard_error) == (None, None, None)
    assert "±" not in str(found)
    assert found.to_dict()["settings"]["level"] is None


def test_several_files_have_the_spread_of_their_mean():
    files = [SampleSet.from_texts(texts(seed), name=f"seed{seed}") for seed in (1, 2, 3)]
    found = measured({"three": files})["three"]
    single = [measured({"one": texts(seed)})["one"] for seed in (1, 2, 3)]
    score = found["mean_length"]
    assert score.value == pytest.approx(np.mean([one["mean_length"].value for one in single]))
    inside = np.sqrt(sum(one["mean_length"].standard_error ** 2 for one in single)) / 3
    between = np.std(score.seeds, ddof=1) / np.sqrt(3)
    assert score.standard_error == pytest.approx(max(inside, between))


def test_without_a_reference_too():
    found = measure_texts({"a": texts(1)}, metrics="self_bleu", tokenizer="whitespace")
    assert found["a"]["self_bleu"].interval is not None
    assert found["a"].gap_spreads == {}


def test_few_texts_have_values_and_no_intervals():
    found = measured({"few": texts(1, 12)}, texts(0, 12))
    assert found["few"]["mean_length"].interval is None
    assert np.isfinite(found["few"]["mean_length"].value)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), "high", True])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(InputError, match=r"level must lie between 0 and 1, such as 0\.95; found"):
        measured(level=level)


@pytest.fixture
def comparison():
    intake = take_in(
        texts(0),
        {"good": texts(1), "short": texts(2, 60)},
        field=None,
        max_samples=None,
        keep_sizes=True,
        seed=0,
    )
    about = [summarise(entry.cuts, name=entry.name) for entry in intake.systems]
    return intake, about


def test_a_comparison_gets_intervals_and_spreads_under_text(comparison):
    pytest.importorskip("nltk")
    from calipers.comparison import SystemResult

    intake, about = comparison
    empty = Comparison(
        reference=summarise([intake.reference], name="human"),
        systems=tuple(SystemResult(summary, {}, {}) for summary in about),
        settings={},
    )
    choices = choose_text("mean_length,self_bleu,novelty:n=2")
    options = {"seed": 0, "threads": 1, "progress": Silent()}
    found, spreads = with_text_scores(empty, intake, choices, level=0.9, **options)
    for system, moved in zip(found.systems, spreads, strict=True):
        assert set(moved) == {"text.mean_length", "text.self_bleu", "text.novelty:n=2"}
        for key, spread in moved.items():
            score = system.scores[key]
            assert score.level == 0.9
            if score.gap is None:  # else what ranks it is the gap, with a spread of its own
                assert score.standard_error == pytest.approx(spread.standard_error)
            assert spread.standard_error > 0
    plain, none = with_text_scores(empty, intake, choices, **options)
    assert none == ({}, {})
    assert plain.systems[0].scores["text.self_bleu"].interval is None
    same, nothing = with_text_scores(empty, intake, [], level=0.9, **options)
    assert same is empty
    assert nothing == ({}, {})


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_shows_intervals(found, width):
    text = text_table(found.to_dict(), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    (line, *_) = [line for line in text.splitlines() if line.startswith("  Self-BLEU-4 ")]
    score, own = found["good"]["self_bleu"], found.reference_scores["self_bleu"]
    for each in (score, own):
        half = (each.interval[1] - each.interval[0]) / 2
        assert f"{each.value:.3f}±{half:.3f}" in line
    assert "± 95 % interval of the average at this size" in " ".join(text.split())
    assert "lie apart" in " ".join(text.split())


def test_the_table_marks_approximate_and_lopsided_intervals():
    rows = [*texts(1, 198), "w1 w2 w1 w2", "w3 w3"]
    metrics = "self_bleu:n=2:pairwise,repetition_frequency"
    found = measured({"a": rows}, rows, metrics=metrics)
    assert found["a"]["self_bleu:n=2:pairwise"].approximate
    text = text_table(found.to_dict())
    (line,) = [line for line in text.splitlines() if line.startswith("  Self-BLEU-2")]
    assert line.count("~") == 2
    assert "~ approximate interval: from smaller sets, or of a share close to 0 or 1." in text
    low, high = found["a"]["repetition_frequency"].interval
    assert f"[{low:.3f},{high:.3f}]" in text
    assert "[low,high] below where lopsided" in " ".join(text.split())


@pytest.fixture
def files(tmp_path):
    for name, seed in (("human", 0), ("model", 1)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts(seed)))
    common = ["text", str(tmp_path / "model.txt"), "-r", str(tmp_path / "human.txt")]
    return [*common, "--tokenizer", "whitespace", "--metrics", "self_bleu", "--json", "-", "-q"]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_command_line_sets_the_level(files):
    score = json.loads(run(*files, "--level", "0.8").stdout)["systems"][0]["scores"]["self_bleu"]
    assert score["level"] == 0.8
    none = json.loads(run(*files, "--no-intervals").stdout)["systems"][0]["scores"]["self_bleu"]
    assert (none["interval"], none["level"]) == (None, None)
    assert none["value"] == score["value"]


@pytest.mark.parametrize("level", ["95", "0", "high"])
def test_the_command_line_refuses_a_level_that_is_none(files, level):
    refused = run(*files, "--level", level)
    assert refused.exit_code != 0
    assert f"--level must lie between 0 and 1, such as 0.95; found '{level}'" in " ".join(
        refused.output.split()
    )
