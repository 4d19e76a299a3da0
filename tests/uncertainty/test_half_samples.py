"""Halves of both sets: scores read from what was kept, against measuring the halves again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.estimate.histograms import Histograms
from calipers.estimate.quantise import joined_cells
from calipers.metrics.frontiers import mauve_scores
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.delete_block import best_run
from calipers.uncertainty.half_samples import (
    FAMILIES,
    HalfSample,
    HalfSampleCells,
    half_differences,
)
from calipers.uncertainty.replicates import spreads

SUPPORT = choose("precision recall density coverage", ("v",))
CELLS = choose("mauve mauve_star frontier_integral", ("v",))
COUNT = 31


@pytest.fixture(scope="module")
def pair():
    return made()


def made(n=130, m=115, **options):
    rng = np.random.default_rng(5)
    sets = rng.standard_normal((n, 4)), rng.standard_normal((m, 4)) * 0.8 + 0.2
    asked = {"threads": 1, "seed": 3} | options
    return Pair(*sets, Settings(**asked), needs_of(each.metric for each in SUPPORT))


def rows_of(pair, halving, which):
    """The rows of a half."""
    return tuple(
        rows[blocks.half(halving, which)]
        for rows, blocks in zip((pair.reference, pair.generated), pair.blocks, strict=True)
    )


def test_differences_of_supports_by_measuring_every_half(pair):
    found = half_differences(pair, SUPPORT)
    for choice in SUPPORT:
        values = np.array(
            [
                [
                    choice.score(Pair(*rows_of(pair, h, which), pair.settings)).value
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
    pair = made(buckets=buckets, restarts=2)
    found = half_differences(pair, CELLS)
    whole = best_run(pair.estimates.cells)
    groups = joined_cells(whole.centres, left)
    assert groups.max() + 1 == left
    reference, generated = (groups[labels] for labels in whole.labels)
    values, empty = {name: np.empty((COUNT, 2)) for name in ("mauve", "mauve_star")}, 0
    for halving in range(COUNT):
        for which in (0, 1):
            counts = [
                np.bincount(labels[blocks.half(halving, which)], minlength=left)
                for labels, blocks in zip((reference, generated), pair.blocks, strict=True)
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
        pair = made(n, m)
        cells = HalfSampleCells(pair).cells
        used = len(np.unique(np.concatenate(cells.labels)))
        assert used == pytest.approx(round(min(n, m) / 20), abs=1)


def test_a_half_is_read_from_counts_and_not_measured_again(pair, monkeypatch):
    asked = [
        each
        for each in choose("all", ("v",))
        if each.metric.replicates == "counts" and each.metric.family in FAMILIES
    ]
    assert {each.name for each in SUPPORT + CELLS} <= {each.name for each in asked}
    for choice in asked:
        choice.score(pair)

    def refuse(*_, **__):
        raise AssertionError("nothing is to be measured again")

    for place in ("pair.neighbourhoods", "estimates.quantise", "estimates.estimate_ratios"):
        monkeypatch.setattr(f"calipers.metrics.{place}", refuse)
    found = half_differences(pair, asked)
    assert found.keys() == {each.name for each in asked}
    half = HalfSample.of(pair, 4, 1, HalfSampleCells(pair))
    sizes = [len(rows) for rows in rows_of(pair, 4, 1)]
    assert [len(half.reference), len(half.generated)] == sizes
    assert f"n:{sizes[0]}|m:{sizes[1]}" in SUPPORT[0].score(half).signature
    assert np.isnan(half.reference).all()
    assert half.blocks is None


def test_only_what_halves_tell_of_is_asked(pair):
    assert half_differences(pair, choose("prd_f8 frechet_distance mmd", ("v",))) == {}
    assert half_differences(made(60, 60), SUPPORT) == {}  # too few rows for blocks
    named = half_differences(pair, choose("recall prd_f8", ("v",)))
    assert named.keys() == {"recall"}
    assert {METRICS[name].family for name in ("recall", "mauve_star")} == set(FAMILIES)


@pytest.mark.filterwarnings("error")
def test_a_score_that_is_infinite_or_the_same_in_all_halves_is_left_out():
    pair = made()
    apart = replace(pair, generated=pair.generated + 5)  # no cell holds rows of both
    asked = choose("divergence coverage density", ("v",))
    assert half_differences(apart, asked) == {}
    assert half_differences(pair, asked).keys() >= {"coverage", "density"}
    found = spreads(apart, choose("coverage", ("v",)))
    assert found["coverage"].halves is None


def test_the_other_way_round_only_names_differ(pair):
    turned = Pair(pair.generated, pair.reference, pair.settings)
    ours, theirs = half_differences(pair, SUPPORT[:2]), half_differences(turned, SUPPORT[:2])
    np.testing.assert_allclose(ours["precision"], theirs["recall"], rtol=1e-12)
    np.testing.assert_allclose(ours["recall"], theirs["precision"], rtol=1e-12)
