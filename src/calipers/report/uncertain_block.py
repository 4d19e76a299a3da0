"""What the blocks below a table are made of, and how they name scores and systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calipers.report.content import Data, Metric, score_metric, views
from calipers.report.grid import Line, render
from calipers.report.layout import Grid
from calipers.report.names import WIDEST_NAME, clean, shorten
from calipers.report.numbers import number
from calipers.report.wrapping import listed, wrapped


@dataclass(frozen=True)
class Block:
    """A heading, grids, what they tell in sentences, and how to read them."""

    heading: str
    grids: Sequence[Grid] = ()
    tells: Sequence[str] = ()
    caption: str = ""


def block_lines(block: Block, width: int, *, plain: bool) -> Iterator[Line]:
    """Write a block as lines, and a blank one after each of its parts."""
    yield from wrapped(block.heading, width, "bold")
    for grid in block.grids:
        yield from render(grid.columns, gap=grid.gap, rule="-" if plain else "─")
        yield ()
    yield from listed("", block.tells, width, "")
    yield from wrapped(block.caption, width, "dim")
    if block.tells or block.caption:
        yield ()


def short(name: object, width: int) -> str:
    """Shorten the name of a system to leave half of a line to what is said of it."""
    return shorten(clean(name), min(WIDEST_NAME, max(8, width // 3)))


def spoken(data: Data, metric: Metric) -> str:
    """Name a score in a sentence, with its view where there are several."""
    several = len(views(data)) > 1 and metric.view
    return f"{metric.label} ({clean(metric.view)})" if several else metric.label


def spoken_all(data: Data, said: Sequence[tuple[str, Metric]]) -> str:
    """List what is said of several scores, each view named once.

    `said` gives the words for each score and the score itself.
    """
    if len(views(data)) < 2:
        return ", ".join(words for words, _ in said)
    parts = []
    for view in dict.fromkeys(metric.view for _, metric in said):
        words = ", ".join(words for words, metric in said if metric.view == view)
        parts.append(f"{words} ({clean(view)})" if view else words)
    return "; ".join(parts)


def metric_of(data: Data, key: str) -> Metric:
    """Read the key of a score; one that no system has is known by its name alone."""
    view, dot, rest = key.partition(".")
    known = dot and view in views(data)
    found = score_metric(data, view, rest, main=False) if known else None
    main = views(data)[0]
    return (
        found
        or score_metric(data, main, key, main=True)
        or Metric(view if known else main, rest if known else key, key, "higher")
    )


def unit_of(data: Data, key: str) -> bool:
    """Tell whether the values of a score are shares, in [0, 1]."""
    found = [system.get("scores", {}).get(key) for system in data.get("systems", ())]
    ranges = [score.get("range") for score in found if score]
    return (
        list(ranges[0] or ()) == [0, 1]
        if ranges
        else key.endswith(("classifier_auc", "classifier_accuracy"))
    )


def value(data: Data, key: str, number_or_none: float | None) -> str:
    """Write a number in the way of the scores of its key; empty where it is None."""
    return "" if number_or_none is None else number(number_or_none, unit=unit_of(data, key))
