"""Real files, where they are at hand; the folder is taken from CALIPERS_DATA."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.errors import InputError
from calipers.samples import read_samples, read_systems

CHECKOUT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", CHECKOUT.parent / "shared" / "data"))


@pytest.mark.skipif(not (DATA / "writing_prompts").is_dir(), reason=f"no real data in {DATA}")
def test_writing_prompts() -> None:
    folder = DATA / "writing_prompts"
    human = read_samples(folder / "human.jsonl")
    models = read_systems([str(folder / "gpt2-xl.jsonl"), f"neox={folder}/gpt-neox*.jsonl"])
    assert [len(s) for s in (human, models[0].sets[0], models[1].sets[0])] == [500, 500, 500]
    assert [model.name for model in models] == ["gpt2-xl", "neox"]
    counts = human.word_counts()
    assert counts is not None
    assert counts.tolist() == [len(text.split()) for text in human]
    assert 100 < counts.mean() < 200
    # Line i of every file continues the same opening, and so do the rows of a subsample.
    pairs = zip(human.subsample(50, seed=3), models[0].sets[0].subsample(50, seed=3), strict=True)
    assert all(a[:30] == b[:30] for a, b in pairs)


@pytest.mark.skipif(not (DATA / "ag_news").is_dir(), reason=f"no real data in {DATA}")
def test_ag_news_has_no_header_row() -> None:
    with pytest.raises(InputError, match="the first row must name the columns"):
        read_samples(DATA / "ag_news" / "test.csv")


def test_importing_calipers_does_not_import_pyarrow() -> None:
    program = "import calipers, sys; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
