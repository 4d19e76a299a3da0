"""Things that are made once and kept: by their keys, as many as there is room for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calipers.numeric.kept import Kept, chosen_store, content, keeping, kept


def test_a_thing_is_made_once_within_a_store():
    made = []

    def ask(key):
        return kept(lambda: key, lambda: made.append(key) or len(made))

    assert [ask("a"), ask("a")] == [1, 2]
    store = Kept()
    with keeping(store):
        assert [ask("a"), ask("b"), ask("a")] == [3, 4, 3]
        with keeping(None):
            assert ask("a") == 5
        assert chosen_store() is store
    with keeping(store):
        assert ask("b") == 4
    assert chosen_store() is None
    assert made == ["a", "a", "a", "b", "a"]


def test_what_was_used_longest_ago_gives_way():
    store = Kept(most=2)
    store.keep("a", 1)
    store.keep("b", 2)
    assert store.known("a") == 1
    store.keep("c", 3)
    assert [store.known(key) for key in "abc"] == [1, None, 3]
    assert len(store) == 2


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_content_is_that_of_the_numbers_their_type_and_shape(values):
    rows = np.array(values)
    assert content(rows) == content(np.repeat(rows, 2)[::2])
    changed = rows.copy()
    changed[-1] += 1
    different = {content(rows), content(changed), content(rows[:, None]), content(rows[None])}
    assert len(different) == 4
    assert content(np.zeros(2, np.float32)) != content(np.zeros(1, np.float64))
