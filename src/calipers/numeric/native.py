"""Interface to the compiled kernels: arguments are checked, then C runs without the GIL.

The kernels are C functions in ``native/``, compiled when the package is installed, once for each
instruction set; the best that the processor has is loaded. A module declares the kernels that it
calls, as :func:`kernel` says, and calls them like functions.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from calipers.errors import MissingKernelsError

VARIABLE = "CALIPERS_ISA"
"""Names an instruction set to use in place of the best one."""

FOLDER = Path(__file__).parents[1] / "_kernels"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

DTYPES = {
    "f4": np.dtype(np.float32),
    "f8": np.dtype(np.float64),
    "i1": np.dtype(np.int8),
    "i4": np.dtype(np.int32),
    "i8": np.dtype(np.int64),
    "u1": np.dtype(np.uint8),
    "u4": np.dtype(np.uint32),
    "u8": np.dtype(np.uint64),
    "b1": np.dtype(np.bool_),
}
Array = np.ndarray[Any, Any]

REALS = (DTYPES["f4"], DTYPES["f8"])
"""What an array of kind ``reals`` may hold: C asks for its type."""

SCALARS: dict[str, Any] = {
    "int": ctypes.c_int64,
    "float": ctypes.c_double,
    "single": ctypes.c_float,
    "bool": ctypes.c_bool,
    "word": ctypes.c_uint64,
}

READ: dict[str, Callable[[Any], Any]] = {
    "int": index,
    "float": float,
    "single": float,
    "bool": bool,
    "word": index,
}


class Reals(ctypes.Structure):
    """A float32 or float64 array, as an argument of C."""

    _fields_ = (("data", ctypes.c_void_p), ("wide", ctypes.c_int64))


_PARAMETER = re.compile(r"(\w+) (\w+)(?:\[(\w+(?:, \w+)*)\])?((?: out| optional)*)")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes
    ----------
    name
        Its name, for errors.
    kind
        A key of :data:`DTYPES` or :data:`SCALARS`, ``reals``, or the name of a structure.
    sizes
        Of an array, each a name or a number; None of a scalar or structure.
    written
        Whether the kernel writes to it.
    optional
        Whether None may stand in its place.
    record
        The structure, where the kind is one.
    """

    name: str
    kind: str
    sizes: tuple[str, ...] | None
    written: bool = False
    optional: bool = False
    record: Record | None = None

    @classmethod
    def of(cls, text: str) -> Parameter:
        """Parse ``name kind``, ``name kind[sizes]``, and a following ``out`` or ``optional``."""
        matched = _PARAMETER.fullmatch(text)
        name, kind, inside, marks = matched.groups() if matched else ("", "", None, "")
        record = _RECORDS.get(kind)
        array = kind in DTYPES or kind == "reals"
        if array != (inside is not None) or not (array or record or kind in SCALARS):
            raise ValueError(f"a parameter of a kernel cannot be read: {text!r}")
        sizes = tuple(inside.split(", ")) if inside is not None else None
        words = marks.split()
        return cls(name, kind, sizes, "out" in words, "optional" in words, record)


@dataclass(frozen=True)
class Record:
    """A structure passed to kernels by address: its fields, then its sizes.

    Attributes
    ----------
    name
        What C calls it.
    fields
        What it holds.
    sizes
        Names of its sizes, in the order in which they first come up.
    structure
        The same for ctypes.
    """

    name: str
    fields: tuple[Parameter, ...]
    sizes: tuple[str, ...]
    structure: type[ctypes.Structure]


_RECORDS: dict[str, Record] = {}
DECLARED: list[Kernel] = []
"""All kernels whose modules are loaded, so that a test can hold them against the C source."""


def record(name: str, *fields: str) -> Record:
    """Declare a structure, with fields as in :func:`kernel`.

    What stands for it in a call is any object that has these fields as attributes. Its sizes are
    its own: the same name in another parameter is another size.
    """
    parameters = tuple(map(Parameter.of, fields))
    sizes = _sizes(parameters)
    members = [(one.name, _ctype(one)) for one in parameters]
    members += [(f"size_{size}", ctypes.c_int64) for size in sizes]
    structure = type(name, (ctypes.Structure,), {"_fields_": members})
    made = _RECORDS[name] = Record(name, parameters, sizes, structure)
    return made


def kernel(name: str, *parameters: str, returns: str | None = None) -> Kernel:
    """Declare a kernel: a C function and its parameters.

    Parameters
    ----------
    name
        The function's name in C.
    *parameters
        Each ``name kind``: an array as ``points f8[n, d]``, of float32 or float64 as
        ``points reals[n, d]`` (C gets ``const reals *``), a number as ``k int`` (``float``,
        ``single``, ``bool``, ``word``), or the name of a structure (:func:`record`). ``out`` after
        it: the kernel writes there. ``optional``: may be None, which C sees as NULL. A size is a
        name, the same throughout a call, or a number.
    returns
        A key of :data:`SCALARS`; None for nothing.

    Returns
    -------
    Kernel
        Call it with the arguments in this order. C gets them, and then all named sizes of arrays.
    """
    made = Kernel(name, tuple(map(Parameter.of, parameters)), returns)
    DECLARED.append(made)
    return made


@dataclass(frozen=True)
class Kernel:
    """A compiled function with its parameters.

    Attributes
    ----------
    name
        Its name in C.
    parameters
        What it takes.
    returns
        What it gives.
    sizes
        Names of the sizes behind the arguments, in the order in which they first come up.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: str | None
    sizes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", _sizes(self.parameters))

    def __call__(self, *arguments: Any) -> Any:
        """Check the arguments, and run.

        Raises
        ------
        TypeError
            If an argument is not of its kind or dtype, or one is missing.
        ValueError
            If an array has another shape, or one that the kernel writes to is not C-contiguous or
            cannot be written to. One that it only reads is copied where it is not contiguous.
        """
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments: {len(arguments)}")
        sizes: dict[str, int] = {}
        copies: list[Array] = []  # live until the function returns
        passed = [
            _passed(self.name, parameter, value, sizes, copies)
            for parameter, value in zip(self.parameters, arguments, strict=True)
        ]
        return self.function(*passed, *[sizes.get(name, 0) for name in self.sizes])

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The C function itself, which checks nothing."""
        function = getattr(_loaded()[1], self.name)
        function.argtypes = [_ctype(one) for one in self.parameters]
        function.argtypes += [ctypes.c_int64] * len(self.sizes)
        function.restype = SCALARS[self.returns] if self.returns else None
        return function  # type: ignore[no-any-return]


def _sizes(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    names = [size for one in parameters for size in one.sizes or () if not size.isdecimal()]
    return tuple(dict.fromkeys(names))


def _ctype(parameter: Parameter) -> Any:
    if parameter.kind == "reals":
        return ctypes.POINTER(Reals)
    if parameter.record is not None:
        return ctypes.POINTER(parameter.record.structure)
    return SCALARS.get(parameter.kind, ctypes.c_void_p)


def _passed(
    kernel: str, parameter: Parameter, value: Any, sizes: dict[str, int], copies: list[Array]
) -> Any:
    """What C gets for an argument."""
    if parameter.sizes is None:
        if parameter.record is None:
            return _number(kernel, parameter, value)
        return ctypes.pointer(_structure(kernel, parameter, value, copies))
    if value is None and parameter.optional:
        return None  # sizes that nothing else has are 0
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{kernel}: {parameter.name} is not an array but {type(value).__name__}")
    dtype, shape = value.dtype, value.shape
    if dtype not in REALS if parameter.kind == "reals" else dtype != DTYPES[parameter.kind]:
        raise TypeError(f"{kernel}: {parameter.name} is to be {parameter.kind}, not {dtype}")
    flags = value.flags
    if parameter.written and not flags.writeable:
        raise ValueError(f"{kernel}: {parameter.name} cannot be written to")
    if not flags.c_contiguous or not flags.aligned:
        if parameter.written:
            raise ValueError(f"{kernel}: {parameter.name} is not C-contiguous")
        # As a person gave it: columns first, or a view
        value = np.require(value, requirements=("C", "A"))
        copies.append(value)
    if len(shape) != len(parameter.sizes):
        raise ValueError(
            f"{kernel}: {parameter.name} has {len(parameter.sizes)} axes, not the shape {shape}"
        )
    for size, name in zip(shape, parameter.sizes, strict=True):
        if size != (int(name) if name.isdecimal() else sizes.setdefault(name, size)):
            expected = ", ".join(str(sizes.get(one, one)) for one in parameter.sizes)
            raise ValueError(f"{kernel}: {parameter.name} has the shape {shape}, not ({expected})")
    if parameter.kind == "reals":
        return ctypes.pointer(Reals(value.ctypes.data, dtype.itemsize == 8))
    return value.ctypes.data


def _number(kernel: str, parameter: Parameter, value: Any) -> Any:
    try:
        return READ[parameter.kind](value)
    except TypeError as error:
        raise TypeError(f"{kernel}: {parameter.name} is to be {parameter.kind}: {error}") from None


def _structure(
    kernel: str, parameter: Parameter, value: Any, copies: list[Array]
) -> ctypes.Structure:
    declared = parameter.record
    assert declared is not None
    sizes: dict[str, int] = {}
    members = [
        _passed(f"{kernel}: {parameter.name}", one, getattr(value, one.name), sizes, copies)
        for one in declared.fields
    ]
    return declared.structure(*members, *[sizes.get(name, 0) for name in declared.sizes])


def instruction_set() -> str:
    """Return the name of the instruction set of the loaded kernels.

    ``x86-64``, ``avx2``, ``avx512``, ``avx512vnni`` or ``neon``.
    """
    return _loaded()[0]


def available_sets() -> tuple[str, ...]:
    """List the compiled instruction sets that this processor supports, the best one last."""
    names = ("x86-64", "avx2", "avx512", "avx512vnni")
    if _library_of("neon").exists():
        return ("neon",)
    if not _library_of(names[0]).exists():
        raise _missing(f"are missing from {FOLDER}")
    best = _opened(names[0]).best_instruction_set
    best.restype = ctypes.c_int64
    return tuple(name for name in names[: best() + 1] if _library_of(name).exists())


def _library_of(name: str) -> Path:
    return FOLDER / f"kernels-{name}{SUFFIX}"


def _opened(name: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(_library_of(name)))
    except OSError as error:  # damaged, or of another system
        raise _missing(f"cannot be loaded: {error}") from None


def _missing(why: str) -> MissingKernelsError:
    return MissingKernelsError(
        f"the compiled kernels {why}; install the package, with pip install . (or -e .), or in a "
        "checkout run python native/build.py"
    )


@cache
def _loaded() -> tuple[str, ctypes.CDLL]:
    """The instruction set and the library, loaded when the first kernel runs.

    Raises
    ------
    MissingKernelsError
        If there is no library that can be loaded, or :data:`VARIABLE` names one that this
        processor cannot run.
    """
    sets = available_sets()
    name = os.environ.get(VARIABLE) or sets[-1]
    if name not in sets:
        raise MissingKernelsError(f"{VARIABLE}={name}: this machine can run {', '.join(sets)}")
    return name, _opened(name)
