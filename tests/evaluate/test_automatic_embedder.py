"""The embedder of texts for which none is named: one for all sets of a run."""

import json
import zlib

import numpy as np
import pytest

import calipers
from calipers import Reference, compare
from calipers.commands.embed.run import embed
from calipers.embedders import Embedder, EncodedBatch, catalogue
from calipers.embedders.automatic import READS, choose_embedder, usual_embedder
from calipers.embedders.catalogue import AUTO, EmbedderChoice
from calipers.errors import InputError
from calipers.evaluate.embedding import with_embedder
from calipers.options.comparison import CompareOptions
from calipers.results.result import load
from calipers.samples import SampleSet

ENGLISH = "The dog was not in the garden when we came home, and nobody knew where it was."
JAPANESE = "私たちが家に帰ったとき、犬は庭にいなかった。"
RUSSIAN = "Собаки не было в саду, когда мы вернулись домой, и никто не знал, где она была."
GERMAN = "Der Hund war nicht im Garten, als wir nach Hause kamen, und niemand sah ihn."
SWEDISH = "Hunden var inte i trädgården när vi kom hem, och ingen visste var den hade varit."
HEBREW = "הכלב לא היה בגינה כשחזרנו הביתה."
CODE = "for (int i = 0; i < n; i++) { rows[i] = malloc(sizeof(*rows)); }  // {n} [i]"
QUICK = {"level": None, "floor": False, "cache": False, "metrics": "recall"}


def texts(sentence, n=30, first=0):
    """Different texts of one language."""
    return [f"{sentence} {row}" for row in range(first, first + n)]


def sample_set(sentence, name="x", **how):
    return SampleSet.from_texts(texts(sentence, **how), name=name)


def chosen(*sentences, **how):
    sets = [sample_set(sentence, f"s{at}") for at, sentence in enumerate(sentences)]
    return choose_embedder(sets, **how)


class StandIn(Embedder):
    """A vector for each text, under the name of another embedder."""

    kept = False

    def __init__(self, name):
        self.name = self.identity = name
        self.views = ("form",) if name == "characters" else ("meaning", "form")
        self.signature = {"embedder": name}

    def encode(self, prepared):
        rows = np.zeros((len(prepared), 6), np.float32)
        for row, text in zip(rows, prepared, strict=True):
            row += np.random.default_rng(zlib.crc32(text.encode())).standard_normal(6)
        return EncodedBatch(dict.fromkeys(self.views, rows), np.zeros(len(rows), bool))


@pytest.fixture(autouse=True)
def light(monkeypatch):
    """All three embedders load at once, and read nothing."""

    def load_choice(choice):
        return StandIn(choice.name)

    for name in ("use", "characters"):
        monkeypatch.setitem(catalogue.NAMED, name, catalogue.NAMED["minilm"])
    monkeypatch.setattr(EmbedderChoice, "load", load_choice)


def of(comparison):
    return comparison.settings["embedder"], comparison.settings["chosen"]["reason"]


@pytest.mark.parametrize(
    ("sentences", "embedder", "reason"),
    [
        ((ENGLISH, ENGLISH), "minilm", "texts are English"),
        ((JAPANESE, JAPANESE), "use", "texts are Japanese"),
        ((GERMAN, ENGLISH), "use", "texts are English and German"),
        ((ENGLISH, GERMAN), "use", "texts are English and German"),
        ((SWEDISH, ENGLISH), "characters", "texts are English and Swedish, so meaning is not read"),
        ((HEBREW, HEBREW), "characters", "texts are Hebrew, so meaning is not read"),
        ((CODE, CODE), "characters", "texts are code or logs, so meaning is not read"),
        ((CODE, ENGLISH), "characters", "texts are code or logs, so meaning is not read"),
        (("w1 w2 w3", "w4 w5"), "minilm", "texts show no other language"),
        ((GERMAN, JAPANESE, RUSSIAN, ENGLISH), "use", "texts are in 4 languages"),
    ],
)
def test_the_first_that_reads_all_sets_is_chosen(sentences, embedder, reason):
    made = chosen(*sentences)
    assert (made.embedder, made.reason) == (embedder, reason)


def test_one_system_of_nonsense_changes_no_others_embedder():
    assert chosen(ENGLISH, CODE, "w1 w2", "😀🎉", "3.14 2.72").embedder == "minilm"


def test_without_a_reference_all_sets_must_be_code():
    assert chosen(CODE, ENGLISH, alone=True).embedder == "minilm"
    assert chosen(CODE, CODE, alone=True).embedder == "characters"


@pytest.mark.parametrize("sentence", [ENGLISH, JAPANESE, SWEDISH, CODE])
def test_another_set_in_english_never_takes_a_language_away(sentence):
    first = chosen(sentence, sentence)
    again = chosen(sentence, sentence, ENGLISH)
    covered = {**READS, "characters": None}
    assert list(covered).index(again.embedder) >= list(covered).index(first.embedder)
    if sentence == ENGLISH:
        assert again.embedder == "minilm"


def test_neither_the_order_of_the_systems_nor_of_the_texts_matters(rng):
    sets = [sample_set(s, f"s{at}") for at, s in enumerate([ENGLISH, GERMAN, JAPANESE])]
    first = choose_embedder(sets)
    swapped = choose_embedder([sets[0], sets[2], sets[1]])
    shuffled = choose_embedder([one.take(rng.permutation(len(one))) for one in sets])
    assert first.embedder == swapped.embedder == shuffled.embedder
    assert first.reason == swapped.reason == shuffled.reason


def test_a_tenth_of_one_set_decides():
    mixed = SampleSet.from_texts([*texts(ENGLISH, 360), *texts(GERMAN, 40)], name="mixed")
    assert choose_embedder([sample_set(ENGLISH), mixed]).embedder == "use"


def test_an_empty_side_decides_nothing():
    empty = SampleSet.from_texts(["!", " ", "..."], name="empty")
    assert choose_embedder([sample_set(JAPANESE), empty]).embedder == "use"
    assert choose_embedder([empty, sample_set(JAPANESE)]).embedder in ("use", "characters")
    nothing = SampleSet.from_texts(["x", *[""] * 9], name="nothing")
    assert choose_embedder([nothing, nothing]).embedder == "minilm"


@pytest.mark.parametrize("asked", [None, "auto"])
def test_a_run_uses_one_embedder_and_says_why(light, asked, tmp_path):
    result = compare(texts(JAPANESE), texts(ENGLISH), embedder=asked, **QUICK)
    assert of(result) == ("use", "texts are English and Japanese")
    assert result.settings["chosen"]["languages"] == {
        "reference": {"Japanese": 1.0},
        "generated": {"English": 1.0},
    }
    scripts = result.settings["chosen"]["scripts"]
    assert scripts["generated"] == {"Latin": 1.0}
    assert set(scripts["reference"]) == {"Han", "Hiragana"}
    assert "\nuse: texts are English and Japanese\n" in str(result)
    score = result["generated"].scores["recall"]
    assert "|embedder:use|" in f"|{score.signature}|"
    result.save(tmp_path / "run.zip")
    assert load(tmp_path / "run.zip").settings["chosen"] == json.loads(
        json.dumps(result.settings["chosen"])
    )


def test_a_name_chooses(light):
    result = compare(texts(ENGLISH), texts(ENGLISH), embedder="use", **QUICK)
    assert result.settings["embedder"] == "use"
    assert "chosen" not in result.settings
    assert "|embedder:use|" in str(result)
    assert "use: texts" not in str(result)


def test_english_is_signed_as_before(light):
    result = compare(texts(ENGLISH), texts(ENGLISH, first=50), **QUICK)
    named = compare(texts(ENGLISH), texts(ENGLISH, first=50), embedder="minilm", **QUICK)
    for key, score in named["generated"].scores.items():
        assert result["generated"].scores[key] == score
    assert "|embedder:minilm|" in str(result)


def test_texts_by_their_characters_are_cautioned(light):
    result = compare(texts(CODE), texts(CODE, first=50), **QUICK)
    (caution,) = [one for one in result.cautions if one.kind == "embedder"]
    assert "so meaning is not read" in caution.text
    assert "by characters, not by meaning" in caution.brief
    assert "characters: texts are code or logs, so meaning is not read" in str(result)


def test_a_named_model_is_cautioned_of_what_it_does_not_read(light):
    result = compare(texts(ENGLISH), {"a": texts(GERMAN)}, embedder="minilm", **QUICK)
    (caution,) = [one for one in result.cautions if one.kind == "embedder"]
    assert caution.text.startswith(
        "minilm does not read German, in which all of the texts of a are"
    )
    assert caution.remedy == "`embedder='auto'`"


def test_a_kept_reference_decides_and_refuses_what_is_not_read(light):
    kept = Reference(texts(ENGLISH), cache=False, name="human")
    assert kept.chosen.embedder == "minilm"
    result = kept.compare(texts(ENGLISH, first=50), level=None, floor=False, metrics="recall")
    assert of(result) == ("minilm", "texts are English")
    with pytest.raises(InputError, match="the texts are German, which minilm does not read"):
        kept.compare(texts(GERMAN), level=None, floor=False, metrics="recall")
    some = kept.compare(
        {"a": [*texts(ENGLISH, 24), *texts(GERMAN, 6)]},
        level=None,
        floor=False,
        metrics="recall",
        embedder="auto",
    )
    assert some.settings["embedder"] == "minilm"
    (caution,) = [one for one in some.cautions if one.kind == "embedder"]
    assert "minilm does not read German" in caution.text


def test_a_kept_reference_gives_the_numbers_of_a_comparison(light):
    kept = Reference(texts(JAPANESE), cache=False)
    quick = {"level": None, "floor": False, "metrics": "recall"}
    ours = kept.compare(texts(JAPANESE, first=50), **quick)
    direct = compare(texts(JAPANESE), texts(JAPANESE, first=50), **QUICK)
    assert ours.settings["chosen"]["languages"] == direct.settings["chosen"]["languages"]
    for key, score in direct["generated"].scores.items():
        assert ours["generated"].scores[key].value == score.value


def test_other_commands_choose_alike(light):
    sets = {"a": texts(JAPANESE), "b": texts(JAPANESE, first=50)}
    overlap = calipers.overlap(sets, cache=False)
    assert overlap.settings["embedder"] == "use"
    assert overlap.settings["chosen"]["reason"] == "texts are Japanese"
    sweep = calipers.sweep(sets["a"], {"b": sets["b"]}, over="k", values=[1, 2], cache=False)
    assert sweep.settings["chosen"]["embedder"] == "use"
    assert calipers.embed(sets["a"]).signature["embedder"] == "use"
    embedded = embed(sets["a"], cache=False)
    assert embedded.embeddings.signature["embedder"] == "use"
    assert embedded.chosen.reason == "texts are Japanese"
    probe = calipers.probe(sets["a"], changes="word_shuffle", seeds=2, cache=False)
    assert probe.settings["chosen"]["embedder"] == "use"


def test_images_and_vectors_are_not_chosen_for():
    options = CompareOptions()
    vectors = SampleSet.from_vectors(np.eye(4), name="x")
    assert with_embedder(options, [vectors]) == (options, None)
    assert with_embedder(options.changed(embedder="auto"), [vectors])[0].embedder is None
    assert usual_embedder(vectors) == "precomputed"


def test_token_ids_still_need_their_model():
    tokens = SampleSet.from_tokens([[1, 2], [3]], name="x")
    with pytest.raises(InputError, match="token ids, which need the model"):
        usual_embedder(tokens)


def test_auto_is_no_embedder_of_its_own():
    with pytest.raises(InputError, match="'auto' is not an embedder"):
        calipers.load_embedder(AUTO)
    with pytest.raises(InputError, match="'auto' is not an embedder"):
        compare(["a"] * 9, ["b"] * 9, embedder="auto:layer=2")
