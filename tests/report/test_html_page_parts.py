"""The parts of the page on their own: islands, cut texts, checks, paths, shares."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.report.content import shown_metrics
from calipers.report.html.checks import checks
from calipers.report.html.grids import floor_row, parts
from calipers.report.html.islands import island, policy, visible
from calipers.report.html.lists import system_lists
from calipers.report.html.table import score_table
from calipers.report.html.texts import LONGEST, SHORTEST, Texts, _fair, fitting
from calipers.report.html.wording import listing, named, plain, share
from calipers.report.redacted import file_names, without_texts

Data = dict[str, Any]
ANY = st.text(st.characters(codec=None))
REPLACED = "\N{REPLACEMENT CHARACTER}"


@given(st.recursive(ANY | st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.lists))
def test_an_island_reads_back_and_cannot_end(data: Any) -> None:
    text = island(data)
    assert not set("<>&\u2028\u2029\x00") & set(text)
    text.encode("utf-8")
    assert json.loads(text) == _replaced(data)


def _replaced(data: Any) -> Any:
    if isinstance(data, list):
        return [_replaced(each) for each in data]
    if not isinstance(data, str):
        return data
    return "".join(REPLACED if c == "\0" or 0xD800 <= ord(c) < 0xE000 else c for c in data)


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert json.loads(island("\\u0000 and \0")) == f"\\u0000 and {REPLACED}"


def test_an_island_takes_no_infinite_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        island({"x": float("inf")})


@given(ANY)
def test_visible_texts_can_be_written(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert len(shown) == len(text)
    assert all(a == b or b == REPLACED for a, b in zip(text, shown, strict=True))


def test_visible_keeps_line_breaks_and_marks() -> None:
    assert visible("a\n\tb\u202e\u05d0") == "a\n\tb\u202e\u05d0"


def test_a_policy_without_scripts_lets_none_run() -> None:
    assert "script-src 'none'" in policy([])


def test_short_texts_leave_their_room_to_long_ones() -> None:
    assert _fair([10, 700, 5000], 2710) == 2000
    assert _fair([10, 20], 1000) == LONGEST
    assert _fair([5000] * 1000, 1000) == SHORTEST
    assert _fair([], 0) == LONGEST


def test_texts_of_cells_take_no_room() -> None:
    long = {"row": 0, "text": "x" * 20_000}
    cells = {"a": {"meaning": {"cells": [{"reference_medoids": [long] * 2000}], "topics": []}}}
    assert fitting(cells).longest == LONGEST
    listed = {"a": {"meaning": {"outside": [long] * 2000}}}
    assert SHORTEST <= fitting(listed).longest < 6000
    assert fitting(listed, taken=10_000_000).longest < fitting(listed).longest


@pytest.mark.parametrize(("text", "folded"), [("x" * 421, True), ("x", False), ("\n" * 7, True)])
def test_long_texts_are_folded(text: str, folded: bool) -> None:
    assert Texts().shown({"row": 0, "text": text}).folded is folded


def test_a_cut_text_tells_its_length() -> None:
    shown = Texts(3).shown({"row": 2, "text": "abcde"})
    assert (shown.text, shown.cut) == ("abc", "first 3 of 5 characters")
    assert Texts(3).shown({"row": 2, "text": "abc"}).cut == ""
    assert Texts(3).shown({"row": 2, "text": None}).text is None


@pytest.mark.parametrize(
    ("command", "bare"),
    [
        ("calipers compare -r a.jsonl", "calipers compare -r a.jsonl"),
        ("calipers -r '/x y/p.jsonl' --html=~/r.html", "calipers -r p.jsonl --html=r.html"),
        (r"calipers -r 'C:\Users\jane\p.jsonl'", "calipers -r p.jsonl"),
        ("calipers M=runs/*/m.jsonl", "calipers 'M=m.jsonl'"),
        ("calipers 'unfinished /home/p.jsonl", "calipers 'unfinished p.jsonl"),
    ],
)
def test_commands_keep_only_file_names(command: str, bare: str) -> None:
    assert file_names(command).replace("'", "") == bare.replace("'", "")


def test_redacting_keeps_names_and_keys(four_sure: Data) -> None:
    four_sure["systems"][0]["name"] = "a/b"
    four_sure["tests"][0]["a"] = "a/b"
    data = {"comparison": four_sure, "explanations": {"a/b": {}}, "redacted": True}
    found = without_texts(data)
    assert found["comparison"]["systems"][0]["name"] == "a/b"
    assert found["comparison"]["tests"][0]["a"] == "a/b"
    assert list(found["explanations"]) == ["a/b"]
    assert found["comparison"]["systems"][1]["scores"] == four_sure["systems"][1]["scores"]


def test_folders_with_spaces_are_left_out_everywhere(four_sure: Data) -> None:
    folder = "/home/Jane Doe/models/mine"
    command = f"calipers compare -r a.jsonl --embedder '{folder}' --cache-dir 'Jane Doe/cache'"
    four_sure["settings"] |= {"command": command, "embedder": folder}
    four_sure["systems"][0]["scores"]["precision"]["signature"] = f"metric:x|embedder:{folder}|k:5"
    four_sure["warnings"] = [f"{folder} reads 128 tokens"]
    found = without_texts({"comparison": four_sure, "command": command})
    assert "Jane" not in json.dumps(found)
    assert "Doe" not in json.dumps(found)
    score = found["comparison"]["systems"][0]["scores"]["precision"]
    assert score["signature"] == "metric:x|embedder:mine|k:5"
    assert found["comparison"]["warnings"] == ["mine reads 128 tokens"]


def test_a_setting_that_is_a_bare_slash_takes_nothing_out(four_sure: Data) -> None:
    four_sure["settings"]["prefix"] = "/"
    four_sure["warnings"] = ["1/2 of all"]
    found = without_texts({"comparison": four_sure})
    assert found["comparison"]["warnings"] == ["1/2 of all"]


def test_phrases_of_scripts_without_spaces_are_no_telling_words(four_sure: Data) -> None:
    words = ["我今天去北京看朋友", "北京", "internationalisation"]
    told = {"human": {"meaning": {"topics": [{"words": words}]}}}
    found = without_texts({"comparison": four_sure, "explanations": told})
    assert found["explanations"]["human"]["meaning"]["topics"] == [{"words": words[1:]}]


def test_the_table_marks_and_sorts(two_systems: Data) -> None:
    metrics = shown_metrics(two_systems)
    table = score_table(two_systems, metrics)
    assert [(view, width) for view, _, width in table.groups] == [("meaning", 4), ("form", 4)]
    first = table.systems[0].values[0]
    assert (first.text, first.mark, first.says, first.sort) == (
        "0.910",
        "*",
        "best of its column",
        0.91,
    )
    assert table.floor is None
    assert table.lead == ("n", "words")
    assert "↑ higher is better" in table.how


def test_a_statistic_of_one_set_sorts_by_its_gap(make: Any) -> None:
    one = make["score"](3.0, better="closest", range=[1.0, None], reference=9.0, gap=6.0)
    data = make["comparison"]([make["system"]("a", {"vendi": one})], views=["meaning"])
    table = score_table(data, shown_metrics(data))
    assert table.systems[0].values[0].sort == 6.0
    assert table.reference.values[0].text == "9.000"


def test_undefined_scores_have_no_place_in_the_order(make: Any) -> None:
    none = make["score"](None, reason="fewer than 5 samples")
    data = make["comparison"]([make["system"]("a", {"recall": none})], views=["meaning"])
    table = score_table(data, shown_metrics(data))
    assert (table.systems[0].values[0].text, table.systems[0].values[0].sort) == ("–", None)
    assert table.reasons == ("a, Recall by meaning: fewer than 5 samples",)


def test_one_floor_stands_in_the_table_and_several_do_not(four_sure: Data) -> None:
    metrics = shown_metrics(four_sure)
    floors = floor_row(four_sure, metrics)
    assert floors["", ""] == "2x950"
    assert floors["meaning", "Precision↑"] == "0.951±0.004"
    for each in four_sure["systems"][0]["scores"].values():
        each["floor"]["size"], each["floor"]["value"] = 100, 0.8
    assert floor_row(four_sure, metrics) == {}
    assert score_table(four_sure, metrics).floor is None


def test_blocks_come_from_the_terminal_table(four_sure: Data) -> None:
    found = {part.id: part for part in parts(four_sure, shown_metrics(four_sure))}
    assert list(found) == ["against-reference", "floor", "pairs", "seeds", "advice"]
    assert len(found["pairs"].tables[0].rows) == 6
    assert all(
        len(table.rows[0]) == len(table.headers) for p in found.values() for table in p.tables
    )


LENGTHS = {"reference": 37.5, "generated": 39.0, "distance": 0.071, "chance": 0.1}


def test_checks_hold_the_system_against_the_reference(make: Any) -> None:
    found = {
        "lengths": {"words": LENGTHS},
        "truncation": {"reference": 0.02, "generated": 0.0},
        "duplicates": {"reference": 0.0, "generated": 0.004, "size": 10},
        "copies": {"generated": 1.0, "expected": 0.25},
        "prompts": {"reference": None, "generated": 0.5},
        "beginnings": {"generated": 0.006, "expected": 0.0, "words": 6.5},
        "scripts": {"generated": {"Latin": 0.9, "Greek": 0.1}, "reference": {"Latin": 1.0}},
        "language": None,
        "same": False,
    }
    systems = [
        make["system"]("a", {}, confounders=found),
        make["system"]("b", {}, confounders={"same": True}),
        make["system"]("c", {}, confounders=None),
    ]
    table = {check.name: check.cells for check in checks(make["comparison"](systems))}
    alike = "is the reference"
    assert table == {
        "length in words": ("39 against 37.5; distance 0.07, chance up to 0.10", alike, "–"),
        "cut by the embedder": ("0 % against 2 %", alike, "–"),
        "repeats": ("0.4 % against 0 %", alike, "–"),
        "word-for-word copies": ("100 % against 25 %", alike, "–"),
        "prompts in the texts": ("50 % against –", alike, "–"),
        "common beginnings": ("0.6 % against 0 %, 6.5 words in common", alike, "–"),
        "script": ("Latin 90 %, Greek 10 % against Latin 100 %", alike, "–"),
    }
    assert checks(make["comparison"](systems[1:])) == []


def test_lists_follow_the_order_of_views_and_systems(make: Any) -> None:
    told = {"view": "form", "n": 10, "m": 20, "outside_count": 5, "topics": [], "outside": []}
    data = make["comparison"]([make["system"](name, {}) for name in ("a", "b")])
    both = {"form": told, "meaning": {**told, "view": "meaning"}}
    made = system_lists({"comparison": data, "explanations": {"b": both}}, Texts())
    assert [each.name for each in made] == ["b"]
    assert [view.view for view in made[0].views] == ["meaning", "form"]
    assert made[0].views[0].summary == (
        "5 of 20 generated samples lie outside the reference's support (25 %)",
    )
    assert made[0].views[0].copies_count == "–"


def test_topics_are_split_by_direction(make: Any) -> None:
    base = {"words": ["x"], "reference": 1, "generated": 2, "expected": 0.1, "produced": 0.2}
    topics = [
        {**base, "direction": direction, "share": part, "contribution": 0.1, "uncovered": left}
        for direction, part, left in (("under", 0.5, 1), ("over", 0.25, 4), ("even", None, 0))
    ]
    told = {"view": "meaning", "n": 3, "m": 3, "topics": topics}
    data = make["comparison"]([make["system"]("a", {})])
    view = system_lists({"comparison": data, "explanations": {"a": {"meaning": told}}}, Texts())[
        0
    ].views[0]
    assert [(t.share, t.bar) for t in view.missed] == [("50 %", 100.0)]
    assert [(t.share, t.bar) for t in view.invented] == [("25 %", 50.0)]
    assert [topic.uncovered for topic in view.uncovered] == [4, 1]


@pytest.mark.parametrize(
    ("first", "most", "said"),
    [
        (7, 9, "realism 0.80; first inside at k = 7"),
        (10, 9, "realism 0.80; outside at every k up to 9"),
        (10, None, "realism 0.80; first inside at k = 10"),
        (0, 9, "realism 0.80"),
    ],
)
def test_a_sample_that_no_ball_holds_is_not_said_to_lie_in_the_next(
    make: Any, first: int, most: int | None, said: str
) -> None:
    outlier = {"row": 1, "text": "x", "realism": 0.8, "first_k": first, "nearest": []}
    told = {"view": "meaning", "n": 3, "m": 3, "topics": [], "outside": [outlier]}
    data = make["comparison"]([make["system"]("a", {})])
    data = data | {"settings": data["settings"] | {"k_max": most}}
    explained = {"comparison": data, "explanations": {"a": {"meaning": told}}}
    assert system_lists(explained, Texts())[0].views[0].worst[0].measured == said


def test_shares_are_never_rounded_to_an_end() -> None:
    assert [share(x) for x in (0.0, 1e-4, 0.012, 0.5, 0.9999, 1.0, None)] == [
        *("0 %", "0.01 %", "1.2 %", "50 %", "99.99 %", "100 %", "–"),
    ]
    assert share(1e-7) == "< 0.01 %"
    assert share(1 - 1e-7) == "> 99.99 %"


def test_lists_of_names() -> None:
    assert plain(listing([named("a"), named("b\n")])) == "a and b "
    assert listing([]) == ""


def test_long_names_and_words_are_shortened(make: Any) -> None:
    data = make["comparison"]([make["system"]("x" * 999, {"recall": make["score"](0.5)})])
    assert len(score_table(data, shown_metrics(data)).systems[0].name) == 40
    topic = {"words": ["y" * 999], "direction": "over", "share": 0.5}
    told = {"x" * 999: {"meaning": {"view": "meaning", "topics": [topic]}}}
    made = system_lists({"comparison": data, "explanations": told}, Texts())[0]
    assert len(made.name) == 40
    assert len(made.views[0].invented[0].words[0]) == 200
