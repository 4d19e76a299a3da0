"""The paper: its references, length and figures."""

import re
from pathlib import Path

PAPER = Path(__file__).resolve().parents[2] / "research" / "paper"


def test_every_reference_of_the_paper_is_cited_and_there() -> None:
    text = (PAPER / "paper.md").read_text()
    entries = re.findall(r"^@\w+\{([\w-]+),", (PAPER / "paper.bib").read_text(), re.MULTILINE)
    cited = set(re.findall(r"@([A-Za-z][\w-]+)", text.split("---", 2)[2]))
    assert len(entries) == len(set(entries))
    assert cited == set(entries)
    words = re.sub(
        r"```.*?```|!\[.*?\]\(.*?\)|<!--.*?-->", "", text.split("---", 2)[2], flags=re.DOTALL
    )
    assert 750 <= len(words.split()) <= 1000
    for image in re.findall(r"!\[.*?\]\((.*?)\)", text, flags=re.DOTALL):
        assert (PAPER / image).is_file()
