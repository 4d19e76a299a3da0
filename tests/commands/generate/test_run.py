"""Samples of a language model: prompts, rows, journals that go on, files that are not mixed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Completion, LanguageModel, Request
from calipers.language_model.sampling import uniforms

WORDS = ("red", "green", "blue")


class Toy(LanguageModel):
    """Three words drawn evenly, after the prompt's last word."""

    name, revision = "toy", "1"

    def __init__(self, *, fails_after: int | None = None) -> None:
        self.asked: list[Request] = []
        self.signature = {"embedder": "toy"}
        self.fails_after = fails_after

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Any = None,
    ) -> Iterator[Completion]:
        for number, request in enumerate(requests):
            if number == self.fails_after:
                raise KeyboardInterrupt
            self.asked.append(request)
            drawn = [WORDS[int(u * 3)] for u in uniforms(seed, request.id, 3)]
            yield Completion(request.id, " " + " ".join(drawn), "stop", 3, 2)


def texts_of(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]


def write(path: Path, model: Toy | None = None, **options: Any) -> calipers.Generation:
    return calipers.generate(model=model or Toy(), n=5, output=path, **options)


def test_rows_hold_all_that_is_known_of_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    found = write(path, prompts=["one two three", "four five six"], prompt_words=2, seed=3)
    row = json.loads(path.read_text("utf-8").splitlines()[2])
    assert row == {
        "id": 2,
        "text": found.rows[2]["text"],
        "prompt": "one two",
        "prompt_id": "0",
        "model": "toy",
        "revision": "1",
        "decoding": {"method": "sample"},
        "seed": 3,
        "finish_reason": "stop",
        "tokens": 3,
        "prompt_tokens": 2,
    }
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text("utf-8"))
    assert manifest["configuration"] == found.configuration
    assert manifest["tokens"] == 15
    assert manifest["finish_reasons"] == {"stop": 5}


def test_what_was_written_is_read_with_its_prompts(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(path, prompts=["one two three", "four five six"], prompt_words=2)
    samples = calipers.read_samples(path)
    assert samples.prompts is not None
    assert list(samples.prompts) == ["one two", "four five", "one two", "four five", "one two"]
    assert list(samples) == list(
        write(path, prompts=["one two three", "four five six"], prompt_words=2).samples
    )


class Silent(Toy):
    """Ends every other text at once."""

    def generate(self, requests: Sequence[Request], *more: Any, **others: Any) -> Any:
        for each in super().generate(requests, *more, **others):
            yield replace(each, text="" if each.id % 2 else each.text)


@pytest.mark.parametrize("keep", [False, True])
def test_texts_that_end_at_once_are_counted_and_told(tmp_path: Path, keep: bool) -> None:
    options = {"prompts": ["one two three", "four five six"], "prompt_words": 2}
    found = write(tmp_path / "out.jsonl", Silent(), **options, keep_prompt=keep)
    assert found.counts["empty"] == 2
    told = "2 texts of 5 are empty: the model ended them before it wrote a word"
    assert told in found.notes
    assert told in str(found)
    assert write(tmp_path / "other.jsonl", **options, keep_prompt=keep).counts["empty"] == 0


def test_prompts_are_left_out_of_texts_unless_asked(tmp_path: Path) -> None:
    cut = calipers.generate(model=Toy(), prompts=["one two three"], prompt_words=2)
    whole = calipers.generate(
        model=Toy(), prompts=["one two three"], prompt_words=2, keep_prompt=True
    )
    assert list(whole) == [f"one two {text}" for text in cut]


def test_a_sample_depends_on_its_number_and_the_seed_alone() -> None:
    few = calipers.generate(model=Toy(), n=3, seed=1)
    many = calipers.generate(model=Toy(), n=9, seed=1)
    assert list(many)[:3] == list(few)
    assert list(calipers.generate(model=Toy(), n=9, seed=2)) != list(many)


def test_a_stopped_run_goes_on_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    path, first, second = tmp_path / "out.jsonl", Toy(fails_after=2), Toy()
    with pytest.raises(KeyboardInterrupt):
        write(path, first)
    assert not path.exists()
    found = write(path, second)
    assert [request.id for request in first.asked] == [0, 1]
    assert [request.id for request in second.asked] == [2, 3, 4]
    assert list(found) == list(calipers.generate(model=Toy(), n=5))
    assert not (tmp_path / "out.jsonl.part").exists()


def test_what_a_server_sends_after_a_stop_is_kept_too(tmp_path: Path) -> None:
    path, first, second = tmp_path / "out.jsonl", Toy(fails_after=2), Toy()
    first.unclaimed = [Completion(4, " late", "stop", 1)]
    with pytest.raises(KeyboardInterrupt):
        write(path, first)
    found = write(path, second)
    assert [request.id for request in second.asked] == [2, 3]
    assert list(found)[4] == "late"


def test_a_refused_decoding_leaves_nothing_behind(tmp_path: Path) -> None:
    class Refusing(Toy):
        def generate(self, *given: Any, **more: Any) -> Iterator[Completion]:
            raise InputError("toy cannot do that")

    with pytest.raises(InputError, match="toy cannot do that"):
        write(tmp_path / "out.jsonl", Refusing())
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_was_cut_off_is_written_anew(tmp_path: Path) -> None:
    path, second = tmp_path / "out.jsonl", Toy()
    with pytest.raises(KeyboardInterrupt):
        write(path, Toy(fails_after=3))
    journal = tmp_path / "out.jsonl.part"
    journal.write_bytes(journal.read_bytes()[:-7])
    write(path, second)
    assert [request.id for request in second.asked] == [2, 3, 4]
    assert texts_of(path) == list(calipers.generate(model=Toy(), n=5))


def test_a_whole_file_is_not_written_again_and_a_longer_one_goes_on(tmp_path: Path) -> None:
    path, again, longer = tmp_path / "out.jsonl", Toy(), Toy()
    write(path)
    write(path, again)
    assert again.asked == []
    found = calipers.generate(model=longer, n=7, output=path)
    assert [request.id for request in longer.asked] == [5, 6]
    assert len(found) == 7
    assert len(texts_of(path)) == 7


@pytest.mark.parametrize("begun", [False, True])
def test_another_configuration_is_refused_not_mixed(tmp_path: Path, begun: bool) -> None:
    path = tmp_path / "out.jsonl"
    if begun:
        with pytest.raises(KeyboardInterrupt):
            write(path, Toy(fails_after=2))
    else:
        write(path)
    with pytest.raises(InputError, match="seed is 0 there and 1 here"):
        write(path, seed=1)
    found = write(path, seed=1, overwrite=True)
    assert texts_of(path) == list(found)


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"text": "mine"}\n')
    with pytest.raises(InputError, match="was not written by calipers generate"):
        write(path)
    assert path.read_text() == '{"text": "mine"}\n'


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n .*at least 1.* 0"),
        ({"decoding": "top_p=1.5"}, "top_p .*above 0 and at most 1.* '1.5'"),
        ({"decoding": "temperature=0"}, "temperature .*number above 0"),
        ({"decoding": "beam=4,temperature=0.5"}, "beam and temperature cannot be combined"),
        ({"prompts": ["a b"], "prompt_words": 2}, "no text has more than 2 words"),
        ({"prompts": [" "]}, "empty"),
        ({"prompt_words": 2}, "there is nothing to continue"),
        ({"task": "creative", "prompts": ["a"]}, "takes no prompts of a person's own"),
        ({"task": "biographies"}, "needs `prompts=FILE`"),
        ({"instructions": ["Write a riddle."]}, "`instructions` needs something to ask"),
        ({"prompts": ["a b c"], "instructions": ["Go on."]}, "it needs `chat` and `prompt_words"),
        ({"task": "creative", "instructions": [" "]}, "instructions: all 1 text are empty"),
        ({"decoding": "adversarial"}, "give them with `reference=FILE`"),
        ({"output": "out.txt"}, "to a file ending in .jsonl"),
        ({"output": "nowhere/out.jsonl"}, "there is no folder"),
        ({"price": "cheap"}, "price .*two numbers such as 0.15,0.60.* 'cheap'"),
    ],
)
def test_bad_input_is_one_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        calipers.generate(model=Toy(), **options)
    assert "\n" not in str(caught.value)


def test_creative_instructions_are_used_in_turn() -> None:
    model = Toy()
    found = calipers.generate(model=model, task="creative", chat=True, n=120)
    assert model.asked[0].messages == model.asked[50].messages != model.asked[1].messages
    assert len({row["prompt_id"] for row in found.rows}) == 50


def test_instructions_of_a_file_are_asked_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "listing.txt"
    file.write_text("Write a riddle.\nWrite a toast.\n", "utf-8")
    model = Toy()
    found = calipers.generate(model=model, task="creative", instructions=str(file), chat=True, n=3)
    said = [request.messages[0]["content"] for request in model.asked]
    assert said == ["Write a riddle.", "Write a toast.", "Write a riddle."]
    assert [row["prompt"] for row in found.rows] == said
    usual = calipers.generate(model=Toy(), task="creative", chat=True, n=3)
    assert found.configuration["prompts"] != usual.configuration["prompts"]


def test_instructions_of_a_file_stand_before_the_words_to_continue(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("Go on.\nKeep the style.\n", "utf-8")
    model = Toy()
    calipers.generate(
        model=model, prompts=["a b c"], prompt_words=2, instructions=str(file), chat=True
    )
    assert model.asked[0].messages[0]["content"] == "Go on.\nKeep the style.\na"


def test_biographies_have_examples_and_end_before_the_next() -> None:
    class Biographer(Toy):
        def generate(self, requests: Any, decoding: Any, **more: Any) -> Iterator[Completion]:
            for request in requests:
                self.asked.append(request)
                yield Completion(request.id, " Ada: a life\n- Biography of Bo: x", "length", 9)

    model = Biographer()
    lives = [{"name": name, "text": f"the life of {name}"} for name in ("Al", "Bea", "Cy")]
    found = calipers.generate(model=model, task="biographies", prompts=lives, shots=2, n=2)
    assert model.asked[0].prompt.count("- Biography of") == 3
    assert model.asked[0].prompt.endswith("- Biography of")
    assert [(row["name"], row["text"], row["finish_reason"]) for row in found.rows] == [
        ("Ada", "a life", "stop")
    ] * 2


def test_what_it_costs_is_said() -> None:
    found = calipers.generate(model=Toy(), n=1000, price="1,2")
    assert found.counts["cost"] == pytest.approx((2_000 * 1 + 3_000 * 2) / 1e6)
    assert "1,000 texts by toy (ancestral, seed 0): 3,000 tokens" in str(found)
