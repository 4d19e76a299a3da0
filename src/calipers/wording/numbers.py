"""Formatting of numbers: values, intervals, p-values and sizes.

Shares have three decimals, the rest four digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Protocol

from calipers.score import NoiseFloor, Score

MISSING = "–"
PLUS_MINUS = "±"
APPROXIMATE = "~"
ASYMMETRIC = 1.5
"""How much longer the one side of an interval may be than the other and still be shown as ±."""

_SMALLEST_P = 0.001
_MANY = 10_000_000


class SetSize(Protocol):
    """Protocol of summaries with the size of a set."""

    @property
    def n(self) -> int:
        """Number of samples compared."""

    @property
    def n_given(self) -> int:
        """Number of samples given."""

    @property
    def word_unit(self) -> str:
        """Unit of lengths: words, or characters of scripts without spaces."""

    @property
    def words(self) -> Mapping[str, float] | None:
        """Mean and median length of the texts."""


def defined(value: float | None) -> float | None:
    """Return a finite number; None for any other value.

    Examples
    --------
    >>> defined(0.5), defined(None), defined(math.nan), defined(math.inf)
    (0.5, None, None, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def value_of(score: Score | None) -> float | None:
    """Return the value of a score; None without one."""
    return None if score is None else defined(score.value)


def gap_of(score: Score | None) -> float | None:
    """Return the gap of a score to the reference's value; None without one."""
    return None if score is None else defined(score.gap)


def floor_of(score: Score | None) -> NoiseFloor | None:
    """Return the noise floor of a score."""
    return None if score is None else score.floor


def score_text(score: Score | None) -> str:
    """Write the value of a score; a dash without one.

    Examples
    --------
    >>> score_text(Score(0.91234))
    '0.912'
    >>> score_text(Score(12.34567, range=(0.0, math.inf)))
    '12.35'
    """
    value = value_of(score)
    if score is None or value is None:
        return MISSING
    return number(value, unit=is_share(score))


def cell_text(score: Score | None, text: str) -> str:
    """Write what a cell of a table shows: a share, which cannot exceed 1, without its first zero.

    Examples
    --------
    >>> cell_text(Score(0.91234), "0.912"), cell_text(Score(1.0), "1.000")
    ('.912', '1.000')
    >>> cell_text(Score(0.5, range=(0.0, math.inf)), "0.5000")
    '0.5000'
    """
    return text.removeprefix("0") if score and is_share(score) else text


def interval_text(score: Score | None) -> str:
    """Write the interval of a score as ``[low,high]``; empty without one."""
    bounds = bounds_of(score)
    if score is None or bounds is None:
        return ""
    low, high = (number(bound, unit=is_share(score)) for bound in bounds)
    return f"[{low},{high}]"


def number(value: float, *, unit: bool) -> str:
    """Write one number; `unit` states that its range is [0, 1]."""
    if unit:
        return f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return f"{value:#.4g}".rstrip(".")


def percent(level: float) -> str:
    """Write a confidence level as a percentage.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 10):g} %"


def share(value: float | None) -> str:
    """Write a share as a percentage with two digits; a small one never as zero.

    Examples
    --------
    >>> share(0.1234), share(0.0), share(0.0004), share(1.0), share(0.9996)
    ('12 %', '0 %', '0.04 %', '100 %', '99.96 %')
    """
    if value is None:
        return MISSING
    number = 100 * value
    if 0 < number < 0.01:
        return "< 0.01 %"
    if 99.99 < number < 100:
        return "> 99.99 %"
    near_end = 0 < number < 1 or 99 < number < 100
    decimals = 2 if near_end else 1 if number < 10 else 0
    text = f"{number:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def size_text(samples: SetSize) -> str:
    """Write how many samples were used, and of how many if the set was cut."""
    cut = samples.n_given != samples.n
    return f"{samples.n}/{samples.n_given}" if cut else str(samples.n)


def words_text(samples: SetSize) -> str:
    """Write the median length in words; a dash for sets without texts."""
    median = median_of(samples)
    if median is None:
        return MISSING
    return f"{median:.0f}" if median >= 10 else f"{median:.1f}"


def length_head(sets: Iterable[SetSize]) -> str:
    """Write the head of a column of median lengths: words, characters, or both.

    A set of scripts without spaces is counted in characters.
    """
    units = {samples.word_unit for samples in sets if samples.words}
    return units.pop() if len(units) == 1 and not any(" " in unit for unit in units) else "length"


def length_meaning(head: str) -> str:
    """Describe such a column."""
    if head == "length":
        return "median length of a sample in words; in characters for scripts without spaces"
    return "median length of a sample"


def median_of(samples: SetSize) -> float | None:
    """Return the median length in words; None for sets without texts."""
    return defined((samples.words or {}).get("median"))


def value_text(score: Score | None, *, whole: bool = True) -> str:
    """Write a value: three decimals for shares, four digits for the rest, counts in full.

    Parameters
    ----------
    score
        The score; None where there is none.
    whole
        Whether a whole number may go without decimals, as where its neighbours are whole too.

    Examples
    --------
    >>> value_text(Score(0.91234))
    '0.912'
    >>> value_text(Score(12345.0, range=(0.0, math.inf)))
    '12,345'
    """
    value = value_of(score)
    if score is None or value is None:
        return MISSING
    return _number(value, score, whole)


def gap_text(score: Score | None, *, whole: bool = True) -> str:
    """Write a gap with the decimals of its value, at most four digits; empty without one.

    Examples
    --------
    >>> gap_text(Score(0.0123456, reference=12.3456, range=(0.0, math.inf)))
    '12.33'
    """
    if score is None or score.reference is None:
        return ""
    gap = gap_of(score)
    if gap is None:
        return MISSING
    decimals = len(value_text(score, whole=whole).partition(".")[2])
    most = 3 - math.floor(math.log10(gap)) if gap > 0 else decimals
    return f"{gap:,.{max(0, min(decimals, most))}f}"


def half_text(half: float, value: str) -> str:
    """Write half the length of an interval, with no more decimals than the value.

    Examples
    --------
    >>> half_text(0.01149, "0.912"), half_text(0.5634, "12.35"), half_text(0.0015, "0.0001235")
    ('±0.011', '±0.56', '±0.0015')
    """
    if "e" in value or half >= 1e6:
        return f"{PLUS_MINUS}{half:.2g}"
    decimals = len(value.replace(",", "").partition(".")[2])
    if decimals > 3:
        decimals = min(decimals, _decimals(half))
    return f"{PLUS_MINUS}{half:,.{decimals}f}"


def beside_value(score: Score | None, value: str) -> str:
    """Write a symmetric interval as ±; empty without an interval or for an asymmetric one."""
    bounds = bounds_of(score)
    if score is None or bounds is None or is_asymmetric(score):
        return ""
    mark = APPROXIMATE if score.approximate else ""
    return half_text((bounds[1] - bounds[0]) / 2, value) + mark


def below_value(score: Score | None) -> str:
    """Write the bounds of an asymmetric interval; empty without one."""
    if score is None or not is_asymmetric(score):
        return ""
    return interval_text(score) + (APPROXIMATE if score.approximate else "")


def is_asymmetric(score: Score) -> bool:
    """Tell whether an interval is so asymmetric that ± would mislead."""
    bounds, value = bounds_of(score), value_of(score)
    if bounds is None or value is None:
        return bounds is not None
    short, long = sorted((value - bounds[0], bounds[1] - value))
    seen = 0.002 if is_share(score) else 0.0
    return bool(long - short > seen and long > ASYMMETRIC * max(short, 0.0))


def p_text(p: float | None, alpha: float, *, at_limit: bool = False) -> str:
    """Write a p-value, never as 0, and rounded without crossing `alpha`.

    Examples
    --------
    >>> p_text(0.0000123, 0.05), p_text(0.0312, 0.05), p_text(0.4123, 0.05)
    ('p < 0.001', 'p = 0.031', 'p = 0.41')
    >>> p_text(0.04996, 0.05), p_text(1.0, 0.05)
    ('p = 0.04996', 'p = 1')

    Where no permutation showed as much, the p-value is at most the smallest they can give:

    >>> p_text(0.003, 0.05, at_limit=True)
    'p ≤ 0.003'
    """
    if p is None:
        return f"p = {MISSING}"
    if p < _SMALLEST_P:
        return f"p < {_SMALLEST_P}"
    texts = (f"{p:.{decimals}f}" for decimals in range(2 if p >= 0.0995 else 3, 17))
    text = next((text for text in texts if (float(text) < alpha) == (p < alpha)), repr(p))
    sign = "≤" if at_limit else "="
    return f"p {sign} {'1' if float(text) == 1 else text}"


def about(n: float) -> str:
    """Write a large number to two significant digits.

    Examples
    --------
    >>> about(11_843), about(640), about(3e9)
    ('about 12,000', 'about 640', 'more than 10 million')
    """
    if n > _MANY:
        return f"more than {_MANY // 10**6} million"
    unit = 10 ** max(0, math.floor(math.log10(max(n, 1))) - 1)
    return f"about {round(n / unit) * unit:,}"


def signed(text: str) -> str:
    """Add a plus sign to a number without a sign."""
    return text if text.startswith(("-", "+", MISSING)) else f"+{text}"


def is_share(score: Score) -> bool:
    """Tell whether the values of a score lie in [0, 1]."""
    return tuple(score.range) == (0, 1)


def _number(value: float, score: Score, whole: bool) -> str:
    low, high = score.range
    if low >= 0 and high == 1:
        return number(value, unit=True)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if whole and value == int(value) and abs(value) >= 10:
        return str(int(value))
    return f"{value:.4f}" if 0.001 <= abs(value) < 1 else number(value, unit=False)


def bounds_of(score: Score | None) -> tuple[float, float] | None:
    """Return the bounds of a score's interval; None without one, or with an open one."""
    if score is None or score.interval is None:
        return None
    low, high = map(defined, score.interval)
    return None if low is None or high is None else (low, high)


def _decimals(number: float) -> int:
    """Decimals that show two digits of a number."""
    return max(0, 1 - math.floor(math.log10(number))) if number > 0 else 0
