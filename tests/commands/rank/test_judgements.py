"""Exports of judgements held against scores: people and models, raters, the ceiling."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import calipers
from calipers.commands.rank.result import Ranking
from calipers.errors import InputError
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.tables import write_judgements

SYSTEMS = {"a": -90.0, "b": -20.0, "c": 30.0, "human": 80.0}
QUESTIONS = ("sensible", "interesting")
ONE = {"reference": "human", "truth_columns": ["sensible"]}
SCORES = [
    {"system": name, "metric": "m", "mean": score / 100, "sd": 0.05}
    for name, score in SYSTEMS.items()
    if name != "human"
] + [
    {"system": name, "metric": "k", "mean": value, "sd": 0.0}
    for name, value in (("a", 3.0), ("b", 1.0), ("c", 2.0))
]


def answer(rng: np.random.Generator, a: str, b: str, first: str, side: float) -> int:
    """Draw a step of Bradley-Terry with ties and a bias towards the side shown first."""
    odds = (SYSTEMS[a] - SYSTEMS[b]) / 100 + side * (1 if first == "a" else -1)
    chances = np.array([np.exp(odds / 2), 0.4, np.exp(-odds / 2)])
    side_of = rng.choice(3, p=chances / chances.sum())
    return int((rng.integers(1, 3), 3, rng.integers(4, 6))[side_of])


def crowd(often: int = 30, raters: int = 8, seed: int = 0) -> Iterator[PairJudgement]:
    """People, each pair of texts judged by two of them."""
    rng = np.random.default_rng(seed)
    for a, b in combinations(SYSTEMS, 2):
        for number in range(often):
            for rater in rng.choice(raters, 2, replace=False):
                first = "a" if rng.random() < 0.5 else "b"
                answers = {question: answer(rng, a, b, first, 0.0) for question in QUESTIONS}
                yield PairJudgement(f"{a}{b}{number}", a, b, answers, f"p{rater}", "person", first)


def judge(often: int = 20, side: float = 1.5, name: str = "judge") -> Iterator[PairJudgement]:
    """A model that follows the side, asked in both orders about the same texts."""
    rng = np.random.default_rng(7)
    for a, b in combinations(SYSTEMS, 2):
        for number in range(often):
            for first in ("a", "b"):
                answers = {question: answer(rng, a, b, first, side) for question in QUESTIONS}
                yield PairJudgement(f"{a}{b}{number}", a, b, answers, name, "model", first)


@pytest.fixture(scope="module")
def people():
    return tuple(crowd())


@pytest.fixture(scope="module")
def files(tmp_path_factory, people):
    folder = tmp_path_factory.mktemp("judged")
    write_judgements(folder / "people.csv", people)
    write_judgements(folder / "judge.jsonl", judge())
    return folder


@pytest.fixture(scope="module")
def both(files):
    return calipers.rank(
        SCORES, judgements=[files / "people.csv", files / "judge.jsonl"], reference="human"
    )


def test_every_question_is_a_truth(files):
    found = calipers.rank(SCORES, judgements=files / "people.csv", reference="human")
    assert list(found.truths) == list(QUESTIONS)
    for truth in found:
        assert [player.name for player in truth.fit.players] == ["human", "c", "b", "a"]
        assert set(truth.scores) == {"a", "b", "c"}
        assert truth["m"].spearman == 1
        assert truth.people is None
    named = calipers.rank(
        SCORES, judgements=files / "people.csv", reference="human", truth_columns=["sensible"]
    )
    assert list(named.truths) == ["sensible"]


def test_a_system_called_as_an_answer_is_not_mixed_up(files):
    """The row c against b says "definitely b": of the columns, not of the systems."""
    rows = [
        PairJudgement("1", "b", "a", {"q": 1}, "p", "person", "b"),
        PairJudgement("2", "b", "a", {"q": 5}, "p", "person", "a"),
        PairJudgement("3", "b", "a", {"q": 2}, "r", "person", "b"),
    ]
    fit = calipers.rank(SCORES, judgements=rows)["q"].fit
    assert (fit["b"].won, fit["b"].lost) == (2, 1)
    assert fit["b"].score - fit["a"].score == pytest.approx(100 * math.log(2))


def test_what_a_person_holds_is_what_was_written(files, people):
    read = calipers.rank(SCORES, judgements=str(files / "people.csv"), **ONE)
    held = calipers.rank(SCORES, judgements=people, **ONE)
    for truth in held:
        np.testing.assert_array_equal(read[truth.name].fit.covariance, truth.fit.covariance)


def test_truths_are_named_by_question_and_rater(both):
    assert list(both.truths) == [
        "sensible by people",
        "interesting by people",
        "sensible by judge",
        "interesting by judge",
    ]
    assert both.settings["judgements"][0].endswith("people.csv")


def test_two_files_of_people_are_named_by_their_files(files):
    again = files / "again.csv"
    write_judgements(again, crowd(seed=1))
    found = calipers.rank(
        SCORES,
        judgements=[files / "people.csv", again],
        **ONE,
    )
    assert list(found.truths) == ["sensible (people)", "sensible (again)"]


def test_errors_are_clustered_by_rater_and_by_item_where_raters_share_items(people):
    default = calipers.rank(SCORES, judgements=people, **ONE)["sensible"]
    plain = calipers.rank(SCORES, judgements=people, **ONE, raters="ignore")["sensible"]
    assert default.raters.method == "clustered"
    raters = default.raters
    assert (raters.cluster, raters.clusters, raters.item_clusters) == ("rater and item", 8, 180)
    assert (plain.raters.method, plain.raters.cluster) == ("ignore", "")
    for name in SYSTEMS:
        assert default.fit[name].score == plain.fit[name].score
        assert default.fit[name].standard_error != plain.fit[name].standard_error
        low, high = default.fit[name].interval
        assert (high - low) / 2 > 2.2 * default.fit[name].standard_error  # Student's t, 7 degrees
    text = " ".join(str(calipers.rank(SCORES, judgements=people, **ONE)).split())
    assert "standard errors come from clusters of 8 raters and of 180 items" in text


def test_errors_are_clustered_by_rater_alone_where_items_have_one_rating(people):
    apart = [replace(one, item=f"item {place}") for place, one in enumerate(people)]
    found = calipers.rank(SCORES, judgements=apart, **ONE)
    raters = found["sensible"].raters
    assert (raters.cluster, raters.clusters, raters.item_clusters) == ("rater", 8, 0)
    text = " ".join(str(found).split())
    assert "standard errors come from 8 clusters, one for each rater" in text


def test_errors_are_clustered_by_item_where_nobody_answers_twice(people):
    strangers = [replace(one, rater=f"p{place}") for place, one in enumerate(people)]
    raters = calipers.rank(SCORES, judgements=strangers, **ONE)["sensible"].raters
    assert (raters.count, raters.cluster, raters.clusters) == (360, "item", 180)


def test_effects_of_raters(people):
    found = calipers.rank(SCORES, judgements=people, **ONE, raters="effects")
    raters = found["sensible"].raters
    assert raters.method == "effects"
    assert set(raters.effects) == {f"p{number}" for number in range(8)}
    assert (raters.cluster, raters.clusters) == ("rater", 8)
    assert sum(one.answers for one in raters.effects.values()) == len(people)
    assert found["sensible"]["m"].spearman == 1
    text = str(found)
    assert "Raters (sensible)" in text
    assert "how sharply a rater tells systems apart; 1 is the typical rater" in text


def test_a_judge_is_clustered_by_item_and_its_side_told(both):
    raters = both["sensible by judge"].raters
    assert (raters.kind, raters.count, raters.answers) == ("model", 1, 240)
    assert (raters.cluster, raters.clusters) == ("item", 120)
    assert raters.first_share > 0.7
    told = " ".join(str(both).split())
    assert (
        "sensible by judge, interesting by judge: 240 answers of 1 model; standard errors" in told
    )
    assert "sensible by judge: the text shown first is preferred in" in told
    assert "sensible by people: the text shown first" not in told


def test_the_ceiling_stands_above_the_metrics(both):
    ceiling = both["sensible by people"].ceiling
    assert ceiling.halved == "raters"
    assert (ceiling.units, ceiling.n) == (8, 3)
    assert 0.5 < ceiling.spearman <= 1
    assert ceiling.spearman_attainable == pytest.approx(math.sqrt(ceiling.spearman))
    assert both["sensible by judge"].ceiling.halved == "judgements"
    lines = str(both).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Beside sensible by people"))
    assert lines[start + 2].split()[0] == "ceiling"
    assert lines[start + 3].split()[0] == "m↑"
    rows = [row for row in both._rows() if row["truth"] == "sensible by people"]
    assert {row["ceiling"] for row in rows} == {ceiling.spearman}


def test_a_judge_beside_people(both):
    assert both["sensible by people"].people is None
    beside = both["sensible by judge"].people
    assert beside.people == "sensible by people"
    assert (beside.n, beside.items) == (3, 120)
    assert beside.spearman == 1
    assert beside.spearman_fixed[0] < 1
    assert 0.3 < beside.same < 0.8
    assert beside.same_interval[0] < beside.same < beside.same_interval[1]
    assert beside.people_same > beside.same  # the side moves the judge
    table = str(both).split("Models that judge, beside people")[1]
    assert table.splitlines()[2].startswith("sensible by judge")


def test_flagged_judgements_are_kept_and_counted(people):
    marked = [
        replace(one, flags=("too_fast",) if place % 10 == 0 else ())
        for place, one in enumerate(people)
    ]
    kept = calipers.rank(SCORES, judgements=marked, **ONE)
    assert kept["sensible"].raters.flagged == 36
    assert kept["sensible"].raters.answers == 360
    assert (
        "judgements: 36 of 360 judgements are flagged (too_fast 36) and kept; `drop_flagged` "
        "leaves them out" in kept.notes
    )
    dropped = calipers.rank(SCORES, judgements=marked, **ONE, drop_flagged=True)
    assert dropped["sensible"].raters.answers == 324
    assert "judgements: 36 of 360 judgements left out: flagged (too_fast 36)" in dropped.notes
    bad = [replace(one, flags=("too_fast",)) for one in people]
    with pytest.raises(InputError, match=r"all 360 judgements .*flagged"):
        calipers.rank(SCORES, judgements=bad, **ONE, drop_flagged=True)


def test_a_question_that_not_everybody_answered(people):
    partly = [
        replace(one, answers={"sensible": one.answers["sensible"]}) if place % 2 else one
        for place, one in enumerate(people)
    ]
    found = calipers.rank(SCORES, judgements=partly, reference="human")
    assert found["sensible"].raters.answers == 360
    assert found["interesting"].raters.answers == 180


def test_neither_the_order_of_rows_nor_a_judge_changes_what_people_say(both, files, people):
    again = calipers.rank(SCORES, judgements=people[::-1], **ONE)["sensible"]
    before = both["sensible by people"]
    for player in before.fit.players:
        assert again.fit[player.name].score == pytest.approx(player.score, abs=1e-6)
        assert again.fit[player.name].interval == pytest.approx(player.interval, abs=1e-6)
    assert again["m"].spearman_fixed == pytest.approx(before["m"].spearman_fixed, abs=1e-6)
    assert again["k"].pearson_interval == pytest.approx(before["k"].pearson_interval, abs=1e-6)


def test_a_judge_whose_answers_fix_no_scores_is_named(people):
    constant = [replace(one, answers={"sensible": 1}) for one in judge()]
    with pytest.raises(InputError, match=r"'sensible' by judge: .*finite"):
        calipers.rank(SCORES, judgements=[people, constant], **ONE)


def test_answers_that_all_turn_with_the_sides_rank_nobody(people):
    """Wins and losses are equal in every item: scores of 0 with errors of 0, of nothing learnt."""
    turning = [
        replace(one, rater="ann", first=side, answers={"sensible": {"a": 1, "b": 5}[side]})
        for one in {row.item: row for row in people}.values()
        for side in "ab"
    ]
    with pytest.raises(InputError, match=r"'sensible': in all .* pairs"):
        calipers.rank(SCORES, judgements=turning, **ONE)


# Ratings -----------------------------------------------------------------------------------------


def rated(raters: int = 3, often: int = 10) -> list[Rating]:
    """Raters of different severity, every one of every system."""
    rng = np.random.default_rng(1)
    return [
        Rating(
            f"{name}{number}",
            name,
            {"coherence": int(np.clip(round(3 + score / 60 + rater + rng.normal() / 3), 1, 9))},
            f"r{rater}",
            "person",
        )
        for rater in range(raters)
        for name, score in SYSTEMS.items()
        for number in range(often)
    ]


def test_ratings_are_means_with_clustered_errors(tmp_path):
    write_judgements(tmp_path / "rated.csv", rated())
    found = calipers.rank(SCORES, judgements=tmp_path / "rated.csv", reference="human")
    truth = found["coherence"]
    assert truth.made_of == "ratings"
    raters = truth.raters
    assert (raters.cluster, raters.clusters, raters.item_clusters) == ("rater and item", 3, 40)
    held = truth.ratings
    assert list(held.systems) == ["human", "c", "b", "a"]
    answers = {
        name: [one.answers["coherence"] for one in rated() if one.system == name]
        for name in SYSTEMS
    }
    for name, one in held.systems.items():
        assert one.mean == pytest.approx(np.mean(answers[name]))
        assert one.ratings == 30
        # Of three raters: the deviation of their own means over the root of three; items differ
        # less than ratings of one item do, and add nothing
        own = [np.mean(answers[name][10 * rater : 10 * rater + 10]) for rater in range(3)]
        assert one.standard_error == pytest.approx(np.std(own, ddof=1) / math.sqrt(3))
        low, high = one.interval
        assert (high - low) / 2 == pytest.approx(4.3027 * one.standard_error, rel=1e-4)
    # Severity moves all means together: differences are far surer than means
    correlation = held.covariance[0, 1] / math.sqrt(held.covariance[0, 0] * held.covariance[1, 1])
    assert correlation > 0.9
    assert truth["m"].spearman == 1
    assert truth.ceiling.n == 3
    text = str(found)
    assert "Mean ratings (coherence), from 120 ratings of 4 systems by 3 people" in text
    assert "the errors of the mean ratings" in " ".join(text.split())


def test_one_rater_is_clustered_by_item():
    found = calipers.rank(SCORES, judgements=rated(raters=1), reference="human")["coherence"]
    assert (found.raters.cluster, found.raters.clusters) == ("item", 40)
    ratings = [one.answers["coherence"] for one in rated(raters=1) if one.system == "b"]
    expected = np.std(ratings, ddof=1) / math.sqrt(10)
    assert found.ratings.systems["b"].standard_error == pytest.approx(expected)


def test_a_judge_and_people_who_rated_the_same_texts():
    model = [
        replace(one, rater="m", rater_kind="model", answers={"coherence": 4})
        if place % 3
        else replace(one, rater="m", rater_kind="model")
        for place, one in enumerate(rated(raters=1))
    ]
    found = calipers.rank(SCORES, judgements=[rated(), model], reference="human")
    beside = found["coherence by m"].people
    assert (beside.people, beside.items, beside.n) == ("coherence by people", 40, 3)
    people = {}
    for one in rated():
        people.setdefault(one.item, []).append(one.answers["coherence"])
    same = [np.mean([x == one.answers["coherence"] for x in people[one.item]]) for one in model]
    assert beside.same == pytest.approx(np.mean(same))
    assert -1 < beside.kappa < beside.people_kappa < 1


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": "maybe"}, "row 2: q .*one of 'definitely a', .*`truth_columns`"),
        ({"rater": ""}, "row 2: the name of the rater is missing"),
        ({"first": "left"}, "row 2: which was shown first must be"),
        ({"b": ""}, "row 2: b must be a name; found blank"),
        ({"item": "1"}, "row 2: .*'1' compares 'c' with 'b', but 'a' with 'b'"),
        ({"rater_kind": "x"}, "row 2: rater_kind .*'person' or 'model'"),
    ],
)
def test_a_bad_row_is_named(change, message):
    row = {"first": "a", "rater": "p", "rater_kind": "person", "q": "tie"}
    table = [
        {"item": "1", "a": "a", "b": "b", **row},
        {"item": "2", "a": "c", "b": "b", **row, **change},
    ]
    with pytest.raises(InputError, match=message):
        calipers.rank(SCORES, judgements=table)


def test_bad_tables_and_options(people):
    pairs = [{"a": "a", "b": "b", "winner": "a"}, {"a": "b", "b": "a", "winner": "b"}]
    with pytest.raises(InputError, match=r"'clustered' .*'rater'"):
        calipers.rank(SCORES, judgements=pairs, raters="clustered")
    with pytest.raises(InputError, match=r"'effects' .*judged pairs"):
        calipers.rank(SCORES, judgements=rated(), reference="human", raters="effects")
    with pytest.raises(
        InputError, match=r"raters must be clustered or effects or .*; found 'cluster'"
    ):
        calipers.rank(SCORES, judgements=people, raters="cluster")
    with pytest.raises(InputError, match=r"`raters`"):
        calipers.rank(SCORES, raters="effects")
    with pytest.raises(InputError, match=r"`drop_flagged`"):
        calipers.rank(SCORES, drop_flagged=True)
    with pytest.raises(InputError, match="has no column 'a'"):
        calipers.rank(SCORES, judgements=[{"x": 1}])
    with pytest.raises(InputError, match=r"judgements: .*Label Studio"):
        calipers.rank(SCORES, judgements=[{"id": 1, "data": {}, "annotations": []}])
    with pytest.raises(InputError, match="has no column 'funny'"):
        calipers.rank(SCORES, judgements=people, reference="human", truth_columns=["funny"])


def test_a_column_of_raters_leaves_a_table_of_winners_as_it_was():
    wins = [("a", "b", "a"), ("a", "b", "b"), ("b", "c", "b"), ("c", "b", "c"), ("a", "c", "c")]
    wins += [("a", "c", "a")]
    table = [
        {"a": a, "b": b, "winner": winner, "rater": f"r{place % 3}"}
        for place, (a, b, winner) in enumerate(wins)
    ]
    plain = [{key: row[key] for key in ("a", "b", "winner")} for row in table]
    fit = calipers.rank(SCORES, judgements=table)["judgements"]
    before = calipers.rank(SCORES, judgements=plain)["judgements"]
    assert fit.scores == before.scores
    assert (fit.raters.cluster, before.raters.cluster) == ("rater", "")


# Kept and read again -----------------------------------------------------------------------------


def test_a_ranking_is_kept_whole(both):
    data = json.loads(json.dumps(both.to_dict(), allow_nan=False))
    again = Ranking.from_dict(data)
    assert again.to_dict() == both.to_dict()
    assert str(again) == str(both)


def test_an_older_ranking_is_read(both):
    data = json.loads(json.dumps(both.to_dict(), allow_nan=False))
    for truth in data["truths"].values():
        for name in ("ratings", "raters", "ceiling", "people"):
            del truth[name]
    assert str(Ranking.from_dict(data)).startswith("Ranking of 3 systems by 2 metrics")
