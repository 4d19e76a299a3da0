"""Files that other tools write: several answers to a prompt, AlpacaEval, Every Eval Ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.samples import as_sample_set, read_samples
from extras import need

Write = Callable[..., Path]
HARNESS = Path(__file__).parent.parent / "data" / "lm_eval" / "samples_toy.jsonl"
"""A log of lm_eval 0.4.13: four documents, three repeats, two filters (make_log.py beside it)."""


def test_a_log_of_lm_eval_with_repeats() -> None:
    rows = [json.loads(line) for line in HARNESS.read_text().splitlines()]
    samples = read_samples(HARNESS, cluster="doc_id")
    first = [row for row in rows if row["filter"] == "first"]
    assert list(samples) == [text for row in first for text in row["resps"][0]]
    assert len(samples) == 12
    assert samples.clusters is not None
    assert samples.clusters.tolist() == [str(doc) for doc in range(4) for _ in range(3)]
    assert samples.prompts is not None
    assert samples.prompts.tolist() == [f"Q: question {doc}\nA:" for doc in np.repeat(range(4), 3)]
    assert samples.notes == ("4 rows left out: the same responses under another filter",)


def test_what_the_filters_of_lm_eval_made_is_read_where_it_is_asked_for(write_rows: Write) -> None:
    rows = [json.loads(line) for line in HARNESS.read_text().splitlines()]
    path = write_rows("a.jsonl", [row for row in rows if row["filter"] == "all"])
    samples = read_samples(path, field="filtered_resps[*][*]", cluster="doc_id")
    assert samples[0] == rows[4]["filtered_resps"][0][0] == "word864"
    assert samples.clusters is not None
    assert samples.clusters.tolist() == [str(doc) for doc in range(4) for _ in range(3)]
    assert samples.prompts is not None
    assert samples.prompts[3] == "Q: question 1\nA:"
    assert samples.notes == ()
    both = read_samples(HARNESS, field="resps[0][*]", group="filter")
    assert len(both) == 24
    assert both.groups is not None
    assert both.groups.tolist() == ["first"] * 12 + ["all"] * 12
    assert both.notes == ("its rows are of 2 filters, 'first' and 'all': all are taken",)


ALPACA = [
    {
        "dataset": "helpful_base",
        "instruction": f"Question {number}?",
        "output": f"Answer {number}.",
        "generator": "model_a",
        "datasplit": "eval",
    }
    for number in range(3)
]


def test_outputs_of_alpaca_eval(write: Write) -> None:
    path = write("model_outputs.json", json.dumps(ALPACA))
    samples = read_samples(path, group="dataset")
    assert list(samples) == ["Answer 0.", "Answer 1.", "Answer 2."]
    assert samples.field == "output"
    assert samples.prompts is not None
    assert samples.prompts.tolist() == ["Question 0?", "Question 1?", "Question 2?"]
    assert samples.other_fields == ("dataset", "generator", "datasplit")


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "parquet"])
def test_prompts_of_alpaca_eval_in_tables(package: str, tmp_path: Path) -> None:
    table: Any
    if package == "parquet":
        pa = need("pyarrow")
        import pyarrow.parquet as pq

        table = tmp_path / "a.parquet"
        pq.write_table(pa.Table.from_pylist(ALPACA), table)
    elif package == "pyarrow":
        table = need("pyarrow").Table.from_pylist(ALPACA)
    else:
        table = need(package).DataFrame(ALPACA)
    for label in (None, "dataset"):
        samples = as_sample_set(table, group=label)
        assert list(samples) == ["Answer 0.", "Answer 1.", "Answer 2."]
        assert samples.prompts is not None
        assert samples.prompts[2] == "Question 2?"


def test_annotations_of_alpaca_eval_hold_two_outputs(write: Write) -> None:
    rows = [{"instruction": "Q", "output_1": "a", "generator_1": "x", "output_2": "b"}]
    path = write("annotations.json", json.dumps(rows))
    assert list(read_samples(path, field="output_2")) == ["b"]


def test_an_instruction_alone_is_no_prompt(write_rows: Write) -> None:
    # Training data of Alpaca's format have a field input beside it, which belongs to the prompt
    path = write_rows("a.jsonl", [{"instruction": "Sum up.", "input": "A text", "output": "A."}])
    assert read_samples(path).prompts is None


def novelty(number: int, *texts: str, **more: Any) -> dict[str, Any]:
    """A row of NoveltyBench's generations.jsonl."""
    about = {"id": f"curated-{number}", "prompt": f"Prompt {number}", "model": "m"}
    return {**about, "generations": list(texts), **more}


NOVELTY = [novelty(0, "a", "b", "a"), novelty(1, "c", "d", "e")]


@pytest.mark.parametrize("scored", [False, True])
def test_files_of_novelty_bench(write_rows: Write, scored: bool) -> None:
    more: dict[str, Any] = {"partition": [0, 1, 0], "distinct": 1, "utility": 3.5}
    more |= {"generation_scores": [7, 3, 0], "partition_scores": [7, 3]}
    rows = [row | more for row in NOVELTY] if scored else NOVELTY
    samples = read_samples(write_rows("generations.jsonl", rows), cluster="id")
    assert list(samples) == ["a", "b", "a", "c", "d", "e"]
    assert samples.field == "generations[*]"
    assert samples.prompts is not None
    assert samples.prompts.tolist() == ["Prompt 0"] * 3 + ["Prompt 1"] * 3
    assert samples.clusters is not None
    assert samples.clusters.tolist() == ["curated-0"] * 3 + ["curated-1"] * 3


def test_a_prompt_without_generations_is_told_of(write_rows: Write) -> None:
    samples = read_samples(write_rows("a.jsonl", [novelty(0), *NOVELTY]))
    assert len(samples) == 6
    assert samples.notes == ("1 row had no item at 'generations[*]' and gave no sample (line 1)",)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "datasets", "parquet"])
def test_lists_of_texts_in_tables(package: str, tmp_path: Path) -> None:
    table: Any
    if package == "datasets":
        table = need("datasets").Dataset.from_list(NOVELTY)
    elif package in ("pyarrow", "parquet"):
        table = need("pyarrow").Table.from_pylist(NOVELTY)
        if package == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, tmp_path / "a.parquet")
            table = tmp_path / "a.parquet"
    else:
        table = need(package).DataFrame(NOVELTY)
    samples = as_sample_set(table, cluster="id")
    assert list(samples) == ["a", "b", "a", "c", "d", "e"]
    assert samples.clusters is not None
    assert samples.clusters.tolist() == ["curated-0"] * 3 + ["curated-1"] * 3
    assert samples.prompts is not None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": 1, "generations": ["a"], "responses": ["b"]}],
            "'generations' and 'responses'",
        ),
        (
            [{"id": 1, "generations": ["a"]}, {"id": 2, "generations": "b"}],
            r"line 2: .*'generations\[\*\]' .*'generations': .*list",
        ),
        (
            [{"id": 1, "generations": ["a"]}, {"id": 2, "generations": ["b", 3]}],
            r"line 2: the field 'generations\[\*\]' .*string.*int 3",
        ),
    ],
)
def test_wrong_lists_of_texts(write_rows: Write, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("a.jsonl", rows))


def test_a_text_goes_before_a_list_of_texts(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"text": "a", "answers": ["b", "c"]}])
    assert list(read_samples(path)) == ["a"]
    alone = write_rows("b.jsonl", [{"Responses": ["b", "c"]}])
    assert list(read_samples(alone)) == ["b", "c"]


def evaluated(number: int, *texts: str, **more: Any) -> dict[str, Any]:
    """A row of a file of samples of Every Eval Ever 0.3.0."""
    row = {
        "schema_version": "0.3.0",
        "evaluation_id": "stories/m/1",
        "model_id": "org/m",
        "evaluation_name": "quality",
        "sample_id": f"s{number}",
        "interaction_type": "single_turn",
        "input": {"raw": f"Tell {number}", "reference": ["A story."]},
        "output": {"raw": list(texts)},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    }
    return {**row, **more}


def test_samples_of_every_eval_ever(write_rows: Write) -> None:
    talk = [
        {"turn_idx": 0, "role": "user", "content": "Go on"},
        {"turn_idx": 1, "role": "assistant", "content": "first"},
        {"turn_idx": 2, "role": "user", "content": "again"},
        {"turn_idx": 3, "role": "assistant", "content": "last"},
    ]
    rows = [
        evaluated(0, "a", "b"),
        evaluated(0, "a", "b", evaluation_name="length"),  # another score of the same sample
        evaluated(1, "c", error="timeout"),
        evaluated(2, interaction_type="multi_turn", output=None, messages=talk),
        evaluated(3),
    ]
    samples = read_samples(write_rows("x_samples.jsonl", rows), cluster="sample_id")
    assert list(samples) == ["a", "b", "last"]
    assert samples.prompts is not None
    assert samples.prompts.tolist() == ["Tell 0", "Tell 0", "Tell 2"]
    assert samples.clusters is not None
    assert samples.clusters.tolist() == ["s0", "s0", "s2"]
    assert samples.notes == (
        "1 row left out: the same texts under another score",
        "1 row with an error left out (line 3)",
        "1 row had no text and gave no sample (line 5)",
    )
    again = [evaluated(0, "a"), evaluated(0, "a")]  # drawn twice, both under one score
    assert len(read_samples(write_rows("b.jsonl", again))) == 2
    assert list(read_samples(write_rows("c.jsonl", rows), field="input.reference[0]")) == [
        "A story."
    ] * len(rows)


def test_samples_of_every_eval_ever_in_parquet(tmp_path: Path) -> None:
    pa = need("pyarrow")
    import pyarrow.parquet as pq

    rows = [{**evaluated(0, "a", "b"), "answer_attribution": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert list(read_samples(tmp_path / "a.parquet")) == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1}, "line 2: .*'evaluation_id', 'input', 'interaction_type' and 'sample_id'"),
        (evaluated(1, output={"raw": [3]}), "line 2: its texts .*strings.*l"),
    ],
)
def test_wrong_samples_of_every_eval_ever(write_rows: Write, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("a.jsonl", [evaluated(0, "a"), row]))


def test_scores_of_every_eval_ever_are_no_samples(write: Write) -> None:
    scores = {"schema_version": "0.3.0", "model_info": {}, "evaluation_results": [{"a": 1}]}
    with pytest.raises(InputError, match=r"Every Eval Ever.*no samples"):
        read_samples(write("a.json", json.dumps(scores)))
