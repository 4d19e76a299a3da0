"""Models by name: from the cache, and from a small hub of our own on this machine."""

import contextlib
import hashlib
import http.server
import json
import re
import sys
import threading

import pytest

from calipers.embed.models import find as hub
from calipers.embed.models.find import find_model
from calipers.embed.options import Options
from calipers.errors import InputError

huggingface_hub = pytest.importorskip("huggingface_hub")
file_download = pytest.importorskip("huggingface_hub.file_download")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def safetensors(**tensors):
    """A safetensors file with zeros of float32, by shape."""
    header, end = {}, 0
    for name, shape in tensors.items():
        size = 4 * int.__mul__(*shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


PLAIN = {
    "config.json": b'{"model_type": "gpt2"}',
    "tokenizer.json": b"{}",
    "model.safetensors": safetensors(weight=(300, 400)),
    "README.md": b"of no use here",
}


class Hub:
    """Repositories by name, and what was asked for."""

    def __init__(self):
        self.repositories = {}
        self.refused = {}
        self.requests = []
        self.cut = {}

    def files(self, name):
        return self.repositories[name]


class Handler(http.server.BaseHTTPRequestHandler):
    """The few answers of the hub that a download needs."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        state = self.server.state
        state.requests.append((self.command, self.path, self.headers.get("Range")))
        api = re.fullmatch(
            r"/api/models/([\w.-]+(?:/[\w.-]+)?)(?:/revision/([\w.%-]+))?", self.path.split("?")[0]
        )
        tree = re.fullmatch(r"/api/models/(.+)/tree/(\w+)", self.path.split("?")[0])
        file = re.fullmatch(r"/(.+)/resolve/([\w.-]+)/(.+)", self.path)
        if tree:
            self.tree(tree[1])
        elif api:
            self.about(api[1], api[2])
        elif file:
            self.file(file[1], file[3])
        else:
            self.answer(404, b"{}")

    def about(self, name, revision):
        state = self.server.state
        if name in state.refused:
            status, code = state.refused[name]
            self.answer(status, b"{}", {"X-Error-Code": code} if code else {})
        elif name not in state.repositories:
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif revision not in (None, "main", COMMIT):
            self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        else:
            files = [{"rfilename": path} for path in state.files(name)]
            self.answer(200, json.dumps({"id": name, "sha": COMMIT, "siblings": files}).encode())

    def tree(self, name):
        found = [
            {"type": "file", "path": path, "size": len(content), "oid": oid(content)}
            for path, content in self.server.state.files(name).items()
        ]
        self.answer(200, json.dumps(found).encode())

    def file(self, name, path):
        state = self.server.state
        content = state.files(name).get(path)
        if content is None:
            self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        headers = {"ETag": f'"{oid(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        start = re.fullmatch(r"bytes=(\d+)-.*", self.headers.get("Range") or "")
        first = int(start[1]) if start else 0
        if start:
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        if self.command == "GET" and state.cut.get(path):
            state.cut[path] -= 1
            self.answer(200, content[first:], headers, stop=len(content[first:]) // 2)
            return
        self.answer(206 if start else 200, content[first:], headers)

    def answer(self, status, content, headers=(), stop=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[:stop])
        if stop is not None:
            self.close_connection = True


def oid(content):
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A hub on this machine, with an empty cache."""
    from huggingface_hub import constants

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.state = Hub()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setattr(constants, "ENDPOINT", address)
    files = address + "/{repo_id}/resolve/{revision}/{filename}"
    for module in (constants, file_download):  # versions keep it in either
        monkeypatch.setattr(module, "HUGGINGFACE_CO_URL_TEMPLATE", files, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield server.state
    server.shutdown()
    server.server_close()


def fetched(site):
    return sorted(
        path.partition("/resolve/")[2].partition("/")[2]
        for command, path, _ in site.requests
        if command == "GET" and "/resolve/" in path
    )


def test_a_name_is_downloaded_once(site):
    site.repositories["someone/small"] = PLAIN
    found = find_model("someone/small", Options())
    assert (found.name, found.revision) == ("someone/small", COMMIT[:12])
    assert found.config == {"model_type": "gpt2"}
    assert (found.folder / "model.safetensors").read_bytes() == PLAIN["model.safetensors"]
    assert fetched(site) == ["config.json", "model.safetensors", "tokenizer.json"]
    site.requests.clear()
    for options in (Options(), Options(offline=True), Options(revision=COMMIT[:12])):
        again = find_model("someone/small", options)
        assert (again.folder, again.revision) == (found.folder, found.revision)
    assert site.requests == []


def test_only_one_set_of_weights_is_fetched_and_no_code(site):
    site.repositories["someone/small"] = PLAIN | {
        "pytorch_model.bin": b"pickled",
        "consolidated.safetensors": b"the same again",
        "tf_model.h5": b"for others",
        "modeling.py": b"raise SystemExit",
        "onnx/model.safetensors": b"elsewhere",
    }
    find_model("someone/small", Options(allow_pickle=True))
    assert fetched(site) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_code_is_fetched_where_it_may_be_run(site):
    site.repositories["someone/small"] = PLAIN | {"modeling.py": b"pass"}
    find_model("someone/small", Options(trust_remote_code=True))
    assert "modeling.py" in fetched(site)


def test_divided_weights_are_fetched_whole(site):
    parts = {f"model-0000{i}-of-00002.safetensors": safetensors(a=(2, 3)) for i in (1, 2)}
    index = {"weight_map": {name: name for name in parts}}
    files = {name: PLAIN[name] for name in ("config.json", "tokenizer.json")}
    site.repositories["someone/large"] = (
        files | parts | {"model.safetensors.index.json": json.dumps(index).encode()}
    )
    folder = find_model("someone/large", Options()).folder
    assert sorted(path.name for path in folder.glob("*.safetensors")) == sorted(parts)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(InputError, match="1 of 2 files are missing, such as model-00002-of-00002"):
        find_model("someone/large", Options(offline=True))
    assert find_model("someone/large", Options()).folder == folder  # fetches what was missing


def test_sentence_transformers_come_with_their_modules(site):
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_N": "Normalize"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds.items())
    ]
    site.repositories["someone/sentences"] = PLAIN | {
        "modules.json": json.dumps(modules).encode(),
        "1_Pooling/config.json": b'{"pooling_mode": "cls"}',
        "2_Dense/config.json": b'{"bias": false}',
        "2_Dense/model.safetensors": safetensors(weight=(2, 2)),
        "2_Dense/pytorch_model.bin": b"pickled",
        "9_Other/config.json": b"{}",
    }
    find_model("someone/sentences", Options())
    assert set(fetched(site)) == {
        *("config.json", "model.safetensors", "tokenizer.json", "modules.json"),
        *("1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors"),
    }
    site.requests.clear()
    find_model("someone/sentences", Options())
    assert site.requests == []


def test_short_names_of_sentence_transformers_are_known(site):
    site.repositories["sentence-transformers/tiny-L2"] = PLAIN
    assert find_model("tiny-L2", Options()).name == "sentence-transformers/tiny-L2"
    site.requests.clear()
    assert find_model("tiny-L2", Options(offline=True)).name == "sentence-transformers/tiny-L2"
    assert site.requests == []


def test_offline_asks_for_nothing_and_says_where_it_looked(site, tmp_path, monkeypatch):
    site.repositories["someone/small"] = PLAIN
    with pytest.raises(InputError) as error:
        find_model("someone/small", Options(offline=True))
    for words in ("nothing may be downloaded", str(tmp_path / "hub"), "/someone/small, and"):
        assert words in str(error.value)
    assert "leave out --offline" in str(error.value)
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="unset HF_HUB_OFFLINE, or fetch it first with: hf down"):
        find_model("someone/small", Options())
    assert site.requests == []


def test_offline_names_what_the_cache_lacks(site):
    site.repositories["someone/small"] = PLAIN
    folder = find_model("someone/small", Options()).folder
    site.requests.clear()
    with pytest.raises(InputError, match=r"with the revision 'v2' \(there are: main, 0123456789ab"):
        find_model("someone/small", Options(offline=True, revision="v2"))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"cannot be used: .*holds a gpt2 model, but no tokenizer"):
        find_model("someone/small", Options(offline=True))
    assert site.requests == []


def test_a_cut_connection_is_taken_up_where_it_broke(site, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1 << 16)
    site.repositories["someone/small"] = PLAIN
    site.cut["model.safetensors"] = 1
    with contextlib.suppress(InputError):  # older versions leave it to the next call
        find_model("someone/small", Options())
    found = find_model("someone/small", Options())
    assert (found.folder / "model.safetensors").read_bytes() == PLAIN["model.safetensors"]
    ranges = [found for _, path, found in site.requests if "model.safetensors" in path and found]
    whole_blocks = len(PLAIN["model.safetensors"]) // 2 >> 16 << 16
    assert ranges == [f"bytes={whole_blocks}-"]


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        ((404, "RepoNotFound"), "no model 'x/y': there is no folder /.*, and no public model"),
        ((401, "RepoNotFound"), "no model 'x/y': .*for a private one, log in with: hf auth login"),
        ((403, "GatedRepo"), "accept its terms at http.*/x/y; do that, then log in"),
        ((401, "GatedRepo"), "accept its terms at http.*/x/y; do that, then log in"),
        ((401, None), r"refuses access \(401\)|no public model of that name"),
        ((403, None), r"refuses access \(403\): check the token"),
        ((500, None), "answers with error 500; try again later"),
    ],
)
def test_refusals_are_explained(refusal, message, site, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    site.refused["x/y"] = refusal
    with pytest.raises(InputError, match=message):
        find_model("x/y", Options())


def test_a_revision_that_is_not_there_is_named(site):
    site.repositories["someone/small"] = PLAIN
    with pytest.raises(InputError, match=r"no revision \(branch, tag or commit\) 'v9'"):
        find_model("someone/small", Options(revision="v9"))


def test_pickled_weights_are_not_even_fetched(site):
    files = {name: PLAIN[name] for name in ("config.json", "tokenizer.json")}
    site.repositories["someone/old"] = files | {"pytorch_model.bin": b"pickled"}
    with pytest.raises(InputError, match=r"only pickled ones \(pytorch_model.bin\): .*--allow-pic"):
        find_model("someone/old", Options())
    assert fetched(site) == []
    find_model("someone/old", Options(allow_pickle=True))
    assert "pytorch_model.bin" in fetched(site)


def test_a_repository_without_weights_says_what_it_has(site):
    site.repositories["someone/data"] = {"train.csv": b"", "config.json": b"{}"}
    with pytest.raises(InputError, match=r"no weights .*it has: config\.json, train\.csv"):
        find_model("someone/data", Options())


def test_what_came_damaged_is_not_used(site):
    site.repositories["someone/bad"] = PLAIN | {
        "model.safetensors": PLAIN["model.safetensors"][:-9]
    }
    with pytest.raises(
        InputError, match=r"was downloaded and cannot be used: .*must have .* bytes"
    ):
        find_model("someone/bad", Options())


def test_no_network_is_said_with_what_helps(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError) as error:
        find_model("someone/small", Options())
    for words in ("cannot be reached", str(tmp_path), "'minilm' or 'tfidf'"):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./nowhere", r"\./nowhere: there is no such folder \(/.*nowhere\); give the folder"),
        ("/no/where", "/no/where: there is no such folder"),
        ("a/b/c", "a/b/c: there is no such folder"),
        ("two words", "can be neither a folder here nor a name on the hub"),
        ("x/..", "neither a folder here nor a name"),
        ("gpt2@v1", "neither a folder here nor a name"),
        ("a" * 97, "neither a folder here nor a name"),
    ],
)
def test_what_can_be_no_model_is_not_looked_for(name, message, site):
    with pytest.raises(InputError, match=message):
        find_model(name, Options())
    assert site.requests == []


@pytest.mark.parametrize("revision", ["..", "../x", "a//b", "with space", ""])
def test_what_can_be_no_revision_is_not_looked_for(revision, site):
    with pytest.raises(InputError, match="revision must be a branch, a tag or a commit"):
        find_model("someone/small", Options(revision=revision))
    assert site.requests == []


def test_bars_are_shown_on_a_terminal_only(site, capfd, monkeypatch):
    site.repositories["someone/small"] = PLAIN
    find_model("someone/small", Options())
    assert capfd.readouterr() == ("", "")
    assert not huggingface_hub.utils.are_progress_bars_disabled()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with hub._bars(huggingface_hub):
        assert not huggingface_hub.utils.are_progress_bars_disabled()


def test_digits_that_several_commits_begin_with_name_none(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    kept = tmp_path / "models--someone--small" / "snapshots"
    for commit in ("a" * 12 + "0" * 28, "a" * 12 + "1" * 28, "b" * 40):
        (kept / commit).mkdir(parents=True)
    assert hub._cached(huggingface_hub, "someone/small", "b" * 12) == kept / ("b" * 40)
    assert hub._cached(huggingface_hub, "someone/small", "a" * 12) is None
    assert hub._cached(huggingface_hub, "someone/small", "a" * 12 + "0").name.endswith("0")
