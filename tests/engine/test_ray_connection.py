"""Clusters that are not there, or not as they must be, are refused in a sentence, and at once."""

import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from calipers import compare
from calipers.cli import app
from calipers.engine import ray_start
from calipers.engine.ray_cluster import NodeReport, check_nodes, own_versions, ray_cluster
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError, MissingExtraError
from extras import need


@pytest.fixture
def ray():
    return need("ray")


@pytest.fixture(autouse=True)
def no_cluster(ray, monkeypatch):
    """A machine that belongs to no cluster, whatever else runs on it."""
    assert not ray.is_initialized()
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_start, "REACHED", 0.2)
    start = ray.init

    def init(**options):
        if options["address"] == "auto":
            raise ConnectionError(
                "Could not find any running Ray instance. Please specify the one to connect to by "
                "setting `--address` flag or `RAY_ADDRESS` environment variable."
            )
        return start(**options)

    monkeypatch.setattr(ray, "init", init)


@pytest.fixture
def rows(tmp_path, rng):
    """Two files of vectors."""
    places = [tmp_path / f"{name}.npy" for name in ("human", "model")]
    for place in places:
        np.save(place, rng.standard_normal((60, 3)).astype(np.float32))
    return places


def refusal(address, tmp_path):
    """What is said of an address; nothing is left of the attempt."""
    work = tmp_path / "work"
    with pytest.raises(InputError) as told, ray_cluster(address, WorkFolder(str(work))):
        pass
    assert not sys.modules["ray"].is_initialized()
    assert not work.exists()
    return str(told.value)


ADVICE = (
    "; start one with 'ray start --head', name its address with `address`, "
    "or leave the address out for workers on this machine"
)


@pytest.mark.parametrize("address", ["ray://127.0.0.1:1", "127.0.0.1:1"])
def test_an_address_at_which_nothing_listens(address, tmp_path):
    told = refusal(address, tmp_path)
    assert told.startswith(f"no Ray cluster can be used at {address!r}: nothing answers there (")
    assert told.endswith(ADVICE)


def test_an_address_that_does_not_answer(tmp_path):
    """As where a firewall drops what is sent there."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = f"127.0.0.1:{full.getsockname()[1]}"
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        try:
            told = refusal(address, tmp_path)
        finally:
            for one in waiting:
                one.close()
    assert "nothing answers there (timed out)" in told


@pytest.mark.parametrize(
    ("address", "reason"),
    [("ray://host:many", "Port could not be cast to integer"), ("ray://host:99999", "Port out of")],
)
def test_an_address_that_is_none(address, reason, tmp_path):
    assert f"at {address!r}: {reason}" in refusal(address, tmp_path)


def test_no_cluster_on_this_machine(tmp_path):
    told = refusal("auto", tmp_path)
    assert told.startswith("no Ray cluster can be used at 'auto': Could not find any running Ray")
    assert told.endswith(ADVICE)


def test_the_address_in_the_environment_is_tried_too(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert "at 'auto': nothing answers there" in refusal("auto", tmp_path)


def test_a_client_needs_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(MissingExtraError, match=r"'grpc'.* pip install 'calipers\[ray\]'"),
            ray_cluster(address, WorkFolder(str(tmp_path / "work"))),
        ):
            pass


def test_ray_is_an_extra(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"'ray' .*'calipers\[ray\]'"):
        compare(*rows, engine="ray")


@pytest.mark.slow
def test_a_store_that_is_too_small(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_start, "STORE", 10)
    told = refusal(None, tmp_path)
    assert told.startswith("Ray cannot start workers on this machine: Attempting to cap object")
    assert not list(tmp_path.iterdir())


def test_folders_of_killed_runs_are_removed_and_those_of_others_stay(tmp_path):
    killed = tmp_path / "calipers-ray-killed"
    (killed / "session" / "logs").mkdir(parents=True)
    (killed / "session_latest").symlink_to(killed / "session")
    (killed / "held").touch()
    with ray_start._temporary_folder(tmp_path) as first:
        assert not killed.exists()
        with ray_start._temporary_folder(tmp_path) as second:
            assert {str(path) for path in tmp_path.iterdir()} == {first, second}
    assert not list(tmp_path.iterdir())


def test_a_folder_that_still_changes_is_left_to_the_next_run(tmp_path, monkeypatch):
    """As by processes of a killed run that write their last lines."""
    monkeypatch.setattr(ray_start, "ENDS", 2)
    killed, remove = tmp_path / "calipers-ray-killed", ray_start.shutil.rmtree
    (killed / "session").mkdir(parents=True)
    (killed / "held").touch()
    monkeypatch.setattr(ray_start.shutil, "rmtree", lambda *given, **options: None)
    with ray_start._temporary_folder(tmp_path):
        assert (killed / "held").exists()
        monkeypatch.setattr(ray_start.shutil, "rmtree", remove)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there Ray chooses")
def test_sockets_lie_where_their_paths_are_short_enough(monkeypatch):
    for place, expected in (("/tmp", "/tmp"), ("/tmp/" + 40 * "x", "/tmp")):
        monkeypatch.setattr(ray_start.tempfile, "tempdir", place)
        assert ray_start._short_folder() == Path(expected)
    session = "session_2026-11-24_12-48-48_241431_4194304/sockets/plasma_store"
    longest = f"/{(ray_start.LONGEST_FOLDER - 1) * 'x'}/{ray_start.PLACES}12345678/{session}"
    assert len(longest) <= 107


def test_news_of_workers_spoil_no_output(ray, capsys):
    from ray._private import worker

    before, news = worker.print_to_stdstream, {"pid": "raylet", "is_err": False}
    with ray_start._news_on_stderr():
        worker.print_to_stdstream({"lines": ["a worker died"], **news}, ignore_prefix=False)
    said = capsys.readouterr()
    assert "a worker died" in said.err
    assert not said.out
    assert worker.print_to_stdstream is before


def test_nodes_have_the_same_versions_and_see_the_folder():
    folder, own = WorkFolder("/shared/work"), own_versions()
    check_nodes([NodeReport("10.0.0.7", own, True)] * 2, folder)
    for name in own:
        other = NodeReport("10.0.0.8", {**own, name: "0.1"}, True)
        with pytest.raises(InputError) as told:
            check_nodes([NodeReport("10.0.0.7", own, True), other], folder)
        assert str(told.value) == (
            f"Ray node 10.0.0.8: has {name} 0.1, but this machine has {own[name]}; all machines "
            "need the same versions"
        )
    with pytest.raises(InputError, match=r"10\.0\.0\.8: .*/shared/work"):
        check_nodes([NodeReport("10.0.0.8", own, False)], folder)


@pytest.mark.slow
def test_few_pairs_start_no_workers(ray, rows, tmp_path, monkeypatch):
    def refuse(*given, **options):
        raise AssertionError("workers were started")

    monkeypatch.setattr(ray, "init", refuse)
    asked = {"metrics": "support", "threads": 1, "cache_dir": tmp_path / "cache"}
    found = [
        {name: score.value for name, score in run.systems[0].scores.items()}
        for run in (compare(*rows, **asked), compare(*rows, engine="ray", **asked))
    ]
    assert found[0] == found[1]
    assert not (tmp_path / "cache" / "neighbours").exists()


def test_few_pairs_need_an_address_that_is_there(rows):
    with pytest.raises(InputError, match="'auto': Could not find"):
        compare(*rows, engine="ray", address="auto")


@pytest.mark.parametrize("address", ["auto", "ray://127.0.0.1:1"])
def test_the_command_line_tells_it_in_a_line(rows, address):
    words = ["compare", "--reference", str(rows[0]), str(rows[1])]
    done = CliRunner().invoke(app, [*words, "--engine", "ray", "--address", address])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"calipers: no Ray cluster can be used at {address!r}: ")
    assert not done.stdout
    assert "Traceback" not in done.stderr


def test_an_address_needs_its_engine(rows):
    with pytest.raises(InputError, match="address 'auto'"):
        compare(*rows, address="auto")
