"""Scores held against truths: examples by hand, the published table, and what is refused."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InputError
from extras import need

EXAMPLES = Path(__file__).parents[3] / "examples" / "rankings"
# Pillutla et al., JMLR 2023, table 4, without REP
PUBLISHED = {
    "human_like": {
        "gen_ppl": 0.810,
        "zipf": 0.762,
        "distinct_4": 0.738,
        "self_bleu": 0.500,
        "mauve_star": 0.857,
    },
    "interesting": {
        "gen_ppl": 0.643,
        "zipf": 0.405,
        "distinct_4": 0.524,
        "self_bleu": 0.262,
        "mauve_star": 0.714,
    },
    "sensible": {
        "gen_ppl": 0.738,
        "zipf": 0.643,
        "distinct_4": 0.595,
        "self_bleu": 0.452,
        "mauve_star": 0.762,
    },
}
TRUTH = [{"system": name, "liked": i} for i, name in enumerate("abcd")]


def rows(values, metric="m", sd=0.0, **more):
    return [
        {"system": name, "metric": metric, "mean": value, "sd": sd, **more}
        for name, value in values.items()
    ]


UP = rows({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})


@pytest.fixture(scope="module")
def published():
    return calipers.rank(
        EXAMPLES / "webtext_scores.csv",
        truth=EXAMPLES / "webtext_human.csv",
        reference="human",
    )


def test_the_published_table(published):
    found = {
        (truth, metric): round(published[truth][metric].worst, 3) == value
        for truth, cells in PUBLISHED.items()
        for metric, value in cells.items()
    }
    assert [cell for cell, same in found.items() if not same] == [("human_like", "self_bleu")]
    assert all(each.exact and each.n == 8 for truth in published for each in truth)
    assert [truth.best for truth in published] == ["mauve_star"] * 3
    assert {metric.better for metric in published.metrics.values()} == {"closest", "higher"}
    assert published.metrics["mauve_star"].better == "higher"


def test_results_do_not_depend_on_the_order_of_rows(published):
    lines = (EXAMPLES / "webtext_scores.csv").read_text().splitlines()
    table = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[:0:-1]]
    again = calipers.rank(table, truth=EXAMPLES / "webtext_human.csv", reference="human")
    for truth in published:
        for each in truth:
            assert again[truth.name][each.metric].worst == pytest.approx(each.worst, abs=1e-12)


def test_one_swap_of_neighbours_by_hand():
    scores = rows({"a": 1.0, "b": 2.0, "c": 2.5, "d": 4.0}, sd=0.3)
    beside = calipers.rank(scores, truth=TRUTH)["liked"]["m"]
    assert beside.spearman == 1.0
    assert beside.worst == pytest.approx(0.8)  # b up, c down: 1 - 6 * 2 / (4 * 15)
    assert beside.exact


def test_lower_and_closest_are_turned_round():
    scores = [
        *rows({"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "down", better="lower"),
        *rows({"a": 9.0, "b": 2.0, "c": 7.0, "d": 4.5, "human": 5.0}, "near"),
        *rows({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "human": 9.0}, "said", better="higher"),
    ]
    found = calipers.rank(scores, truth=TRUTH, reference="human")
    assert found.systems == ("a", "b", "c", "d")
    assert {key: each.better for key, each in found.metrics.items()} == {
        "down": "lower",
        "near": "closest",
        "said": "higher",
    }
    # distances 4, 3, 2, 0.5: the order of the truth
    assert [each.spearman for each in found["liked"]] == [1.0, 1.0, 1.0]
    assert found.metrics["near"].reference == dict.fromkeys("abcd", 5.0)


def test_the_matrix_takes_values_as_measured():
    scores = [*UP, *rows({"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "down", better="lower")]
    found = calipers.rank(scores, truth=TRUTH)
    assert found.matrix.names == ("m", "down", "liked")
    assert found.matrix.truths == 1
    np.testing.assert_allclose(found.matrix.values, [[1, -1, 1], [-1, 1, -1], [1, -1, 1]])
    assert found["liked"]["down"].spearman == 1.0


def test_judgements_give_the_log_odds_of_two_systems():
    scores = [*UP, *rows({"a": 1, "b": 0, "c": 2, "d": 5}, "k")]
    pairs = [{"a": "a", "b": "b", "winner": "b"}] * 3 + [{"a": "b", "b": "a", "winner": "a"}]
    found = calipers.rank(scores, judgements=pairs, level=0.9)
    fit = found["judgements"].fit
    assert [player.name for player in fit.players] == ["b", "a"]
    assert fit["b"].score - fit["a"].score == pytest.approx(100 * math.log(3))
    assert (fit["b"].won, fit["b"].lost, fit["b"].tied) == (3, 1, 0)
    assert fit["b"].interval[0] < fit["b"].score < fit["b"].interval[1]
    assert fit.level == 0.9
    assert found.notes[-1] == "'c' and 'd' left out of the correlations: not in judgements"
    assert found["judgements"]["m"].n == 2
    assert "at least 3 systems" in found["judgements"]["m"].reason


def test_ties_are_split_as_asked():
    pairs = [("a", "b", "a"), ("a", "b", "b"), ("a", "b", "tie"), ("a", "b", "tie")]
    table = [dict(zip(("a", "b", "winner"), row, strict=True)) for row in pairs]
    half = calipers.rank(UP, judgements=table)["judgements"].fit
    assert half["a"].score == pytest.approx(0)
    assert half["a"].tied == 2
    random = [
        calipers.rank(UP, judgements=table, ties="random", seed=seed)["judgements"].fit["a"].score
        for seed in (0, 0, *range(12))
    ]
    assert random[0] == random[1]
    assert len({round(score) for score in random}) > 1


def judgements(**counts):
    """Rows of a, b and winner: ab=3 is three wins of a over b, a_b=2 two ties."""
    found = []
    for pair, count in counts.items():
        one, other = pair[0], pair[-1]
        winner = "tie" if "_" in pair else one
        found += [{"a": one, "b": other, "winner": winner}] * count
    return found


def test_ties_are_modelled_unless_asked_otherwise():
    # 4 wins, 1 loss and 4 ties fit Davidson's model exactly: odds of 4, two equal systems tie half
    # the time; half a win for a tie makes odds of 2
    table = judgements(ab=4, ba=1, a_b=4)
    found = calipers.rank(UP, judgements=table)
    fit = found["judgements"].fit
    assert found.settings["ties"] == fit.ties == "davidson"
    assert fit["a"].score - fit["b"].score == pytest.approx(100 * math.log(4))
    assert fit.tie_parameter == pytest.approx(2)
    data = found.to_dict()["truths"]["judgements"]["fit"]
    assert data["tie_share"] == pytest.approx(4 / 9)
    assert data["tie_parameter"] == pytest.approx(2)
    # log odds of 4 to 1: 1/4 + 1/1, a quarter of it for either score
    variance = 100**2 * 1.25 / 4
    np.testing.assert_allclose(data["covariance"], [[variance, -variance], [-variance, variance]])
    assert "44.4 % of the judgements are ties: a separate outcome" in str(found)
    half = calipers.rank(UP, judgements=table, ties="half")
    fit = half["judgements"].fit
    assert fit["a"].score - fit["b"].score == pytest.approx(100 * math.log(2))
    assert half.to_dict()["truths"]["judgements"]["fit"]["tie_parameter"] is None
    assert "half a win for each system, which brings the scores closer together" in " ".join(
        str(half).split()
    )
    with pytest.raises(InputError, match=r"'winner': all 3 .*'half'"):
        calipers.rank(UP, judgements=judgements(a_b=3))


def around(often):
    """Judgements of four systems in a row: neighbours 3 to 1, the others 5 to 1, a tie of each."""
    wins = {f"{y}{x}": (3 if ord(y) - ord(x) == 1 else 5) for x in "abc" for y in "bcd" if x < y}
    lost = {pair[::-1]: 1 for pair in wins}
    tied = {f"{pair[0]}_{pair[1]}": 1 for pair in wins}
    return judgements(**wins, **lost, **tied) * often


def length(interval):
    return interval[1] - interval[0]


@pytest.mark.slow
def test_correlations_carry_how_sure_the_fit_is():
    scores = [*rows({"a": 1.0, "b": 2.0, "c": 2.5, "d": 2.0}), *rows(dict.fromkeys("abcd", 0), "k")]
    once, often = (
        calipers.rank(scores, judgements=around(times))["judgements"] for times in (1, 400)
    )
    few, many = once["m"], often["m"]
    assert few.spearman == many.spearman
    low, high = few.spearman_fixed
    assert low < few.spearman < high <= 1
    assert length(few.pearson_fixed) > 4 * length(many.pearson_fixed)
    assert length(few.spearman_fixed) > length(many.spearman_fixed)
    # Both intervals lie within the one that also takes the systems for a draw from many
    for each in (few, many):
        assert each.spearman_interval[0] < each.spearman_fixed[0] or each.spearman_fixed[0] == -1
        assert length(each.pearson_interval) >= length(each.pearson_fixed)
    from calipers.uncertainty.correlation import pearson

    assert length(few.pearson_interval) > length(many.pearson_interval)
    values = [1.0, 2.0, 2.5, 2.0]
    systems = pearson(values, [often.fit[name].score for name in "abcd"]).interval
    assert many.pearson_interval == pytest.approx(systems, abs=0.01)
    assert length(many.pearson_interval) > length(systems)
    none = once["k"]
    assert (none.spearman_fixed, none.spearman_interval) == (None, None)


def test_the_errors_of_a_fit_count_whole_even_where_orders_agree():
    # 1.0 has no interval of Fisher's; with the systems fixed it has one
    found = calipers.rank(UP, judgements=around(1))["judgements"]["m"]
    assert (found.spearman, found.spearman_interval) == (1.0, None)
    assert found.spearman_fixed[0] < 0.9
    assert found.spearman_fixed[1] == 1.0


def test_intervals_depend_on_the_seed_and_not_on_rows_or_other_metrics():
    scores = [*rows({"a": 2.0, "b": 1.0, "c": 3.0, "d": 4.0}, sd=0.5)]
    more = [*rows({"a": 1.0, "b": 2.0, "c": 9.0, "d": 4.0}, "other", sd=0.1), *scores[::-1]]
    table = around(2)
    base = calipers.rank(scores, judgements=table)["judgements"]["m"]
    again = calipers.rank(more, judgements=table[::-1])["judgements"]["m"]
    for name in ("spearman_fixed", "pearson_fixed", "spearman_interval", "pearson_interval"):
        assert getattr(again, name) == pytest.approx(getattr(base, name), abs=1e-6)
    seeded = calipers.rank(scores, judgements=table, seed=5)["judgements"]["m"]
    assert seeded.pearson_fixed != base.pearson_fixed
    assert seeded.pearson_fixed == pytest.approx(base.pearson_fixed, abs=0.1)


def test_a_column_of_standard_errors_is_no_truth_of_its_own():
    truth = [{**row, "liked_sd": 0.1 * place} for place, row in enumerate(TRUTH)]
    scores = rows({"a": 1.0, "b": 2.0, "c": 2.5, "d": 2.1})
    exact = calipers.rank(scores, truth=TRUTH)["liked"]["m"]
    found = calipers.rank(scores, truth=truth)
    assert list(found.truths) == ["liked"]
    assert found["liked"].deviations == pytest.approx({"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.3})
    beside = found["liked"]["m"]
    assert exact.pearson_fixed is None
    assert beside.pearson_fixed[0] < exact.pearson < beside.pearson_fixed[1]
    assert length(beside.pearson_interval) > length(exact.pearson_interval)
    assert "the intervals include the errors of the truth" in " ".join(str(found).split())
    named = calipers.rank(scores, truth=truth, truth_columns=["liked"])
    assert named["liked"]["m"].pearson_fixed == beside.pearson_fixed
    blank = [{**row, "liked_sd": None} for row in TRUTH]
    assert calipers.rank(scores, truth=blank)["liked"]["m"].pearson_fixed is None
    below = [*truth[:3], {**truth[3], "liked_sd": -1}]
    with pytest.raises(InputError, match=r"row 4: liked_sd .*-1"):
        calipers.rank(scores, truth=below)


def test_several_columns_of_answers():
    table = [
        {"a": "a", "b": "b", "fun": 1, "sense": 5, "who": "x"},
        {"a": "a", "b": "b", "fun": "slightly a", "sense": "b", "who": "y"},
        {"a": "b", "b": "a", "fun": "b", "sense": "a", "who": "x"},
        {"a": "b", "b": "a", "fun": "a", "sense": "b", "who": "x"},
    ]
    found = calipers.rank(UP, judgements=table, truth_columns=["fun", "sense"])
    assert list(found.truths) == ["fun", "sense"]
    assert found["fun"].scores["a"] == pytest.approx(50 * math.log(3))
    assert found["sense"].scores["a"] == pytest.approx(-50 * math.log(3))
    with pytest.raises(InputError, match="'winner' or 'answer'"):
        calipers.rank(UP, judgements=table)


def test_the_reference_is_judged_and_not_ranked():
    pairs = [("human", "a", "human"), ("a", "human", "a"), ("a", "b", "a"), ("b", "a", "b")]
    table = [dict(zip(("a", "b", "winner"), row, strict=True)) for row in pairs]
    found = calipers.rank(UP, judgements=table, reference="human")
    assert {player.name for player in found["judgements"].fit.players} == {"human", "a", "b"}
    assert set(found["judgements"].scores) == {"a", "b"}
    assert "the reference 'human' has no scores, so none is compared with its own" in found.notes
    without = calipers.rank(UP, judgements=table)
    assert {player.name for player in without["judgements"].fit.players} == {"a", "b"}
    assert without.notes[0] == (
        "judgements: 2 judgements of 'human' left out: no scores; `keep_unscored` "
        "leaves them in the fit"
    )
    kept = calipers.rank(UP, judgements=table, keep_unscored=True)
    assert "judgements: 'human' left out of the correlations: no scores" in kept.notes


def test_systems_on_one_side_are_named():
    truth = [*TRUTH[1:], {"system": "z", "liked": 9}]
    found = calipers.rank(UP, truth=truth)
    assert found["liked"]["m"].n == 3
    assert found.notes == (
        "truth: 'z' left out of the correlations: no scores",
        "'a' left out of the correlations: not in truth",
    )


def test_gaps_are_told_and_the_others_ranked():
    scores = [*UP, *rows({"a": 3, "c": 2, "d": 1}, "k")]
    truth = [{**row, "other": None if row["system"] == "d" else row["liked"]} for row in TRUTH]
    found = calipers.rank(scores, truth=truth)
    assert found["liked"]["k"].n == 3
    assert found["liked"]["k"].spearman == -1.0
    assert found["other"]["m"].n == 3
    assert "k: no value of 'b'; ranked over the other systems" in found.notes
    assert "other: no value of 'd'; compared with the other systems" in found.notes


def test_all_alike_is_a_warning_and_no_number():
    found = calipers.rank(rows(dict.fromkeys("abcd", 1.0)), truth=TRUTH)
    assert math.isnan(found["liked"]["m"].spearman)
    assert "same value" in found["liked"]["m"].reason
    assert found.warnings == ("m: all systems have the same score, so there is no ranking",)
    json.dumps(found.to_dict(), allow_nan=False)


def test_missing_deviations_are_told():
    bare = [{key: row[key] for key in ("system", "metric", "mean")} for row in UP]
    assert (
        "no standard deviations were given, so the worst case is Spearman's correlation itself"
        in (calipers.rank(bare, truth=TRUTH).notes)
    )
    some = [*UP[:3], {**UP[3], "sd": ""}]
    assert (
        "1 of 4 scores have no standard deviation; it is taken as 0"
        in calipers.rank(some, truth=TRUTH).notes
    )


def test_a_person_among_the_systems_is_pointed_out():
    found = calipers.rank([*UP, *rows({"Human": 9.0})], truth=TRUTH)
    assert any("'Human' is ranked like the other systems" in note for note in found.notes)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".csv.gz"])
def test_every_kind_of_file_reads_alike(tmp_path, suffix):
    path = tmp_path / f"scores{suffix}"
    columns = ("system", "metric", "mean", "sd")
    mark = "\t" if suffix == ".tsv" else ","
    text = "\n".join(mark.join(map(str, row)) for row in [columns, *(r.values() for r in UP)])
    if suffix == ".parquet":
        pa, pq = need("pyarrow"), need("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(UP), path)
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, UP)))
    else:
        path.write_text(json.dumps(UP) if suffix == ".json" else text)
    found = calipers.rank(path, truth=TRUTH)
    assert found["liked"]["m"].spearman == 1.0
    assert found.metrics["m"].means == {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}


def test_a_mapping_from_system_to_metric():
    scores = {"a": {"m": (1.0, 0.2)}, "b": {"m": [2.0, 0.1]}, "c": {"m": 3.0}}
    found = calipers.rank(scores, truth=TRUTH)
    assert found.metrics["m"].deviations == {"a": 0.2, "b": 0.1, "c": 0.0}


def comparison(**systems):
    score = {"better": "higher", "standard_error": None, "seeds": [], "reason": None}
    return {
        "calipers": "0",
        "settings": {"views": ["meaning"], "metrics_shown": None},
        "reference": {"name": "human"},
        "systems": [
            {
                "name": name,
                "scores": {key: {**score, **own} for key, own in scores.items()},
            }
            for name, scores in systems.items()
        ],
    }


def test_a_comparison_goes_in_as_it_is(tmp_path):
    near = {"better": "closest", "reference": 10.0, "gap": 0.0}
    data = comparison(
        a={"precision": {"value": 0.5, "seeds": [0.4, 0.6]}, "vendi": {"value": 20, **near}},
        b={"precision": {"value": 0.6, "standard_error": 0.05}, "vendi": {"value": 4, **near}},
        c={"precision": {"value": 0.7}, "vendi": {"value": 11, **near}},
        d={"precision": {"value": None, "reason": "too few"}, "vendi": {"value": 10, **near}},
    )
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    found = calipers.rank(path, truth=TRUTH, metrics=["all"])
    precision = found.metrics["precision"]
    assert precision.deviations == pytest.approx({"a": math.sqrt(0.02), "b": 0.05, "c": 0.0})
    assert found["liked"]["vendi"].spearman == 1.0  # gaps 10, 6, 1, 0
    assert found.settings["reference"] == "human"
    assert "precision: no value of 'd' (too few); ranked over the other systems" in found.notes
    told = "deviations are the spread over the seed files of a system or standard errors"
    assert told in found.notes
    again = calipers.rank(data, truth=TRUTH)
    assert list(again.metrics) == ["precision"]  # what its table shows
    assert "1 further metric left out; `metrics` names them, or all" in again.notes


def test_from_compare_to_rank_in_one_step(tmp_path):
    rng = np.random.default_rng(0)
    systems = {
        name: rng.normal(shift, 1, (60, 3)) for name, shift in {"a": 0, "b": 1, "c": 3}.items()
    }
    compared = calipers.compare(
        rng.normal(0, 1, (60, 3)), systems, metrics=["precision", "mauve_star"], threads=1
    )
    liked = [{"system": name, "q": -place} for place, name in enumerate("abc")]
    found = calipers.rank(compared, truth=liked)
    assert list(found.metrics) == ["precision", "mauve_star"]
    assert found["q"]["mauve_star"].spearman == 1.0
    compared.save(tmp_path / "run.zip")
    kept = calipers.rank(tmp_path / "run.zip")
    assert kept.metrics["precision"].means == found.metrics["precision"].means


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "scores: holds no rows"),
        (rows({"a": 1.0}), "scores: .*2 systems.* 'a'"),
        (rows({"a": 1.0, "b": math.nan}), "row 2: mean .*finite number.* the float"),
        (rows({"a": 1.0, "b": " "}), "row 2: mean .*finite number.* blank"),
        (rows({"a": 1.0, "b": "1_0"}), "row 2: mean .*finite number.* the string"),
        (rows({"a": 1.0, "b": 2.0}, sd=-0.5), "row 1: sd must not be below 0.* -0.5"),
        (rows({"a": 1.0, "": 2.0}), "row 2: system .*name.* blank"),
        ([*UP, UP[1]], "row 5: .*'b' .*'m'.*row 2"),
        (rows({"a": 1.0, "b": 2.0}, better="up"), "better .*higher, lower or closest; found"),
        (rows({"a": 1.0, "b": 2.0}, better="closest"), "say which of 'a' and 'b' is the reference"),
        ([{"system": "a", "m": 1}], "scores: .*column 'metric'.*'system'"),
        ([1, 2], "scores: row 1: .*object.*int 1"),
        (7, "scores .*path, a data frame or a list of rows"),
        ({"a": 1.0}, "'a' must map metrics to means"),
        ({"a": {"m": (1, 2, 3)}}, r"'m' of 'a' must be \(mean, sd\)"),
        (comparison(a={"precision": {"value": 1}}), "a comparison of one system has no order"),
        ({"systems": [{"name": "a"}, {"name": "b"}]}, "must have a name and scores"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(InputError, match=message):
        calipers.rank(scores, truth=TRUTH)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": [{"system": "x", "q": 1}]}, "has no system that has scores: it names 'x'"),
        ({"truth": [{"system": "a", "q": "good"}]}, "has no column of numbers beside 'system'"),
        ({"truth": [TRUTH[0], TRUTH[0]]}, "row 2: 'a' has a second row; the first is row 1"),
        ({"truth": [*TRUTH[:2], {"system": "c", "liked": "x"}]}, "row 3: liked must be a finite"),
        ({"truth": TRUTH, "judgements": []}, "judgements and truth cannot be combined"),
        ({"truth": TRUTH, "level": 0}, "level .*0 and 1, such as 0.95.* 0"),
        ({"truth": TRUTH, "level": 1.5}, "level .*0 and 1, such as 0.95"),
        ({"truth": TRUTH, "ties": "none"}, "ties .*davidson or .* 'none'"),
        ({"truth": TRUTH, "kind": "kendall"}, "kind .*spearman or pearson.* 'kendall'"),
        ({"truth": TRUTH, "seed": -1}, "seed .*at least 0"),
        ({"truth": TRUTH, "reference": "humn"}, "unknown reference 'humn'"),
        ({"truth_columns": ["q"]}, "truth_columns needs truth or judgements"),
        ({}, "only one metric"),
        ({"truth": "gone.csv"}, "gone.csv: there is no such file"),
    ],
)
def test_bad_truths_and_options(options, message):
    with pytest.raises(InputError, match=message):
        calipers.rank(UP, **options)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b,a", "b,dd,b"], r"column 'winner': .*1 judgement of 'dd' left out.*`keep_unscored`"),
        (
            ["a,ee,a", "b,dd,b"],
            r"holds no judgement of systems that have scores: it names 'a', 'ee', ",
        ),
        (["a,b,a", "b,a,perhaps"], "line 3: the answer 'perhaps' is not one of"),
        (["a,b,a", "b,b,b"], "line 3: 'b' is compared with itself"),
        (["a,b,a", "b,a,b", "c,d,c", "d,c,d"], "column 'winner': .*'a', 'b' | 'c', 'd'"),
        (["a,b,a", "a,b,a"], "column 'winner': "),
    ],
)
def test_bad_judgements_name_their_line(tmp_path, lines, message):
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["a,b,winner", *lines]))
    with pytest.raises(InputError, match=f"pairs.csv: {message}"):
        calipers.rank(UP, judgements=path)


@settings(max_examples=25)
@given(
    st.lists(st.integers(-50, 50), min_size=4, max_size=7, unique=True),
    st.randoms(use_true_random=False),
    st.floats(0, 20),
)
def test_the_worst_case_is_never_above_the_correlation(values, random, sd):
    truth = list(range(len(values)))
    random.shuffle(truth)
    found = calipers.rank(
        rows({f"s{i}": value for i, value in enumerate(values)}, sd=sd),
        truth=[{"system": f"s{i}", "q": q} for i, q in enumerate(truth)],
    )
    beside = found["q"]["m"]
    assert beside.worst <= beside.spearman + 1e-12
    assert beside.bound <= beside.worst + 1e-12


@pytest.mark.slow
def test_the_result_prints_looks_up_and_draws(tmp_path, published):
    assert str(published).startswith("Ranking of 8 systems by 6 metrics, beside 3 truths")
    assert repr(published).endswith("'human_like', 'interesting', 'sensible'>")
    assert len(published) == 3
    json.dumps(published.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="did you mean 'human_like'"):
        published["humanlike"]
    with pytest.raises(InputError, match="did you mean 'mauve_star'"):
        published["human_like"]["mauve"]
    figure = published.plot(tmp_path / "map.png")
    assert len(figure.axes) == 2
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_dict_is_one_truth():
    means = {"a": 1, "b": 3, "c": 2}
    rows = [{"system": name, "metric": "m", "mean": mean} for name, mean in means.items()]
    truth = {"a": 10.0, "b": 30.0, "c": 20.0}
    found = calipers.rank(rows, truth=truth)
    assert found["truth"]["m"].spearman == 1.0


def compared(**changes: object) -> dict:
    """A comparison of two systems as JSON holds it, with a score that was changed."""
    score = {"value": 0.5, "better": "higher", **changes}
    systems = [{"name": name, "scores": {"mauve": dict(score)}} for name in "ab"]
    return {"reference": {"name": "human"}, "settings": {"views": ["meaning"]}, "systems": systems}


FINITE = "the score 'mauve' of 'a': {} must be a finite number or null; found {}"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (compared(value=[1]), FINITE.format("value", "a list of 1 item")),
        (compared(value="0.5"), FINITE.format("value", "the string '0.5'")),
        (compared(value=True), FINITE.format("value", "the bool True")),
        (compared(value=float("inf")), FINITE.format("value", "the float inf")),
        (compared(reference="x"), FINITE.format("reference", "the string 'x'")),
        (compared(standard_error={}), FINITE.format("standard_error", "an object")),
        (compared(standard_error=-1), "standard_error must not be below 0; found -1"),
        (compared(seeds=3), "seeds must be a list of numbers; found the int 3"),
        (compared(seeds=[1, "x"]), FINITE.format("a seed's value", "the string 'x'")),
        (compared(better=3), "better must be higher, lower or closest; found the int 3"),
        ({**compared(), "settings": None}, "settings must be an object; found null"),
        ({**compared(), "settings": {"views": 3}}, "views of its settings must be a list of names"),
        (
            {**compared(), "settings": {"metrics_shown": [None]}},
            "metrics_shown of its settings must be a list of names; found a list of 1 item",
        ),
        ({**compared(), "settings": {"estimator": []}}, "estimator of its settings must be a name"),
        (
            {"systems": [{"name": "a", "scores": {"mauve": None}}]},
            "the score 'mauve' of 'a' must be an object with a value",
        ),
        ({"systems": [{"name": "a", "scores": None}]}, "found 'a' with scores null"),
        ({"systems": [None]}, "found null"),
    ],
)
def test_scores_that_cannot_be_are_named(scores, message, tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(scores))
    with pytest.raises(InputError) as caught:
        calipers.rank(path, truth=[{"system": "a", "truth": 1}, {"system": "b", "truth": 2}])
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
