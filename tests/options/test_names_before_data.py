"""Names that need no data are refused when options are made, before any file is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from calipers.commands.agree.options import AgreeOptions
from calipers.commands.likelihood.options import LikelihoodOptions
from calipers.commands.sweep.options import SweepOptions
from calipers.commands.text.options import TextOptions
from calipers.commands.tune.options import TuneOptions
from calipers.errors import InputError
from calipers.options.comparison import CompareOptions
from extras import need

TUNED: dict[str, Any] = {"model": "ngram", "over": {"temperature": [1.0, 2.0]}}
REFUSED: list[tuple[type[Any], dict[str, Any], str]] = [
    (
        CompareOptions,
        {"metrics": "precison"},
        "unknown metric 'precison'; did you mean 'precision'",
    ),
    (CompareOptions, {"metrics": ["form.recal"]}, "unknown metric 'recal'; did you mean 'recall'"),
    (CompareOptions, {"metrics": "text.self_blu"}, "unknown text metric 'self_blu'; did you mean"),
    (CompareOptions, {"embedder": "minlm"}, "no embedder 'minlm'; did you mean 'minilm'?"),
    (CompareOptions, {"embedder": "tfdif"}, "no embedder 'tfdif'; did you mean 'tfidf'?"),
    (SweepOptions, {"over": "k", "metrics": "precison"}, "unknown metric 'precison'"),
    (TuneOptions, {**TUNED, "metrics": "precison"}, "unknown metric 'precison'"),
    (
        TuneOptions,
        {**TUNED, "model": "ngrm"},
        "unknown language model 'ngrm'; did you mean 'ngram'?",
    ),
    (
        TextOptions,
        {"metrics": "self_blu"},
        "unknown text metric 'self_blu'; did you mean 'self_bleu'",
    ),
    (TextOptions, {"tokenizer": "nltkk"}, "unknown tokenizer 'nltkk'; did you mean 'nltk'?"),
    (
        LikelihoodOptions,
        {"model": "ngram", "metrics": "perplexty"},
        "unknown likelihood metric 'perplexty'; did you mean 'perplexity'",
    ),
    (LikelihoodOptions, {"model": "ngam:order=3"}, "unknown language model 'ngam'; did you mean"),
    (AgreeOptions, {"embedders": ["minlm", "tfidf"]}, "no embedder 'minlm'; did you mean"),
    (AgreeOptions, {"embedders": ["minilm", "tfdif"]}, "no embedder 'tfdif'; did you mean"),
    (AgreeOptions, {"embedders": ["tfidf", "tfidf"]}, "the embedder 'tfidf' is given twice"),
]


@pytest.mark.parametrize(("options", "given", "message"), REFUSED)
def test_a_misspelt_name_is_refused_when_options_are_made(
    options: type[Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        options(**given)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (CompareOptions, {"metrics": "precision,tone,frontier:kl,text.distinct,all"}),
        (CompareOptions, {"embedder": "gpt2"}),
        (CompareOptions, {"embedder": "someone/minlm"}),
        (CompareOptions, {"embedder": "minlm", "revision": "main"}),
        (TextOptions, {"metrics": "text"}),
        (TextOptions, {"metrics": ["text.distinct", "all"]}),
        (LikelihoodOptions, {"model": "ngram", "metrics": "likelihood"}),
        (TextOptions, {"tokenizer": "someone/nltkk"}),
        (TuneOptions, {**TUNED, "model": "someone/ngrm"}),
    ],
)
def test_what_only_data_or_a_model_can_refuse_passes(
    options: type[Any], given: dict[str, Any]
) -> None:
    assert options(**given)


def test_a_folder_may_have_nearly_the_name_of_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("minlm", "ngrm"):
        Path(name).mkdir()
    assert CompareOptions(embedder="minlm")
    assert TuneOptions(**{**TUNED, "model": "ngrm"})


@pytest.mark.parametrize("options", [CompareOptions, TextOptions])
def test_metrics_that_can_be_read_once_are_not_read(options: type[Any]) -> None:
    once = (name for name in ["distinct", "misspellt"])
    options(metrics=once)
    assert list(once) == ["distinct", "misspellt"]


def test_embedders_that_can_be_read_once_are_not_read() -> None:
    once = iter(["minilm", "tfidf"])
    AgreeOptions(embedders=once)
    assert list(once) == ["minilm", "tfidf"]


def test_a_model_in_the_cache_may_have_nearly_the_name_of_an_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(need("huggingface_hub.constants"), "HF_HUB_CACHE", str(tmp_path))
    (tmp_path / "models--minlm").mkdir()
    assert CompareOptions(embedder="minlm")
