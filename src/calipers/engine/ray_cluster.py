"""Tiles made by the workers of a Ray cluster, to which names and ranges are sent, not vectors.

As many tiles wait as keep every processor busy. The last ones are given out twice where processors
have nothing left to do, so that a slow machine does not hold up the end; whichever copy is first
counts, and both write the same file. A tile whose worker died is given out again.

Workers keep nothing between tiles: they map the files of the rows into memory, and the system of
each machine keeps what was read for all its workers at once.
"""

from __future__ import annotations

import platform
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from calipers.engine.ray_start import connected, imported_ray, told
from calipers.engine.tiles import Tile, make_tile
from calipers.engine.work_folder import WorkFolder
from calipers.errors import CalipersError, InputError, first_line

Task = TypeVar("Task")

TRIES = 10
"""How often a tile is given out whose workers die."""

WAITING = 2
"""Tasks given out for each processor: one that runs and one that follows."""

COPIES = 2
"""Of a task, at the end."""

ANSWER = 120.0
"""Seconds within which a node must tell about itself, once it was asked."""

NOBODY = 300.0
"""Seconds for which a cluster may have no processor at all, as while its nodes are started."""


@dataclass(frozen=True)
class NodeReport:
    """Properties that a node of the cluster reports.

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
    """Return the versions that must agree on all machines."""
    import numpy

    from calipers._version import __version__

    return {
        "calipers": __version__,
        "Python": platform.python_version().rpartition(".")[0],
        "NumPy": numpy.__version__,
    }


def report_node(node: str, folder: WorkFolder, token: str) -> NodeReport:
    """Collect the properties of a node of the cluster."""
    return NodeReport(node, own_versions(), folder.has(token))


def check_versions(node: str, here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Refuse a node whose versions differ from those of the starting machine.

    Raises
    ------
    InputError
        If one differs.
    """
    for name, version in here.items():
        if there.get(name) != version:
            raise InputError(
                f"Ray node {node}: has {name} {there.get(name)}, but this machine has {version}; "
                "all machines need the same versions"
            )


def check_nodes(reports: Sequence[NodeReport], folder: WorkFolder) -> None:
    """Refuse a cluster whose machines lack something or would compute differently.

    Raises
    ------
    InputError
        If a node has another version of something that must be alike, or does not see the folder.
    """
    versions = own_versions()
    for report in reports:
        check_versions(report.node, versions, report.versions)
        if not report.sees_folder:
            raise InputError(
                f"Ray node {report.node}: does not see the work folder {folder.place}; name one "
                "that all machines share with `work_dir`, on a shared disk "
                "or in object storage such as s3://bucket/work"
            )


class RayCluster:
    """A connection to a cluster, which runs functions on tasks and yields them as they finish.

    Parameters
    ----------
    ray
        The module.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def processors(self) -> int:
        """The number of processors, at least one; nodes may come and go."""
        return max(1, self._processors())

    def _processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def make_tiles(self, tiles: Sequence[Tile]) -> Iterator[int]:
        """Make the files of tiles; yield the index of every tile once its file exists."""
        return self.run(make_tile, tiles, 1)

    def run(self, work: Callable[..., None], tasks: Sequence[Task], *more: Any) -> Iterator[int]:
        """Call a function on every task, one processor each; yield indices as tasks finish.

        The function may be called more than once on a task, also at the same time, and at last
        while nobody waits for it any more: Ray's way to cancel a task may end the whole program
        where the task finishes meanwhile. What it raises ends the run.

        Raises
        ------
        InputError
            If the function raised one, a task has failed :data:`TRIES` times because its workers
            died, or the cluster is gone.
        """
        try:
            yield from self._run(work, tasks, *more)
        except self._ray.exceptions.RayTaskError:
            raise
        except (ConnectionError, self._ray.exceptions.RayError) as error:
            raise InputError(
                f"the Ray cluster is gone: {told(error)}; what was finished is kept, and the same "
                "command continues from there"
            ) from error

    def _run(self, work: Callable[..., None], tasks: Sequence[Task], *more: Any) -> Iterator[int]:
        ray, versions = self._ray, own_versions()

        def call(task: Task, *more: Any) -> str | None:
            """Say what is wrong; Ray shows errors of tasks for which nobody waits any more."""
            try:
                if own_versions() != versions:  # of a node that came after all were asked
                    from ray.util import get_node_ip_address

                    check_versions(get_node_ip_address(), versions, own_versions())
                work(task, *more)
            except CalipersError as error:
                return str(error)
            return None

        remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(call)
        waiting, running = deque(range(len(tasks))), dict[Any, int]()
        done, died = set[int](), Counter[int]()
        seen = time.monotonic()
        while len(done) < len(tasks):
            processors = self._processors()
            seen = time.monotonic() if processors else seen
            if time.monotonic() - seen > NOBODY:
                raise InputError(
                    f"the Ray cluster has had no processor for {NOBODY:.0f} seconds; what was "
                    "finished is kept, and the same command continues from there"
                )
            while waiting and len(running) < WAITING * max(1, processors):
                place = waiting.popleft()
                running[remote.remote(tasks[place], *more)] = place
            if not waiting:
                for place in self._stragglers(running, processors):
                    running[remote.remote(tasks[place], *more)] = place
            ready, _ = ray.wait(list(running), num_returns=1, timeout=5)
            for reference in ready:
                place = running.pop(reference)
                if self._finished(reference, place, died):
                    done.add(place)
                    for copy in [
                        other for other, other_place in running.items() if other_place == place
                    ]:
                        del running[copy]
                    yield place
                elif place not in running.values():
                    waiting.appendleft(place)

    @staticmethod
    def _stragglers(running: Mapping[Any, int], processors: int) -> list[int]:
        """Choose tasks for processors that have nothing to do: those given out the longest ago."""
        copies = Counter(running.values())
        once = [place for place in copies if copies[place] < COPIES]
        return once[: max(0, processors - len(running))]

    def _finished(self, reference: Any, place: int, died: Counter[int]) -> bool:
        """Tell whether a task has finished; it has not where its worker died."""
        errors = self._ray.exceptions
        try:
            wrong = self._ray.get(reference)
        except errors.RayError as error:
            if isinstance(error, errors.RayTaskError) and not isinstance(
                error, errors.TaskCancelledError
            ):
                raise
            died[place] += 1
            if died[place] >= TRIES:
                raise InputError(
                    f"the workers of a piece of work died {TRIES} times, the last one by "
                    f"{type(error).__name__}: {first_line(error)}; what was finished is kept, and "
                    "the same command continues from there (nodes that were started with a smaller "
                    "--num-cpus leave each worker more memory)"
                ) from error
            return False
        if wrong is not None:
            raise InputError(wrong)
        return True


@contextmanager
def ray_when_needed(
    address: str | None, folder: WorkFolder, *, threads: int | None = None
) -> Iterator[Callable[[], RayCluster]]:
    """Return a function that connects to a cluster on its first call.

    Workers on this machine are started only then; a cluster with an address must be there at once.
    Parameters and errors are those of :func:`ray_cluster`.
    """
    with ExitStack() as stack:
        imported_ray()
        lock, opened = Lock(), list[RayCluster]()

        def connect() -> RayCluster:
            with lock:
                if not opened:
                    opened.append(
                        stack.enter_context(ray_cluster(address, folder, threads=threads))
                    )
            return opened[0]

        if address is not None:
            connect()
        yield connect


@contextmanager
def ray_cluster(
    address: str | None, folder: WorkFolder, *, threads: int | None = None
) -> Iterator[RayCluster]:
    """Connect to a cluster, or start workers on this machine, for the duration of a context.

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
    ray = imported_ray()
    with ExitStack() as stack:
        if not ray.is_initialized():
            stack.enter_context(connected(ray, address, threads))
        with folder.shown() as token:
            check_nodes(_on_all_nodes(ray, report_node, folder, token), folder)
        try:
            yield RayCluster(ray)
        finally:
            if folder.remote:
                with suppress(InputError):  # a node that is gone took its copies with it
                    _on_all_nodes(ray, discard_copies, folder)


def discard_copies(node: str, folder: WorkFolder) -> None:
    """Remove the files that a node fetched from object storage."""
    folder.discard_copies()


def _on_all_nodes(ray: Any, work: Callable[..., Any], *more: Any) -> list[Any]:
    """Call a function once on every node that has processors, with the node's address and more.

    Raises
    ------
    InputError
        If a node cannot run it or does not answer, and is still there.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def alive() -> dict[str, str]:
        """Addresses of nodes by their names."""
        return {
            node["NodeID"]: node["NodeManagerAddress"]
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        }

    remote, answers = ray.remote(num_cpus=0, max_retries=TRIES)(work), []
    asked = [
        (
            node,
            address,
            remote.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            ).remote(address, *more),
        )
        for node, address in alive().items()
    ]
    until = time.monotonic() + ANSWER
    for node, address, reference in asked:
        try:
            answers.append(ray.get(reference, timeout=max(0.0, until - time.monotonic())))
        except ray.exceptions.GetTimeoutError as error:
            raise InputError(
                f"Ray node {address}: has not answered within {ANSWER:.0f} seconds"
            ) from error
        except (ray.exceptions.RayError, ImportError) as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, CalipersError):
                raise InputError(f"Ray node {address}: {cause}") from error
            if node in alive():
                raise InputError(
                    f"Ray node {address}: cannot run calipers ({type(cause).__name__}: "
                    f"{first_line(cause)}); install the same version of it on all machines"
                ) from error
    return answers
