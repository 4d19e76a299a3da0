"""What the experiment on views found, as Markdown, and which views are better than the present."""

from __future__ import annotations

import numpy as np

from form_views_scores import FORM, SCORES, TOPIC, Candidate, form, topic

Results = dict[Candidate, dict[str, np.ndarray]]
CLEAR = 1.25
"""How many times higher is clearly higher."""


def table(results: Results, present: Candidate) -> list[str]:
    """Form, topic and their ratio by MAUVE* for every view, and form by two more, as Markdown."""
    base = summary(results[present])
    heads = ("pooling", "layer", "form", "topic", "form / topic", "better in")
    more = {name: SCORES.index(name) for name in ("precision", "coverage")}
    lines = [f"| {' | '.join((*heads, *(f'form by {name}' for name in more)))} |"]
    lines.append("| --- " * (len(heads) + len(more)) + "|")
    for view, found in results.items():
        seen, missing, ratio = summary(found)
        wins = f"{better((seen, ratio), (base[0], base[2])).sum()} of {len(seen)}"
        mark = "**" if view == present else ""
        name = view.pooling + (", rows as they are" if view.norm == "none" else "")
        cells = [f"{mark}{name}{mark}", str(view.layer), f"{seen.mean():.1f}"]
        cells += [f"{missing.mean():.1f}", f"{ratio.mean():.2f}", "present" if mark else wins]
        cells += [f"{form(found)[:, number].mean():.1f}" for number in more.values()]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def summary(found: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Form, topic and form / topic by split, by MAUVE*."""
    seen, missing = form(found)[:, 0], topic(found)[:, 0]
    return seen, missing, seen / missing


def better(one: tuple[np.ndarray, ...], base: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where one of form and form / topic is clearly higher, and the other no lower."""
    ratios = np.array(one) / np.array(base)
    return (ratios.max(axis=0) >= CLEAR) & (ratios.min(axis=0) >= 1)


def details(results: Results, pooling: str, score: int) -> list[str]:
    """Separation of each set at every layer, mean over the splits, as Markdown."""
    rows = {c.layer: f for c, f in results.items() if (c.pooling, c.norm) == (pooling, "l2")}
    rows = dict(sorted(rows.items()))
    lines = [f"| {pooling}, {SCORES[score]} | " + " | ".join(f"layer {at}" for at in rows) + " |"]
    lines.append("| --- " * (len(rows) + 1) + "|")
    for name in next(iter(rows.values())):
        mark = "" if name in (*FORM, TOPIC) else " (not counted)"
        cells = (f"{found[name][:, score].mean():.1f}" for found in rows.values())
        lines.append(f"| {name}{mark} | " + " | ".join(cells) + " |")
    return [*lines, ""]
