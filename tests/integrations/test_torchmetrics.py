"""Metrics for torchmetrics: their values, what they hold, and torchmetrics' own machinery."""

import copy
import io
import pickle
import socket
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.embedders import Embedder, EncodedBatch
from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError
from calipers.integrations.reservoir import priorities, smallest
from extras import need

torch = need("torch")
torchmetrics = need("torchmetrics")

from calipers.integrations.torchmetrics import (  # noqa: E402
    FrechetDistance,
    MauveScore,
    SupportMetrics,
)

EVERY = (SupportMetrics, MauveScore, FrechetDistance)


@pytest.fixture
def sides():
    torch.manual_seed(7)
    return torch.randn(240, 6), 0.8 * torch.randn(200, 6) + 0.2


def filled(metric, real, fake, size=32):
    for batch in real.split(size):
        metric.update(batch, real=True)
    for batch in fake.split(size):
        metric.update(batch, real=False)
    return metric


def plain(found):
    return {key: value.item() for key, value in found.items()}


# The sample that is held ---------------------------------------------------------------------


def test_priorities_are_those_of_the_stream_wherever_it_is_taken_up():
    whole = priorities(3, 1, 0, 50)
    parts = [priorities(3, 1, start, 7) for start in range(0, 49, 7)]
    assert np.concatenate(parts).tolist() == whole[:49].tolist()
    assert (whole >= 0).all()
    assert len({*whole.tolist(), *priorities(3, 2, 0, 50).tolist()}) == 100


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.lists(st.integers(0, 30), max_size=6))
def test_what_is_held_does_not_depend_on_the_batches(seed, most, sizes):
    rows = torch.arange(float(sum(sizes))).reshape(-1, 1)
    parted, whole = (SupportMetrics(max_samples=most, seed=seed, level=None) for _ in "ab")
    for batch in rows.split(sizes) if sizes else ():
        parted.update(batch, real=True)
    whole.update(rows, real=True)
    held = parted._held("real")
    assert len(held) == min(most, len(rows))
    assert torch.equal(held, whole._held("real"))
    expected = smallest(priorities(seed, 0, 0, len(rows)), most)
    assert held.flatten().tolist() == expected.tolist()


def test_every_row_is_held_equally_often():
    # 400 draws of 5 of 20 rows: each is held 100 times, give or take 8.7
    counts = np.zeros(20)
    for seed in range(400):
        counts[smallest(priorities(seed, 0, 0, 20), 5)] += 1
    assert abs(counts - 100).max() < 4.5 * np.sqrt(400 * 0.25 * 0.75)


def test_joined_reservoirs_are_the_reservoir_of_both_streams(sides):
    real, _ = sides
    one, other = SupportMetrics(max_samples=50, seed=1), SupportMetrics(max_samples=50, seed=2)
    one.update(real[:100], real=True)
    other.update(real[100:], real=True)
    keys = np.concatenate([priorities(1, 0, 0, 100), priorities(2, 0, 0, 140)])
    one.merge_state(other)
    assert torch.equal(one._held("real"), real[smallest(keys, 50)])
    assert one.real_rows[0].numel() == 50 * 6  # cut at once
    assert one.real_seen == 240


# Values --------------------------------------------------------------------------------------


def test_support_by_hand():
    metric = SupportMetrics(k=1, level=None)
    metric.update(torch.tensor([[0.0], [1], [3], [7]]), real=True)
    metric.update(torch.tensor([[2.0], [4], [5], [20]]), real=False)
    assert plain(metric.compute()) == {
        "precision": 3 / 4,
        "recall": 4 / 4,
        "density": (2 + 2 + 2 + 0) / 4,
        "coverage": 3 / 4,
    }


def test_open_balls_give_the_values_of_prdc(sides):
    from calipers.compat.prdc import compute_prdc

    found = plain(filled(SupportMetrics(k=5, ties="open", level=None), *sides).compute())
    assert found == pytest.approx(compute_prdc(*map(np.asarray, sides), 5), abs=1e-15)


@pytest.mark.parametrize("metric", [SupportMetrics(), MauveScore()], ids=type)
def test_values_and_intervals_are_those_of_compare(sides, metric):
    filled(metric, *sides)
    found, held = plain(metric.compute()), [metric._held(side).numpy() for side in ("real", "fake")]
    compared = calipers.compare(*held, metrics=metric.keys, floor=False)["generated"]
    assert len(found) == 3 * len(metric.keys)
    for key in metric.keys:
        low, high = compared[key].interval
        assert found[key] == pytest.approx(compared[key].value, abs=1e-12)
        assert found[f"{key}_low"] == pytest.approx(low, abs=1e-9)
        assert found[f"{key}_high"] == pytest.approx(high, abs=1e-9)


def test_raw_counts_are_another_key(sides):
    found = filled(MauveScore(star=False, level=None), *sides).compute()
    assert set(found) == {"mauve", "frontier_integral"}


def test_frechet_distance_is_that_of_all_rows_at_once(sides):
    for size in (1, 33, 240):
        found = plain(filled(FrechetDistance(), *sides, size=size).compute())
        whole = calipers.metrics.frechet_distance(*map(np.asarray, sides)).value
        assert found["frechet_distance"] == pytest.approx(whole, rel=1e-10)
        assert found["frechet_distance_low"] < whole < found["frechet_distance_high"]


def test_frechet_distance_is_that_of_torchmetrics(sides):
    image = need("torchmetrics.image.fid")

    class Features(torch.nn.Identity):
        num_features = 6

    peer = image.FrechetInceptionDistance(feature=Features())
    filled(peer, *sides)
    ours = filled(FrechetDistance(level=None), *sides).compute()["frechet_distance"]
    assert ours.item() == pytest.approx(peer.compute().item(), rel=1e-4)  # theirs is in float32


def test_the_interval_of_the_frechet_distance_leaves_out_every_twentieth_row(sides):
    from calipers.uncertainty.spread import Component, Spread, confidence_interval

    real, fake = (np.asarray(side, float) for side in sides)

    def without(rows, block):
        return np.delete(rows, np.s_[block::20], axis=0)

    distance = calipers.metrics.frechet_distance
    spread = Spread(
        (
            Component.jackknife(
                "reference", [distance(without(real, b), fake).value for b in range(20)]
            ),
            Component.jackknife(
                "generated", [distance(real, without(fake, b)).value for b in range(20)]
            ),
        )
    )
    low, high = confidence_interval(distance(real, fake).value, spread, bounds=(0, np.inf))
    found = plain(filled(FrechetDistance(), *sides).compute())
    assert found["frechet_distance_low"] == pytest.approx(low, rel=1e-6)
    assert found["frechet_distance_high"] == pytest.approx(high, rel=1e-6)


# Bounded state -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: SupportMetrics(max_samples=30), FrechetDistance])
def test_what_is_held_stops_growing(make, sides):
    def numbers(metric):
        states = metric.metric_state.values()
        return sum(
            part.numel() for state in states for part in (state if type(state) is list else [state])
        )

    metric = filled(make(), *sides)
    before = numbers(metric)
    for _ in range(3):
        filled(metric, *sides)
    assert numbers(metric) == before
    assert metric.real_seen == 4 * 240


# torchmetrics' machinery ---------------------------------------------------------------------


@pytest.mark.parametrize("make", EVERY)
def test_reset_forgets_all_and_repeats_exactly(make, sides):
    metric = filled(make(), *sides)
    first = plain(metric.compute())
    metric.reset()
    assert metric.real_seen == 0
    assert plain(filled(metric, *sides).compute()) == first


@pytest.mark.parametrize("make", EVERY)
def test_too_few_samples_are_nan_with_a_warning(make):
    metric = make()
    metric.update(torch.randn(1, 3), real=True)
    with pytest.warns(UserWarning, match=r"needs \d samples of each side"):
        found = plain(metric.compute())
    assert np.isnan([*found.values()]).all()
    assert len(found) == 3 * len(metric.keys)


def test_few_samples_have_values_without_intervals(sides):
    found = plain(filled(SupportMetrics(), sides[0][:50], sides[1][:50]).compute())
    assert 0 < found["precision"] <= 1
    assert np.isnan(found["precision_low"])


@pytest.mark.parametrize("make", EVERY)
def test_pickles_copies_and_state_dicts_hold_the_same(make, sides):
    metric = filled(make(level=None), *sides)
    expected = plain(metric.compute())
    assert plain(pickle.loads(pickle.dumps(metric)).compute()) == expected  # noqa: S301
    assert plain(copy.deepcopy(metric).compute()) == expected
    metric.persistent(True)
    file = io.BytesIO()
    torch.save(metric.state_dict(), file)
    file.seek(0)
    other = make(level=None)
    other.persistent(True)
    other.load_state_dict(torch.load(file, weights_only=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torchmetrics counts updates of its own
        assert plain(other.compute()) == expected
    other.update(sides[0], real=True)  # the stream goes on where it stopped
    metric.update(sides[0], real=True)
    assert plain(other.compute()) == plain(metric.compute())


@pytest.mark.parametrize("make", EVERY)
def test_forward_scores_a_batch_against_what_is_held(make, sides):
    real, fake = sides
    metric, alone = make(level=None), make(level=None)
    assert np.isnan([*plain(metric(real, real=True)).values()]).all()
    given = plain(metric(fake[:60], real=False))
    alone.update(real, real=True)
    alone.update(fake[:60], real=False)
    assert given == pytest.approx(plain(alone.compute()), abs=0.15)  # MAUVE's cells by their order
    metric.update(fake[60:], real=False)
    expected = plain(filled(make(level=None), *sides).compute())
    assert plain(metric.compute()) == pytest.approx(expected, rel=1e-10)


def test_a_collection_shares_one_sample_and_embeds_once(sides):
    calls = []

    class Embed(torch.nn.Module):
        def forward(self, rows):
            calls.append(len(rows))
            return rows[:, :4]

    embed = Embed()
    parts = [SupportMetrics(embedder=embed), MauveScore(embedder=embed)]
    other = SupportMetrics(embedder=embed, max_samples=100)
    metrics = torchmetrics.MetricCollection(
        {"support": parts[0], "mauve": parts[1], "small": other}, prefix="val/"
    )
    filled(metrics, *sides, size=20)  # smaller than any sample that is held
    assert sorted(map(sorted, metrics.compute_groups.values())) == [["mauve", "support"], ["small"]]
    assert len(calls) == 3 + 2 * 21  # the first batch finds out what can be shared
    found = metrics.compute()
    assert {"val/mauve_mauve_star", "val/small_recall_low"} < set(found)
    assert len(metrics["small"]._held("real")) == 100


def test_a_tracker_keeps_the_best(sides):
    tracker = torchmetrics.MetricTracker(SupportMetrics(level=None), maximize=True)
    for shift in (3.0, 0.0, 5.0):
        tracker.increment()
        filled(tracker, sides[0], sides[1] + shift)
    every = tracker.compute_all()
    assert every["precision"].shape == (3,)
    assert every["precision"].argmax() == 1


def test_a_module_is_part_of_the_metric_and_its_mode_is_left_alone(sides):
    module = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.Dropout(0.5)).train()
    metric = SupportMetrics(embedder=module, level=None)
    first, again = metric.features(sides[0]), metric.features(sides[0])
    assert torch.equal(first, again)  # in evaluation mode
    assert module.training
    assert not first.requires_grad
    assert "embedder.0.weight" in metric.state_dict()


def test_rows_may_be_held_in_float64(sides):
    real = sides[0].double() + 1e9
    metric = SupportMetrics(level=None).set_dtype(torch.float64)
    metric.update(real, real=True)
    assert metric._held("real").dtype == torch.float64
    metric.to("cpu").update(real, real=True)
    assert metric._held("real").dtype == torch.float64
    with pytest.raises(InputError, match="held in float32 or float64; found"):
        metric.set_dtype(torch.float16)


# Texts and images ----------------------------------------------------------------------------


@pytest.mark.slow
def test_texts_by_name(sides):
    texts = [f"a {animal} {does}" for animal in ("cat", "dog", "bird") for does in ("sat", "ran")]
    metric = SupportMetrics(k=2, embedder="minilm", level=None)
    metric.update(texts, real=True)
    metric.update(texts[:3], real=False)
    vectors = calipers.load_embedder("minilm").embed(texts).views["meaning"]
    expected = calipers.metrics.support(vectors, vectors[:3], k=2)
    found = plain(metric.compute())
    assert found == {key: getattr(expected, key).value for key in metric.keys}
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301
    assert again._loaded is None
    assert plain(again.compute()) == found


def test_images_by_name_and_by_module():
    torch.manual_seed(0)
    images = torch.randint(0, 256, (8, 3, 5, 5), dtype=torch.uint8)
    named = SupportMetrics(k=1, embedder="pixels:size=5", normalise="none", level=None)
    module = SupportMetrics(k=1, embedder=torch.nn.Flatten(), level=None)
    for metric, batch in ((named, images), (module, images / 255)):
        metric.update(batch, real=True)
        metric.update(batch.flip(3), real=False)
    assert plain(named.compute()) == plain(module.compute())
    grey = named.features(images[:, :1])
    assert torch.equal(grey[:, 0], images[:, 0, 0, 0] / 255)
    assert torch.allclose(named.features(images / 255), named.features(images))


@pytest.mark.parametrize(
    ("options", "samples", "message"),
    [
        ({}, ["a text"], "texts .*embedder='minilm'.* none"),
        ({"embedder": "minilm"}, "a text", "a batch .*list of texts.* one text"),
        ({}, [[float("nan")]], "vectors .*finite; a batch holds NaN or infinity"),
        ({}, [1.0, 2.0], r"found the shape \(2,\)"),
        ({"embedder": "tfidf"}, ["a b"], "whole reference"),
        ({"embedder": "pixels:size=2"}, torch.zeros(2, 2), "images must have the shape"),
        (
            {"embedder": "pixels:size=2"},
            torch.full((1, 3, 2, 2), 7.0),
            "images of floats .*0 and 1",
        ),
        (
            {"embedder": "pixels:size=2"},
            torch.ones((1, 3, 2, 2), dtype=torch.int32),
            "images .*uint8 or floats from 0 to 1.* torch.int32",
        ),
        ({"embedder": "minilm", "view": "colour"}, ["a"], "view must be one of meaning, form"),
    ],
    ids=str,
)
def test_batches_that_cannot_be_read_are_refused(options, samples, message):
    with pytest.raises(InputError, match=message):
        SupportMetrics(**options).update(samples, real=True)


def test_bad_options_are_refused():
    for options, message in (
        ({"embedder": 3}, "embedder must be the name of an embedder"),
        ({"max_samples": 1}, "max_samples must be a whole number of at least 2; found 1"),
        ({"level": 2.0}, "level must lie between 0 and 1"),
        ({"k": 0}, "k must be a whole number of at least 1; found 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0; found -1"),
    ):
        with pytest.raises(InputError, match=message):
            SupportMetrics(**options)
    metric = SupportMetrics()
    metric.update(torch.zeros(2, 3), real=True)
    with pytest.raises(InputError, match=r"3 numbers; .*4"):
        metric.update(torch.zeros(2, 4), real=False)
    with pytest.raises(InputError, match=r"real .*'yes'"):
        metric.update(torch.zeros(2, 3), real="yes")


# Two processes -------------------------------------------------------------------------------


def _process(rank, port, folder):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(7)
    real, fake = torch.randn(240, 6), 0.8 * torch.randn(200, 6) + 0.2
    results = {}
    for make in (SupportMetrics, FrechetDistance):
        options = {} if make is FrechetDistance else {"max_samples": 80}
        metric = make(level=None, **options)
        # The reference is on the first process alone; the generated rows are on both
        if rank == 0:
            metric.update(real, real=True)
        metric.update(fake[rank::2], real=False)
        results |= plain(metric.compute())
        results[make.__name__] = metric.real_seen.item()  # each has its own again
        if make is SupportMetrics:
            metric.sync()
            results["held"] = metric._held("fake").tolist()
            metric.unsync()
    torch.save(results, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_hold_what_one_would(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = [sys.executable, __file__, str(port), str(tmp_path)]
    both = [subprocess.Popen([*run, str(rank)]) for rank in (0, 1)]
    try:
        assert [one.wait(timeout=300) for one in both] == [0, 0]
    finally:
        for one in both:
            one.kill()
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert first.pop("SupportMetrics") == 240
    assert second.pop("SupportMetrics") == 0
    assert (first.pop("FrechetDistance"), second.pop("FrechetDistance")) == (240, 0)
    assert first == second

    torch.manual_seed(7)
    real, fake = torch.randn(240, 6), 0.8 * torch.randn(200, 6) + 0.2
    keys = np.concatenate([priorities(0, 2 * rank + 1, 0, 100) for rank in (0, 1)])
    rows = torch.cat([fake[0::2], fake[1::2]])[smallest(keys, 80)]
    assert first["held"] == rows.tolist()
    held = real[smallest(priorities(0, 0, 0, 240), 80)]
    expected = calipers.metrics.support(held.numpy(), rows.numpy())
    assert first["precision"] == expected.precision.value
    whole = calipers.metrics.frechet_distance(real.numpy(), fake.numpy()).value
    assert first["frechet_distance"] == pytest.approx(whole, rel=1e-10)


if __name__ == "__main__":
    _process(int(sys.argv[3]), int(sys.argv[1]), sys.argv[2])


# Texts that are not read -----------------------------------------------------------------------


class Sees(Embedder):
    """Does not know words of z."""

    name = identity = "sees"
    views = ("meaning",)
    signature = {"embedder": "sees"}  # noqa: RUF012

    def encode(self, prepared):
        rows = np.array([[len(text), text.count("a"), 1] for text in prepared], np.float32)
        counts = [(1, int(text.startswith("z"))) for text in prepared]
        return EncodedBatch({"meaning": rows}, np.zeros(len(rows), bool), ReadingCounts.of(counts))


@pytest.mark.parametrize("kind", EVERY)
def test_texts_that_are_not_read_have_no_score(kind):
    metric = kind(embedder=Sees(), level=None)
    metric.update([f"a{'a' * i}" for i in range(40)], real=True)
    metric.update([f"a{'a' * i}" for i in range(40)], real=False)
    assert all(np.isfinite(value) for value in plain(metric.compute()).values())
    metric.reset()
    metric.update([f"a{'a' * i}" for i in range(40)], real=True)
    batch = metric([f"z{'a' * i}" for i in range(10)], real=False)
    assert all(np.isnan(value) for value in plain(batch).values())
    with pytest.warns(UserWarning, match="sees .*100 % of the generated"):
        found = plain(metric.compute())
    assert all(np.isnan(value) for value in found.values())
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301
    again._computed = None
    with pytest.warns(UserWarning, match="100 % of the generated"):
        again.compute()


def test_metrics_that_are_merged_count_together():
    one, other = (SupportMetrics(embedder=Sees(), level=None, seed=seed) for seed in (1, 2))
    for metric in (one, other):
        metric.update([f"a{'a' * i}" for i in range(20)], real=True)
    one.update([f"a{'a' * i}" for i in range(20)], real=False)
    other.update([f"z{'a' * i}" for i in range(20)], real=False)
    one.merge_state(other)
    with pytest.warns(UserWarning, match="sees .*50 % of the generated"):
        one.compute()
