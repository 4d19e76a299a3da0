import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from calipers.embedders import EmbedderChoice, EmbedderOptions, embed, load_embedder
from calipers.embedders.options import choose_device, choose_dtype, read_line
from calipers.errors import InputError
from calipers.samples import SampleSet


def torch_with(cuda=0, mps=False, capability=(9, 0), cpu=()):
    return SimpleNamespace(
        __version__="2.13",
        cuda=SimpleNamespace(
            is_available=lambda: cuda > 0,
            device_count=lambda: cuda,
            get_device_capability=lambda device: capability,
        ),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
        cpu=SimpleNamespace(get_capabilities=lambda: dict.fromkeys(cpu, True)),
    )


@pytest.mark.slow
def test_importing_the_package_loads_nothing_heavy():
    heavy = ["torch", "transformers", "sentence_transformers", "tokenizers", "pyarrow", "sklearn"]
    code = f"import sys, calipers.embedders; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cdua"}, "unknown device 'cdua'; did you mean 'cuda' or 'cpu'?"),
        ({"device": "cuda:x"}, "unknown device 'cuda:x'"),
        ({"dtype": "float16"}, "unknown dtype 'float16'; did you mean 'float32'?"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1; found 0"),
        ({"batch_size": True}, "found True"),
        ({"batch_size": 2.5}, "found 2.5"),
        ({"layer": 0}, "layer must be a whole number of at least 1; found 0"),
        ({"pooling": "men"}, "unknown pooling 'men'; did you mean 'mean'?"),
        ({"layer": 3}, "the embedder 'precomputed' does not take the option 'layer'"),
        ({"embedder": "pixels", "layer": 2}, "does not take the option 'layer'"),
        ({"embedder": "inception", "layer": 2}, "does not take the option 'layer'"),
        ({"embedder": "tfidf", "size": 7}, "size must be even for the embedder 'tfidf'; found 7"),
        ({"embedder": "tfidf", "layer": 2}, "does not take the option 'layer'"),
        ({"embedder": "characters:size=7"}, "for the embedder 'characters'; found 7"),
        (
            {"embedder": "characters", "layer": 2},
            "does not take the option 'layer'; it takes: size",
        ),
        ({"embedder": "precomputed:layer=3"}, "does not take the option 'layer'"),
        ({"embedder": "precomputed:layr=3"}, "unknown option of an embedder 'layr'; did you mean"),
        ({"embedder": "precomputed:layer=x"}, "layer must be a whole number of at least 1"),
        ({"embedder": "x:layer=1:layer=2"}, "the option 'layer' stands twice"),
        ({"prefix": "a\udcff"}, "prefix must be valid Unicode; found '\\udcff' at character 2"),
        ({"embedder": ":layer=1"}, "an embedder needs a name; found ':layer=1'"),
    ],
)
def test_bad_options_are_named_before_anything_is_loaded(options, message):
    with pytest.raises(InputError) as caught:
        load_embedder(**{"embedder": "precomputed"} | options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "name", "options"),
    [
        ("gpt2-large", "gpt2-large", {}),
        ("./gpt2:layer=6:pooling=mean", "./gpt2", {"layer": 6, "pooling": "mean"}),
        ("C:\\models\\gpt2:max-length=9", "C:\\models\\gpt2", {"max_length": 9}),
        ("https://host:8000/v1#m:size=64", "https://host:8000/v1#m", {"size": 64}),
        ("a/b:prefix=query ", "a/b", {"prefix": "query "}),
    ],
)
def test_options_may_follow_the_name(line, name, options):
    assert read_line(line, EmbedderOptions()) == (name, EmbedderOptions(**options))


def test_what_a_line_says_goes_before_other_options():
    assert read_line("x:layer=6", EmbedderOptions(layer=2, revision="v1"))[1] == EmbedderOptions(
        layer=6, revision="v1"
    )


def test_each_kind_of_name_has_its_home(tmp_path):
    file = tmp_path / "glove.txt"
    file.touch()
    homes = {
        "minilm": "minilm",
        "tfidf:size=64": "words.tfidf",
        "characters:size=64": "words.characters",
        str(file): "words.word_vectors",
        str(tmp_path): "models.models",
        "gpt2": "models.models",
        "https://host/v1#m": "service.endpoint",
    }
    found = {line: EmbedderChoice(line).module for line in homes}
    assert found == {line: f"calipers.embedders.{home}" for line, home in homes.items()}
    assert (
        EmbedderChoice("m", EmbedderOptions(endpoint="http://h/v1")).module
        == "calipers.embedders.service.endpoint"
    )


@pytest.mark.parametrize("name", ["minilm", "tfidf:size=64", "characters", "precomputed"])
def test_no_text_leaves_this_machine_by_an_embedder_that_runs_here(name):
    with pytest.raises(InputError, match="no endpoint"):
        EmbedderChoice(name, EmbedderOptions(endpoint="http://h/v1"))
    line = f"http://h/v1#{name}"
    assert EmbedderChoice(line).module == "calipers.embedders.service.endpoint"


def test_a_home_folder_that_nobody_has_is_a_sentence():
    with pytest.raises(InputError, match=r"~nobody-here/m: .*home folder"):
        EmbedderChoice("~nobody-here/m")


def test_automatic_device_is_the_best_one_there():
    assert choose_device("auto", torch_with(cuda=1, mps=True)) == "cuda"
    assert choose_device("auto", torch_with(mps=True)) == "mps"
    assert choose_device("auto", torch_with()) == "cpu"
    assert choose_device("cuda:1", torch_with(cuda=2)) == "cuda:1"


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(InputError, match=r"torch 2\.13 .*cuda.*'auto' or 'cpu'"):
        choose_device("cuda", torch_with())
    with pytest.raises(InputError, match="numbered 0 to 0"):
        choose_device("cuda:3", torch_with(cuda=1))
    with pytest.raises(InputError, match="finds no mps device"):
        choose_device("mps", torch_with(cuda=1))


def test_bfloat16_is_taken_only_when_asked_and_where_the_hardware_has_it():
    modern = torch_with(cuda=1, cpu=("avx2", "avx512_bf16"))
    assert choose_dtype("float32", "cpu", modern) == "float32"
    assert choose_dtype("auto", "cpu", modern) == "bfloat16"
    assert choose_dtype("auto", "cuda:0", modern) == "bfloat16"
    old = torch_with(cuda=1, capability=(7, 5), cpu=("avx2", "avx512_f"))
    assert choose_dtype("auto", "cpu", old) == "float32"
    assert choose_dtype("auto", "cuda", old) == "float16"
    assert choose_dtype("auto", "cuda", torch_with(cuda=1, capability=(6, 1))) == "float32"
    assert choose_dtype("auto", "mps", modern) == "float32"


def test_earlier_torch_tells_bfloat16_by_other_functions():
    torch = SimpleNamespace(cpu=SimpleNamespace(_is_avx512_bf16_supported=lambda: True))
    assert choose_dtype("auto", "cpu", torch) == "bfloat16"
    assert choose_dtype("auto", "cpu", SimpleNamespace(cpu=SimpleNamespace())) == "float32"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_vectors_are_taken_as_they_are(dtype, rng):
    given = rng.standard_normal((7, 3)).astype(dtype)
    samples = SampleSet.from_vectors(given, name="x")
    embeddings = embed(samples, load_embedder("precomputed"), cache=None)
    assert list(embeddings.views) == ["precomputed"]
    assert embeddings.views["precomputed"] is samples.vectors
    assert np.shares_memory(embeddings.views["precomputed"], given)
    assert embeddings.signature == {"embedder": "precomputed"}
    assert embeddings.view_signature == {"precomputed": "as_given"}


def test_vectors_and_texts_go_to_their_own_embedders(stub, samples):
    vectors = SampleSet.from_vectors(np.eye(3), name="mine")
    with pytest.raises(InputError, match=r"mine: .*vectors.*'stub'"):
        embed(vectors, stub())
    with pytest.raises(InputError, match=r"human: .*texts.*'precomputed'"):
        embed(samples, load_embedder("precomputed"))
    with pytest.raises(InputError, match=r"vectors, not texts.* 2 samples"):
        load_embedder("precomputed").embed(["a", "b"])


def test_a_password_in_an_address_is_never_shown():
    with pytest.raises(InputError) as caught:
        EmbedderChoice("http://me:secret@host/v1#m", EmbedderOptions(layer=3))
    assert "//host/v1#m" in str(caught.value)
    assert "secret" not in str(caught.value)
