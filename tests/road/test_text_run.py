"""Texts from what a person hands over to statistics beside the reference's own."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from calipers import text
from calipers.errors import InputError, MissingExtraError
from calipers.road.text_limits import MOST_FOR_VENDI
from calipers.road.text_run import measure_texts
from calipers.road.text_scripts import script_warnings
from calipers.samples import SampleSet, read_samples
from calipers.text.vendi import MOST_DENSE

HUMAN = [
    f"the {a} saw a {b} near the old {c}"
    for a in ("cat", "dog", "fox")
    for b in ("bird", "fish")
    for c in ("mill", "lake", "hill", "oak")
]
DULL = [f"it was a {a} day and it was {b}" for a in ("good", "bad") for b in ("so", "then")] * 6
QUICK = ["distinct:n=2", "self_bleu", "novelty", "mean_length"]


def run(generated, metrics=QUICK, **options):
    return measure_texts(generated, metrics=metrics, tokenizer="whitespace", threads=1, **options)


def test_both_values_and_the_gap():
    found = run({"dull": DULL}, reference=HUMAN)["dull"]["distinct:n=2"]
    ours = text.distinct(DULL, order=2, tokenizer="whitespace").value
    theirs = text.distinct(HUMAN, order=2, tokenizer="whitespace").value
    assert (found.value, found.reference) == (ours, theirs)
    assert found.gap == abs(ours - theirs)
    assert found.better == "closest"


def test_what_holds_texts_against_the_reference_has_no_gap():
    found = run({"dull": DULL}, reference=HUMAN)
    assert found["dull"]["novelty"].gap is None
    assert found["dull"]["novelty"].value == 1.0
    assert [*found.reference_scores] == ["distinct:n=2", "self_bleu", "mean_length"]


def test_without_a_reference():
    found = run({"dull": DULL}, ["self_bleu", "copies"])
    assert found.reference is None
    assert "novelty" not in found["dull"].scores
    assert found["dull"]["self_bleu"].reference is None
    assert found.to_dict()["reference"] is None


def test_all_sets_are_cut_to_the_smallest():
    found = run({"dull": DULL, "few": DULL[:10]}, reference=HUMAN[:20])
    assert [system.summary.n for system in found] == [10, 10]
    assert (found.reference.n, found.reference.n_given) == (10, 20)
    kept = run({"dull": DULL, "few": DULL[:10]}, reference=HUMAN, keep_sizes=True)
    assert [system.summary.n for system in kept] == [24, 10]
    (warning,) = kept.warnings
    assert "sets have 10 to 24 texts" in warning
    assert "distinct:n=2, self_bleu" in warning
    assert "mean_length" not in warning


def test_another_system_changes_no_score():
    alone = run({"dull": DULL}, reference=HUMAN)
    beside = run({"human": HUMAN, "dull": DULL}, reference=HUMAN)
    for key, score in alone["dull"].scores.items():
        assert beside["dull"][key].value == score.value
        assert beside["dull"][key].signature == score.signature


def test_a_set_against_itself():
    found = run({"same": HUMAN}, reference=HUMAN)["same"]
    assert found["distinct:n=2"].gap == 0
    assert found["novelty"].value == 0
    assert "is the reference itself, text for text" in found.warnings


def test_seeds_are_averaged():
    sets = [SampleSet.from_texts(texts, name=str(i)) for i, texts in enumerate((HUMAN, DULL))]
    found = run({"two": sets}, reference=HUMAN)["two"]["distinct:n=2"]
    assert len(found.seeds) == 2
    assert found.value == pytest.approx(np.mean(found.seeds))
    assert found.gap == pytest.approx(abs(found.value - found.reference))


def test_the_training_set_is_whole_and_the_reference_tells_what_is_usual():
    train = [*DULL[:4], *HUMAN[:4], *["more of this and that"] * 50]
    found = run({"dull": DULL}, ["novelty:train"], reference=HUMAN, train=train)
    score = found["dull"]["novelty:train"]
    assert score.value == 0.0
    assert 0 < score.reference < 1
    assert found.train.n == 58
    assert found.reference_scores["novelty:train"].value == score.reference
    alone = run({"dull": DULL}, ["novelty:train"], train=train)
    assert alone["dull"]["novelty:train"].reference is None


def test_aligned_texts_stay_with_their_references_when_cut():
    pytest.importorskip("sacrebleu")
    references = [f"sentence number {n} of the very same text" for n in range(40)]
    found = run(
        {"copy": [*references]}, ["bleu"], reference=references, aligned=True, max_samples=15
    )
    assert found["copy"]["bleu"].value == pytest.approx(100)
    assert found["copy"].summary.n == found.reference.n == 15


@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        (10, "rows 11 to 24 of the references would have no partner"),
        (23, "row 24 of the references would have no partner"),
    ],
)
def test_aligned_texts_need_a_reference_each(texts, rows):
    with pytest.raises(
        InputError, match=f"dull: has {texts} texts and the reference has 24.*{rows}"
    ):
        run({"dull": DULL[:texts]}, None, reference=HUMAN, aligned=True)
    with pytest.raises(InputError, match="rows 11 to 24 of the texts would have no partner"):
        run({"dull": DULL}, None, reference=HUMAN[:10], aligned=True)


def test_undefined_texts_are_counted_in_words():
    found = run({"some": [*DULL, "a b", ""]}, ["rep_n", "distinct"])["some"]
    (warning,) = [each for each in found.warnings if "too short" in each]
    assert warning.endswith("rep_n 2")
    assert any("is empty and kept" in each for each in found.summary.warnings)


def test_a_sampled_metric_leaves_nothing_out_for_shortness():
    found = run({"dull": DULL}, ["self_bleu:sample=5"])["dull"]
    assert not any("too short" in each for each in found.warnings)


def test_copies_and_lengths_are_warned_of():
    found = run({"dull": DULL}, reference=HUMAN * 3)["dull"]
    assert any(each.startswith("20 of 24 texts repeat an earlier one") for each in found.warnings)
    longer = run({"long": [line + " " + line for line in HUMAN]}, reference=HUMAN)["long"]
    assert any("in the median" in each for each in longer.warnings)


def test_undefined_values_have_a_reason_and_leave_the_others_alone():
    found = run({"one": ["a b c"]}, ["self_bleu", "mean_length"], reference=["d e f"])["one"]
    assert np.isnan(found["self_bleu"].value)
    assert "no others" in found["self_bleu"].reason
    assert found["mean_length"].value == 3
    data = run({"one": ["a b c"]}, ["self_bleu"], reference=["d e f"]).to_dict()
    score = data["systems"][0]["scores"]["self_bleu"]
    assert (score["value"], score["gap"]) == (None, None)
    json.dumps(data, allow_nan=False)


def test_values_of_single_texts_reach_the_data():
    found = run({"dull": DULL}, ["rep_n"], reference=HUMAN)
    assert len(found.to_dict(per_sample=True)["systems"][0]["scores"]["rep_n"]["per_sample"]) == 24
    assert "per_sample" not in found.to_dict()["systems"][0]["scores"]["rep_n"]
    assert found.to_dict()["settings"]["tokenizer"] == "whitespace"


def test_paths_and_single_lists(tmp_path):
    path = tmp_path / "dull.txt"
    path.write_text("\n".join(DULL))
    named = run(str(path), reference=read_samples(path))
    assert [system.name for system in named] == ["dull"]
    assert named["dull"]["distinct:n=2"].gap == 0
    assert run(DULL, ["distinct"]).systems[0].summary.n == 24


def test_looking_up_what_is_not_there():
    found = run({"dull": DULL}, ["self_bleu"])
    assert "dull" in found
    assert len(found) == 1
    assert repr(found) == "<TextComparison of 'dull'>"
    with pytest.raises(InputError, match="unknown system 'dul'; did you mean 'dull'"):
        found["dul"]
    with pytest.raises(InputError, match="unknown score of 'dull' 'self_blue'; did you mean 'sel"):
        found["dull"]["self_blue"]


@pytest.mark.parametrize(
    ("generated", "options", "message"),
    [
        (np.ones((3, 2)), {}, "generated: text metrics need texts; it holds embeddings"),
        (DULL, {"reference": np.ones((3, 2))}, "reference: text metrics need texts"),
        (DULL, {"reference": {"a": HUMAN}}, "reference must be one set of texts; found a dict"),
        (DULL, {"train": {"a": HUMAN, "b": HUMAN}}, "train must be one set of texts"),
        (["", ""], {}, "all 2 texts are empty"),
        ([], {}, "holds no samples"),
        ([1, 2], {}, "generated: sample 1: must be a string, but it is the int 1"),
        ({}, {}, "at least one system"),
        (DULL, {"seed": -1}, "seed must be a whole number of at least 0"),
        (DULL, {"max_samples": 1}, "max_samples must be a whole number of at least 2"),
        (DULL, {"aligned": 1}, "aligned must be True or False; found 1"),
        (DULL, {"aligned": True}, "aligned texts need a reference for each row"),
        (DULL, {"metrics": "novelty"}, "'novelty' needs a reference"),
        (DULL, {"metrics": "novlty"}, "did you mean 'novelty'"),
        ("no.jsonl", {}, "no.jsonl: there is no such file"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(generated, options, message):
    options = {"metrics": ["distinct"], **options}
    with pytest.raises(InputError) as error:
        run(generated, **options)
    assert message in str(error.value)


def test_an_unknown_tokenizer_is_found_before_files_are_read():
    with pytest.raises(
        InputError, match="unknown tokenizer 'whitespac'; did you mean 'whitespace'"
    ):
        measure_texts("no.jsonl", tokenizer="whitespac")


def test_without_nltk_the_way_around_is_named(monkeypatch):
    for module in ("nltk", "nltk.tokenize"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"calipers\[nltk\].*whitespace"):
        measure_texts(DULL)


def test_every_step_is_told():
    class Watch:
        def __init__(self):
            self.steps = {}

        def task(self, description, total):
            from contextlib import contextmanager

            @contextmanager
            def opened():
                self.steps[description] = [0, total]
                yield lambda steps: self.steps[description].__setitem__(
                    0, self.steps[description][0] + steps
                )

            return opened()

    watch = Watch()
    run({"a": DULL, "b": DULL}, reference=HUMAN, progress=watch)
    assert watch.steps == {"Tokenising": [0, None], "Measuring": [12, 12]}


CHINESE = ["今天天气很好我们去公园吧", "他喜欢看书也喜欢音乐"] * 6
THAI = ["วันนี้อากาศดีมากเราไปสวนสาธารณะกันเถอะ"] * 4


@pytest.mark.parametrize(
    ("texts", "tokenizer", "end"),
    [
        (CHINESE, "whitespace", "in one piece (1.0 tokens a text); take --tokenizer zh, ja-mecab"),
        (THAI, "whitespace", "in one piece (1.0 tokens a text); take --tokenizer characters"),
        (["，".join(CHINESE)], "intl", "in long pieces (23.0 tokens a text)"),
        (CHINESE, "characters", None),
        (CHINESE, "zh", None),
        (["今天 天气 很 好 我们 去 公园 吧"], "whitespace", None),
        ([*HUMAN, *CHINESE], "whitespace", None),
        (["", " . ", "!"], "whitespace", None),
    ],
)
def test_scripts_without_spaces(texts, tokenizer, end):
    (corpus,) = text.tokenise(texts, tokenizer=tokenizer)
    found = [*script_warnings(corpus)]
    assert bool(found) == bool(end)
    if end:
        assert found[0].startswith("its texts are in a script without spaces, which ")
        assert end in found[0]


def test_scripts_are_warned_of_by_the_run():
    found = run({"zh": CHINESE}, ["mean_length"], reference=THAI * 3)
    assert any("without spaces" in each for each in found["zh"].warnings)
    assert any("without spaces" in each for each in found.reference.warnings)


def test_balls_that_hold_everything_are_warned_of():
    unlike = [f"{chr(97 + i)}{i} q{i} w{i} e{i}" for i in range(12)]
    metrics = ["string_recall", "string_coverage"]
    found = run({"x": [each.upper() for each in unlike]}, metrics, reference=unlike)["x"]
    (warning,) = [each for each in found.warnings if "balls" in each]
    assert warning.startswith("String recall 1.000, String coverage 1.000: the balls hold (nearly)")
    same = run({"x": unlike}, metrics, reference=unlike)["x"]
    assert not any("balls" in each for each in same.warnings)


def test_one_text_is_in_the_singular():
    warnings = run({"one": ["a b c"]}, ["mean_length"])["one"].warnings
    assert "1 text is few: chance alone moves its statistics a lot" in warnings
    with pytest.raises(InputError, match="one: has 1 text and the reference has 24; "):
        run({"one": ["a b c"]}, None, reference=HUMAN, aligned=True)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("self_bleu:sample=25", "sample must be at most 24, since the smallest set has 24 texts"),
        ("self_bleu:others=24", "others must be at most 23"),
        ("self_bleu:sample=9:others=7", "sample must be at most 8"),
        ("vendi", "vendi: takes at most 20 texts, found 24; take vendi:q=2, vendi:q=inf or --max"),
    ],
)
def test_what_the_sizes_do_not_allow_is_said_before(monkeypatch, metric, message):
    monkeypatch.setattr("calipers.road.text_limits.MOST_FOR_VENDI", 20)
    with pytest.raises(InputError) as error:
        run({"dull": DULL}, [metric])
    assert message in str(error.value)
    run({"dull": DULL}, ["vendi:q=2", "diversity", "self_bleu:sample=8:others=7"])


def test_the_limit_is_that_of_the_metric():
    assert MOST_FOR_VENDI == MOST_DENSE


def test_kept_sizes_name_only_what_they_move():
    metrics = ["distinct:n=2:sample", "novelty:train", "longest_copied_span:train", "distinct"]
    found = run({"dull": DULL, "few": DULL[:9]}, metrics, train=HUMAN, keep_sizes=True)
    (warning,) = found.warnings
    assert "alone moves distinct, so these values are not comparable" in warning
