"""Errors and progress: the wording that all share, and the progress that shows nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from calipers.errors import CalipersError, InputError, MissingExtraError, require, unknown_name
from calipers.progress import Progress, Silent

# The wording that all errors share.


def test_a_person_can_catch_all_errors_as_one_or_as_pythons_own() -> None:
    assert issubclass(InputError, CalipersError)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingExtraError, CalipersError)
    assert issubclass(MissingExtraError, ImportError)


def test_a_name_of_two_tables_is_suggested_once() -> None:
    told = str(unknown_name("key", "--save", ["mauve", "closeness", "mauve"]))
    assert told.endswith("did you mean 'mauve'?")


def test_require_gives_the_module() -> None:
    assert require("json", extra="text", purpose="the test").dumps([1]) == "[1]"


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part"])
def test_require_names_the_pip_command(module: str) -> None:
    with pytest.raises(MissingExtraError) as caught:
        require(module, extra="text", purpose="the embedder 'minilm'")
    assert str(caught.value) == (
        f"the embedder 'minilm' needs the package '{module}', which is not installed. "
        "Install it with: pip install 'calipers[text]'"
    )


def test_require_lets_a_fault_inside_the_package_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as caught:
        require("half_installed", extra="text", purpose="the test")
    assert not isinstance(caught.value, MissingExtraError)
    assert "half_installed" not in sys.modules


def test_a_torchvision_of_another_torch_is_named_and_not_what_transformers_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a torchvision with CUDA beside a torch without, which breaks every model."""
    for name, code in {
        "torch": "",
        "torchvision": "raise RuntimeError('operator torchvision::nms does not exist\\nmore')",
        "transformers": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setitem(sys.modules, name, None)  # so that the stand-in is gone afterwards
        del sys.modules[name]
        about = tmp_path / f"{name}-0.28.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.28.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError) as caught:
        require("transformers", extra="models", purpose="the model 'gpt2'")
    assert str(caught.value) == (
        "the model 'gpt2' cannot be loaded: torchvision 0.28.0 and torch 0.28.0 do not fit "
        "together (operator torchvision::nms does not exist). Calipers needs no torchvision: pip "
        "uninstall torchvision; or install the torchvision of this torch, from the same index"
    )
    (tmp_path / "torchvision.py").write_text("fits = True")
    assert require("transformers", extra="models", purpose="the model 'gpt2'").__file__ == str(
        tmp_path / "transformers.py"
    )


def test_a_misspelt_name_gets_the_nearest_ones() -> None:
    error = unknown_name("metric", "precison", ["recall", "precision", "mauve"])
    assert isinstance(error, InputError)
    assert str(error) == "unknown metric 'precison'; did you mean 'precision'?"


def test_several_near_names_are_offered() -> None:
    message = str(unknown_name("metric", "mauve_sta", ["mauve", "mauve_star", "recall"]))
    assert message == "unknown metric 'mauve_sta'; did you mean 'mauve_star' or 'mauve'?"


def test_a_name_far_from_all_gets_the_whole_list() -> None:
    message = str(unknown_name("embedder", "xyz", iter(["precomputed", "minilm"])))
    assert message == "unknown embedder 'xyz'; known: minilm, precomputed"


# The progress that shows nothing.


def test_silent_takes_any_task_and_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    progress: Progress = Silent()
    with progress.task("embedding human", total=None) as advance:
        advance(3)
        with progress.task("neighbours", total=10) as inner:
            inner(10)
    assert capsys.readouterr() == ("", "")


def test_silent_lets_an_error_through() -> None:
    with pytest.raises(KeyError, match="row"), Silent().task("embedding", total=1):
        raise KeyError("row")
