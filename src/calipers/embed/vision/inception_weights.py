"""Where the weights of FID's Inception-v3 are, and reading them without unpickling code.

They are one file of 91 MB that torch-fidelity publishes. It is looked for where
``CALIPERS_INCEPTION`` says, then where torch-fidelity itself keeps it; else it is downloaded from
where torch-fidelity would, unless nothing may be downloaded.
"""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

from calipers.embed.models.tensor_files import pickled_tensors
from calipers.errors import InputError
from calipers.files import at_home

VARIABLE = "CALIPERS_INCEPTION"


def find_weights(address: str, torch: Any, *, offline: bool) -> Path:
    """Find the file of the weights, or download it.

    Parameters
    ----------
    address
        Where it is published; the name ends with the beginning of its SHA-256.
    torch
        The torch package, whose folder for downloads is used.
    offline
        Whether nothing may be downloaded.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be downloaded.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = at_home(named)
        if not path.is_file():
            raise InputError(f"{path}: no such file; {VARIABLE} must name the weights of Inception")
        return path
    path = Path(torch.hub.get_dir()) / "checkpoints" / address.rpartition("/")[2]
    if path.is_file():
        return path
    if offline:
        raise InputError(
            f"the weights of the embedder 'inception' are not here: looked for {path}, and "
            f"{VARIABLE} names no file; nothing may be downloaded, so bring {address} there"
        )
    _download(address, path, torch)
    return path


def read_weights(path: Path, torch: Any) -> tuple[io.BytesIO, str]:
    """Read the weights so that nothing but tensors can come of the file.

    Returns
    -------
    tuple
        The tensors alone, as a file that torch can load, and the SHA-256 of the file.

    Raises
    ------
    InputError
        If the file cannot be read, or holds more than tensors.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    tensors = pickled_tensors(path, content)
    clean = io.BytesIO()
    torch.save(tensors, clean)
    clean.seek(0)
    return clean, hashlib.sha256(content).hexdigest()


def _download(address: str, path: Path, torch: Any) -> None:
    begins = path.stem.rpartition("-")[2]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(address, str(path), hash_prefix=begins, progress=False)
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"the weights of the embedder 'inception' cannot be downloaded from {address} "
            f"({error}); bring the file to {path}, or name it in {VARIABLE}"
        ) from error
