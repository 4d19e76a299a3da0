"""The file of samples and its journal: whole or not there, never mixed, never written twice."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from calipers.errors import InputError
from calipers.language_model.model import Completion, LanguageModel
from calipers.language_model.samples_file import Journal, SamplesFile, check_output, kept_first

CONFIGURATION = {"model": "m", "seed": 0, "n": 3}


def sample(number):
    return {"id": number, "text": f"text {number}", "finish_reason": "stop", "tokens": 2}


ROWS = [sample(number) for number in range(3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.jsonl"


def at(path, **changes):
    return SamplesFile.at(path, {**CONFIGURATION, **changes})


def lines(path):
    return path.read_text("utf-8").splitlines()


def begin(file, rows):
    """A run that is stopped after some samples."""
    with file.writing(file.known()) as journal:
        for row in rows:
            journal.write(row)


def test_a_whole_run_leaves_a_file_and_a_manifest_and_no_journal(path):
    file = at(path)
    assert file.known() == {}
    begin(file, [ROWS[1], ROWS[0]])
    assert file.journal.exists()
    assert not path.exists()
    file.finish(ROWS, {"samples": 3})
    assert [json.loads(line) for line in lines(path)] == ROWS
    assert json.loads(file.manifest.read_text("utf-8")) == {
        "configuration": CONFIGURATION, "samples": 3,
    }  # fmt: skip
    assert not file.journal.exists()
    assert at(path).known() == {0: ROWS[0], 1: ROWS[1], 2: ROWS[2]}


def test_a_stopped_run_goes_on_and_writes_its_configuration_once(path):
    begin(at(path), [ROWS[2]])
    begin(at(path), [ROWS[0]])
    assert at(path).known() == {2: ROWS[2], 0: ROWS[0]}
    assert len(lines(at(path).journal)) == 3


def test_a_torn_line_is_cut_and_its_sample_is_missing(path):
    file = at(path)
    begin(file, ROWS[:2])
    whole = file.journal.read_bytes()
    file.journal.write_bytes(whole[:-7])
    assert file.known() == {0: ROWS[0]}
    begin(file, [ROWS[1]])
    assert file.journal.read_bytes() == whole
    assert file.known() == {0: ROWS[0], 1: ROWS[1]}


@pytest.mark.parametrize("left", [b"", b'{"configur', b"\0" * 40])
def test_a_run_that_ended_before_its_first_sample(path, left):
    file = at(path)
    file.journal.write_bytes(left)
    assert file.known() == {}
    begin(file, ROWS[:1])
    assert at(path).known() == {0: ROWS[0]}


def test_a_head_alone_is_written_anew_for_another_configuration(path):
    begin(at(path), [])
    begin(at(path, seed=1), ROWS[:1])
    assert at(path, seed=1).known() == {0: ROWS[0]}


def test_a_longer_run_starts_with_the_samples_of_a_shorter_one(path):
    at(path).finish(ROWS, {})
    longer = at(path, n=5)
    begin(longer, [sample(3)])
    assert sorted(at(path, n=5).known()) == [0, 1, 2, 3]
    assert len(lines(longer.journal)) == 5


def test_two_runs_at_once_are_refused_and_nothing_is_lost(path):
    file = at(path)
    with file.writing({}) as journal:
        journal.write(ROWS[0])
        with pytest.raises(InputError, match="another run"):
            begin(at(path), ROWS[1:])
        with pytest.raises(InputError, match="another run"):
            at(path, seed=1).known(overwrite=True)
        journal.write(ROWS[1])
    assert file.known() == {0: ROWS[0], 1: ROWS[1]}


@pytest.mark.parametrize("finished", [True, False])
def test_another_configuration_is_refused_and_named(path, finished):
    file = at(path)
    file.finish(ROWS, {}) if finished else begin(file, ROWS)
    with pytest.raises(InputError, match="seed is 0 there and 1 here"):
        at(path, seed=1).known()
    other = SamplesFile.at(path, {**CONFIGURATION, "seed": 1}, "take it away")
    with pytest.raises(InputError, match="1 here; take it away"):
        other.known()
    assert len(file.known()) == 3


def test_a_forced_run_leaves_the_file_until_it_is_whole_and_goes_on_where_it_was(path):
    at(path).finish(ROWS, {})
    before = path.read_bytes()
    forced = at(path, seed=1)
    assert forced.known(overwrite=True) == {}
    with forced.writing({}) as journal:
        journal.write(ROWS[0])
    assert path.read_bytes() == before
    assert forced.known(overwrite=True) == {0: ROWS[0]}
    with pytest.raises(InputError, match="another configuration"):
        forced.known()
    assert at(path).known(overwrite=True).keys() == {0, 1, 2}  # gives the other's journal up
    assert not forced.journal.exists()


def test_a_file_of_other_origin_is_refused_and_kept(path):
    path.write_text('{"text": "mine"}\n')
    with pytest.raises(InputError, match="was not written by calipers generate"):
        at(path).known()
    assert at(path).known(overwrite=True) == {}
    assert path.read_text() == '{"text": "mine"}\n'


def line_with(**fields):
    whole = {"id": 1, "text": "a", "finish_reason": "stop", "tokens": 1}
    return json.dumps({**whole, **fields}).encode()


COUNT = "must be a whole number of at least 0 and below 2**53"
DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b"\0" * 40, "it is not JSON"),
        (line_with()[:-9], "it is not JSON"),
        (line_with(tokens=float("nan")), "it is not JSON"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "it is not JSON"),
        (DEEP, "it has more than 32 levels"),
        (b'{"id": 1, "text": ' + DEEP[:400] + DEEP[-400:] + b"}", "it has more than 32 levels"),
        (b"[1]", "it is not a sample"),
        (b'{"id": 1}', "it is not a sample"),
        (b'{"id": 1, "text": "a", "finish_reason": "stop"}', "it is not a sample"),
        (line_with(id="1"), f'id {COUNT}; found "1"'),
        (line_with(id=-1), f"id {COUNT}; found -1"),
        (line_with(id=True), f"id {COUNT}; found true"),
        (line_with(text=None), "text must be a text; found null"),
        (line_with(finish_reason=["stop"]), 'finish_reason must be a text; found ["stop"]'),
        (line_with(tokens="x"), f'tokens {COUNT}, or null; found "x"'),
        (line_with(tokens=1.5), f"tokens {COUNT}, or null; found 1.5"),
        (line_with(tokens=True), f"tokens {COUNT}, or null; found true"),
        (line_with(prompt_tokens="x"), f'prompt_tokens {COUNT}, or null; found "x"'),
        (line_with(prompt_tokens=-1), f"prompt_tokens {COUNT}, or null; found -1"),
        (
            line_with(prompt_tokens=10**400),
            f"prompt_tokens {COUNT}, or null; found a number of more than 80 digits",
        ),
        (line_with(time=3), "time must be a text; found 3"),
        (line_with(refusal={}), "refusal must be a text; found {}"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_a_damaged_line_is_named_and_everything_kept(path, line, said, finished):
    file = at(path)
    file.finish(ROWS, {}) if finished else begin(file, ROWS)
    place = path if finished else file.journal
    held = place.read_bytes().splitlines(keepends=True)
    number = 2 if finished else 3
    held[number - 1] = line + b"\n"
    place.write_bytes(b"".join(held))
    with pytest.raises(InputError) as found:
        file.known()
    assert str(found.value).startswith(
        f"{place}: line {number} is damaged: {said}; delete the line, "
    )
    assert "and its sample is written again" in str(found.value)
    assert place.read_bytes() == b"".join(held)
    del held[number - 1]
    place.write_bytes(b"".join(held))
    assert sorted(file.known()) == [0, 2]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"configuration": 3}', "\0"])
def test_a_damaged_manifest(path, content):
    file = at(path)
    file.finish(ROWS, {})
    file.manifest.write_text(content)
    with pytest.raises(InputError, match=r"out\.jsonl.*: is damaged"):
        file.known()
    assert len(lines(path)) == 3


def test_folders_in_the_place_of_files(path):
    file = at(path)
    file.journal.mkdir()
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"out\.jsonl\.part: cannot be read"):
            file.known(overwrite=overwrite)


def test_a_full_disk_is_one_sentence_and_what_was_written_stays(path):
    class Full:
        """Takes ten bytes of a line, and then no more."""

        def __init__(self):
            self.held = b""

        def write(self, content):
            if self.held:
                raise OSError(28, "No space left on device")
            self.held = bytes(content[:10])
            return 10

    with pytest.raises(InputError) as found:
        Journal(Full(), path).write(ROWS[0])
    assert str(found.value) == (
        f"{path}: cannot be written: No space left on device; what was written is kept, and the "
        "same command continues from there"
    )


def test_texts_of_any_characters_come_back(path):
    row = {**sample(0), "text": "a\u2028b\r\x85\ud800 naïve\n中"}
    begin(at(path), [row])
    assert at(path).known() == {0: row}
    whole = {**sample(0), "text": "a\u2028b\r\x85 naïve\n中"}
    at(path).finish([whole], {})
    assert at(path).known() == {0: whole}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out.json", "to a file ending in .jsonl"),
        ("nowhere/out.jsonl", "there is no folder"),
        ("folder.jsonl", "samples .*folder"),
    ],
)
def test_places_that_no_samples_can_be_written_to(tmp_path, name, said):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(InputError, match=said):
        check_output(tmp_path / name)


def test_a_folder_that_cannot_be_written_to(path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        check_output(path)


class Writes(LanguageModel):
    """Writes five texts; two more arrive when it is stopped."""

    name, revision = "m", ""

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        try:
            for number in range(5):
                yield Completion(number, f"text {number}", "stop", 2)
        finally:
            self.unclaimed = [Completion(number, "late", "stop", 2) for number in (8, 9)]


@pytest.mark.parametrize("stop", ["making the row", "writing it", "taking it"])
def test_ctrl_c_loses_no_text_that_arrived(path, stop):
    model, file, made = Writes(), at(path), []

    def row_of(text):
        made.append(text.id)
        if stop == "making the row" and made.count(2) == 1 and text.id == 2:
            raise KeyboardInterrupt
        return {**sample(text.id), "text": text.text}

    def take():
        with file.writing({}) as journal:
            if stop == "writing it":
                write = journal.write

                def interrupted(row):
                    if row["id"] == 2 and made.count(2) == 1:
                        raise KeyboardInterrupt
                    write(row)

                object.__setattr__(journal, "write", interrupted)
            texts = model.generate([], None, max_tokens=1, seed=0)
            with closing(kept_first(model, texts, row_of, journal)) as rows:
                for row in rows:
                    if row["id"] == 2:
                        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take()
    assert sorted(file.known()) == [0, 1, 2, 8, 9]
    assert model.unclaimed == []
