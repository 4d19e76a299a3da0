"""An annotator's turns: nothing twice, everything rated, nothing lost, whatever happens when."""

import sqlite3
from collections import Counter
from types import SimpleNamespace

import pytest
from annotation_helpers import Clock, answers, make_items, make_long_checks
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.annotation.store import Store, is_full
from calipers.annotation.study import AnnotationStudy
from calipers.annotation.turns import LEASE
from calipers.errors import InputError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.rubric import PAIRS, QUALITY


def answer_all(made, clock=None, seconds=30.0):
    """Let the annotators answer in turn until nothing is left; give who answered what."""
    seen = []
    people = list(made.annotators)
    while people:
        for each in list(people):
            place = made.turns.next(each)
            if place is None:
                people.remove(each)
                continue
            turn = made.turns.turn(each, place)
            if clock is not None:
                clock.now += seconds
            assert made.turns.answer(each, place, answers(2))
            seen.append((each.name, turn.item.id))
    return seen


def rated(made):
    """Count the ratings of each item."""
    return Counter(each.item for each in made.judgements())


@pytest.mark.parametrize(("annotators", "ratings"), [(1, 1), (2, 1), (3, 3), (5, 2), (7, 3)])
def test_every_item_gets_its_ratings_and_nobody_sees_one_twice(study, annotators, ratings):
    made = study(18, annotators=annotators, ratings_per_item=ratings)
    seen = answer_all(made)
    assert len(seen) == len(set(seen)) == 18 * ratings
    assert set(rated(made).values()) == {ratings}
    assert len(rated(made)) == 18


def test_each_annotator_meets_the_pairs_equally_often(study):
    made = study(36, annotators=4)
    answer_all(made)
    for name in ("annotator-01", "annotator-04"):
        own = Counter((e.a, e.b) for e in made.judgements() if e.rater == name)
        assert sum(own.values()) == 9
        assert max(own.values()) - min(own.values()) <= 1


def test_sides_of_an_item_alternate_between_annotators(study):
    made = study(30, annotators=2, ratings_per_item=2)
    answer_all(made)
    firsts = {}
    for each in made.judgements():
        firsts.setdefault(each.item, []).append(each.first)
    assert all(sorted(each) == ["a", "b"] for each in firsts.values())


def test_an_open_item_is_shown_again_after_a_reload_and_a_restart(study, clock):
    made = study()
    ada = made.annotators[0]
    place = made.turns.next(ada)
    shown = made.turns.turn(ada, place)
    assert made.turns.next(ada) == place
    with AnnotationStudy.open(made.path, clock=clock) as again:
        assert again.turns.next(ada) == place
        assert again.turns.turn(ada, place) == shown


def test_answers_are_of_the_systems_and_not_of_the_sides(study):
    made = study(12)
    ada = made.annotators[0]
    for _ in range(12):
        place = made.turns.next(ada)
        turn = made.turns.turn(ada, place)
        first = turn.item.text_a if turn.first == "a" else turn.item.text_b
        made.turns.answer(ada, place, answers(1 if "human" in first else 5))
        assert made.turns.turn(ada, place).answers == answers(1 if "human" in first else 5)
    rows = [each for each in made.judgements() if each.b == "human"]
    assert {each.first for each in rows} == {"a", "b"}
    assert {each.answers["sensible"] for each in rows} == {5}


def test_the_same_answer_twice_is_one_and_another_is_a_revision(study, clock):
    made = study()
    ada = made.annotators[0]
    place = made.turns.next(ada)
    made.turns.turn(ada, place)
    clock.now += 40
    for _ in range(2):
        assert made.turns.answer(ada, place, answers(1))
    assert revisions(made) == [(0, 40.0)]
    made.turns.turn(ada, place)
    clock.now += 5
    assert made.turns.answer(ada, place, answers(4))
    assert revisions(made) == [(0, 40.0), (1, 45.0)]
    (row,) = made.judgements()
    assert row.seconds == 45.0
    assert row.answers["sensible"] == (4 if row.first == "a" else 2)


def revisions(made):
    with made.writing() as db:
        rows = db.execute("SELECT revision, seconds FROM answers ORDER BY shown, revision")
        return [tuple(row) for row in rows]


def test_back_leads_to_the_answers_before(study):
    made = study()
    ada = made.annotators[0]
    for _ in range(3):
        made.turns.answer(ada, made.turns.next(ada), answers())
    place = made.turns.next(ada)
    back = []
    while place:
        place = made.turns.turn(ada, place).previous
        back.append(place)
    assert back == [3, 2, 1, None]
    assert made.turns.progress(ada).last == 3


def test_the_clock_of_an_item_goes_on_over_reloads_and_starts_anew_after_a_pause(study, clock):
    made = study(least_seconds=25)
    ada = made.annotators[0]
    place = made.turns.next(ada)
    made.turns.turn(ada, place)
    for _ in range(3):
        clock.now += 10
        made.turns.turn(ada, place)
    made.turns.answer(ada, place, answers())
    assert made.judgements()[0].seconds == 30.0
    place = made.turns.next(ada)
    made.turns.turn(ada, place)
    clock.now += 3 * 86_400
    assert made.turns.next(ada) == place
    made.turns.turn(ada, place)
    clock.now += 12
    made.turns.answer(ada, place, answers())
    assert made.judgements()[1].seconds == 12.0
    assert made.judgements()[1].flags == ("too_fast",)


def test_a_clock_that_is_put_back_gives_no_time_below_nothing(study, clock):
    made = study()
    ada = made.annotators[0]
    place = made.turns.next(ada)
    made.turns.turn(ada, place)
    clock.now -= 3_600
    made.turns.answer(ada, place, answers())
    assert made.judgements()[0].seconds == 0.0


def test_what_was_shown_and_never_answered_goes_to_others(study, clock):
    made = study(2, items=make_items(2))
    ada, grace = made.annotators
    left = made.turns.turn(ada, made.turns.next(ada)).item.id
    assert made.turns.turn(grace, made.turns.next(grace)).item.id != left
    made.turns.answer(grace, 1, answers())
    assert made.turns.next(grace) is None
    assert made.turns.pending(grace) == 1
    clock.now += LEASE + 1
    assert made.turns.turn(grace, made.turns.next(grace)).item.id == left


def test_who_comes_back_late_gets_the_item_only_while_it_lacks_ratings(study, clock):
    made = study(items=make_items(1))
    ada, grace = made.annotators
    made.turns.turn(ada, made.turns.next(ada))
    clock.now += LEASE + 1
    assert made.turns.next(ada) == 1, "nobody else has taken it"
    made.turns.turn(ada, 1)
    clock.now += LEASE + 1
    made.turns.answer(grace, made.turns.next(grace), answers())
    assert made.turns.next(ada) is None
    assert made.turns.pending(ada) == 0


def test_a_late_answer_is_kept_all_the_same(study, clock):
    made = study(items=make_items(1))
    ada, grace = made.annotators
    made.turns.turn(ada, made.turns.next(ada))
    clock.now += LEASE + 1
    made.turns.answer(grace, made.turns.next(grace), answers())
    made.turns.next(ada)
    assert made.turns.answer(ada, 1, answers())
    assert sorted(rated(made).values()) == [2]
    status = made.status()
    assert (status.given, status.wanted, status.more) == (1, 1, 1)


def test_two_who_ask_for_the_last_item_at_once_do_not_both_get_it(study):
    made = study(items=make_items(1))
    ada, grace = made.annotators
    assert made.turns.next(ada) == 1
    assert made.turns.next(grace) is None


def test_no_more_than_the_most_items_of_an_annotator(study):
    made = study(20, annotators=2, per_annotator=4, checks=2)
    seen = Counter(name for name, _ in answer_all(made))
    assert seen == {"annotator-01": 6, "annotator-02": 6}
    assert len(made.judgements()) == 8
    assert made.turns.progress(made.annotators[0]).goal == 6
    assert made.turns.pending(made.annotators[0]) == 0


@pytest.mark.parametrize("number", [1, 3, 5])
def test_each_annotator_gets_the_checks_spread_over_the_work(study, number):
    made = study(30, annotators=3, checks=number)
    order = {}
    for name, id in answer_all(made):
        order.setdefault(name, []).append(id)
    checks = {each.id for each in made.items(checks=True) if each.check}
    assert len(checks) == number
    for ids in order.values():
        places = [place for place, id in enumerate(ids) if id in checks]
        assert len(places) == number
        assert places[0] > 0
        assert len(ids) == 10 + number
    assert (
        len({tuple(place for place, id in enumerate(i) if id in checks) for i in order.values()})
        > 1
    )
    assert not checks & set(rated(made))


def test_the_goal_is_an_even_share(study):
    made = study(10, annotators=4, ratings_per_item=3, checks=2)
    assert made.turns.progress(made.annotators[0]).goal == 8 + 2


def test_answers_of_nobodys_place_are_not_kept(study):
    made = study()
    ada, grace = made.annotators
    made.turns.next(ada)
    assert not made.turns.answer(grace, 1, answers())
    assert not made.turns.answer(ada, 2, answers())
    assert made.turns.turn(ada, 2) is None
    assert made.judgements() == []


def test_two_servers_on_one_study_do_no_harm(study, clock):
    made = study(30, annotators=6, ratings_per_item=2)
    with AnnotationStudy.open(made.path, clock=clock) as other:
        people = [(each, (made, other)[n % 2]) for n, each in enumerate(made.annotators)]
        busy = True
        while busy:
            busy = False
            for each, server in people:
                place = server.turns.next(each)
                if place is not None:
                    busy = True
                    server.turns.answer(each, place, answers())
    assert set(rated(made).values()) == {2}


@settings(max_examples=20)
@given(st.data())
def test_whatever_happens_in_whatever_order(tmp_path_factory, data):
    people, ratings = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    ratings = min(ratings, people)
    clock = Clock()
    path = tmp_path_factory.mktemp("study") / "study.sqlite"
    made = AnnotationStudy.make(
        path,
        make_items(data.draw(st.integers(1, 5))),
        rubric=PAIRS,
        annotators=people,
        checks=make_long_checks(data.draw(st.integers(0, 2))),
        ratings_per_item=ratings,
        seed=data.draw(st.integers(0, 99)),
        clock=clock,
    )
    with made:
        steps = st.tuples(
            st.sampled_from(made.annotators),
            st.sampled_from(["next", "look", "answer", "again", "wait"]),
            st.integers(1, 6),
        )
        known = {}
        for who, what, number in data.draw(st.lists(steps, max_size=40)):
            if what == "next":
                made.turns.next(who)
            elif what == "look":
                made.turns.turn(who, number)
            elif what == "wait":
                clock.now += number * LEASE / 3
            elif made.turns.answer(who, number, answers(1 + number % 5)):
                known[who.name, number] = 1 + number % 5
                clock.now += 1
        kept = {each.annotator: 0 for each in made.answered()}
        assert len(made.answered()) == len(known)
        assert set(kept) == {name for name, _ in known}
        clock.now += LEASE + 1
        seen = [(each.annotator, each.item_id) for each in made.answered()] + answer_all(made)
        assert len(seen) == len(set(seen))
        counts = Counter(each.item for each in made.judgements())
        assert set(counts) == {each.id for each in made.items()}
        assert min(counts.values()) >= ratings
        # More only where an answer came after its item had gone to somebody else
        assert max(counts.values()) <= people


def test_ratings_of_single_texts_are_not_turned(study):
    items = [RatedTexts("alpha", (f"text {n}",)) for n in range(8)]
    made = study(items=items, rubric=QUALITY, annotators=["ada"])
    (ada,) = made.annotators
    told = {"coherence": 1, "insightfulness": 2, "likelihood": 5}
    for _ in items:
        made.turns.answer(ada, made.turns.next(ada), told)
    assert {tuple(each.answers.values()) for each in made.judgements()} == {(1, 2, 5)}


def test_a_large_study_gives_each_item_once(study, clock):
    pairs = [Item(f"s{n % 9}", "x", f"{n}", f"{n}!") for n in range(3_240)]
    made = study(items=pairs, annotators=30)
    ada = made.annotators[0]
    turns = []
    for _ in range(5):
        turns.append(made.turns.next(ada))
        made.turns.answer(ada, turns[-1], answers())
    assert len({made.turns.turn(ada, number).item.id for number in turns}) == 5


def test_a_store_that_cannot_be_written_says_so(study):
    made = study()
    made.close()
    with pytest.raises(InputError, match=r"study\.sqlite: .*read or written"):
        made.turns.next(made_annotator())
    assert Store.open(made.path)


def test_a_full_disk_is_said_and_loses_nothing(study):
    made = study(number=200, annotators=["ada"])
    ada, taken = made.annotators[0], 0
    with made._store.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    told = ""
    while not told:
        try:
            made.turns.answer(ada, made.turns.next(ada), answers())
            taken += 1
        except InputError as error:
            told = str(error)
    assert "study.sqlite: no space is left on the disk that holds it. What was being" in told
    assert taken > 0
    assert len(made.judgements()) == taken


@pytest.mark.parametrize(
    ("code", "free", "full"),
    [(13, 10**9, True), (10, 0, True), (778, 100, True), (10, 10**9, False), (5, 0, False)],
)
def test_errors_that_mean_a_full_disk(monkeypatch, tmp_path, code, free, full):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    usage = SimpleNamespace(free=free)
    monkeypatch.setattr("calipers.annotation.store.shutil.disk_usage", lambda path: usage)
    assert is_full(error, tmp_path / "study.sqlite") is full


def made_annotator():
    from calipers.annotation.turns import Annotator

    return Annotator(1, "ada", "x")
