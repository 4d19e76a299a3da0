"""Statistics of the texts themselves in a comparison, under the view ``text``."""

import sys

import pytest

from calipers import compare, text
from calipers.errors import InputError, MissingExtraError
from calipers.report.render.text import plain
from calipers.results import Comparison
from calipers.samples import SampleSet

WORDS = ["the", "a", "red", "blue", "small", "cat", "dog", "bird", "house", "river", "runs", "sees"]


def texts(rng, n, words=WORDS):
    return [" ".join(rng.choice(words, size=rng.integers(5, 12))) for _ in range(n)]


class Letters:
    """An embedder of two views that counts letters."""

    name, views, identity = "letters", ("meaning", "form"), "letters"
    signature, view_signature = {"embedder": "letters"}, {}

    def embed(self, items):
        import numpy as np

        from calipers.embedders import EncodedBatch

        rows = np.array(
            [[item.count(c) + 0.01 * len(item) for c in "aeiou"] for item in items], np.float32
        )
        return EncodedBatch(
            {"meaning": rows + 1, "form": rows[:, ::-1] + 2}, np.zeros(len(items), bool)
        )


@pytest.fixture
def sides(rng):
    return texts(rng, 90), {"good": texts(rng, 60), "narrow": texts(rng, 60, WORDS[:5])}


def run(sides, metrics, **options):
    return compare(*sides, embedder=Letters(), metrics=metrics, cache=False, **options)


def test_both_values_stand_beside_each_other(sides):
    found = run(sides, ["precision", "text.mean_length", "self_bleu:n=2"])
    good = found["good"]
    assert set(good.scores) == {
        "classifier_auc",  # which the tests bring
        "form.classifier_auc",
        "precision",
        "form.precision",
        "text.mean_length",
        "text.self_bleu:n=2",
    }
    assert good["text.mean_length"].value == text.mean_length(sides[1]["good"]).value
    assert good["text.mean_length"].gap == pytest.approx(
        abs(good["text.mean_length"].value - good["text.mean_length"].reference)
    )
    assert good["text.self_bleu:n=2"].value == text.self_bleu(sides[1]["good"], order=2).value
    assert found["narrow"]["text.self_bleu:n=2"].gap > good["text.self_bleu:n=2"].gap
    assert found.settings["views"] == ["meaning", "form", "text"]


def test_what_the_number_of_texts_moves_is_measured_at_one_size(sides):
    found = run(sides, "precision,text.self_bleu")["good"]["text.self_bleu"]
    reference = list(SampleSet.from_texts(sides[0], name="r").subsample(60, seed=0))
    assert found.reference == text.self_bleu(reference).value


def test_another_system_changes_no_score(sides):
    both = run(sides, "precision,text.distinct,text.novelty")["good"]
    alone = run((sides[0], {"good": sides[1]["good"]}), "precision,text.distinct,text.novelty")
    for key in ("text.distinct", "text.novelty"):
        assert both[key].value == alone["good"][key].value
        assert both[key].reference == alone["good"][key].reference


def test_it_is_kept_and_shown(sides, tmp_path):
    found = run(sides, "precision,text.self_bleu,vendi")
    found.save(tmp_path / "run.zip")
    again = Comparison.load(tmp_path / "run.zip")
    assert again["good"]["text.self_bleu"].reference == found["good"]["text.self_bleu"].reference
    assert str(again) == str(found)
    assert "Self-BLEU-4→" in str(found)
    lines = [line for line in str(found).splitlines() if line.startswith("reference")]
    assert any(f"{found['good']['text.self_bleu'].reference:.2f}"[1:] in line for line in lines)


def test_a_narrow_table_keeps_what_the_reference_scores(sides):
    from calipers.report.comparison import document as compare

    found = run(sides, "precision,text.self_bleu")
    value = f"{found.systems[0]['text.self_bleu'].reference:.2f}"[1:]
    lines = plain(compare.full(found), width=40).splitlines()
    assert any("reference" in line and value in line for line in lines)


def test_a_training_set_brings_its_own(sides, rng):
    found = run(sides, "precision,text.novelty:train", train=[*sides[1]["narrow"], *texts(rng, 9)])
    assert found["narrow"]["text.novelty:train"].value == 0
    assert found["good"]["text.novelty:train"].value > 0.1


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ("text", "no embeddings.*calipers text"),
        ("self_bleu,distinct", "self_bleu, distinct: .*no embeddings"),
        ("precision,text.self_blue", "text metric 'self_blue'.*'self_bleu'"),
        ("precision,text.bleu", "needs a reference for each row"),
        ("precision,text.novelty:train", "needs a training set"),
    ],
)
def test_what_cannot_be_measured(sides, metrics, words):
    with pytest.raises(InputError, match=words):
        run(sides, metrics)


def test_embeddings_have_no_texts(rng):
    rows = rng.standard_normal((40, 3))
    with pytest.raises(InputError, match="need texts; it holds embeddings"):
        compare(rows, {"x": rows + 0.1}, metrics="precision,text.self_bleu")


@pytest.mark.slow
def test_the_choices_of_the_run_reach_the_texts(sides):
    found = run(sides, "precision,text.mean_length,text.self_bleu", seed=3)
    own = found.reference_scores["text.mean_length"]
    assert own.value == found["good"]["text.mean_length"].reference
    assert found["good"]["text.mean_length"].signature.endswith("sampling_seed:3")
    sizes = sides[0], {"few": sides[1]["good"][:40], "good": sides[1]["good"]}
    kept = run(sizes, "precision,text.self_bleu", keep_sizes=True)
    for name, size in (("few", 40), ("good", 60)):
        reference = list(SampleSet.from_texts(sides[0], name="r").subsample(size, seed=0))
        assert kept[name]["text.self_bleu"].reference == text.self_bleu(reference).value
    assert not any("text" in warning for warning in run(sides, "recall,text.self_bleu").warnings)


def test_embeddings_are_told_of_before_the_other_command(rng):
    rows = rng.standard_normal((40, 3))
    with pytest.raises(InputError, match="need texts; it holds embeddings"):
        compare(rows, {"x": rows + 0.1}, metrics="text.self_bleu")


def test_names_that_neither_catalogue_has(sides):
    with pytest.raises(InputError, match=r"metric 'selfbleu'.*'self_bleu'"):
        run(sides, "precision,selfbleu")
    assert run(sides, "form", floor=False)["good"]["form.precision"].value > 0


def test_the_header_names_the_tokenizer_and_namesakes_are_told_apart(sides):
    found = run(sides, "precision,vendi,text.vendi,text.novelty")
    shown = plain(found.document(details=True))
    assert " · tokenizer nltk-" in shown
    for words in ("Text Vendi→", "Text Vendi ", "Novelty-4 "):
        assert words in shown
    assert "Novelty-4↑" not in shown
    assert "tokenizer" not in str(run(sides, "precision"))


def test_what_measuring_texts_brings_up_is_warned_of(sides):
    copies = {"same": [sides[1]["good"][0]] * 60}
    found = run((sides[0], copies), "precision,text.mean_length")
    said = [
        each for each in found["same"].warnings if "59 of 60 texts are exact duplicates" in each
    ]
    assert len(said) == 1
    assert not any("texts are few" in each for each in found["same"].warnings)


def test_a_package_that_is_missing_is_named_before_the_long_work(sides, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(MissingExtraError, match=r"calipers\[duplicates\]"):
        compare(*sides, embedder="no such embedder", metrics="precision,text.near_duplicates")


def test_statistics_of_one_set_are_signed_by_the_rows_they_are_read_from(sides):
    line = run(sides, "precision,vendi")["good"]["vendi"].signature
    assert "|kernel:cosine|d:5|each:60|n:90|m:60|" in line
    assert not any(f"|{pin}:" in line for pin in ("norm", "pca", "scope"))
    assert "|norm:l2|pca:none|" in run(sides, "precision")["good"]["precision"].signature
