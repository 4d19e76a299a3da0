"""The pages of docs/ that are written from the items and from what the driver kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reproduction import kept
from reproduction.catalogue import SOURCES
from reproduction.item import NO_INTERVAL, STATUSES, VERDICTS, Found, Item, Line, Setting, Source

DOCS = Path(__file__).resolve().parents[3] / "docs"
COMMAND = "python research/experiments/reproduce.py"
MARK = f"<!-- Written by `{COMMAND} --write`: change the items, not this. -->"
THE_SAME = "(the same)"
"""Stands for the reason of the line before."""

STRONG = ("opposite", "not reproduced")
"""Verdicts that the eye should not miss."""


def pages() -> dict[Path, str]:
    """Write every page as it should be."""
    written = {
        DOCS / "reproduction.md": overview(),
        DOCS / "reproduction_verdicts.md": before_and_after(),
    }
    for source in SOURCES:
        written[DOCS / f"reproduction_{source.page}.md"] = page(source, kept.read(source))
    return written


def overview() -> str:
    """Say what the pages hold, with the number of items by status."""
    lines = [MARK, "", "# Tables and figures of the papers, reproduced", ""]
    lines += [
        "Calipers implements five papers and posts. For each of their tables and figures these "
        "pages give what it",
        "shows, the command that reproduces it, what the paper says beside what the command "
        "printed, and, where data",
        "or models are missing, which.",
        "",
        "```sh",
        f"{COMMAND} --list            # every item with its status",
        f"{COMMAND} prd-figure-3      # run one of them",
        f"{COMMAND} --all --write     # run all, keep the numbers, write these pages",
        f"{COMMAND} --check           # are these pages current?",
        "```",
        "",
        "Items that use real texts look for them in the folder that `CALIPERS_DATA` names: "
        "`ag_news/test.csv`",
        "(the test set of AG News), `writing_prompts/*.jsonl` (stories by people, GPT-2 XL and "
        "GPT-NeoX) and",
        "`alpaca_eval/*/model_outputs.json` (answers of chat models). No model is downloaded.",
        "",
        "What an item runs on:",
        "",
        "| runs on | what it means |",
        "| --- | --- |",
        *(f"| *{status}* | {told} |" for status, told in STATUSES.items()),
        "",
        "How a line comes out is decided by 95 % intervals, never by a sign or by a threshold of "
        "our own; an item",
        "is as good as its worst line. Orders and trends are judged by the differences of all "
        "pairs, by Holm over",
        "the pairs of the line.",
        "",
        "| verdict | what it means |",
        "| --- | --- |",
        *(f"| *{verdict}* | {told} |" for verdict, told in VERDICTS.items()),
        "",
        "[All items with their words before and after](reproduction_verdicts.md) lines were judged "
        "so.",
        "",
        "| source | " + " | ".join(STATUSES) + " |",
        "| --- |" + " ---: |" * len(STATUSES),
    ]
    for source in SOURCES:
        counts = [sum(item.status == status for item in source.items) for status in STATUSES]
        lines.append(f"| {link(source)} | {' | '.join(map(str, counts))} |")
    lines += ["", "Lines by verdict:", "", "| source | " + " | ".join(VERDICTS) + " |"]
    lines += ["| --- |" + " ---: |" * len(VERDICTS)]
    for source in SOURCES:
        found = kept.read(source).values()
        verdicts = Counter(line.verdict for each in found for line in each.lines)
        told = " | ".join(str(verdicts[verdict]) for verdict in VERDICTS)
        lines.append(f"| {link(source)} | {told} |")
    lines += ["", "## What is not reproduced, or opposite", ""]
    for source in SOURCES:
        for item in source.items:
            for told in item.exceptions.values():
                if told != THE_SAME:
                    lines.append(f"- {source.venue}, {item.number}: {prose(told)}")
    lines += ["", "```{toctree}", ":hidden:", "", "reproduction_verdicts"]
    lines += [*(f"reproduction_{source.page}" for source in SOURCES), "```"]
    return "\n".join(lines) + "\n"


def link(source: Source) -> str:
    """Name a source, with the page that it has."""
    return f"[{source.title}](reproduction_{source.page}.md), {source.venue}"


def before_and_after() -> str:
    """List all items: what they were called, and what they are called now."""
    lines = [MARK, "", "# Items before and after", ""]
    lines += [
        "Before, an item had one of four words, and a line of it held or did not, by signs, orders "
        "of values and",
        "thresholds of our own. Now a line has a verdict by 95 % intervals, and an item that of "
        "its worst line;",
        "[what the words mean](reproduction.md). The numbers of lines with each verdict follow in "
        "brackets where",
        "they differ.",
    ]
    old = kept.before()
    for source in SOURCES:
        found = kept.read(source)
        lines += ["", f"## {source.title}", ""]
        lines += ["| item | before | now |", "| --- | --- | --- |"]
        for item in source.items:
            told = f"[{item.number}](reproduction_{source.page}.md#{item.key})"
            was = old.get(item.key)
            before = "(new)" if was is None else was["status"]
            if was is not None and was["held"] + was["failed"]:
                before += f", {was['held']} of {was['held'] + was['failed']} lines held"
            lines.append(f"| {told} | {before} | {verdicts_of(item, found.get(item.key))} |")
    return "\n".join(lines) + "\n"


def verdicts_of(item: Item, found: Found | None) -> str:
    """The verdict of an item with the numbers of its lines; its status where it has none."""
    if found is None or found.verdict is None:
        return item.status
    counts = Counter(line.verdict for line in found.lines if line.verdict is not None)
    told = f"*{found.verdict}*"
    if len(counts) > 1:
        told += " (" + ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v]) + ")"
    bare = sum(line.basis == NO_INTERVAL for line in found.lines)
    return f"{told}; {bare} without an interval" if bare else told


def page(source: Source, found: dict[str, Found]) -> str:
    """One source: a list of its items, then each of them."""
    lines = [MARK, "", f"# {source.title}", "", f"*{source.venue}.*", "", source.intro, ""]
    lines += ["| item | runs on | verdict | shows |", "| --- | --- | --- | --- |"]
    for item in source.items:
        each = found.get(item.key)
        verdict = f"*{each.verdict}*" if each is not None and each.verdict is not None else ""
        told = f"[{item.number}](#{item.key}) | {item.status} | {verdict} | {cell(item.shows)}"
        lines.append(f"| {told} |")
    for item in source.items:
        lines += section(item, found.get(item.key, Found(())))
    return "\n".join(lines) + "\n"


def section(item: Item, found: Found) -> Iterator[str]:
    """One item: what it is, the command, both numbers, and what is missing."""
    yield from ("", f"({item.key})=", f"## {item.number}", "")
    told = f"{prose(item.shows)} *{item.status[0].upper()}{item.status[1:]}.*"
    yield told if found.verdict is None else f"{told} Verdict: *{found.verdict}*."
    if item.differs:
        yield from ("", prose(item.differs))
    if item.command:
        yield from ("", "```sh", item.command, "```")
    if found.lines:
        yield from ("", "| | paper, or its equation | ours | verdict |", "| --- " * 4 + "|")
        for line in found.lines:
            cells = (line.what, line.paper, line.ours, judged(line))
            yield "| " + " | ".join(map(cell, cells)) + " |"
    if found.setting is not None:
        yield from ("", settled(found.setting))
    for told in item.exceptions.values():
        if told != THE_SAME:
            yield from ("", f"What does not come out: {prose(told)}")
    if item.needs:
        yield from ("", f"Missing for the paper's own numbers: {prose('; '.join(item.needs))}.")
    if item.would:
        yield from ("", "With that:", "", "```sh", *item.would.split("\n"), "```")
    if item.see:
        links = ", ".join(f"[{name}]({name})" for name in item.see)
        yield from ("", f"More: {links}.")


def judged(line: Line) -> str:
    """The verdict of a line and what it rests on."""
    if line.verdict is None:
        return line.basis
    told = f"**{line.verdict}**" if line.verdict in STRONG else f"*{line.verdict}*"
    return f"{told}: {line.basis}" if line.basis else told


def settled(setting: Setting) -> str:
    """What an item was measured on, in a line."""
    parts = []
    if setting.models:
        parts.append("models: " + "; ".join(setting.models))
    if setting.embedder:
        parts.append(f"embedder: {setting.embedder}")
    if setting.n:
        parts.append(f"n: {setting.n}")
    if setting.seed is not None:
        parts.append(f"seed: {setting.seed}")
    if setting.more:
        parts.append(setting.more)
    return f"Measured on: {prose('; '.join(parts))}."


def prose(text: str) -> str:
    """Keep the star of MAUVE* from opening an emphasis."""
    return text.replace("MAUVE*", "MAUVE\\*")


def cell(text: str) -> str:
    """The same in a table, where a bar would end the cell."""
    return prose(text).replace("|", "\\|")


def outdated() -> list[str]:
    """Name the pages that are not as they should be."""
    return [
        path.name
        for path, text in pages().items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]
