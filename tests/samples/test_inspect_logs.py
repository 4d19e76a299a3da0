"""Logs of inspect: real ones (tests/data/inspect), damaged and hostile ones."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.memory import memory_limit
from calipers.samples import read_samples
from calipers.samples.readers.inspect_logs import ZSTD
from extras import lack, need

LOGS = Path(__file__).parent.parent / "data" / "inspect"
EVAL, JSON = LOGS / "stories.eval", LOGS / "stories.json"
Zip = Callable[..., Path]


def sample(name: Any = 1, text: str | None = "a story", epoch: Any = 1, **more: Any) -> Any:
    """A sample as inspect logs it, without what nobody reads."""
    message = {"role": "assistant", "content": text}
    choices = [] if text is None else [{"message": message, "stop_reason": "stop"}]
    output = {"model": "m", "choices": choices, "completion": text or ""}
    return {"id": name, "epoch": epoch, "input": "Go on.", "output": output, **more}


@pytest.fixture
def write_eval(tmp_path: Path) -> Zip:
    def write(*samples: Any, status: str | None = "success", method: int = 8) -> Path:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", method) as file:
            file.writestr("_journal/start.json", "{}")
            for each in samples:
                name = f"samples/{each['id']}_epoch_{each['epoch']}.json"
                file.writestr(name, json.dumps(each))
            if status is not None:
                file.writestr("header.json", json.dumps({"status": status}))
        return path

    return write


def test_completions_prompts_ids_and_epochs() -> None:
    need("pyarrow")  # the log is packed by zstd
    samples = read_samples(EVAL)
    assert len(samples) == 25
    assert samples[0] == "The island met the harbour by the wave. salt captain storm."
    assert samples.prompts is not None
    assert samples.prompts[0] == "Tell a story about the sea, number 2."
    assert samples.prompts[7] == "You tell stories.\n\nTell a story about the wood, number 1."
    assert samples.log_ids is not None
    ids = samples.log_ids.ids.tolist()
    evens, odds = ["2", "4", "6", "8", "10", "12", "14"], ["1", "11", "13", "3", "7", "9"]
    odds = [f"story-{number}" for number in odds]
    assert ids == [*evens, *odds, *(own for own in evens if own != "4"), *odds]
    assert samples.log_ids.epochs.tolist() == [1] * 13 + [2] * 12


def test_samples_without_text_are_counted() -> None:
    need("pyarrow")  # the log is packed by zstd
    assert read_samples(EVAL).notes == (
        "1 sample with an error left out (sample 16: RuntimeError('the model went away')); "
        "2 samples without output left out (samples 12 and 26)",
    )


def test_json_log_gives_the_same_samples() -> None:
    need("pyarrow")  # the log is packed by zstd
    samples = read_samples(JSON)
    whole = read_samples(EVAL)
    assert samples.log_ids is not None
    assert samples.log_ids.ids.tolist() == ["2", "story-1", "story-3"]
    assert whole[0] == samples[0]
    assert samples.notes == ()


def test_fields_group_and_cluster_are_those_of_a_sample() -> None:
    need("pyarrow")  # the log is packed by zstd
    samples = read_samples(EVAL, group="metadata.topic", cluster="id")
    assert samples.groups is not None
    assert samples.clusters is not None
    assert samples.log_ids is not None
    assert set(samples.groups) == {"sea", "wood"}
    assert samples.clusters.tolist() == samples.log_ids.ids.tolist()
    assert set(read_samples(EVAL, group="scores.includes.value").groups or ()) == {"C", "I"}
    targets = read_samples(EVAL, field="target")
    assert set(targets) == {"wave", "oak"}
    assert len(targets) == 27  # all but the one with an error
    with pytest.raises(InputError, match=r"sample 1: .*'place'.*'topic'"):
        read_samples(EVAL, field="metadata.place")


def test_rows_that_are_taken_keep_their_ids() -> None:
    need("pyarrow")  # the log is packed by zstd
    kept = read_samples(EVAL).take(np.array([19, 3]))
    assert kept.log_ids is not None
    assert kept.log_ids.ids.tolist() == ["story-1", "8"]
    assert kept.log_ids.epochs.tolist() == [2, 1]


def test_standard_input_and_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("pyarrow")  # the log is packed by zstd
    import gzip
    import io
    from types import SimpleNamespace

    path = tmp_path / "log.eval.gz"
    path.write_bytes(gzip.compress(EVAL.read_bytes()))
    assert len(read_samples(path)) == 25
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(JSON.read_bytes())))
    assert len(read_samples("-")) == 3


def test_a_later_record_of_a_sample_replaces_the_first(write_eval: Zip) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write_eval(sample(1, "first"), sample(2, "other"), sample(1, "second"))
    assert list(read_samples(path)) == ["second", "other"]


def test_order_is_that_of_inspect(write_eval: Zip) -> None:
    rows = [sample(name, str(name), epoch) for epoch in (2, 1) for name in (10, 9, "b", "a")]
    assert list(read_samples(write_eval(*rows))) == ["9", "10", "a", "b"] * 2


@pytest.mark.parametrize(
    ("status", "note"),
    [
        (None, "the log has no end: its run goes on, or was killed, and samples may be missing"),
        (
            "started",
            "the log has no end: its run goes on, or was killed, and samples may be missing",
        ),
        ("error", "the log says that its run ended with 'error': samples may be missing"),
    ],
)
def test_runs_that_did_not_succeed_are_told(write_eval: Zip, status: Any, note: str) -> None:
    assert read_samples(write_eval(sample(), status=status)).notes == (note,)


def test_texts_of_messages_and_attachments(write_eval: Zip) -> None:
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "one"},
        {"type": "text", "text": "attachment://abc"},
    ]
    row = sample(attachments={"abc": "two"}, input="attachment://abc", limit={"type": "token"})
    row["output"] = {"choices": [{"message": {"content": parts}}, {"message": {"content": "x"}}]}
    samples = read_samples(write_eval(row))
    assert list(samples) == ["one\ntwo"]
    assert samples.prompts is not None
    assert list(samples.prompts) == ["two"]
    assert samples.notes == (
        "1 sample with several choices: the completion is the first "
        "(`field='output.choices[*].message.content'` takes all) (sample 1)",
        "1 sample stopped by a limit of the run and kept (sample 1)",
    )


def test_logs_without_output_say_why(write_eval: Zip, tmp_path: Path) -> None:
    failed = sample(1, error={"message": "too many requests"})
    with pytest.raises(InputError) as caught:
        read_samples(write_eval(failed, sample(2, None)))
    assert str(caught.value).endswith(
        "log.eval: no sample holds an output; 1 sample with an error left out (sample 1: too many "
        "requests); 1 sample without output left out (sample 2)"
    )
    with pytest.raises(InputError, match=r"inspect .*no samples"):
        read_samples(write_eval())
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": {}, "samples": None}))
    with pytest.raises(InputError, match=r"log\.json: .*no samples"):
        read_samples(path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            sample(True),
            "sample 1: 'id' must be a string or a whole number, but it is the bool True",
        ),
        (
            sample(1, epoch=0),
            "sample 1: 'epoch' must be a whole number from 1 on, but it is the int 0",
        ),
        (
            {"id": 1, "epoch": 1, "text": "a"},
            "sample 1: is not a sample of inspect, with id, epoch, input and an object output; "
            "found "
            "'id', 'epoch' and 'text'",
        ),
        (
            {**sample(), "output": {"choices": 3, "completion": "a"}},
            "sample 1: the choices of the output must be a list, not the int 3",
        ),
        (
            {**sample(), "output": {"completion": 7}},
            "sample 1: the completion must be a string, but it is the int 7",
        ),
        (
            {**sample(), "output": {"choices": [{"message": {"content": None}}]}},
            "sample 1: the completion must be a string, but it is null",
        ),
    ],
)
def test_samples_of_another_form(write_eval: Zip, row: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_samples(write_eval(row))
    assert str(caught.value).endswith(f"log.eval: {message}")


def patched(path: Path, name: str, **fields: int) -> None:
    """Change what the zip claims of a part, in its directory."""
    places = {"method": (10, "<H"), "flags": (8, "<H"), "crc": (16, "<I"), "size": (24, "<I")}
    data = bytearray(path.read_bytes())
    start = data.rindex(name.encode()) - 46
    for field, value in fields.items():
        place, form = places[field]
        struct.pack_into(form, data, start + place, value)
    path.write_bytes(data)


ONE = "samples/1_epoch_1.json"


def test_other_methods_and_encryption_are_refused(write_eval: Zip) -> None:
    path = write_eval(sample(), method=zipfile.ZIP_LZMA)
    with pytest.raises(InputError, match=r"method 14 .*known are 0"):
        read_samples(path)
    path = write_eval(sample())
    patched(path, ONE, flags=1)
    with pytest.raises(InputError, match=r"log\.eval: is encrypted"):
        read_samples(path)


def zstd_log(path: Path, content: bytes, size: int | None = None) -> Path:
    """A log whose only sample is packed by zstd in two frames, as large ones of inspect are."""
    zstandard = need("zstandard")
    half = len(content) // 2
    pack = zstandard.ZstdCompressor().compress
    packed = pack(content[:half]) + pack(content[half:])
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(ONE, packed)
        file.writestr("header.json", '{"status": "success"}')
    patched(path, ONE, method=ZSTD, crc=zlib.crc32(content), size=size or len(content))
    return path


def test_zstd_in_several_frames(tmp_path: Path) -> None:
    content = json.dumps(sample(text="word " * 50)).encode()
    path = zstd_log(tmp_path / "log.eval", content)
    assert list(read_samples(path)) == ["word " * 50]
    with zipfile.ZipFile(path) as file:
        assert file.getinfo(ONE).compress_type == ZSTD


def test_parts_that_hold_more_or_less_than_they_claim(tmp_path: Path) -> None:
    content = json.dumps(sample(text="word " * 50)).encode()
    for size in (len(content) - 1, len(content) + 1):
        with pytest.raises(InputError, match="checksum"):
            read_samples(zstd_log(tmp_path / "log.eval", content, size))


def test_claims_are_held_to_the_memory_that_may_be_taken(tmp_path: Path) -> None:
    bomb = zstd_log(tmp_path / "log.eval", b" " * 40_000_000)
    assert bomb.stat().st_size < 10_000
    with memory_limit("20MB"), pytest.raises(InputError, match=r"claims a part 'samples/1_epoch_"):
        read_samples(bomb)


def test_all_parts_together_are_held_to_what_a_packed_file_may_hold(
    write_eval: Zip, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_eval(*(sample(number, "word " * 99) for number in range(9)))
    monkeypatch.setattr("calipers.samples.source.MAX_DECOMPRESSED", 5_000)
    with pytest.raises(InputError, match=r"log\.eval: .*5,000 bytes"):
        read_samples(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"PK\x03\x04 and no more",
            "is not a log of inspect, or is damaged: File is not a zip file",
        ),
        (b"hello", "is not a log of inspect, or is damaged: File is not a zip file"),
    ],
)
def test_files_that_are_no_zip(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_samples(path)
    assert str(caught.value) == f"{path}: {message}"


def test_other_zips_and_broken_parts(tmp_path: Path) -> None:
    need("pyarrow")  # the log is packed by zstd
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("calipers.json", "{}")
    with pytest.raises(InputError, match=r"samples/\*\.json"):
        read_samples(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(ONE, '{"id": 1,')
    with pytest.raises(InputError, match=r"'samples/1_epoch_1\.json' .*JSON"):
        read_samples(path)
    whole = bytearray(EVAL.read_bytes())
    whole[1500:1600] = bytes(100)
    path.write_bytes(whole)
    with pytest.raises(InputError, match="not a log of inspect"):
        read_samples(path)


def test_zstd_needs_pyarrow(monkeypatch: pytest.MonkeyPatch, write_eval: Zip) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"stories\.eval: .*zstd"):
        read_samples(EVAL)
    assert len(read_samples(write_eval(sample()))) == 1
    assert len(read_samples(JSON)) == 3


REAL = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

answers = [f"Answer {n} \\u00fc." for n in range(12)]
outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
for output in outputs:  # else inspect downloads a tokenizer to count
    output.usage = ModelUsage(input_tokens=3, output_tokens=4, total_tokens=7)
task = Task(
    dataset=MemoryDataset([Sample(id=n, input=f"Question {n}?") for n in (1, 2, 10, 11)]),
    solver=generate(),
    epochs=3,
)
(log,) = eval(
    task,
    model=get_model("mockllm/model", custom_outputs=outputs),
    log_dir=sys.argv[1],
    log_format=sys.argv[2],
    max_samples=1,
    display="none",
)
samples = read_eval_log(log.location).samples
rows = [[str(each.id), each.epoch, each.output.completion, each.input] for each in samples]
print(json.dumps([log.location, rows]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_logs_are_read_as_inspect_itself_reads_them(tmp_path: Path, suffix: str) -> None:
    python = os.environ.get("CALIPERS_INSPECT_PYTHON", sys.executable)
    known = subprocess.run([python, "-c", "import inspect_ai"], capture_output=True, check=False)
    if known.returncode:
        lack("inspect_ai in the Python of CALIPERS_INSPECT_PYTHON")
    done = subprocess.run(
        [python, "-c", REAL, str(tmp_path), suffix], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    location, rows = json.loads(done.stdout.splitlines()[-1])
    samples = read_samples(location.removeprefix("file://"), cluster="id")
    assert samples.log_ids is not None
    assert samples.clusters is not None
    assert samples.prompts is not None
    ids, epochs = samples.log_ids.ids.tolist(), samples.log_ids.epochs.tolist()
    own = zip(ids, epochs, samples, samples.prompts.tolist(), strict=True)
    assert list(map(list, own)) == rows
    assert len(set(samples)) == 12
    assert samples.clusters.tolist() == ids
    assert sorted(set(epochs)) == [1, 2, 3]
    assert samples.notes == ()
