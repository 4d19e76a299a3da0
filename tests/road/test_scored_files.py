"""Several files of a system: how much their mean curves move."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.road.scored import Scored, average


def of_file(curve, reference, generated):
    variances = np.array([[reference], [generated]], float)
    return Scored({}, {"prd": np.array([curve], float)}, {}, curve_variances={"prd": variances})


def test_files_share_the_reference_and_add_a_part_of_their_own():
    files = [of_file([0.5, 0.5], [4, 8], [2, 6]), of_file([0.5, 0.5], [2, 0], [6, 2])]
    reference, generated = average(files).curve_variances["prd"]
    assert reference.tolist() == [[3, 4]]
    assert generated.tolist() == [[2, 2]]  # means of 4, halved


def test_files_that_scatter_more_than_chance_have_that_scatter():
    files = [of_file([value, 0.5], [0, 0], [1, 1]) for value in (1, 2, 6)]
    moved = average(files).curve_variances["prd"][1, 0]
    assert moved.tolist() == pytest.approx([14 / 2 / 3, 1 / 3])


def test_a_curve_whose_errors_one_file_lacks_has_none():
    known, unknown = of_file([1, 1], [1, 1], [1, 1]), Scored({}, {"prd": np.ones((1, 2))}, {})
    assert average([known, unknown]).curve_variances == {}
    assert average([known, unknown]).curves["prd"].tolist() == [[1, 1]]
