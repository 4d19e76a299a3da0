"""Windows over long texts: every token once, with the context that the stride leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.language_model.windows import check_stride, plan_windows


@given(st.lists(st.integers(0, 60), max_size=5), st.integers(2, 12), st.integers(1, 11), st.data())
def test_every_token_is_scored_once_in_the_first_window_with_enough_before_it(
    lengths, context, stride, data
):
    stride = min(stride, context - 1)
    firsts = [data.draw(st.integers(1, context - 1)) for _ in lengths]
    windows = plan_windows(lengths, firsts, context=context, stride=stride)
    for row, (length, first) in enumerate(zip(lengths, firsts, strict=True)):
        own = [window for window in windows if window.row == row]
        scored = [token for window in own for token in range(window.first, window.stop)]
        assert scored == list(range(first, length))
        for window in own:
            assert 0 < window.stop - window.start <= context
            assert window.start < window.first < window.stop
            assert window.start % stride == 0
            for token in range(window.first, window.stop):
                start = next(
                    start
                    for start in range(0, length, stride)
                    if start <= token < start + context
                    and (start == 0 or token - start >= context - stride)
                )
                assert window.start == start


def test_without_a_limit_a_text_is_one_window():
    assert plan_windows([900], [3], context=None, stride=1) == [(0, 0, 900, 3)]


@pytest.mark.parametrize(
    ("stride", "context", "message"),
    [
        (0, 8, "stride .*at least 1 and at most 7, one less .* 0"),
        (8, 8, "found 8"),
        (0, None, "stride .*at least 1.* 0"),
    ],
)
def test_a_stride_that_leaves_a_token_without_context_is_refused(stride, context, message):
    with pytest.raises(InputError, match=message):
        check_stride(stride, context)


def test_a_stride_is_half_of_the_context_unless_given():
    assert [check_stride(None, context) for context in (8, 9, 2, None)] == [4, 4, 1, 1]
    assert check_stride(3, 8) == check_stride(3, None) == 3
