"""Whether a model fits is found out before it is loaded."""

from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from calipers import memory as machine
from calipers.embed.models import memory
from calipers.errors import InputError


@pytest.fixture
def weights(tmp_path):
    """1,000 numbers in float16, 10 whole ones."""
    path = tmp_path / "model.safetensors"
    save_file({"a": np.zeros((10, 100), np.float16), "b": np.zeros(10, np.int64)}, path)
    return path


def test_weights_grow_with_their_precision(weights, tmp_path):
    assert memory.loaded_size(weights, "float32") == 4_000 + 80
    assert memory.loaded_size(weights, "bfloat16") == 4_000 + 80  # float16 is always widened
    header = b'{"a":{"dtype":"BF16","shape":[50],"data_offsets":[0,100]}}'
    narrow = tmp_path / "narrow.safetensors"
    narrow.write_bytes(len(header).to_bytes(8, "little") + header + bytes(100))
    assert memory.loaded_size(narrow, "bfloat16") == 100
    assert memory.loaded_size(narrow, "float32") == 200
    pickled = tmp_path / "pytorch_model.bin"
    pickled.write_bytes(bytes(77))
    assert memory.loaded_size(pickled, "float32") == 77


def free(monkeypatch, size):
    monkeypatch.setattr(memory, "free_memory", lambda device, torch: size)


def test_what_does_not_fit_is_refused_with_both_sizes(weights, monkeypatch):
    free(monkeypatch, 4_000_000_000)
    path = weights
    sizes = {"float32": 1_900_000_000, "bfloat16": 1_400_000_000}
    monkeypatch.setattr(memory, "loaded_size", lambda path, dtype: sizes[dtype])
    with pytest.raises(InputError) as error:
        memory.check_fits("big", [path, path], device="cpu", dtype="float32", torch=None)
    for words in ("'big' does not fit in memory", "3.8 GB in float32", "4.2 GB", "4.0 GB are free"):
        assert words in str(error.value)
    assert "--dtype auto" in str(error.value)
    with pytest.raises(InputError) as error:
        memory.check_fits("big", [path] * 3, device="cuda:0", dtype="bfloat16", torch=None)
    assert "does not fit on 'cuda:0'" in str(error.value)
    assert "--dtype auto" not in str(error.value)


@pytest.mark.parametrize("size", [int(4_080 * 1.1) + 1, None])
def test_what_fits_or_cannot_be_known_passes(size, weights, monkeypatch):
    free(monkeypatch, size)
    memory.check_fits("small", [weights], device="cpu", dtype="float32", torch=None)


def test_the_margin_counts(weights, monkeypatch):
    free(monkeypatch, int(4_080 * 1.1) - 1)
    with pytest.raises(InputError, match="does not fit"):
        memory.check_fits("small", [weights], device="cpu", dtype="float32", torch=None)


def test_a_graphics_card_tells_itself():
    asked = []

    def tell(device):
        asked.append(device)
        return 123, 456

    torch = SimpleNamespace(cuda=SimpleNamespace(mem_get_info=tell))
    assert memory.free_memory("cuda:1", torch) == 123
    assert asked == ["cuda:1"]


def test_the_machine_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "none")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:     7 kB\n")
    assert memory.free_memory("cpu", None) == 7 * 1024
    (tmp_path / "meminfo").unlink()
    found = memory.free_memory("cpu", None)
    assert found is None or found > 1_000_000


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_has_less_than_its_machine(limit, used, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_GROUPS", tmp_path)
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemAvailable: 700 kB\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text("5000\n")
    (tmp_path / used).write_text("3000\n")
    assert memory.free_memory("cpu", None) == 2_000
    (tmp_path / limit).parent.joinpath("memory.stat").write_text("anon 9\ninactive_file 500\n")
    assert memory.free_memory("cpu", None) == 2_500
    (tmp_path / used).write_text("9000\n")
    (tmp_path / limit).parent.joinpath("memory.stat").unlink()
    assert memory.free_memory("cpu", None) == 0
    (tmp_path / limit).write_text("max\n")
    assert memory.free_memory("cpu", None) == 700 * 1024
