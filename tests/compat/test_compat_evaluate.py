"""Metrics in the shape of ``evaluate``: values, both ways to feed them, and the package itself."""

import itertools

import numpy as np
import pytest

import calipers
from calipers.compat.evaluate import EvaluationModule, load
from calipers.errors import InputError
from extras import need

WHO = ["A cat", "The old dog", "My sister", "One bus", "The river"]
DOES = ["sleeps", "waits", "turns", "is quiet"]
WHERE = ["at home", "near the market", "under the bridge"]
HUMAN = [" ".join(words) + "." for words in itertools.product(WHO, DOES, WHERE)]
CATS = HUMAN[:20] * 2


def test_distinct_by_hand():
    found = load("distinct", tokenizer="whitespace").compute(
        predictions=["a b", "a c"], references=["a b", "c d"]
    )
    assert found["distinct"] == 3 / 4
    assert found["distinct_reference"] == 1
    assert found["distinct_signature"].startswith("metric:distinct|order:1")
    assert set(map(type, found.values())) == {float, str}


@pytest.mark.parametrize("key", ["precision", "mauve_star", "vendi"])
def test_sets_of_any_size_score_as_compare_has_them(key):
    options = {"embedder": "tfidf", "level": None}
    found = load(key, **options).compute(predictions=CATS, references=HUMAN, signatures=False)
    expected = calipers.compare(HUMAN, CATS, metrics=[key], **options)["generated"][key]
    assert found.pop(key) == expected.value
    assert found == ({} if expected.reference is None else {f"{key}_reference": expected.reference})


@pytest.mark.slow
def test_vectors_have_intervals(rng):
    real, fake = rng.standard_normal((150, 4)), rng.standard_normal((140, 4))
    found = load("recall").compute(predictions=fake, references=real)
    assert found["recall_low"] < found["recall"] < found["recall_high"]
    score = calipers.compare(real, fake, metrics="recall", floor=False)["generated"]["recall"]
    assert (found["recall"], found["recall_low"]) == (score.value, score.interval[0])
    assert found["recall_signature"] == score.signature


@pytest.mark.slow
def test_aligned_texts_take_references_alone_or_in_lists():
    sacrebleu = need("sacrebleu")
    texts, references = HUMAN[:9], HUMAN[1:10]
    found = load("bleu").compute(predictions=texts, references=references)
    listed = load("bleu").compute(predictions=texts, references=[[one] for one in references])
    assert found["bleu"] == sacrebleu.corpus_bleu(texts, [references]).score == listed["bleu"]


def test_batches_add_up_and_are_forgotten():
    whole = load("mean_length").compute(predictions=HUMAN)
    metric = load("mean_length")
    for start in range(0, len(HUMAN), 7):
        metric.add_batch(predictions=HUMAN[start : start + 7])
    assert metric.compute() == whole
    metric.add_batch(predictions=HUMAN[:-2])
    metric.add(prediction=HUMAN[-2])
    assert metric.compute(predictions=HUMAN[-1:]) == whole
    with pytest.raises(InputError, match=r"mean_length .*predictions"):
        metric.compute()


def test_both_sides_may_come_in_batches_of_their_own():
    metric = load("precision", embedder="tfidf", level=None)
    metric.add_batch(references=HUMAN)
    metric.add_batch(predictions=CATS[:15])
    metric.add_batch(predictions=CATS[15:])
    whole = load("precision", embedder="tfidf", level=None)
    assert metric.compute() == whole.compute(predictions=CATS, references=HUMAN)


def test_what_failed_is_forgotten_too():
    metric = load("precision", embedder="tfidf")
    metric.add_batch(predictions=CATS)
    with pytest.raises(InputError, match=r"precision .*references"):
        metric.compute()
    assert metric._predictions == []


def test_what_it_says_of_itself():
    metric = load("recall")
    assert repr(metric) == "<Evaluation 'recall'>"
    assert metric.description.startswith("recall: share of reference samples")
    assert "0 to 1; better: higher" in metric.description
    assert "Kynkäänniemi" in metric.citation
    assert "of any size, in any order" in metric.inputs_description
    assert "text i for prediction i" in load("rouge").inputs_description
    assert "may be left out" in load("distinct").inputs_description
    assert len(load("frontier").description.splitlines()) > 5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonsense", "unknown metric 'nonsense'"),
        ("precison", "did you mean 'precision'"),
        ("distinct:n=0", "distinct"),
        ("perplexity", "calipers.likelihood measures it"),
        ("precision,recall", "load takes one metric"),
        (3, "the name of a metric must be a string; found 3"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(InputError) as caught:
        load(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("bleu", {"predictions": ["a"], "references": [["a", "b"]]}, "row 1 has 2"),
        ("bleu", {"predictions": ["a"], "references": ["a", "b"]}, "has 1 text"),
        ("bleu", {"predictions": ["a"]}, "bleu needs references; found none"),
        ("distinct", {"predictions": ["a"], "signatures": "no"}, "signatures must be True or"),
        ("distinct", {"predictions": ["a"], "colour": 1}, "colour"),
    ],
)
def test_bad_input_is_refused(name, given, message):
    need("sacrebleu")
    with pytest.raises((InputError, TypeError)) as caught:
        load(name).compute(**given)
    assert message in str(caught.value)


def test_one_text_is_no_batch():
    with pytest.raises(InputError, match=r"list of samples.*'a text'"):
        load("distinct").add_batch(predictions="a text")


@pytest.mark.slow
def test_it_stands_in_combine():
    evaluate = need("evaluate")
    parts = [load("precision", embedder="tfidf", level=None), load("distinct")]
    both = evaluate.combine(parts)
    found = both.compute(predictions=CATS, references=HUMAN)
    alone = [part.compute(predictions=CATS, references=HUMAN) for part in parts]
    assert found == alone[0] | alone[1]
    both.add_batch(predictions=CATS, references=HUMAN)
    assert both.compute() == found
    twice = evaluate.combine(
        {"by_word": load("rke", embedder="tfidf"), "by_text": load("text.rke")}
    )
    names = set(twice.compute(predictions=CATS, references=HUMAN))
    assert {"by_word_rke", "by_text_rke"} < names


@pytest.mark.slow
def test_it_stands_in_the_compute_metrics_of_a_trainer(tmp_path):
    torch, transformers = need("torch"), need("transformers")
    need("accelerate")
    words = sorted({word for text in HUMAN for word in text.split()})
    config = transformers.GPT2Config(vocab_size=len(words), n_embd=8, n_layer=1, n_head=1)
    rows = [{"input_ids": [words.index(word) for word in text.split()][:3]} for text in HUMAN]
    rows = [{**row, "labels": row["input_ids"]} for row in rows]
    metric = load("distinct", tokenizer="whitespace", signatures=False)

    def compute_metrics(given):
        def texts(ids):
            return [" ".join(words[one] for one in row) for row in ids]

        ids = np.argmax(given.predictions, axis=-1)
        return metric.compute(predictions=texts(ids), references=texts(given.label_ids))

    trainer = transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config),
        args=transformers.TrainingArguments(
            str(tmp_path), report_to=[], use_cpu=True, disable_tqdm=True
        ),
        eval_dataset=rows,
        compute_metrics=compute_metrics,
    )
    found = trainer.evaluate()
    assert 0 < found["eval_distinct"] <= 1
    assert found["eval_distinct_reference"] == len({id for row in rows for id in row["labels"]}) / (
        3 * len(rows)
    )
    assert torch is not None


def test_loading_makes_an_object_of_its_own():
    assert isinstance(load("distinct"), EvaluationModule)
    assert load("distinct") is not load("distinct")
