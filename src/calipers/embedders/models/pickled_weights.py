"""Tensors of files by torch before version 1.6, read without torch and without unpickling.

Such a file is five pickles (a magic number, the version of the format, what the machine was, the
tensors by name, the keys of their storages) and then the numbers of each storage. A pickle is a
program. This reader goes through its instructions itself, knows those alone that describe plain
tensors by name, and refuses all others: it imports nothing, calls nothing and makes nothing but
numbers, texts, tuples and dicts.

It needs the standard library alone, since the build reads a file with it, too (``hatch_build.py``),
which becomes a safetensors file (:func:`as_safetensors`).
"""

from __future__ import annotations

import json
import pickletools
import struct
from collections.abc import Mapping
from io import BytesIO
from math import prod
from typing import Any, NamedTuple

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001

_DICT = "collections OrderedDict"
_TENSOR = "torch._utils _rebuild_tensor_v2"
_STORAGES = {"torch FloatStorage": ("F32", 4), "torch LongStorage": ("I64", 8)}
"""Kinds of storage: what safetensors calls their numbers, and the bytes of each."""

_MARK = object()


class PlainTensor(NamedTuple):
    """The elements of a tensor, row by row.

    Attributes
    ----------
    dtype
        What safetensors calls them: ``"F32"`` or ``"I64"``.
    shape
        Its shape.
    content
        Their bytes, little-endian.
    """

    dtype: str
    shape: tuple[int, ...]
    content: bytes


class _Global(NamedTuple):
    name: str


class _Storage(NamedTuple):
    kind: str
    key: str
    size: int


class _View(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def plain_tensors(content: bytes) -> dict[str, PlainTensor]:
    """Read the tensors of a file by their names.

    Parameters
    ----------
    content
        The whole file.

    Returns
    -------
    dict
        Name to tensor, in the file's order.

    Raises
    ------
    ValueError
        If it is no such file, is cut short, or holds anything but plain float32 and int64 tensors
        by name.
    """
    file = BytesIO(content)
    if _read(file) != MAGIC or _read(file) != VERSION:
        raise ValueError("not a file of torch in its format before version 1.6")
    machine = _read(file)
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise ValueError("its numbers are not little-endian")
    views, keys = _read(file), _read(file)
    if not isinstance(views, dict) or not isinstance(keys, list):
        raise ValueError("does not hold tensors by name")
    wanted: dict[str, _Storage] = {}
    for name, view in views.items():
        if not isinstance(name, str) or not isinstance(view, _View):
            raise ValueError(f"holds something that is not a tensor: {name!r}")
        if wanted.setdefault(view.storage.key, view.storage) != view.storage:
            raise ValueError(f"describes the storage {view.storage.key!r} twice")
    if sorted(wanted) != sorted(keys):
        raise ValueError("has other storages than its tensors need")
    storages: dict[str, bytes] = {}
    for key in keys:
        _, size = _STORAGES[wanted[key].kind]
        (count,) = struct.unpack("<q", _exactly(file, 8))
        if count != wanted[key].size:
            raise ValueError(f"a storage has {count:,} numbers, not {wanted[key].size:,}")
        storages[key] = _exactly(file, count * size)
    if file.read(1):
        raise ValueError("goes on behind its last storage")
    return {name: _cut(view, storages[view.storage.key]) for name, view in views.items()}


def as_safetensors(tensors: Mapping[str, PlainTensor]) -> bytes:
    """Write tensors as a safetensors file, the same bytes for the same tensors."""
    header: dict[str, Any] = {}
    place = 0
    for name, tensor in tensors.items():
        end = place + len(tensor.content)
        shape = list(tensor.shape)
        header[name] = {"dtype": tensor.dtype, "shape": shape, "data_offsets": [place, end]}
        place = end
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    parts = [struct.pack("<Q", len(written)), written]
    return b"".join(parts + [tensor.content for tensor in tensors.values()])


def _exactly(file: BytesIO, size: int) -> bytes:
    content = file.read(size) if size >= 0 else b""
    if len(content) != size:
        raise ValueError("is cut short")
    return content


def _cut(view: _View, content: bytes) -> PlainTensor:
    """Lay out row by row the numbers of a tensor, which may stand in another order."""
    dtype, size = _STORAGES[view.storage.kind]
    axes = [axis for axis, length in enumerate(view.shape) if length != 1]
    last = sum((view.shape[axis] - 1) * view.strides[axis] for axis in axes)
    if 0 in view.shape or (view.offset + last + 1) * size > len(content):
        raise ValueError("a tensor is empty, or reaches beyond its storage")
    if not all(view.strides[axis] for axis in axes) or prod(view.shape) * size > len(content):
        raise ValueError("a tensor repeats its numbers")
    numbers = memoryview(content).cast("i" if size == 4 else "q")
    starts, inner = [view.offset], axes[-1:]
    for axis in axes[:-1]:
        steps = [step * view.strides[axis] for step in range(view.shape[axis])]
        starts = [start + step for start in starts for step in steps]
    step = view.strides[inner[0]] if inner else 1
    reach = (view.shape[inner[0]] - 1) * step + 1 if inner else 1
    parts = [numbers[start : start + reach : step].tobytes() for start in starts]
    return PlainTensor(dtype, view.shape, b"".join(parts))


def _read(file: BytesIO) -> Any:
    """Go through the instructions of one pickle.

    Raises
    ------
    ValueError
        At an instruction that plain tensors do not need, or a pickle that ends too soon.
    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        codes = list(pickletools.genops(file))
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"its pickle is damaged: {error}") from error
    try:
        for code, value, _ in codes:
            if code.name == "STOP":
                (result,) = stack
                return result
            _step(code.name, value, stack, memo)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its pickle is damaged: {error}") from error
    raise ValueError("its pickle ends too soon")


def _step(name: str, value: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    if name == "PROTO":
        pass
    elif name in ("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1"):
        stack.append(value)
    elif name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in ("EMPTY_DICT", "EMPTY_LIST"):
        stack.append({} if name == "EMPTY_DICT" else [])
    elif name in ("BINPUT", "LONG_BINPUT"):
        memo[value] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET"):
        stack.append(memo[value])
    elif name == "TUPLE":
        stack.append(tuple(_behind_mark(stack)))
    elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
        count = int(name[-1])
        stack[-count:] = [tuple(stack[-count:])]
    elif name in ("SETITEM", "SETITEMS"):
        items = _behind_mark(stack) if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
    elif name in ("APPEND", "APPENDS"):
        items = _behind_mark(stack) if name == "APPENDS" else [stack.pop()]
        stack[-1].extend(items)
    elif name == "GLOBAL":
        if value not in (_DICT, _TENSOR, *_STORAGES):
            raise ValueError(f"asks for {value!r}, which is not part of a plain tensor")
        stack.append(_Global(value))
    elif name == "BINPERSID":
        stack.append(_storage(stack.pop()))
    elif name == "REDUCE":
        arguments = stack.pop()
        stack.append(_made(stack.pop(), arguments))
    elif name == "BUILD":
        attributes = stack.pop()  # versions of the layers, which no number depends on
        if not isinstance(stack[-1], dict) or list(attributes) != ["_metadata"]:
            raise ValueError("sets attributes that a dict of tensors does not have")
    else:
        raise ValueError(f"has the instruction {name}, which no plain tensor needs")


_CONSTANTS = {
    "MARK": _MARK,
    "NONE": None,
    "NEWTRUE": True,
    "NEWFALSE": False,
    "EMPTY_TUPLE": (),
}


def _behind_mark(stack: list[Any]) -> list[Any]:
    place = len(stack) - 1
    while stack[place] is not _MARK:
        place -= 1
        if place < 0:
            raise ValueError("its pickle is damaged: a mark is missing")
    items = stack[place + 1 :]
    del stack[place:]
    return items


def _storage(described: Any) -> _Storage:
    word, kind, key, _, count, view = described
    if word != "storage" or not isinstance(kind, _Global) or kind.name not in _STORAGES:
        raise ValueError("has a storage of a kind that is not read")
    if not isinstance(key, str) or type(count) is not int or count < 0 or view is not None:
        raise ValueError("describes a storage in a way that is not read")
    return _Storage(kind.name, key, count)


def _made(function: Any, arguments: Any) -> Any:
    if function == _Global(_DICT) and arguments == ():
        return {}
    if function != _Global(_TENSOR):
        raise ValueError("calls something that makes no plain tensor")
    storage, offset, shape, strides, _, hooks = arguments
    sizes = (offset, *shape, *strides)
    if not isinstance(storage, _Storage) or hooks != {} or len(shape) != len(strides):
        raise ValueError("describes a tensor in a way that is not read")
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError("describes a tensor in a way that is not read")
    return _View(storage, offset, tuple(shape), tuple(strides))
