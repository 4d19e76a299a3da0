"""The pages of docs/ that are written from the items and from what the driver kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproduction import kept
from reproduction.catalogue import SOURCES
from reproduction.item import STATUSES, Found, Item, Source

DOCS = Path(__file__).resolve().parents[3] / "docs"
COMMAND = "python research/experiments/reproduce.py"
MARK = f"<!-- Written by `{COMMAND} --write`: change the items, not this. -->"
THE_SAME = "(the same)"
"""Stands for the reason of the line before."""

VERDICTS = {True: "yes", False: "**no**", None: ""}


def pages() -> dict[Path, str]:
    """Write every page as it should be."""
    written = {DOCS / "reproduction.md": overview()}
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
        "(the test set of AG News) and `writing_prompts/*.jsonl` (stories by people, GPT-2 XL and "
        "GPT-NeoX).",
        "No model is downloaded.",
        "",
        "| status | what it means |",
        "| --- | --- |",
        *(f"| *{status}* | {told} |" for status, told in STATUSES.items()),
        "",
        "| source | " + " | ".join(STATUSES) + " | lines that hold |",
        "| --- |" + " ---: |" * (len(STATUSES) + 1),
    ]
    for source in SOURCES:
        found = kept.read(source)
        counts = [sum(item.status == status for item in source.items) for status in STATUSES]
        judged = [
            line.holds for lines in found.values() for line in lines if line.holds is not None
        ]
        link = f"[{source.title}](reproduction_{source.page}.md), {source.venue}"
        lines.append(
            f"| {link} | {' | '.join(map(str, counts))} | {sum(judged)} of {len(judged)} |"
        )
    lines += ["", "## What does not hold", ""]
    for source in SOURCES:
        for item in source.items:
            for told in item.exceptions.values():
                if told != THE_SAME:
                    lines.append(f"- {source.venue}, {item.number}: {prose(told)}")
    lines += ["", "```{toctree}", ":hidden:", ""]
    lines += [*(f"reproduction_{source.page}" for source in SOURCES), "```"]
    return "\n".join(lines) + "\n"


def page(source: Source, found: dict[str, Found]) -> str:
    """One source: a list of its items, then each of them."""
    lines = [MARK, "", f"# {source.title}", "", f"*{source.venue}.*", "", source.intro, ""]
    lines += ["| item | status | shows |", "| --- | --- | --- |"]
    for item in source.items:
        lines.append(f"| [{item.number}](#{item.key}) | {item.status} | {cell(item.shows)} |")
    for item in source.items:
        lines += section(item, found.get(item.key, ()))
    return "\n".join(lines) + "\n"


def section(item: Item, found: Found) -> Iterator[str]:
    """One item: what it is, the command, both numbers, and what is missing."""
    yield from ("", f"({item.key})=", f"## {item.number}", "")
    yield f"{prose(item.shows)} *{item.status[0].upper()}{item.status[1:]}.*"
    if item.differs:
        yield from ("", prose(item.differs))
    if item.command:
        yield from ("", "```sh", item.command, "```")
    if found:
        yield from ("", "| | paper, or its equation | ours | holds |", "| --- | --- | --- | --- |")
        for line in found:
            cells = (line.what, line.paper, line.ours, VERDICTS[line.holds])
            yield "| " + " | ".join(map(cell, cells)) + " |"
    for told in item.exceptions.values():
        if told != THE_SAME:
            yield from ("", f"What does not hold: {prose(told)}")
    if item.needs:
        yield from ("", f"Missing for the paper's own numbers: {prose('; '.join(item.needs))}.")
    if item.would:
        yield from ("", "With that:", "", "```sh", *item.would.split("\n"), "```")
    if item.see:
        links = ", ".join(f"[{name}]({name})" for name in item.see)
        yield from ("", f"More: {links}.")


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
