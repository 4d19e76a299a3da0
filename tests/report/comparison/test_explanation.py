"""What the screen says of topics and samples behind the gap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calipers.explain.model import Explanation, Topic
from calipers.report.comparison import explanation as explain
from calipers.report.redacted import without_texts
from calipers.report.render.html import page
from calipers.report.render.markdown import markdown
from calipers.report.render.text import plain
from calipers.report.table import Document
from calipers.report.topics import name_of, outcome, ratio_words, times
from calipers.results.comparison import Comparison
from calipers.wording.front import speaking
from hand_made import comparison_of

Data = dict[str, Any]

WORDS = ("goal", "cup", "season", "league", "champions", "final", "team", "players", "coach")


def topic(words: tuple[str, ...], shares: tuple[float, float], *, sure: bool = True) -> Data:
    reference, generated = shares
    ratio = generated / reference if reference else None
    bounds = [0.8 * ratio, 1.25 * ratio] if ratio is not None else [4.5, None]
    return {
        "keywords": list(words),
        "cells": [3],
        "reference": round(500 * reference),
        "generated": round(500 * generated),
        "expected": reference,
        "produced": generated,
        "contribution": 0.01,
        "share": 0.1,
        "uncovered": None,
        "outside": None,
        "reference_medoids": [],
        "generated_medoids": [],
        "uncovered_samples": [],
        "p_value": 0.001 if sure else 0.5,
        "adjusted_p_value": 0.002 if sure else 1.0,
        "direction": "under" if generated < reference else "over",
        "reference_share": reference,
        "generated_share": generated,
        "ratio": ratio,
        "interval": bounds,
        "significant": sure,
    }


def outlier(row: int, text: str) -> Data:
    return {"row": row, "text": text, "realism": 0.5, "first_k": 9, "nearest": []}


def explained(view: str, topics: list[Data], **more: Any) -> Data:
    outside = [outlier(row, f"line one of {row}\nand " + "more " * 40) for row in range(30, 40)]
    about = {"view": view, "n": 500, "m": 500, "k": 4, "score": 0.1, "level": 0.95}
    rest = {"cells": [], "copies": [], "uncovered_count": None, "copies_count": None, "notes": []}
    return {**about, **rest, "topics": topics, "outside": outside, "outside_count": 52, **more}


@pytest.fixture
def data(make) -> Data:
    comparison = make["comparison"]([make["system"]("model_a", {}), make["system"]("b", {})])
    topics = [
        topic(WORDS, (0.112, 0.041)),
        topic(("stocks", "oil"), (0.0, 0.06)),
        *(topic((f"w{place}",), (0.05, 0.15)) for place in range(4)),
        *(topic((f"v{place}",), (0.09, 0.03)) for place in range(4)),
        topic(("same",), (0.1, 0.11), sure=False),
    ]
    views = comparison["settings"]["views"]
    return {
        "comparison": comparison,
        "explanations": {
            "model_a": {view: explained(view, topics) for view in views},
            "b": {views[0]: explained(views[0], topics[-1:], outside=[], outside_count=0)},
        },
    }


def typed(data: Data) -> Comparison:
    """The comparison of report data, with explanations."""
    comparison = comparison_of(data["comparison"])
    systems = (
        replace(
            system,
            explained={
                view: Explanation.from_dict(each)
                for view, each in data["explanations"][system.name].items()
            },
        )
        for system in comparison.systems
    )
    return replace(comparison, systems=tuple(systems))


def document(data: Data) -> Document:
    """What is shown of report data with explanations."""
    return explain.document(typed(data))


def lines(data: Data, width: int = 80) -> list[str]:
    return plain(document(data), width=width).splitlines()


def explanation(topics: list[Data], **more: Any) -> Explanation:
    return Explanation.from_dict(explained("meaning", topics, **more))


def test_significant_topics_stand_with_their_ratio_and_interval(data):
    text = lines(data, 100)
    assert text[0] == "Topics and samples behind the gap, by system"
    assert text[2].startswith("model_a by meaning: 5 of 11 topics are significantly under-")
    row = next(line for line in text if line.startswith("goal cup"))
    assert row.split() == [
        *("goal", "cup", "season", "league", "champions"),
        *("4.1", "%", "11", "%", "0.37×", "[0.29,", "0.46]"),
    ]
    new = next(line for line in text if line.startswith("stocks oil"))
    assert new.split()[2:] == ["6", "%", "0", "%", "–", "[4.50,", "–]"]
    assert not any("same" in line for line in text)


def test_neither_side_is_left_out_for_the_other(data):
    topics = data["explanations"]["model_a"]["meaning"]["topics"]
    whole = explanation(topics)
    under, over = whole.under_represented, whole.over_represented
    assert [len(each) for each in (under, over, whole.not_significant)] == [5, 5, 1]
    assert explain._chosen(whole, 5) == [*under[:3], *over[:2]]
    assert explain._chosen(explanation(topics[:2]), 5) == list(whole.topics[:2])
    assert explain._chosen(replace(whole, topics=under), 3) == list(under[:3])
    assert "and 5 more, with smaller contributions: `.html()` lists them" in lines(data, 100)


def test_a_system_takes_at_most_25_lines_of_80_columns(data):
    text = lines(data)
    start = text.index(next(line for line in text if line.startswith("b by")))
    assert start - 2 <= 25
    assert max(map(len, text)) <= 80


def test_the_worst_samples_stand_on_one_line_each(data):
    text = lines(data)
    assert "samples outside the reference's support: 52 of 500; the worst (row: text):" in text
    first = next(line for line in text if line.startswith("- 30: "))
    assert first.startswith("- 30: line one of 30 and more more")
    assert first.endswith("…")


def test_samples_that_look_like_options_are_shown_as_they_are(data):
    outside = [outlier(1, "run `metrics` with `seed=3`")]
    data["explanations"]["b"]["meaning"] |= {"outside": outside, "outside_count": 1}
    with speaking({"metrics": "--metrics", "seed=3": "--seed 3", ".html()": "--html FILE"}.get):
        shown = explain.document(typed(data))
        text = plain(shown, width=100)
    assert "- 1: run `metrics` with `seed=3`" in text.splitlines()
    assert "`metrics` with `seed=3`" in page(shown)
    assert "--html FILE" in text


def test_without_texts_the_rows_are_named(data):
    redacted = without_texts(typed(data))
    text = " ".join(plain(explain.document(redacted), width=80).splitlines())
    assert "52 of 500; the worst are rows 30, 31, 32" in text
    assert "line one" not in text
    assert "goal cup" in text


def test_that_nothing_differs_is_said(data):
    text = " ".join(lines(data))
    assert "b by meaning: no topic is significantly under- or over-represented (1 tested" in text
    assert "samples outside the reference's support: 0 of 500" in text


def test_what_is_missing_is_said(data, make):
    data["explanations"]["b"] = {}
    bare = explained("meaning", [], outside=[], outside_count=None, notes=["no topics: why"])
    data["explanations"]["model_a"] = {"meaning": bare}
    assert lines(data)[2:] == [
        "model_a by meaning",
        "note: no topics: why",
        "",
        "note: b cannot be explained: its samples are not available",
    ]


def test_of_several_files_the_first_is_named(data):
    data["comparison"]["systems"][0]["seeds"] = ["a-1", "a-2"]
    assert lines(data)[2].startswith("model_a by meaning, the first of its 2 files: ")


def test_every_renderer_takes_it(data):
    shown = document(data)
    assert "| goal cup season league champions |" in markdown(shown).replace("  ", "")
    assert "champions" in page(shown)


def test_hostile_names_and_texts_stay_on_their_line(data):
    data["explanations"]["b"]["meaning"]["topics"] = [topic(("a\x1b[31m\nb", "c"), (0.5, 0.1))]
    outside = [outlier(1, "x\x1b]0;t\x07\n\n\u202ey")]
    data["explanations"]["b"]["meaning"] |= {"outside": outside, "outside_count": 1}
    text = "\n".join(lines(data))
    assert "\x1b" not in text
    assert "\u202e" not in text


# ------------------------------------------------------------------ words


def test_outcomes():
    under, over = topic(("a",), (0.2, 0.1)), topic(("b",), (0.1, 0.2))
    unsure = topic(("c",), (0.2, 0.19), sure=False)
    at = "(at 95 %, corrected for their number)"
    for topics, said in (
        ([under, unsure], f"1 of 2 topics is significantly under-represented {at}"),
        ([over, over, unsure], f"2 of 3 topics are significantly over-represented {at}"),
        (
            [under, over, over],
            f"1 of 3 topics is significantly under-represented, 2 over-represented {at}",
        ),
        ([], ""),
    ):
        assert outcome(explanation(topics)) == said
    assert outcome(explanation([unsure, unsure], level=0.99)) == (
        "no topic is significantly under- or over-represented "
        "(2 tested at 99 %, corrected for their number)"
    )


def region(words: tuple[str, ...], cells: list[int]) -> Topic:
    return Topic.from_dict({**topic(words, (0.5, 0.1)), "cells": cells})


def with_ratio(ratio: float | None, interval: list[float | None]) -> Topic:
    return Topic.from_dict({**topic(("a",), (0.5, 0.1)), "ratio": ratio, "interval": interval})


def test_ratios():
    assert [times(each) for each in (0.0, 0.004321, 0.0999, 0.1, 9.994, 12.34, 12345.0)] == [
        *("0", "0.0043", "0.1", "0.10", "9.99", "12.3", "12,345"),
    ]
    assert ratio_words(with_ratio(0.0, [0.0, 0.05]), 0.9) == "0×, 90 % interval 0–0.05"
    assert ratio_words(with_ratio(0.374, [0.281, 0.4849]), 0.95) == "0.37×, 95 % interval 0.28–0.48"
    assert ratio_words(with_ratio(None, [12.34, None]), 0.95) == (
        "none in the reference; 95 % interval of the ratio from 12.3 up"
    )


def test_names():
    assert name_of(region(("a", "b", "c"), [7]), 2) == "a, b"
    assert name_of(region((), [7]), 2) == "cell 7"
    assert name_of(region((), [7, 8]), 2) == "2 cells"
