"""Samples and likelihoods of real models are read where they are, and refused where they differ."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.language_model.model import TokenScores


@pytest.fixture
def real_models(experiments, monkeypatch, tmp_path):
    """The module, with an empty folder of samples and no models."""
    from reproduction import real_models

    monkeypatch.setenv("CALIPERS_SAMPLES", str(tmp_path))
    monkeypatch.delenv("CALIPERS_MODELS", raising=False)
    # the first two stories, of 150, have one prompt
    told = [" ".join(["w"] * 19 + [str(max(i, 1)), "rest", str(i)]) for i in range(150)]
    monkeypatch.setattr(real_models, "stories", lambda: told)
    caches = (real_models.rows, real_models.asked)
    for cached in caches:
        cached.cache_clear()
    yield real_models
    for cached in caches:
        cached.cache_clear()


def kept(real_models, folder, draw, **changed):
    """Write samples as they are kept, with something else in the rows."""
    decoding = {"method": "greedy"} if draw.decoding == "greedy" else {"method": "sample"}
    row = {"model": draw.model, "decoding": decoding, "seed": 0, "revision": "abc"}
    rows = [
        json.dumps({**row, "prompt": prompt, "text": f"after {rest}", **changed})
        for prompt, rest in real_models.asked(draw.n)
    ]
    (folder / draw.file).write_text("\n".join(rows) + "\n", "utf-8")


def test_without_the_models_it_says_what_names_them(real_models):
    with pytest.raises(InputError, match="CALIPERS_MODELS names"):
        real_models.rows(real_models.STORIES[real_models.GEMMA, "greedy"])


@pytest.mark.parametrize("n", [100, 150])
def test_what_was_written_is_read_in_the_order_of_the_prompts(
    real_models, tmp_path, monkeypatch, n
):
    """A set may hold more than the prompts, and some prompts begin two stories."""
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    assert not real_models.there(draw)
    draw = replace(draw, n=n)
    monkeypatch.setitem(real_models.STORIES, (real_models.GEMMA, "greedy"), draw)
    kept(real_models, tmp_path, draw)
    found = real_models.written(real_models.GEMMA, "greedy")
    assert "revision abc" in real_models.named(real_models.GEMMA)
    assert found == [f"after {rest}" for rest in real_models.human()]


def test_further_decodings_are_read_as_the_first_three(real_models, tmp_path):
    key = (real_models.SMOLLM2, "top_p=0.95")
    decoding = {"method": "sample", "top_p": 0.95}
    kept(real_models, tmp_path, real_models.FURTHER[key], decoding=decoding)
    assert real_models.written(*key) == [f"after {rest}" for rest in real_models.human()]


def test_samples_for_other_prompts_are_refused(real_models, tmp_path):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw, prompt="another")
    with pytest.raises(InputError, match="continues other prompts"):
        real_models.written(real_models.GEMMA, "greedy")


@pytest.mark.parametrize("changed", [{"seed": 1}, {"model": "gpt2"}, {"decoding": {"beam": 4}}])
def test_samples_of_something_else_are_refused(real_models, tmp_path, changed):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw, **changed)
    with pytest.raises(InputError, match="samples of something else"):
        real_models.rows(draw)


def test_too_few_samples_are_refused(real_models, tmp_path):
    draw = real_models.STORIES[real_models.GEMMA, "greedy"]
    kept(real_models, tmp_path, draw)
    path = tmp_path / draw.file
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[1:]) + "\n", "utf-8")
    with pytest.raises(InputError, match="holds 99 samples and not 100"):
        real_models.rows(draw)


def test_texts_are_cut_to_words(real_models):
    assert real_models.cut(["one  two\nthree four", "one"], 3) == ["one  two\nthree", "one"]


def test_likelihoods_are_kept_by_all_that_is_read(real_models, monkeypatch):
    asked = []

    def score(passages, decoding=None):
        asked.append([(passage.prompt, passage.text) for passage in passages])
        more = {} if decoding is None else {"decoded": np.ones(3), "squares": np.ones(3)}
        return TokenScores(np.array([-1.0, -2.0, -3.0]), np.array([0, 2, 3]), 9, **more)

    monkeypatch.setattr(real_models, "load", lambda model: SimpleNamespace(score=score))
    for _ in range(2):
        found = real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", c"], ["p", "q"])
        assert found.log_probability.tolist() == [-1.0, -2.0, -3.0]
        assert found.tokens.tolist() == [2, 1]
        assert found.decoded is None
    assert asked == [[("p", " a b"), ("q", ", c")]]
    decoded = real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", c"], ["p", "q"], "greedy")
    assert decoded.decoded is not None
    real_models.likelihoods(real_models.GEMMA, "x", ["a b", ", d"], ["p", "q"])
    assert len(asked) == 3


def test_news_are_continued_from_their_own_prompts(real_models, tmp_path, monkeypatch):
    told = [" ".join([f"w{i}"] * 40) for i in range(450)]
    monkeypatch.setattr(real_models, "items", lambda: told)
    draw = real_models.NEWS_ITEMS[real_models.GEMMA, "greedy"]
    asked = real_models.asked(corpus=real_models.NEWS)
    assert len(asked) == 400
    row = {"model": draw.model, "decoding": {"method": "greedy"}, "seed": 0}
    rows = [json.dumps({**row, "prompt": prompt, "text": f"on {rest}"}) for prompt, rest in asked]
    (tmp_path / "news-gemma-greedy.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    found = real_models.written(real_models.GEMMA, "greedy", real_models.NEWS)
    assert found == [f"on {rest}" for rest in real_models.human(real_models.NEWS)]


@pytest.fixture
def biographies(real_models, tmp_path):
    """The module, with 230 people."""
    from reproduction import runs_real_biographies

    people = ({"name": f"P{i}", "text": f"P{i} was a painter ."} for i in range(230))
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in people))
    return runs_real_biographies


def test_examples_of_prompts_are_none_of_the_reference(biographies):
    rows = [json.loads(line) for line in biographies.examples().read_text().splitlines()]
    shown, held = [row["text"] for row in rows], biographies.human()
    assert (len(shown), len(held)) == (30, 200)
    assert set(shown).isdisjoint(held)


def test_biographies_by_something_else_are_refused(biographies):
    each = biographies.SETS[0]
    row = {"model": each.model, "decoding": {"method": "sample"}, "seed": 0, "text": "P was it ."}
    each.file.write_text(f"{json.dumps(row)}\n" * biographies.SIZE)
    assert biographies.written(each) == ["P was it ."] * biographies.SIZE
    each.file.write_text(f"{json.dumps(row)}\n")
    with pytest.raises(InputError, match="holds 1 samples and not"):
        biographies.written(each)


def test_without_biographies_it_says_what_writes_them(biographies, tmp_path):
    (tmp_path / "people.jsonl").unlink()
    with pytest.raises(InputError, match=r"biographies\.py writes it"):
        biographies.human()


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("Ada (born 1815) was a writer.[1] She wrote.", "Ada (born 1815) was a writer. She wrote."),
        ("Ada /ˈeɪdə/ (; born 1815 , in L. )", "Ada (born 1815, in L.)"),
        ("She sang.Later she wrote.", "She sang. Later she wrote."),
    ],
)
def test_biographies_are_cleaned(experiments, given, cleaned):
    import biographies

    assert biographies.clean(given) == cleaned


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Ada (born 1815) was a writer. She wrote, and her book sold.", True),
        ("Ada (1815 – 1852) was the writer of her age. She wrote.", True),
        ("The Ada (built 1815) was a ship. She sank, and her crew too.", False),
        ("Ada (born 1815) was a writer.", False),
    ],
)
def test_people_are_known_by_how_their_text_begins(experiments, text, person):
    import biographies

    assert biographies.is_person(text) is person


def test_biographies_of_the_length_asked_for_are_written(experiments, tmp_path, monkeypatch):
    import biographies

    long = " ".join(["word"] * 90)
    women = [
        {"wiki-title": "Ada (writer)", "overview": f"Ada was a writer. She {long}."},
        {"wiki-title": "Bea", "overview": f"Bea was {{{{hole}}}} She {long}."},
        {"wiki-title": "Cleo", "overview": "Cleo was short."},
        {"wiki-title": "Dora", "overview": f"Dora {long}"},
    ]
    summaries = {
        "Emil": f"Emil (born 1901) was a painter. He {long} his.",
        "Ada": f"Ada (born 1815) was another. She {long} her.",
        "Film": f"The film {long}.",
    }
    for folder, name, told in (
        ("a", biographies.WOMEN, "\n".join(map(json.dumps, women))),
        ("b", biographies.SUMMARIES, json.dumps(summaries)),
    ):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True)
        path.write_text(told)
    output = tmp_path / "people.jsonl"
    given = [str(tmp_path / "a"), str(tmp_path / "b"), str(output)]
    monkeypatch.setattr("sys.argv", ["biographies.py", *given])
    assert biographies.main() == 0
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["name"] for row in rows] == ["Ada", "Emil"]
    assert rows[0]["text"] == women[0]["overview"]
