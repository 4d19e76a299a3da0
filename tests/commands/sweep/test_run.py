"""Sweeps: which values, and that each is what the metrics and a comparison give there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import metrics
from calipers.commands.sweep.passes import BY_K, merge_signatures, subsample
from calipers.commands.sweep.run import _check_values, _choose_values
from calipers.errors import InputError
from calipers.estimate import knn_ratios
from calipers.estimate.axes import preprocess
from calipers.evaluate.inputs import comparison_inputs
from calipers.options.comparison import CompareOptions
from calipers.samples import SampleSet

ALL = ("precision", "recall", "density", "coverage")


@pytest.fixture
def reference(rng):
    return rng.standard_normal((130, 6)) + 1


@pytest.fixture
def generated(rng):
    return rng.standard_normal((130, 6)) * [1, 1, 1, 0.6, 0.6, 0.6] + 1


def circle(*degrees):
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_eight_and_four_points_on_a_circle_by_hand():
    # Reference radii are 10 degrees for k = 1 and 80 for k = 2; those of the generated 45 and 135.
    real = circle(0, 10, 90, 100, 180, 190, 270, 280)
    fake = circle(5, 50, 185, 230)
    found = calipers.sweep(real, {"fake": fake}, over="k", values=[1, 2])["fake"]
    assert found["precision"].mean.tolist() == [2 / 4, 4 / 4]
    assert found["density"].mean.tolist() == [4 / 4, 12 / 8]
    assert found["coverage"].mean.tolist() == [4 / 8, 8 / 8]
    assert found["recall"].mean.tolist() == [6 / 8, 8 / 8]  # 100 and 280 are 50 away, not 45


@pytest.mark.parametrize("ties", ["closed", "open"])
def test_every_k_equals_the_metrics_at_that_k(reference, generated, ties):
    wanted = [*ALL, "clipped_coverage"]
    found = calipers.sweep(reference, generated, over="k", metrics=wanted, ties=ties)
    rows = preprocess(reference, generated, norm="none", pca=None)
    curves = found["generated"].curves
    for k in range(1, 31):
        support = metrics.precision_recall(rows.reference, rows.generated, k=k, ties=ties)
        spread = metrics.density_coverage(rows.reference, rows.generated, k=k, ties=ties)
        clipped = metrics.clipped_density_coverage(rows.reference, rows.generated, k=k, ties=ties)
        scores = (support.precision, support.recall, spread.density, spread.coverage)
        for name, score in zip(wanted, [*scores, clipped.coverage], strict=True):
            assert curves[name].replicates[0, k - 1] == score.value


def test_the_last_size_equals_a_comparison_of_all_samples(reference, generated):
    wanted = [*ALL, "mauve", "frechet_distance", "cover_recall"]
    options = {"metrics": wanted, "k": 3, "distance": "cosine", "seed": 5}
    swept = calipers.sweep(reference, {"g": generated}, over="n", seeds=2, **options)["g"]
    compared = calipers.compare(reference, {"g": generated}, **options)["g"]
    for name in wanted:
        assert swept[name].values[-1] == 130
        assert swept[name].replicates[:, -1].tolist() == [compared[name].value] * 2


def test_a_size_in_between_equals_a_comparison_of_the_rows_that_are_recorded(reference, generated):
    swept = calipers.sweep(reference, generated, over="n", values=[60, 90], seeds=3, seed=7)
    for order in range(3):
        rows = subsample(130, 60, seed=7, order=order)
        compared = calipers.compare(reference[rows], generated[rows], metrics=ALL)
        for name in ALL:
            value = compared["generated"][name].value
            assert swept["generated"][name].replicates[order, 0] == value


@given(st.integers(1, 300), st.data())
def test_subsamples_are_nested_and_ascending(size, data):
    small, large = sorted(data.draw(st.lists(st.integers(1, size), min_size=2, max_size=2)))
    seed, order = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    inner = subsample(size, small, seed=seed, order=order)
    outer = subsample(size, large, seed=seed, order=order)
    assert len(inner) == small
    assert np.all(np.diff(inner) > 0)
    assert set(inner) <= set(outer) <= set(range(size))


def test_orders_differ():
    rows = {tuple(subsample(50, 5, seed=seed, order=o)) for seed in (0, 1) for o in range(5)}
    assert len(rows) == 10


def files(rng, count):
    each = (rng.standard_normal((90, 4)) for _ in range(count))
    return [SampleSet.from_vectors(x, name=f"f{i}", source=f"f{i}") for i, x in enumerate(each)]


def test_over_k_the_files_of_a_system_are_its_replicates(rng):
    several, reference = files(rng, 3), rng.standard_normal((100, 4))
    found = calipers.sweep(reference, {"s": several, "one": several[1]}, values=range(1, 6))
    for name in ALL:
        assert found["s"][name].replicates.shape == (3, 5)
        assert np.array_equal(found["s"][name].replicates[1], found["one"][name].mean)
        assert found["one"][name].deviation is None
    assert "|files:3|" in found["s"]["recall"].signature


@pytest.mark.parametrize(("seeds", "replicates"), [(1, 2), (2, 2), (3, 4)])
def test_over_n_the_files_take_the_orders_in_turn(rng, seeds, replicates):
    several, reference = files(rng, 2), rng.standard_normal((90, 4))
    options = {"over": "n", "values": [40, 90], "metrics": "recall", "normalise": "l2"}
    both = calipers.sweep(reference, {"s": several}, seeds=seeds, **options)["s"]["recall"]
    first = calipers.sweep(reference, {"s": several[0]}, seeds=replicates, **options)["s"]["recall"]
    assert both.replicates.shape == (replicates, 2)
    assert np.array_equal(both.replicates[::2], first.replicates[::2])
    assert both.replicates[0, 1] != both.replicates[1, 1]


def test_a_further_system_changes_no_curve_of_another(rng, reference, generated):
    more = {"g": generated, "other": rng.standard_normal((130, 6))}
    for over in ("k", "n"):
        alone = calipers.sweep(reference, {"g": generated}, over=over, seeds=2)["g"]
        together = calipers.sweep(reference, more, over=over, seeds=2)["g"]
        assert np.array_equal(alone["density"].replicates, together["density"].replicates)
        assert alone["density"].signature == together["density"].signature


def test_only_the_seed_decides(reference, generated):
    def curve(**options):
        found = calipers.sweep(reference, generated, over="n", values=[50, 70], **options)
        return found["generated"]["density"].replicates

    assert np.array_equal(curve(seed=1, threads=1), curve(seed=1, threads=3))
    assert not np.array_equal(curve(seed=1), curve(seed=2))


def test_a_large_reference_is_cut_to_the_same_size(rng, generated):
    found = calipers.sweep(rng.standard_normal((400, 6)), generated, over="n", seeds=2)
    curve = found["generated"]["precision"]
    assert curve.values[-1] == 130
    assert "|n:32,45,64,92,130|m:32,45,64,92,130|" in curve.signature


def test_signatures_pin_all_but_the_swept_value(reference, generated):
    by_k = calipers.sweep(reference, generated, over="k", metrics="precision")
    line = by_k["generated"]["precision"].signature
    assert line.startswith("metric:precision|k:1..30|ties:closed|distance:euclidean|n:130|m:130|")
    assert "|over:k|files:1|norm:none|pca:none|" in line
    by_n = calipers.sweep(reference, generated, over="n", metrics="precision", values=[50, 130])
    line = by_n["generated"]["precision"].signature
    assert line.startswith("metric:precision|k:4|ties:closed|distance:euclidean|n:50,130|m:50,130|")
    assert "|over:n|files:1|orders:5|norm:none|pca:none|" in line
    union = calipers.sweep(
        reference, generated, over="n", metrics="precision", values=[50, 130], projection="union"
    )["generated"]["precision"]
    assert "|over:n|files:1|orders:5|norm:none|pca:0.9|scope:subsample|" in union.signature


def test_merged_signatures_list_what_varies():
    assert merge_signatures(["a:1|b:x", "a:3|b:x", "a:2|b:x"]) == "a:1,3,2|b:x"
    assert merge_signatures(["a:1", "a:2", "a:2"]) == "a:1..2"
    assert merge_signatures(["a:1:2"]) == "a:1:2"


def test_the_result_is_strict_json_and_looks_itself_up(reference, generated):
    found = calipers.sweep(
        reference, {"g": generated}, over="n", values=[8, 60, 130], metrics="cover_recall", seeds=2
    )
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    curve = data["systems"][0]["curves"]["cover_recall"]
    assert curve["mean"][0] is None
    assert "k = 9 needs at least 10 samples" in curve["reason"]
    assert data["settings"]["over"] == "n"
    assert data["settings"]["values"] == [8, 60, 130]
    assert repr(found) == "<Sweep over n of 'g' with 'reference'>"
    assert [system.name for system in found] == ["g"]
    assert len(found) == 1
    with pytest.raises(InputError, match="did you mean 'cover_recall'"):
        found["g"]["cover_recal"]
    with pytest.raises(InputError, match="system"):
        found["h"]


def test_metrics_by_view_and_of_any_k_only(reference, generated):
    found = calipers.sweep(reference, generated, metrics=["precomputed.recall", "recall"])
    assert list(found["generated"].curves) == ["recall"]
    every = calipers.sweep(reference, generated, metrics="all", values=[1, 2])
    assert list(every["generated"].curves) == list(BY_K)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "m"}, "over .*k or n or length.* 'm'"),
        ({"ties": "ajar"}, "ties .*closed or open.* 'ajar'"),
        ({"distance": "cosines"}, "distance .*euclidean or cosine.* 'cosines'"),
        ({"k": 0, "over": "n"}, "k .*at least 1.* 0"),
        ({"seeds": 0, "over": "n"}, "seeds .*at least 1.* 0"),
        ({"seed": -1}, "seed .*at least 0.* -1"),
        ({"max_samples": 1}, "max_samples .*at least 2.* 1"),
        ({"threads": 0}, "threads .*at least 1.* 0"),
        ({"tolerance": -0.1}, "tolerance .*number of at least 0.* -0.1"),
        ({"tolerance": float("nan")}, "tolerance must be"),
        ({"tolerance": "0.1"}, "tolerance must be"),
        ({"metrics": []}, "metrics .*at least one metric"),
        ({"metrics": 3}, "metrics .*list of keys, or one string.* 3"),
        ({"metrics": [3]}, "metrics .*strings such as 'form.recall'.* 3"),
        ({"metrics": "precison"}, "metric 'precison'.*'precision'"),
        ({"metrics": "mauve"}, "metric 'mauve' .*over k"),
        ({"metrics": "from.recall"}, "unknown view 'from'"),
        ({"values": [1, 130]}, "k = 130 .*131 samples .*reference has"),
        ({"values": [5, 6], "over": "n", "max_samples": 4}, "130, cut to 4 samples"),
    ],
)
def test_bad_options(reference, generated, options, message):
    with pytest.raises(InputError, match=message):
        calipers.sweep(reference, generated, **options)


def test_progress_counts_every_pass(reference, generated):
    steps = []

    class Watch:
        def task(self, description, total):
            steps.append((description, total))
            return self

        def __enter__(self):
            return lambda done: steps.append(done)

        def __exit__(self, *error):
            return None

    calipers.sweep(reference, generated, over="n", values=[20, 40, 80], seeds=2, progress=Watch())
    begun = steps.index(("Sweeping", 6))
    assert sum(steps[begun + 1 :]) == 6


def test_statistics_of_one_set_are_taken_of_the_rows_as_embedded(reference, generated):
    found = calipers.sweep(
        reference, generated, over="n", values=[60, 130], metrics="vendi", seeds=1
    )
    rows = generated[subsample(130, 60, seed=0, order=0)]
    assert found["generated"]["vendi"].mean[0] == pytest.approx(metrics.vendi_score(rows).value)
    assert "Vendi→" in str(found)


def sets(reference, *generated):
    arrays = {f"s{i}": np.ones((size, 2)) for i, size in enumerate(generated)}
    return comparison_inputs(
        np.ones((reference, 2)), arrays, CompareOptions(), keep_sizes=False, seed=0
    )


def test_k_goes_to_30_by_default():
    assert _choose_values("k", None, sets(40, 50), k=4) == (tuple(range(1, 31)), ())


def test_k_goes_as_far_as_the_smallest_set_allows_and_says_so():
    values, notes = _choose_values("k", None, sets(40, 50, 20), k=4)
    assert values == tuple(range(1, 20))
    assert notes == ("k ends at 19, since s1 has 20 samples",)


def test_sizes_double_in_two_steps_and_end_with_all_samples():
    values, _ = _choose_values("n", None, sets(900, 811), k=4)
    assert values == (100, 140, 200, 280, 400, 570, 811)


@pytest.mark.parametrize(("size", "first"), [(400, 100), (200, 50), (60, 15), (9, 5), (5, 5)])
def test_small_sets_start_at_a_quarter_and_never_below_k_plus_one(size, first):
    values, _ = _choose_values("n", None, sets(size, size), k=4)
    assert values[0] == first
    assert values[-1] == size
    assert list(values) == sorted(set(values))


def test_the_largest_paper_size_needs_few_values():
    values, _ = _choose_values("n", None, sets(10_000, 10_000), k=4)
    assert len(values) == 14
    assert max(np.diff(np.log2(values))) < 0.6


@pytest.mark.parametrize(
    ("over", "values", "message"),
    [
        ("k", (1, 20), "k = 20 .*21 samples .*s0 has 20"),
        ("n", (10, 21), "n = 21 .*s0 has 20"),
        ("n", (4, 20), r"n .*at least k \+ 1 = 5.* 4"),
    ],
)
def test_values_that_a_set_is_too_small_for(over, values, message):
    with pytest.raises(InputError, match=message):
        _choose_values(over, values, sets(30, 20), k=4)


def test_the_smallest_set_is_named_even_if_it_is_the_reference():
    with pytest.raises(InputError, match=r"k = 5 .*6 samples .*reference has 3"):
        _choose_values("n", None, sets(3, 20), k=5)
    with pytest.raises(InputError, match=r"s0 has 1 sample$"):
        _choose_values("k", None, sets(3, 1), k=5)


def test_values_are_brought_into_order():
    assert _check_values("k", [5, 1, 3, 5]) == (1, 3, 5)
    assert _check_values("n", np.array([200, 100])) == (100, 200)
    assert _check_values("k", range(1, 4)) == (1, 2, 3)


@pytest.mark.parametrize("values", ["1-3", 4, [4], [0, 2], [1.5, 2], [True, 2], [1, "2"]])
def test_values_that_mean_nothing(values):
    with pytest.raises(InputError, match="values"):
        _check_values("k", values)


WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "frost"),
    *("grove", "heron", "iris", "jade", "kelp", "lotus"),
)


def sentences(rng, count, words=WORDS):
    return [" ".join(rng.choice(words, 12)) for _ in range(count)]


def test_over_length_with_a_fixed_embedder_equals_match_length(rng):
    human, model = sentences(rng, 30), sentences(rng, 30, WORDS[:8])
    options = {"embedder": "minilm", "metrics": ["mauve_star", "form.recall"]}
    found = calipers.sweep(human, {"m": model}, over="length", values=[2, 5, 12], **options)["m"]
    for place, words in enumerate((2, 5, 12)):
        compared = calipers.compare(human, {"m": model}, match_length=words, **options)["m"]
        for name in options["metrics"]:
            assert found[name].mean[place] == compared[name].value


def test_over_buckets_each_start_equals_a_comparison_with_that_seed(reference, generated):
    options = {"metrics": "mauve_star,mauve:chi2", "seed": 4}
    values = [4, 9, 13]
    found = calipers.sweep(
        reference, {"g": generated}, over="buckets", values=values, seeds=3, **options
    )["g"]
    assert found["mauve_star"].replicates.shape == (3, 3)
    for start in range(3):
        for place, cells in enumerate(values):
            compared = calipers.compare(
                reference, {"g": generated}, buckets=cells, **options | {"seed": 4 + start}
            )["g"]
            for name in ("mauve_star", "mauve:chi2"):
                assert found[name].replicates[start, place] == compared[name].value
    assert "|starts:3|" in found["mauve_star"].signature
    assert "buckets:4,9,13" in found["mauve_star"].signature


def test_over_axes_ten_is_the_default_and_two_is_the_estimator_on_two(rng):
    reference, generated = rng.standard_normal((2, 120, 16))
    options = {"metrics": "mauve:knn,mauve:gaussian,mauve:classifier", "seed": 1}
    found = calipers.sweep(reference, {"g": generated}, over="axes", values=[2, 10], **options)["g"]
    compared = calipers.compare(reference, {"g": generated}, level=None, **options)["g"]
    for name in options["metrics"].split(","):
        assert found[name].mean[1] == compared[name].value
    rows = preprocess(reference, generated, norm="none", pca=0.9)
    ratios = knn_ratios(rows.reference, rows.generated, dimensions=2)
    assert found["mauve:knn"].mean[0] == pytest.approx(
        calipers.divergence_frontier(ratios).area(c=10), abs=1e-12
    )
    assert "dimensions:2,10" in found["mauve:knn"].signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "length"}, "`over='length'` cuts texts to a number of words"),
        ({"over": "buckets", "metrics": "precision"}, "'precision' does not depend on what `over"),
        ({"over": "buckets", "metrics": "mauve:knn"}, "'mauve:knn' does not depend on what `over"),
        ({"over": "axes", "metrics": "mauve_star"}, "'mauve_star' does not depend on what `over"),
        ({"over": "buckets", "values": [1, 5]}, "buckets must be at least 2; found 1"),
        ({"over": "buckets", "values": [5, 131]}, "131 cells need as many samples"),
        ({"over": "axes", "values": [2, 7]}, "at most 6 axes, as many as there are columns"),
    ],
)
def test_what_cannot_be_varied_is_refused(reference, generated, options, message):
    with pytest.raises(InputError, match=message):
        calipers.sweep(reference, generated, **options)


def test_default_axes_end_where_the_columns_do(rng):
    real, fake = rng.standard_normal((2, 60, 9))
    found = calipers.sweep(real, {"m": fake}, over="axes", metrics="mauve:gaussian")
    assert found["m"]["mauve:gaussian"].values.tolist() == [2, 4, 8]
    assert found.settings["values"] == [2, 4, 8]


def test_lengths_double_up_to_the_median_of_the_reference(rng):
    human = [" ".join(rng.choice(WORDS, 40)) for _ in range(30)]
    options = {"embedder": "characters", "metrics": "mauve_star"}
    found = calipers.sweep(human, {"m": human[::-1]}, over="length", **options)
    assert found["m"]["mauve_star"].values.tolist() == [8, 16, 32, 40]
    short = [" ".join(rng.choice(WORDS, 6)) for _ in range(30)]
    with pytest.raises(InputError, match="starts at 8 and would end at 6"):
        calipers.sweep(short, {"m": short}, over="length", **options)


def test_lengths_beyond_every_text_are_said_to_cut_nothing(rng):
    human = [" ".join(rng.choice(WORDS, 40)) for _ in range(30)]
    options = {"over": "length", "embedder": "characters", "metrics": "mauve_star"}
    said = "no text has more than 40 words: from length 40 on nothing is cut"
    found = calipers.sweep(human, {"m": human[::-1]}, values=[8, 40, 80], **options)
    assert [text for text in found.warnings if said in text]
    curve = found["m"]["mauve_star"].mean
    assert curve[1] == curve[2]
    within = calipers.sweep(human, {"m": human[::-1]}, values=[8, 39, 40], **options)
    assert not [text for text in within.warnings if "nothing is cut" in text]


@pytest.mark.parametrize("over", ["buckets", "axes", "length"])
def test_a_sweep_of_each_kind_is_restored_from_json_and_drawn(rng, tmp_path, over):
    human, model = sentences(rng, 60), sentences(rng, 60, WORDS[:8])
    found = calipers.sweep(
        human, {"m": model}, over=over, values=[3, 6, 12], seeds=2, embedder="characters"
    )
    written = json.loads(json.dumps(found.to_dict()))
    found.save(tmp_path / "sweep.zip")
    again = calipers.load(tmp_path / "sweep.zip")
    assert json.loads(json.dumps(again.to_dict())) == written
    assert written["settings"]["over"] == over
    assert str(again) == str(found)
    found.plot(tmp_path / "sweep.svg")
    assert (tmp_path / "sweep.svg").stat().st_size > 1000
