"""The table of text statistics: rows by family, gaps, marks, widths, and the words below."""

from __future__ import annotations

import io
import math
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from calipers import measure_texts
from calipers.catalogue.texts import TEXT_METRICS
from calipers.report import text_statistics as texts
from calipers.report.render.text import Screen, plain
from calipers.report.text_systems import MANY
from calipers.results import SetSummary
from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score
from calipers.serialise import plain as plain_data
from calipers.wording.names import text_label, text_meaning
from calipers.wording.numbers import gap_text, value_text


def text_table(data, *, width=100):
    """Write what is shown as plain text."""
    return plain(texts.document(TextComparison.from_dict(data)), width=width)


KEYS = ("mean_length", "distinct:n=2", "self_bleu", "novelty")


def summary(name, n=500, warnings=()):
    return SetSummary(name, f"{name}.txt", n, 500, {"mean": 9.0, "median": 9.0}, name, warnings)


def scores(step, *, gaps=True):
    """What one system scores; the larger the step, the farther from the reference."""
    rest = {"better": "closest"}
    return {
        "mean_length": Score(100 + step, range=(0, float("inf")), reference=100 if gaps else None,
                             **rest),
        "distinct:n=2": Score(0.5 + step / 100, reference=0.5 if gaps else None, **rest),
        "self_bleu": Score(float("nan"), reason="a single text has no others", **rest,
                           reference=0.25 if gaps else None),
        "novelty": Score(0.9 - step / 100, better="higher"),
    }  # fmt: skip


def made(names=("near", "far"), *, reference=True, keys=KEYS, **more):
    results = [
        TextResult(summary(name), {k: v for k, v in scores(1 + 4 * i, gaps=reference).items()
                                   if k in keys})
        for i, name in enumerate(names)
    ]  # fmt: skip
    settings = {"tokenizer": "nltk", "seed": 0, "metrics": [*keys], "aligned": False}
    own = {"mean_length": Score(100.0, range=(0, float("inf"))), "distinct:n=2": Score(0.5)}
    own |= {"self_bleu": Score(0.25)}
    side = {"reference": summary("human"), "reference_scores": own} if reference else {}
    return TextComparison(tuple(results), settings, **side, **more).to_dict()


def row(text, label):
    (line,) = [line for line in text.splitlines() if line.startswith(f"  {label} ")]
    return line.split()[len(label.split()) :]


def test_reference_value_and_gap_side_by_side():
    text = text_table(made())
    assert row(text, "Length") == ["100", "101", "+1▲", "105", "+5"]
    assert row(text, "Distinct-2") == ["0.500", "0.510", "+0.010▲", "0.550", "+0.050"]
    assert row(text, "Novelty-4") == ["0.890", "0.850"]
    lines = text.splitlines()
    assert lines.index("diversity") < lines.index("copies")
    assert text.startswith("Reference: human, n = 500 · tokenizer nltk · seed 0")


def test_a_dash_has_its_reason_below():
    text = text_table(made())
    assert row(text, "Self-BLEU-4") == ["0.250", "–", "–", "–", "–"]
    assert "note: near, far, Self-BLEU-4: a single text has no others" in text


def test_without_a_reference_a_line_says_what_that_means():
    text = text_table(made(reference=False))
    assert text.startswith("Texts, without a reference")
    assert row(text, "Distinct-2") == ["0.510", "0.550"]
    assert "gap" not in text
    assert "A statistic of one set is hard to interpret" in text
    assert "means little" not in text_table(made())


def test_one_system_has_no_best():
    assert "*" not in text_table(made(["only"]))
    assert "best, of its row" not in text_table(made(["only"]))


def test_a_tie_as_shown_has_no_best():
    data = made()
    for system in data["systems"]:
        system["scores"]["distinct:n=2"]["value"] = 0.5101
    assert "*" not in "".join(row(text_table(data), "Distinct-2"))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_no_line_is_wider_than_the_screen(width, count):
    names = [f"system-with-a-rather-long-name-{i}" for i in range(count)]
    text = text_table(made(names), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    if count <= MANY:  # of more, rows are systems
        assert any(re.search(r"^diversity$| diversity", line) for line in text.splitlines())


def many(count=9, **more):
    """Many systems; every second one lies below the reference, the first within its interval."""
    data = made([f"model-{i}" for i in range(count)], **more)
    data["reference"]["scores"]["mean_length"] |= {"interval": [97.0, 103.0], "level": 0.95}
    for place, system in enumerate(data["systems"]):
        value = 100 + (-1) ** place * (1 + 4 * place)
        system["scores"]["mean_length"] |= {
            "value": value,
            "interval": [value - 1.9, value + 1.9],
            "level": 0.95,
        }
    return data


def test_many_systems_are_rows_with_signed_gaps_and_the_reference_once():
    lines = text_table(many(), width=80).splitlines()
    (head,) = [place for place, line in enumerate(lines) if line.startswith("system ")]
    assert lines[head].split()[:3] == ["system", "differs", "Length"]
    rows = [line.split() for line in lines[head + 2 : head + 11]]
    assert lines[head + 1].split()[:2] == ["reference", "100"]
    assert [row[0] for row in rows] == [f"model-{i}" for i in range(9)]
    assert [row[2] for row in rows[:4]] == ["+1≈", "-5", "+9", "-13"]
    assert [row[1] for row in rows[:2]] == ["0/1", "1/1"]
    assert not any(line.strip().startswith("Distinct-2 ") for line in lines[:head])


@pytest.mark.parametrize("count", [12, 110])
def test_heads_of_two_lines_keep_many_systems_within_the_screen(count):
    systems = {
        f"system-of-a-long-name-{i:03}": [f"text {i} of {j} words and some more" for j in range(4)]
        for i in range(count)
    }
    reference = [f"a text number {j} of quite other words" for j in range(4)]
    found = measure_texts(systems, reference=reference, level=None, tokenizer="whitespace")
    for width, most in ((80, 5), (120, 3)):
        lines = plain(found.document(), width=width).splitlines()
        assert max(map(cell_len, lines)) <= width
        heads = [place for place, line in enumerate(lines) if line.startswith("system ")]
        assert len(heads) <= most
        pairs = [(lines[place - 1], lines[place]) for place in heads]
        assert any("Zipf" in above and "coefficient" in below for above, below in pairs)


def test_the_verdict_comes_first_and_says_who_lies_on_which_side():
    text = " ".join(text_table(many(), width=80).split())
    verdict = text.partition(" system ")[0]
    assert "differ from the reference beyond chance: model-0 0 of 1, model-1 1 of 1" in verdict
    assert "farthest from the reference: model-8 1 of 1, model-7 1 of 1, model-6 1 of 1" in verdict
    assert "systems that differ beyond chance: Length 4 above, 4 below" in verdict


def test_a_page_has_a_table_for_each_statistic_of_many_systems():
    result = TextComparison.from_dict(many())
    headings = {table.heading: table for table in result.paged().tables}
    table = headings["Length: mean number of tokens of a text"]
    names = [str(cell.text) for cell in table.lead[0].cells]
    assert names == ["reference", *(f"model-{i}" for i in (8, 6, 4, 2, 0, 1, 3, 5, 7))]
    gaps = [cell.value for cell in table.scores[1].cells[1:]]
    assert gaps == ["+33", "+25", "+17", "+9", "+1", "-5", "-13", "-21", "-29"]
    assert {key for key in headings if key.startswith("Novelty-4")}
    assert len(result.summary().tables) == len(KEYS)


def test_warnings_that_differ_in_numbers_are_one_where_systems_are_many():
    data = many()
    for place, system in enumerate(data["systems"]):
        system["warnings"] = [f"its texts have {20 + place} words in the median; that is short"]
    data["systems"][0]["warnings"].append("is odd")
    text = " ".join(text_table(data, width=80).split())
    assert (
        "warning: model-0, model-1, model-2 and 6 more: its texts have 20 to 28 words in the median"
    ) in text
    assert "warning: model-0: is odd" in text


PHRASES = (
    ("let me know", 30, 1, 0.0001),
    ("me know if", 28, 0, 0.0002),
    ("in a word", 12, 2, 0.01),
)


def with_phrases(data):
    data["settings"]["metrics"].insert(0, "overused_phrases")
    details = [
        {"phrase": phrase, "texts": texts_, "references": known, "ratio": None, "p_value": p}
        for phrase, texts_, known, p in PHRASES
    ]
    for place, system in enumerate(data["systems"]):
        score = Score(0.2, details=() if place else tuple(details), better="lower")
        system["scores"]["overused_phrases"] = plain_data(score)
    return data


@pytest.mark.parametrize("count", [2, 9])
def test_over_used_phrases_come_first_with_who_and_how_often(count):
    data = with_phrases(made([f"model-{i}" for i in range(count)]))
    text = text_table(data, width=80)
    lines = text.splitlines()
    assert lines[2].startswith("over-used-3: model-0 “let me know if” in 30 texts (reference 1)")
    table = next(place for place, line in enumerate(lines) if line.startswith("Over-used-3 phr"))
    assert table < next(place for place, line in enumerate(lines) if "reference  " in line)
    if count == 2:
        assert " ".join(lines[table + 2].split()) == "model-0 let me know if 30 1 < 0.001"
        assert " ".join(lines[table + 3].split()) == "in a word 12 2 0.010"
    else:
        assert lines[table + 2].split()[:2] == ["model-0", "20"]
        assert "let me know if 30:1" in lines[table + 2]
        assert "in a word 12:2" in lines[table + 2]


def test_the_terminal_shows_the_same_words():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    console.print(Screen(texts.document(TextComparison.from_dict(made()))))
    shown = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    assert shown.replace("─", "-") == text_table(made(), width=100)


def test_names_of_sets_cannot_steer_the_terminal():
    text = text_table(made(["a\x1b[2J\nb"]))
    assert "\x1b" not in text


def test_cuts_seeds_and_warnings_are_told():
    data = made(warnings=("all of it is odd",))
    for each in (data["reference"], data["systems"][0]):
        each["n"], each["n_given"] = 300, 500
    data["systems"][1].update(n=300, n_given=300, warnings=["is short"], seeds=["a", "b"])
    text = text_table(data)
    assert "note: all sets cut to 300, the smallest (far); `keep_sizes` keeps them whole" in text
    assert "note: far: mean over 2 seed files" in text
    assert "warning: far: is short" in text
    assert "warning: all of it is odd" in text
    data["settings"]["max_samples"] = 300
    assert "note: larger sets cut to 300 (`max_samples`)" in text_table(data)


def test_only_row_by_row_metrics_need_no_reference_column():
    data = made(keys=("novelty",))
    data["reference"]["scores"] = {}
    text = text_table(data)
    assert row(text, "Novelty-4") == ["0.890", "0.850"]
    assert "gap" not in text


@pytest.mark.parametrize(
    ("value", "bounds", "gap", "texts"),
    [
        (12544.0, [0.0, None], 2610.0, ("12,544", "2,610")),
        (175.5, [0.0, None], 0.04, ("175.5", "0.0")),
        (0.81234, [0.02, 1.0], 0.027, ("0.812", "0.027")),
        (0.2, [0.0, None], 0.1, ("0.2000", "0.1000")),
        (24.0, [0.0, None], 3.0, ("24", "3")),
        (-0.0001, [-1.0, 1.0], 0.1, ("-0.0001000", "0.1000")),
        (None, [0.0, 1.0], None, ("–", "–")),
    ],
)
def test_numbers(value, bounds, gap, texts):
    low, high = bounds
    missing = value is None
    score = Score(
        math.nan if missing else value,
        range=(low, math.inf if high is None else high),
        reference=0.5 if missing else value + gap,
    )
    assert (value_text(score), gap_text(score)) == texts


def test_the_label_of_a_metric_of_n_grams_says_their_size():
    for name, metric in TEXT_METRICS.items():
        default = [option.default for option in metric.options if option.name == "n"]
        assert text_label(name).endswith(
            f"-{default[0]}" if default and name not in ("bleu", "mover_score") else ""
        )


def test_no_two_keys_have_one_label():
    keys = [
        ":".join([name, form])
        for name, metric in TEXT_METRICS.items()
        for option in metric.options
        for form in option.forms
        if form not in (option.default, f"{option.name}={option.default}", f"{option.name}=1.0")
    ]
    labels = [text_label(key) for key in [*TEXT_METRICS, *keys]]
    assert len(labels) == len({*labels})
    assert text_label("unknown:x\x1b") == "unknown:x\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("moving_average_ttr:window=20", "in a window of 20"),
        ("moving_average_ttr", "in a window of 50"),
        ("rouge", "words in one order in common with the reference of the row (F1)"),
        ("rouge:rouge1:recall", "words in common with the reference of the row (share of the ref"),
        ("rouge:rouge2", "pairs of words in common"),
        ("rouge:rouge3:precision", "runs of 3 words in common with the reference of the row (sh"),
        ("rouge:rougeLsum", "sentence by sentence"),
        ("longest_copied_span:largest:train", "any text that is also in the training set"),
        ("longest_copied_span", "a text that is also in the reference; shorter texts copy less"),
        ("novelty", "n-grams that are not in the reference; repetitions are new too"),
        ("novelty:types:train", "different n-grams that are not in the training set"),
        ("near_duplicates:train", "nearly repeat one of the training set"),
        ("near_duplicates", "nearly repeat another"),
        ("exact_duplicates:folded", "but for case and white space"),
        ("distinct:sample", "within each text, averaged: share of its"),
        ("mean_length:characters", "number of characters of a text"),
        ("median_length:words", "median length of a text in words"),
        ("length_spread", "lengths in tokens"),
        ("self_bleu:n=2:pairwise", "over all pairs"),
        ("chrf:words=2", "characters and words in common"),
        ("non_termination:limit=9", "truncated at 9 tokens"),
        ("text.string_mauve:subsequence", "by shared subsequences with gaps; 1 is no gap"),
        ("unknown", ""),
    ],
)
def test_the_line_of_a_row_is_true_of_its_options(key, told):
    assert told in text_meaning(key)
    assert told or not text_meaning(key)


def test_rows_of_one_metric_share_a_line_only_where_it_is_true_of_both():
    def lines(*keys):
        data = made()
        data["settings"]["metrics"] = [*keys]
        notes = texts.document(TextComparison.from_dict(data)).of_kind("legend")
        return {note.sign: str(note) for note in notes}

    assert set(lines("self_bleu:n=2", "self_bleu")) == {"words", "Self-BLEU"}
    apart = lines("distinct:n=2", "distinct:n=2:sample", "novelty", "novelty:train")
    assert "whole set" in apart["Distinct-2"]
    assert "within each text" in apart["Distinct-2 in a text"]
    assert "reference" in apart["Novelty-4"]
    assert "training set" in apart["Novelty-4 to training"]
    assert apart["words"] == "median number of words, separated by spaces"


def test_neither_end_of_novelty_is_good():
    data = made(keys=("novelty",))
    data["reference"]["scores"] = {}
    text = text_table(data)
    assert "↑" not in text
    assert "*" not in text


def test_a_row_has_whole_numbers_only_where_all_are():
    data = made()
    for row_, value in zip(
        [data["reference"], *data["systems"]], (160.0, 161.5, 178.0), strict=True
    ):
        row_["scores"]["mean_length"]["value"] = value
    for system in data["systems"]:
        system["scores"]["mean_length"]["reference"] = 160.0
    assert row(text_table(data), "Length") == ["160.0", "161.5", "+1.5▲", "178.0", "+18.0"]


def test_medians_are_written_as_warnings_write_them():
    data = made()
    for row_, median in zip([data["reference"], *data["systems"]], (9.0, 160.5, 12.0), strict=True):
        row_["words"]["median"] = median
    lines = text_table(data).splitlines()[2:6]
    assert [line.split()[-1] for line in lines] == ["words", "9", "160.5", "12"]


def test_the_reference_is_called_what_the_table_calls_it():
    data = made()
    data["reference"]["warnings"] = ["is odd"]
    data["reference"]["scores"]["self_bleu"] |= {"value": None, "reason": "it is so"}
    text = text_table(data)
    assert "warning: reference: is odd" in text
    assert "note: reference, Self-BLEU-4: it is so" in text


def test_long_phrases_are_no_names_that_stand_below_in_full():
    name = "a-model-with-a-name-that-is-too-long-for-a-line"
    data = with_phrases(made([name, *(f"model-{i}" for i in range(8))]))
    long = "} } param } }" * 6
    data["systems"][0]["scores"]["overused_phrases"]["details"][0]["phrase"] = long
    lines = text_table(data, width=80).splitlines()
    assert not any(long in line for line in lines)  # it was cut
    below = lines[max(place for place, line in enumerate(lines) if not line) + 1 :]
    assert below[0].split()[1] in name
    assert "param" not in "".join(below)
