"""Texts by causal models: every decoding by its definition, and seeds that hold."""

import json
import shutil
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import calipers
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request
from calipers.language_model.sampling import invert, uniforms
from calipers.language_model.truncation import RULES
from extras import need

torch = need("torch")
transformers = need("transformers")

from calipers.language_model import causal, stepwise  # noqa: E402
from calipers.language_model.causal import load_causal  # noqa: E402
from calipers.language_model.processors import Processors, draw  # noqa: E402

KINDS = ["gpt2", "llama", "opt", "gemma", "gemma2", "mistral", "bloom", "mamba"]
PROMPTS = ["The cat", "A bird sings in the", "One", "Once I caught a fish alive! The cat sat"]
SHORT = 10


def requests_of(n=8):
    return [Request(3 * row, PROMPTS[row % len(PROMPTS)]) for row in range(n)]


def written(model, decoding, requests=None, *, max_tokens=SHORT, seed=7):
    found = model.generate(
        requests_of() if requests is None else requests,
        Decoding.parse(decoding),
        max_tokens=max_tokens,
        seed=seed,
    )
    return {each.id: each for each in found}


def texts_of(found):
    return {id: (each.text, each.finish_reason, each.tokens) for id, each in found.items()}


def logits_of(model, ids):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0, -1].double().numpy()


def by_hand(zoo, kind, choose, prompt, max_tokens=SHORT):
    """A text token by token, everything read again at each step."""
    model, tokenizer = zoo.plain(kind), zoo.tokenizer(kind)
    ids = tokenizer(prompt)["input_ids"]
    before = len(ids)
    for step in range(max_tokens):
        ids.append(int(choose(logits_of(model, ids), step, ids)))
        if ids[-1] == 1:
            break
    return finished(tokenizer, ids, before)


def finished(tokenizer, ids, before):
    whole = tokenizer.decode(ids, skip_special_tokens=True)
    said = tokenizer.decode(ids[:before], skip_special_tokens=True)
    reason = "stop" if ids[-1] == 1 else "length"
    return whole[len(said) :], reason, len(ids) - before


def softmax(logits):
    p = np.exp(logits - logits.max())
    return p / p.sum()


def nucleus(p, top_p):
    order = np.argsort(-p, kind="stable")
    kept = int((np.cumsum(p[order]) < top_p).sum()) + 1
    p = p.copy()
    p[order[kept:]] = 0
    return p / p.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_drawn_by_its_own_uniforms_from_the_nucleus(kind, zoo):
    found = texts_of(written(zoo.load(kind), "temperature=0.8,top_p=0.8"))
    for request in requests_of():
        own = uniforms(7, request.id, SHORT)

        def choose(logits, step, ids, own=own):
            p = nucleus(softmax(logits / 0.8), 0.8)
            return invert(p[None], own[step : step + 1])[0]

        assert found[request.id] == by_hand(zoo, kind, choose, request.prompt)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_texts_and_beams_are_those_of_transformers(kind, zoo):
    model, tokenizer = zoo.plain(kind), zoo.tokenizer(kind)
    ways = {
        "greedy": {},
        "greedy,no_repeat_ngram=2": {"no_repeat_ngram_size": 2},
        "beam=3": {"num_beams": 3},
        "beam=4,length_penalty=0.2,no_repeat_ngram=2": {
            "num_beams": 4, "length_penalty": 0.2, "no_repeat_ngram_size": 2,
        },
    }  # fmt: skip
    for decoding, how in ways.items():
        found = texts_of(written(zoo.load(kind), decoding, requests_of(4)))
        for request in requests_of(4):
            ids = torch.tensor([tokenizer(request.prompt)["input_ids"]])
            made = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=SHORT, do_sample=False,
                pad_token_id=1, eos_token_id=1, **how,
            )[0].tolist()  # fmt: skip
            before = ids.shape[1]
            if 1 in made[before:]:
                made = made[: made.index(1, before) + 1]
            assert found[request.id] == finished(tokenizer, made, before)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2", "mamba"])
def test_contrastive_search_is_its_definition(kind, zoo):
    model, alpha, k = zoo.plain(kind), 0.6, 4

    def states(ids):
        with torch.inference_mode():
            found = model(input_ids=torch.tensor([ids]), output_hidden_states=True)
        rows = found.hidden_states[-1][0].double()
        return torch.nn.functional.normalize(rows, dim=1).numpy()

    def choose(logits, step, ids):
        p = softmax(logits)
        likely = np.argsort(-p)[:k]
        before = states(ids)
        score = [
            (1 - alpha) * p[v] - alpha * (before @ states([*ids, int(v)])[-1]).max() for v in likely
        ]
        return likely[int(np.argmax(score))]

    found = texts_of(written(zoo.load(kind), "contrastive=0.6,top_k=4", requests_of(4)))
    for request in requests_of(4):
        assert found[request.id] == by_hand(zoo, kind, choose, request.prompt)


@pytest.mark.parametrize("kind", ["gpt2", "mamba"])
def test_adversarial_texts_come_close_to_the_perplexity_asked_for(kind, zoo):
    target, most = 60.0, 29
    found = written(
        zoo.load(kind), "adversarial=60,random_share=0.2", requests_of(4), max_tokens=most
    )
    for request in requests_of(4):
        own, surprise = uniforms(7, request.id, most), []
        ordinary = np.arange(2, zoo.VOCABULARY)

        def choose(logits, step, ids, own=own, surprise=surprise, ordinary=ordinary):
            own_surprise = -np.log(softmax(logits))
            if step < 6:
                token = ordinary[int(own[step] * len(ordinary))]
            else:
                mean = (sum(surprise) + own_surprise[ordinary]) / (step + 1)
                token = ordinary[np.argmin(np.abs(np.exp(mean) - target))]
            surprise.append(own_surprise[token])
            return token

        expected = by_hand(zoo, kind, choose, request.prompt, most)
        assert texts_of(found)[request.id] == expected
        assert abs(np.exp(np.mean(surprise)) - target) < 1
        assert found[request.id].tokens == most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "decoding"),
    [
        ("gpt2", "ancestral"),
        ("llama", "ancestral"),
        ("mamba", "ancestral"),
        ("gemma2", "top_p=0.9,repetition_penalty=1.3"),
        ("mamba", "top_p=0.9,repetition_penalty=1.3"),
        ("gpt2", "temperature=0.7,top_k=40"),
        ("gpt2", "typical=0.9"),
        ("gpt2", "eta=0.01"),
        ("gpt2", "top_h=0.4"),
        ("gpt2", "adversarial=30"),
        ("gpt2", "contrastive=0.6,top_k=3"),
        ("gpt2", "beam=2"),
    ],
)
def test_a_sample_depends_on_nothing_beside_it(kind, decoding, zoo):
    requests = requests_of(48)
    base = texts_of(written(zoo.load(kind, batch_size=48), decoding, requests))
    assert len({text for text, _, _ in base.values()}) > 3
    for batch_size in (1, 16):
        found = texts_of(written(zoo.load(kind, batch_size=batch_size), decoding, requests))
        assert found == base
    order = [requests[row] for row in np.random.default_rng(0).permutation(48)]
    assert texts_of(written(zoo.load(kind, batch_size=16), decoding, order)) == base
    more = [*requests[:5], *(Request(1000 + row, "The cat sat on the") for row in range(20))]
    found = texts_of(written(zoo.load(kind, batch_size=48), decoding, more))
    assert {id: text for id, text in found.items() if id < 1000} == {
        request.id: base[request.id] for request in requests[:5]
    }


def test_another_seed_gives_other_samples_and_a_longer_text_begins_with_a_shorter(zoo):
    model = zoo.load("gpt2")
    one, two = written(model, "ancestral"), written(model, "ancestral", seed=8)
    assert texts_of(one) != texts_of(two)
    shorter = written(model, "ancestral", max_tokens=5)
    for id, each in shorter.items():
        if each.finish_reason == "length":
            assert one[id].text.startswith(each.text.rstrip("\ufffd"))


def test_first_tokens_have_the_frequencies_of_the_model(zoo):
    n = 3_000
    model = load_causal(str(zoo.folder("gpt2")), EmbedderOptions(device="cpu", batch_size=1_000))
    model._at_once = 1_000
    p = nucleus(
        softmax(logits_of(zoo.plain("gpt2"), zoo.tokenizer("gpt2")("The cat").input_ids)), 0.5
    )
    requests = [Request(row, "The cat") for row in range(n)]
    made = []
    write = model._tokens.write
    model._tokens.write = lambda prompt, tokens: made.append(tokens[0]) or write(prompt, tokens)
    written(model, "top_p=0.5", requests, max_tokens=1)
    found = Counter(made)
    assert set(found) <= set(np.flatnonzero(p).tolist())
    kept = np.flatnonzero(p).tolist()
    counts, expected = [found[token] for token in kept], p[kept] * n
    assert stats.chisquare(counts, expected).pvalue > 1e-3


LEAKS = {
    "top_k": 3, "temperature": 0.1, "top_p": 0.2, "repetition_penalty": 5.0, "do_sample": True,
    "no_repeat_ngram_size": 1, "max_length": 4, "max_new_tokens": 2, "min_length": 30,
    "min_new_tokens": 9, "num_beams": 5, "length_penalty": -3.0, "forced_bos_token_id": 9,
    "forced_eos_token_id": 8, "suppress_tokens": list(range(20, 300)), "bad_words_ids": [[270]],
    "begin_suppress_tokens": [271], "exponential_decay_length_penalty": [1, 3.0],
    "typical_p": 0.2, "min_p": 0.9, "epsilon_cutoff": 0.3, "eta_cutoff": 0.3,
    "eos_token_id": [1, 300, 301], "num_return_sequences": 3, "diversity_penalty": 2.0,
    "num_beam_groups": 5, "renormalize_logits": True, "guidance_scale": 3.0,
    "sequence_bias": [[[270], -20.0]], "remove_invalid_values": True, "early_stopping": True,
    "stop_strings": ["a"], "use_cache": False, "encoder_no_repeat_ngram_size": 1,
    "encoder_repetition_penalty": 3.0, "top_h": 0.1, "penalty_alpha": 0.9, "dola_layers": "low",
    "bos_token_id": 5, "decoder_start_token_id": 5, "pad_token_id": 7,
}  # fmt: skip


@pytest.mark.parametrize("which", [LEAKS, {"top_k": 3, "temperature": 0.1}])
def test_what_stands_in_generation_config_changes_nothing(which, zoo, tmp_path):
    folder = shutil.copytree(zoo.folder("gpt2"), tmp_path / "gpt2")
    (folder / "generation_config.json").write_text(json.dumps(which))
    model = load_causal(str(folder), EmbedderOptions(device="cpu"))
    for decoding in ("ancestral", "greedy", "beam=3", "contrastive=0.6,top_k=4", "top_k=9"):
        found = texts_of(written(model, decoding))
        assert found == texts_of(written(zoo.load("gpt2"), decoding))


def test_tokens_that_end_a_turn_end_a_text_if_the_tokenizer_knows_them_as_marks(zoo, tmp_path):
    zoo.save_model(tmp_path, "gpt2")
    made = zoo.save_tokenizer(tmp_path, bos_token="<s>", eos_token="</s>")
    end, word = 300, 301
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, end, word]}))
    assert load_causal(str(tmp_path), EmbedderOptions())._tokens.ends.tolist() == [1]
    made.add_special_tokens({"additional_special_tokens": [made.convert_ids_to_tokens(end)]})
    made.save_pretrained(tmp_path)
    assert load_causal(str(tmp_path), EmbedderOptions())._tokens.ends.tolist() == [1, end]


def test_texts_that_end_leave_the_batch(zoo, tmp_path, monkeypatch):
    # A model that ends about a third of its texts at every step
    folder = shutil.copytree(zoo.folder("gpt2"), tmp_path / "gpt2")
    model = load_causal(str(folder), EmbedderOptions(device="cpu"))
    plain = load_causal(str(folder), EmbedderOptions(device="cpu", batch_size=1))
    sizes = []
    read = stepwise.StepwiseModel._read

    def seen(self, ids):
        sizes.append(len(ids))
        logits = read(self, ids)
        logits[:, 1] = logits.logsumexp(1) - 0.7
        return logits

    monkeypatch.setattr(stepwise.StepwiseModel, "_read", seen)
    found = written(model, "ancestral", requests_of(40), max_tokens=20)
    assert {each.finish_reason for each in found.values()} >= {"stop"}
    assert sizes[0] >= 20
    assert sizes[-1] < 10
    assert all("</s>" not in each.text for each in found.values())
    assert texts_of(found) == texts_of(written(plain, "ancestral", requests_of(40), max_tokens=20))


def test_a_cache_that_gives_something_else_is_not_used(zoo, monkeypatch):
    monkeypatch.setattr(
        causal.CausalModel, "_goes_on", lambda *given: (_ for _ in ()).throw(TypeError)
    )
    model = load_causal(str(zoo.folder("llama")), EmbedderOptions(device="cpu"))
    assert model.told() == ()  # nothing was written yet
    for decoding in ("ancestral", "greedy", "contrastive=0.6,top_k=3"):
        assert texts_of(written(model, decoding)) == texts_of(written(zoo.load("llama"), decoding))
    (told,) = model.told()
    assert told.startswith("the cache of llama could not be used (TypeError), so the whole text")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_goes_on_from_its_cache_without_a_word_from_transformers(kind, zoo, capfd):
    folder = zoo.folder(kind)
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_causal(str(folder), EmbedderOptions(device="cpu"))
        for decoding in ("greedy", "top_p=0.9", "beam=2", "contrastive=0.6,top_k=3"):
            written(model, decoding, requests_of(3))
        model.score([Passage("The cat sat.")])
    assert model.told() == ()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", KINDS)
def test_steps_with_and_without_a_cache_give_the_same_logits(kind, zoo):
    plain, ids = zoo.plain(kind), torch.arange(60).reshape(3, 20) * 7 % 300 + 2
    ways = [stepwise.StepwiseModel(plain, cached=cached) for cached in (True, False)]
    with torch.inference_mode():
        steps = [[way.start(ids[:, :9]), *map(way.step, ids[:, 9:].T)] for way in ways]
    for one, two in zip(*steps, strict=True):
        assert torch.allclose(one, two, rtol=1e-4, atol=1e-4)


class Renamed:
    """A model that takes and gives its cache by a name that nobody knows."""

    def __init__(self, model, *, takes):
        self._model, self._takes = model, takes

    @property
    def forward(self):
        def forward(input_ids, use_cache, cache=None): ...

        def odd(input_ids, use_cache, kept=None): ...

        return forward if self._takes else odd

    def __call__(self, input_ids, use_cache, cache=None):
        output = self._model(input_ids=input_ids, use_cache=False)
        return SimpleNamespace(logits=output.logits, kept="cache")


def test_a_cache_by_an_unknown_name_is_an_error_and_not_a_slow_way(zoo):
    with pytest.raises(stepwise.NoCacheError, match=r"cache .*past_key_values"):
        stepwise.StepwiseModel(Renamed(zoo.plain("llama"), takes=False))
    model = stepwise.StepwiseModel(Renamed(zoo.plain("llama"), takes=True))
    with torch.inference_mode(), pytest.raises(stepwise.NoCacheError, match="no 'cache' back"):
        model.start(torch.tensor([[2, 3]]))


def test_a_run_without_a_cache_says_so(zoo, monkeypatch):
    monkeypatch.setattr(stepwise, "_CACHES", ("kept",))
    found = calipers.generate(
        model=str(zoo.folder("llama")), decoding="greedy", n=2, max_tokens=3, device="cpu"
    )
    assert any("so the whole text was read again for every token" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_an_empty_prompt_is_the_token_that_begins_texts(kind, zoo):
    found = written(zoo.load(kind), "greedy", [Request(0)])
    assert found[0].prompt_tokens == 1

    def choose(logits, step, ids):
        return np.argmax(logits)

    assert texts_of(found)[0] == by_hand(zoo, kind, choose, "<s>")


def test_a_model_that_cannot_begin_needs_prompts(zoo, tmp_path):
    zoo.save_model(tmp_path / "bare", "gpt2")
    zoo.save_tokenizer(tmp_path / "bare")
    model = load_causal(str(tmp_path / "bare"), EmbedderOptions())
    assert written(model, "greedy", [Request(0, "The cat")])[0].finish_reason == "length"
    with pytest.raises(InputError, match=r"sample 5 .*prompt.*empty"):
        written(model, "greedy", [Request(0, "The cat"), Request(5)])
    zoo.save_tokenizer(tmp_path / "bare", eos_token="</s>")
    model = load_causal(str(tmp_path / "bare"), EmbedderOptions())
    assert model._tokens.read_prompt(Request(0)).tolist() == [1]


def test_prompt_and_text_read_as_one(zoo):
    for kind in ("gpt2", "llama"):
        tokenizer = zoo.tokenizer(kind)
        read = zoo.load(kind)._tokens
        for text in zoo.TEXTS[:4]:
            ids = tokenizer(text)["input_ids"]
            for place in range(1, len(ids)):
                prompt = tokenizer.decode(ids[:place])
                if "\ufffd" not in prompt:
                    assert prompt + read.write(np.array(ids[:place]), ids[place:]) == text
            assert (
                read.write(np.array(ids[:2]), [*ids[2:], 1])
                == text[len(tokenizer.decode(ids[:2])) :]
            )


TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
TALK = ({"role": "user", "content": "The cat sat?"},)


def test_a_conversation_is_written_by_the_chat_template(zoo, tmp_path):
    zoo.save_model(tmp_path / "chat", "gpt2")
    made = zoo.save_tokenizer(tmp_path / "chat", bos_token="<s>", eos_token="</s>")
    made.chat_template = TEMPLATE
    made.save_pretrained(tmp_path / "chat")
    model = load_causal(str(tmp_path / "chat"), EmbedderOptions())
    for prompt in ("", " On the"):
        (found,) = written(model, "greedy", [Request(4, prompt, TALK)]).values()
        plain = "user: The cat sat?\nassistant:" + prompt
        (same,) = written(model, "greedy", [Request(4, plain)]).values()
        assert found.text == same.text
        assert found.prompt_tokens == same.prompt_tokens
    made.chat_template = "{{ raise_exception('roles must alternate') }}"
    made.save_pretrained(tmp_path / "chat")
    with pytest.raises(InputError, match=r"'chat' .*sample 4: .*alternate"):
        written(
            load_causal(str(tmp_path / "chat"), EmbedderOptions()), "greedy", [Request(4, "", TALK)]
        )
    with pytest.raises(InputError, match=r"'gpt2' .*chat template.*\(sample 4\)"):
        written(zoo.load("gpt2"), "greedy", [Request(4, "", TALK)])


@pytest.mark.parametrize(
    ("requests", "decoding", "most", "message"),
    [
        (
            [Request(0, "a"), Request(9, "The cat " * 30)], "greedy", 5,
            r"sample 9: .* \d+ tokens and 5 more .*'gpt2', 48 tok",
        ),
        ([Request(0, "a")], "greedy", 48, r"sample 0: its prompt of 1 tokens and 48 more"),
        ([Request(0, "a")], "greedy", 0, "max_tokens .*at least 1; f"),
        ([Request(0, "a")], "adversarial", 5, "needs the perplexity that it comes close to, as"),
        ([Request(0, "\ud800")], "greedy", 5, "must be valid Unicode"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_said_before_anything_is(requests, decoding, most, message, zoo):
    with pytest.raises(InputError, match=message):
        zoo.load("gpt2").generate(requests, Decoding.parse(decoding), max_tokens=most, seed=0)


def test_a_decoding_that_leaves_no_token_names_the_sample(zoo, tmp_path):
    zoo.save(tmp_path, "gpt2", n_positions=600)
    model = load_causal(str(tmp_path), EmbedderOptions(device="cpu"))
    model._tokens.ends = np.array([], dtype=np.int64)
    with pytest.raises(InputError, match=r"sample 3: .*no_repeat_ngram=1"):
        written(model, "no_repeat_ngram=1", [Request(3, "a")], max_tokens=500)


def test_each_text_is_given_as_soon_as_its_batch_is_done(zoo):
    done = []
    model = zoo.load("gpt2", batch_size=2)
    found = model.generate(
        requests_of(8), Decoding.parse("greedy"), max_tokens=3, seed=0, advance=done.append
    )
    next(found)
    assert sum(done) <= 1
    rest = list(found)
    assert len(rest) == 7
    assert sum(done) == 8
    assert list(model.generate([], Decoding(), max_tokens=3, seed=0)) == []


def test_a_batch_that_does_not_fit_in_memory_is_halved(zoo, monkeypatch):
    expected = texts_of(written(zoo.load("gpt2"), "ancestral", requests_of(16)))
    model = load_causal(str(zoo.folder("gpt2")), EmbedderOptions(device="cpu"))
    sizes = []
    start = stepwise.StepwiseModel.start

    def small(self, ids, **how):
        sizes.append(len(ids))
        if len(ids) > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return start(self, ids, **how)

    monkeypatch.setattr(stepwise.StepwiseModel, "start", small)
    assert texts_of(written(model, "ancestral", requests_of(16))) == expected
    assert sizes[0] > 3
    fits = next(place for place, size in enumerate(sizes) if size <= 3)
    assert max(sizes[fits:]) <= 3
    monkeypatch.setattr(
        stepwise.StepwiseModel, "start", lambda *given, **how: (_ for _ in ()).throw(MemoryError())
    )
    with pytest.raises(InputError, match="memory to write"):
        written(model, "ancestral")


def test_processors_are_applied_in_the_order_in_which_they_are_written():
    p = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    logits = torch.from_numpy(np.log(p)[None]).float()

    def kept(decoding):
        found = Processors(Decoding.parse(decoding), "cpu")(None, logits.clone())
        return torch.isfinite(found)[0].nonzero()[:, 0].tolist()

    assert kept("top_k=4,top_p=0.85") == [0, 1, 2, 3]  # 0.9 is left, of which 0.75 is 83 %
    assert kept("top_p=0.85,top_k=4") == [0, 1, 2, 3]
    assert kept("top_k=2,top_p=0.54") == [0]
    assert kept("top_p=0.54,top_k=2") == [0, 1]
    assert kept("top_p=1") == kept("typical=1") == kept("ancestral") == [0, 1, 2, 3, 4]
    assert kept("min_p=0.6") == [0, 1, 2]
    assert kept("epsilon=0.16") == [0, 1, 2]


@pytest.mark.parametrize("spread", [0.5, 4.0])
@pytest.mark.parametrize("value", [0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    ("name", "warper"), [("top_p", "TopPLogitsWarper"), ("typical", "TypicalLogitsWarper")]
)
def test_truncations_keep_what_the_definition_and_transformers_keep(name, warper, value, spread):
    from transformers.generation import logits_process

    logits = np.random.default_rng(0).normal(0, spread, (6, 1000))
    logits[1, ::3] = -np.inf
    logits[2] = np.round(logits[2])  # many ties
    logits[3], logits[3, 7] = -np.inf, 0.0
    logits[4] = 0.0
    tensor = torch.from_numpy(logits)
    found = Processors(Decoding.parse(f"{name}={value}"), "cpu")(None, tensor.clone())
    theirs = getattr(logits_process, warper)(value)(None, tensor.clone())
    for row, each in enumerate(tensor.softmax(1).numpy()):
        kept = torch.isfinite(found[row]).numpy()
        np.testing.assert_array_equal(found[row, kept], tensor[row, kept])
        np.testing.assert_array_equal(kept, RULES[name](each, value))
        if row not in (2, 4):  # where tokens tie, transformers keeps others or more
            np.testing.assert_array_equal(kept, torch.isfinite(theirs[row]).numpy())


def test_a_gpu_sorts_all_texts_at_once():
    from transformers.generation import logits_process

    steps = Processors(Decoding.parse("top_p=0.9,typical=0.8"), "cuda:0")._steps
    assert [type(step) for step in steps] == [
        logits_process.TopPLogitsWarper,
        logits_process.TypicalLogitsWarper,
    ]


@pytest.mark.parametrize("decoding", ["top_p=0.9", "typical=0.9"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_truncations_hide_no_number_that_is_not_finite(decoding, value):
    logits = torch.zeros(2, 5)
    logits[1, 3] = value
    found = Processors(Decoding.parse(decoding), "cpu")(None, logits)
    assert found[0].amax().isfinite()
    assert not found[1].amax().isfinite()


def test_a_processor_that_transformers_lacks_is_named(monkeypatch):
    from transformers.generation import logits_process

    monkeypatch.delattr(logits_process, "TopHLogitsWarper")
    with pytest.raises(InputError, match=r"'top_h=0.5': .*top_h"):
        Processors(Decoding.parse("top_h=0.5"), "cpu")


@pytest.mark.parametrize("few", [0.5, 0.9999])
def test_drawing_is_that_of_numpy(few):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(500, 40)).astype(np.float32) * 3
    logits[rng.random(logits.shape) < few] = -np.inf
    logits[:, 7] = 0
    uniform = rng.random(500)
    uniform[:3] = 0, np.nextafter(1, 0), 0.5
    found = draw(torch.from_numpy(logits), torch.from_numpy(uniform)).numpy()
    weights = np.exp((logits - logits.max(1, keepdims=True)).astype(np.float64))
    assert found.tolist() == invert(weights, uniform).tolist()
    assert np.isfinite(logits[np.arange(500), found]).all()
