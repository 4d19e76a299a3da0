"""Known logs: lm-evaluation-harness and OpenAI's batch output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calipers.errors import InputError
from calipers.samples import read_samples

Write = Callable[..., Path]


def logged(doc: int, resps: Any, name: str | None = "none", **more: Any) -> dict[str, Any]:
    """One row as the harness logs it (0.4 and later)."""
    row = {
        "doc_id": doc,
        "doc": {"question": f"q{doc}"},
        "target": "42",
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{doc}", "arg_1": {"until": ["\n"]}}},
        "resps": resps,
        "filtered_resps": ["42"],
        "filter": name,
        "doc_hash": f"h{doc}",
        "exact_match": 1.0,
    }
    row.update(more)
    return {key: value for key, value in row.items() if value is not None}


def test_harness_keeps_each_document_once(write_rows: Write) -> None:
    rows = [
        logged(doc, [[f"answer {doc}"]], name)
        for name in ("strict-match", "flexible-extract")
        for doc in range(3)
    ]
    samples = read_samples(write_rows("samples_gsm8k_2026.jsonl", rows), group="doc_id")
    assert list(samples) == ["answer 0", "answer 1", "answer 2"]
    assert samples.prompts.to_pylist() == ["Q: q0", "Q: q1", "Q: q2"]
    assert samples.groups.to_pylist() == ["0", "1", "2"]
    assert samples.notes == ("3 rows left out: the same responses under another filter",)


def test_harness_filters_may_follow_each_document(write_rows: Write) -> None:
    rows = [logged(doc, [["same"]], name) for doc in range(2) for name in "ab"]
    assert list(read_samples(write_rows("a.jsonl", rows))) == ["same", "same"]


def test_harness_repeats_and_requests_are_samples(write_rows: Write) -> None:
    rows = [logged(0, [["a", "b"], ["c"]]), logged(1, [["d", "d"]])]
    samples = read_samples(write_rows("a.jsonl.gz", rows))
    assert list(samples) == ["a", "b", "c", "d", "d"]
    assert samples.notes == ("prompts were left out: 1 of 5 samples have none",)


def test_harness_logs_that_name_no_filter(write_rows: Write) -> None:
    rows = [logged(doc, [["a"]], None, arguments=[["Q", {}]]) for _ in range(2) for doc in range(2)]
    samples = read_samples(write_rows("a.jsonl", rows))
    assert list(samples) == ["a", "a"]
    assert samples.prompts.to_pylist() == ["Q", "Q"]


def test_harness_runs_that_were_joined_stay_apart(write_rows: Write) -> None:
    run = [logged(doc, [["greedy"]], name) for name in ("x", "y") for doc in range(2)]
    assert len(read_samples(write_rows("a.jsonl", run + run))) == 4
    other = [logged(doc, [["sampled"]], name) for name in ("x", "y") for doc in range(2)]
    samples = read_samples(write_rows("b.jsonl", run + other))
    assert list(samples) == ["greedy"] * 2 + ["sampled"] * 2


def test_harness_chat_prompts(write_rows: Write) -> None:
    chat = {"gen_args_0": {"arg_0": ['[{"role": "user"}]'], "arg_1": {}}}
    samples = read_samples(write_rows("a.jsonl", [logged(0, [["a"]], arguments=chat)]))
    assert samples.prompts.to_pylist() == ['[{"role": "user"}]']


def test_harness_rows_without_responses_are_noted(write_rows: Write) -> None:
    samples = read_samples(write_rows("a.jsonl", [logged(0, [["a"]]), logged(1, [[]])]))
    assert samples.notes == ("1 row had no response and gave no sample (line 2)",)


@pytest.mark.parametrize(
    ("resps", "arguments"),
    [
        ([[["-25.625", "False"]], [["-23.5", "True"]]], {"arg_0": "Q", "arg_1": " A"}),
        ([[[-25.625, False]], [[-23.5, True]]], {"arg_0": "Q", "arg_1": " A"}),
        ([["-1234.5"]], {"arg_0": "a whole text"}),
        ([[-1234.5]], {"arg_0": "a whole text"}),
    ],
)
def test_harness_log_probabilities_are_no_texts(
    write_rows: Write, resps: Any, arguments: dict[str, str]
) -> None:
    path = write_rows("a.jsonl", [logged(0, resps, arguments={"gen_args_0": arguments})])
    with pytest.raises(InputError, match="line 1: 'resps' holds log-probabilities, not texts"):
        read_samples(path)


def test_harness_answers_may_be_numbers(write_rows: Write) -> None:
    assert list(read_samples(write_rows("a.jsonl", [logged(0, [["-42"]])]))) == ["-42"]
    short = [logged(0, [[text]], arguments={"gen_args_0": {"arg_0": "Q"}}) for text in ("- a", "4")]
    assert list(read_samples(write_rows("b.jsonl", short))) == ["- a", "4"]
    none = [logged(0, [["-42"]], arguments=None)]
    assert list(read_samples(write_rows("c.jsonl", none))) == ["-42"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"doc_id": 1, "text": "x"}, "line 2: has no list 'resps', .* found 'doc_id' and 'text'"),
        ("x", "line 2: has no list 'resps'"),
        (logged(1, [[None]]), "line 2: 'resps' must hold lists of strings, but one is a list"),
        (logged(1, [3]), "line 2: 'resps' must hold lists of strings, but one is the int 3"),
    ],
)
def test_wrong_harness_rows(write_rows: Write, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("a.jsonl", [logged(0, [["a"]]), row]))


def test_a_field_goes_before_the_log(write_rows: Write) -> None:
    rows = [logged(0, [["a"]], name) for name in "xy"]
    samples = read_samples(write_rows("a.jsonl", rows), field="filtered_resps[0]")
    assert list(samples) == ["42", "42"]


def test_harness_logs_in_parquet(tmp_path: Path) -> None:
    rows = [logged(doc, [["a", "b"]], name) for name in "xy" for doc in range(2)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    assert list(samples) == ["a", "b"] * 2
    assert samples.notes[0].startswith("2 rows left out")


def answered(number: int, *texts: str | None, **more: Any) -> dict[str, Any]:
    """One row of a batch output file."""
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    row = {
        "id": f"batch_req_{number}",
        "custom_id": f"request-{number}",
        "response": {"status_code": 200, "request_id": "r", "body": {"choices": choices}},
        "error": None,
    }
    return {**row, **more}


EXPIRED = {
    "response": None,
    "error": {"code": "batch_expired", "message": "This request could not be executed."},
}
BUSY = {"response": {"status_code": 429, "body": {"error": {"message": "Rate limit"}}}}


def test_batch_choices_are_samples(write_rows: Write) -> None:
    path = write_rows("out.jsonl", [answered(1, "a", "b"), answered(2, "c")])
    samples = read_samples(path, group="custom_id")
    assert list(samples) == ["a", "b", "c"]
    assert samples.groups.to_pylist() == ["request-1", "request-1", "request-2"]
    assert samples.notes == ()


def test_batch_errors_are_left_out_and_noted(write_rows: Write) -> None:
    rows = [answered(1, **EXPIRED), answered(2, "a"), answered(3, **BUSY), answered(4, "b", None)]
    samples = read_samples(write_rows("out.jsonl", rows))
    assert list(samples) == ["a", "b"]
    assert samples.notes == (
        "2 rows with an error left out (lines 1 and 3: This request could not be executed.); "
        "1 answer without text left out (line 4)",
    )


def test_batch_of_errors_only(write_rows: Write) -> None:
    with pytest.raises(
        InputError, match=r"no row holds a text; .*\(line 1: status 429, Rate limit"
    ):
        read_samples(write_rows("out.jsonl", [answered(1, **BUSY)]))
    with pytest.raises(InputError, match="no row holds a text; 1 answer without text"):
        read_samples(write_rows("out.jsonl", [answered(1, None)]))
    with pytest.raises(InputError, match=r"\(line 1: no response\)"):
        read_samples(write_rows("out.jsonl", [answered(1, response=None)]))
    with pytest.raises(InputError, match="their answers are empty lists"):
        read_samples(write_rows("out.jsonl", [answered(1)]))


def test_batch_of_other_endpoints(write_rows: Write) -> None:
    plain = answered(1, response={"status_code": 200, "body": {"choices": [{"text": "a"}]}})
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "b"}, {"type": "refusal"}]},
    ]
    later = answered(2, response={"status_code": 200, "body": {"output": output}})
    assert list(read_samples(write_rows("out.jsonl", [plain, later]))) == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "a"}, "line 2: has no 'response', as the rows before it; found 'text'"),
        (
            answered(2, response={"status_code": 200, "body": {"data": [], "model": "e"}}),
            "line 2: the answer has no choices; its fields are 'data' and 'model'",
        ),
        (answered(2, [{"type": "text"}]), "line 2: an answer must be a string, but it is a list"),  # type: ignore[arg-type]
    ],
)
def test_wrong_batch_rows(write_rows: Write, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("out.jsonl", [answered(1, "a"), row]))


def test_a_response_that_is_a_string_is_a_field(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"custom_id": "x", "response": "a"}])
    assert list(read_samples(path)) == ["a"]
