"""Embedding with Ray Data: actors read shards of samples and write vectors into the cache.

The different samples that the cache lacks are written to the work folder, some blocks a file. Ray
Data hands the names of these files to a pool of actors; each has loaded the embedder once, reads
the samples of a file and writes the vectors of every block to a file of its own, at once and whole.
So neither samples nor vectors pass through Ray, a run that was stopped goes on from what is there,
and what was embedded on a cluster is found by every later run. The vectors are those of this
machine: it reads them from the same files.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calipers.embedders import Cache, Embedder, EmbedderChoice
from calipers.embedders.cache import Rows
from calipers.embedders.pipeline import BLOCK, Block, blocks_of, embed_block, first_of_each
from calipers.embedders.processes import may_divide
from calipers.embedders.segments import RowHashes
from calipers.engine.ray_cluster import TRIES, RayCluster
from calipers.engine.ray_vectors import VectorStore
from calipers.engine.work_folder import WorkFolder, digest_of
from calipers.errors import CalipersError, InputError, first_line, require
from calipers.numeric.threads import limit_threads
from calipers.progress import Progress
from calipers.samples import SampleSet

FEW_ROWS = 2048
"""Samples that are embedded sooner where they are than workers are started."""

MOST_THREADS = 8
"""Threads of an actor: further ones add little, and every actor holds the model in memory."""

SHARDS_EACH = 8
"""Files of samples for each actor, where there are enough: the last ones leave few actors idle."""

MOST_BLOCKS = 16
"""Blocks in a file of samples."""

Shipped = Callable[[SampleSet, Embedder], Embedder | EmbedderChoice | None]
"""Tells what actors embed a set with: a choice, which they load, or the embedder itself."""


@dataclass(frozen=True)
class SampleShards:
    """Blocks of a set in files of a work folder.

    Attributes
    ----------
    folder, name
        Where, and in which folder there.
    set_name
        What messages call the set.
    tokens
        Whether samples are lists of token ids; else they are texts.
    """

    folder: WorkFolder
    name: str
    set_name: str
    tokens: bool

    def write(self, blocks: Sequence[Block]) -> str:
        """Write consecutive blocks to a file, and return its name."""
        items = [item for block in blocks for item in block.items]
        if self.tokens:
            values = np.concatenate([np.asarray(ids, np.int32) for ids in items])
            lengths = list(map(len, items))
        else:
            encoded = [text.encode("utf-8", "surrogatepass") for text in items]
            values = np.frombuffer(b"".join(encoded), np.uint8)
            lengths = list(map(len, encoded))
        name = f"{self.name}/{blocks[0].rows[0]}.npz"
        self.folder.write_arrays(
            name,
            {
                "values": values,
                "ends": np.cumsum([0, *lengths], dtype=np.int64),
                "rows": np.concatenate([block.rows for block in blocks]).astype(np.int64),
                "sizes": np.array([len(block.rows) for block in blocks], np.int64),
                "hashes": np.concatenate([block.hashes for block in blocks]),
            },
        )
        return name

    def begin(self, name: str) -> None:
        """Mark a file as begun.

        Raises
        ------
        InputError
            If it was begun so often that whoever takes it must be dying over it.
        """
        marks = (f"{name}.{place}" for place in range(TRIES))
        mark = next((mark for mark in marks if not self.folder.has(mark)), None)
        if mark is None:
            raise InputError(
                f"{self.set_name}: the Ray workers that embedded some of its samples died {TRIES} "
                "times, most likely because memory ran out; what was finished is kept, and the "
                "same command continues from there (a smaller `batch_size` takes less memory)"
            )
        self.folder.write(mark, lambda file: None)

    def read(self, name: str) -> Iterator[Block]:
        """Read the blocks of a file.

        Raises
        ------
        InputError
            If it is not there.
        """
        arrays = self.folder.read_arrays(name)
        if arrays is None:
            raise InputError(f"{self.folder.place}: {name} is missing or damaged")
        values, ends, row = arrays["values"], arrays["ends"].tolist(), 0
        for size in arrays["sizes"].tolist():
            places = [(ends[at], ends[at + 1]) for at in range(row, row + size)]
            if self.tokens:
                items: list[Any] = [values[first:last] for first, last in places]
            else:
                parts = [values[first:last].tobytes() for first, last in places]
                items = [part.decode("utf-8", "surrogatepass") for part in parts]
            part_of = slice(row, row + size)
            yield Block(arrays["rows"][part_of], items, arrays["hashes"][part_of])
            row += size


@dataclass(frozen=True)
class EmbeddingTask:
    """The task of an actor: embed the named files of samples.

    Attributes
    ----------
    shipped
        The embedder, or what it is loaded by.
    signature, identity
        Those that its embedder must have.
    shards
        Where the samples lie.
    store
        Where the vectors go.
    threads
        How many an actor may use.
    """

    shipped: Embedder | EmbedderChoice
    identity: str
    signature: Mapping[str, str]
    shards: SampleShards
    store: VectorStore
    threads: int

    def load(self) -> Embedder:
        """Load the embedder on this machine.

        Raises
        ------
        CalipersError
            If it cannot be loaded, or would give other vectors than that of the driver.
        """
        embedder = self.shipped
        if isinstance(embedder, EmbedderChoice):
            embedder = embedder.load()
        if embedder.identity != self.identity:
            theirs, ours = dict(embedder.signature), dict(self.signature)
            differ = sorted(key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key))
            raise InputError(
                f"the embedder {embedder.name!r} of a Ray node would give other vectors than that "
                f"of this machine ({', '.join(differ) or 'other versions of packages'} differ); "
                "all machines need the same packages, model files and kind of device"
            )
        return embedder

    def embed(self, name: str, embedder: Embedder) -> int:
        """Embed a file of samples, except those stored already; return its number of samples.

        Raises
        ------
        InputError
            If actors died :data:`TRIES` times over the same file: Ray Data would try for ever.
        CalipersError
            If a sample cannot be read.
        """
        rows = 0
        self.shards.begin(name)
        for block in self.shards.read(name):
            missing = np.flatnonzero(self.store.missing(block.hashes))
            if len(missing):
                part = block.part(missing)
                self.store.write(part.hashes, embed_block(part, embedder, self.shards.set_name))
            rows += len(block.rows)
        return rows


class EmbeddingActor:
    """A worker of the pool, which loads the embedder with its first file.

    Errors that a person can put right come back as words: Ray would wrap them.
    """

    def __init__(self, task: EmbeddingTask) -> None:
        self._task = task
        self._embedder: Embedder | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Embed the files of a batch; give for each how many samples it had, or what went wrong."""
        rows, errors = [], []
        for name in batch["name"]:
            done, problem = 0, ""
            try:
                with limit_threads(self._task.threads):
                    self._embedder = self._embedder or self._task.load()
                    done = self._task.embed(str(name), self._embedder)
            except CalipersError as error:
                problem = str(error)
            except OSError as error:
                place = self._task.store.folder.place
                problem = (
                    f"{place}: cannot be written: {error.strerror or first_line(error)}; what was "
                    "finished is kept there"
                )
            rows.append(done)
            errors.append(problem)
        return {"rows": np.array(rows), "error": np.array(errors, dtype=object)}


class RayEmbedding:
    """Embeds on a Ray cluster, by filling the cache.

    It is a context, at whose end vectors that no cache keeps are gone; where it ends by an error,
    they stay, and the next run goes on from them.

    Parameters
    ----------
    connect
        Connects to the cluster, when it is first called.
    folder
        What all machines see: the folder of the cache itself, or another, from which vectors go to
        the cache.
    shipped
        Tells what actors embed a set with; None where it is embedded here.
    few_rows
        Samples that are embedded here, where no more are missing; None for :data:`FEW_ROWS`.
    """

    def __init__(
        self,
        connect: Callable[[], RayCluster],
        folder: WorkFolder,
        shipped: Shipped,
        *,
        few_rows: int | None = None,
    ) -> None:
        self._connect, self._folder, self._shipped = connect, folder, shipped
        self._few_rows = FEW_ROWS if few_rows is None else few_rows
        self._places = ExitStack()
        self._unkept = list[tuple[VectorStore, RowHashes]]()

    def __enter__(self) -> RayEmbedding:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._places:
            for store, hashes in self._unkept if kind is None else ():
                store.discard(hashes)
        self._folder.discard_copies()

    def fill(
        self, samples: SampleSet, embedder: Embedder, cache: Cache | None, progress: Progress
    ) -> Cache | None:
        """Embed on the cluster the samples that a cache lacks, where actors can embed them.

        Images, and embedders that are cheap or ask a service, are left to this machine.

        Raises
        ------
        InputError
            If a sample cannot be read, the embedder cannot be sent or differs on a node, or the
            folder cannot be written to.
        """
        if samples.kind not in ("texts", "tokens") or not embedder.kept:
            return cache
        shipped = self._shipped(samples, embedder)
        if shipped is None:
            return cache
        target = self._place() if cache is None else cache
        home, store = (
            VectorStore(folder, embedder.identity, samples.kind, tuple(embedder.views))
            for folder in (WorkFolder(str(target.directory)), self._folder)
        )
        hashes = samples.row_hashes()
        if cache is None:
            self._unkept.append((home, hashes))
        lacking = np.flatnonzero(home.missing(hashes))
        missing, _ = first_of_each(lacking, hashes[lacking])
        if len(missing) <= self._few_rows:
            return target
        check_sendable(shipped)
        key = digest_of(embedder.identity, samples.content_hash)
        shards = SampleShards(
            self._folder, f"samples-{key}", samples.name, samples.kind == "tokens"
        )
        task = EmbeddingTask(
            shipped, embedder.identity, dict(embedder.signature), shards, store, threads=1
        )
        with self._folder.claimed(shards.name):
            try:
                self._run(task, samples, missing, hashes, progress)
                if store.folder != home.folder:
                    _move(store, home, missing, hashes)
            finally:
                self._folder.discard(shards.name)
        return target

    def _run(
        self,
        task: EmbeddingTask,
        samples: SampleSet,
        missing: Rows,
        hashes: RowHashes,
        progress: Progress,
    ) -> None:
        """Write the samples, and have actors embed them."""
        for package in ("pyarrow", "pandas"):
            require(package, extra="ray", purpose="embedding with `engine='ray'`")
        with _quiet_ray_core():
            self._connect()
        gpu = task.signature.get("device", "cpu").startswith("cuda")
        actors, threads = pool_size(_alive_nodes(), gpu=gpu)
        count = -(-len(missing) // BLOCK)
        per_shard = BLOCK * int(np.clip(count // (SHARDS_EACH * actors), 1, MOST_BLOCKS))
        parts = [missing[at : at + per_shard] for at in range(0, len(missing), per_shard)]
        names = [task.shards.write(list(blocks_of(samples, part, hashes))) for part in parts]
        task = replace(task, threads=threads)
        with progress.task(f"Embedding {task.shards.set_name} on Ray", len(missing)) as advance:
            for rows in run_pool(task, names, actors=min(actors, len(names)), gpu=gpu):
                advance(rows)

    def _place(self) -> Cache:
        """A place on this machine for vectors that are not kept."""
        if not self._folder.remote:
            return Cache(Path(self._folder.place))
        place = self._places.enter_context(TemporaryDirectory(prefix="calipers-embedded-"))
        return Cache(Path(place))


def run_pool(task: EmbeddingTask, names: Sequence[str], *, actors: int, gpu: bool) -> Iterator[int]:
    """Give files of samples to a pool of actors; yield the number of samples of each, in order.

    Raises
    ------
    InputError
        As the first of the files says that cannot be embedded, or if the cluster is lost.
    """
    import ray
    from ray.data import ActorPoolStrategy, from_items

    with _quiet_ray_data():
        files = from_items([{"name": name} for name in names], override_num_blocks=len(names))
        done = files.map_batches(
            EmbeddingActor,
            fn_constructor_args=(task,),
            batch_size=1,
            num_cpus=1 if gpu else task.threads,
            num_gpus=1 if gpu else None,
            compute=ActorPoolStrategy(size=actors),
        )
        try:
            for row in done.iter_rows():
                if row["error"]:
                    raise InputError(str(row["error"]))
                yield int(row["rows"])
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError as error:
            raise InputError(
                f"embedding on Ray was stopped by {type(error).__name__}: {first_line(error)}; "
                "what was finished is kept, and the same command continues from there"
            ) from error


def pool_size(nodes: Sequence[Mapping[str, float]], *, gpu: bool) -> tuple[int, int]:
    """Choose the number of actors on a cluster, and the number of threads of each.

    Parameters
    ----------
    nodes
        The resources of every node, such as ``{"CPU": 8.0, "GPU": 1.0}``.
    gpu
        Whether an actor takes a GPU; else it takes processors, as many on every node.

    Raises
    ------
    InputError
        If a GPU is asked for and no node has one.

    Examples
    --------
    >>> pool_size([{"CPU": 8.0}, {"CPU": 4.0}, {}], gpu=False)
    (3, 4)
    """
    if gpu:
        count = sum(int(node.get("GPU", 0)) for node in nodes)
        if not count:
            raise InputError(
                "no node of the Ray cluster has a GPU, but the embedder runs on one; choose "
                "`device='cpu'`"
            )
        return count, 1
    processors = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1] or [1]
    threads = min(*processors, MOST_THREADS)
    return sum(count // threads for count in processors), threads


def check_sendable(shipped: Embedder | EmbedderChoice) -> None:
    """Refuse an embedder that cannot be sent to other machines.

    Raises
    ------
    InputError
        If it cannot be pickled.
    """
    from ray import cloudpickle

    if isinstance(shipped, EmbedderChoice):
        return
    try:
        cloudpickle.dumps(shipped)
    except Exception as error:  # whatever its own classes raise
        raise InputError(
            f"the embedder {shipped.name!r} cannot be sent to the workers of `engine='ray'`, since "
            f"it cannot be pickled ({first_line(error)}); name a model in its place, or embed with "
            'calipers.embed and compare what that gives, or use engine="local"'
        ) from error


def choice_for_actors(choice: EmbedderChoice, embedder: Embedder) -> EmbedderChoice | None:
    """Return how actors load the same embedder; None where it runs no model.

    Where a device was left open, actors take the kind of device that was found here; of a GPU each
    actor sees its own alone.
    """
    if not may_divide(choice):
        return None
    device = choice.settings.device
    if device == "auto":
        device = embedder.signature.get("device", device)
    options = replace(choice.options, device=device.partition(":")[0])
    return EmbedderChoice(choice.line, options)


def _move(store: VectorStore, home: VectorStore, rows: Rows, hashes: RowHashes) -> None:
    """Bring the vectors of samples from the work folder to the cache, block by block."""
    for first in range(0, len(rows), BLOCK):
        block = hashes[rows[first : first + BLOCK]]
        batch = store.read(block)
        if batch is None:
            continue  # it is embedded here
        try:
            home.write(block, batch)
        except OSError as error:
            raise InputError(
                f"{home.folder.place}: cannot be written: {error.strerror or first_line(error)}; "
                f"what was finished is kept in {store.folder.place}"
            ) from error
        store.discard(block)


def _alive_nodes() -> list[Mapping[str, float]]:
    import ray

    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


@contextmanager
def _quiet_ray_core() -> Iterator[None]:
    """Keep Ray, as it starts, from warning on the terminal of how Ray Data starts its actors.

    It tells there, below Python, that it was asked to be quiet, too.
    """
    if _LEVEL in os.environ:
        yield
        return
    try:
        terminal = os.dup(2)
    except OSError:  # a program without one
        yield
        return
    os.environ[_LEVEL] = "fatal"
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
        del os.environ[_LEVEL]


_LEVEL = "RAY_BACKEND_LOG_LEVEL"


@contextmanager
def _quiet_ray_data() -> Iterator[None]:
    """Keep Ray Data from writing to the terminal, and results in the order of the files."""
    from ray.data import DataContext

    context, log = DataContext.get_current(), logging.getLogger("ray.data")
    before = {name: getattr(context, name) for name in _SILENT if hasattr(context, name)}
    ordered, level = context.execution_options.preserve_order, log.level
    try:
        for name in before:
            setattr(context, name, False)
        context.execution_options.preserve_order = True
        log.setLevel(logging.CRITICAL)
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)
        context.execution_options.preserve_order = ordered
        log.setLevel(level)


_SILENT = ("enable_progress_bars", "enable_operator_progress_bars", "print_on_execution_start")
