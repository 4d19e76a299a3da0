"""Texts that an embedder cannot read: no command scores, tests or praises them."""

import json
import zlib

import numpy as np
import pytest

import calipers
from calipers import compare
from calipers.embedders import Embedder, EncodedBatch
from calipers.embedders.reading import ReadingCounts, word_count
from calipers.errors import InputError
from calipers.results.result import load
from calipers.samples import SampleSet
from hand_made import listed_tests


class Reader(Embedder):
    """Knows all words but those of z; each word moves its text, and all of z alike."""

    name = identity = "reader"
    views = ("meaning",)
    signature = {"embedder": "reader"}  # noqa: RUF012
    kept = False

    def __init__(self, leaves_out=False):
        self.leaves_out = leaves_out

    def encode(self, prepared):
        rows = np.zeros((len(prepared), 8), np.float32)
        for row, text in zip(rows, prepared, strict=True):
            for word in text.split():
                seed = 0 if word.startswith("z") else zlib.crc32(word.encode())
                row += np.random.default_rng(seed).standard_normal(8)
        counts = [
            (word_count(text), sum(word.startswith("z") for word in text.split()))
            for text in prepared
        ]
        return EncodedBatch({"meaning": rows}, np.zeros(len(rows), bool), ReadingCounts.of(counts))


def texts(seed, n=30, *, lost=0, words=10):
    """Texts of which some in all lose every word."""
    rng = np.random.default_rng(seed)
    made = [" ".join(f"w{i}" for i in rng.integers(0, 99, words)) for _ in range(n)]
    return [text.replace("w", "z") if row < lost else text for row, text in enumerate(made)]


QUICK = {"level": None, "floor": False, "cache": False}
KEYS = "precision,recall,mauve_star,near_copies"


def run(reference, generated, embedder=None, **options):
    how = {**QUICK, "metrics": KEYS, **options}
    return compare(reference, generated, embedder=embedder or Reader(), **how)


def undefined(system):
    return all(np.isnan(score.value) for score in system.scores.values())


# How much is too much ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "withheld", "cautioned"),
    [(0, False, False), (1, False, True), (2, True, True), (30, True, True)],
)
def test_from_five_in_a_hundred_on_nothing_is_measured(lost, withheld, cautioned):
    (system,) = run(texts(0), {"a": texts(1, lost=lost)})
    assert (system.withheld is not None) == withheld == undefined(system)
    kinds = [caution.kind for caution in system.cautions]
    assert ("unread" in kinds) == cautioned
    assert kinds[0] == "unread" or not cautioned
    share = system.summary.reading.unread_words / system.summary.reading.words
    assert share == pytest.approx(lost / 30)


def test_one_set_is_not_measured_and_the_others_are():
    found = run(texts(0), {"a": texts(1), "gone": texts(2, lost=30), "b": texts(3)})
    verdict = found.verdict
    assert verdict.withheld == ("gone",)
    assert undefined(found["gone"])
    assert not undefined(found["a"])
    assert verdict.sentences[0] == (
        "No verdict on gone: reader does not know 100 % of its words; 30 texts have no known "
        "word. Choose an embedder that reads these texts (`embedder`), or compare their "
        "characters (`calipers.measure_texts`)."
    )
    assert set(verdict.closest) <= {"a", "b"}
    assert all("gone" not in finding.systems for finding in verdict.findings[1:])
    assert not any(caution.kind == "unread" for caution in verdict.cautions)


def test_a_reference_that_is_not_read_leaves_no_verdict_on_anyone():
    found = run(texts(0, lost=30), {"a": texts(1), "b": texts(2)})
    verdict = found.verdict
    assert verdict.withheld == ("a", "b")
    assert len(verdict.findings) == 1
    assert str(verdict.findings[0]).startswith(
        "No verdict on a and b: reader does not know 100 % of the reference's words; 30 texts have"
    )
    assert verdict.closest == verdict.collapsed == verdict.distinguishable == ()


def test_many_systems_are_told_in_one_sentence():
    sets = {name: texts(seed, lost=seed + 3) for seed, name in enumerate("abcdef")}
    verdict = run(texts(9), sets).verdict
    assert verdict.withheld == tuple("abcdef")
    assert [str(finding).partition(";")[0] for finding in verdict.findings] == [
        "No verdict on a, b, c, d and 2 more: for the first, reader does not know 10 % of its words"
    ]
    assert "; the others are similar. Choose" in str(verdict)


def test_both_sides_are_told_in_one_sentence():
    found = run(texts(0, lost=30), {"a": texts(1, lost=30)})
    assert found["a"].withheld == (
        "reader does not know 100 % of the words of both sides; 60 texts have no known word"
    )


def test_words_that_leave_no_trace_are_no_loss_until_nothing_is_left():
    words = [f"{text} z1 z2 z3" for text in texts(1)]
    (system,) = run(texts(0), {"a": words}, Reader(leaves_out=True))
    assert system.withheld is None
    assert not any(caution.kind == "unread" for caution in system.cautions)
    (system,) = run(texts(0), {"a": texts(1, lost=2)}, Reader(leaves_out=True))
    assert system.withheld is None
    assert system.cautions[0].kind == "unread"
    (system,) = run(texts(0), {"a": texts(1, lost=3)}, Reader(leaves_out=True))
    assert system.withheld is not None


def test_a_training_set_that_is_not_read_leaves_copies_unknown():
    found = run(texts(0), {"a": texts(1)}, train=texts(2, lost=30))
    assert np.isnan(found["a"]["near_copies:train"].value)
    assert "the training set's" in found["a"]["near_copies:train"].reason
    assert np.isfinite(found["a"]["recall"].value)
    assert np.isnan(found.reference_scores["near_copies:train"].value)


def test_statistics_of_the_texts_stay():
    keys = "recall,text.distinct"
    (system,) = run(texts(0), {"a": texts(1, lost=30)}, metrics=keys)
    assert np.isnan(system["recall"].value)
    assert np.isfinite(system["text.distinct"].value)


# Where it is written -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lost():
    return compare(
        texts(0, 120),
        {"a": texts(1, 120), "gone": texts(2, 120, lost=120)},
        embedder=Reader(),
        cache=False,
        metrics="precision,recall,mauve_star",
        floor=True,
    )


def test_the_data_say_it(lost):
    data = lost.to_dict()
    json.dumps(data, allow_nan=False)
    own = data["systems"][1]
    assert own["reading"] == {
        "texts": 120,
        "words": 1200,
        "unread_words": 1200,
        "unread_texts": 120,
        "truncated_texts": 0,
        "left_out": False,
    }
    assert data["reference"]["reading"]["unread_words"] == 0
    assert own["withheld"].startswith("reader does not know 100 % of its words")
    assert data["verdict"]["withheld"] == ["gone"]
    score = own["scores"]["recall"]
    assert score["value"] is None
    assert score["interval"] is None
    assert score["floor"] is None
    assert score["reason"] == own["withheld"]
    tests = [test for test in listed_tests(data) if "gone" in (test["a"], test["b"])]
    assert tests
    assert all(test["p_value"] is None and test["difference"] is None for test in tests)
    assert data["systems"][0]["scores"]["recall"]["floor"] is not None


def test_it_is_the_same_from_a_zip(lost, tmp_path):
    lost.save(tmp_path / "run.zip")
    found = load(tmp_path / "run.zip")
    assert found.to_dict() == lost.to_dict()
    assert found["gone"].summary.reading.unread == 1
    with pytest.raises(InputError, match=r"gone: .*100 %"):
        found["gone"].explain()


def test_every_format_shows_it(lost):
    from calipers.report.render.latex import latex
    from calipers.report.render.markdown import markdown

    summary = lost.summary()
    shown = [str(lost), lost.html(), markdown(summary), lost._repr_html_()]
    assert all("No verdict on" in each for each in shown)
    assert all("reader does not know 100 % of its words" in each for each in shown)
    assert r"reader does not know 100 \% of its words" in latex(summary)
    assert all("not distinguishable" not in line for line in str(lost).splitlines()[:4])


def test_a_gate_is_never_passed_by_what_was_not_read(lost):
    for inconclusive, code in (("report", 3), ("pass", 3), ("fail", 1)):
        found = calipers.check(
            lost, fail_if=["gone:recall < 0.01", "gone:precision < 0.01"], inconclusive=inconclusive
        )
        assert (found.outcome, found.exit_code) == ("inconclusive", code)
        assert "gone has no value: reader does not know 100 % of its words" in str(found)
    found = calipers.check(lost, fail_if="recall < 0.01")
    assert {each.system: each.outcome for each in found} == {"a": "passes", "gone": "inconclusive"}
    again = type(found).from_dict(found.to_dict())
    assert again.to_dict() == found.to_dict()
    assert "<skipped" in found.junit()


def test_a_baseline_that_was_not_read_decides_nothing(lost):
    good = compare(
        texts(0, 120),
        {"gone": texts(1, 120)},
        embedder=Reader(),
        cache=False,
        metrics="recall",
    )
    found = calipers.check(good, baseline=lost, fail_if="recall < baseline - 0.5")
    assert found.outcome == "inconclusive"
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)


# Other commands ----------------------------------------------------------------------------------


def test_an_overlap_has_no_shares_of_it():
    sets = {"a": texts(0), "b": texts(1), "gone": texts(2, lost=30)}
    found = calipers.overlap(sets, embedder=Reader(), cache=False)
    matrix = found["meaning"].precision
    assert np.isfinite(matrix[0, 1])
    assert np.isnan(matrix[2]).all()
    assert np.isnan(matrix[:, 2]).all()
    assert [(each.a, each.b) for each in found.relations] == [("a", "b")]
    assert found.warnings[0].startswith("gone: reader does not know 100 % of its words")
    assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()
    assert "gone" in str(found)


def test_a_sweep_has_no_curves_of_it():
    found = calipers.sweep(
        texts(0), {"a": texts(1), "gone": texts(2, lost=30)}, embedder=Reader(), cache=False
    )
    assert np.isfinite(found["a"]["recall"].mean).all()
    curve = found["gone"]["recall"]
    assert np.isnan(curve.replicates).all()
    assert curve.reason.startswith("reader does not know 100 %")
    assert "reader does not know 100 % of its words" in str(found)
    assert found["gone"].summary.reading.unread_texts == 30


def test_embedders_that_read_nothing_do_not_agree():
    first, second = Reader(), Reader()
    second.name = second.identity = "second"
    second.signature = {"embedder": "second"}
    sets = {"a": texts(1, lost=30), "b": texts(2, lost=30)}
    found = calipers.agree(
        texts(0), sets, embedders=[first, second], cache=False, metrics="precision"
    )
    assert found.verdict.startswith("whether the ranking depends on the embedder is unknown")
    assert found["precision"].sentence == "no column has a value for a and b"
    assert "second does not know 100 % of its words" in str(found)


def prompted(seed, **options):
    made = texts(seed, 40, **options)
    return SampleSet.from_texts(made, name="x", prompts=[f"p{i % 10}" for i in range(40)])


def test_answers_that_are_not_read_are_not_compared():
    found = calipers.prompts(
        None,
        {"a": prompted(0), "b": prompted(1), "gone": prompted(2, lost=40)},
        embedder=Reader(),
        cache=False,
        permutations=99,
    )
    scores = found["gone"].scores
    assert np.isnan(scores["similarity"].value)
    assert np.isnan(scores["distinct_k"].value)
    assert np.isfinite(scores["distinct_texts"].value)
    values = found.homogeneity.values
    assert np.isnan(values[2]).all()
    assert np.isfinite(values[0, 1])
    gaussian = [test for test in found.tests if test.test == "gaussian"]
    assert [test.reason is None for test in gaussian] == [True, False, False]
    classifier = [test for test in found.tests if test.test == "classifier"]
    assert [test.reason is None for test in classifier] == [True, False, False]
    assert any("gone: reader does not know 100 %" in warning for warning in found.warnings)
    assert "not distinguishable" not in [
        line for line in str(found).splitlines() if "gone" in line and "strings" in line
    ]
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_probe_refuses_them():
    with pytest.raises(InputError, match=r"100 % .*`embedder`"):
        calipers.probe(texts(0, 40, lost=40), embedder=Reader(), cache=False, seeds=2)


def test_embed_tells_what_it_did_not_read():
    from calipers.commands.embed.run import embed

    found = embed(texts(0, 10, lost=5), embedder=Reader(), cache=False)
    assert found.reading.unread_texts == 5
    assert found.warnings == ("reader does not know 50 % of the words; 5 texts have no known word",)


def test_a_kept_reference_knows_it_too():
    reference = calipers.Reference(texts(0, lost=30), embedder=Reader(), cache=False)
    found = reference.compare(texts(1), level=None, floor=False, metrics="recall")
    assert found.verdict.withheld == ("generated",)


def test_telugu_by_a_model_of_english():
    words = ["ముసలివాడు", "స్నేహితుడు", "పిల్లి", "బిడ్డ", "వైద్యుడు", "పటం", "రొట్టె"]
    rng = np.random.default_rng(0)
    sides = [[" ".join(rng.choice(words, 8)) + "." for _ in range(12)] for _ in range(2)]
    found = compare(*sides, embedder="minilm", metrics="precision,recall,mauve_star", **QUICK)
    assert found.verdict.withheld == ("generated",)
    assert undefined(found.systems[0])
    assert found.verdict.sentences[0].startswith(
        "No verdict on generated: minilm does not know 100 % of the words of both sides; 24 texts"
    )


def test_telugu_against_another_script_by_characters():
    telugu = ["ముసలివాడు", "స్నేహితుడు", "పిల్లి", "బిడ్డ", "వైద్యుడు", "పటం", "రొట్టె"]
    amharic = ["ሰላም", "ውሻ", "ድመት", "ዛፍ", "ውሃ", "ቤት", "መጽሐፍ"]
    rng = np.random.default_rng(0)
    sides = [
        [" ".join(rng.choice(words, 8)) + "።" for _ in range(12)] for words in (telugu, amharic)
    ]
    found = compare(*sides, metrics="precision,recall", **QUICK)
    assert found.settings["chosen"]["embedder"] == "characters"
    assert undefined(found.systems[0])
    (sentence,) = [line for line in found.verdict.sentences if line.startswith("No verdict")]
    assert sentence.endswith(
        "The reference holds none of their characters: compare texts in one script, or name a "
        "model that reads both sides (`embedder`)."
    )
