"""Where the work of a run is computed: in this process, on a GPU, on a Ray cluster, in files.

Each kind of work is one interface, and is chosen for the length of a run: samples that are embedded
(`embedders/pipeline.py`), passes over all pairs (`estimate/knn/passes.py`), rounds of k-means
(`estimate/kmeans/rounds.py`), principal axes and sums over pairs (`estimate/products.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.embedders import Cache, Embedder, EmbedderChoice
from calipers.embedders.automatic import is_automatic, usual_embedder
from calipers.embedders.pipeline import embedding_on
from calipers.errors import InputError, check_installed
from calipers.estimate.kmeans.rounds import rounds_on
from calipers.estimate.knn.passes import passes_on
from calipers.estimate.products import products_on
from calipers.options.engines import EngineEmbedding, EngineSearch
from calipers.progress import Progress
from calipers.samples import SampleSet

if TYPE_CHECKING:
    from calipers.engine.ray_cluster import RayCluster

Connect = Callable[[], "RayCluster"]


@contextmanager
def running_where(options: EngineSearch, progress: Progress) -> Iterator[None]:
    """Embed and measure where the options say, within a context.

    Raises
    ------
    InputError
        If that place cannot do it.
    MissingExtraError
        If it needs a package that is not installed.
    """
    check_packages(options)
    with ExitStack() as stack:
        if options.engine == "ray":
            connect = stack.enter_context(_cluster(options))
            stack.enter_context(_embedding(options, connect))
            stack.enter_context(_files(options, progress, connect))
        elif options.work_dir is not None:
            stack.enter_context(_files(options, progress, None))
        elif options.device.partition(":")[0] == "cuda":
            stack.enter_context(_device(options.device, options.threads))
        if options.neighbours == "approximate":
            from calipers.engine.hnsw_passes import HnswPasses

            stack.enter_context(passes_on(HnswPasses(threads=options.threads)))
        yield


@contextmanager
def embedding_where(options: EngineEmbedding) -> Iterator[None]:
    """Embed where the options say: here, or on a Ray cluster that fills the cache.

    Raises
    ------
    InputError
        If that place cannot do it.
    MissingExtraError
        If it needs a package that is not installed.
    """
    check_packages(options)
    with ExitStack() as stack:
        if options.engine == "ray":
            connect = stack.enter_context(_cluster(options))
            stack.enter_context(_embedding(options, connect))
        yield


def check_packages(options: EngineSearch | EngineEmbedding) -> None:
    """Report, before the long work, that a package of the chosen engine is missing.

    Raises
    ------
    MissingExtraError
        If a package is not installed.
    """
    if options.engine == "ray":
        check_installed("ray", extra="ray", purpose="the engine 'ray'")
    if "://" in str(options.work_dir):
        check_installed("fsspec", extra="ray", purpose=f"the work folder {options.work_dir}")
    if isinstance(options, EngineSearch) and options.neighbours == "approximate":
        purpose = "the approximate search for neighbours"
        check_installed("usearch", extra="approximate", purpose=purpose)


@contextmanager
def _device(device: str, threads: int | None) -> Iterator[None]:
    """Do everything but the embedding, which has a device of its own, on a device of torch."""
    from calipers.engine.torch_kmeans import TorchRounds
    from calipers.engine.torch_passes import TorchPasses
    from calipers.engine.torch_products import TorchProducts

    with (
        passes_on(TorchPasses(device, threads)),
        rounds_on(TorchRounds(device, threads)),
        products_on(TorchProducts(device)),
    ):
        yield


@contextmanager
def _files(options: EngineSearch, progress: Progress, connect: Connect | None) -> Iterator[None]:
    """Search neighbours and cluster through files, made on a cluster where there is one."""
    from calipers.engine.kmeans_files import FileRounds
    from calipers.engine.tile_passes import TilePasses
    from calipers.engine.work_folder import WorkFolder

    place = options.work_dir or _kept(options) / "neighbours"
    folder, threads, where = WorkFolder(str(place)), options.threads, ""
    if connect is not None:
        where = " on Ray" if options.address is None else f" on Ray at {options.address}"
    passes = TilePasses(
        folder,
        run=None if connect is None else lambda tiles: connect().make_tiles(tiles),
        threads=threads,
        progress=progress,
        task=f"neighbours: tiles of pairs{where}",
    )
    rounds = FileRounds(
        folder,
        run=None if connect is None else lambda work, *tasks: connect().run(work, *tasks),
        threads=threads,
        progress=progress,
    )
    with passes, rounds, passes_on(passes), rounds_on(rounds):
        yield


@contextmanager
def _cluster(options: EngineSearch | EngineEmbedding) -> Iterator[Connect]:
    """Return what connects to the cluster; with an address, one that is there."""
    from calipers.engine.ray_cluster import ray_when_needed
    from calipers.engine.work_folder import WorkFolder

    folder = WorkFolder(str(options.work_dir or _kept(options)))
    with ray_when_needed(options.address, folder, threads=options.threads) as connect:
        yield connect


@contextmanager
def _embedding(options: EngineSearch | EngineEmbedding, connect: Connect) -> Iterator[None]:
    """Embed on a cluster, which fills the cache, or a folder of this run where there is none."""
    if options.processes not in (None, 1):
        raise InputError(
            "`processes` divides the work of this machine; leave it out with `engine='ray'`, whose "
            "actors embed"
        )
    from calipers.engine.ray_embedding import RayEmbedding, choice_for_actors
    from calipers.engine.work_folder import WorkFolder

    folder = _kept(options)
    place = options.work_dir or (folder if options.cache else folder / "embedding")

    def shipped(samples: SampleSet, embedder: Embedder) -> Embedder | EmbedderChoice | None:
        """Tell what the actors embed with; None where samples are embedded here."""
        wanted = options.embedder
        if wanted is None or is_automatic(wanted):
            wanted = usual_embedder(samples)
        if isinstance(wanted, str):
            wanted = options.choice_of(wanted)
        if isinstance(wanted, EmbedderChoice):
            return choice_for_actors(wanted, embedder)
        return embedder

    with RayEmbedding(connect, WorkFolder(str(place)), shipped) as on_ray, embedding_on(on_ray):
        yield


def _kept(options: EngineSearch | EngineEmbedding) -> Path:
    """The folder for caches, which all machines must see where no other folder is named."""
    folder = options.cache_dir
    return Cache(None if folder is None else Path(folder)).directory
