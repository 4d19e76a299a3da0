"""Which topics are under- and over-represented, and that alike sets have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate import quantise
from calipers.explain import Evidence, Explanation, explain_pair
from calipers.uncertainty.holm import holm
from calipers.uncertainty.proportions import exact_p_value, ratio_interval


def counted(*pairs):
    """Evidence of topics that lie far apart, with so many rows of the reference and generated."""
    reference, generated = (
        np.repeat(np.arange(len(pairs)), [pair[side] for pair in pairs]) for side in (0, 1)
    )
    places = 10 * np.eye(len(pairs), max(2, len(pairs)))
    return Evidence(
        places[reference],
        places[generated],
        reference_cells=reference,
        generated_cells=generated,
        rows=(places[reference], places[generated]),
    )


def explained(evidence, **options):
    return explain_pair(evidence, view="meaning", **options)


def by_count(found, reference):
    return next(topic for topic in found.topics if topic.reference == reference)


def test_80_of_86_is_no_missing_topic():
    found = explained(counted((86, 80), (500, 510), (414, 410)))
    assert found.under_represented == found.over_represented == ()
    assert set(found.not_significant) == set(found.topics)
    topic = by_count(found, 86)
    assert (topic.direction, topic.significant) == ("under", False)
    assert (topic.reference_share, topic.generated_share) == (0.086, 0.08)
    assert topic.ratio == pytest.approx(80 / 86)
    assert topic.p_value == pytest.approx(0.685, abs=0.001)
    assert topic.adjusted_p_value == 1
    assert topic.interval[0] < 1 < topic.interval[1]
    assert "no topic is significantly under- or over-represented" in str(found)


def test_what_differs_is_told_with_its_ratio():
    found = explained(counted((110, 40), (90, 160), (300, 300)))
    (under,), (over,) = found.under_represented, found.over_represented
    assert (under.reference, under.generated, over.reference, over.generated) == (110, 40, 90, 160)
    assert under.ratio == pytest.approx(40 / 110)
    assert under.interval == pytest.approx(ratio_interval(40, 500, 110, 500))
    raw = [exact_p_value(t.generated, 500, t.reference, 500) for t in found.topics]
    assert [topic.p_value for topic in found.topics] == pytest.approx(raw)
    assert [topic.adjusted_p_value for topic in found.topics] == pytest.approx(list(holm(raw)))
    assert [topic.reference for topic in found.not_significant] == [300]
    lines = str(found).splitlines()
    assert lines[1:3] == [
        "under-represented topics:",
        "- cell 0: 8 % of the generated set, 22 % of the reference (0.36×, interval 0.26 to 0.51)",
    ]
    assert "1 of 3 topics do not differ significantly" in str(found)


def test_sides_swapped_turn_everything_round():
    pairs = ((110, 40), (90, 160), (300, 300), (12, 0))
    found = explained(counted(*pairs))
    back = explained(counted(*((b, a) for a, b in pairs)))
    assert {t.reference for t in found.under_represented} == {110, 12}
    assert {t.generated for t in back.over_represented} == {110, 12}
    for topic in found.topics:
        other = next(t for t in back.topics if t.generated == topic.reference)
        assert other.p_value == pytest.approx(topic.p_value)
        assert other.significant == topic.significant
        low, high = topic.interval
        expected = (1 / high, 1 / low if low else np.inf)
        assert other.interval == pytest.approx(expected, rel=1e-6)
        assert other.ratio == (pytest.approx(1 / topic.ratio) if topic.ratio else None)


def test_what_one_set_has_none_of_has_an_open_interval():
    found = explained(counted((0, 30), (100, 70)))
    new = by_count(found, 0)
    assert (new.ratio, new.interval[1], new.significant) == (None, np.inf, True)
    assert new.interval[0] > 1
    assert new.to_dict()["interval"][1] is None
    assert Explanation.from_dict(found.to_dict()) == found


def test_the_level_decides():
    evidence = counted((110, 80), (390, 420))
    strict, loose = (explained(evidence, level=level) for level in (0.99, 0.9))
    assert not strict.under_represented
    assert loose.under_represented
    assert (strict.level, loose.level) == (0.99, 0.9)
    assert strict.topics[0].interval[0] < loose.topics[0].interval[0]
    for level in (0, 1, 95):
        with pytest.raises(InputError, match=r"level .*0 and 1"):
            explained(evidence, level=level)


def test_rows_of_clusters_count_by_their_clusters():
    evidence = counted((60, 30), (240, 270))
    # Clusters of 30 rows, all of one topic: 2 of 10 against 1 of 10
    numbers = np.arange(300) // 30
    clustered = replace(evidence, reference_clusters=numbers, generated_clusters=numbers + 10)
    plain, found = explained(evidence), explained(clustered)
    assert plain.under_represented
    assert not found.under_represented + found.over_represented
    assert found.topics[0].interval[0] < plain.topics[0].interval[0]
    assert "permuting whole clusters: 10 in the reference, 10 in the" in found.notes[1]
    alone = np.arange(300)
    single = replace(evidence, reference_clusters=alone, generated_clusters=alone + 300)
    for topic, other in zip(plain.topics, explained(single).topics, strict=True):
        assert other.p_value == pytest.approx(topic.p_value, abs=0.02)
        assert other.interval == pytest.approx(topic.interval, rel=0.02)


def test_clusters_of_one_set_alone_are_refused():
    with pytest.raises(InputError, match=r"clusters .*both sets"):
        replace(counted((5, 5)), reference_clusters=np.zeros(5, int))
    with pytest.raises(InputError, match=r"reference_clusters .*one entry"):
        replace(counted((5, 5)), reference_clusters=np.zeros(4, int))


# ------------------------------------------------------------------ sets that are alike


def false_findings(n, m, *, runs, topics=12, dimensions=8, seed=0):
    """In how many runs two sets of one mixture have a significant topic; all p-values.

    Cells and topics are made of the two sets that are tested, as in a comparison.
    """
    rng, found, p_values = np.random.default_rng(seed), 0, []
    centres = 2 * rng.standard_normal((10, dimensions))
    for run in range(runs):
        rows = centres[rng.integers(0, 10, n + m)] + rng.standard_normal((n + m, dimensions))
        sets = rows[:n].astype(np.float32), rows[n:].astype(np.float32)
        labels = quantise(*sets, restarts=1, seed=run, threads=1).labels
        evidence = Evidence(*sets, reference_cells=labels[0], generated_cells=labels[1], rows=sets)
        made = explain_pair(evidence, view="meaning", topics=topics, limit=1)
        found += bool(made.under_represented + made.over_represented)
        p_values += [topic.p_value for topic in made.topics]
    return found / runs, np.array(p_values)


def test_few_of_sets_that_are_alike_have_a_significant_topic():
    rate, p_values = false_findings(60, 60, runs=20, topics=6)
    assert rate <= 0.1
    assert (p_values < 0.05).mean() < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "topics"), [(60, 60, 5), (250, 250, 12), (400, 150, 12), (1000, 1000, 30)]
)
def test_the_rate_of_false_findings_is_held(n, m, topics):
    rate, p_values = false_findings(n, m, runs=300, topics=topics, seed=1)
    assert rate < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
    assert (p_values < 0.05).mean() < 0.055
    assert p_values.mean() > 0.49
