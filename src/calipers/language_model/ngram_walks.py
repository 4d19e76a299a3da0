"""Scoring and sampling of an n-gram model without listing its vocabulary.

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

from calipers.language_model.ngram_tables import Memory, Tables, TemperatureWeights
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs


def hashed(context: Ints, token: Ints) -> Ints:
    """Build a hash table of all entries by context and token."""
    slots = np.full(max(16, 2 ** (2 * len(token) - 1).bit_length()), -1, np.int32)
    _hash(context, token, slots)
    return slots


def write(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    contexts: Longs,
    uniforms: Floats,
) -> tuple[Ints, Longs]:
    """Draw the next tokens of some texts, and advance their contexts; −1 after an end.

    Returns the tokens, shape ``(b, steps)``, and how many of them each text has got.
    """
    tokens = np.zeros(uniforms.shape, np.int32)
    lengths = np.empty(len(contexts), np.int64)
    _write(tables, weights, memory, rules, goals, uniforms, contexts, tokens, lengths)
    return tokens, lengths


def read(tables: Tables, tokens: Longs, starts: Longs, opening: int) -> tuple[Floats, Longs]:
    """Return P of every token, and the context before it.

    Texts begin in the context `opening`; where that is −1, the first token of each is one, and has
    no probability.
    """
    probability, contexts = np.empty(len(tokens)), np.empty(len(tokens), np.int64)
    _read(tables, tokens, starts, opening, probability, contexts)
    return probability, contexts


def after(tables: Tables, tokens: Longs, starts: Longs, opening: int | Longs) -> Longs:
    """Return the context after the tokens of each text, from one `opening` or one for each."""
    contexts = np.empty(len(starts) - 1, np.int64)
    contexts[:] = opening
    _after(tables, tokens, starts, contexts)
    return contexts


def read_decoded(
    tables: Tables,
    weights: TemperatureWeights,
    memory: Memory,
    rules: Longs,
    goals: Floats,
    contexts: Longs,
    tokens: Longs,
) -> tuple[Floats, Floats]:
    """Return the probability of each token as decoded, and its distribution's sum of squares."""
    decoded, squares = np.empty(len(tokens)), np.empty(len(tokens))
    _read_decoded(tables, weights, memory, rules, goals, contexts, tokens, decoded, squares)
    return decoded, squares


def next_probabilities(tables: Tables, contexts: Longs) -> Floats:
    """Return P(w | h) of every token after each context, including unknown ones."""
    none = np.zeros(0, np.int64)
    return proceed(tables, contexts.copy(), none, np.zeros(len(contexts) + 1, np.int64))


def proceed(tables: Tables, contexts: Longs, tokens: Longs, starts: Longs) -> Floats:
    """Advance the context of each text by its tokens, and list P(w | h) of all tokens there.

    Contexts become those after the tokens.
    """
    probability = np.empty((len(contexts), len(tables.kind)))
    _proceed(tables, tokens, starts, contexts, probability)
    return probability


def likeliest(
    tables: Tables,
    weights: TemperatureWeights,
    contexts: Longs,
    left_out: Longs,
    starts: Longs,
    most: int,
) -> tuple[Longs, Floats]:
    """Return the most probable tokens after each context, with P(w | h).

    Those that are left out of each context stand end to end. Shapes ``(n, most)``, the lower number
    first of equal ones; −1 and 0 behind the last.
    """
    tokens = np.empty((len(contexts), most), np.int64)
    probability = np.empty((len(contexts), most))
    _likeliest(tables, weights, contexts, left_out, starts, tokens, probability)
    return tokens, probability


def probabilities_of(tables: Tables, contexts: Longs, tokens: Longs) -> Floats:
    """Return P(w | h) of one token after each context."""
    probability = np.empty(len(tokens))
    _read_each(tables, contexts, tokens, probability)
    return probability


_hash = native.kernel(
    "ngram_model_hash", "context i4[entries]", "token i4[entries]", "slots i4[room] out"
)
_write = native.kernel(
    "ngram_model_write",
    "tables ngram_tables",
    "weights ngram_weights",
    "memory ngram_memory",
    "rules i8[count]",
    "goals f8[count]",
    "uniforms f8[texts, steps]",
    "contexts i8[texts] out",
    "tokens i4[texts, steps] out",
    "lengths i8[texts] out",
)
_read = native.kernel(
    "ngram_model_read",
    "tables ngram_tables",
    "tokens i8[length]",
    "starts i8[bounds]",
    "opening int",
    "probability f8[length] out",
    "contexts i8[length] out",
)
_after = native.kernel(
    "ngram_model_after",
    "tables ngram_tables",
    "tokens i8[length]",
    "starts i8[bounds]",
    "contexts i8[texts] out",
)
_read_decoded = native.kernel(
    "ngram_model_read_decoded",
    "tables ngram_tables",
    "weights ngram_weights",
    "memory ngram_memory",
    "rules i8[count]",
    "goals f8[count]",
    "contexts i8[length]",
    "tokens i8[length]",
    "decoded f8[length] out",
    "squares f8[length] out",
)
_proceed = native.kernel(
    "ngram_model_proceed",
    "tables ngram_tables",
    "tokens i8[length]",
    "starts i8[bounds]",
    "contexts i8[texts] out",
    "probability f8[texts, readable] out",
)
_likeliest = native.kernel(
    "ngram_model_likeliest",
    "tables ngram_tables",
    "weights ngram_weights",
    "contexts i8[texts]",
    "left_out i8[length]",
    "starts i8[bounds]",
    "tokens i8[texts, most] out",
    "probability f8[texts, most] out",
)
_read_each = native.kernel(
    "ngram_model_read_each",
    "tables ngram_tables",
    "contexts i8[count]",
    "tokens i8[count]",
    "probability f8[count] out",
)
