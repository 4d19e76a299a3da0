"""The experiments behind docs/rankings.md: their models by hand, and a small run of each."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.uncertainty.preferences import Preferences

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import rank_correlations
        import ties

        yield {"ties": ties, "correlations": rank_correlations}
    finally:
        sys.path.remove(str(EXPERIMENTS))


def test_chances_by_hand(scripts):
    # At even strengths ν = 2 makes half of all judgements ties; a threshold of log 3 does too:
    # 1/(1 + 3) win and as many lose
    even = np.zeros(1)
    assert [each[0] for each in scripts["ties"].davidson(even, 2.0)] == [0.25, 0.5]
    found = scripts["ties"].rao_kupper(even, np.log(3))
    assert [each[0] for each in found] == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize("model", ["Davidson", "Rao-Kupper"])
def test_each_model_gives_back_the_scores_of_its_own_expected_counts(scripts, model):
    ties = scripts["ties"]
    truth, played = np.linspace(120, -120, 4), ties.design_of("uneven", 4)
    parameter = ties.parameter_for(model, 0.3, truth, played)
    full = played + played.T
    won, tied = ties.MODELS[model](np.subtract.outer(truth, truth) / 100, parameter)
    assert (full * tied).sum() / full.sum() == pytest.approx(0.3)
    tied = (tied + tied.T) / 2  # rounding aside
    expected = Preferences(("p", "q", "r", "s"), full * won, full * tied)
    scores, errors, odds = ties.FITS[model](expected)
    assert scores == pytest.approx(truth, abs=1e-4)
    assert (errors > 0).all()
    apart = 100 * np.log((full * won)[0, 3] / (full * won)[3, 0])
    assert odds[0, 3] == pytest.approx(apart, abs=1e-3)


@pytest.mark.slow
def test_a_small_run_finds_that_halves_shrink(scripts, tmp_path, capsys):
    kept = tmp_path / "ties.json"
    options = ["--worlds", "20", "--systems", "4", "--shares", "0.3", "--json", str(kept)]
    scripts["ties"].main(options)
    rows = [row for row in json.loads(kept.read_text()) if row["drawn_from"] == "Davidson"]
    slope = {row["fitted"]: row["slope"] for row in rows if row["design"] == "balanced"}
    assert slope["half"] < 0.75
    assert 0.85 < slope["Davidson"] < 1.15
    printed = capsys.readouterr().out
    assert printed.count("| Davidson | 30% |") == 4 + 2 + 2
    assert scripts["ties"].FITS.keys() == slope.keys()


@pytest.mark.slow
def test_a_small_run_of_the_correlations(scripts, tmp_path, capsys):
    kept = tmp_path / "correlations.json"
    options = ["--worlds", "12", "--systems", "5", "--judgements", "10", "--json", str(kept)]
    scripts["correlations"].main(options)
    rows = json.loads(kept.read_text())
    assert len(rows) == 2 * 2 * 4
    perfect = [row for row in rows if row["correlation"] == 1]
    assert {row["fisher"] for row in perfect} == {0.0}
    assert all(row["fixed"] > 0.5 for row in perfect)
    assert "| pearson | 0.9 | " in capsys.readouterr().out
    assert scripts["correlations"].population("spearman", 1.0) == pytest.approx(1.0)
