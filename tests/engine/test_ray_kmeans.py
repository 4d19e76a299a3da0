"""K-means on Ray's workers gives the cells of one process, though workers die."""

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from calipers.engine import kmeans_parts
from calipers.engine.kmeans_files import FileRounds
from calipers.engine.ray_cluster import ray_cluster
from calipers.engine.work_folder import WorkFolder
from calipers.estimate.kmeans.rounds import rounds_on
from calipers.estimate.quantise import joint_cells
from extras import need

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location(
    "same_cells", Path(__file__).with_name("same_cells.py")
)
same = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(same)
FEW = {"cells": 30, "restarts": 1, "max_iterations": 5}


@pytest.fixture(scope="module")
def two_workers():
    """Ray on this machine, with two processors and a small store."""
    ray = need("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets allow short names only
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=80 * 2**20,
        log_to_driver=False,
        logging_level="ERROR",
        _temp_dir=place,
    )
    yield ray
    ray.shutdown()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def folder(two_workers, tmp_path, monkeypatch):
    """A folder for parts of 96 rows."""
    monkeypatch.setattr(kmeans_parts, "LEAST_ROWS", 96)
    return WorkFolder(str(tmp_path / "work"))


def test_cells_are_those_of_one_process(rng, folder):
    with (
        ray_cluster(None, folder) as cluster,
        FileRounds(folder, run=cluster.run, threads=1, few_pairs=0) as rounds,
    ):
        same.check_equal(same.topics(rng), rounds, **{**FEW, "restarts": 2})
        same.check_equal(same.topics(rng), rounds, weights=[0.7, 1.6], **FEW)
    assert not Path(folder.place).exists()


def test_workers_that_die_change_nothing(rng, folder, tmp_path):
    with ray_cluster(None, folder) as cluster:
        died = str(tmp_path / "died")

        def run(work, parts, *more):
            def dying(part, *more):
                """Die once in every round, before or after the file is there."""
                once = Path(f"{died}-{part.number}")
                if part.span[0] == 96 and not once.exists():
                    once.touch()
                    if part.number % 2:
                        work(part, *more)
                    os._exit(1)
                work(part, *more)

            yield from cluster.run(dying, parts, *more)

        with FileRounds(folder, run=run, threads=1, few_pairs=0) as rounds:
            same.check_equal(same.topics(rng), rounds, **FEW)
    assert len(list(tmp_path.glob("died-*"))) == FEW["max_iterations"] + 1
    assert not Path(folder.place).exists()


class StoppedError(Exception):
    """What stands for a driver that is killed."""


def test_a_driver_that_is_stopped_goes_on_with_its_last_round(rng, folder):
    sets, chosen = same.topics(rng), {**same.USUAL, **FEW}
    expected, made = joint_cells(sets, (1.0, 1.0), **chosen), []

    def cluster_until(stop):
        with ray_cluster(None, folder) as cluster:

            def run(work, parts, *more):
                for place in cluster.run(work, parts, *more):
                    made.append(parts[place].number)
                    if len(made) == stop:
                        raise StoppedError
                    yield place

            with FileRounds(folder, run=run, few_pairs=0) as rounds, rounds_on(rounds):
                return joint_cells(sets, (1.0, 1.0), **chosen)

    for stop in (1, 17, 24):
        with pytest.raises(StoppedError):
            cluster_until(stop)
    same.check_same(cluster_until(None), expected)
    assert made == sorted(made)  # no round before the last is made again
    assert not Path(folder.place).exists()
