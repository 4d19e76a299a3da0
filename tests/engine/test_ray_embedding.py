"""Embedding by Ray Data gives the vectors of this machine, whoever dies, and goes on from files."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from calipers.commands.embed.run import embed
from calipers.embedders import (
    Cache,
    Embedder,
    EmbedderChoice,
    EmbedderOptions,
    EncodedBatch,
)
from calipers.embedders import embed as embed_samples
from calipers.embedders.cache import CachedVectors
from calipers.embedders.embedder import SampleError
from calipers.embedders.pipeline import blocks_of, embed_block, embedding_on
from calipers.embedders.reading import ReadingCounts
from calipers.engine import ray_embedding
from calipers.engine.ray_embedding import (
    EmbeddingActor,
    EmbeddingTask,
    RayEmbedding,
    SampleShards,
    check_sendable,
    choice_for_actors,
    pool_size,
)
from calipers.engine.ray_vectors import VectorStore
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError
from calipers.samples import SampleSet
from extras import need

TEXTS = [f"text {i} é🦉" for i in range(2 * 1024 + 300)]


class Letters(Embedder):
    """Embeds by the letters of a text; notes the process of every call in a folder."""

    name = "letters"
    views = ("first", "second")
    signature = {"embedder": "letters", "device": "cpu"}  # noqa: RUF012
    at_once = 200

    def __init__(self, folder, identity="letters-1", bad="", wait=0.0):
        self.folder, self.identity, self.bad, self.wait = Path(folder), identity, bad, wait

    def encode(self, prepared):
        (self.folder / f"pid-{os.getpid()}").touch()
        time.sleep(self.wait)
        for row, item in enumerate(prepared):
            if isinstance(item, str) and self.bad and self.bad == item:
                raise SampleError(row, "is bad")
        sums = [[len(item), sum(map(ord, item))] for item in map(str, prepared)]
        rows = np.array(sums, np.float32)
        views = {"first": rows, "second": rows[:, :1] + 1}
        owls = [str(item).count("🦉") for item in prepared]
        reading = ReadingCounts.of(zip(rows[:, 0].astype(int), owls, strict=True))
        return EncodedBatch(views, rows[:, 0] > 12, reading)


@pytest.fixture
def samples():
    return SampleSet.from_texts(TEXTS, name="human")


def all_blocks(samples):
    return blocks_of(samples, np.arange(len(samples)), samples.row_hashes())


def here(samples, embedder):
    return embed_samples(samples, embedder)


def task_of(folder, embedder, samples, shipped=None):
    work = WorkFolder(str(folder))
    shards = SampleShards(work, "samples-x", samples.name, samples.kind == "tokens")
    store = VectorStore(work, embedder.identity, samples.kind, embedder.views)
    return EmbeddingTask(
        shipped or embedder, embedder.identity, dict(embedder.signature), shards, store, 1
    )


class Pool:
    """What embeds in this process in the place of a cluster."""

    def __init__(self, monkeypatch, stop_after=None):
        self.files, self.stop_after = [], stop_after
        monkeypatch.setattr(ray_embedding, "run_pool", self.run)
        monkeypatch.setattr(ray_embedding, "_alive_nodes", lambda: [{"CPU": 2.0}])
        monkeypatch.setattr(ray_embedding, "check_sendable", lambda shipped: None)

    def run(self, task, names, *, actors, gpu):
        actor = EmbeddingActor(task)
        for name in names:
            self.files.append(name)
            if self.stop_after == len(self.files):
                raise KeyboardInterrupt
            found = actor({"name": np.array([name], dtype=object)})
            if found["error"][0]:
                raise InputError(found["error"][0])
            yield int(found["rows"][0])

    def embedding(self, folder):
        shipped = lambda samples, embedder: embedder  # noqa: E731
        return RayEmbedding(lambda: None, WorkFolder(str(folder)), shipped, few_rows=0)


def embed_by(pool, folder, samples, model, cache):
    with pool.embedding(folder) as on_ray, embedding_on(on_ray):
        return embed_samples(samples, model, cache=cache)


def same(found, expected):
    assert list(found.views) == list(expected.views)
    for view, rows in expected.views.items():
        np.testing.assert_array_equal(found.views[view], rows)
    assert found.notes == expected.notes
    for name in ("words", "unread"):
        mine, theirs = getattr(found.reading, name), getattr(expected.reading, name)
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(found.truncated, expected.truncated)


# Without a cluster -------------------------------------------------------------------------------


def test_what_a_pool_embeds_is_what_is_embedded_here(samples, tmp_path, monkeypatch):
    need("pyarrow")
    model, pool = Letters(tmp_path), Pool(monkeypatch)
    cache = Cache(tmp_path / "cache")
    found = embed_by(pool, cache.directory, samples, model, cache)
    same(found, here(samples, model))
    assert len(pool.files) == 3
    embed_by(pool, cache.directory, samples, model, cache)
    assert len(pool.files) == 3
    assert sorted(p.name for p in cache.directory.iterdir()) == ["embeddings"]
    calls = []
    monkeypatch.setattr(Letters, "encode", lambda self, items: calls.append(items))
    same(embed_samples(samples, model, cache=cache), embed_samples(samples, model, cache=cache))
    assert not calls


@pytest.mark.parametrize("place", ["work", "memory://calipers-embedding"])
@pytest.mark.parametrize("kept", [True, False])
def test_another_folder_is_left_empty(samples, tmp_path, monkeypatch, place, kept):
    need("pyarrow")
    need("fsspec")
    model, pool = Letters(tmp_path), Pool(monkeypatch)
    folder = place if "://" in place else tmp_path / place
    cache = Cache(tmp_path / "cache") if kept else None
    same(embed_by(pool, folder, samples, model, cache), here(samples, model))
    assert len(pool.files) == 3
    left = WorkFolder(str(folder))
    assert not left._local_copies.exists()
    if left.remote:
        assert not left.has("samples-x")
        import fsspec

        assert not [p for p in fsspec.filesystem("memory").find("calipers-embedding") if p]
    else:
        assert not [each for each in folder.rglob("*") if each.is_file()]
    assert not list(Path(tmp_path).glob("calipers-embedded-*"))
    if kept:
        assert len(list((tmp_path / "cache").rglob("*.safetensors"))) == 3


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_a_stopped_run_embeds_only_what_is_missing(samples, tmp_path, monkeypatch, stop):
    need("pyarrow")
    model, cache = Letters(tmp_path), Cache(tmp_path / "cache")
    pool = Pool(monkeypatch, stop_after=stop)
    with pytest.raises(KeyboardInterrupt):
        embed_by(pool, cache.directory, samples, model, cache)
    pool = Pool(monkeypatch)
    found = embed_by(pool, cache.directory, samples, model, cache)
    same(found, here(samples, model))
    assert len(pool.files) == 3 - (stop - 1)


def test_what_a_killed_run_left_in_a_work_folder_is_not_made_again(samples, tmp_path, monkeypatch):
    need("pyarrow")
    model, cache, folder = Letters(tmp_path), Cache(tmp_path / "cache"), tmp_path / "work"
    first = next(all_blocks(samples))
    store = VectorStore(WorkFolder(str(folder)), model.identity, "texts", model.views)
    store.write(first.hashes, embed_block(first, model, "human"))
    embedded = []
    whole = embed_block

    def counting(block, embedder, name):
        embedded.append(block.rows[0])
        return whole(block, embedder, name)

    monkeypatch.setattr(ray_embedding, "embed_block", counting)
    found = embed_by(Pool(monkeypatch), folder, samples, model, cache)
    assert embedded == [1024, 2048]
    same(found, here(samples, model))


@pytest.mark.parametrize("place", ["work", "memory://calipers-equal"])
def test_equal_samples_and_those_of_other_sets_are_not_embedded_again(
    samples, tmp_path, monkeypatch, place
):
    need("pyarrow")
    need("fsspec")
    model, cache = Letters(tmp_path), Cache(tmp_path / "cache")
    folder = place if "://" in place else tmp_path / place
    embed_samples(samples.take(np.arange(100, 1500)), model, cache=cache)
    seen = []
    encode = Letters.encode

    def counting(self, items):
        seen.extend(items)
        return encode(self, items)

    monkeypatch.setattr(Letters, "encode", counting)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(samples)), 2))
    twice = samples.take(rows)
    found = embed_by(Pool(monkeypatch), folder, twice, model, cache)
    assert sorted(seen) == sorted(TEXTS[:100] + TEXTS[1500:])
    same(found, here(twice, model))


def test_a_bad_sample_is_the_error_that_it_is_here(samples, tmp_path, monkeypatch):
    need("pyarrow")
    model = Letters(tmp_path, bad=TEXTS[1500])
    with pytest.raises(InputError) as expected:
        here(samples, model)
    with pytest.raises(InputError) as caught:
        embed_by(Pool(monkeypatch), tmp_path / "w", samples, model, Cache(tmp_path / "w"))
    assert str(caught.value) == str(expected.value) == "human: sample 1,501: is bad"


def test_token_ids_go_the_same_way(tmp_path, monkeypatch):
    need("pyarrow")
    ids = [[i, i + 1][: i % 3] for i in range(1100)]
    samples = SampleSet.from_tokens(ids, name="ids")
    model = Letters(tmp_path)
    model.reads = frozenset({"tokens"})
    found = embed_by(Pool(monkeypatch), tmp_path / "w", samples, model, Cache(tmp_path / "w"))
    same(found, here(samples, model))


def test_few_samples_and_cheap_embedders_stay_here(samples, tmp_path, monkeypatch):
    model, pool, cache = Letters(tmp_path), Pool(monkeypatch), Cache(tmp_path / "w")
    on_ray = RayEmbedding(pytest.fail, WorkFolder(str(tmp_path)), lambda *given: model)
    assert on_ray.fill(samples.subsample(2048, seed=0), model, cache, None) is cache
    on_ray = RayEmbedding(pytest.fail, WorkFolder(str(tmp_path)), lambda *given: None, few_rows=0)
    assert on_ray.fill(samples, model, cache, None) is cache
    model.kept = False
    assert pool.embedding(tmp_path).fill(samples, model, None, None) is None
    assert not pool.files


def test_an_embedder_that_differs_on_a_node_is_refused(samples, tmp_path):
    model, other = Letters(tmp_path), Letters(tmp_path, identity="letters-2")
    other.signature = {"embedder": "letters", "device": "cuda"}
    task = task_of(tmp_path, model, samples, shipped=other)
    name = task.shards.write(list(all_blocks(samples)))
    found = EmbeddingActor(task)({"name": np.array([name])})
    assert found["error"].tolist() == [
        "the embedder 'letters' of a Ray node would give other vectors than that of this machine "
        "(device differ); all machines need the same packages, model files and kind of device"
    ]


def test_workers_that_die_over_the_same_samples_are_not_tried_for_ever(samples, tmp_path):
    task = task_of(tmp_path, Letters(tmp_path), samples)
    name = task.shards.write(list(all_blocks(samples)))
    for _ in range(10):
        task.shards.begin(name)
    found = EmbeddingActor(task)({"name": np.array([name])})
    assert found["error"][0].startswith(
        "human: the Ray workers that embedded some of its samples died 10 times, most likely"
    )


def test_a_full_disk_is_a_sentence(samples, tmp_path, monkeypatch):
    task = task_of(tmp_path, Letters(tmp_path), samples)
    name = task.shards.write(list(all_blocks(samples)))

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CachedVectors, "store", full)
    found = EmbeddingActor(task)({"name": np.array([name])})
    assert found["error"][0] == (
        f"{tmp_path}: cannot be written: No space left on device; what was finished is kept there"
    )


def test_what_cannot_be_pickled_is_refused(tmp_path):
    need("ray")
    model = Letters(tmp_path)
    check_sendable(model)
    check_sendable(EmbedderChoice("minilm"))
    model.lock = threading.Lock()
    with pytest.raises(InputError) as caught:
        check_sendable(model)
    assert str(caught.value).startswith(
        "the embedder 'letters' cannot be sent to the workers of `engine='ray'`, since it cannot "
        "be pickled (cannot pickle '_thread.lock' object"
    )


def test_only_models_are_loaded_by_actors(tmp_path):
    model = Letters(tmp_path)
    chosen = choice_for_actors(EmbedderChoice("minilm"), model)
    assert chosen is not None
    assert chosen.settings.device == "cpu"  # what this machine found
    numbered = EmbedderChoice("minilm", EmbedderOptions(device="cuda:1"))
    assert choice_for_actors(numbered, model) == EmbedderChoice(
        "minilm", EmbedderOptions(device="cuda")
    )
    assert choice_for_actors(EmbedderChoice("precomputed"), model) is None


@pytest.mark.parametrize(
    ("nodes", "gpu", "size"),
    [
        ([{"CPU": 2.0}], False, (1, 2)),
        ([{"CPU": 64.0}, {"CPU": 64.0}], False, (16, 8)),
        ([{"CPU": 6.0}, {"CPU": 4.0}, {"memory": 1.0}], False, (2, 4)),
        ([{}], False, (1, 1)),
        ([{"CPU": 8.0, "GPU": 2.0}, {"CPU": 8.0}], True, (2, 1)),
    ],
)
def test_the_pool_follows_the_cluster(nodes, gpu, size):
    assert pool_size(nodes, gpu=gpu) == size


def test_no_gpu_is_a_sentence():
    with pytest.raises(InputError, match=r"no node .*GPU"):
        pool_size([{"CPU": 8.0}], gpu=True)


def test_processes_and_actors_exclude_each_other():
    need("ray")
    with pytest.raises(InputError) as caught:
        embed(["a"], engine="ray", processes=2)
    assert str(caught.value).startswith("`processes` divides the work of this machine;")


# With one ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    ray = need("ray")
    need("ray.data")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=128 * 2**20,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield ray
    ray.shutdown()


@contextmanager
def killing_once(folder):
    """Kill the process of the first actor that embeds, in the middle of its work."""
    killed, stop = [], threading.Event()

    def watch():
        while not stop.wait(0.05):
            for mark in Path(folder).glob("pid-*"):
                pid = int(mark.name.removeprefix("pid-"))
                if pid != os.getpid() and not killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        stop.set()
        watcher.join()


@pytest.mark.slow
def test_actors_give_the_vectors_of_this_machine_and_survive_a_kill(cluster, samples, tmp_path):
    model = Letters(tmp_path, wait=0.1)
    expected = here(samples, Letters(tmp_path / ".."))
    for mark in tmp_path.glob("pid-*"):
        mark.unlink()
    with killing_once(tmp_path) as killed:
        found = embed(TEXTS, embedder=model, engine="ray", cache_dir=str(tmp_path / "cache"))
    assert killed
    for view, rows in expected.views.items():
        np.testing.assert_array_equal(found.embeddings.views[view], rows)
    np.testing.assert_array_equal(found.embeddings.reading.unread, np.ones(len(TEXTS)))
    assert sorted(p.name for p in (tmp_path / "cache").iterdir()) == ["embeddings"]
    pids = {int(mark.name.removeprefix("pid-")) for mark in tmp_path.glob("pid-*")}
    assert os.getpid() not in pids
    assert len(pids) > 1  # a second one went on


@pytest.mark.slow
def test_a_sample_that_fails_on_an_actor_names_its_row(cluster, samples, tmp_path):
    model = Letters(tmp_path, bad=TEXTS[1500])
    with pytest.raises(InputError) as caught:
        embed(TEXTS, embedder=model, engine="ray", cache=False, cache_dir=str(tmp_path / "cache"))
    assert str(caught.value) == "texts: sample 1,501: is bad"
    assert [each.name for each in (tmp_path / "cache").iterdir()] == ["embedding"]
    assert not list((tmp_path / "cache" / "embedding").glob("samples-*"))


@pytest.mark.slow
def test_minilm_is_equal_to_the_last_bit(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_embedding, "FEW_ROWS", 0)
    texts = [f"word {i} {'పటం' * (i % 2)}" for i in range(1024 + 9)]
    minilm = {"embedder": "minilm"}  # such texts are read by their characters, where none is named
    on_ray = embed(texts, engine="ray", cache_dir=str(tmp_path / "cache"), **minilm)
    local = embed(texts, cache=False, **minilm)
    for view, rows in local.embeddings.views.items():
        np.testing.assert_array_equal(on_ray.embeddings.views[view], rows)
    assert on_ray.embeddings.signature == local.embeddings.signature
    assert on_ray.reading == local.reading
    assert local.reading.unread_words == (1024 + 9) // 2
