"""Tables of coverage and length, as Markdown, from the worlds that were measured."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_cases import APART
from calibration_intervals import Measures, measures
from calibration_store import Record, Store

WANTED, LONGEST = 0.93, 2.0


def sides(store: Store, part: str, case: str, n: int) -> tuple[list[Record], list[Record]] | None:
    """Worlds with intervals, and those for the expectation; None with too few of either."""
    records = store.of(part, case, n)
    full = [record for record in records if "spreads" in record]
    fresh = [record for record in records if "spreads" not in record]
    return (full, fresh) if min(len(full), len(fresh)) > 1 else None


def table(store: Store, part: str) -> list[str]:
    """Every case and score: coverage with its error, length, and what the oracle has."""
    lines: list[str] = []
    for case, n in store.cases(part):
        found = sides(store, part, case, n)
        if found is None:
            continue
        full, fresh = found
        title = f"{case}, n = {n:,}: {len(full):,} worlds, {len(fresh):,} for the expectation"
        lines += ["", title, ""]
        lines += ["| score | mean | sd | SE / sd | covers | oracle covers | length | |"]
        lines += ["| --- |" + " ---: |" * 6 + " --- |"]
        lines += [row(name, full, fresh) for name in full[0]["values"]]
    return lines


def row(name: str, full: Sequence[Record], fresh: Sequence[Record]) -> str:
    """One line of the table."""
    found = measures(name, full, fresh)
    if found is None:
        return f"| {name} | | | | no interval | | | |"
    marks = [below(found)] if found["covers"] < WANTED else []
    marks += [] if found["length"] <= LONGEST else [f"longer than {LONGEST:g}"]
    marks += [] if found["given"] == 1 else [f"{1 - found['given']:.1%} without interval"]
    return (
        f"| {name} | {found['mean']:.4f} | {found['sd']:.4f} | {found['ratio']:.2f} | "
        f"{found['covers']:.3f} ± {found['error']:.3f} | {found['oracle']:.3f} | "
        f"{found['length']:.2f} | {'; '.join(marks)} |"
    )


def below(found: Measures) -> str:
    """What is said where fewer worlds are covered than wanted: chance may explain it."""
    chance = found["covers"] + 2 * found["error"] >= WANTED
    return f"below {WANTED}" + ", within error" * chance


def overview(store: Store, part: str) -> list[str]:
    """Coverage / length of every case and score."""
    lines: list[str] = []
    for case, n in store.cases(part):
        found = sides(store, part, case, n)
        if found is None:
            continue
        names = list(found[0][0]["values"])
        heads = ["", "| covers / length | n | worlds | " + " | ".join(names) + " |"]
        heads += ["| --- | ---: | ---: |" + " ---: |" * len(names)]
        lines += [] if heads[1] in lines else heads
        cells = [cell(measures(name, *found)) for name in names]
        lines.append(f"| {case} | {n:,} | {len(found[0]):,} | " + " | ".join(cells) + " |")
    return lines


def cell(found: Measures | None) -> str:
    return "none" if found is None else f"{found['covers']:.3f} / {found['length']:.2f}"


def worst(store: Store, part: str) -> list[str]:
    """The lowest coverage and the greatest length by score and size, but for the cases apart."""
    lines = [
        "",
        "| score | n | cases | worlds | lowest coverage | where | greatest length | where |",
    ]
    lines += ["| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |"]
    for (name, n), found in by_score(store, part).items():
        least = min(found, key=lambda case: found[case]["covers"])
        most = max(found, key=lambda case: found[case]["length"])
        worlds = {round(each["worlds"]) for each in found.values()}
        lines.append(
            f"| {name} | {n:,} | {len(found)} | {extent(worlds)} | "
            f"{found[least]['covers']:.3f} ± {found[least]['error']:.3f} | {least} | "
            f"{found[most]['length']:.2f} | {most} |"
        )
    return lines


def by_score(store: Store, part: str) -> dict[tuple[str, int], dict[str, Measures]]:
    """What was measured, by score and size, then by case, without the cases apart."""
    gathered: dict[tuple[str, int], dict[str, Measures]] = {}
    names: list[str] = []
    for case, n in store.cases(part):
        found = sides(store, part, case, n)
        if found is None or case.startswith(APART):
            continue
        own = list(found[0][0]["values"])
        names += [name for name in own if name not in names]
        for name in own:
            each = measures(name, *found)
            if each is not None:
                gathered.setdefault((name, n), {})[case] = each
    return dict(sorted(gathered.items(), key=lambda item: (names.index(item[0][0]), item[0][1])))


def extent(numbers: set[int]) -> str:
    """One number, or the smallest and the largest."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
