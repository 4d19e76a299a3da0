"""Annotations and leaderboards of AlpacaEval, as they are published."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import calipers
from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.clustered import clustered_covariance
from calipers.uncertainty.rated_pairs import count_rated_pairs

QUALITY = {"base": 0.0, "weak": -1.2, "middle": 0.2, "good": 1.0}


def scores(systems=QUALITY):
    return [
        {"system": name, "metric": metric, "mean": value + turn, "sd": 0.1}
        for turn, metric in enumerate(("m", "k"))
        for name, value in zip(systems, QUALITY.values(), strict=False)
    ]


def annotations(system, preference, *, base="base", annotator="judge-1", **more):
    """Rows of one file; `preference` gives that of each instruction."""
    return [
        {
            "instruction": f"Do thing {place}.",
            "output_1": "yes " * 20,
            "generator_1": base,
            "output_2": f"no {place}",
            "generator_2": system,
            "annotator": annotator,
            "preference": value,
            "raw_completion": None,
            **more,
        }
        for place, value in enumerate(preference)
    ]


def drawn(seed, system, count=60):
    rng = np.random.default_rng([seed, len(system)])
    chance = 1 / (1 + math.exp(-QUALITY[system]))
    return np.where(rng.random(count) < chance, 2.0, 1.0).tolist()


@pytest.fixture
def results(tmp_path):
    """A folder as AlpacaEval publishes it: results/SYSTEM/ANNOTATOR/annotations.json."""
    for seed, system in enumerate(("weak", "middle", "good")):
        folder = tmp_path / "results" / system / "judge-1"
        folder.mkdir(parents=True)
        (folder / "annotations.json").write_text(
            json.dumps(annotations(system, drawn(seed, system)))
        )
        (folder.parent / "model_outputs.json").write_text("[]")
    return tmp_path / "results"


def test_a_folder_of_annotations_is_one_truth(results):
    files = sorted(results.rglob("annotations.json"))
    found = calipers.rank(scores(), judgements=results)
    truth = found["judgements"]
    assert truth.fit.players[0].name == "good"
    raters = truth.raters
    assert (raters.kind, raters.count, raters.answers) == ("model", 1, 180)
    # Answers to one instruction are alike, whatever systems are compared
    assert (raters.cluster, raters.texts, raters.clusters) == (
        "item",
        "prompt",
        60,
    )
    assert "60 clusters, one for each prompt" in str(found)
    for given in (files, str(results / "*" / "*" / "annotations.json"), [str(results)]):
        assert calipers.rank(scores(), judgements=given)["judgements"].scores == truth.scores
    whole = [row for file in files for row in json.loads(file.read_text())]
    assert calipers.rank(scores(), judgements=whole)["judgements"].scores == truth.scores


def test_preferences_are_read_as_published():
    """1, 2, 1.5 and 0 for ties, a fraction for its share; null for no answer."""
    kinds = [1, 2, 1.5, 0.0, 1.25, 1.75, None, 2.0, "1.0"] * 5
    rows = [row for name in ("weak", "middle", "good") for row in annotations(name, kinds)]
    rows += annotations("base", [1.0])
    found = calipers.rank(scores(), judgements=rows)
    good = found["judgements"].fit["good"]
    assert good.won == pytest.approx(5 * (1 + 0.25 + 0.75 + 1))
    assert good.lost == pytest.approx(5 * (1 + 0.75 + 0.25 + 1))
    assert good.tied == 10
    assert found.notes[:2] == (
        "judgements: 15 judgements without a preference left out",
        "judgements: 1 judgement of a system with itself left out",
    )


@pytest.mark.parametrize("preference", [3, 0.5, "first", math.inf])
def test_a_preference_out_of_range_is_named(preference):
    rows = annotations("good", [1, 2, preference])
    with pytest.raises(InputError, match=r"row 3: preference must be a number from 1"):
        calipers.rank(scores(), judgements=rows)


def test_a_file_that_is_published_twice_counts_once(results):
    folder = results / "again" / "judge-1"
    folder.mkdir(parents=True)
    copied = (results / "good" / "judge-1" / "annotations.json").read_bytes()
    (folder / "annotations.json").write_bytes(copied)
    found = calipers.rank(scores(), judgements=results)
    assert found["judgements"].raters.answers == 180
    assert f"{results}: 60 judgements left out that an earlier file holds too" in found.notes


def test_every_annotator_is_a_truth_of_its_own(results):
    folder = results / "weak" / "judge-2"
    folder.mkdir()
    rows = [
        row
        for name in ("weak", "good")
        for row in annotations(name, drawn(5, name), annotator="judge-2")
    ]
    (folder / "annotations.json").write_text(json.dumps(rows))
    found = calipers.rank(scores(), judgements=results)
    assert set(found.truths) == {"judgements by judge-1", "judgements by judge-2"}
    assert set(found["judgements by judge-2"].scores) == {"base", "weak", "good"}


def test_systems_without_scores_are_left_out_with_a_note(results):
    known = [row for row in scores() if row["system"] != "middle"]
    found = calipers.rank(known, judgements=results)
    assert set(found["judgements"].scores) == {"base", "weak", "good"}
    assert found.notes[0] == (
        f"{results}: 60 judgements of 'middle' left out: no scores; "
        "`keep_unscored` leaves them in the fit"
    )
    with pytest.raises(
        InputError, match=r"no judgement of systems that have scores: it names 'base"
    ):
        calipers.rank(
            [{**row, "system": row["system"] + "!"} for row in scores()], judgements=results
        )


def test_a_folder_without_judgements_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no annotations\.json, and no file ending in \.csv"):
        calipers.rank(scores(), judgements=tmp_path)
    with pytest.raises(InputError, match="no file matches this pattern"):
        calipers.rank(scores(), judgements=str(tmp_path / "*.json"))
    (tmp_path / "one.json").write_text('[{"generator_1": "a", "preference": 1}]')
    with pytest.raises(InputError, match=r"no column 'a'; .*AlpacaEval have generator_1"):
        calipers.rank(scores(), judgements=tmp_path / "one.json")


def test_a_share_is_a_part_of_a_win():
    """Of two systems: the log odds of the mean share, as the published win rate counts it."""
    shares = [0.9, 0.8, 1.0, 0.6]
    pairs = count_rated_pairs(["x"] * 4, ["y"] * 4, ["a", "a", "a", "b"], share=shares)
    won = 0.9 + 0.8 + 1.0 + 0.4
    assert pairs.preferences.wins.tolist() == pytest.approx(np.array([[0, won], [4 - won, 0]]))
    fit = fit_bradley_terry(pairs.preferences, scale=1)
    assert fit.difference("x", "y").value == pytest.approx(math.log(won / (4 - won)))
    even = count_rated_pairs(["x"], ["y"], ["a"], share=[0.5])
    assert even.outcome.tolist() == [0]
    with pytest.raises(InputError, match=r"row 1: share must be a number from 0.5 to 1"):
        count_rated_pairs(["x"], ["y"], ["a"], share=[0.2])
    with pytest.raises(InputError, match=r"row 1: share must be a number"):
        count_rated_pairs(["x"], ["y"], ["a"], share=["much"])


def test_intervals_by_prompt_hold_where_answers_to_a_prompt_are_alike():
    """A prompt on which the baseline does badly moves all systems at once."""
    truth = {"weak": -0.8, "middle": 0.0, "good": 0.8}
    covered = {"prompt": 0, "none": 0}
    runs = 150
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        mood = rng.normal(0, 2, 40)
        won = [rng.random(40) < 1 / (1 + np.exp(-(value + mood))) for value in truth.values()]
        pairs = count_rated_pairs(
            ["base"] * 120,
            [name for name in truth for _ in range(40)],
            np.where(np.concatenate(won), "b", "a").tolist(),
            prompt=[f"p{place}" for _ in truth for place in range(40)],
            names=["base", *truth],
        )
        fit = fit_bradley_terry(pairs.preferences)
        by_prompt = clustered_covariance(fit, pairs, pairs.prompt)
        for how, intervals in (("prompt", by_prompt.intervals), ("none", fit.intervals)):
            low, high = intervals[0]
            covered[how] += bool(low <= 0 <= high)
    assert covered["prompt"] / runs > 0.9
    assert covered["none"] / runs < 0.9


LEADERBOARD = (
    ",win_rate,standard_error,n_total,mode,avg_length,length_controlled_winrate,lc_standard_error"
    """
good,76.9,0.9,805,community,872,86.4,0.14
middle,50.0,0.5,805,minimal,2049,50.0,
base,22.5,1.2,805,minimal,1500,33.1,0.5
weak,3.0,0.5,805,community,400,2.9,0.2
other,1.0,0.3,805,community,400,1.9,0.2
"""
)


def test_a_leaderboard_is_read_as_published(tmp_path):
    path = tmp_path / "leaderboard.csv"
    path.write_text(LEADERBOARD)
    wanted = ["win_rate", "length_controlled_winrate"]
    found = calipers.rank(scores(), truth=path, truth_columns=wanted)
    assert found["win_rate"].scores == {"good": 76.9, "middle": 50, "base": 22.5, "weak": 3}
    assert found["win_rate"].deviations == {"good": 0.9, "middle": 0.5, "base": 1.2, "weak": 0.5}
    assert found[wanted[1]].deviations == {"good": 0.14, "base": 0.5, "weak": 0.2}
    assert f"{path}: 'other' left out of the correlations: no scores" in found.notes
    for name in ("Unnamed: 0", "model", "name"):
        path.write_text(name + LEADERBOARD)
        again = calipers.rank(scores(), truth=path, truth_columns=["win_rate"])
        assert again["win_rate"].scores == found["win_rate"].scores


def test_a_data_frame_with_names_as_its_index_is_a_leaderboard():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"elo": [3.0, 2.0, 1.0]}, index=["good", "base", "weak"])
    found = calipers.rank(scores(), truth=frame)
    assert found["elo"].scores == {"good": 3, "base": 2, "weak": 1}


def test_of_a_leaderboard_a_person_says_which_columns_are_meant(tmp_path):
    path = tmp_path / "leaderboard.csv"
    path.write_text(LEADERBOARD)
    with pytest.raises(
        InputError,
        match=r"has 4 columns of numbers: 'win_rate', 'n_total', 'avg_length' and "
        r"'length_controlled_winrate'; .*`truth_columns='win_rate'`",
    ):
        calipers.rank(scores(), truth=path)
    with pytest.raises(InputError, match=r"no column 'winrate'; its columns are 'system', 'win_ra"):
        calipers.rank(scores(), truth=path, truth_columns=["winrate"])
    path.write_text(
        "".join(
            line.split(",", 2)[0] + "," + line.split(",")[1] + "\n"
            for line in LEADERBOARD.splitlines()
        )
    )
    assert set(calipers.rank(scores(), truth=path).truths) == {"win_rate"}
    path.write_text("player" + LEADERBOARD)
    with pytest.raises(
        InputError,
        match=r"no column 'system'; its columns are 'player', 'win_rate', .* called name, model, ",
    ):
        calipers.rank(scores(), truth=path)
