"""Pages of many systems: what is stored packed and not written, and that nothing is lost."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from calipers.report import html as pages
from calipers.report.html.stored import MOST_WHOLE, packed
from hand_made import comparison_of

Data = dict[str, Any]
NAMES = [f"model {place}" for place in range(MOST_WHOLE + 1)]


@pytest.fixture
def many(report: Callable[..., Data], make: dict[str, Callable[..., Data]]) -> Data:
    """One system more than are written whole, tested in pairs."""
    data = report(*NAMES)
    data["comparison"]["tests"] = [
        make["significance"](a, b, "recall", 0.01 * row, 0.01 if row % 2 else 0.5)
        for row, a in enumerate(NAMES)
        for b in NAMES[row + 1 :]
    ]
    for place, name in enumerate(NAMES, start=1):
        nearest = [{"row": 1, "text": text_of(0, 1), "distance": 0.5}]
        outlier = {"row": 2, "text": text_of(place, 2), "realism": 0.5, "first_k": 9}
        for explanation in data["explanations"][name].values():
            explanation["outside"] = [{**outlier, "nearest": nearest}]
    data["excerpts"] = [
        {"name": one["name"], "excerpts": [text_of(place, row) for row in range(len(one["rows"]))]}
        for place, one in enumerate(next(iter(data["map"].values()))["sets"])
    ]
    return data


def text_of(place: int, row: int) -> str:
    """The text of a sample: of the reference at 0, of a system from 1 on."""
    return f"<b>text</b> {row} of set {place} " * 20


def page_of(data: Data) -> str:
    return pages.html_page(comparison_of(data), redact=data.get("redacted", False))


def island(page: str, name: str) -> Any:
    """What an island of a page holds, unpacked if it is packed."""
    match = re.search(
        rf'<script type="[a-z/]+" id="{name}"( data-packed)?>(.*?)</script>', page, re.S
    )
    assert match is not None, name
    text = match[2]
    return json.loads(zlib.decompress(base64.b64decode(text)) if match[1] else text)


def texts_of(parts: Data) -> dict[str, str]:
    """The stored texts by what markup and map name them."""
    return {key: parts["texts"][place] for key, place in parts["rows"].items()}


def test_packed_data_come_back() -> None:
    text = "</script> \N{SNOWMAN} " * 100
    assert zlib.decompress(base64.b64decode(packed(text))).decode() == text
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed(text))


def test_of_few_systems_everything_is_written(report: Callable[..., Data]) -> None:
    page = page_of(report(*NAMES[:-1]))
    assert page.count("data-packed>") == page.count('id="plotly-source" data-packed>')
    assert 'id="data-parts"' not in page
    assert page.count('class="of-view"') == MOST_WHOLE


def test_of_many_systems_lists_and_signatures_are_stored(many: Data) -> None:
    page, parts = page_of(many), island(page_of(many), "data-parts")
    assert 'class="of-view"' not in page
    assert sorted(parts["systems"], key=int) == [str(place + 1) for place in range(len(NAMES))]
    assert all('class="of-view"' in markup for markup in parts["systems"].values())
    assert len(parts["signatures"]) == len(NAMES)
    assert 'id="signature-2-1"' in parts["signatures"][1]
    assert 'href="#signature-2-1"' in page


def test_stored_lists_name_every_text_once(many: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = island(page_of(many), "data-parts")
    named = [re.findall(r'data-text="(\d+:\d+)"', markup) for markup in parts["systems"].values()]
    assert set().union(*named) == set(parts["rows"])
    assert len(set(parts["texts"])) == len(parts["texts"])
    monkeypatch.setattr("calipers.report.html.stored.MOST_WHOLE", len(NAMES))
    whole = page_of(many)
    texts = re.findall(r'<div class="text[^"]*" dir="auto"[^>]*>(.*?)</div>', whole, re.S)
    shown = {unescape(text) for text in texts if "<em" not in text}
    assert shown == set(parts["texts"])
    assert len(shown) == len(NAMES) + 1


def test_the_map_takes_the_beginnings_of_stored_texts(many: Data) -> None:
    page = page_of(many)
    sets, texts = island(page, "data-map")["sets"], texts_of(island(page, "data-parts"))
    stored = 0
    for place, one in enumerate(sets):
        for row, excerpt in enumerate(one["excerpts"]):
            stored += excerpt == 0
            text = texts[f"{place}:{row}"] if excerpt == 0 else excerpt
            assert text[:200] == text_of(place, row)[:200]
    assert stored == len(NAMES) + 1


def test_differences_are_stored_as_the_table_writes_them(
    many: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "<div data-pairs>" not in page_of(many)
    monkeypatch.setattr("calipers.report.html.stored.MOST_PAIRED", MOST_WHOLE)
    assert "<div data-pairs></div>" in page_of(many)
    pairs = island(page_of(many), "data-parts")["pairs"]
    assert pairs["names"] == NAMES
    size = len(NAMES) * (len(NAMES) - 1) // 2
    assert len(pairs["a"]) == len(pairs["b"]) == size
    (recall,) = pairs["columns"]
    assert len(recall["cells"]) == len(recall["strong"]) == size
    assert (pairs["a"][-1], pairs["b"][-1]) == (len(NAMES) - 2, len(NAMES) - 1)
    assert recall["cells"][-1].startswith(f"+{0.01 * (len(NAMES) - 2):.3f}")
    assert set(zip(pairs["a"], recall["strong"], strict=True)) == {
        (row, str(row % 2)) for row in range(len(NAMES) - 1)
    }


def test_a_text_that_several_sets_hold_is_stored_once(many: Data) -> None:
    for name in NAMES:
        for explanation in many["explanations"][name].values():
            explanation["outside"][0]["text"] = text_of(0, 1)
    parts = island(page_of(many), "data-parts")
    assert parts["texts"] == [text_of(0, 1)]
    assert len(parts["rows"]) == len(NAMES) + 1


def test_of_many_systems_lists_are_shorter_and_the_page_says_so(
    many: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = f"Of {len(NAMES)} systems, every list shows its first 8 entries."
    for explanation in many["explanations"][NAMES[0]].values():
        (one,) = explanation["outside"]
        explanation["outside"] = [{**one, "row": row} for row in range(20)]
        explanation["outside_count"] = 33
    assert says not in page_of(many)
    assert "20 of 33" in island(page_of(many), "data-parts")["systems"]["1"]
    monkeypatch.setattr("calipers.report.html.stored.MOST_PAIRED", MOST_WHOLE)
    assert says in page_of(many)
    assert "8 of 33" in island(page_of(many), "data-parts")["systems"]["1"]


def test_redacted_pages_store_no_text(many: Data) -> None:
    page = page_of({**many, "redacted": True})
    assert island(page, "data-parts")["texts"] == []
    assert all(one["excerpts"] is None for one in island(page, "data-map")["sets"])


def test_elements_do_not_grow_with_pairs_and_samples(
    many: Data, report: Callable[..., Data]
) -> None:
    """A page that is stored has fewer elements than one of fewer systems, written whole."""
    count = [
        len(re.findall("<[a-z]", re.sub("<script.*?</script>", "", page, flags=re.S)))
        for page in (page_of(many), page_of(report(*NAMES[:-1])))
    ]
    assert count[0] < count[1]
