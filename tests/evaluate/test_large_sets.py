"""What a comparison says of sets so large that defaults change."""

import pytest

from calipers import compare
from calipers.commands.compare import run as module


@pytest.mark.parametrize(
    ("metrics", "buckets", "told"),
    [("mauve", "auto", 1), ("mauve:knn,precision", "auto", 0), ("mauve", 30, 0)],
)
def test_fewer_cells_than_a_tenth_of_the_samples_are_told(rng, monkeypatch, metrics, buckets, told):
    monkeypatch.setattr(module, "MOST_CELLS", 20)
    rows = rng.standard_normal((220, 3))
    found = compare(rows, rows + 0.1, metrics=metrics, buckets=buckets, threads=1)
    assert sum("counted over 20 cells" in warning for warning in found.warnings) == told
