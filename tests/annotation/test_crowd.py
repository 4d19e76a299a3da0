"""A crowd of thirty answers six hundred pairs through a real server that is killed on the way."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections import Counter
from itertools import combinations
from math import exp
from random import Random
from urllib.parse import urlencode

import pytest
from annotation_helpers import Server

import calipers
from calipers.annotation.study import AnnotationStudy
from calipers.judgements.judgement import STEPS
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.preferences import count_preferences

pytestmark = pytest.mark.slow

SCORES = {"human": 140.0, "large": 70.0, "medium": 0.0, "small": -70.0, "tiny": -140.0}
RATERS, PER_PAIR = 30, 60
KILLED_AFTER = 250


class Rater(threading.Thread):
    """Reads a page, prefers the better system as a Bradley–Terry model has it, and goes on."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self.port, self.token = port, token
        self.cookie = ""
        self.acknowledged: dict[str, int] = {}
        self.broken = 0
        self.failure: BaseException | None = None
        self.connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, form: dict[str, str] | None = None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Cookie": self.cookie}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, urlencode(form) if form else None, headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        if cookie := response.getheader("set-cookie"):
            self.cookie = cookie.partition(";")[0]
        return response.status, response.getheader("location"), text

    def run(self) -> None:
        try:
            while self.one():
                pass
        except BaseException as failure:
            self.failure = failure

    def one(self) -> bool:
        """Answer one item; False at the end."""
        try:
            if not self.cookie:
                assert self.ask("GET", f"/a/{self.token}")[0] == 303
            status, place, _ = self.ask("GET", "/next")
            assert status == 303
            if place == "/finished":
                return False
            status, _, page = self.ask("GET", place)
            assert status == 200
            texts = re.findall(r'role="group"[^>]*>([^<]*)<', page)
            left, right = texts[1].split(), texts[2].split()
            answer = self.prefer(left, right)
            form = {"csrf": re.search(r'name="csrf" value="(\w+)"', page)[1]}
            form |= dict.fromkeys(re.findall(r'name="(answer\.\w+)"', page), str(answer))
            status, _, _ = self.ask("POST", place, form)
            assert status == 303
            self.acknowledged[f"{texts[0]}|{texts[1]}|{texts[2]}"] = answer
        except (OSError, http.client.HTTPException):
            self.broken += 1
            assert self.broken < 400
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            time.sleep(0.05)
        return True

    def prefer(self, left: list[str], right: list[str]) -> int:
        if left[0] not in SCORES or right[0] not in SCORES:  # shuffled words: an attention check
            return 1 if left[0] in SCORES else 5
        # By the item alone: whoever is shown it, and on whichever side, the answer is the same
        better, worse = sorted((left, right), key=lambda text: -SCORES[text[0]])
        chance = Random(f"{better} {worse}")
        difference = (SCORES[better[0]] - SCORES[worse[0]]) / 100
        if chance.random() < 0.1:
            return 3
        wins = chance.random() < 1 / (1 + exp(-difference))
        step = chance.choice((1, 2)) if wins else chance.choice((4, 5))
        return step if better == left else 6 - step


def text(system: str, number: int) -> str:
    words = " ".join(f"word{each}x{number}" for each in range(12))
    return f"{system} {words}"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Let the crowd answer, and kill the server once in the middle."""
    path = tmp_path_factory.mktemp("crowd") / "study.sqlite"
    prompts = [f"Beginning number {n}" for n in range(PER_PAIR)]
    systems = {
        name: calipers.SampleSet.from_texts(
            [text(name, n) for n in range(PER_PAIR)], name=name, prompts=prompts
        )
        for name in SCORES
    }
    calipers.annotate(
        path, generated=systems, annotators=RATERS, per_pair=PER_PAIR, checks=2, least_seconds=0
    ).close()
    server = Server(path)
    with AnnotationStudy.open(path) as study:
        tokens = [each.token for each in study.annotators]
    raters = [Rater(server.port, token) for token in tokens]
    for each in raters:
        each.start()
    deadline = time.monotonic() + 120
    while sum(len(each.acknowledged) for each in raters) < KILLED_AFTER:
        assert time.monotonic() < deadline
        assert not any(each.failure for each in raters)
        time.sleep(0.02)
    server.kill()
    at_death = [dict(each.acknowledged) for each in raters]
    with AnnotationStudy.open(path) as study:
        kept_at_death = len(study.answered())
    server.start()
    for each in raters:
        each.join(120)
    code = server.stop()
    with AnnotationStudy.open(path) as study:
        yield raters, study, at_death, kept_at_death, code


def test_no_answer_is_lost(crowd):
    raters, study, at_death, kept_at_death, code = crowd
    assert [each.failure for each in raters] == [None] * RATERS
    assert code == 0
    assert sum(each.broken > 0 for each in raters) > RATERS // 2, "the kill was not felt"
    assert kept_at_death >= sum(map(len, at_death)) >= KILLED_AFTER
    kept = {}
    names = [each.name for each in study.annotators]
    for each in study.answered():
        sides = [each.item.text_a, each.item.text_b]
        left, right = sides if each.first == "a" else sides[::-1]
        shown = study.turns.turned(each.answers, each.first)
        kept[each.annotator, f"{each.item.context}|{left}|{right}"] = set(shown.values())
    for name, rater in zip(names, raters, strict=True):
        for item, answer in rater.acknowledged.items():
            assert kept[name, item] == {answer}


def test_every_pair_has_its_ratings_and_nobody_saw_one_twice(crowd):
    _, study, *_ = crowd
    rows = study.judgements()
    assert len(rows) == 600
    assert set(Counter(each.item for each in rows).values()) == {1}
    assert set(Counter((each.a, each.b) for each in rows).values()) == {PER_PAIR}
    assert len({(each.rater, each.item) for each in rows}) == 600
    assert study.status().complete == 600
    checks = study.status().annotators
    assert all(each.checks_passed == each.checks_shown for each in checks)
    assert sum(each.checks_shown for each in checks) >= RATERS
    firsts = Counter(each.first for each in rows)
    assert 240 < firsts["a"] < 360


def test_the_order_of_the_systems_is_recovered(crowd, tmp_path):
    _, study, *_ = crowd
    path = tmp_path / "judgements.jsonl"
    study.export(path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    answers = [row["sensible"] for row in rows]
    assert set(answers) == set(STEPS)
    fit = fit_bradley_terry(
        count_preferences([row["a"] for row in rows], [row["b"] for row in rows], answers)
    )
    found = dict(zip(fit.names, fit.scores, strict=True))
    assert sorted(found, key=found.get) == sorted(SCORES, key=SCORES.get)
    middle = sum(SCORES.values()) / len(SCORES)
    inside = [
        low <= SCORES[name] - middle <= high
        for name, (low, high) in zip(fit.names, fit.intervals, strict=True)
    ]
    assert sum(inside) >= 4
    assert len(list(combinations(SCORES, 2))) * PER_PAIR == len(rows)
