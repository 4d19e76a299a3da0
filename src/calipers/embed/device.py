"""Where a model runs and in which precision, from what a person asked and what is there."""

from __future__ import annotations

import re
from typing import Any

from calipers.errors import InputError, unknown_name

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32")
_CPU_BF16 = ("avx512_bf16", "amx_bf16", "bf16")


def check_device(device: str) -> None:
    """Refuse a device that has no meaning, without importing torch.

    Raises
    ------
    InputError
        If `device` is not one of `DEVICES` and not a numbered CUDA device such as ``"cuda:1"``.
    """
    if device not in DEVICES and not re.fullmatch(r"cuda:\d+", device):
        raise unknown_name("device", device, DEVICES)


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
    """Return ``"float32"``, or for ``"auto"`` what the hardware computes fastest.

    That is ``"bfloat16"`` where the hardware has it, and ``"float16"`` on CUDA devices of the
    generation before, 7.0 to 7.5.
    """
    if dtype != "auto":
        return "float32"
    if device.startswith("cuda") and (7,) <= torch.cuda.get_device_capability(device) < (8,):
        return "float16"
    return "bfloat16" if _computes_in_bfloat16(device, torch) else "float32"


def token_budget(device: str, torch: Any) -> int:
    """How many tokens a forward pass takes: few enough for a CPU's caches, many for a GPU."""
    if device != "cpu":
        return 32_768
    return int(min(16_384, max(2_048, 1_024 * torch.get_num_threads())))


def _computes_in_bfloat16(device: str, torch: Any) -> bool:
    if device.startswith("cuda"):
        return bool(torch.cuda.get_device_capability(device)[0] >= 8)
    if device != "cpu":
        return False
    if hasattr(torch.cpu, "get_capabilities"):
        found = torch.cpu.get_capabilities()
        return any(found.get(name) for name in _CPU_BF16)
    # Earlier versions of torch answer by private functions, which differ between them
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name)() for name in names if hasattr(torch.cpu, name))
