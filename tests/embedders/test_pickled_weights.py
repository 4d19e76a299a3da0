"""Files of torch's old format: plain tensors are read, and nothing else is ever made of one."""

import io
import pickle
import struct
from collections import OrderedDict

import numpy as np
import pytest
from safetensors.numpy import load

from calipers.embedders.models.pickled_weights import (
    MAGIC,
    VERSION,
    as_safetensors,
    plain_tensors,
)
from extras import need


class _Named:
    """Pickles as a name in a module that need not be there."""

    def __init__(self, module, name):
        self.module, self.name = module, name


def pickled(*parts, storages=()):
    """A file in torch's old format; tuples that begin with "storage" become persistent ids."""

    class Pickler(pickle._Pickler):
        def persistent_id(self, value):
            return value if isinstance(value, tuple) and value[:1] == ("storage",) else None

        def save(self, value, save_persistent_id=True):
            if isinstance(value, _Named):
                self.write(b"c" + value.module.encode() + b"\n" + value.name.encode() + b"\n")
            elif isinstance(value, _Call):
                self.save(value.function)
                self.save(value.arguments)
                self.write(b"R")
            else:
                super().save(value, save_persistent_id)

    file = io.BytesIO()
    for part in (MAGIC, VERSION, {"protocol_version": 1001, "little_endian": True}, *parts):
        Pickler(file, 2).dump(part)
    for numbers in storages:
        file.write(struct.pack("<q", numbers.size) + numbers.tobytes())
    return file.getvalue()


class _Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments


FLOATS = _Named("torch", "FloatStorage")
TENSOR = _Named("torch._utils", "_rebuild_tensor_v2")


def tensor(key, count, shape, strides, offset=0, kind=FLOATS):
    storage = ("storage", kind, key, "cpu", count, None)
    return _Call(TENSOR, storage, offset, shape, strides, False, OrderedDict())


NUMBERS = np.arange(24, dtype=np.float32)


def test_tensors_as_they_lie_in_their_storage():
    tensors = OrderedDict(
        rows=tensor("0", 24, (2, 3, 4), (12, 4, 1)),
        turned=tensor("0", 24, (4, 3, 2), (1, 4, 12)),
        part=tensor("0", 24, (2, 1, 3), (4, 9, 1), offset=5),
        one=tensor("1", 1, (), (), kind=_Named("torch", "LongStorage")),
    )
    content = pickled(tensors, ["0", "1"], storages=[NUMBERS, np.array([7], np.int64)])
    found = plain_tensors(content)
    assert list(found) == ["rows", "turned", "part", "one"]
    read = load(as_safetensors(found))
    cube = NUMBERS.reshape(2, 3, 4)
    assert np.array_equal(read["rows"], cube)
    assert np.array_equal(read["turned"], cube.transpose(2, 1, 0))
    assert np.array_equal(read["part"], [[[5, 6, 7]], [[9, 10, 11]]])
    assert read["one"] == 7
    assert read["one"].dtype == np.int64


def test_what_torch_itself_writes(tmp_path):
    torch = need("torch")
    layers = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5))
    state = layers.state_dict()
    state["turned"] = torch.arange(6.0).reshape(2, 3).T
    torch.save(state, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    read = load(as_safetensors(plain_tensors((tmp_path / "old.pth").read_bytes())))
    assert read.keys() == state.keys()
    for name, expected in state.items():
        assert np.array_equal(read[name], expected.numpy()), name


def one(value, keys=("0",), storages=(NUMBERS,)):
    return pickled(OrderedDict(w=value), list(keys), storages=storages)


GOOD = tensor("0", 24, (24,), (1,))
EVIL = _Call(_Named("os", "system"), "echo was run")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "its pickle is damaged"),
        (b"PK\3\4 a zip", "its pickle is damaged"),
        (pickle.dumps({"w": 1}, 2), "format before version 1.6"),
        (one(GOOD)[:-1], "cut short"),
        (one(GOOD) + b"x", "goes on behind"),
        (one(EVIL), "asks for 'os system'"),
        (one(_Call(FLOATS, 3)), "makes no plain tensor"),
        (one(3), "not a tensor: 'w'"),
        (one(GOOD, keys=("1",)), "other storages"),
        (one(GOOD, storages=[NUMBERS[:9]]), "9 numbers, not 24"),
        (one(tensor("0", 24, (25,), (1,))), "beyond its storage"),
        (one(tensor("0", 24, (2, 3), (-1, 1))), "a way that is not read"),
        (one(tensor("0", 24, (2, 3), (1,))), "a way that is not read"),
        (one(tensor("0", 24, (5, 24), (0, 1))), "repeats its numbers"),
        (one(tensor("0", 24, (24, 5), (1, 0))), "repeats its numbers"),
        (one(tensor("0", 24, (9, 9), (1, 1))), "repeats its numbers"),
        (one(tensor("0", 24, (24,), (1,), kind=_Named("torch", "HalfStorage"))), "HalfStorage"),
        (pickled([1], []), "tensors by name"),
    ],
)
def test_anything_else_is_refused(content, says, capfd):
    with pytest.raises(ValueError, match=says):
        plain_tensors(content)
    assert "was run" not in capfd.readouterr().out


def test_a_file_cut_anywhere_is_refused():
    content = one(GOOD)
    for end in range(len(content)):
        with pytest.raises(ValueError, match=r"cut short|damaged|tensor"):
            plain_tensors(content[:end])
