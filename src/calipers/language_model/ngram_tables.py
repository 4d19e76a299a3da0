"""The tables of an n-gram model: probabilities, and sums of their powers for a temperature."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.language_model.pieces import KINDS
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs

RECORDS, ROOM = 2**16, 2**20
"""Contexts whose kept tokens are remembered, and listed tokens of all of them."""


class Tables(NamedTuple):
    """A fitted model.

    Token 0 ends a text; then come the known tokens, an unknown one of each kind, and the beginning.

    A context is a sequence of 1 to order − 1 tokens, the shorter before the longer; those of one
    token have its number. Its entries are the n-grams that go on from it, from the most to the
    least probable token, equal ones by their numbers.

    Attributes
    ----------
    starts
        Where the entries of each context begin, shape ``(contexts + 1,)``.
    back
        γ of each context.
    shorter
        The context without its first token; −1 for one token.
    form
        What a context of one token is to the token after it.
    token, context
        Token and context of each entry.
    probability
        P(w | h) of each entry.
    lower
        P(w | h') of it.
    follow
        The context after it; −1 after the end of a text.
    slots
        Hash table of the entries.
    kind
        The kind of each token but the beginning.
    unigram
        P(w | κ) of each token but the beginning.
    kinds
        P(κ | f), of shape ``(forms, KINDS)``.
    """

    starts: Longs
    back: Floats
    shorter: Ints
    form: Ints
    token: Ints
    context: Ints
    probability: Floats
    lower: Floats
    follow: Ints
    slots: Ints
    kind: Ints
    unigram: Floats
    kinds: Floats


native.record(
    "ngram_tables",
    "starts i8[bounds]",
    "back f8[contexts]",
    "shorter i4[contexts]",
    "form i4[tokens]",
    "token i4[entries]",
    "context i4[entries]",
    "probability f8[entries]",
    "follow i4[entries]",
    "slots i4[room]",
    "kind i4[readable]",
    "unigram f8[readable]",
    "kinds f8[forms, kind_count]",
)


class TemperatureWeights(NamedTuple):
    """Sums of P^(1/T) for one temperature.

    Attributes
    ----------
    power
        P^(1/T) of each entry.
    excess
        What it has more than γ(h)^(1/T) · P(w | h')^(1/T), summed up within the context.
    back
        γ^(1/T) of each context.
    total
        Sum over all tokens that can be written, by context.
    base
        The tokens that can be written, by kind, from the most to the least probable.
    base_starts
        Where those of each kind begin.
    base_sums
        Their P(w | κ)^(1/T), summed up within the kind.
    kinds
        P(κ | f)^(1/T).
    kind_sums
        That times the sum of the kind, summed up, by form.
    group
        The group of each token that can be written: tokens of a kind that are equally probable.
    group_starts
        Where the tokens of each group begin in `base`.
    group_kind, group_probability, group_power
        Kind, P(w | κ) and P(w | κ)^(1/T) of each group.
    group_order
        The groups from the most to the least probable, by form.
    """

    power: Floats
    excess: Floats
    back: Floats
    total: Floats
    base: Longs
    base_starts: Longs
    base_sums: Floats
    kinds: Floats
    kind_sums: Floats
    group: Longs
    group_starts: Longs
    group_kind: Longs
    group_probability: Floats
    group_power: Floats
    group_order: NDArray[np.int64]


native.record(
    "ngram_weights",
    "power f8[entries]",
    "excess f8[entries]",
    "back f8[contexts]",
    "total f8[contexts]",
    "base i8[tokens]",
    "base_starts i8[kind_bounds]",
    "base_sums f8[tokens]",
    "kinds f8[forms, kind_count]",
    "kind_sums f8[forms, kind_count]",
    "group i8[tokens]",
    "group_starts i8[group_bounds]",
    "group_kind i8[groups]",
    "group_probability f8[groups]",
    "group_power f8[groups]",
    "group_order i8[forms, groups]",
)


class Memory(NamedTuple):
    """Contexts that one thread has seen, and its working memory.

    Attributes
    ----------
    record
        Number of what is remembered of each context, or −1.
    borders
        Highest and lowest probability of the tokens that are kept, the sum of their powers 1/T, and
        that of the squares of these.
    numbers
        The number up to which tokens at either border are kept, where the listed tokens begin, and
        how many are kept.
    listed, listed_sums
        Kept tokens where they are few, and their powers, summed up.
    state
        How many records and listed tokens there are, and how often a context was listed.
    stamp
        When each token was last met as an entry.
    gone
        Tokens of each group that are entries.
    values
        Probability and power of the entries and groups after a context, and of the different values
        among them.
    sizes
        Tokens of each group, of each value that are kept, and of each value.
    items
        Token of each entry, and number of each group.
    tied
        The tokens that are as probable as the last one kept.
    """

    record: Ints
    borders: Floats
    numbers: Longs
    listed: Longs
    listed_sums: Floats
    state: Longs
    stamp: Longs
    gone: Longs
    values: Floats
    sizes: NDArray[np.int64]
    items: Longs
    tied: Longs


native.record(
    "ngram_memory",
    "record i4[contexts] out",
    "borders f8[records, 4] out",
    "numbers i8[records, 4] out",
    "listed i8[room] out",
    "listed_sums f8[room] out",
    "state i8[3] out",
    "stamp i8[tokens] out",
    "gone i8[groups] out",
    "values f8[4, places] out",
    "sizes i8[3, places] out",
    "items i8[places] out",
    "tied i8[tokens] out",
)


def weigh(tables: Tables, known: int, temperature: float) -> TemperatureWeights:
    """Compute all sums for a temperature."""
    exponent = 1 / temperature
    power = tables.probability**exponent
    back = tables.back**exponent
    lower = (tables.back[tables.context] * tables.lower) ** exponent
    gained = np.maximum(power - lower, 0)
    unigram, kind = tables.unigram[: known + 1], tables.kind[: known + 1]
    base = np.lexsort((np.arange(known + 1), -unigram, kind))
    base_starts = np.searchsorted(kind[base], np.arange(KINDS + 1))
    powers = unigram[base] ** exponent
    parts = [np.cumsum(powers[low:high]) for low, high in pairwise(base_starts)]
    base_sums = np.concatenate(parts)
    sums = np.array([part[-1] if len(part) else 0.0 for part in parts])
    kinds = tables.kinds**exponent
    kind_sums = np.cumsum(kinds * sums, axis=1)
    new = np.ones(known + 1, np.bool_)
    new[1:] = (kind[base][1:] != kind[base][:-1]) | (unigram[base][1:] != unigram[base][:-1])
    group_starts = np.append(np.flatnonzero(new), known + 1)
    group = np.empty(known + 1, np.int64)
    group[base] = np.cumsum(new) - 1
    firsts = base[group_starts[:-1]]
    values = tables.kinds[:, kind[firsts]] * unigram[firsts]
    excess, total = _totals(tables, gained, back, kind_sums[:, -1].copy())
    return TemperatureWeights(
        power=power,
        excess=excess,
        back=back,
        total=total,
        base=base.astype(np.int64),
        base_starts=base_starts.astype(np.int64),
        base_sums=base_sums,
        kinds=kinds,
        kind_sums=kind_sums,
        group=group,
        group_starts=group_starts.astype(np.int64),
        group_kind=kind[firsts].astype(np.int64),
        group_probability=unigram[firsts],
        group_power=unigram[firsts] ** exponent,
        group_order=np.argsort(-values, axis=1, kind="stable").astype(np.int64),
    )


def remember(tables: Tables, weights: TemperatureWeights) -> Memory:
    """Allocate the memory of a thread."""
    tokens, groups = len(weights.group), len(weights.group_kind)
    room = tokens + groups
    return Memory(
        record=np.full(len(tables.back), -1, np.int32),
        borders=np.empty((RECORDS, 4)),
        numbers=np.empty((RECORDS, 4), np.int64),
        listed=np.empty(ROOM, np.int64),
        listed_sums=np.empty(ROOM),
        state=np.zeros(3, np.int64),
        stamp=np.zeros(tokens, np.int64),
        gone=np.zeros(groups, np.int64),
        values=np.empty((4, room)),
        sizes=np.empty((3, room), np.int64),
        items=np.empty(room, np.int64),
        tied=np.empty(tokens, np.int64),
    )


def _totals(tables: Tables, gained: Floats, back: Floats, forms: Floats) -> tuple[Floats, Floats]:
    """Sum up what entries have in excess, and all tokens of each context."""
    excess, total = np.empty_like(gained), np.empty_like(back)
    _sum_up(tables.starts, tables.shorter, tables.form, gained, back, forms, excess, total)
    return excess, total


_sum_up = native.kernel(
    "ngram_model_totals",
    "starts i8[bounds]",
    "shorter i4[contexts]",
    "form i4[tokens]",
    "gained f8[entries]",
    "back f8[contexts]",
    "sums f8[forms]",
    "excess f8[entries] out",
    "total f8[contexts] out",
)
