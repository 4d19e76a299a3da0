"""Texts per second of processor time, and peak memory, of one embedder on one language.

    python research/experiments/languages_speed.py use fr

Prints a line of JSON. A process of its own, so that the peak is that of this embedder; one that is
fitted is fitted on the 600 paragraphs first, which counts. The first 50 texts are not timed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from ag_news import DATA
from calibration_store import Record, Task, record_of
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed
from languages_texts import paragraphs

WARM = 50


def measure(embedder: str, language: str, folder: Path) -> Record:
    """Embed all paragraphs of a language in this process."""
    texts = paragraphs(folder, language)
    model = load_embedder(embedder)
    if not model.needs_fitting:
        embed(texts[:WARM], model)
    started = time.process_time()
    embed(texts, model.fitted(texts) if model.needs_fitting else model)
    seconds = time.process_time() - started
    return {
        "texts": len(texts),
        "characters": sum(map(len, texts)),
        "seconds": seconds,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_a_process(folder: Path, task: Task) -> Record:
    """Measure in a fresh process."""
    embedder, language = task[1].split("|")
    command = [sys.executable, __file__, embedder, language, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{embedder}, {language}: {done.stderr.strip()[-500:]}")
    return record_of(task, **json.loads(done.stdout))


if __name__ == "__main__":
    named, of_language, *folders = sys.argv[1:]
    print(json.dumps(measure(named, of_language, Path(folders[0]) if folders else DATA)))
