"""Texts from what a person hands over to statistics beside the reference's own, with intervals."""

from __future__ import annotations

import json
import random
import sys
import unicodedata

import numpy as np
import pytest
from typer.testing import CliRunner

from calipers import measure_texts, text
from calipers.catalogue.choosing import choose_text
from calipers.cli import app
from calipers.errors import InputError, MissingExtraError
from calipers.evaluate.cautions.text_statistics import script_cautions
from calipers.evaluate.inputs import comparison_inputs, summarise
from calipers.evaluate.text_view import with_text_scores
from calipers.evaluate.texts import MOST_FOR_VENDI
from calipers.options.comparison import CompareOptions
from calipers.report import text_statistics
from calipers.report.render.text import plain
from calipers.results import Comparison
from calipers.results.caution import sentences
from calipers.samples import SampleSet, read_samples
from calipers.text.vendi import MOST_DENSE
from calipers.uncertainty.differences import differences
from calipers.uncertainty.spread import confidence_interval
from extras import need


def text_table(result, *, width=100):
    """Write what is shown as plain text."""
    return plain(text_statistics.document(result), width=width)


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
    assert "has exactly the texts of the reference" in found.warnings


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
    need("sacrebleu")
    references = [f"sentence number {n} of the very same text" for n in range(40)]
    found = run(
        {"copy": [*references]}, ["bleu"], reference=references, aligned=True, max_samples=15
    )
    assert found["copy"]["bleu"].value == pytest.approx(100)
    assert found["copy"].summary.n == found.reference.n == 15


@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        (10, "rows 11 to 24 of the references"),
        (23, "row 24 of the references"),
    ],
)
def test_aligned_texts_need_a_reference_each(texts, rows):
    with pytest.raises(InputError, match=f"dull: .*{texts} texts .*24.*{rows}"):
        run({"dull": DULL[:texts]}, None, reference=HUMAN, aligned=True)
    with pytest.raises(InputError, match="rows 11 to 24"):
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
    assert any(
        each.startswith("20 of 24 texts are exact duplicates of an earlier one")
        for each in found.warnings
    )
    longer = run({"long": [line + " " + line for line in HUMAN]}, reference=HUMAN)["long"]
    assert any("have a median of" in each for each in longer.warnings)


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
    with pytest.raises(InputError, match=r"system 'dul'.*'dull'"):
        found["dul"]
    with pytest.raises(InputError, match=r"score of 'dull' 'self_blue'.*'sel"):
        found["dull"]["self_blue"]


@pytest.mark.parametrize(
    ("generated", "options", "message"),
    [
        (np.ones((3, 2)), {}, "generated: text metrics need texts, but it holds embeddings"),
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
    with pytest.raises(InputError, match=r"tokenizer 'whitespac'.*'whitespace'"):
        measure_texts("no.jsonl", tokenizer="whitespac")


def test_a_tokenizer_that_is_missing_is_named_with_the_way_around(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(MissingExtraError, match=r"calipers\[bleu\].*default tokenizer, auto"):
        measure_texts("no.jsonl", tokenizer="intl")


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
        (CHINESE, "whitespace", "into one piece (1.0 tokens per text); use `tokenizer='unicode'`"),
        (THAI, "whitespace", "into one piece (1.0 tokens per text); use `tokenizer='unicode'`"),
        (["，".join(CHINESE)], "intl", "into long pieces (23.0 tokens per text)"),
        (CHINESE, "characters", None),
        (CHINESE, "zh", None),
        (CHINESE, "auto", None),
        (THAI, "auto", None),
        (["今天 天气 很 好 我们 去 公园 吧"], "whitespace", None),
        ([*HUMAN, *CHINESE], "whitespace", None),
        (["", " . ", "!"], "whitespace", None),
    ],
)
def test_scripts_without_spaces(texts, tokenizer, end):
    (corpus,) = text.tokenise(texts, tokenizer=tokenizer)
    found = [*sentences(script_cautions(corpus))]
    assert bool(found) == bool(end)
    if end:
        assert found[0].startswith("its texts are in a script without spaces, which ")
        assert end in found[0]


def test_the_default_tokenizer_follows_the_script_and_is_said():
    found = measure_texts({"zh": CHINESE, "en": HUMAN}, metrics="distinct:n=1", threads=1)
    name = found.settings["tokenizer"]
    assert name.startswith("unicode-regex-")
    assert f"tokenizer {name}" in str(found)
    assert "characters or clusters of them" in " ".join(str(found).split())
    for system in ("zh", "en"):
        assert f"tokenizer:{name}|" in found[system]["distinct"].signature
        assert not any("without spaces" in each for each in found[system].warnings)
    english = measure_texts({"en": HUMAN}, metrics="distinct:n=1", threads=1)
    assert english.settings["tokenizer"].startswith("nltk-")
    assert "clusters" not in str(english)


def test_scripts_are_warned_of_by_the_run():
    found = run({"zh": CHINESE}, ["mean_length"], reference=THAI * 3)
    assert any("without spaces" in each for each in found["zh"].warnings)
    assert any("without spaces" in each for each in found.reference.warnings)


def test_balls_that_hold_everything_are_warned_of():
    unlike = [f"{chr(97 + i)}{i} q{i} w{i} e{i}" for i in range(12)]
    metrics = ["string_recall", "string_coverage"]
    found = run({"x": [each.upper() for each in unlike]}, metrics, reference=unlike)["x"]
    (warning,) = [each for each in found.warnings if "neighbourhoods" in each]
    assert warning.startswith(
        "String recall 1.000, String coverage 1.000: the neighbourhoods cover"
    )
    same = run({"x": unlike}, metrics, reference=unlike)["x"]
    assert not any("neighbourhoods" in each for each in same.warnings)


def test_one_text_is_in_the_singular():
    warnings = run({"one": ["a b c"]}, ["mean_length"])["one"].warnings
    assert "1 text is few: its statistics vary a lot by chance" in warnings
    with pytest.raises(InputError, match=r"one: .*1 text .*24"):
        run({"one": ["a b c"]}, None, reference=HUMAN, aligned=True)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("self_bleu:sample=25", "sample must be at most 24, since the smallest set has 24 texts"),
        ("self_bleu:others=24", "others must be at most 23"),
        ("self_bleu:sample=9:others=7", "sample must be at most 8"),
        (
            "vendi",
            "vendi: takes at most 20 texts; found 24. Use vendi:q=2, vendi:q=inf or `max_samples=",
        ),
    ],
)
def test_what_the_sizes_do_not_allow_is_said_before(monkeypatch, metric, message):
    monkeypatch.setattr("calipers.evaluate.texts.MOST_FOR_VENDI", 20)
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
    assert "alone changes distinct, so these values are not comparable" in warning


def run_distinct(generated, metrics="distinct:n=2", **options):
    return measure_texts(generated, metrics=metrics, tokenizer="whitespace", threads=1, **options)


def test_the_smallest_set_may_be_the_reference():
    found = run_distinct({"dull": DULL}, reference=HUMAN[:6])
    assert (found["dull"].summary.n, found.reference.n) == (6, 6)


def test_sizes_that_are_kept_are_measured_whole():
    found = run_distinct({"dull": DULL}, ["vocabulary_size"], reference=HUMAN[:6], keep_sizes=True)
    score = found["dull"]["vocabulary_size"]
    assert score.value == text.vocabulary_size(DULL, tokenizer="whitespace").value
    assert score.reference == text.vocabulary_size(HUMAN[:6], tokenizer="whitespace").value
    assert "cut:" not in score.signature
    assert found.settings["sizes"] == "kept"


def test_seeds_of_different_sizes_are_warned_of():
    found = run_distinct(
        {"m": [SampleSet.from_texts(DULL, name="m"), SampleSet.from_texts(DULL[:9], name="m")]},
        reference=HUMAN,
        keep_sizes=True,
    )
    assert any("9 to 24 texts" in warning for warning in found.warnings)


def test_sides_keep_the_same_rows_by_any_seed():
    rows = [f"{n} {n + 1} {n + 2} {n + 3}" for n in range(20)]
    found = run_distinct(
        {"m": rows}, ["rouge:rouge1"], reference=rows, aligned=True, max_samples=5, seed=7
    )
    assert found["m"]["rouge:rouge1"].value == 1


def test_scores_of_both_sides_are_signed_by_what_was_drawn():
    found = run_distinct({"m": DULL}, reference=HUMAN[:6], seed=3)
    for score in (found["m"]["distinct:n=2"], found.reference_scores["distinct:n=2"]):
        assert f"reference:{found.reference.content_hash[:16]}" in score.signature
        assert score.signature.endswith("sampling_seed:3")


def test_copies_in_the_reference_are_warned_of():
    found = run_distinct({"m": HUMAN}, reference=[*HUMAN[:23], HUMAN[0]])
    assert any("duplicates of an earlier one" in w for w in found.reference.warnings)


def test_a_metric_without_any_value_has_its_reason_and_no_count():
    found = run_distinct({"m": ["a b"] * 5 + ["a c"] * 5}, ["rep_n:n=9"])
    assert not any("left out" in w for w in found["m"].warnings)


def test_every_seed_file_counts_in_what_is_left_out():
    found = run_distinct(
        {
            "m": [
                SampleSet.from_texts(HUMAN[:12], name="m"),
                SampleSet.from_texts(["a b"] * 3 + HUMAN[:9], name="m"),
            ]
        },
        ["rep_n"],
    )
    assert any("rep_n 3" in w for w in found["m"].warnings)


def test_named_metrics_ask_for_their_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(MissingExtraError, match="near_duplicates"):
        run_distinct({"m": ["a"]}, ["near_duplicates"])


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
    with pytest.raises(InputError, match=r"level .*0 and 1"):
        measured(level=level)


@pytest.fixture
def comparison():
    inputs = comparison_inputs(
        texts(0),
        {"good": texts(1), "short": texts(2, 60)},
        CompareOptions(),
        keep_sizes=True,
        seed=0,
    )
    about = [summarise(entry.files, name=entry.name) for entry in inputs.systems]
    return inputs, about


def test_a_comparison_gets_intervals_and_spreads_under_text(comparison):
    from calipers.results import SystemResult

    inputs, about = comparison
    empty = Comparison(
        reference=summarise([inputs.reference], name="human"),
        systems=tuple(SystemResult(summary, {}, {}) for summary in about),
        settings={},
    )
    choices = choose_text("mean_length,self_bleu,novelty:n=2")
    found, spreads = with_text_scores(empty, inputs, choices, CompareOptions(level=0.9, threads=1))
    for system, moved in zip(found.systems, spreads, strict=True):
        assert set(moved) == {"text.mean_length", "text.self_bleu", "text.novelty:n=2"}
        for key, spread in moved.items():
            score = system.scores[key]
            assert score.level == 0.9
            if score.gap is None:  # else what ranks it is the gap, with a spread of its own
                assert score.standard_error == pytest.approx(spread.standard_error)
            assert spread.standard_error > 0
    plain, none = with_text_scores(empty, inputs, choices, CompareOptions(level=None, threads=1))
    assert none == ({}, {})
    assert plain.systems[0].scores["text.self_bleu"].interval is None
    same, nothing = with_text_scores(empty, inputs, [], CompareOptions(level=0.9))
    assert same is empty
    assert nothing == ({}, {})


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_shows_intervals(found, width):
    text = text_table(found, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    (line, *_) = [line for line in text.splitlines() if line.startswith("  Self-BLEU-4 ")]
    score, own = found["good"]["self_bleu"], found.reference_scores["self_bleu"]
    for each in (score, own):
        half = (each.interval[1] - each.interval[0]) / 2
        assert f"{each.value:.3f}±{half:.3f}" in line
    assert "± 95 % interval for the average at this size" in " ".join(text.split())
    assert "do not overlap" in " ".join(text.split())


@pytest.mark.slow
def test_the_table_marks_approximate_and_lopsided_intervals():
    rows = [*texts(1, 198), "w1 w2 w1 w2", "w3 w3"]
    metrics = "self_bleu:n=2:pairwise,repetition_frequency"
    found = measured({"a": rows}, rows, metrics=metrics)
    assert found["a"]["self_bleu:n=2:pairwise"].approximate
    text = text_table(found)
    (line,) = [line for line in text.splitlines() if line.startswith("  Self-BLEU-2")]
    assert line.count("~") == 2
    assert "~ approximate interval: from smaller sets, or for a share close to 0 or 1." in text
    low, high = found["a"]["repetition_frequency"].interval
    assert f"[{low:.3f},{high:.3f}]" in text
    assert "[low,high] below where asymmetric" in " ".join(text.split())


@pytest.fixture
def files(tmp_path):
    for name, seed in (("human", 0), ("model", 1)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts(seed)))
    common = ["text", str(tmp_path / "model.txt"), "-r", str(tmp_path / "human.txt")]
    return [*common, "--tokenizer", "whitespace", "--metrics", "self_bleu", "--json", "-", "-q"]


def run_command(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_command_line_sets_the_level(files):
    score = json.loads(run_command(*files, "--level", "0.8").stdout)["systems"][0]["scores"][
        "self_bleu"
    ]
    assert score["level"] == 0.8
    none = json.loads(run_command(*files, "--no-intervals").stdout)["systems"][0]["scores"][
        "self_bleu"
    ]
    assert (none["interval"], none["level"]) == (None, None)
    assert none["value"] == score["value"]


@pytest.mark.parametrize("level", ["95", "0", "high"])
def test_the_command_line_refuses_a_level_that_is_none(files, level):
    refused = run_command(*files, "--level", level)
    assert refused.exit_code != 0
    assert f"--level must lie between 0 and 1, such as 0.95; found '{level}'" in " ".join(
        refused.output.split()
    )


def test_what_a_metric_did_not_read_is_a_caution_of_the_system():
    need("torch")
    texts, known = ["", "", "the cat sat down"], ["a dog ran off", "it rained", "the cat sat down"]
    found = measure_texts(
        {"m": texts}, reference=known, aligned=True, metrics="bert_score_f1,rouge", level=None
    )
    score = found["m"]["bert_score_f1"]
    assert score.value == pytest.approx(1 / 3, abs=1e-6)
    assert score.note == "2 of 3 texts are empty and count 0"
    written = found.to_dict()["systems"][0]["scores"]
    assert written["bert_score_f1"]["note"] == score.note
    assert "note" not in written["rouge"]
    assert "BERTScore F1: 2 of 3 texts are empty and count 0" in found["m"].warnings
    assert "unseen" in {caution.kind for caution in found["m"].cautions}
    again = type(found).from_dict(found.to_dict())
    assert again["m"]["bert_score_f1"].note == score.note
    notes = {row["key"]: row["note"] for row in found._rows() if row["system"] == "m"}
    assert notes == {"bert_score_f1": score.note, "rouge": None}


def test_a_training_set_in_another_unicode_form_hides_no_copies():
    plain = [f"déjà vu numéro {row} à l'été" for row in range(30)]
    apart = [unicodedata.normalize("NFD", text) for text in plain]
    found = measure_texts({"m": apart}, train=plain, metrics="novelty:train", level=None)
    assert found["m"]["novelty:train"].value == 0
    (caution,) = [each for each in found["m"].cautions if each.kind == "forms"]
    assert caution.text.startswith("100 % of its texts and 0 % of the training set's are in decomp")
