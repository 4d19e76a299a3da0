"""How tokens of an n-gram model are scored and drawn without listing the vocabulary.

From context to shorter context, P(w | h) is γ(h) · P(w | h') but for the entries of h, where it is
more. So is its power 1/T, hence any temperature is a mixture: with the weight of what the entries
of h have in excess, one of them is drawn, otherwise the walk goes on to h', and at last to the
kinds and their tokens. All sums are prepared once for a temperature.

What a truncation keeps is found once for each context that comes up. The tokens of one probability
are treated together: the entries of all its shorter contexts, and the tokens of each kind that have
one P(w | κ), which are a few hundred groups. The rules, as in
:mod:`calipers.language_model.truncation`, leave an interval of probabilities, with the lowest
numbers of those at its borders. Where few tokens are kept, they are listed and drawn from;
otherwise tokens are drawn until one is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.language_model.decoding import TRUNCATIONS
from calipers.language_model.ngram_tables import Memory, Tables, TemperatureWeights
from calipers.language_model.truncation import SLACK, TOP_H_TOKENS
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.numeric.compile import inlined, kernel

TOP_K, TOP_P, MIN_P, TYPICAL, EPSILON, ETA, TOP_H = range(len(TRUNCATIONS))

LISTED = 64
"""Most tokens that are listed."""

ANY = np.iinfo(np.int64).max


@inlined
def _slot(slots: Ints, context: Ints, token: Ints, number: int, word: int) -> int:
    """Where an entry stands in the table, or the free place where it belongs (splitmix64)."""
    mixed = (np.uint64(number) << np.uint64(32)) | np.uint64(word)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mask = np.uint64(len(slots) - 1)
    slot = (mixed ^ (mixed >> np.uint64(31))) & mask
    while slots[slot] >= 0 and (token[slots[slot]] != word or context[slots[slot]] != number):
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@inlined
def _entry(tables: Tables, context: int, token: int) -> int:
    """The entry of a token in a context, or −1."""
    slot = _slot(tables.slots, tables.context, tables.token, context, token)
    return int(tables.slots[slot])


@kernel
def hashed(context: Ints, token: Ints) -> Ints:
    """Put all entries into a hash table by context and token."""
    room = 16
    while room < 2 * len(token):
        room *= 2
    slots = np.full(room, -1, np.int32)
    for entry in range(len(token)):
        slots[_slot(slots, context, token, context[entry], token[entry])] = entry
    return slots


@kernel
def _look(
    tables: Tables, weights: TemperatureWeights, levels: Floats, context: int, token: int
) -> tuple[float, float, int]:
    """P(w | h), its power 1/T, and the context after w."""
    depth, number = 0, context
    while True:
        entry = _entry(tables, number, token)
        if entry >= 0:
            probability, power = tables.probability[entry], weights.power[entry]
            follow = int(tables.follow[entry])
            break
        levels[0, depth], levels[1, depth] = tables.back[number], weights.back[number]
        depth += 1
        if tables.shorter[number] < 0:
            form, kind = tables.form[number], tables.kind[token]
            probability = tables.kinds[form, kind] * tables.unigram[token]
            power = 0.0  # of a token that cannot be written
            if token < len(weights.group):
                power = weights.kinds[form, kind] * weights.group_power[weights.group[token]]
            follow = token
            break
        number = tables.shorter[number]
    for level in range(depth - 1, -1, -1):
        probability *= levels[0, level]
        power *= levels[1, level]
    return probability, power, follow


@inlined
def _first_above(sums: Floats, low: int, high: int, value: float) -> int:
    """The first place from `low` on whose sum is above a value; the last before `high` if none."""
    last = high - 1
    while low < last:
        middle = (low + last) // 2
        if sums[middle] > value:
            last = middle
        else:
            low = middle + 1
    return low


@kernel
def _draw(tables: Tables, weights: TemperatureWeights, context: int, uniform: float) -> int:
    """Draw a token by inverting the mixture."""
    number = context
    rest = uniform * weights.total[number]
    while True:
        low, high = tables.starts[number], tables.starts[number + 1]
        if high > low:
            if rest < weights.excess[high - 1]:
                return int(tables.token[_first_above(weights.excess, low, high, rest)])
            rest -= weights.excess[high - 1]
        rest /= weights.back[number]
        if tables.shorter[number] < 0:
            break
        number = tables.shorter[number]
    form = tables.form[number]
    kind, last = 0, -1
    while kind < weights.kinds.shape[1]:
        before = weights.kind_sums[form, kind - 1] if kind > 0 else 0.0
        if weights.kind_sums[form, kind] > before:
            last = kind
            if weights.kind_sums[form, kind] > rest:
                break
        kind += 1
    kind = last
    if kind > 0:
        rest -= weights.kind_sums[form, kind - 1]
    rest /= weights.kinds[form, kind]
    low, high = weights.base_starts[kind], weights.base_starts[kind + 1]
    return int(weights.base[_first_above(weights.base_sums, low, high, rest)])


@kernel
def _listing(
    tables: Tables, weights: TemperatureWeights, memory: Memory, context: int
) -> tuple[int, int, int]:
    """List what is equally probable after a context, from the most to the least probable.

    Fills the probability, power and number of tokens of each value; returns how many values there
    are, how many single entries were found, and the form of the last token.
    """
    memory.state[2] += 1
    stamp = memory.state[2]
    single, power, items = memory.values[0], memory.values[1], memory.items
    levels = memory.levels
    ends = np.zeros(8, np.int64)
    found, depth, number = 0, 0, context
    while True:
        for entry in range(tables.starts[number], tables.starts[number + 1]):
            token = tables.token[entry]
            if memory.stamp[token] != stamp:
                memory.stamp[token] = stamp
                memory.gone[weights.group[token]] += 1
                p, q = tables.probability[entry], weights.power[entry]
                for level in range(depth - 1, -1, -1):
                    p *= levels[0, level]
                    q *= levels[1, level]
                single[found], power[found], items[found] = p, q, token
                found += 1
        levels[0, depth], levels[1, depth] = tables.back[number], weights.back[number]
        depth += 1
        ends[depth] = found
        if tables.shorter[number] < 0:
            break
        number = tables.shorter[number]
    form = int(tables.form[number])
    size = found
    for group in weights.group_order[form]:
        left = weights.group_starts[group + 1] - weights.group_starts[group] - memory.gone[group]
        memory.gone[group] = 0
        kind = weights.group_kind[group]
        p = tables.kinds[form, kind] * weights.group_probability[group]
        if left == 0 or p == 0:
            continue
        q = weights.kinds[form, kind] * weights.group_power[group]
        for level in range(depth - 1, -1, -1):
            p *= levels[0, level]
            q *= levels[1, level]
        single[size], power[size], items[size] = p, q, group
        memory.sizes[0, size] = left
        size += 1
    ends[depth + 1] = size
    places = ends[: depth + 1].copy()
    value = -1
    for _ in range(size):
        best, highest = -1, -1.0
        for part in range(depth + 1):
            if places[part] < ends[part + 1] and single[places[part]] > highest:
                best, highest = part, single[places[part]]
        place = places[best]
        places[best] += 1
        count = memory.sizes[0, place] if best == depth else 1
        if value < 0 or memory.values[2, value] != highest:
            value += 1
            memory.values[2, value], memory.values[3, value] = highest, power[place]
            memory.sizes[1, value] = 0
        memory.sizes[1, value] += count
    for place in range(value + 1):
        memory.sizes[2, place] = memory.sizes[1, place]
    return value + 1, found, size


@kernel
def _entropy(powers: Floats, sizes: Longs, low: int, high: int, total: float) -> float:
    entropy = 0.0
    for place in range(low, high + 1):
        share = powers[place] / total
        if share > 0:
            entropy -= sizes[place] * share * np.log(share)
    return entropy


@kernel
def _typical(
    powers: Floats, sizes: Longs, low: int, high: int, total: float, tau: float
) -> tuple[int, int]:
    """Keep what is closest to the entropy; `sizes` at a border becomes how many are kept there."""
    entropy = _entropy(powers, sizes, low, high, total)
    right = low
    while right <= high and -np.log(powers[right] / total) < entropy:
        right += 1
    left, goal, so_far = right - 1, (tau - SLACK) * total, 0.0
    while left >= low or right <= high:
        nearer = left >= low and (
            right > high
            or abs(-np.log(powers[left] / total) - entropy)
            <= abs(-np.log(powers[right] / total) - entropy)
        )
        place = left if nearer else right
        if nearer:
            left -= 1
        else:
            right += 1
        mass = sizes[place] * powers[place]
        if so_far + mass >= goal:
            wanted = np.ceil((goal - so_far) / powers[place])
            sizes[place] = min(max(np.int64(wanted), 1), sizes[place])
            break
        so_far += mass
    return left + 1, right - 1


@kernel
def _rule(
    powers: Floats, sizes: Longs, low: int, high: int, rule: int, value: float
) -> tuple[int, int]:
    """Apply one truncation to the values from `low` to `high`."""
    total = 0.0
    for place in range(low, high + 1):
        total += sizes[place] * powers[place]
    if rule == TYPICAL:
        return _typical(powers, sizes, low, high, total, value) if value < 1 else (low, high)
    if rule == TOP_K:
        room = np.int64(min(value, 2.0**62))
        for place in range(low, high + 1):
            if sizes[place] >= room:
                sizes[place] = room
                return low, place
            room -= sizes[place]
        return low, high
    if rule == TOP_P:
        if value >= 1:
            return low, high
        goal, so_far = (value - SLACK) * total, 0.0
        for place in range(low, high + 1):
            mass = sizes[place] * powers[place]
            if so_far + mass >= goal:
                wanted = np.ceil((goal - so_far) / powers[place])
                sizes[place] = min(max(np.int64(wanted), 1), sizes[place])
                return low, place
            so_far += mass
        return low, high
    if rule == TOP_H:
        room, mass, last = np.int64(TOP_H_TOKENS), 0.0, low
        for place in range(low, high + 1):
            sizes[place] = min(sizes[place], room)
            room -= sizes[place]
            mass += sizes[place] * powers[place]
            last = place
            if room == 0:
                break
        goal = value * _entropy(powers, sizes, low, last, mass) + SLACK
        so_far = 0.0
        for place in range(low, last + 1):
            share = powers[place] / mass
            term = -share * np.log(share)
            if so_far + sizes[place] * term > goal:
                fits = np.int64(np.floor((goal - so_far) / term))
                fits = min(fits, sizes[place])
                if place == low and fits < 1:
                    fits = np.int64(1)
                if fits == 0:
                    return low, place - 1
                sizes[place] = fits
                return low, place
            so_far += sizes[place] * term
        return low, last
    if rule == MIN_P:
        least = value * powers[low]
    else:
        share = value
        if rule == ETA:
            entropy = _entropy(powers, sizes, low, high, total)
            share = min(value, np.sqrt(value) * np.exp(-entropy))
        least = min(share * total, powers[low])
    while powers[high] < least:
        high -= 1
    return low, high


@kernel
def _lowest(
    weights: TemperatureWeights, memory: Memory, found: int, size: int, border: float, wanted: int
) -> int:
    """The number up to which tokens of a border are kept."""
    numbers = np.empty(len(weights.group), np.int64)
    count, sources = 0, 0
    for place in range(size):
        if memory.values[0, place] != border:
            continue
        sources += 1
        if place < found:
            numbers[count] = memory.items[place]
            count += 1
            continue
        group, taken = memory.items[place], 0
        for slot in range(weights.group_starts[group], weights.group_starts[group + 1]):
            if memory.stamp[weights.base[slot]] != memory.state[2]:
                numbers[count] = weights.base[slot]
                count += 1
                taken += 1
                if taken == wanted:
                    break
    if sources == 1:
        return int(numbers[wanted - 1])
    return int(np.sort(numbers[:count])[wanted - 1])


@inlined
def _kept(p: float, token: int, borders: Floats, numbers: Longs) -> bool:
    """Whether a token is kept: its probability is within the borders, or at one and it is low."""
    if p > borders[0] or p < borders[1]:
        return False
    if p == borders[0] and token > numbers[0]:
        return False
    return not (p == borders[1] and token > numbers[1])


@kernel
def _truncate(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    context: int,
) -> int:
    """Find what is kept after a context, or remember it; the number of the record."""
    if memory.record[context] >= 0:
        return int(memory.record[context])
    if memory.state[0] == len(memory.borders) or memory.state[1] + LISTED > len(memory.listed):
        memory.record[:] = -1
        memory.state[0] = memory.state[1] = 0
    size, found, items = _listing(tables, weights, memory, context)
    powers, sizes, full = memory.values[3], memory.sizes[1], memory.sizes[2]
    low, high = 0, size - 1
    for place in range(len(rules)):
        low, high = _rule(powers, sizes, low, high, rules[place], goals[place])
    mass, squares, count = 0.0, 0.0, 0
    for place in range(low, high + 1):
        mass += sizes[place] * powers[place]
        squares += sizes[place] * powers[place] ** 2
        count += sizes[place]
    number = memory.state[0]
    memory.state[0] += 1
    memory.record[context] = number
    borders, numbers = memory.borders[number], memory.numbers[number]
    borders[0], borders[1] = memory.values[2, low], memory.values[2, high]
    borders[2], borders[3] = mass, squares
    for side, place in enumerate((low, high)):
        numbers[side] = ANY
        if sizes[place] < full[place]:
            numbers[side] = _lowest(weights, memory, found, items, borders[side], sizes[place])
    numbers[2], numbers[3] = memory.state[1], count
    if count <= LISTED:
        _list(weights, memory, found, items, borders, numbers)
    return int(number)


@kernel
def _list(
    weights: TemperatureWeights,
    memory: Memory,
    found: int,
    items: int,
    borders: Floats,
    numbers: Longs,
) -> None:
    """List the few tokens that are kept, with their sums."""
    so_far = 0.0
    for place in range(items):
        p, q = memory.values[0, place], memory.values[1, place]
        if p > borders[0] or p < borders[1]:
            continue
        low, high = place, place + 1
        if place >= found:
            group = memory.items[place]
            low, high = weights.group_starts[group], weights.group_starts[group + 1]
        for slot in range(low, high):
            token = memory.items[place] if place < found else weights.base[slot]
            if place >= found and memory.stamp[token] == memory.state[2]:
                continue
            if _kept(p, token, borders, numbers):
                so_far += q
                memory.listed[memory.state[1]] = token
                memory.listed_sums[memory.state[1]] = so_far
                memory.state[1] += 1


@inlined
def _again(uniform: float, tries: int) -> float:
    """Another uniform number, made of one and of how often it was tried (splitmix64)."""
    mixed = np.uint64(uniform * 2.0**53) + np.uint64(tries) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@kernel
def _choose(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    context: int,
    uniform: float,
) -> tuple[int, int]:
    """Draw a token of those that are kept, and tell the context after it."""
    if len(rules) == 0:
        token = _draw(tables, weights, context, uniform)
        return token, _look(tables, weights, memory.levels, context, token)[2]
    record = _truncate(tables, weights, memory, rules, goals, context)
    borders, numbers = memory.borders[record], memory.numbers[record]
    if numbers[3] <= LISTED:
        low = numbers[2]
        high = low + numbers[3]
        rest = uniform * memory.listed_sums[high - 1]
        token = int(memory.listed[_first_above(memory.listed_sums, low, high, rest)])
        return token, _look(tables, weights, memory.levels, context, token)[2]
    tries, trial = 0, uniform
    while True:
        token = _draw(tables, weights, context, trial)
        p, _, follow = _look(tables, weights, memory.levels, context, token)
        if _kept(p, token, borders, numbers):
            return token, follow
        tries += 1
        trial = _again(uniform, tries)


@kernel
def write(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    contexts: Longs,
    uniforms: Floats,
) -> tuple[NDArray[np.int32], Longs]:
    """Write the next tokens of some texts; contexts become those after them, −1 after an end.

    Returns the tokens, shape ``(b, steps)``, and how many of them each text has got.
    """
    tokens = np.zeros(uniforms.shape, np.int32)
    lengths = np.zeros(len(contexts), np.int64)
    for row in range(len(contexts)):
        for step in range(uniforms.shape[1]):
            if contexts[row] < 0:
                break
            token, follow = _choose(
                tables, weights, memory, rules, goals, contexts[row], uniforms[row, step]
            )
            tokens[row, step] = token
            lengths[row] += 1
            contexts[row] = -1 if token == 0 else follow
    return tokens, lengths


@kernel
def follow(tables: Tables, context: int, token: int) -> int:
    """The context after a token."""
    number = context
    while number >= 0:
        entry = _entry(tables, number, token)
        if entry >= 0:
            return int(tables.follow[entry])
        number = tables.shorter[number]
    return token


@kernel
def read(tables: Tables, tokens: Longs, starts: Longs, opening: int) -> tuple[Floats, Longs]:
    """P of every token, and the context before it.

    Texts begin in the context `opening`; where that is −1, the first token of each is one, and has
    no probability.
    """
    probability = np.ones(len(tokens))
    contexts = np.full(len(tokens), -1, np.int64)
    levels = np.empty(8)
    for text in range(len(starts) - 1):
        context = opening
        for place in range(starts[text], starts[text + 1]):
            token = tokens[place]
            if context < 0:
                context = token
                continue
            contexts[place] = context
            probability[place], context = _read(tables, levels, context, token)
    return probability, contexts


@kernel
def _read(tables: Tables, levels: Floats, context: int, token: int) -> tuple[float, int]:
    """P(w | h) and the context after w."""
    depth, number = 0, context
    while True:
        entry = _entry(tables, number, token)
        if entry >= 0:
            probability, follows = tables.probability[entry], int(tables.follow[entry])
            break
        levels[depth] = tables.back[number]
        depth += 1
        if tables.shorter[number] < 0:
            form = tables.form[number]
            probability = tables.kinds[form, tables.kind[token]] * tables.unigram[token]
            follows = token
            break
        number = tables.shorter[number]
    for level in range(depth - 1, -1, -1):
        probability *= levels[level]
    return probability, follows


@kernel
def after(tables: Tables, tokens: Longs, opening: int) -> int:
    """The context after some tokens, as `read` begins."""
    context = opening
    for token in tokens:
        context = token if context < 0 else follow(tables, context, token)
    return context


@kernel
def read_decoded(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    contexts: Longs,
    tokens: Longs,
) -> tuple[Floats, Floats]:
    """Probability of each token as it is decoded, and the sum of squares of its distribution."""
    decoded, squares = np.zeros(len(tokens)), np.zeros(len(tokens))
    for place in range(len(tokens)):
        record = _truncate(tables, weights, memory, rules, goals, contexts[place])
        borders, numbers = memory.borders[record], memory.numbers[record]
        token = tokens[place]
        p, q, _ = _look(tables, weights, memory.levels, contexts[place], token)
        if token < len(weights.group) and _kept(p, token, borders, numbers):
            decoded[place] = q / borders[2]
        squares[place] = borders[3] / borders[2] ** 2
    return decoded, squares


@kernel
def next_probabilities(tables: Tables, context: int) -> Floats:
    """P(w | h) of every token, the unknown ones too."""
    chain = np.empty(8, np.int64)
    depth, number = 0, context
    while True:
        chain[depth] = number
        depth += 1
        if tables.shorter[number] < 0:
            break
        number = tables.shorter[number]
    form = tables.form[number]
    probability = np.empty(len(tables.kind))
    for token in range(len(probability)):
        probability[token] = tables.kinds[form, tables.kind[token]] * tables.unigram[token]
    for level in range(depth - 1, -1, -1):
        number = chain[level]
        probability *= tables.back[number]
        for entry in range(tables.starts[number], tables.starts[number + 1]):
            probability[tables.token[entry]] = tables.probability[entry]
    return probability
