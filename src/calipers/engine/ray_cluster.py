"""Tiles made by the workers of a Ray cluster, which get names and ranges, never vectors.

As many tiles wait as keep every processor busy. The last ones are given out twice where processors
have nothing left to do, so that a slow machine does not hold up the end; whichever copy is first
counts, and both write the same file. A tile whose worker died is given out again.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from calipers.engine.tiles import Tile, make_tile
from calipers.engine.work_folder import WorkFolder
from calipers.errors import CalipersError, InputError, first_line, require

Task = TypeVar("Task")

TRIES = 10
"""How often a tile is given out whose workers die."""

WAITING = 2
"""Tasks given out for each processor: one that runs and one that follows."""

COPIES = 2
"""Of a task, at the end."""

STORE = 128 * 2**20
"""Bytes of Ray's object store on this machine, which holds only the names of tiles."""

LONGEST_FOLDER = 40
"""Letters that a folder for temporary files may have, since Ray's sockets lie in it."""


@dataclass(frozen=True)
class NodeReport:
    """What a node of the cluster tells about itself.

    Attributes
    ----------
    node
        Its address.
    versions
        Of what must be alike, by name.
    sees_folder
        Whether the work folder holds there what the driver wrote.
    """

    node: str
    versions: Mapping[str, str]
    sees_folder: bool


def own_versions() -> dict[str, str]:
    """Versions of what must be alike on all machines."""
    import numpy

    from calipers import __version__

    return {
        "calipers": __version__,
        "Python": platform.python_version().rpartition(".")[0],
        "NumPy": numpy.__version__,
    }


def report_node(node: str, folder: WorkFolder, token: str) -> NodeReport:
    """Look around on a node of the cluster."""
    return NodeReport(node, own_versions(), folder.has(token))


def check_nodes(reports: Sequence[NodeReport], folder: WorkFolder) -> None:
    """Refuse a cluster whose machines could not do the work, or would do it otherwise.

    Raises
    ------
    InputError
        If a node has another version of something that must be alike, or does not see the folder.
    """
    own = own_versions()
    for report in reports:
        for name, version in own.items():
            if report.versions.get(name) != version:
                raise InputError(
                    f"Ray node {report.node}: has {name} {report.versions.get(name)}, but this "
                    f"machine has {version}; all machines need the same versions"
                )
        if not report.sees_folder:
            raise InputError(
                f"Ray node {report.node}: does not see the work folder {folder.place}; name one "
                "that all machines share with --work-dir (work_dir= in Python), on a shared disk "
                "or in object storage such as s3://bucket/work"
            )


class RayCluster:
    """A connection to a cluster, which runs functions on tasks and gives them as they finish.

    Parameters
    ----------
    ray
        The module.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def processors(self) -> int:
        """How many there are now; nodes may come and go."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def make_tiles(self, tiles: Sequence[Tile]) -> Iterator[int]:
        """Make the files of tiles; yield the place of every tile once its file is there."""
        return self.run(make_tile, tiles, 1)

    def run(self, work: Callable[..., None], tasks: Sequence[Task], *more: Any) -> Iterator[int]:
        """Call a function on every task, each on one processor; yield places as they finish.

        The function may be called more than once on a task, also at the same time.

        Raises
        ------
        InputError
            If the function raised one, or a task has failed :data:`TRIES` times because its
            workers died.
        """
        ray = self._ray
        remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(work)
        waiting, running = deque(range(len(tasks))), dict[Any, int]()
        done, died = set[int](), Counter[int]()
        try:
            while len(done) < len(tasks):
                processors = self.processors
                while waiting and len(running) < WAITING * processors:
                    place = waiting.popleft()
                    running[remote.remote(tasks[place], *more)] = place
                if not waiting:
                    for place in self._stragglers(running, done, processors):
                        running[remote.remote(tasks[place], *more)] = place
                ready, _ = ray.wait(list(running), num_returns=1, timeout=5)
                for reference in ready:
                    place = running.pop(reference)
                    if self._finished(reference, place, done, died):
                        done.add(place)
                        self._cancel([other for other, each in running.items() if each == place])
                        yield place
                    elif place not in done and place not in running.values():
                        waiting.appendleft(place)
                for reference in [each for each, place in running.items() if place in done]:
                    del running[reference]
        finally:
            self._cancel(running)

    def _stragglers(self, running: Mapping[Any, int], done: set[int], processors: int) -> list[int]:
        """Choose tasks for processors that have nothing to do: those given out the longest ago."""
        copies = Counter(running.values())
        once = [place for place in copies if copies[place] < COPIES and place not in done]
        return once[: max(0, processors - len(running))]

    def _finished(self, reference: Any, place: int, done: set[int], died: Counter[int]) -> bool:
        """Tell whether a copy of a task finished, as the first of them."""
        errors = self._ray.exceptions
        try:
            self._ray.get(reference)
        except errors.TaskCancelledError:
            return False
        except errors.RayTaskError as error:
            if place in done:
                return False
            cause = error.cause
            if isinstance(cause, CalipersError):
                raise InputError(str(cause)) from None
            raise
        except errors.RayError as error:
            died[place] += 1
            if place not in done and died[place] >= TRIES:
                raise InputError(
                    f"the Ray workers of a piece of work died {TRIES} times, the last one by "
                    f"{type(error).__name__}: {first_line(error)}; what was finished is kept, and "
                    "the same command goes on from there. Workers that use less memory: give each "
                    "more processors' share by starting nodes with a smaller --num-cpus"
                ) from error
            return False
        return place not in done

    def _cancel(self, references: Any) -> None:
        for reference in list(references):
            self._ray.cancel(reference, force=False)


@contextmanager
def ray_cluster(
    address: str | None, folder: WorkFolder, *, threads: int | None = None
) -> Iterator[RayCluster]:
    """Connect to a cluster, or start workers on this machine until the end.

    Parameters
    ----------
    address
        ``"auto"`` for the cluster that this machine belongs to, ``"ray://HOST:PORT"``, or None for
        workers on this machine. A connection that the program has already is used as it is.
    folder
        What all machines must see.
    threads
        Workers on this machine; None for one each core.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    InputError
        If there is no such cluster, or a machine of it cannot do the work.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent that nobody asked for
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = require("ray", extra="ray", purpose="the engine 'ray'")
    with ExitStack() as stack:
        if not ray.is_initialized():
            _start(ray, address, threads, stack)
        cluster = RayCluster(ray)
        _check(ray, folder)
        try:
            yield cluster
        finally:
            if folder.remote:
                _on_all_nodes(ray, discard_copies, folder)


def _start(ray: Any, address: str | None, threads: int | None, stack: ExitStack) -> None:
    from calipers.numeric.threads import available_threads

    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {
            "address": "local",
            "num_cpus": available_threads(threads),
            "include_dashboard": False,
            "object_store_memory": STORE,
        }
        if len(tempfile.gettempdir()) <= LONGEST_FOLDER and sys.platform != "win32":
            place = tempfile.mkdtemp(prefix="calipers-ray-")
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            options["_temp_dir"] = place
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        where = "this machine" if address is None else repr(address)
        raise InputError(
            f"no Ray cluster can be used at {where}: {first_line(error)}. Start one with 'ray "
            "start --head', name its address with --address (address= in Python), or leave the "
            "address out for workers on this machine"
        ) from error
    stack.callback(ray.shutdown)


def _check(ray: Any, folder: WorkFolder) -> None:
    """Ask every node for its versions, and whether it sees the folder."""
    token = f".seen-{os.urandom(6).hex()}"
    folder.write(token, lambda file: None)
    try:
        check_nodes(_on_all_nodes(ray, report_node, folder, token), folder)
    finally:
        folder.discard(token)


def discard_copies(node: str, folder: WorkFolder) -> None:
    """Remove what a node fetched from object storage."""
    folder.discard_copies()


def _on_all_nodes(ray: Any, work: Callable[..., Any], *more: Any) -> list[Any]:
    """Call a function once on every node, with the node's address and more."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    remote, found = ray.remote(num_cpus=0, max_retries=TRIES)(work), []
    asked = [
        (
            node["NodeManagerAddress"],
            remote.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(node["NodeManagerAddress"], *more),
        )
        for node in ray.nodes()
        if node["Alive"]
    ]
    for name, reference in asked:
        try:
            found.append(ray.get(reference))
        except (ray.exceptions.RayError, ImportError) as error:
            cause = getattr(error, "cause", None) or error
            raise InputError(
                f"Ray node {name}: cannot run calipers ({type(cause).__name__}: "
                f"{first_line(cause)}); install the same version of it on all machines"
            ) from error
    return found
