"""Every public function suggests the keyword, and every result the name, that was meant."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import calipers
from calipers import metrics, text
from calipers.errors import InputError, UnknownOptionError


def public_functions():
    """Give every public function with keywords, by where a person finds it."""
    for home in (calipers, metrics, text):
        for name in home.__all__:
            function = getattr(home, name)
            if inspect.isfunction(function) and keywords(function):
                yield pytest.param(function, id=f"{home.__name__}.{name}")


def keywords(function):
    """Name the keywords of a function; ``options`` stands for all of them."""
    taken = inspect.signature(function).parameters.values()
    return [one.name for one in taken if one.kind is one.KEYWORD_ONLY and one.name != "options"]


@pytest.mark.parametrize("function", list(public_functions()))
def test_a_misspelt_keyword_brings_the_nearest(function):
    name = max(keywords(function), key=len)
    misspelt = name[:-1] + "q" + name[-1]
    with pytest.raises(UnknownOptionError) as raised:
        function(**{misspelt: None})
    assert f"unknown option {misspelt!r}; did you mean {name!r}" in str(raised.value)
    assert isinstance(raised.value, TypeError)


def test_a_keyword_like_no_other_leads_to_the_help():
    with pytest.raises(TypeError, match=r"unknown option 'xyz'; help\(calipers\.compare\) lists"):
        calipers.compare(["a"], ["b"], xyz=1)
    with pytest.raises(TypeError, match=r"'xyz'; help\(calipers\.text\.bert_score\) lists"):
        calipers.text.bert_score(["a"], ["b"], xyz=1)


def test_a_misspelt_option_of_an_embedder_brings_the_nearest():
    with pytest.raises(UnknownOptionError, match="'poling'; did you mean 'pooling'"):
        calipers.load_embedder("tfidf", poling="mean")


@pytest.fixture(scope="module")
def comparison():
    rows = np.array([[i, i * i % 7] for i in range(12)], float)
    return calipers.compare(rows, {"model_a": rows[::-1]}, k=2, floor=False)


def test_a_misspelt_option_of_what_is_shown_brings_the_nearest(comparison):
    for show in (comparison.document, comparison.summary):
        with pytest.raises(UnknownOptionError, match="'srt'; did you mean 'sort'"):
            show(srt="name")


def test_a_misspelt_system_score_value_or_metric_brings_the_nearest(comparison):
    with pytest.raises(KeyError, match="unknown system 'mdoel_a'; did you mean 'model_a'"):
        comparison["mdoel_a"]
    with pytest.raises(KeyError, match="unknown score of 'model_a' 'precison'; did you mean"):
        comparison["model_a"]["precison"]
    with pytest.raises(InputError, match="unknown metric 'recal'; did you mean 'recall'"):
        calipers.compare(list("abcdef"), list("bcdefg"), metrics="recal")
    with pytest.raises(InputError, match="unknown estimator 'quantization'; did you mean 'quanti"):
        calipers.compare(list("abcdef"), list("bcdefg"), estimator="quantization")
