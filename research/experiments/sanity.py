"""Which metric to trust when: simple faults with known answers, and which metrics see them.

    python research/experiments/sanity.py
    python research/experiments/sanity.py --only drop --only invent --verbose
    python research/experiments/sanity.py --texts --seeds 3

The sanity checks of "All current generative fidelity and diversity metrics are flawed" (Räisä et
al., ICML 2025, arXiv 2505.22450), as far as they can be made on synthetic data, for every support
metric of the library with its own defaults. Seeds are fixed, verdicts are on means over the draws.

With ``--texts`` on real embeddings instead: AG News and WritingPrompts, in the folder that the
environment variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ag_news import DATA
from sanity_checks import CHECKS
from sanity_demands import Check
from sanity_metrics import DIVERSITY, FIDELITY, KINDS, all_scores
from sanity_rules import Curves
from sanity_texts import Texts, text_checks

TABLES = {
    "Fidelity: do generated samples lie in the reference's support?": (FIDELITY,),
    "Diversity: is the reference reached by the generated samples?": (DIVERSITY,),
    "Copying: are the generated samples new?": ("novelty", "copying"),
}


@dataclass(frozen=True)
class Result:
    """The values of every metric in a check, each of shape ``(draws, settings, points)``."""

    check: Check
    draws: dict[str, np.ndarray]

    def values(self, metric: str) -> Curves:
        """Means over the draws, shape ``(settings, points)``."""
        return self.draws[metric].mean(axis=0)

    def verdict(self, metric: str) -> str:
        """``pass`` or ``FAIL``, doubtful where it hangs on one draw; ``-`` for no demand."""
        demand = self.check.demand(metric)
        if demand is None:
            return "-"
        holds = demand.rule.holds(self.values(metric))
        each = self.draws[metric]
        fewer = [np.delete(each, i, axis=0).mean(axis=0) for i in range(len(each)) if len(each) > 1]
        firm = all(demand.rule.holds(values) == holds for values in fewer)
        return ("pass" if holds else "FAIL") + ("" if firm else "?")


def run(
    check: Check, *, n: int, seeds: Sequence[int], threads: int | None, number: int | None = None
) -> Result:
    """Draw all pairs of a check, once for each seed, and score them."""
    number = CHECKS.index(check) if number is None else number
    shape = len(seeds), len(check.settings), len(check.points)
    values = {metric: np.zeros(shape) for metric in KINDS}
    for place in np.ndindex(shape):
        seed, setting, point = (
            of[i] for of, i in zip((seeds, check.settings, check.points), place, strict=True)
        )
        rng = np.random.default_rng([seed, number])
        found = all_scores(*check.draw(setting, point, rng, n), threads=threads)
        for metric, value in found.items():
            values[metric][place] = value
    return Result(check, values)


def table(title: str, metrics: Sequence[str], results: Iterable[Result]) -> list[str]:
    """Lines of a table of checks by metrics; checks that demand nothing of them are left out."""
    rows = [[r.check.name, *(r.verdict(metric) for metric in metrics)] for r in results]
    rows = [row for row in rows if set(row[1:]) != {"-"}]
    if not rows:
        return []
    heads = [("", *(metric.partition("_")[0] for metric in metrics))]
    heads.append(("check", *(metric.partition("_")[2] for metric in metrics)))
    passed = [sum(row[i].startswith("pass") for row in rows) for i in range(1, len(metrics) + 1)]
    asked = [sum(row[i] != "-" for row in rows) for i in range(1, len(metrics) + 1)]
    total = ["passed", *(f"{p} of {a}" for p, a in zip(passed, asked, strict=True))]
    lines = [title, *map(_line, heads), _line(["-" * 11, *["-" * 13] * len(metrics)])]
    return [*lines, *map(_line, rows), _line(total), ""]


def _line(cells: Sequence[str]) -> str:
    return "  ".join([f"{cells[0]:11s}", *(f"{cell:13s}" for cell in cells[1:])]).rstrip()


def details(result: Result) -> list[str]:
    """What a check demands, and every value that its verdicts rest on."""
    check = result.check
    lines = [f"{check.name}: {check.tells}"]
    for kind, demand in check.demands.items():
        lines += wrap(f"{kind}: {demand.sentence}", indent=2)
        lines += wrap(f"rule: {demand.rule.words}", indent=4)
    for i, setting in enumerate(check.settings):
        head = f"  {setting!s:24s}" + "".join(f"{point!s:>9s}" for point in check.points)
        lines.append(head.rstrip() or "  value")
        last = i == len(check.settings) - 1  # verdicts are on all settings together
        for metric in filter(check.demand, KINDS):
            cells = "".join(f"{value:9.3f}" for value in result.values(metric)[i])
            verdict = result.verdict(metric) if last else ""
            lines.append(f"  {metric:24s}{cells}  {verdict}".rstrip())
    return [*lines, ""]


def wrap(text: str, *, indent: int) -> list[str]:
    """Break a long line, later parts further in."""
    space = " " * indent
    return textwrap.wrap(text, 110, initial_indent=space, subsequent_indent=space + "  ")


def as_json(results: Iterable[Result]) -> list[dict[str, object]]:
    """Plain data: every check with its demands, values and verdicts; undefined values are null."""
    return [
        {
            "check": r.check.name,
            "tells": r.check.tells,
            "settings": list(r.check.settings),
            "points": list(r.check.points),
            "demands": {
                kind: {"sentence": demand.sentence, "rule": demand.rule.words}
                for kind, demand in r.check.demands.items()
            },
            "metrics": {
                metric: {
                    "verdict": r.verdict(metric),
                    "values": [
                        [None if np.isnan(v) else v for v in row]
                        for row in r.values(metric).tolist()
                    ],
                }
                for metric in KINDS
            },
        }
        for r in results
    ]


def main() -> None:
    options = arguments()
    seeds = range(options.seed, options.seed + options.seeds)
    start = time.perf_counter()
    results = []
    if options.texts and not (DATA / "ag_news" / "test.csv").is_file():
        sys.exit(f"there is no ag_news/test.csv in {DATA}; set CALIPERS_DATA to its folder")
    checks = text_checks(Texts.read(DATA, options.projection)) if options.texts else CHECKS
    for number, check in enumerate(checks):
        if options.only is None or check.name in options.only:
            print(f"{time.perf_counter() - start:6.1f} s  {check.name}", file=sys.stderr)
            chosen = {"n": options.n, "seeds": seeds, "threads": options.threads}
            results.append(run(check, **chosen, number=number))
    if options.json:
        print(json.dumps(as_json(results), indent=1))
        return
    if options.verbose:
        print("\n".join(line for result in results for line in details(result)))
    if options.texts:
        print(f"real texts, projection {options.projection}; means over {len(seeds)} draws;")
    else:
        print(f"n = m = {options.n:,} unless the check says otherwise;", end=" ")
        print(f"means over {len(seeds)} draws;")
    print("a verdict with ? changes when one of the draws is left out\n")
    for title, kinds in TABLES.items():
        chosen = [metric for metric, kind in KINDS.items() if kind in kinds]
        print("\n".join(table(title, chosen, results)))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = list(dict.fromkeys(check.name for check in (*CHECKS, *text_checks(Texts()))))
    only = "run this check alone, may be repeated: " + ", ".join(names)
    parser.add_argument("--only", action="append", choices=names, metavar="CHECK", help=only)
    parser.add_argument("--texts", action="store_true", help="check real embeddings instead")
    parser.add_argument(
        "--projection", choices=("none", "union"), default="none", help="with --texts"
    )
    parser.add_argument("--json", action="store_true", help="print values and verdicts as JSON")
    parser.add_argument("--verbose", action="store_true", help="print what the verdicts rest on")
    parser.add_argument(
        "--n", type=int, default=1000, help="samples of a set; the rules are meant for 1000"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first draw (default 0)")
    parser.add_argument("--seeds", type=int, default=5, help="draws to average over (default 5)")
    parser.add_argument("--threads", type=int, help="threads (default: all cores)")
    options = parser.parse_args()
    if options.n < 100 or options.seeds < 1 or options.seed < 0:
        parser.error("--n must be at least 100, --seeds at least 1, --seed at least 0")
    return options


if __name__ == "__main__":
    main()
