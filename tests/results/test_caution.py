"""Cautions: a kind, a few words, a weight; the worst first; of the warnings that a result has."""

import json
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InputError
from calipers.evaluate.cautions.copies import Beginnings, Copies, Duplicates, Prompts
from calipers.evaluate.cautions.language import Language, Scripts
from calipers.evaluate.cautions.lengths import Truncation
from calipers.evaluate.cautions.texts import brief_lengths
from calipers.report.redacted import without_texts
from calipers.results import Comparison, SetSummary, SystemResult
from calipers.results.caution import (
    LONGEST,
    WEIGHTS,
    Caution,
    Kind,
    brief_share,
    sentences,
    worst_first,
)

SHARE = st.floats(0, 1)
COUNT = st.integers(2, 10**6)
LENGTH = st.floats(0, 10**6)


def test_every_kind_has_a_weight():
    assert set(WEIGHTS) == set(get_args(Kind))
    assert list(WEIGHTS.values()) == sorted(WEIGHTS.values(), reverse=True)


def test_the_worst_comes_first_and_of_one_weight_the_first():
    few = Caution("few_samples", "only 20 samples", "20 are few", movement=0.1)
    openings = Caution("openings", "all share an opening", "they begin alike", movement=0.4)
    scripts, language = Caution("scripts", "a", "s"), Caution("language", "b", "l")
    assert worst_first([few, language, openings, scripts, few]) == (
        *(openings, language, scripts, few),
    )
    slight = Caution("openings", "5 % share an opening", "they begin alike", movement=0.002)
    assert worst_first([slight, few, openings]) == (openings, few, slight)
    assert worst_first([scripts, language]) == (scripts, language)
    assert sentences([few, openings]) == ("20 are few", "they begin alike")


def test_written_and_read():
    made = Caution("lengths", "longer (9 vs 6 words)", "a sentence", "`match_length=6`", 0.128)
    data = json.loads(json.dumps(made.to_dict()))
    assert data == {
        "kind": "lengths",
        "brief": "longer (9 vs 6 words)",
        "weight": 13,
        "movement": 0.128,
        "text": "a sentence",
        "remedy": "`match_length=6`",
    }
    assert Caution.from_dict(data) == made
    unknown = Caution("scorer", "scored by its writer", "a sentence")
    assert (unknown.weight, unknown.movement) == (WEIGHTS["scorer"], None)
    assert Caution.from_dict(unknown.to_dict()) == unknown
    with pytest.raises(InputError, match="kind is 'odd'"):
        Caution.from_dict({**data, "kind": "odd"})


@given(SHARE)
def test_a_short_share_is_never_100_or_0_too_early(share):
    text = brief_share(share)
    assert (text == "all") == (share == 1)
    assert (text == "0 %") == (share == 0)
    assert len(text) <= len("under 1 %")


@given(LENGTH, LENGTH, st.sampled_from(["words", "characters", "tokens"]))
def test_a_brief_of_lengths_is_short_enough(reference, generated, unit):
    brief = brief_lengths(reference, generated, unit)
    assert 0 < len(brief) <= LONGEST
    assert ("longer" in brief) == (generated > reference)


@given(SHARE, SHARE, st.floats(0, 60), COUNT, COUNT)
def test_briefs_are_short_enough_whatever_was_found(one, other, words, n, m):
    scripts = {"Canadian": one, "Latin": 1 - one}, {"Latin": other, "Mathematical": 1 - other}
    found = [
        Duplicates(one, other, n),
        Copies(one, other, n, m),
        Prompts(other, one),
        Beginnings(one, other, words, n, m),
        Truncation(other, one, n, m, None),
        Scripts(*scripts, 1.0, 0.0),
        Language(0.4, 0.4, one, other, other, one, n, m, "a secret text"),
    ]
    for caution in filter(None, (each.caution() for each in found)):
        assert 0 < len(caution.brief) <= LONGEST
        assert "secret" not in caution.brief


def worked_example():
    words = np.array([a + b for a in "bdfgkl" for b in ("an", "ere", "in", "o", "uss")])
    rng = np.random.default_rng(0)
    reference = [" ".join(rng.permutation(words)[:10]) for _ in range(120)]
    generated = [" ".join(rng.permutation(words)[:6]) for _ in range(120)]
    generated[60:] = generated[:60]
    generated[20:40] = [""] * 20
    return reference, generated


def test_cautions_of_a_comparison_are_its_warnings():
    reference, generated = worked_example()
    found = calipers.compare(reference, {"short": generated}, embedder="tfidf", level=None)
    system = found["short"]
    assert {(each.kind, each.brief) for each in system.cautions} == {
        ("duplicates", "40 % duplicates"),
        ("lengths", "much shorter (6 vs 10 words)"),
        ("empty", "17 % empty"),
    }
    moved = [each.movement for each in system.cautions]
    assert moved == sorted(moved, reverse=True)
    assert {*sentences(system.cautions)} <= {*system.warnings, *system.summary.warnings}
    assert [each.kind for each in found.cautions] == ["few_samples"]
    assert {*sentences(found.cautions)} <= {*found.warnings}
    data = json.loads(json.dumps(found.to_dict()))
    assert data["systems"][0]["cautions"][0]["weight"] == round(100 * moved[0])
    assert Comparison.from_dict(data)["short"].cautions == system.cautions


def test_the_reference_itself_comes_before_all_else():
    reference, _ = worked_example()
    found = calipers.compare(reference[:20], {"same": reference[:20]}, embedder="tfidf", level=None)
    first, *others = [each.kind for each in found["same"].cautions]
    assert first == "same_file"
    assert {*others} == {"neighbours", "few_samples"}


def test_statistics_of_texts_have_cautions_too():
    reference, generated = worked_example()
    found = calipers.measure_texts(
        {"short": generated}, reference=reference, metrics="distinct", tokenizer="whitespace"
    )
    assert {each.kind for each in found["short"].cautions} == {"duplicates", "lengths"}
    assert {*sentences(found["short"].cautions)} == {*found["short"].warnings}


def test_files_from_before_there_were_cautions_have_none():
    reference, generated = worked_example()
    found = calipers.compare(reference, {"a": generated}, embedder="tfidf", level=None)
    data = found.to_dict()
    del data["cautions"], data["systems"][0]["cautions"]
    back = Comparison.from_dict(data)
    assert back.cautions == back["a"].cautions == ()
    assert set(found["a"].warnings) <= set(back["a"].warnings)


def test_shared_data_keep_the_sentences_and_not_what_they_quote():
    example = "Ein geheimer Text, der niemanden etwas angeht"
    language = Language(0.4, 0.4, 0.5, 0.0, 0.0, 0.0, 500, 500, example)
    caution = language.caution()
    assert example in caution.text
    human = SetSummary("r", "", 500, 500, None, "")
    checks = {"language": {"example": example}}
    system = SystemResult(human, {}, {}, confounders=checks, cautions=(caution,))
    bare = without_texts(Comparison(human, (system,), {"views": ["meaning"]}))
    (shared,) = bare.systems[0].cautions
    assert "[text left out]" in shared.text
    assert example not in json.dumps(bare.to_dict())
    assert shared.brief == "50 % in another language, or not prose"
