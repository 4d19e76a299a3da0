"""The options of embedders, given by keyword or in one line with the name.

The line, ``NAME[:option=value…]``, lets a list of embedders be written down:
``./gpt2:layer=6:pooling=mean``. Which options an embedder takes, its module says (``TAKES``). What
``device`` and ``dtype`` come to on this machine is decided here too.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from calipers.errors import InputError, check_unicode, unknown_name

POOLINGS = ("last", "mean", "cls", "max")
"""How the states of a text's tokens become one vector."""

FOR_ALL = frozenset({"device", "dtype", "batch_size", "offline"})
"""Options that every embedder accepts; they change no vector, or only its rounding."""


@dataclass(frozen=True, kw_only=True)
class EmbedderOptions:
    """The options of an embedder; None leaves one to the embedder.

    Attributes
    ----------
    device, dtype, batch_size
        Where it runs, ``"float32"`` or ``"auto"``, most samples in one forward pass.
    pooling
        ``"last"`` token, ``"mean"`` over tokens, ``"cls"`` (the first token), ``"max"``.
    layer
        Whose states the main view takes, 1 to the model's layers.
    max_length
        Most tokens that are read of a text.
    prefix
        Put before every text, such as ``"query: "``.
    revision
        Branch, tag or commit of a model on the hub.
    size
        Side in pixels to which images are resized, or dimension of vectors where it can be chosen.
    endpoint
        Address of an embeddings service, such as ``"http://localhost:8000/v1"``.
    offline
        Whether nothing may be downloaded.
    trust_remote_code
        Whether code that comes with a model may be run.
    allow_pickle
        Whether weights may be read from pickled files.
    """

    device: str = "auto"
    dtype: str = "float32"
    batch_size: int | None = None
    pooling: str | None = None
    layer: int | None = None
    max_length: int | None = None
    prefix: str | None = None
    revision: str | None = None
    size: int | None = None
    endpoint: str | None = None
    offline: bool = False
    trust_remote_code: bool = False
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        """Refuse values that no embedder could take."""
        check_device(self.device)
        if self.dtype not in DTYPES:
            raise unknown_name("dtype", self.dtype, DTYPES)
        if self.pooling is not None and self.pooling not in POOLINGS:
            raise unknown_name("pooling", str(self.pooling), POOLINGS)
        for name in _WHOLE:
            check_positive(name, getattr(self, name))
        check_unicode("prefix", self.prefix or "")

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the options that differ from their defaults."""
        usual = EmbedderOptions.__dataclass_fields__
        return tuple(name for name in usual if getattr(self, name) != usual[name].default)

    def check_taken(self, embedder: str, takes: Collection[str]) -> None:
        """Refuse an option that would have no effect.

        Raises
        ------
        InputError
            If an option was chosen that the embedder does not take.
        """
        idle = [name for name in self.chosen if name not in takes and name not in FOR_ALL]
        if idle:
            known = f"it takes: {', '.join(sorted(takes))}" if takes else "it takes no options"
            raise InputError(
                f"the embedder {embedder!r} does not take the option {idle[0]!r}; {known}"
            )


_WHOLE = ("batch_size", "layer", "max_length", "size")
_IN_LINE = (*_WHOLE, "pooling", "prefix", "revision", "dtype", "device")
_OPTION = re.compile(r":([a-z_-]+)=([^:]*)$")


def read_line(line: str, options: EmbedderOptions) -> tuple[str, EmbedderOptions]:
    """Split ``NAME[:option=value…]`` into the name and the options, added to those given.

    Raises
    ------
    InputError
        If an option is unknown, given twice, or its value cannot be.

    Examples
    --------
    >>> name, options = read_line("./gpt2:layer=6:pooling=mean", EmbedderOptions())
    >>> name, options.layer, options.pooling
    ('./gpt2', 6, 'mean')
    """
    name, chosen = line, dict[str, Any]()
    while option := _OPTION.search(name):
        key, value = option[1].replace("-", "_"), option[2]
        if key not in _IN_LINE:
            raise unknown_name("option of an embedder", option[1], _IN_LINE)
        if key in chosen:
            raise InputError(f"the option {option[1]!r} stands twice in the embedder {line!r}")
        if key in _WHOLE and not re.fullmatch(r"[0-9]{1,9}", value):
            raise InputError(f"{key} must be a whole number of at least 1; found {value!r}")
        chosen[key] = int(value) if key in _WHOLE else value
        name = name[: option.start()]
    if not name:
        raise InputError(f"an embedder needs a name; found {line!r}")
    return name, replace(options, **chosen)


def check_positive(name: str, value: object) -> None:
    """Refuse values other than None and whole numbers of at least 1."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1; found {value!r}")


DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32")
_CPU_BF16 = ("avx512_bf16", "amx_bf16", "bf16")


def check_device(device: str) -> None:
    """Refuse an unknown device, without importing torch.

    Raises
    ------
    InputError
        If `device` is not one of `DEVICES` and not a numbered CUDA device such as ``"cuda:1"``.
    """
    if device not in DEVICES and not re.fullmatch(r"cuda:\d+", device):
        raise unknown_name("device", device, DEVICES)


def may_compute_on_gpu(device: str) -> bool:
    """Whether torch could choose another device than the CPU, without importing it.

    Without torch, or without the driver of a GPU, ``"auto"`` is the CPU.
    """
    if device != "auto":
        return device != "cpu"
    if importlib.util.find_spec("torch") is None:
        return False
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if os.path.exists("/dev/kfd"):  # AMD
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def choose_device(device: str, torch: Any) -> str:
    """Return the torch device to use: ``"auto"`` takes CUDA, then MPS, then the CPU.

    Raises
    ------
    InputError
        If the device that was asked for is not on this machine.
    """
    check_device(device)
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next((kind for kind, available in there.items() if available), "cpu")
    kind, _, number = device.partition(":")
    if not there.get(kind, True):
        raise InputError(
            f"device {device!r} was asked for, but torch {torch.__version__} finds no {kind} "
            "device; use 'auto' or 'cpu'"
        )
    if number and int(number) >= torch.cuda.device_count():
        raise InputError(
            f"device {device!r} was asked for, but the CUDA devices here are numbered "
            f"0 to {torch.cuda.device_count() - 1}"
        )
    return device


def choose_dtype(dtype: str, device: str, torch: Any) -> str:
    """Return ``"float32"``, or for ``"auto"`` the type that the hardware computes fastest.

    That is ``"bfloat16"`` where the hardware has it, and ``"float16"`` on CUDA devices of the
    generation before, 7.0 to 7.5.
    """
    if dtype != "auto":
        return "float32"
    if device.startswith("cuda") and (7,) <= torch.cuda.get_device_capability(device) < (8,):
        return "float16"
    return "bfloat16" if _computes_in_bfloat16(device, torch) else "float32"


MOST_TOKENS, FEWEST_TOKENS = 32_768, 1_024
"""Of a forward pass on a GPU: more bring no speed, and fewer are left to halving."""

BYTES_OF_A_TOKEN = 2**18
"""What a token takes at most in a layer of a model of usual width, in float32."""


def token_budget(device: str, torch: Any) -> int:
    """Return the number of tokens per forward pass: few for a CPU's caches, many for a GPU.

    On a GPU as many as half of its free memory holds, since what does not fit is halved.
    """
    if device.startswith("cuda"):
        fitting = int(torch.cuda.mem_get_info(device)[0]) // (2 * BYTES_OF_A_TOKEN)
        return min(MOST_TOKENS, max(FEWEST_TOKENS, fitting))
    if device != "cpu":
        return MOST_TOKENS
    return int(min(16_384, max(2_048, 1_024 * torch.get_num_threads())))


def _computes_in_bfloat16(device: str, torch: Any) -> bool:
    if device.startswith("cuda"):
        return bool(torch.cuda.get_device_capability(device)[0] >= 8)
    if device != "cpu":
        return False
    if hasattr(torch.cpu, "get_capabilities"):
        capabilities = torch.cpu.get_capabilities()
        return any(capabilities.get(name) for name in _CPU_BF16)
    # Earlier versions of torch answer by private functions, which differ between them
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name)() for name in names if hasattr(torch.cpu, name))
