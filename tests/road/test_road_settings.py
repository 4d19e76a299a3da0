"""What a person chose stands in the results: in their signatures, settings and plateaus."""

import calipers
from calipers.samples import SampleSet


def test_a_sweep_pins_its_seed_and_applies_its_tolerance(rng):
    reference, generated = rng.standard_normal((2, 60, 4))
    options = {"metrics": ["recall"], "cache": False}
    found = calipers.sweep(
        reference, generated, over="n", values=[15, 30, 45, 60], seed=7, tolerance=1.5, **options
    )
    curve = found["generated"]["recall"]
    assert "sampling_seed:7" in curve.signature.split("|")
    assert (curve.plateau.tolerance, curve.plateau.start) == (1.5, 15)
    narrow = calipers.sweep(
        reference, generated, over="k", values=[1, 2, 4], tolerance=0, **options
    )
    assert narrow["generated"]["recall"].plateau.tolerance == 0


def test_an_overlap_pins_the_files_of_both_sides(rng):
    files = [SampleSet.from_vectors(rows, name="b") for rows in rng.standard_normal((2, 60, 4))]
    found = calipers.overlap({"a": rng.standard_normal((60, 4)), "b": files}, cache=False)
    (a,), b = ([file.content_hash[:16] for file in system.files] for system in found.systems)
    pins = found["precomputed"].signatures[0][1].split("|")
    assert f"reference:{a}" in pins
    assert f"generated:{b[0]}+{b[1]}" in pins
    assert found.settings["embedder"] == "precomputed"
