"""How good each language is, as Markdown, from the draws that were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist

import numpy as np

from calibration_store import Record, Store
from calipers.uncertainty.holm import holm
from calipers.uncertainty.proportions import share_interval
from languages_draws import CHANGES, LEVEL, SAME, SCORES, case_of
from languages_texts import LANGUAGES

ALPHA = 1 - LEVEL
WANTED = 0.8
"""Of the power of English by minilm that every language should reach."""
YARDSTICK = ("en", "minilm")
Column = tuple[str, str, int]
"""A language, an embedder and a size."""


def found(records: Sequence[Record], view: str | None = None) -> np.ndarray:
    """In which draws a test holds, corrected over all tests of the draw; one of a view, or any."""
    shares = []
    for record in records:
        keys, adjusted = list(record["p"]), holm(list(record["p"].values()))
        own = [view is None or key.startswith(f"{view}.") for key in keys]
        shares.append(bool((adjusted[own] <= ALPHA + 1e-12).any()))
    return np.array(shares, dtype=bool)


def interval(hits: np.ndarray) -> tuple[float, float]:
    """Wilson's interval of a share of draws."""
    return share_interval(float(hits.mean()), len(hits), NormalDist().inv_cdf(0.975))


def cell(hits: np.ndarray) -> str:
    if not len(hits):
        return ""
    low, high = interval(hits)
    return f"{hits.mean():.2f} ({low:.2f}–{high:.2f})"


def columns(store: Store, embedders: Iterable[str], n: int) -> list[Column]:
    """What was measured, language by language, of some embedders."""
    have = {(*case.split("|")[:2], size) for case, size in store.cases("draws") if size == n}
    wanted = ((language, name, n) for name in embedders for language in LANGUAGES)
    return [column for column in wanted if column in have]


def draws(store: Store, column: Column, change: str) -> list[Record]:
    language, embedder, n = column
    return store.of("draws", case_of(language, embedder, change), n)


def views_of(store: Store, column: Column) -> list[str]:
    """The views of an embedder, the main one first."""
    for change in (SAME, *CHANGES):
        for record in draws(store, column, change):
            return list(dict.fromkeys(key.rpartition(".")[0] for key in record["p"]))
    return []


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    return ["", *lines, *(f"| {' | '.join(row)} |" for row in rows)]


def power(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """A row for each language: false alarms, and how often each change is found."""
    head = ("language", "embedder", "false alarms", *CHANGES)
    rows = (
        [
            LANGUAGES[column[0]],
            column[1],
            *(cell(found(draws(store, column, change))) for change in (SAME, *CHANGES)),
        ]
        for column in columns(store, embedders, n)
    )
    return table(head, rows)


def counts(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """How many draws the shares rest on, the fewest and the most of any cell."""
    cells = {
        change: [len(draws(store, column, change)) for column in columns(store, embedders, n)]
        for change in (SAME, *CHANGES)
    }
    texts = [
        f"{change} {min(sizes)} to {max(sizes)}" for change, sizes in cells.items() if any(sizes)
    ]
    return ["", f"Draws of a language: {'; '.join(texts)}."] if texts else []


def by_view(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """How often each view finds a change, its tests corrected together with those of the others."""

    def rows() -> Iterator[list[str]]:
        for column in columns(store, embedders, n):
            for view in views_of(store, column):
                shares = [found(draws(store, column, each), view) for each in (SAME, *CHANGES)]
                cells = [f"{hits.mean():.2f}" if len(hits) else "" for hits in shares]
                yield [LANGUAGES[column[0]], f"{column[1]}, {view}", *cells]

    return table(("language", "view", SAME, *CHANGES), rows())


def scores(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """Precision, recall and coverage: as they were, and by how much each change moves them."""

    def means(column: Column, change: str, view: str) -> np.ndarray | None:
        records = draws(store, column, change)
        if not records:
            return None
        return np.mean([[r["scores"][f"{view}.{name}"] for name in SCORES] for r in records], 0)

    def rows() -> Iterator[list[str]]:
        for column in columns(store, embedders, n):
            for view in views_of(store, column):
                base = means(column, SAME, view)
                if base is None:
                    continue
                moved = [means(column, change, view) for change in CHANGES]
                cells = [" ".join(f"{x:.2f}" for x in base)]
                cells += [
                    "" if each is None else " ".join(f"{x:+.2f}" for x in each - base)
                    for each in moved
                ]
                yield [LANGUAGES[column[0]], f"{column[1]}, {view}", *cells]

    return table(("language", "view", SAME, *CHANGES), rows())


def worst(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """For each change the language that finds it least, over English by the yardstick."""

    def rows() -> Iterator[list[str]]:
        for change in CHANGES:
            base = found(draws(store, (*YARDSTICK, n), change))
            for name in embedders:
                power = {
                    column: found(draws(store, column, change))
                    for column in columns(store, [name], n)
                    if column[0] != "en"
                }
                # Which language is the worst is not known while some are not measured
                if not power or not all(map(len, power.values())) or not base.any():
                    continue
                least = min(power, key=lambda column: (power[column].mean(), len(power[column])))
                ratio = power[least].mean() / base.mean()
                low = min(interval(hits)[0] for hits in power.values())
                yield [
                    change,
                    name,
                    cell(base),
                    LANGUAGES[least[0]],
                    cell(power[least]),
                    f"{ratio:.2f}",
                    decided(low / base.mean(), interval(power[least])[1] / base.mean()),
                ]

    head = ("change", "embedder", "English by minilm", "worst language", "found", "ratio", "0.8")
    return table(head, rows())


def decided(low: float, high: float) -> str:
    """Whether the worst language reaches the share of the yardstick, as far as the draws tell."""
    if low >= WANTED:
        return "reached"
    return "missed" if high < WANTED else "undecided: too few draws"


def alarms(store: Store, embedders: Sequence[str], n: int) -> list[str]:
    """Which languages have more false alarms than the level allows, chance aside."""
    high, pooled = [], []
    for column in columns(store, embedders, n):
        hits = found(draws(store, column, SAME))
        if not len(hits):
            continue
        pooled.append(hits)
        if interval(hits)[0] > ALPHA:
            high.append(f"{LANGUAGES[column[0]]} by {column[1]} {cell(hits)}")
    if not pooled:
        return []
    together = np.concatenate(pooled)
    text = f"False alarms in {together.sum()} of {len(together):,} draws: {cell(together)}; "
    return ["", text + f"above {ALPHA:.0%} beyond chance: {', '.join(high) or 'none'}."]


def speed(store: Store) -> list[str]:
    """Texts and characters a second of processor time, and the peak of memory."""
    rows = []
    for case, n in store.cases("speed"):
        embedder, language = case.split("|")
        for record in store.of("speed", case, n):
            rate = record["texts"] / record["seconds"]
            rows.append(
                [
                    embedder,
                    LANGUAGES[language],
                    f"{rate:,.0f}",
                    f"{record['characters'] / record['seconds'] / 1000:,.0f}",
                    f"{record['peak_mib']:,.0f}",
                ]
            )
    if not rows:
        return []
    head = ("embedder", "language", "texts/s", "1,000 characters/s", "peak MiB")
    return table(head, rows)
