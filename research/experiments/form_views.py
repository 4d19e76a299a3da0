"""Which layer and which pooling show the form of texts, and not their topics.

    python research/experiments/form_views.py
    python research/experiments/form_views.py --quick
    python research/experiments/form_views.py --model ./gpt2 --max-length 512

A view of form should tell spoilt texts from texts as they were (words shuffled, neighbours swapped,
sentences shuffled, stories of two language models), with few samples, and should see less of a
missing topic than of that. For every layer and pooling: the separation of each set from the
held-out texts (see form_views_scores.py), the geometric mean over the sets of form, and the
separation of a missing topic. The rule was set before the first run: a view is clearly better than
the present one if by MAUVE* one of form and form / topic is higher by a quarter or more and the
other no lower; a tie keeps the present one. After a first quick run, in which no view saw swapped
neighbours in a quarter of the texts, all texts are changed by default (--share), and a separation
below 1 counts as 1 (before: below 0.1 as 0.1).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from ag_news import DATA
from calipers.embedders.states.pooling import form_layer
from form_views_models import POOLINGS, Folder, MiniLM, Model, kept
from form_views_scores import SCORES, Candidate, Corpus, separations
from form_views_tables import Results, details, table
from form_views_texts import CHANGES, MACHINES, changed, headlines, stories


def corpora(model: Model, options: argparse.Namespace) -> tuple[list[Corpus], list[str]]:
    """Both corpora, embedded, and the changes that the tokenizer itself does not see."""
    unseen: list[str] = []

    def embedded(texts: list[str], name: str) -> np.ndarray:
        print(f"embedding {name}", file=sys.stderr)
        return kept(model, texts, options.max_length, options.keep)

    def others(texts: list[str], name: str) -> dict[str, np.ndarray]:
        found = {}
        for change in CHANGES:
            spoilt = changed(texts, change)
            if model.tokens(spoilt, 512) == model.tokens(texts, 512):
                unseen.append(f"{name}: {change}")
            else:
                found[change] = embedded(spoilt, f"{name}, {change}")
        return found

    items, topics = headlines(options.data, 3 * options.n)
    news = Corpus("news", embedded(items, "news"), others(items, "news"), topics=topics)
    human = stories(options.data, "human")
    machines = {
        name: embedded(stories(options.data, file), name) for name, file in MACHINES.items()
    }
    found = {**others(human, "stories"), **machines}
    return [news, Corpus("stories", embedded(human, "stories"), found, tuple(MACHINES))], unseen


def candidates(
    depth: int, poolings: Sequence[str], layers: Sequence[int] | None, *, quick: bool
) -> list[Candidate]:
    """Each layer by each pooling, the mean also of rows as they are; the present view first."""
    chosen = range(depth + 1) if layers is None else layers
    found = [Candidate(form_layer(depth), "mean")]
    found += [Candidate(layer, each) for each in poolings for layer in chosen]
    if "mean" in poolings and not quick:
        found += [Candidate(layer, "mean", "none") for layer in chosen]
    return list(dict.fromkeys(found))


def run(sets: list[Corpus], views: list[Candidate], options: argparse.Namespace) -> Results:
    results: Results = {}
    for candidate in views:
        print(f"scoring {candidate}", file=sys.stderr)
        results[candidate] = {}
        for corpus in sets:
            results[candidate] |= separations(
                corpus,
                candidate,
                n=min(options.n, len(corpus.plain) // 2),
                splits=options.splits,
                halves=options.halves,
                share=options.share,
                threads=options.threads,
            )
    return results


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    model: Model = Folder(options.model) if options.model else MiniLM()
    if options.layers and not all(0 <= layer <= model.layers for layer in options.layers):
        sys.exit(f"--layers must be 0 to {model.layers}, the layers of the model")
    present = Candidate(form_layer(model.layers), "mean")
    sets, unseen = corpora(model, options)
    views = candidates(model.layers, options.poolings, options.layers, quick=options.quick)
    results = run(sets, views, options)
    print(f"news n = {options.n}, stories n = {len(sets[1].plain) // 2}, a share of", end=" ")
    print(f"{options.share:g} changed; {options.splits} splits, spread of {options.halves} halves")
    print(f"the tokenizer does not see: {', '.join(unseen) or 'all changes are seen'}\n")
    print("\n".join(table(results, present)))
    for pooling in options.poolings:
        for number in range(len(SCORES) if options.all else 1):
            print("\n".join(details(results, pooling, number)))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="has ag_news/, writing_prompts/")
    parser.add_argument("--model", type=Path, help="a transformers model's folder, not MiniLM")
    parser.add_argument("--keep", type=Path, help="keep the states here, about 1 GB")
    parser.add_argument("--max-length", type=int, default=256, help="most tokens (default 256)")
    parser.add_argument("--n", type=int, default=1000, help="news items a side (default 1,000)")
    parser.add_argument("--splits", type=int, default=5, help="random splits (default 5)")
    parser.add_argument("--halves", type=int, default=40, help="for the spread (default 40)")
    parser.add_argument("--layers", nargs="+", type=int, help="0 to the depth (default: all)")
    parser.add_argument("--poolings", nargs="+", choices=POOLINGS, default=list(POOLINGS))
    parser.add_argument("--share", type=float, default=1.0, help="of texts changed (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="default 2")
    parser.add_argument("--quick", action="store_true", help="n = 400, 2 splits, 8 halves")
    parser.add_argument("--all", action="store_true", help="each set by every score")
    options = parser.parse_args()
    if options.quick:
        options.n, options.splits, options.halves = 400, 2, 8
    if not (1 <= options.splits <= options.halves and options.halves > 1):
        parser.error("1 <= --splits <= --halves, and --halves of at least 2, are needed")
    if not 0 < options.share <= 1 or not 40 <= options.n <= 2500:
        parser.error("--share must lie above 0 and up to 1, --n from 40 to 2,500")
    if options.model and not options.model.is_dir():
        sys.exit(f"there is no folder {options.model}; --model takes the folder of a model")
    for part in ("ag_news/test.csv", "writing_prompts/human.jsonl"):
        if not (options.data / part).is_file():
            sys.exit(f"there is no {part} in {options.data}; name its folder with --data")
    return options


if __name__ == "__main__":
    main()
