"""Judges with known habits, and what the report says of them; answers that are kept and reused."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from calipers.commands.annotate.run import annotate
from calipers.commands.judge.run import judge, judging_plan
from calipers.errors import InputError
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.tables import read_judgements, write_judgements
from calipers.language_model.judging import SIDES
from calipers.language_model.model import Completion, LanguageModel
from calipers.samples import SampleSet
from extras import need
from services import running

TRUTH = {"good": 1.0, "fair": 0.0, "poor": -1.0}
"""How good the texts of each system are, in log odds; every text names its system."""

ENDS = re.compile(r"\[(text[^\]]*?) [0-9a-f]{16}\]\n(.*?)\n\[end of", re.DOTALL)


def sets(n=60, prompts=True):
    return {
        name: SampleSet.from_texts(
            [f"A text {number} of {name}." for number in range(n)],
            name=name,
            prompts=[f"prompt {number}" for number in range(n)] if prompts else None,
        )
        for name in TRUTH
    }


def quality_of(text):
    return next(value for name, value in TRUTH.items() if name in text)


class FakeJudge(LanguageModel):
    """Answers at random around the truth, with a liking for the text shown first."""

    name, revision, chats = "fake", "1", True

    def __init__(self, *, first=0.0, sharpness=1.5, tie=0.1, name="fake", act=None):
        self.first, self.sharpness, self.tie, self.name, self.act = first, sharpness, tie, name, act
        self.signature = {"model": name}
        self.asked = []

    def generate(self, requests, decoding, *, max_tokens, seed, advance=None):
        for request in requests:
            self.asked.append(request)
            rng = random.Random(f"{request.id} {seed}")
            text, reason, details = None, "stop", {}
            if self.act is not None:
                text, reason, details = self.act(request, rng, len(self.asked))
            if text is None:
                text = json.dumps(self.answer(request, rng))
            yield Completion(request.id, text, reason, 20, 100, details)

    def answer(self, request, rng):
        shown = [text for _, text in ENDS.findall(request.messages[1]["content"])]
        found = {}
        for name, values in request.schema["properties"].items():
            if values["type"] == "string":
                odds = self.sharpness * (quality_of(shown[0]) - quality_of(shown[1])) + self.first
                prefers = rng.random() < 1 / (1 + np.exp(-odds))
                side = rng.choice(SIDES[:2] if prefers else SIDES[3:])
                found[name] = "tie" if rng.random() < self.tie else side
            elif values["enum"] == [0, 1]:
                found[name] = int(quality_of(shown[0]) + rng.gauss(0, 1) > 0)
            else:
                found[name] = int(np.clip(round(3 + quality_of(shown[0]) + rng.gauss(0, 1)), 1, 5))
        return found


def run(model=None, **options):
    given = {"per_pair": 40, "repeat_share": 0.3, "seed": 0} | options
    return judge(sets(), model=FakeJudge() if model is None else model, **given)


def people(found, raters=3, seed=1, sharpness=1.0):
    """People who judge the same items, each text by its truth."""
    rng = random.Random(seed)
    rows = []
    for row in found.judgements:
        if row.repeat or isinstance(row, Rating) or row.first == "b":
            continue
        for rater in range(raters):
            odds = sharpness * (TRUTH[row.a] - TRUTH[row.b])
            answer = 1 if rng.random() < 1 / (1 + np.exp(-odds)) else 5
            rows.append(
                PairJudgement(
                    row.item, row.a, row.b, dict.fromkeys(row.answers, answer),
                    f"p{rater}", "person", rng.choice("ab"),
                )
            )  # fmt: skip
    return rows


# ---------------------------------------------------------------- pairs


@pytest.fixture(scope="module")
def fair():
    return run(FakeJudge())


@pytest.fixture(scope="module")
def biased():
    return run(FakeJudge(first=2.5))


def test_every_pair_is_asked_in_both_orders_and_some_again(fair):
    rows = fair.judgements
    assert fair.items == 120
    first = [row for row in rows if row.repeat == 0]
    assert len(first) == 240
    assert {(row.item, row.first) for row in first} == {
        (row.item, side) for row in rows for side in "ab"
    }
    again = [row for row in rows if row.repeat == 1]
    assert 40 <= len(again) <= 110
    assert len(again) % 2 == 0
    assert {row.rater for row in rows} == {"fake"}
    assert {row.rater_kind for row in rows} == {"model"}
    assert fair["fake"].counts["asked"] == len(rows) == fair["fake"].counts["answered"]


def test_the_order_of_the_systems_is_found(fair):
    for question in ("interesting", "sensible", "human_like"):
        systems = fair["fake"][question].systems
        assert list(systems) == ["good", "fair", "poor"]
        for name, truth in TRUTH.items():
            low, high = systems[name].interval
            assert low < systems[name].score < high
            assert systems[name].score == pytest.approx(150 * truth, abs=60)
            assert systems[name].n == 80
            assert 0 < systems[name].rerun_error < systems[name].standard_error * 1.5
        assert systems["good"].interval[0] > systems["poor"].interval[1]
    assert fair["fake"]["sensible"]["good"].score > 50


def test_a_judge_that_follows_the_first_side_is_exposed(fair, biased):
    question = biased["fake"]["sensible"]
    assert question.first.interval[0] > 0.6
    assert question.flips.value > 0.3
    (warning,) = biased.warnings
    assert re.fullmatch(
        r"fake prefers the text shown first in \d\d % \(\d\d % to \d\d %\) of its answers to "
        r"'interesting', .* and .* that prefer one: its answers to pairs cannot be trusted without "
        r"both orders, on which the scores here rest",
        warning,
    )
    assert "cannot be trusted without both orders" in " ".join(str(biased).split())
    assert fair.warnings == ()
    assert 0.4 < fair["fake"]["sensible"].first.value < 0.6
    assert fair["fake"]["sensible"].flips.value < question.flips.value
    last = run(FakeJudge(first=-2.5))
    assert last.warnings[0].startswith("fake prefers the text shown second in ")
    # What both orders are for: the scores are still those of the systems
    assert question["good"].score > question["fair"].score > question["poor"].score


@pytest.mark.parametrize(("first", "shown"), [(60, "first"), (-60, "second")])
def test_of_a_judge_whose_every_pair_flips_nothing_is_learnt(first, shown):
    """Scores of 0 [0, 0] would claim that it is certain of what it does not tell."""
    found = run(FakeJudge(first=first, tie=0.0), per_pair=10)
    for question in found["fake"].questions.values():
        assert question.flips.value == 1
        assert question.systems == {}
        assert question.reason == (
            "in all 30 pairs the answer changes when the sides are swapped (always for the "
            f"text shown {shown}), so the answers say nothing about the systems"
        )
    assert any("no scores of 'sensible': in all 30 pairs" in text for text in found.warnings)
    assert not any("on which the scores here rest" in text for text in found.warnings)
    assert "0.0 [0.0, 0.0]" not in str(found)
    assert "nan" not in str(found).lower()


def test_a_judge_with_flips_and_ties_is_not_certain():
    """Half of the pairs flip, the others tie in both orders: scores of 0, in wide bounds."""

    def act(request, rng, count):
        shown = [text for _, text in ENDS.findall(request.messages[1]["content"])]
        even = sum(map(ord, "".join(sorted(shown)))) % 2
        return (
            json.dumps(
                {
                    name: "tie" if even else SIDES[0]
                    for name, values in request.schema["properties"].items()
                    if values["type"] == "string"
                }
            ),
            "stop",
            {},
        )

    found = run(FakeJudge(act=act), per_pair=20)
    question = found["fake"]["sensible"]
    assert 0 < question.ties.value < 1
    for system in question.systems.values():
        assert system.score == pytest.approx(0, abs=1e-6)
        low, high = system.interval
        assert low < -10 < 10 < high
        assert system.standard_error > 5


def test_agreement_with_itself_ties_and_circles(fair):
    question = fair["fake"]["sensible"]
    assert 0.4 < question.agreement.value < 0.95
    assert question.ties.value == pytest.approx(0.1, abs=0.07)
    assert question.circles.value < 0.25
    assert question.circles.n > 3  # in one context each
    same = run(FakeJudge(tie=1.0))
    assert same["fake"]["sensible"].ties.value == 1
    assert same["fake"]["sensible"].agreement.value == 1
    none = run(repeat_share=0)["fake"]["sensible"]
    assert none.agreement.reason == "no rater answered an item twice in the same order"
    assert np.isnan(none["good"].rerun_error)


def test_one_who_always_ties_is_no_instrument():
    found = run(FakeJudge(tie=1.0))
    assert any("no scores of 'sensible'" in warning for warning in found.warnings)
    assert found["fake"]["sensible"].systems == {}
    assert "sensible" in str(found)
    assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_people_beside_the_judge(fair, tmp_path):
    rows = people(fair)
    found = run(people=rows)["fake"]["sensible"].people
    assert found.people == 3
    assert found.items.value > 0.6
    assert found.items.n > 100
    assert 0 < found.beyond_chance.value < 1
    assert found.systems.value == 1
    assert found.discrimination.value == pytest.approx(1.5, abs=0.5)
    assert found.discrimination.interval[0] < 1.5
    path = tmp_path / "people.csv"
    write_judgements(path, rows)
    shown = run(people=path)
    assert shown["fake"]["sensible"].people.source == str(path)
    assert shown["fake"]["sensible"].people.items == found.items
    assert "Beside 3 people" in str(shown)
    coin = run(FakeJudge(sharpness=0.05), people=rows)["fake"]["sensible"].people
    assert coin.discrimination.interval[1] < 0.7
    assert coin.items.value < found.items.value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: [], "people: holds no"),
        (lambda rows: [replace(row, rater_kind="model") for row in rows], "found 3 rows of models"),
        (lambda rows: [replace(row, answers={"other": 1}) for row in rows], "found other"),
        (
            lambda rows: [Rating("i", "good", {"coherence": 1}, "p", "person")],
            "people must have answered the task pairs; found judgements of another task",
        ),
    ],
)
def test_people_who_answered_something_else(fair, change, words):
    model = FakeJudge()
    with pytest.raises(InputError) as caught:
        run(model, people=change(people(fair)[:3]))
    assert words in str(caught.value)
    assert model.asked == []


def test_people_who_judged_other_items_and_answers_that_are_flagged(fair):
    rows = [replace(row, item=f"other {row.item}") for row in people(fair)]
    found = run(people=[replace(rows[0], flags=("too_fast",)), *rows[1:]])
    assert found.warnings[0].startswith("people: people judged none of the 120 items of this run")
    assert f"people: 1 of {len(rows)} answers are flagged (too_fast) and count" in found.notes[0]
    beside = found["fake"]["sensible"].people
    assert beside.items.reason == "no item has answers of both"
    assert beside.systems.value == 1


@pytest.mark.parametrize("task", ["pairs", "quality", "diversity"])
def test_people_and_judges_meet_on_the_same_items(tmp_path, task):
    shared = {"task": task, "per_pair": 12, "n": 20, "opponents": 2, "max_words": 5, "seed": 3}
    judged = judge(sets(), model=FakeJudge(), repeat_share=0, **shared)
    with annotate(tmp_path / "s.sqlite", generated=sets(), checks=0, **shared) as study:
        assert {item.id for item in study.items()} == {row.item for row in judged.judgements}


def test_of_several_files_the_first_is_judged():
    several = {name: [samples, samples] for name, samples in sets().items()}
    found = judge(several, model=FakeJudge(), per_pair=3, repeat_share=0)
    assert "good: only the first of its 2 files is judged" in found.notes


def test_systems_called_as_the_columns_are():
    named = dict(zip(("human", "a", "b"), sets().values(), strict=True))
    judged = judge(named, model=FakeJudge(), per_pair=40, repeat_share=0, seed=0)
    scores = {
        row["system"]: row["score"] for row in judged._rows() if row["question"] == "interesting"
    }
    assert scores["human"] > scores["a"] > scores["b"]


def test_several_judges_stand_beside_each_other():
    found = run([FakeJudge(name="one"), FakeJudge(name="two", first=2.0)])
    assert [each.name for each in found] == ["one", "two"]
    first = found.between[0]
    assert (first.judges, first.question) == (("one", "two"), "interesting")
    assert first.systems.value == 1
    assert 0.5 < first.items.value < 1
    assert len(found.warnings) == 1
    text = str(found)
    assert "Agreement of the judges" in text
    assert "by two" in text
    frame = [row for row in found._rows() if row["judge"] == "two"]
    assert len(frame) == 9
    again = run([FakeJudge(name="x"), FakeJudge(name="x")])
    assert [each.name for each in again] == ["x (1)", "x (2)"]


def test_the_simulated_judge_of_the_documentation_is_exposed():
    need("httpx")
    path = Path(__file__).parents[3] / "examples" / "judgements" / "simulated_server.py"
    spec = importlib.util.spec_from_file_location("simulated_judge", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with running(ThreadingHTTPServer(("127.0.0.1", 0), module.Handler)) as server:
        name = f"http://127.0.0.1:{server.server_port}/v1#simulated"
        found = run(name, per_pair=20, repeat_share=0)
        rated = run(name, task="quality", n=5)
    assert found["simulated"]["sensible"].first.interval[0] > 0.5
    assert "cannot be trusted without both orders" in found.warnings[-1]
    assert "<details open><summary>1 warning</summary>" in found._repr_html_()
    assert rated["simulated"].counts["answered"] > 0


# ---------------------------------------------------------------- quality and diversity


def test_quality_has_means_with_intervals():
    found = run(task="quality", n=50, reference=SampleSet.from_texts(
        [f"{number} good words" for number in range(50)], name="human"
    ))  # fmt: skip
    assert found.systems == ("human", "good", "fair", "poor")
    assert found.reference == "human"
    assert found.items == 200
    question = found["fake"]["coherence"]
    for name, value in TRUTH.items():
        assert question[name].score == pytest.approx(3 + value, abs=0.45)
        low, high = question[name].interval
        assert low < question[name].score < high
    assert question.agreement.value < 0.8
    assert question.flips.reason == "asked of pairs alone"
    assert 0 < question["fair"].rerun_error < 0.5
    assert "human (reference)" in str(found)
    assert isinstance(found.judgements[0], Rating)


def test_ratings_of_people_are_correlated():
    found = run(task="quality", n=40)
    rows = [
        Rating(row.item, row.system, {"coherence": row.answers["coherence"]}, f"p{k}", "person")
        for row in found.judgements
        if row.repeat == 0
        for k in range(2)
    ]
    beside = run(task="quality", n=40, people=rows)["fake"]
    assert beside["coherence"].people.items.value == pytest.approx(1)
    assert beside["coherence"].people.among_people.value == pytest.approx(1)
    assert beside["coherence"].people.systems.value == pytest.approx(1)
    assert beside["likelihood"].people is None


def test_batches_are_diverse_or_not():
    found = run(task="diversity", n=60)
    assert found.items == 18
    question = found["fake"]["diverse"]
    assert question["good"].score > question["poor"].score
    assert 0 <= question["good"].interval[0] < question["good"].interval[1] <= 1
    assert "18 batches of 3 systems" in str(found)


def test_one_who_gives_all_the_same_is_told():
    model = FakeJudge(act=lambda request, rng, count: (
        json.dumps(dict.fromkeys(request.schema["properties"], 4)), "stop", {}
    ))  # fmt: skip
    found = run(model, task="quality", n=20)
    assert found["fake"]["coherence"]["good"].interval is None
    assert "fake gives the same answer to 'coherence' throughout" in found.warnings[0]


def test_a_rubric_of_a_person_s_own(tmp_path):
    path = tmp_path / "funny.toml"
    path.write_text(
        "task = 'quality'\ninstructions = 'Rate it.'\n[[questions]]\nname = 'funny'\n"
        "text = 'How funny?'\nleast = 1\nmost = 5\n"
    )
    found = run(rubric=path, n=20)
    assert found.task == "quality"
    assert list(found["fake"].questions) == ["funny"]
    assert found.settings["rubric"]["name"] == "funny"


# ---------------------------------------------------------------- answers that are none


def talks(request, rng, count):
    """One answer in five is prose, half of which are mended when asked for again."""
    again = len(request.messages) > 2
    return ("I would say A." if rng.random() < (0.5 if again else 0.2) else None), "stop", {}


def test_what_cannot_be_read_is_asked_for_once_more_and_counted():
    model = FakeJudge(act=talks)
    found = run(model)
    counts = found["fake"].counts
    assert 20 < counts["asked_again"] < 100
    assert 0 < counts["malformed"] < counts["asked_again"]
    assert counts["answered"] + counts["malformed"] == counts["asked"]
    assert len(model.asked) == counts["asked"] + counts["asked_again"] == counts["new"]
    assert counts["tokens"] == 20 * len(model.asked)
    assert len(found.judgements) == counts["answered"]
    (warning,) = found.warnings
    assert "answers cannot be read, even after asking again (it is not a JSON object" in warning
    assert f"{counts['malformed']} could not be read" in " ".join(str(found).split())


def test_refusals_are_counted_and_not_asked_again():
    def act(request, rng, count):
        if rng.random() < 0.1:
            return "", "stop", {"refusal": "I cannot judge this"}
        return (None, "stop", {}) if rng.random() < 0.9 else ("", "content_filter", {})

    model = FakeJudge(act=act)
    found = run(model)
    counts = found["fake"].counts
    assert counts["refused"] > 10
    assert counts["malformed"] == counts["asked_again"] == 0
    assert f"fake refused {counts['refused']} of {counts['asked']} answers" in found.warnings[0]


def test_a_judge_that_never_answers_still_gets_a_report():
    for task in ("pairs", "quality", "diversity"):
        found = run(FakeJudge(act=lambda *_: ("no", "length", {})), task=task, n=20, per_pair=3)
        assert found["fake"].counts["answered"] == 0
        assert found.judgements == ()
        assert "no scores of" in " ".join(found.warnings)
        assert str(found)
        assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()


# ---------------------------------------------------------------- answers on disk


def test_what_was_answered_is_not_asked_again(tmp_path):
    output = tmp_path / "out.csv"
    first = FakeJudge(act=talks)
    found = run(first, output=output, per_pair=10)
    before = output.read_bytes()
    second = FakeJudge(act=talks)
    again = run(second, output=output, per_pair=10)
    assert second.asked == []
    assert output.read_bytes() == before
    assert again.judgements == found.judgements
    assert again["fake"].counts == {**found["fake"].counts, "new": 0}
    # A larger run, another format and another judge pay for what is new
    more = FakeJudge(act=talks)
    larger = run([more, FakeJudge(name="other")], output=tmp_path / "out.jsonl", per_pair=20)
    known = {request.id for request in first.asked}
    assert not known & {request.id for request in more.asked}
    assert len(larger.judgements) > 2 * len(found.judgements)
    assert all(row in larger.judgements for row in found.judgements)
    assert read_judgements(tmp_path / "out.jsonl") == larger.judgements
    assert "text_a" in (tmp_path / "out.jsonl").read_text()
    assert sorted(path.name for path in (tmp_path / "out.answers").iterdir()) == [
        "fake.jsonl", "fake.jsonl.manifest.json", "other.jsonl", "other.jsonl.manifest.json",
    ]  # fmt: skip


class StoppedError(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_from_its_journal(tmp_path):
    output, asked = tmp_path / "out.jsonl", []
    for stop in (7, 30, 3, None):

        def act(request, rng, count, stop=stop):
            if count == stop:
                raise StoppedError
            return talks(request, rng, count)

        model = FakeJudge(act=act)
        if stop is None:
            found = run(model, output=output, per_pair=10)
            asked += [request.id for request in model.asked]
        else:
            with pytest.raises(StoppedError):
                run(model, output=output, per_pair=10)
            asked += [request.id for request in model.asked[:-1]]
            assert not output.exists()
    assert len(asked) == len(set(asked))
    whole = run(FakeJudge(act=talks), per_pair=10)
    untimed = [replace(row, time="") for row in found.judgements]
    assert untimed == [replace(row, time="") for row in whole.judgements]


def test_another_configuration_is_refused_with_the_difference(tmp_path):
    output = tmp_path / "out.csv"
    run(output=output, per_pair=4)
    before = output.read_bytes()
    model = FakeJudge()
    for options, words in (
        ({"seed": 1}, "answers of another configuration: seed is 0 there and 1 here; choose"),
        ({"decoding": "temperature=1"}, "decoding is "),
        ({"task": "quality"}, "task is "),
        ({"max_tokens": 9}, "max_tokens is 256 there and 9 here"),
    ):
        with pytest.raises(InputError) as caught:
            run(model, output=output, **{"per_pair": 4} | options)
        assert words in str(caught.value)
    assert model.asked == []
    assert output.read_bytes() == before
    run(model, output=output, per_pair=4, seed=1, overwrite=True)
    assert output.read_bytes() != before


@pytest.mark.parametrize(
    ("field", "value"), [("prompt_tokens", "x"), ("tokens", 10**400), ("time", 3), ("text", None)]
)
def test_damaged_answers_are_refused_before_anything_is_asked(tmp_path, field, value):
    output = tmp_path / "out.csv"
    run(output=output, per_pair=4)
    kept = next(tmp_path.rglob("*.jsonl"))
    first, *others = kept.read_text().splitlines()
    damaged = [json.dumps({**json.loads(first), field: value}), *others[: len(others) // 2]]
    kept.write_text("".join(f"{line}\n" for line in damaged))
    before, model = kept.read_bytes(), FakeJudge()
    with pytest.raises(InputError, match=rf"\.jsonl: line 1 .*: {field} "):
        run(model, output=output, per_pair=4, price="1,2")
    assert (model.asked, kept.read_bytes()) == ([], before)


def test_a_file_of_another_origin_is_kept(tmp_path):
    output = tmp_path / "out.csv"
    output.write_text("mine")
    model = FakeJudge()
    with pytest.raises(InputError, match="was not written by calipers judge"):
        run(model, output=output, per_pair=4)
    assert (output.read_text(), model.asked) == ("mine", [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv"]
    with pytest.raises(InputError, match=r"file ending in \.csv or"):
        run(model, output=tmp_path / "out.txt")
    with pytest.raises(InputError, match="answers: No such file"):
        run(model, output=tmp_path / "none" / "out.csv")


# ---------------------------------------------------------------- beforehand


def test_a_plan_asks_nothing_and_counts_what_is_left(tmp_path):
    output = tmp_path / "out.csv"
    options = {"per_pair": 10, "repeat_share": 0.3, "price": "1,10", "output": output}
    names = ["https://host/v1#big", "./folder"]
    plan = judging_plan(sets(), model=names, **options)
    assert [each.name for each in plan.judges] == ["big", "./folder"]
    assert not (tmp_path / "out.answers").exists()
    model = FakeJudge()
    fake = judging_plan(sets(), model=model, **options).judges[0]
    assert model.asked == []
    found = judge(sets(), model=model, **options)
    assert fake.asked == found["fake"].counts["asked"] == plan.judges[0].asked
    assert fake.cost == pytest.approx((fake.prompt_tokens + 10 * fake.tokens) / 1e6)
    assert found["fake"].counts["cost"] == pytest.approx((100 + 10 * 20) * fake.asked / 1e6)
    larger = judging_plan(sets(), model=FakeJudge(), **options | {"per_pair": 20})
    assert larger.judges[0].known == fake.asked
    said = str(larger)
    assert "60 pairs of texts of 3 systems would be judged." in said
    assert f"({fake.asked} of {larger.judges[0].asked} are answered already)" in said
    assert "one for 4 bytes of UTF-8" in said
    assert json.loads(json.dumps(larger.to_dict()))["judges"][0]["known"] == fake.asked


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "ngram"}, "model must be one that follows instructions; found 'ngram'"),
        ({"model": []}, "model must name language models; found []"),
        ({"model": 3}, "model must name language models; found 3"),
        ({"model": ["./x", "./x"]}, "model names './x' twice; name each judge once"),
        ({"task": "poem"}, "task must be pairs or quality or diversity; found 'poem'"),
        ({"repeat_share": 2}, "repeat_share must be a number from 0 to 1; found 2"),
        ({"per_pair": 0}, "per_pair must be a whole number of at least 1"),
        ({"opponents": 5}, "opponents must be at most 2"),
        ({"decoding": "beam=0"}, "beam"),
        ({"price": "1"}, "price must be two numbers such as 0.15,0.60; found '1'"),
        ({"level": 2}, "level must lie between 0 and 1"),
        ({"min_words": 99}, "words"),
        ({"rubric": "none.toml"}, "none.toml: there is no such file"),
        ({"people": "none.csv"}, "none.csv: there is no such file"),
    ],
)
def test_bad_options_are_one_sentence_and_nothing_is_asked(options, words):
    model = FakeJudge()
    with pytest.raises(InputError) as caught:
        run(**{"model": model} | options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert model.asked == []


def test_one_system_has_nobody_to_meet():
    with pytest.raises(InputError, match=r"two systems.* one"):
        judge(["a text", "another"], model=FakeJudge())


def test_a_model_without_chat_continues_a_text():
    class Plain(FakeJudge):
        chats = False

        def answer(self, request, rng):
            raise AssertionError

    def act(request, rng, count):
        assert request.messages is None
        assert request.schema is None
        names = ("interesting", "sensible", "human_like")
        return json.dumps(dict.fromkeys(names, rng.choice(SIDES))) + "\n\nNext", "length", {}

    found = run(Plain(act=act), per_pair=10)
    assert found["fake"].counts["malformed"] == 0
    assert "fake has no chat template" in found.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["pairs", "quality"])
def test_the_errors_of_another_run_and_of_all_are_those_of_simulated_runs(task):
    """All texts of a system are alike here, so that another run is all that moves a score."""
    question = "sensible" if task == "pairs" else "coherence"
    scores, errors, reruns = [], [], []
    for seed in range(40):
        found = run(FakeJudge(tie=0.0), task=task, seed=seed, n=40, repeat_share=0.5)
        systems = found["fake"][question].systems.values()
        scores.append([system.score for system in systems])
        errors.append([system.standard_error for system in systems])
        reruns.append([system.rerun_error for system in systems])
    spread = np.std(scores, axis=0, ddof=1).mean()
    assert np.mean(errors) == pytest.approx(spread, rel=0.2)
    assert np.mean(reruns) == pytest.approx(spread, rel=0.2)
