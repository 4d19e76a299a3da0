"""The verdict of a comparison, case by case, against sentences written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.evaluate.verdict import verdict
from calipers.results.verdict import Verdict
from calipers.wording.words import Name
from hand_made import comparison_of

Data = dict[str, Any]
Make = dict[str, Callable[..., Data]]


def build(
    make: Make, scores: dict[str, Data], tests: list[Data] | None = None, **more: Any
) -> Data:
    """A comparison by one view, of systems with these scores."""
    views = {"views": ["meaning"]} | more
    data = make["comparison"]([make["system"](n, s) for n, s in scores.items()], **views)
    return data | {"tests": tests or []}


def verdict_of(data: Data) -> Verdict:
    return verdict(comparison_of(data))


def said(data: Data) -> list[str]:
    return list(verdict_of(data).sentences)


def floor(value: float, beside: float, *, inside: bool, size: int = 250) -> Data:
    spread = {"spread": 0.01, "beside_spread": 0.01, "splits": 10, "margin": 0.02}
    return {"value": value, "beside": beside, "inside": inside, "size": size, **spread}


def against(make: Make, name: str, p: float | None, **more: Any) -> Data:
    """A test of a system against the reference."""
    test = make["significance"](name, "reference", "classifier_auc", 0.6, p)
    return test | {"interval": None, "adjusted_p_value": p} | more


UNTESTED = "Differences from the reference were not tested."


def test_the_closest_and_those_tied_with_it(make: Make) -> None:
    test = make["significance"]
    values = {"a": 0.7, "b": 0.9, "c": 0.89, "d": 0.5}
    data = build(
        make,
        {name: {"mauve_star": make["score"](value)} for name, value in values.items()},
        [
            test("a", "b", "mauve_star", -0.2, 0.001),
            test("b", "c", "mauve_star", 0.01, 0.6),
            test("b", "d", "mauve_star", 0.4, None),
        ],
    )
    assert said(data)[0] == (
        "b is closest to human (MAUVE* 0.90); c (0.89) is tied with it; d was not tested "
        "against it."
    )
    assert verdict_of(data).closest == ("b", "c")


def test_without_tests_that_is_said(make: Make) -> None:
    scores = {"a": {"mauve_star": make["score"](0.7)}, "b": {"mauve_star": make["score"](0.9)}}
    assert said(build(make, scores)) == ["b is closest to human (MAUVE* 0.90), untested.", UNTESTED]


def test_the_averages_of_the_papers_say_who_is_closest_only_where_nothing_else_does(
    make: Make,
) -> None:
    paper, ours = "mauve:gaussian:other_side", "mauve:gaussian"
    scores = {
        "greedy": {paper: make["score"](0.74), ours: make["score"](0.5)},
        "nucleus": {paper: make["score"](0.69), ours: make["score"](0.55)},
    }
    for keys in ((ours, paper), (paper, ours)):
        ordered = {name: {key: each[key] for key in keys} for name, each in scores.items()}
        assert said(build(make, ordered))[0].startswith("nucleus is closest to human (MAUVE Gauss ")
    alone = {name: {paper: each[paper]} for name, each in scores.items()}
    assert said(build(make, alone))[0].startswith("greedy is closest to human (MAUVE Gauss (other")


def two_views(make: Make, form: tuple[float, float]) -> Data:
    keys = ("mauve_star", "form.mauve_star")
    scores = {
        name: {key: make["score"](value) for key, value in zip(keys, values, strict=True)}
        for name, values in {"a": (0.9, form[0]), "b": (0.5, form[1])}.items()
    }
    tests = [
        make["significance"](
            "a", "b", key, scores["a"][key]["value"] - scores["b"][key]["value"], 0.001
        )
        for key in keys
    ]
    return build(make, scores, tests, views=["meaning", "form"])


def test_views_that_agree_share_a_sentence_and_others_do_not(make: Make) -> None:
    agree, differ = two_views(make, (0.8, 0.3)), two_views(make, (0.2, 0.6))
    assert said(agree)[0] == "a is closest to human (MAUVE* 0.90 by meaning, 0.80 by form)."
    assert (
        said(differ)[0] == "a is closest to human by meaning (MAUVE* 0.90); by form it is b (0.60)."
    )


def test_the_closest_is_praised_for_what_it_is_clearly_best_at(make: Make) -> None:
    values = {"a": (0.9, 0.8, 0.9), "b": (0.7, 0.8, 0.6)}
    keys = ("precision", "recall", "mauve_star")
    scores = {
        name: {key: make["score"](v) for key, v in zip(keys, row, strict=True)}
        for name, row in values.items()
    }
    tests = [make["significance"]("a", "b", key, 0.1, 0.001) for key in keys]
    assert said(build(make, scores, tests))[0] == (
        "a is closest to human (MAUVE* 0.90) and best in quality."
    )
    scores["a"]["recall"]["value"] = 0.95
    assert said(build(make, scores, tests))[0] == (
        "a is closest to human (MAUVE* 0.90), best in quality, the most diverse."
    )
    tests[0]["adjusted_p_value"] = tests[0]["p_value"] = 0.4
    assert said(build(make, scores, tests))[0] == (
        "a is closest to human (MAUVE* 0.90) and the most diverse."
    )


def test_a_score_that_is_no_gap_ranks_by_its_name(make: Make) -> None:
    scores = {"a": {"realism": make["score"](0.7)}, "b": {"realism": make["score"](0.9)}}
    tests = [make["significance"]("a", "b", "realism", -0.2, 0.001)]
    assert said(build(make, scores, tests))[0] == "b has the best Realism (0.90)."


def collapse(make: Make, recall: float, precision: float = 0.9, duplicates: float = 0.0) -> Data:
    return {
        "scores": {
            "precision": make["score"](precision),
            "recall": make["score"](recall),
            "mauve_star": make["score"](0.1),
        },
        "confounders": {"duplicates": {"generated": duplicates, "reference": 0.0, "unit": "texts"}},
    }


def collapsed(make: Make, **systems: Data) -> Data:
    rows = [
        make["system"](name, row["scores"], confounders=row["confounders"])
        for name, row in systems.items()
    ]
    return make["comparison"](rows, views=["meaning"])


def test_a_collapse_is_named_with_recall_and_duplicates(make: Make) -> None:
    data = collapsed(make, gan=collapse(make, 0.17, duplicates=0.914), mle=collapse(make, 0.9))
    assert "gan has collapsed: recall 0.17, and 91 % of its texts are duplicates." in said(data)
    assert verdict_of(data).collapsed == ("gan",)
    data = collapsed(make, gan=collapse(make, 0.17, duplicates=0.914), b=collapse(make, 0.1))
    assert "gan (recall 0.17, 91 % duplicates) and b (recall 0.10) have collapsed." in said(data)


@pytest.mark.parametrize(
    ("recall", "precision", "duplicates", "kind"),
    [
        (0.26, 0.9, 0.0, None),
        (0.24, 0.9, 0.0, "collapsed"),
        (0.9, 0.9, 0.6, "collapsed"),
        (0.9, 0.9, 0.4, None),
        (0.01, 0.02, 0.0, "distant"),
    ],
)
def test_what_a_collapse_is(
    make: Make, recall: float, precision: float, duplicates: float, kind: str | None
) -> None:
    data = collapsed(make, a=collapse(make, recall, precision, duplicates), b=collapse(make, 0.9))
    kinds = {f.kind for f in verdict_of(data).findings if "a" in f.systems}
    assert (kinds & {"collapsed", "distant"}) == ({kind} if kind else set())


def test_a_collapse_is_measured_at_the_size_of_the_floor_where_there_is_one(make: Make) -> None:
    row = collapse(make, 0.3)
    row["scores"]["recall"]["floor"] = floor(0.8, 0.1, inside=False)
    assert verdict_of(collapsed(make, a=row)).collapsed == ("a",)
    row["scores"]["recall"]["floor"] = floor(0.8, 0.3, inside=False)
    assert verdict_of(collapsed(make, a=row)).collapsed == ()


def test_noise_lies_far_from_the_reference(make: Make) -> None:
    data = collapsed(make, noise=collapse(make, 0.01, 0.02), b=collapse(make, 0.9))
    assert "noise (precision 0.02, recall 0.01) lies far from the reference." in said(data)


@pytest.mark.parametrize(
    ("p_values", "sentence"),
    [
        ({"a": 0.01, "b": 0.2}, "b cannot be distinguished from the reference; a clearly differs."),
        ({"a": 0.01, "b": 0.01}, "Both clearly differ from the reference."),
        ({"a": 0.01, "b": 0.01, "c": 0.01}, "All three clearly differ from the reference."),
        ({"a": 0.3, "b": 0.2}, "a and b cannot be distinguished from the reference."),
        (
            {"a": 0.01, "b": 0.01, "c": 0.01, "d": 0.9},
            "d cannot be distinguished from the reference; the others clearly differ.",
        ),
        ({"a": 0.01, "b": None}, "a clearly differs from the reference."),
        ({"a": None, "b": None}, UNTESTED),
    ],
)
def test_who_is_distinguishable(make: Make, p_values: Data, sentence: str) -> None:
    scores = {name: {"mauve_star": make["score"](0.5)} for name in p_values}
    tests = [against(make, name, p) for name, p in p_values.items()]
    found = verdict_of(build(make, scores, tests))
    assert found.sentences[-1] == sentence
    assert found.distinguishable == tuple(n for n, p in p_values.items() if p and p < 0.05)


def test_one_system_by_its_scores_its_floor_and_its_test(make: Make) -> None:
    keys = ("precision", "recall", "mauve_star")
    scores = {key: make["score"](value) for key, value in zip(keys, (0.9, 0.6, 0.7), strict=True)}
    scores["precision"]["floor"] = floor(0.9, 0.9, inside=True)
    scores["recall"]["floor"] = floor(0.9, 0.5, inside=False)
    test = against(make, "a", 0.003, at_limit=True)
    assert said(build(make, {"a": scores}, [test])) == [
        "a against human: MAUVE* 0.70, Precision 0.90, Recall 0.60.",
        "It loses diversity (recall 0.50, floor 0.90) beyond the noise floor at 250 samples.",
        "It clearly differs from the reference (p ≤ 0.003).",
    ]
    scores["recall"]["floor"] = floor(0.9, 0.95, inside=False)
    test = against(make, "a", 0.41)
    assert said(build(make, {"a": scores}, [test]))[1:] == [
        "It loses neither quality nor diversity beyond the noise floor.",
        "It cannot be distinguished from the reference (p = 0.41).",
    ]


def caution(kind: str, brief: str, weight: int) -> Data:
    text = f"{brief}; and so on"
    return {"kind": kind, "brief": brief, "movement": weight / 100, "text": text}


@pytest.mark.parametrize(
    ("other", "also"),
    [
        ("much shorter (9 vs 342 words)", " (and 1 other)"),
        ("much longer (900 vs 342 words)", ""),
    ],
)
def test_others_are_said_to_be_alike_only_where_they_are(make: Make, other: str, also: str) -> None:
    data = build(make, {name: {"mauve_star": make["score"](0.5)} for name in "ab"})
    data["systems"][0]["cautions"] = [caution("lengths", "much shorter (146 vs 342 words)", 40)]
    data["systems"][1]["cautions"] = [caution("lengths", other, 30)]
    assert str(verdict_of(data).cautions[0]) == f"a: much shorter (146 vs 342 words){also}"
    shares = ("all begin with their prompt", "14 % begin with their prompt")
    for system, brief in zip(data["systems"], shares, strict=True):
        system["cautions"] = [caution("prompts", brief, 40)]
    assert str(verdict_of(data).cautions[0]) == f"a: {shares[0]} (and 1 other)"


def test_the_two_weightiest_cautions_and_all_that_reverse_a_verdict(make: Make) -> None:
    scores = {name: {"mauve_star": make["score"](0.5)} for name in "abc"}
    data = build(make, scores)
    data["systems"][0]["cautions"] = [caution("lengths", "much shorter", 40)]
    data["systems"][1]["cautions"] = [
        caution("truncation", "64 % cut by the embedder, reference 20 %", 22),
        caution("openings", "76 % share an opening", 12),
    ]
    data["systems"][2]["cautions"] = [
        caution("openings", "9 % share an opening", 2),
        caution("lengths", "longer", 8),
    ]
    data["cautions"] = [caution("few_samples", "fewer than 1,000 samples", 6)]

    def shown() -> list[str]:
        return [caution.brief for caution in verdict_of(data).cautions]

    assert str(verdict_of(data).cautions[0]) == "a: much shorter"  # another is longer
    assert shown() == ["much shorter", "64 % cut by the embedder, reference 20 %"]
    data["systems"][1]["cautions"][1]["movement"] = 0.3
    assert shown() == [
        *("much shorter", "76 % share an opening"),
    ]
    data["systems"][2]["cautions"].append(caution("language", "all in another language", 26))
    assert shown() == ["much shorter", "76 % share an opening", "all in another language"]
    for system in data["systems"]:
        system["cautions"] = [caution("openings", "5 % share an opening", 2)]
    assert shown() == ["fewer than 1,000 samples"]


def test_what_a_sentence_says_is_no_caution_too(make: Make) -> None:
    data = collapsed(make, gan=collapse(make, 0.17, duplicates=0.914), b=collapse(make, 0.9))
    data["systems"][0]["cautions"] = [caution("duplicates", "91 % duplicates", 60)]
    data["cautions"] = [caution("few_samples", "fewer than 1,000 samples", 8)]
    assert [str(found) for found in verdict_of(data).cautions] == ["fewer than 1,000 samples"]


def test_names_are_set_apart_and_written_in_full_as_data(make: Make) -> None:
    name = "runs/of a very long name that a narrow line would have to shorten/model"
    data = collapsed(make, **{name: collapse(make, 0.1)}, b=collapse(make, 0.9))
    finding = next(f for f in verdict_of(data).findings if f.kind == "collapsed")
    assert [str(word.name) for word in finding.words if isinstance(word, Name)] == [name]
    assert verdict_of(data).to_dict()["collapsed"] == [name]


def test_nothing_to_say_of_no_systems(make: Make) -> None:
    assert verdict_of(make["comparison"]([])).sentences == ()


unit = st.one_of(st.none(), st.floats(0, 1))


@given(st.lists(st.tuples(unit, unit, unit, unit), min_size=1, max_size=5))
def test_any_scores_have_a_verdict_of_whole_sentences(make: Make, rows: Any) -> None:
    keys = ("precision", "recall", "mauve_star")
    scores = {
        f"s{i}": {key: make["score"](v) for key, v in zip(keys, row, strict=False)}
        for i, row in enumerate(rows)
    }
    tests = [against(make, f"s{i}", row[3]) for i, row in enumerate(rows)]
    found = verdict_of(build(make, scores, tests))
    assert all(sentence.endswith(".") and "  " not in sentence for sentence in found.sentences)
    assert {name for f in found.findings for name in f.systems} <= set(scores)
    assert not set(found.collapsed) & {
        n for f in found.findings if f.kind == "distant" for n in f.systems
    }


def diverse(
    make: Make, recall: tuple[float, float], coverage: tuple[float, float], precision: float = 0.9
) -> Data:
    """Scores of a system: recall and coverage at the size of the floor, and the floor."""
    score = make["score"]
    scores = {"precision": score(precision), "recall": score(0.9), "coverage": score(0.9)}
    for key, (beside, value) in {"recall": recall, "coverage": coverage}.items():
        scores[key]["floor"] = floor(value, beside, inside=abs(beside - value) < 0.05)
    return scores | {"mauve_star": score(0.5)}


FULL = (0.93, 0.93)


def test_a_topic_that_is_missing_is_said_although_recall_stays(make: Make) -> None:
    data = build(make, {"a": diverse(make, FULL, (0.56, 0.95))})
    assert said(data)[:2] == [
        "a against human: MAUVE* 0.50, Precision 0.90, Recall 0.90, Coverage 0.90.",
        "It loses diversity (coverage 0.56, floor 0.95) beyond the noise floor at 250 samples.",
    ]
    assert verdict_of(data).lost == ("a",)


def test_narrow_samples_are_said_although_coverage_stays(make: Make) -> None:
    data = build(make, {"a": diverse(make, (0.6, 0.94), (0.94, 0.95))})
    assert "diversity (recall 0.60, floor 0.94)" in said(data)[1]


def test_of_several_systems_those_that_lose_diversity_are_named_the_worst_first(make: Make) -> None:
    scores = {
        "a": diverse(make, FULL, (0.94, 0.95)),
        "b": diverse(make, (0.80, 0.93), (0.90, 0.95)),
        "c": diverse(make, FULL, (0.56, 0.95)),
    }
    data = build(make, scores)
    assert verdict_of(data).lost == ("c", "b")
    assert verdict_of(data).to_dict()["lost"] == ["c", "b"]
    assert (
        "c (coverage 0.56, floor 0.95) and b (recall 0.80, floor 0.93) lose diversity beyond the "
        "noise floor at 250 samples."
    ) in said(data)
    many = {name: diverse(make, FULL, (0.56 + i / 100, 0.95)) for i, name in enumerate("abcde")}
    assert (
        "5 systems lose diversity beyond the noise floor at 250 samples, most of all a (coverage "
        "0.56, floor 0.95)."
    ) in said(build(make, many))


def test_a_loss_that_no_test_confirms_is_only_possible(make: Make) -> None:
    scores = {name: diverse(make, FULL, (0.56, 0.95)) for name in "ab"}
    tests = [against(make, "a", 0.2), against(make, "b", 0.01)]
    data = build(make, scores, tests)
    assert said(data)[-3:] == [
        "b (coverage 0.56, floor 0.95) loses diversity beyond the noise floor at 250 samples.",
        "a (coverage 0.56, floor 0.95) may lose diversity: beyond the noise floor at 250 samples, "
        "but no test confirms it.",
        "a cannot be distinguished from the reference; b clearly differs.",
    ]
    assert verdict_of(data).lost == ("b",)
    alone = build(make, {"a": scores["a"]}, tests[:1])
    assert said(alone)[1] == (
        "It may lose diversity (coverage 0.56, floor 0.95): beyond the noise floor at 250 samples, "
        "but no test confirms it."
    )
    assert verdict_of(alone).lost == ()


def test_equal_systems_lose_nothing(make: Make) -> None:
    scores = {name: diverse(make, FULL, (0.95, 0.95)) for name in "ab"}
    assert verdict_of(build(make, scores)).lost == ()
    alone = build(make, {"a": scores["a"]})
    assert "It loses neither quality nor diversity beyond the noise floor." in said(alone)
    assert verdict_of(alone).lost == ()


def test_a_low_coverage_is_a_collapse_unless_poor_quality_explains_it(make: Make) -> None:
    good = build(make, {"a": diverse(make, FULL, (0.14, 0.95)), "b": diverse(make, FULL, FULL)})
    assert verdict_of(good).collapsed == ("a",)
    assert verdict_of(good).lost == ()  # it is named once
    poor = {"a": diverse(make, FULL, (0.14, 0.95), precision=0.4), "b": diverse(make, FULL, FULL)}
    assert verdict_of(build(make, poor)).collapsed == ()
    assert verdict_of(build(make, poor)).lost == ("a",)


def test_the_most_diverse_is_worse_by_no_score_of_diversity(make: Make) -> None:
    def told(recall: float, coverage: float, p: float) -> str:
        keys = ("recall", "coverage", "mauve_star")
        scores = {
            name: {key: make["score"](v) for key, v in zip(keys, row, strict=True)}
            for name, row in {"a": (recall, coverage, 0.9), "b": (0.7, 0.7, 0.5)}.items()
        }
        tests = [make["significance"]("a", "b", key, 0.1, 0.001) for key in keys]
        tests[1]["p_value"] = tests[1]["adjusted_p_value"] = p
        return said(build(make, scores, tests))[0]

    assert "the most diverse" in told(0.9, 0.9, 0.001)
    assert "the most diverse" in told(0.9, 0.69, 0.6)  # tied by coverage
    assert "the most diverse" not in told(0.9, 0.5, 0.001)
