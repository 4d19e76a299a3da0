"""The door through which texts come in: what is taken, what is refused, how words are numbered."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calipers.errors import InputError
from calipers.samples import SampleSet
from calipers.text.corpus import join
from calipers.text.tokens import as_corpora, as_corpus, tokenise

pytestmark = pytest.mark.usefixtures("no_network")

HEAVY = {
    *("torch", "sklearn", "scipy.stats", "matplotlib", "pyarrow"),
    *("nltk", "sacrebleu", "transformers", "tokenizers", "datasketch", "rouge_score"),
}


def tokens_of(corpus):
    """The words of each text, back from their numbers."""
    return [
        [corpus.words[number] for number in corpus.tokens[start:stop]]
        for start, stop in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
    ]


def test_words_are_numbered_by_first_appearance_over_all_sets():
    first, second = tokenise(["b a b", "", "c"], ["a d"], tokenizer="whitespace")
    assert first.words == ["b", "a", "c", "d"]
    assert first.words is second.words
    assert first.tokens.tolist() == [0, 1, 0, 2]
    assert second.tokens.tolist() == [1, 3]
    assert first.starts.tolist() == [0, 3, 3, 4]
    assert first.lengths.tolist() == [3, 0, 1]
    assert (first.tokens.dtype, first.starts.dtype) == (np.int32, np.int64)
    assert first.texts == ["b a b", "", "c"]


def test_the_corpus_does_not_change_with_the_list_it_was_made_of():
    texts = ["a"]
    corpus = as_corpus(texts, "whitespace")
    texts.append("b")
    assert len(corpus) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["a b", "c"],
        ("a b", "c"),
        (text for text in ["a b", "c"]),
        np.array(["a b", "c"]),
        np.array(["a b", "c"], dtype=object),
        pd.Series(["a b", "c"], index=[7, 3]),
        pa.array(["a b", "c"]),
        pa.chunked_array([["a b"], ["c"]]),
        SampleSet.from_texts(["a b", "c"], name="set"),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_any_iterable_of_strings_will_do(texts):
    corpus = as_corpus(texts, "whitespace")
    assert tokens_of(corpus) == [["a", "b"], ["c"]]
    assert all(type(text) is str for text in corpus.texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"texts .*list of strings.* single string: .*\[text\]"),
        (b"bytes", "found a single bytes object"),
        ([], "texts .*at least one text.* none"),
        (iter(()), "texts .*at least one text.* none"),
        (["a", None], "strings only; row 2 is None$"),
        (["a", "b", 3], "strings only; row 3 is 3, of type int"),
        (pd.Series(["a", None]), "row 2 is nan, of type float"),
        (pa.array([None, "a"]), "row 1 is None"),
        ([["a"]], r"row 1 is \['a'\], of type list"),
        ({"a": 1}, "in a fixed order; found a dict"),
        ({"a"}, "in a fixed order; found a set"),
        (None, "list of strings.* None"),
        (7, "list of strings.* 7, of type int"),
        (
            np.array([["a"]]),
            r"one dimension, a text in each row.* ndarray of shape \(1, 1\)",
        ),
        (pd.DataFrame({"a": ["x"]}), "found a DataFrame of shape .*: choose one column"),
    ],
)
def test_what_is_no_list_of_strings_is_refused(texts, message):
    with pytest.raises(InputError, match=message):
        tokenise(texts, tokenizer="whitespace")


def test_messages_name_the_side():
    with pytest.raises(InputError, match=r"^references .*strings.*row 1 is 5"):
        as_corpora(["a"], [5], "whitespace")
    with pytest.raises(InputError, match=r"^set 2 .*at least one text"):
        tokenise(["a"], [], tokenizer="whitespace")
    with pytest.raises(InputError, match="at least one list of texts"):
        tokenise()


def test_a_corpus_is_taken_as_it_is():
    corpus = as_corpus(["a b"], "characters")
    assert as_corpus(corpus, "whitespace") is corpus
    with pytest.raises(InputError, match="tokenised already"):
        tokenise(corpus)


def test_corpora_are_held_against_each_other_only_if_their_words_share_numbers():
    first, second = tokenise(["a b"], ["b"], tokenizer="whitespace")
    stranger = as_corpus(["b"], "whitespace")
    assert as_corpora(first, second) == (first, second)
    for together in (as_corpora, join):
        with pytest.raises(InputError, match="must be tokenised together"):
            together(first, stranger)
    with pytest.raises(InputError, match=r"both .*lists of strings"):
        as_corpora(first, ["b"])


def test_joined_corpora_stand_end_to_end():
    first, second = tokenise(["a b", ""], ["b c d"], tokenizer="whitespace")
    both = join(first, second)
    assert tokens_of(both) == [["a", "b"], [], ["b", "c", "d"]]
    assert both.texts == ["a b", "", "b c d"]


def test_texts_without_any_token_are_kept():
    corpus = as_corpus(["", "  ", "\n"])
    assert (len(corpus), len(corpus.tokens), corpus.words) == (3, 0, [])


def test_more_tokens_than_can_be_numbered_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["calipers.text.tokens"], "MOST_TOKENS", 3)
    with pytest.raises(InputError, match="at most 3 tokens together; found 4"):
        tokenise(["a b"], ["c d"], tokenizer="whitespace")


@pytest.mark.slow
def test_importing_the_room_loads_nothing_heavy():
    code = "import sys, calipers.text, calipers.text.tokenizers; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
    imported = set(process.stdout.split())
    assert "calipers.text" in imported
    assert not imported & HEAVY
