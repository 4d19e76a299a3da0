"""vLLM's backend against a stand-in with the signatures of vLLM, which runs transformers."""

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError, MissingExtraError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request
from calipers.language_model.vllm import load_vllm, sample_seed, sampling_parameters
from extras import need

torch = need("torch")
need("transformers")


@dataclass
class SamplingParams:
    """The parameters of vLLM's class that are given, without its defaults."""

    n: int
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    stop: object
    min_tokens: int
    ignore_eos: bool
    logprobs: object
    prompt_logprobs: int | None
    detokenize: bool
    skip_special_tokens: bool
    max_tokens: int
    seed: int | None = None
    stop_token_ids: list[int] | None = None


@pytest.fixture
def vllm(zoo, monkeypatch):
    module = ModuleType("vllm")
    module.__version__ = "0.10.0"
    module.calls = []

    class LLM:
        def __init__(self, model, *, revision, dtype, trust_remote_code, generation_config, seed):
            if model == "broken":
                raise ValueError("no such model\nand more")
            assert generation_config == "vllm"
            self._model = zoo.plain(model)
            self._tokenizer = zoo.tokenizer(model)
            self.llm_engine = SimpleNamespace(
                model_config=SimpleNamespace(
                    max_model_len=zoo.LIMIT, dtype=torch.float32, hf_config=self._model.config,
                    get_vocab_size=lambda: zoo.VOCABULARY, revision=revision,
                )
            )  # fmt: skip

        def get_tokenizer(self):
            return self._tokenizer

        def generate(self, prompts, sampling_params, *, use_tqdm):
            assert not use_tqdm
            assert len(prompts) == len(sampling_params)
            module.calls.append(list(sampling_params))
            return list(map(self._one, prompts, sampling_params))

        def _one(self, prompt, params):
            ids = list(prompt["prompt_token_ids"])
            assert len(ids) + params.max_tokens <= zoo.LIMIT
            told = None
            if params.prompt_logprobs is not None:
                scores = zoo.plain_scores(self._model, ids) if len(ids) > 1 else []
                told = [None]
                told += [
                    {id: SimpleNamespace(logprob=score, rank=1, decoded_token=None)}
                    for id, score in zip(ids[1:], scores, strict=True)
                ]
            rng, new, reason = np.random.default_rng(params.seed), [], "length"
            while len(new) < params.max_tokens:
                with torch.inference_mode():
                    logits = self._model(input_ids=torch.tensor([ids + new])).logits[0, -1]
                p = logits.double().softmax(0).numpy()
                new.append(int(p.argmax() if params.temperature == 0 else rng.choice(len(p), p=p)))
                if new[-1] in (params.stop_token_ids or ()):
                    reason = "stop"
                    break
            return SimpleNamespace(
                prompt_token_ids=ids, prompt_logprobs=told,
                outputs=[SimpleNamespace(token_ids=new, finish_reason=reason, text="")],
            )  # fmt: skip

    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def test_scores_are_those_of_transformers_in_process(vllm, zoo):
    model = load_vllm("gpt2", EmbedderOptions())
    ids = zoo.tokenizer("gpt2")(zoo.TEXTS[0])["input_ids"]
    assert len(ids) < zoo.LIMIT
    passages = [Passage(zoo.TEXTS[0]), Passage(""), Passage(" sat on the mat", "The cat")]
    passages += [Passage("The cat sat", ended=True), Passage("", "The cat", ended=True)]
    found, same = (each.score(passages) for each in (model, zoo.load("gpt2")))
    assert found.starts.tolist() == same.starts.tolist()
    assert np.abs(found.log_probability - same.log_probability).max() < 1e-5
    assert found.vocabulary == zoo.VOCABULARY
    long = [Passage(zoo.TEXTS[0] * 4)]
    assert len(model.score(long, first="bos").log_probability) == len(
        zoo.tokenizer("gpt2")(long[0].text)["input_ids"]
    )
    with pytest.raises(InputError, match="probabilities of given texts"):
        model.score(long, decoding=Decoding())
    with pytest.raises(InputError, match="text 1: its prompt"):
        model.score([Passage(" a", long[0].text)])


def test_texts_are_asked_for_with_everything_said(vllm, zoo):
    model = load_vllm("gpt2", EmbedderOptions())
    requests = [Request(0, "The cat"), Request(5)]
    decoding = Decoding.parse("temperature=0.8,min_p=0.1,top_k=40,top_p=0.9")
    found = list(model.generate(requests, decoding, max_tokens=6, seed=3))
    assert [each.id for each in found] == [0, 5]
    assert all(each.tokens == 6 or each.finish_reason == "stop" for each in found)
    (params,) = vllm.calls
    assert [each.seed for each in params] == [sample_seed(3, 0), sample_seed(3, 5)]
    assert {(p.temperature, p.min_p, p.top_k, p.top_p, p.n) for p in params} == {
        (0.8, 0.1, 40, 0.9, 1)
    }
    (greedy,) = model.generate(requests[:1], Decoding.parse("greedy"), max_tokens=6, seed=3)
    (same,) = zoo.load("gpt2").generate(
        requests[:1], Decoding.parse("greedy"), max_tokens=6, seed=3
    )
    assert (greedy.text, greedy.tokens, greedy.prompt_tokens) == (
        same.text, same.tokens, same.prompt_tokens,
    )  # fmt: skip
    assert vllm.calls[-1][0].temperature == 0
    assert "a seed fixes a sample only as far as" in model.reproducible
    assert model.signature["vllm"] == "0.10.0"


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        ("beam=3", "vLLM is asked for samples and greedy texts only"),
        ("contrastive=0.6,top_k=4", "samples and greedy texts only"),
        ("typical=0.9", "vLLM .* typical; .* repetition_penalty, temperature"),
        ("greedy,no_repeat_ngram=3", "vLLM does not know no_repeat_ngram"),
        ("top_p=0.9,top_k=40", "in this order"),
        ("top_p=0.9,repetition_penalty=1.2", "in this order"),
    ],
)
def test_what_vllm_cannot_follow_is_refused(decoding, message, vllm):
    with pytest.raises(InputError, match=message):
        load_vllm("gpt2", EmbedderOptions()).generate(
            [Request(0, "a")], Decoding.parse(decoding), max_tokens=5, seed=0
        )
    assert not vllm.calls


def test_decodings_in_the_words_of_vllm():
    assert sampling_parameters(Decoding()) == {}
    assert sampling_parameters(Decoding.parse("temperature=2,repetition_penalty=1.5,top_k=3")) == {
        "temperature": 2.0, "repetition_penalty": 1.5, "top_k": 3,
    }  # fmt: skip
    assert sampling_parameters(Decoding.parse("greedy")) == {"temperature": 0.0}


def test_what_is_too_long_or_nothing_is_refused(vllm, zoo):
    model = load_vllm("gpt2", EmbedderOptions())
    with pytest.raises(InputError, match=r"sample 2: .*'gpt2'"):
        model.generate([Request(2, "The cat " * 30)], Decoding(), max_tokens=5, seed=0)
    with pytest.raises(InputError, match=r"max_tokens .*at least 1"):
        model.generate([Request(2, "a")], Decoding(), max_tokens=0, seed=0)
    with pytest.raises(InputError, match=r"'broken': no such model$"):
        load_vllm("broken", EmbedderOptions())
    with pytest.raises(InputError, match="vllm: needs the name of a model"):
        load_vllm(" ", EmbedderOptions())


def test_without_vllm_its_absence_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"'vllm:gpt2' .*package 'vllm'"):
        load_vllm("gpt2", EmbedderOptions())


def test_seeds_differ_by_run_and_by_sample():
    found = {sample_seed(seed, sample) for seed in range(9) for sample in range(9)}
    assert len(found) == 81
    assert all(0 <= each < 2**63 for each in found)
