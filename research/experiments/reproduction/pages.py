"""The pages of docs/ that are written from the items and from what the driver kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
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
    written = {DOCS / "reproduction.md": overview()}
    for source in SOURCES:
        written[DOCS / f"reproduction_{source.page}.md"] = page(source, kept.read(source))
    return written


def overview() -> str:
    """Say what the pages hold, with the number of items by status."""
    lines = [MARK, "", "# Tables and figures of the papers, reproduced", ""]
    lines += [
        "Calipers implements five papers and posts. For each of their tables and figures these "
        "pages give the claim,",
        "the command that measures it, the paper's number beside ours, a verdict, and what is "
        "missing for the paper's own.",
        "",
        "```sh",
        f"{COMMAND} --list            # every item with its status",
        f"{COMMAND} prd-figure-3      # run one of them",
        f"{COMMAND} --all --write     # run all, keep the numbers, write these pages",
        f"{COMMAND} --check           # are these pages current?",
        "```",
        "",
        "Running an item also prints values that the paper does not give, and the command for the "
        "paper's own data.",
        "Real texts are read from the folder in `CALIPERS_DATA`: `ag_news/test.csv`, "
        "`writing_prompts/*.jsonl` (people, GPT-2 XL,",
        "GPT-NeoX) and `alpaca_eval/*/model_outputs.json` (chat models). No model is downloaded.",
        "",
        "| runs on | what it means |",
        "| --- | --- |",
        *(f"| *{status}* | {told} |" for status, told in STATUSES.items()),
        "",
        "95 % intervals decide the verdict of each line; an item has that of its worst line. "
        "Orders and trends are judged",
        "by all pairs of the line with Holm's correction; *2 of 3 pairs* counts those beyond "
        "noise. A table without",
        "verdicts has that of its item on every line; *same direction* there is always beyond "
        "noise.",
        "",
        "| verdict | what it means |",
        "| --- | --- |",
        *(f"| *{verdict}* | {told} |" for verdict, told in VERDICTS.items()),
        "",
        "Items by what they run on:",
        "",
        "| source | " + " | ".join(STATUSES) + " |",
        "| --- |" + " ---: |" * len(STATUSES),
    ]
    for source in SOURCES:
        counts = [sum(item.status == status for item in source.items) for status in STATUSES]
        lines.append(f"| {link(source)}, {source.venue} | {' | '.join(map(str, counts))} |")
    lines += ["", "Lines by verdict:", "", "| source | " + " | ".join(VERDICTS) + " |"]
    lines += ["| --- |" + " ---: |" * len(VERDICTS)]
    for source in SOURCES:
        found = kept.read(source).values()
        verdicts = Counter(line.verdict for each in found for line in each.lines)
        told = " | ".join(str(verdicts[verdict]) for verdict in VERDICTS)
        lines.append(f"| {link(source)} | {told} |")
    lines += ["", "Items with a line that is not reproduced, or opposite, and why:", ""]
    for source in SOURCES:
        amiss = [item for item in source.items if item.exceptions]
        if amiss:
            links = ", ".join(
                f"[{item.number}](reproduction_{source.page}.md#{item.key})" for item in amiss
            )
            lines.append(f"- {source.title}: {prose(links)}")
    lines += ["", "```{toctree}", ":hidden:", ""]
    lines += [*(f"reproduction_{source.page}" for source in SOURCES), "```"]
    return "\n".join(lines) + "\n"


def link(source: Source) -> str:
    """Name a source, with the page that it has."""
    return f"[{source.title}](reproduction_{source.page}.md)"


def verdicts_of(item: Item, found: Found | None) -> str:
    """The verdict of an item, and how many lines have it; its status where it has none."""
    if found is None or found.verdict is None:
        return item.status
    counts = Counter(line.verdict for line in found.lines if line.verdict is not None)
    told = f"*{found.verdict}*"
    if len(counts) > 1:
        told += f", {counts[found.verdict]} of {counts.total()} lines"
    bare = sum(line.basis == NO_INTERVAL for line in found.lines)
    return f"{told}; {bare} without an interval" if bare else told


def page(source: Source, found: dict[str, Found]) -> str:
    """One source: a list of its items, each of them, and what is missing for its own numbers."""
    lines = [MARK, "", f"# {source.title}", "", f"*{source.venue}.*", "", source.intro, ""]
    lines += ["| item | verdict |", "| --- | --- |"]
    measured: dict[str, Item] = {}
    for item in source.items:
        verdict = verdicts_of(item, found.get(item.key))
        lines.append(f"| [{prose(item.number)}](#{item.key}) | {verdict} |")
    for item in source.items:
        lines += section(item, found.get(item.key, Found(())), measured)
    return "\n".join([*lines, *missing(source)]) + "\n"


def section(item: Item, found: Found, measured: dict[str, Item]) -> Iterator[str]:
    """One item: what it is, how it differs, both numbers and the command.

    `measured` holds the settings and models named so far, with the item that each stands in.
    """
    yield from ("", f"({item.key})=", f"## {prose(item.number)}", "")
    told = f"{prose(item.shows)} *{item.status[0].upper()}{item.status[1:]}*"
    yield f"{told}." if found.verdict is None else f"{told}: *{found.verdict}*."
    if item.differs:
        yield from ("", prose(item.differs))
    yield from table(found)
    if found.setting is not None:
        told = settled(found.setting, set(measured))
        first = measured.setdefault(settled(found.setting), item)
        measured.update(dict.fromkeys(found.setting.models, item))
        yield ""
        yield told if first is item else f"Measured as [{prose(first.number)}](#{first.key})."
    for told in item.exceptions.values():
        if told != THE_SAME:
            yield from ("", f"Not as in the paper: {prose(told)}")
    if item.command:
        yield from ("", f"`{item.command}`")
    elif item.would:
        yield from ("", "```sh", *item.would.split("\n"), "```")
    if item.see:
        links = ", ".join(f"[{name}]({name})" for name in item.see)
        yield from ("", f"More: {links}.")


def table(found: Found) -> Iterator[str]:
    """The lines with a verdict; its column is left out where all have that of the item."""
    lines = [line for line in found.lines if line.verdict is not None] or list(found.lines)
    if not lines:
        return
    alike = len({line.verdict for line in lines}) == 1
    ends = [grounds(line) if alike else judged(line) for line in lines]
    head = ("", "paper", "ours", "" if alike else "verdict")
    columns = slice(None if any(ends) else 3)
    yield from ("", row(head[columns]), "| --- " * len(head[columns]) + "|")
    for line, end in zip(lines, ends, strict=True):
        ours = "equal" if line.ours == line.paper else line.ours
        yield row((line.what, line.paper, ours, end)[columns])


def row(cells: Sequence[str]) -> str:
    """One row of a table."""
    return "| " + " | ".join(map(cell, cells)) + " |"


def missing(source: Source) -> Iterator[str]:
    """What the source's own numbers would need, each once, with the items that lack it."""
    lacking: dict[str, list[Item]] = {}
    for item in source.items:
        for need in item.needs:
            lacking.setdefault(need, []).append(item)
    if not lacking:
        return
    yield from ("", "## Missing for the paper's own numbers", "")
    for need, items in lacking.items():
        others = f" and {len(items) - 1} more" if len(items) > 1 else ""
        yield f"- {prose(need)}: [{prose(items[0].number)}](#{items[0].key}){others}"


SAID = (
    re.compile(r"^against 0(: (above|below|the interval holds it))?$"),
    re.compile(r"^at least 0\.95$"),
    re.compile(r"^[01] of 1 pairs beyond noise(, 1 against it)?$"),
)
"""What a verdict rests on where its word and the numbers beside it say as much."""


def grounds(line: Line) -> str:
    """What a verdict rests on, unless that is clear from the numbers."""
    clear = any(pattern.match(line.basis) for pattern in SAID)
    return "" if clear else line.basis.replace(" pairs beyond noise", " pairs")


def judged(line: Line) -> str:
    """The verdict of a line and what it rests on."""
    if line.verdict is None:
        return line.basis
    word = line.verdict.removesuffix(" beyond noise")
    told = f"**{word}**" if word in STRONG else f"*{word}*"
    return f"{told}: {grounds(line)}" if grounds(line) else told


def settled(setting: Setting, named: Collection[str] = ()) -> str:
    """What an item was measured on, in a line; models that were named in full are named briefly."""
    models = [each.partition(",")[0] if each in named else each for each in setting.models]
    seed = "" if setting.seed is None else f"seed {setting.seed}"
    size = f"n: {setting.n}" if setting.n else ""
    parts = filter(None, [*models, setting.embedder, size, seed, setting.more])
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
