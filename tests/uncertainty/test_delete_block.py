"""Replicates from one pass: a pair without a block of rows, and halves of both sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.settings import Settings
from calipers.estimate.histograms import Histograms
from calipers.estimate.moments import Moments
from calipers.estimate.quantise import joined_cells
from calipers.metrics.frontiers import mauve_scores
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import Blocks
from calipers.uncertainty.delete_block import DeleteBlock, OneRun, best_run, labels_of, one_run
from calipers.uncertainty.half_samples import (
    FAMILIES,
    HalfSample,
    HalfSampleCells,
    half_differences,
)
from calipers.uncertainty.replicates import spreads

# A pair without a block of rows: every metric that is read from it, against measuring again.


SUPPORT = choose("precision recall density coverage", ("v",))
CELLS = choose("mauve mauve_star frontier_integral prd_f8 prd_f1_8 total_variation", ("v",))
BOTH = [("reference", 0), ("reference", 13), ("generated", 0), ("generated", 19)]


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(5)
    sets = rng.standard_normal((130, 4)), rng.standard_normal((115, 4)) * 0.8 + 0.2
    counted = [metric for metric in METRICS.values() if metric.replicates == "counts"]
    return Pair(*sets, Settings(threads=1, seed=3), needs_of(counted))


def rest_of(pair, side, block):
    """The same sets without the rows, as if they had never been there."""
    rows = {"reference": pair.reference, "generated": pair.generated}
    rows[side] = rows[side][labels_of(pair, side).labels != block]
    return rows["reference"], rows["generated"]


@pytest.mark.parametrize(("side", "block"), BOTH)
def test_supports_equal_those_of_the_rest(pair, side, block):
    part = DeleteBlock.of(pair, side, block)
    fresh = Pair(*rest_of(pair, side, block), pair.settings)
    for choice in SUPPORT:
        assert choice.score(part).value == pytest.approx(choice.score(fresh).value, rel=1e-14)
    assert part.reference.shape == fresh.reference.shape
    assert part.generated.shape == fresh.generated.shape
    assert np.isnan(getattr(part, side)).all()


@pytest.mark.parametrize(("side", "block"), BOTH)
def test_frontiers_and_curves_equal_those_over_the_same_cells_recounted(pair, side, block):
    part = DeleteBlock.of(pair, side, block)
    keep = labels_of(pair, side).labels != block
    labels = dict(zip(("reference", "generated"), pair.estimates.cells.labels, strict=True))
    labels[side] = labels[side][keep]
    size = len(pair.estimates.cells.centres)
    counts = Histograms(*(np.bincount(each, minlength=size) for each in labels.values()))
    cells = replace(pair.estimates.cells, runs=(counts,), inertias=(0.0,))
    wanted = mauve_scores(cells, pins={})
    found = {choice.name: choice.score(part).value for choice in CELLS}
    assert found["mauve"] == pytest.approx(wanted.mauve.value, rel=1e-12)
    assert found["mauve_star"] == pytest.approx(wanted.mauve_star.value, rel=1e-12)
    assert found["mauve"] != CELLS[0].score(pair).value


def test_all_that_is_read_by_block_is_read_from_counts_and_not_measured_again(pair, monkeypatch):
    by_block = [each for each in choose("all", ("v",)) if each.metric.replicates == "counts"]
    assert len(by_block) == sum(metric.replicates == "counts" for metric in METRICS.values())
    for choice in by_block:
        choice.score(pair)
    for module, name in (
        ("calipers.metrics.pair", "neighbourhoods"),
        ("calipers.metrics.estimates", "quantise"),
        ("calipers.metrics.estimates", "estimate_ratios"),
    ):
        monkeypatch.setattr(f"{module}.{name}", refuse)
    for side, sizes in (("reference", "n:123|m:115"), ("generated", "n:130|m:109")):
        part = DeleteBlock.of(pair, side, 7)
        for choice in by_block:
            score = choice.score(part)
            assert np.isfinite(score.value), choice.name
            assert sizes in score.signature, choice.name


def refuse(*_, **__):
    raise AssertionError("nothing is to be measured again")


def test_a_second_block_leaves_what_is_left_of_the_first_pair(pair):
    twice = DeleteBlock.of(DeleteBlock.of(pair, "reference", 4), "generated", 9)
    left = pair.reference[labels_of(pair, "reference").labels != 4]
    right = pair.generated[labels_of(pair, "generated").labels != 9]
    assert (len(twice.reference), len(twice.generated)) == (len(left), len(right))
    assert [len(each.labels) for each in twice.blocks] == [len(left), len(right)]
    fresh = Pair(left, right, pair.settings)
    for choice in SUPPORT[:3]:
        assert choice.score(twice).value == pytest.approx(choice.score(fresh).value, rel=1e-14)
    assert SUPPORT[3].score(twice).value == pytest.approx(SUPPORT[3].score(fresh).value, abs=0.02)
    counted = twice.estimates.cells.best
    assert (counted.reference.sum(), counted.generated.sum()) == (len(left), len(right))


@pytest.mark.parametrize(("side", "block"), BOTH)
def test_moments_are_those_of_the_rest(pair, side, block):
    part = DeleteBlock.of(pair, side, block)
    for found, rows in zip(part.moments, rest_of(pair, side, block), strict=True):
        wanted = Moments.of(rows)
        assert found.count == wanted.count
        np.testing.assert_allclose(found.mean, wanted.mean, atol=1e-12)
        np.testing.assert_allclose(found.covariance, wanted.covariance, atol=1e-12)


def test_one_start_of_k_means(pair):
    every = [CELLS[0].score(OneRun.of(pair, run)).value for run in range(5)]
    best = int(np.argmin(pair.estimates.cells.inertias))
    assert every[best] == CELLS[0].score(pair).value
    assert len(set(every)) > 1
    curves = [CELLS[3].score(OneRun.of(pair, run)).value for run in range(10)]
    assert CELLS[3].score(pair).value == pytest.approx(np.mean(curves), abs=0.02)
    with pytest.raises(IndexError):
        CELLS[0].score(OneRun.of(pair, 5))


def test_the_best_of_the_starts_is_the_first_of_equal_ones(pair):
    cells = pair.estimates.cells
    assert best_run(cells).best is cells.best
    tied = replace(cells, inertias=(2.0, 1.0, 1.0, 3.0, 1.0))
    assert best_run(tied).best is tied.best is cells.runs[1]
    assert one_run(cells, 2).best is cells.runs[2]
    assert one_run(cells, 2).inertias == (cells.inertias[2],)


def test_sets_too_small_for_blocks_say_so(rng):
    small = Pair(rng.standard_normal((99, 2)), rng.standard_normal((200, 2)), Settings())
    assert small.blocks is None
    with pytest.raises(ValueError, match="sets this small have no blocks"):
        DeleteBlock.of(small, "reference", 0)


def test_labels_of_each_side(pair):
    assert [len(labels_of(pair, side).labels) for side in ("reference", "generated")] == [130, 115]
    again = Blocks.balanced(130, seed=3)
    np.testing.assert_array_equal(labels_of(pair, "reference").labels, again.labels)


# Halves of both sets: scores read from what was kept, against measuring the halves again.


HALVED_CELLS = choose("mauve mauve_star frontier_integral", ("v",))
COUNT = 31


@pytest.fixture(scope="module")
def halved():
    return made()


def made(n=130, m=115, **options):
    rng = np.random.default_rng(5)
    sets = rng.standard_normal((n, 4)), rng.standard_normal((m, 4)) * 0.8 + 0.2
    asked = {"threads": 1, "seed": 3} | options
    return Pair(*sets, Settings(**asked), needs_of(each.metric for each in SUPPORT))


def rows_of(halved, halving, which):
    """The rows of a half."""
    return tuple(
        rows[blocks.half(halving, which)]
        for rows, blocks in zip((halved.reference, halved.generated), halved.blocks, strict=True)
    )


def test_differences_of_supports_by_measuring_every_half(halved):
    found = half_differences(halved, SUPPORT)
    for choice in SUPPORT:
        values = np.array(
            [
                [
                    choice.score(Pair(*rows_of(halved, h, which), halved.settings)).value
                    for which in (0, 1)
                ]
                for h in range(COUNT)
            ]
        )
        # The sum of squares is a quarter of the mean squared difference: a variance
        wanted = (values[:, 0] - values[:, 1]) / 2 / np.sqrt(COUNT)
        np.testing.assert_allclose(found[choice.name], wanted, rtol=1e-12, atol=1e-15)
        assert np.ptp(found[choice.name]) > 0


# Of 60 cells some hold no row of a half; half of the rows are fewer than 125 cells, of which two
# at most are joined
@pytest.mark.parametrize(
    ("buckets", "left"), [("auto", 6), ("cube-root", 4), (9, 9), (60, 60), (125, 63)]
)
def test_differences_over_joined_cells_recounted(buckets, left):
    halved = made(buckets=buckets, restarts=2)
    found = half_differences(halved, HALVED_CELLS)
    whole = best_run(halved.estimates.cells)
    groups = joined_cells(whole.centres, left)
    assert groups.max() + 1 == left
    reference, generated = (groups[labels] for labels in whole.labels)
    values, empty = {name: np.empty((COUNT, 2)) for name in ("mauve", "mauve_star")}, 0
    for halving in range(COUNT):
        for which in (0, 1):
            counts = [
                np.bincount(labels[blocks.half(halving, which)], minlength=left)
                for labels, blocks in zip((reference, generated), halved.blocks, strict=True)
            ]
            held = sum(counts) > 0
            empty += (~held).sum()
            run = Histograms(counts[0][held], counts[1][held])
            scores = mauve_scores(replace(whole, runs=(run,), inertias=(0.0,)), pins={})
            values["mauve"][halving, which] = scores.mauve.value
            values["mauve_star"][halving, which] = scores.mauve_star.value
    assert (empty > 0) == (left >= 60)
    for name, table in values.items():
        wanted = (table[:, 0] - table[:, 1]) / 2 / np.sqrt(COUNT)
        np.testing.assert_allclose(found[name], wanted, rtol=1e-9, atol=1e-12)


def test_halves_have_as_many_cells_as_sets_of_their_size():
    for n, m in ((130, 115), (400, 210)):
        halved = made(n, m)
        cells = HalfSampleCells(halved).cells
        used = len(np.unique(np.concatenate(cells.labels)))
        assert used == pytest.approx(round(min(n, m) / 20), abs=1)


def test_a_half_is_read_from_counts_and_not_measured_again(halved, monkeypatch):
    asked = [
        each
        for each in choose("all", ("v",))
        if each.metric.replicates == "counts" and each.metric.family in FAMILIES
    ]
    assert {each.name for each in SUPPORT + HALVED_CELLS} <= {each.name for each in asked}
    for choice in asked:
        choice.score(halved)

    def refuse(*_, **__):
        raise AssertionError("nothing is to be measured again")

    for place in ("pair.neighbourhoods", "estimates.quantise", "estimates.estimate_ratios"):
        monkeypatch.setattr(f"calipers.metrics.{place}", refuse)
    found = half_differences(halved, asked)
    assert found.keys() == {each.name for each in asked}
    half = HalfSample.of(halved, 4, 1, HalfSampleCells(halved))
    sizes = [len(rows) for rows in rows_of(halved, 4, 1)]
    assert [len(half.reference), len(half.generated)] == sizes
    assert f"n:{sizes[0]}|m:{sizes[1]}" in SUPPORT[0].score(half).signature
    assert np.isnan(half.reference).all()
    assert half.blocks is None


def test_only_what_halves_tell_of_is_asked(halved):
    assert half_differences(halved, choose("prd_f8 frechet_distance mmd", ("v",))) == {}
    assert half_differences(made(60, 60), SUPPORT) == {}  # too few rows for blocks
    named = half_differences(halved, choose("recall prd_f8", ("v",)))
    assert named.keys() == {"recall"}
    assert {METRICS[name].family for name in ("recall", "mauve_star")} == set(FAMILIES)


@pytest.mark.filterwarnings("error")
def test_a_score_that_is_infinite_or_the_same_in_all_halves_is_left_out():
    halved = made()
    apart = replace(halved, generated=halved.generated + 5)  # no cell holds rows of both
    asked = choose("divergence coverage density", ("v",))
    assert half_differences(apart, asked) == {}
    assert half_differences(halved, asked).keys() >= {"coverage", "density"}
    found = spreads(apart, choose("coverage", ("v",)))
    assert found["coverage"].halves is None


def test_the_other_way_round_only_names_differ(halved):
    turned = Pair(halved.generated, halved.reference, halved.settings)
    ours, theirs = half_differences(halved, SUPPORT[:2]), half_differences(turned, SUPPORT[:2])
    np.testing.assert_allclose(ours["precision"], theirs["recall"], rtol=1e-12)
    np.testing.assert_allclose(ours["recall"], theirs["precision"], rtol=1e-12)
