"""Where systems stand on the axis of a parameter, worked by hand."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from calipers.report.plots.parameter_points import families, family, last_number, points
from calipers.report.plots.parameter_scale import log_ticks, spans_decades, tick_text


@pytest.mark.parametrize(
    ("name", "before", "value", "behind"),
    [
        ("nucleus-0.9", "nucleus", 0.9, ""),
        ("nucleus-.95", "nucleus", 0.95, ""),
        ("top-k-40", "top-k", 40.0, ""),
        ("gpt2-xl,p=0.8", "gpt2-xl,p", 0.8, ""),
        ("k=1,000", "k", 1000.0, ""),
        ("1,2", "1", 2.0, ""),
        ("lr 1e-05", "lr", 1e-05, ""),
        ("llama-7B-chat", "llama", 7.0, "B-chat"),
        ("t=0.7.jsonl", "t", 0.7, "jsonl"),
        ("0.5", "", 0.5, ""),
        ("v1.2.3", "v1.2", 3.0, ""),
        ("1,2345", "1", 2345.0, ""),
    ],
)
def test_the_last_number_in_a_name(name, before, value, behind):
    assert last_number(name) == (before, value, behind)


def test_a_name_without_a_number():
    assert last_number("greedy") is None
    assert family("greedy") == "greedy"


def test_families_leave_out_single_systems_and_follow_the_number():
    names = ["t=1.0", "greedy", "p-0.9", "t=0.5", "k 3"]
    assert families(names) == [["t=0.5", "t=1.0"]]


def run(*systems, **settings):
    """A comparison of systems given as (name, median length)."""
    rows = [
        {"name": name, "n": 10, "words": words and {"median": words}, "scores": {"recall": 1}}
        for name, words in systems
    ]
    return {"comparison": {"systems": rows, "settings": {"views": ["meaning"], **settings}}}


def placed(runs, *, by=None, system=None, x="name"):
    return [(p.system, p.x, p.line) for p in points(runs, x=x, by=by, system=system)]


def test_names_give_places_and_lines():
    data = run(("top-5", 10.0), ("top-50", 12.0), ("greedy-0", None))
    assert placed([data]) == [
        ("top-5", 5, "top"),
        ("top-50", 50, "top"),
        ("greedy-0", 0, "greedy-0"),
    ]
    assert placed([data], by="system")[0] == ("top-5", 5, "top-5")
    assert placed([data], by={"top-5": "a", "top-50": "a"})[1] == ("top-50", 50, "a")
    assert [line for _, _, line in placed([data], system="top")] == ["top", "top"]
    assert [name for name, _, _ in placed([data], system="top-5")] == ["top-5"]


def test_lengths_and_sizes_give_places_without_joining_systems():
    data = run(("a-1", 100.0), ("a-2", 200.0))
    assert placed([data], x="words") == [("a-1", 100, "a-1"), ("a-2", 200, "a-2")]
    assert placed([data], x="words", by="family")[0] == ("a-1", 100, "a")
    assert placed([data], x="n") == [("a-1", 10, "a-1"), ("a-2", 10, "a-2")]


def test_settings_give_places_over_runs_also_those_of_the_embedding():
    runs = [run(("a", 1.0), k=2), run(("a", 1.0), k=9)]
    assert placed(runs, x="k") == [("a", 2, "a"), ("a", 9, "a")]
    assert placed([run(("a", 1.0), embedding={"max_length": "256"})], x="max_length")[0][1] == 256


def test_a_mapping_gives_places_and_leaves_out_what_it_does_not_name():
    data = run(("greedy", 1.0), ("p-9", 1.0), ("p-8", 1.0))
    assert placed([data], x={"p-9": 0.9, "p-8": 0.8}) == [("p-9", 0.9, "p"), ("p-8", 0.8, "p")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "name"}, "reads the last number in a name; 'greedy' has none"),
        ({"x": "words"}, "the median length of 'greedy' has no value"),
        ({"x": "match_length"}, "the setting 'match_length' has no value"),
        ({"x": "views"}, r"the setting 'views' is \['meaning'\]"),
        ({"x": "shared"}, "the setting 'shared' is True"),
        ({"x": "kk"}, "unknown x 'kk'; did you mean 'k'"),
        ({"x": {"greedi": 1.0}}, "unknown system 'greedi'; did you mean 'greedy'"),
        ({"x": {"greedy": float("nan")}}, "x of the system 'greedy' is nan"),
        ({"x": "name", "system": "a-1e999"}, "the number in 'a-1e999' is inf"),
        ({"x": "k", "by": "famly"}, "unknown by 'famly'; did you mean 'family'"),
        ({"x": "k", "system": "gredy"}, "unknown system 'gredy'; did you mean 'greedy'"),
    ],
)
def test_what_cannot_be_placed_is_told(options, words):
    name = options.get("system", "greedy") if options["x"] == "name" else "greedy"
    data = run((name, None), match_length=None, shared=True, k=4)
    with pytest.raises(InputError, match=words):
        placed([data], **options)


def test_values_that_span_two_decades_get_powers_of_ten():
    assert spans_decades([5, 500])
    for values in ([5, 499], [0, 1000], [-1, 1000], []):
        assert not spans_decades(values)
    assert log_ticks(5, 1000) == [1, 10, 100, 1000]
    assert len(log_ticks(1e-9, 1e9)) <= 8
    assert [tick_text(v) for v in (1000, 0.5, -3, 1e-7)] == ["1,000", "0.5", "−3", "1e-07"]
