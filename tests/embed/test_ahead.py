import threading

import pytest

from calipers.embed.pipeline import ahead


def test_everything_comes_in_order():
    assert list(ahead(range(5), lambda number: number**2)) == [(i, i**2) for i in range(5)]
    assert list(ahead([], str)) == []


def test_the_next_item_is_made_while_the_present_one_is_used():
    begun = {1: threading.Event(), 2: threading.Event()}

    def make(number):
        begun[number].set()
        return number

    items = ahead([1, 2], make)
    next(items)
    assert begun[2].wait(10)


def test_no_more_than_one_item_is_made_in_advance():
    made = []
    items = ahead(range(10), made.append)
    next(items)
    assert len(made) <= 2


def test_an_error_comes_when_its_turn_comes():
    def make(number):
        if number == 2:
            raise ValueError("two")
        return number

    items = ahead(range(5), make)
    assert [next(items), next(items)] == [(0, 0), (1, 1)]
    with pytest.raises(ValueError, match="two"):
        next(items)
