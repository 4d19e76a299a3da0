"""Ray's workers give the counts of one machine, through deaths of workers, nodes and drivers."""

import importlib.util
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from calipers import compare
from calipers.engine import ray_cluster as engine
from calipers.engine import tiles
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError
from calipers.estimate import neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.numeric.blocks import Blocks
from extras import need

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc"),
]

_spec = importlib.util.spec_from_file_location(
    "same_counts", Path(__file__).with_name("same_counts.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
ALL, gaussians = same.ALL, same.gaussians

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}


@pytest.fixture(scope="module")
def nodes():
    """A cluster of three nodes, each with a processor and the smallest store that Ray allows."""
    ray = need("ray")
    from ray.cluster_utils import Cluster

    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets allow short names only
    os.mkdir(f"{place}/ray")  # where Ray writes the address of the cluster
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_TMPDIR", place)
        nodes = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": place})
        for _ in range(2):
            nodes.add_node(**NODE)
        ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
        yield nodes
        ray.shutdown()
        nodes.shutdown()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of 48 to 96 rows."""
    monkeypatch.setattr(tiles, "LEAST_ROWS", 48)
    monkeypatch.setattr(tiles, "MOST_ROWS", 96)


@contextmanager
def passes_on_ray(place, work=None, before=None, **options):
    """Passes on the cluster; `before` is called with the tiles that are to be made."""
    folder = WorkFolder(str(place))
    with ray_cluster(None, folder) as cluster:

        def run(waiting):
            if before is not None:
                before(waiting)
            return cluster.run(work, waiting, 1) if work else cluster.make_tiles(waiting)

        with TilePasses(folder, run=run, threads=1, few_pairs=0, **options) as passes:
            yield passes


def check_equal(sets, place, *, work=None, before=None, **options):
    with passes_on_ray(place, work, before) as passes:
        found = same.check_equal(sets, passes, **options)
    assert not Path(place).exists()
    return found


def measure(sets, place, *, work=None, before=None, **options):
    with passes_on_ray(place, work, before) as passes, passes_on(passes):
        return neighbourhoods(*sets, k=4, threads=1, **options)


def halved(sets):
    return tuple(Blocks.balanced(len(rows), seed=0) for rows in sets)


def test_counts_with_replicates_and_all_supports(nodes, rng, tmp_path):
    sets = gaussians(rng, 240, 200)
    found = check_equal(sets, tmp_path / "work", k=4, k_max=6, supports=ALL, blocks=halved(sets))
    assert found.reference.held.sum() > 0
    assert found.reference.replicates.held_halves.sum() > 0


@pytest.mark.parametrize("ties", ["closed", "open"])
def test_counts_with_ties_and_copies(nodes, rng, tmp_path, ties):
    sets = [rng.integers(0, 3, (size, 3)).astype(np.float32) for size in (230, 150)]
    check_equal(sets, tmp_path / "work", k=5, ties=ties, supports=ALL)


@pytest.mark.parametrize("n", [5, 49])
def test_counts_of_sets_smaller_than_a_tile_or_hardly_larger(nodes, rng, tmp_path, n):
    check_equal(gaussians(rng, n, 145, 3), tmp_path / "work", k=4, supports=ALL)


def test_counts_in_float64_by_cosine(nodes, rng, tmp_path):
    sets = [rows + 100 for rows in gaussians(rng, dtype=np.float64)]
    check_equal(sets, tmp_path / "work", k=3, distance="cosine")


def test_counts_through_object_storage(nodes, rng, tmp_path):
    need("fsspec")
    before = set(Path(tempfile.gettempdir()).glob("calipers-*"))
    place = f"file://{tmp_path}/work"
    with passes_on_ray(place) as passes:
        same.check_equal(gaussians(rng), passes, k=4, supports=ALL)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert set(Path(tempfile.gettempdir()).glob("calipers-*")) == before


def test_workers_get_names_and_ranges_and_never_vectors(nodes, rng, tmp_path, monkeypatch):
    """Ray's object store is not used: what a task takes and gives travels in its message."""
    import ray

    seen = []

    def refuse(value):
        raise AssertionError("something was put into the object store")

    monkeypatch.setattr(ray, "put", refuse)
    check_equal(gaussians(rng), tmp_path / "work", k=4, supports=ALL, before=seen.extend)
    kinds = {type(tile) for tile in seen}
    assert kinds == {tiles.NearestTile, tiles.CountTile}
    for tile in seen:
        pickled = pickle.dumps(tile)
        assert len(pickled) < 2000
        assert b"numpy" not in pickled


def test_progress_counts_tiles(nodes, rng, tmp_path):
    tasks = []

    class Seen:
        @contextmanager
        def task(self, description, total):
            steps = []
            tasks.append((description, total, steps))
            yield steps.append

    with passes_on_ray(tmp_path / "work", progress=Seen(), task="tiles") as passes:
        same.check_equal(gaussians(rng), passes, k=4)
    assert [task[:2] for task in tasks] == [("tiles", 21), ("tiles", 10), ("tiles", 24)]
    assert all(sum(steps) == total for _, total, steps in tasks)


def test_a_comparison_gives_the_same_scores(nodes, rng, monkeypatch, tmp_path):
    monkeypatch.setattr(TilePasses.__init__, "__kwdefaults__", {**_defaults(), "few_pairs": 0})
    sets = gaussians(rng, 180, 150)
    asked = {"metrics": "support,precise_recall", "threads": 1, "floor": False}
    made = []
    on_ray = engine.RayCluster.make_tiles
    monkeypatch.setattr(
        engine.RayCluster, "make_tiles", lambda self, new: made.extend(new) or on_ray(self, new)
    )
    found = [
        {name: score.value for name, score in run.systems[0].scores.items()}
        for run in (
            compare(*sets, **asked),
            compare(*sets, engine="ray", work_dir=tmp_path / "work", **asked),
        )
    ]
    assert len(made) > 20
    assert found[1] == pytest.approx(found[0], abs=1e-12)
    assert not (tmp_path / "work").exists()


def _defaults():
    return TilePasses.__init__.__kwdefaults__


# What dies


def children(process):
    """All processes below one, and their command lines."""
    parents, found = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            stat = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)] = int(stat[1])
    below = {process}
    while new := {one for one, parent in parents.items() if parent in below} - below:
        below |= new
    for one in below - {process}:
        with suppress(OSError):
            found[one] = Path(f"/proc/{one}/cmdline").read_bytes().decode(errors="replace")
    return found


def kill_a_worker(chance):
    """Kill one of the workers of Ray below this process."""
    workers = [one for one, words in children(os.getpid()).items() if words.startswith("ray::call")]
    if workers:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
    return len(workers)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_workers_change_nothing(nodes, rng, tmp_path, monkeypatch, seed):
    monkeypatch.setattr(tiles, "LEAST_ROWS", 480)
    monkeypatch.setattr(tiles, "MOST_ROWS", 480)
    chance, over, killed = random.Random(seed), threading.Event(), []

    def kill():
        while not over.wait(chance.uniform(0.05, 0.4)) and len(killed) < 3:
            killed.extend([1] * bool(kill_a_worker(chance)))

    sets = gaussians(rng, 2400, 1900, 40)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        check_equal(sets, tmp_path / "work", k=4, k_max=6, supports=ALL)
    finally:
        over.set()
        killer.join()
    assert killed


def test_a_node_that_leaves_changes_nothing(nodes, rng, tmp_path):
    leaver = nodes.add_node(**NODE)
    left = []

    def leave(waiting):
        if not left:
            left.append(1)
            threading.Timer(0.3, nodes.remove_node, (leaver,)).start()

    def slowly(tile, threads):
        time.sleep(0.1)
        tiles.make_tile(tile, threads)

    check_equal(gaussians(rng), tmp_path / "work", k=4, work=slowly, before=leave)
    assert left


def test_tasks_that_kill_their_workers_end_the_run(nodes, monkeypatch):
    monkeypatch.setattr(engine, "TRIES", 2)
    with (
        ray_cluster(None, WorkFolder("unused")) as cluster,
        pytest.raises(InputError, match="died 2 times"),
    ):
        list(cluster.run(lambda task: os._exit(1), [0]))


def test_a_fault_of_a_function_is_not_tried_again(nodes, tmp_path):
    def fail(task, place):
        with open(place, "a") as file:
            file.write("tried\n")
        raise ZeroDivisionError("a fault")

    with (
        ray_cluster(None, WorkFolder(str(tmp_path / "work"))) as cluster,
        pytest.raises(ZeroDivisionError, match="a fault"),
    ):
        list(cluster.run(fail, [0], str(tmp_path / "tries")))
    tries = (tmp_path / "tries").read_text().count("tried")
    assert 1 <= tries <= engine.COPIES < engine.TRIES


def test_the_last_tasks_are_given_out_twice(nodes, tmp_path):
    """The first copy waits for what only a second one does."""

    def wait(task, place):
        mark = Path(place) / f"{task}"
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            (Path(place) / "second").touch()
            return
        for _ in range(600):
            if (Path(place) / "second").exists():
                return
            time.sleep(0.1)
        raise TimeoutError("nobody else began it")

    with ray_cluster(None, WorkFolder(str(tmp_path / "work"))) as cluster:
        assert list(cluster.run(wait, [7], str(tmp_path))) == [0]
    assert (tmp_path / "second").exists()


DRIVER = """
import sys
import time
import numpy as np
from calipers.engine import tiles
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.tile_passes import TilePasses
from calipers.engine.work_folder import WorkFolder
from calipers.estimate import neighbourhoods
from calipers.estimate.knn.passes import passes_on

tiles.LEAST_ROWS = tiles.MOST_ROWS = 240
rows, place, address, hold = sys.argv[1:]
folder, made = WorkFolder(place), []
with np.load(rows) as file:
    sets = file["a"], file["b"]
with ray_cluster(address or None, folder, threads=2) as cluster:
    def run(waiting):
        for tile in waiting:
            print("to make", tile.result, flush=True)
        for one in cluster.make_tiles(waiting):
            made.append(waiting[one].result)
            print("made", made[-1], flush=True)
            if len(made) == int(hold):
                time.sleep(120)  # until a signal comes, however late
            yield one
    with TilePasses(folder, run=run, few_pairs=0) as passes, passes_on(passes):
        found = neighbourhoods(*sets, k=4)
for side in (found.reference, found.generated):
    for counts in (side.held, side.inside, side.nearest):
        print("sum", int((counts * np.arange(1, 1 + counts.size).reshape(counts.shape)).sum()))
"""


@pytest.fixture
def own_tmp():
    """A folder for temporary files that no other run uses; sockets allow short names only."""
    place = tempfile.mkdtemp(prefix="c", dir="/tmp")
    yield Path(place)
    shutil.rmtree(place, ignore_errors=True)


def start_driver(tmp_path, address, own_tmp, *, hold=0):
    words = [sys.executable, "-c", DRIVER, tmp_path / "rows.npz", tmp_path / "work", address, hold]
    with open(tmp_path / "errors.txt", "w") as errors:
        return subprocess.Popen(
            list(map(str, words)),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(own_tmp)},
        )


def stop_after(process, tiles, how, errors):
    """Send a signal to a driver, as a terminal does, once it has so many tiles."""
    for line in process.stdout:
        tiles -= line.startswith("made")
        if tiles == 0:
            os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
            break
    process.stdout.read()
    process.wait()
    assert tiles == 0, f"the driver ended with {process.returncode}:\n{errors.read_text()}"


@pytest.mark.parametrize(
    ("own_workers", "how"),
    [(False, signal.SIGKILL), (True, signal.SIGKILL), (True, signal.SIGINT)],
)
def test_a_driver_that_was_stopped_goes_on(nodes, rng, tmp_path, own_tmp, own_workers, how):
    sets = gaussians(rng, 1500, 1200, 40)
    np.savez(tmp_path / "rows.npz", a=sets[0], b=sets[1])
    address = "" if own_workers else nodes.address
    driver = start_driver(tmp_path, address, own_tmp, hold=12)
    stop_after(driver, 12, how, tmp_path / "errors.txt")
    if how == signal.SIGINT:
        assert not list(own_tmp.glob("calipers-*"))
    finished = {str(path.relative_to(tmp_path / "work")) for path in tmp_path.rglob("*-*.npz")}
    assert finished
    again = start_driver(tmp_path, address, own_tmp)
    said, _ = again.communicate()
    assert again.returncode == 0, (tmp_path / "errors.txt").read_text()
    to_make = {line.split()[-1] for line in said.splitlines() if line.startswith("to make")}
    assert to_make
    assert not to_make & {name for name in finished if name.split("/")[-1][0] != "."}
    expected = neighbourhoods(*sets, k=4)
    sums = [
        int((counts * np.arange(1, 1 + counts.size).reshape(counts.shape)).sum())
        for side in (expected.reference, expected.generated)
        for counts in (side.held, side.inside, side.nearest)
    ]
    assert [int(line.split()[1]) for line in said.splitlines() if line.startswith("sum")] == sums
    assert not (tmp_path / "work").exists()
    assert not list(own_tmp.glob("calipers-*"))


# What a person can put right


def test_a_folder_that_nodes_do_not_see(nodes):
    """Storage in memory is that of each process alone."""
    need("fsspec")
    with (
        pytest.raises(InputError, match="memory://work"),
        ray_cluster(None, WorkFolder("memory://work")),
    ):
        pass


def test_a_cluster_of_other_versions(nodes, tmp_path, monkeypatch):
    own = engine.own_versions()
    monkeypatch.setattr(engine, "own_versions", lambda: {**own, "NumPy": "1.0"})
    with (
        pytest.raises(InputError, match=r"NumPy .*, .* 1\.0"),
        ray_cluster(None, WorkFolder(str(tmp_path / "work"))),
    ):
        pass
    assert not (tmp_path / "work").exists()


def test_a_node_of_other_versions_that_comes_later(nodes, tmp_path, monkeypatch):
    with ray_cluster(None, WorkFolder(str(tmp_path / "work"))) as cluster:
        monkeypatch.setattr("calipers._version.__version__", "9")
        with pytest.raises(InputError, match=r"calipers .*, .* 9"):
            list(cluster.run(lambda task: None, [0]))


@pytest.mark.parametrize("damage", ["cut", "removed"])
def test_rows_that_are_damaged_on_the_way(nodes, rng, tmp_path, damage):
    sets, place = gaussians(rng), tmp_path / "work"

    def lose(waiting):
        path = next(place.rglob("panels.npy"))
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:-100])
        else:
            path.unlink()

    with pytest.raises(InputError, match=r"panels\.npy .*missing or damaged"):
        measure(sets, place, before=lose)
    check_equal(sets, place, k=4)


def test_results_that_are_damaged_on_the_way_are_made_again(nodes, rng, tmp_path):
    def cut(tile, threads):
        tiles.make_tile(tile, threads)
        path, mark = Path(tile.folder.place) / tile.result, Path(f"{tile.folder.place}.cut")
        if not mark.exists():
            mark.touch()
            path.write_bytes(path.read_bytes()[:-50])

    check_equal(gaussians(rng), tmp_path / "work", k=4, work=cut)
    assert (tmp_path / "work.cut").exists()


def test_a_full_disk_of_a_worker(nodes, rng, tmp_path):
    sets, place = gaussians(rng), tmp_path / "work"

    def full(tile, threads):
        import numpy as np

        def save(file, **arrays):
            file.write(b"part")
            raise OSError(28, "No space left on device")

        saved, last = np.savez, tile.tile[0][0] >= 96
        np.savez = save if last else saved
        try:
            tiles.make_tile(tile, threads)
        finally:
            np.savez = saved

    with pytest.raises(InputError, match="No space left on device"):
        measure(sets, place, work=full)
    check_equal(sets, place, k=4)  # and no part of a file is left


def test_a_cluster_that_has_no_processors(nodes, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "NOBODY", -1.0)
    with ray_cluster(None, WorkFolder(str(tmp_path / "work"))) as cluster:
        monkeypatch.setattr(engine.RayCluster, "_processors", lambda self: 0)
        with pytest.raises(InputError, match="has had no processor for"):
            list(cluster.run(lambda task: None, [0]))
