import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calipers.embed.states.batches import plan_batches

lengths = st.lists(st.integers(1, 60), max_size=80)


@given(lengths=lengths, max_tokens=st.integers(1, 300), max_texts=st.none() | st.integers(1, 9))
def test_each_text_is_in_one_batch_and_the_bounds_hold(lengths, max_tokens, max_texts):
    lengths = np.array(lengths, dtype=np.intp)
    batches = list(plan_batches(lengths, max_tokens=max_tokens, max_texts=max_texts))
    rows = [row for batch in batches for row in batch.rows]
    assert sorted(rows) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch.rows) <= (max_texts or len(lengths))
        assert len(batch.rows) == 1 or lengths[batch.rows].sum() <= max_tokens


@given(lengths=lengths, max_tokens=st.integers(1, 300))
def test_runs_tile_the_tokens_with_texts_of_their_length(lengths, max_tokens):
    lengths = np.array(lengths, dtype=np.intp)
    for batch in plan_batches(lengths, max_tokens=max_tokens):
        told = [run.length for run in batch.runs for _ in range(run.texts)]
        assert told == lengths[batch.rows].tolist()
        edges = [run.tokens.start for run in batch.runs] + [batch.runs[-1].tokens.stop]
        assert [run.tokens.stop for run in batch.runs] == edges[1:]
        assert (edges[0], edges[-1]) == (0, sum(told))
        assert len({run.length for run in batch.runs}) == len(batch.runs)


def test_batches_are_filled_before_another_is_opened():
    batches = list(plan_batches(np.array([4, 2, 4, 2, 1]), max_tokens=8))
    assert [batch.rows.tolist() for batch in batches] == [[0, 2], [1, 3, 4]]
    assert [tuple(run) for run in batches[1].runs] == [(0, 2, 2), (4, 1, 1)]
