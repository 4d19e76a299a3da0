"""Items for raters: pairs of texts in one context, single texts, or batches of one system.

Contexts are prompts. For each pair of systems they are sampled without replacement among those that
both continue (Pillutla et al., JMLR 2023, appendix E.3); a text that begins with its prompt is
shown without it, and a text of a set whose rows name no prompts belongs to the longest prompt of
the other sets that it begins with. Where no set has prompts, row meets row.

Which ones are chosen is read off a hash of the seed and the prompt, so that the same files and the
same seed give the same items on every machine, in whatever order the systems come and whoever else
is judged: people and models meet on the same texts. A smaller number of items is part of a larger
one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Generic, Literal, TypeVar, overload

from calipers.errors import InputError
from calipers.judgements.designs import pair_design
from calipers.judgements.rubric import Rubric
from calipers.numeric.validation import check_whole
from calipers.samples.sample_set import SampleSet
from calipers.samples.wording import KINDS, counted, names
from calipers.text.unicode_forms import as_seen, behind
from calipers.unicode.words import joined
from calipers.unicode.written_words import (
    counted_words,
    first_words,
    split_words,
    word_count,
    word_spans,
)

DIGITS = 16
"""Hexadecimal digits of an id."""

PER_PAIR = 90
"""Judgements of each pair of systems (JMLR 2023, appendix E.3)."""

CHECK = ("(original)", "(shuffled)")
"""What the two sides of an attention check are called in place of systems."""

LEAST_WITHIN = 5
"""Words of a prompt that may end within a word of a text, as one that was cut by tokens does."""

LEAST_SHUFFLED = 8
"""Different words, or else characters, that a text needs to be shuffled for a check."""

Shape = TypeVar("Shape", covariant=True)


@dataclass(frozen=True)
class Item:
    """Two texts to be compared.

    Attributes
    ----------
    a, b
        Their systems.
    text_a, text_b
        The texts.
    context
        What both continue; empty for texts without a prompt.
    check
        The side that any attentive rater prefers, where the item is an attention check; else empty.
    """

    a: str
    b: str
    text_a: str
    text_b: str
    context: str = ""
    check: Literal["", "a", "b"] = ""

    @cached_property
    def id(self) -> str:
        """Identifies the item by its content, so that people and models judge the same items."""
        return content_id(self.a, self.b, self.context, self.text_a, self.text_b)


@dataclass(frozen=True)
class RatedTexts:
    """Texts of one system to be rated together: one for quality, a batch for diversity.

    Attributes
    ----------
    system
        Whose they are.
    texts
        What is shown.
    contexts
        What each continues, or nothing where they have no prompts.
    """

    system: str
    texts: tuple[str, ...]
    contexts: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """Identifies the item by its content."""
        return content_id(self.system, *self.contexts, *self.texts)


def content_id(*parts: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of texts as a JSON list."""
    content = json.dumps(parts, ensure_ascii=True).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class Items(Sequence[Shape], Generic[Shape]):
    """The items for raters, in an order that mixes systems, with notes.

    Attributes
    ----------
    shown
        Pairs of texts (:class:`Item`), or texts and batches (:class:`RatedTexts`).
    notes
        What was left out, and where there are fewer than asked for.
    """

    shown: tuple[Shape, ...]
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Shape: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Shape, ...]: ...
    def __getitem__(self, index: int | slice) -> Shape | tuple[Shape, ...]:
        return self.shown[index]

    def __len__(self) -> int:
        return len(self.shown)


def make_items(
    systems: Sequence[SampleSet],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    per_pair: int = PER_PAIR,
    ratings_per_item: int = 1,
    seed: int = 0,
    shortest: int | None = None,
    longest: int | None = None,
) -> Items[Item]:
    """Choose the texts of every pair of systems to be compared.

    Parameters
    ----------
    systems
        Texts, the reference among them where it is judged, each set with a name of its own.
    pairs
        Names of the systems that meet (:func:`calipers.judgements.designs.pair_design`); by default
        all pairs.
    per_pair
        Judgements wanted of each pair of systems.
    ratings_per_item
        How many raters judge the same two texts, so that ``per_pair / ratings_per_item``, rounded
        up, contexts are needed for each pair.
    seed
        Fixes which contexts are chosen.
    shortest
        Texts of fewer words are left out, on both sides.
    longest
        Words that are shown of a text.

    Returns
    -------
    Items
        Of a pair of systems, that first by name is a. Two equal texts are left out, and noted.

    Raises
    ------
    InputError
        If a set holds no texts, two have one name, a pair names an unknown system, a number is out
        of its range, or two systems that meet have no context in common.
    """
    check_whole("per_pair", per_pair, 1)
    check_whole("ratings_per_item", ratings_per_item, 1)
    design = pair_design([samples.name for samples in systems])
    known = _contexts(systems, seed=seed, shortest=shortest, longest=longest)
    wanted = -(-per_pair // ratings_per_item)
    items: list[Item] = []
    notes = list(known.notes)
    few: list[str] = []
    equal = 0
    for pair in design.pairs if pairs is None else pairs:
        for name in pair:
            if name not in known.texts:
                raise InputError(
                    f"pairs: {name!r} is not a system; the systems are {names(known.texts)}"
                )
        a, b = sorted(pair)
        met, alike = _meet(known, a, b, wanted, seed)
        equal += alike
        if not met:
            raise InputError(_nothing_shared(known, a, b, alike, shortest))
        if len(met) < wanted:
            few.append(f"{len(met)} of {a} and {b}")
        items += met
    if equal:
        notes.append(f"{counted(equal, 'item')} left out: both systems wrote the same text")
    if few:
        listed = ", ".join(few[:3]) + (f" and {len(few) - 3} more pairs" if few[3:] else "")
        notes.append(f"fewer contexts than the {wanted} wanted for each pair of systems: {listed}")
    empty = sum(not text.strip() for item in items for text in (item.text_a, item.text_b))
    if empty:
        notes.append(f"{counted(empty, 'text')} to be judged {'is' if empty == 1 else 'are'} empty")
    return Items(
        tuple(sorted(items, key=lambda item: _place(seed, "items", item.id))), tuple(notes)
    )


def make_checks(
    items: Sequence[Item], *, count: int, seed: int = 0, system: str | None = None
) -> tuple[Item, ...]:
    """Make attention checks: a text against itself with shuffled words.

    Parameters
    ----------
    items
        Those of the study, from which the texts come.
    count
        How many checks, 0 or more; there are fewer only where fewer texts can be shuffled.
    seed
        Fixes the texts and their order.
    system
        Whose texts are taken, best the reference's; by default everybody's.

    Returns
    -------
    tuple of Item
        With `check` saying which side is the text as it was; the systems are called ``(original)``
        and ``(shuffled)``.
    """
    check_whole("count", count, 0)
    texts = {
        (item.context, text): None
        for item in items
        for name, text in ((item.a, item.text_a), (item.b, item.text_b))
        if system in (None, name)
    }
    checks: list[Item] = []
    for context, text in sorted(texts, key=lambda pair: _place(seed, "checks", *pair)):
        if len(checks) == count:
            break
        shuffled = _shuffled(text, seed)
        if shuffled is not None:
            checks.append(Item(*CHECK, text, shuffled, context, check="a"))
    return tuple(checks)


def passes_check(check: Item, answers: Mapping[str, int]) -> bool:
    """Tell whether the answers to an attention check are correct.

    No answer prefers the shuffled text, and at least one prefers the other; a shuffled text may
    pass for as interesting.

    Examples
    --------
    >>> check = Item(*CHECK, "one two", "two one", check="a")
    >>> passes_check(check, {"sensible": 1, "interesting": 3})
    True
    >>> passes_check(check, {"sensible": 1, "interesting": 4})
    False
    """
    right, wrong = ((1, 2), (4, 5)) if check.check == "a" else ((4, 5), (1, 2))
    steps = answers.values()
    return any(step in right for step in steps) and not any(step in wrong for step in steps)


def make_rated_texts(
    systems: Sequence[SampleSet],
    rubric: Rubric,
    *,
    n: int | None = None,
    seed: int = 0,
    shortest: int | None = None,
    longest: int | None = None,
) -> Items[RatedTexts]:
    """Choose texts of every system to be rated singly or in batches.

    Parameters
    ----------
    systems
        Texts, each set with a name of its own.
    rubric
        Of quality, which shows single texts, or of diversity, which shows batches without
        replacement.
    n
        Texts of each system; by default all.
    seed
        Fixes which texts; of systems that continue the same prompts, those of the same prompts.
    shortest, longest
        As of :func:`make_items`.

    Raises
    ------
    InputError
        If a set holds no texts, two have one name, a number is out of its range, or a system has
        fewer texts than a batch.
    """
    if n is not None:
        check_whole("n", n, 1)
    known = _contexts(systems, seed=seed, shortest=shortest, longest=longest, alone=True)
    size = rubric.batch if rubric.task == "diversity" else 1
    shown: list[RatedTexts] = []
    notes = list(known.notes)
    for name, texts in known.texts.items():
        keys = sorted(texts, key=lambda key: (key.turn, key.place))[:n]
        if len(keys) < size:
            raise InputError(
                f"{name}: has {counted(len(keys), 'text')} to be rated, but a batch is of {size}"
            )
        if n is not None and len(keys) < n:
            notes.append(f"{name} has {len(keys)} of the {n} texts wanted")
        left = len(keys) % size
        if left:
            notes.append(f"{name}: {counted(left, 'text')} left out, too few for a batch of {size}")
        for start in range(0, len(keys) - left, size):
            batch = keys[start : start + size]
            contexts = tuple(key.prompt for key in batch)
            shown.append(
                RatedTexts(
                    name,
                    tuple(texts[key] for key in batch),
                    contexts if any(contexts) else (),
                )
            )
    return Items(tuple(sorted(shown, key=lambda one: _place(seed, "shown", one.id))), tuple(notes))


def rows_of_items(
    systems: Sequence[SampleSet], *, longest: int | None = None
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Find the rows of each set that the text of a rated item occupies, by the item's id.

    Parameters
    ----------
    systems
        Texts, each set with a name of its own.
    longest
        Words that were shown of a text.

    Returns
    -------
    dict
        By the name of the set and the id (:class:`RatedTexts`) the rows, counted from 0; a text
        that stands in several rows has all of them.

    Raises
    ------
    InputError
        If a set holds no texts, two have one name, or `longest` is below 1.
    """
    known = _contexts(systems, seed=0, shortest=None, longest=longest, alone=True)
    rows: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, texts in known.texts.items():
        of_set = rows.setdefault(name, {})
        for key, text in texts.items():
            # Prompts were shown where any text of a batch had one: of one text, its own
            item = RatedTexts(name, (text,), (key.prompt,) if key.prompt else ())
            of_set[item.id] = (*of_set.get(item.id, ()), key.row)
    return rows


# Texts by what they continue ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Key:
    """What a text continues.

    Attributes
    ----------
    prompt
        Without white space around it, as it is seen; empty where there is none.
    number
        How many texts of the system continue it before this one; without a prompt the row.
    place
        Sorts keys as if at random.
    row
        Where the text stands in its set; keys of two sets are equal whatever their rows.
    """

    prompt: str
    number: int
    place: str
    row: int = field(compare=False)

    @classmethod
    def of(cls, seed: int, prompt: str, number: int, row: int) -> _Key:
        return cls(prompt, number, _place(seed, "context", prompt, str(number)), row)

    @property
    def turn(self) -> int:
        """All prompts come once before any comes twice."""
        return self.number if self.prompt else 0


@dataclass(frozen=True)
class _Contexts:
    """The texts of each system by what they continue."""

    texts: Mapping[str, Mapping[_Key, str]]
    prompted: bool
    notes: tuple[str, ...]


def _contexts(
    systems: Sequence[SampleSet],
    *,
    seed: int,
    shortest: int | None,
    longest: int | None,
    alone: bool = False,
) -> _Contexts:
    """Read the texts of all systems; `alone`, those without a prompt stay where others have one."""
    check_whole("seed", seed, 0)
    for name, words in (("shortest", shortest), ("longest", longest)):
        if words is not None:
            check_whole(name, words, 1)
    if shortest is not None and longest is not None and shortest > longest:
        raise InputError(f"shortest must not exceed longest ({longest}); found {shortest}")
    texts: dict[str, dict[_Key, str]] = {}
    notes: list[str] = []
    openings = _Openings(prompt for samples in systems for prompt in samples.prompts or ())
    for samples in systems:
        if samples.texts is None:
            raise InputError(
                f"{samples.name}: judgements need texts, but this set holds {KINDS[samples.kind]}"
            )
        if samples.name in texts:
            raise InputError(f"two systems are called {samples.name!r}; give each its own name")
        texts[samples.name], set_notes = _read(
            samples, openings, seed, shortest, longest, alone=alone
        )
        notes += [f"{samples.name}: {note}" for note in set_notes]
    return _Contexts(texts, bool(openings), tuple(notes))


def _read(
    samples: SampleSet,
    openings: _Openings,
    seed: int,
    shortest: int | None,
    longest: int | None,
    *,
    alone: bool,
) -> tuple[dict[_Key, str], list[str]]:
    """Return the texts of one system by what they continue, and what to note."""
    by_key: dict[_Key, str] = {}
    seen: dict[str, int] = {}
    taken_off = short = nowhere = 0
    column = samples.texts
    assert column is not None
    given = samples.prompts or [None] * len(column)
    for row, (text, named) in enumerate(zip(column, given, strict=True)):
        prompt = as_seen(openings.longest(text) if named is None else named.strip())
        if openings and not prompt and not alone:
            nowhere += 1
            continue
        rest = _without(text, prompt)
        taken_off += prompt != "" and rest is not text
        number = seen.get(prompt, 0) if prompt else row
        seen[prompt] = number + 1
        if shortest is not None and sum(1 for _ in islice(word_spans(rest), shortest)) < shortest:
            short += 1
            continue
        key = _Key.of(seed, prompt, number, row)
        by_key[key] = rest if longest is None else first_words(rest, longest)
    notes = []
    if taken_off:
        notes.append(
            f"{counted(taken_off, 'text')} shown without the prompt that "
            f"{'it begins' if taken_off == 1 else 'they begin'} with"
        )
    if nowhere:
        notes.append(f"{counted(nowhere, 'text')} left out: no prompt of the other systems")
    if short:
        least = counted_words(shortest or 0, samples.word_unit)
        notes.append(f"{counted(short, 'text')} left out: fewer than {least}")
    return by_key, notes


class _Openings:
    """Finds the longest of many prompts that a text begins with."""

    def __init__(self, prompts: Iterable[str]) -> None:
        self._prompts = {as_seen(prompt.strip()) for prompt in prompts} - {""}
        self._lengths = sorted({len(prompt) for prompt in self._prompts}, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._prompts)

    def longest(self, text: str) -> str:
        """Return that prompt; an empty one where there is none."""
        bare = as_seen(text).lstrip()
        for length in self._lengths:
            opening = bare[:length]
            if opening in self._prompts and (
                not bare[length - 1 : length + 1].isalnum()
                or length == len(bare)
                or word_count(opening) >= LEAST_WITHIN
            ):
                return opening
        return ""


def _without(text: str, prompt: str) -> str:
    """Take a prompt off a text that begins with it; the text itself if it does not."""
    bare = text.lstrip()
    end = behind(bare, prompt) if prompt else None
    return text if end is None else bare[end:]


# Which of them ------------------------------------------------------------------------------------


def _place(seed: int, *parts: str) -> str:
    """Order things as if at random, the same for the same seed."""
    return content_id(str(seed), *parts)


def _meet(known: _Contexts, a: str, b: str, wanted: int, seed: int) -> tuple[list[Item], int]:
    """Choose contexts of two systems, all prompts once before any twice; count equal texts."""
    ours, theirs = known.texts[a], known.texts[b]
    shared = [key for key in ours if key in theirs]
    shared.sort(key=lambda key: (key.turn, _place(seed, a, b, key.place)))
    items: list[Item] = []
    equal = 0
    for key in shared:
        if len(items) == wanted:
            break
        if as_seen(ours[key]).strip() == as_seen(theirs[key]).strip():
            equal += 1
            continue
        items.append(Item(a, b, ours[key], theirs[key], key.prompt))
    return items, equal


def _nothing_shared(known: _Contexts, a: str, b: str, equal: int, shortest: int | None) -> str:
    if equal:
        return f"{a} and {b} cannot be compared: all {equal} texts that they share are equal"
    what = "prompt that both continue" if known.prompted else "row that both have"
    of = "" if shortest is None else f" with texts of at least {shortest} words"
    return f"{a} and {b} cannot be compared: there is no {what}{of}"


def _shuffled(text: str, seed: int) -> str | None:
    """Put the words of a text, or of one with few words the characters, in another order."""
    pieces = split_words(text)
    in_words = len(set(pieces)) >= LEAST_SHUFFLED
    if not in_words:
        pieces = [piece for piece in text if not piece.isspace()]
    if len(set(pieces)) < LEAST_SHUFFLED:
        return None
    numbered = range(len(pieces))
    order = sorted(numbered, key=lambda i: _place(seed, "shuffle", pieces[i], str(i)))
    shuffled = [pieces[i] for i in order]
    return joined(shuffled) if in_words else "".join(shuffled)
