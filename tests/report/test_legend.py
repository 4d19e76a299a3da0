"""What stands behind a score is shown beside it, kept in the JSON, and left out on request."""

import json

import numpy as np
import pytest

import calipers
from calipers.report import text_statistics as texts
from calipers.report.legend import SHOWN, detail_notes, prepared, remarks, title
from calipers.report.redacted import without_texts
from calipers.report.render.text import plain as printed
from calipers.report.shown import metric_of
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.results.system import SystemResult
from calipers.results.texts import TextResult
from calipers.score import Score
from calipers.serialise import plain, read
from calipers.wording.front import speaking

GENERATED = [f"to be honest {word}" for word in "abcdefghijklmnopqrst"]
HUMAN = [f"{word} we went home" for word in "abcdefghijklmnopqrst"]
SET = SetSummary("a", "a", 9, 9, None, "0")
ROW = {"phrase": "a lot of", "texts": 1234, "references": 0, "ratio": np.inf, "p_value": 0.0019}


def test_phrases_stand_in_the_table_and_in_the_json():
    found = calipers.measure_texts(
        {"chatty": GENERATED}, reference=HUMAN, metrics="overused_phrases", tokenizer="whitespace"
    )
    text = " ".join(printed(texts.document(found)).split())
    # Two phrases could be over-used at all: p = 2 / C(40, 20)
    assert "over-used-3: chatty “to be honest” in 20 texts (reference 0)" in text
    assert "chatty to be honest 20 0 < 0.001" in text
    (row,) = json.loads(json.dumps(found.to_dict(), allow_nan=False))["systems"][0]["scores"][
        "overused_phrases"
    ]["details"]
    assert (row["phrase"], row["texts"], row["references"]) == ("to be honest", 20, 0)
    assert row["ratio"] is None


def test_a_phrase_that_looks_like_an_option_is_shown_as_it_is():
    generated = [f"see `metrics` here {word}" for word in "abcdefghijklmnopqrst"]
    with speaking({"metrics": "--metrics", "metrics='all'": "--metrics all"}.get):
        found = calipers.measure_texts(
            {"chatty": generated},
            reference=HUMAN,
            metrics="overused_phrases",
            tokenizer="whitespace",
        )
        text = " ".join(printed(texts.document(found)).split())
    assert "chatty “see `metrics` here” in 20 texts" in text
    assert "chatty see `metrics` here 20 0 < 0.001" in text
    assert "More: --metrics all" in text


def test_parts_of_a_phrase_without_spaces_are_put_together_as_its_script_writes_it():
    generated = [f"总而言之，{sign}" for sign in "猫狗鸟鱼马牛羊虎龙蛇花草山水云雨风雪日月"]
    human = [f"{sign}今天很好" for sign in "猫狗鸟鱼马牛羊虎龙蛇花草山水云雨风雪日月"]
    found = calipers.measure_texts(
        {"chatty": generated}, reference=human, metrics="overused_phrases"
    )
    text = " ".join(printed(texts.document(found)).split())
    # 总而言, 而言之 and 言之， are three trigrams of one phrase
    assert "over-used-3: chatty “总而言之，” in 20 texts (reference 0)" in text


def test_a_kept_score_has_its_details_again():
    score = Score(0.5, details=({**ROW, "ratio": 4.9},))
    assert read(Score, plain(score)).details == score.details
    assert "details" not in plain(Score(0.5))


def test_long_lists_are_cut_and_say_so():
    rows = [{**ROW, "phrase": f"phrase {place}"} for place in range(SHOWN + 3)]
    system = TextResult(SET, {"x": Score(0.5, details=tuple(rows))})
    (note,) = detail_notes([system], str.upper)
    note = str(note)
    assert note.startswith("a, X: 'phrase 0' (texts 1,234, references 0, p value 0.0019")
    assert note.endswith("; 3 more in the JSON")
    assert f"phrase {SHOWN}" not in note


def test_phrases_of_a_redacted_report_are_left_out():
    system = SystemResult(SET, {"text.overused_phrases": Score(1.0, details=(ROW,))}, {})
    bare = without_texts(Comparison(SET, (system,), {"views": ["text"]}))
    assert bare.systems[0]["text.overused_phrases"].details == ()
    assert "a lot of" not in json.dumps(bare.to_dict())


def test_rows_stand_behind_the_label_of_their_score():
    scores = {
        key: Score(1.0, details=(ROW,))
        for key in ("prd:beta=0.5", "form.precision", "text.overused_phrases")
    }
    views = {"views": ["meaning", "form", "text"]}
    comparison = Comparison(SET, (SystemResult(SET, scores, {}),), views)
    told = [str(note) for note in remarks(comparison) if note.kind == "detail"]
    labels = [metric_of(comparison, key).label for key in scores]
    assert [line.split(": ")[0] for line in told] == [f"a, {label}" for label in labels]
    assert labels == ["prd:beta=0.5", "Precision", "Over-used-3"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedder": "precomputed", "normalise": "none"}, "vectors as given"),
        ({"embedder": "precomputed", "normalise": "l2"}, "vectors scaled to length 1"),
        ({"embedder": "mine", "samples": "vectors", "normalise": "none"}, "vectors as given"),
        (
            {"embedder": "mine", "samples": "vectors", "normalise": "l2"},
            "vectors scaled to length 1",
        ),
        ({"embedder": "m", "samples": "texts", "normalise": "l2"}, "rows scaled to length 1"),
        (
            {"embedder": "precomputed"},
            "vectors scaled to length 1",
        ),  # kept before there was a choice
        ({"embedder": "minilm", "normalise": "l2"}, "rows scaled to length 1"),
        ({"embedder": "minilm", "normalise": "none"}, "rows not scaled"),
        ({"embedders": {}, "normalise": "none"}, "rows not scaled"),
        ({"tokenizer": "nltk"}, ""),
    ],
)
def test_what_was_done_to_rows_is_said_and_stands_in_a_title_where_it_is_not_the_usual(
    settings, said
):
    assert prepared(settings) == said
    unusual = said not in ("", "rows scaled to length 1")
    assert title(SET, settings).endswith(f" · {said}") == unusual
    axes = {**settings, "pca": 0.9}
    assert prepared(axes) == (f"{said}, MAUVE on 90 % PCA" if said else "")
    axes["projection"] = "union"
    assert prepared(axes) == (f"{said}, on 90 % PCA" if said else "")


def test_the_head_of_every_table_of_vectors_says_what_was_done():
    rows = np.random.default_rng(0).standard_normal((2, 60, 3))
    options = {"level": None, "floor": False}
    swept = {"metrics": "recall", "values": [1, 2]}
    heads = {
        "vectors as given, MAUVE on 90 % PCA": calipers.compare(*rows, **options),
        "vectors scaled to length 1, MAUVE on": calipers.compare(*rows, normalise="l2", **options),
        "vectors as given, on 90 % PCA": calipers.sweep(*rows, projection="union", **swept),
        "· vectors as given\n": calipers.overlap({"a": rows[0], "b": rows[1]}),
        "vectors scaled to length 1\n": calipers.sweep(*rows, normalise="l2", **swept),
    }
    for head, found in heads.items():
        assert head in "\n".join(" ".join(part.split()) for part in str(found).split("\n\n")) + "\n"
