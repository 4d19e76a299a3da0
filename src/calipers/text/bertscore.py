"""BERTScore of texts: does each text say what its reference says, token by token?

The definition stands in :mod:`calipers.metrics.bert_score`. As in bert-score 0.3.13, white space
at the ends of a text is left out; tokens are matched with all tokens of the other text, also with
the marks that open and close it ([CLS] and [SEP], or what the tokenizer calls so, and BOS of a
causal model), but marks weigh 0 in the averages; idf is counted over all references; a long text is
cut at what the model reads. It departs from bert-score in this:

- a pair with an empty reference has no value (NaN), where bert-score gives 0; so has a side whose
  tokens all have an idf of 0, as with a single reference. An empty text counts 0, as there;
- a text's states, and a pair's scores, do not depend on the batch, where bert-score lets padding
  be matched, and some encoders (ConvBERT) let it into the states;
- a text of which the model knows less than half of the words has no value, where bert-score matches
  one unknown token with the other, and gives 1;
- the row of a baseline file is found by its LAYER, and not by its place;
- BOS that the tokenizer of a causal model puts before texts weighs 0 too: bert-score counts it,
  though its state is the same in all texts;
- RoBERTa's and GPT-2's tokenizers are used as their folder sets them up: bert-score asks for a
  space before the first word, which transformers 5 does not pass on.

It tells little about fluency, order and facts, and its level depends on the model and the layer:
compare systems, or rescale by a baseline, before reading a value as high or low. A baseline is what
unrelated texts score.

Each distinct text goes through the model once, and each distinct pair is matched once, block by
block: the states of a block's texts are computed together, and those that a later block needs too
are kept as long as they fit, so that memory is bounded.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.embedders.automatic import READS, listed
from calipers.embedders.options import check_positive
from calipers.embedders.states.token_states import TokenEncoder, TokenIds, load_token_encoder
from calipers.errors import InputError, checks_keywords
from calipers.files import at_home, check_plain
from calipers.metrics.bert_score import (
    PARTS,
    BertScore,
    best,
    idf,
    match,
    rescale,
    summarise,
    with_f1,
)
from calipers.numeric.arrays import Flags, Floats, Longs
from calipers.numeric.validation import check_flags, check_whole
from calipers.progress import Advance, Progress, Silent
from calipers.samples.languages import (
    CHARACTERS,
    NO_LANGUAGE,
    SAMPLED,
    UNDECIDED,
    read_languages,
)
from calipers.samples.wording import counted
from calipers.score import Score
from calipers.text.aligned import Aligned, References, align
from calipers.text.measuring import Memo
from calipers.text.replicates import MeasuredTexts, TextReplicates, means_without
from calipers.text.scoring import Chosen, TextPair
from calipers.text.tokens import Texts


@dataclass(frozen=True, eq=False)
class Pairs:
    """Texts and references as indices of distinct texts.

    Attributes
    ----------
    distinct
        The distinct texts, without white space at their ends, in the order of their first row.
    texts, references
        The number of each row's text and of its references, shapes (n,) and (n, references); where
        a row has fewer, its first one stands again.
    given
        The numbers of all references that were given, one row's after another's.
    width
        How many references each row has; ``"var"`` where that differs.
    meetings
        The distinct pairs of a text and a reference, ascending, shape (m, 2).
    own, others
        Which of `meetings` each row has with its own references and, where these were asked for,
        with those of another row, both of shape (n, references).
    """

    distinct: list[str]
    texts: Longs
    references: Longs
    given: Longs
    width: int | str
    meetings: Longs
    own: Longs
    others: Longs | None


def pair_up(rows: Aligned, *, shuffled: bool, seed: int) -> Pairs:
    """Number the distinct texts, and list the pairs to be matched.

    Parameters
    ----------
    rows
        Texts and their references.
    shuffled
        Whether each text also meets the references of another row. The rows stand in one random
        circle for this, each before its partner; numbering them along the circle keeps what
        belongs together close together.
    seed
        For the circle.

    Raises
    ------
    InputError
        If a text is no valid Unicode, or a single row has no other to meet.
    """
    n = len(rows.texts)
    if shuffled and n < 2:
        raise InputError("baseline 'shuffled' needs at least 2 rows, to pair texts of other rows")
    circle = np.random.default_rng(seed).permutation(n) if shuffled else np.arange(n)
    numbers: dict[str, int] = {}
    texts = np.empty(n, dtype=np.int64)
    references = np.empty((n, max(map(len, rows.references))), dtype=np.int64)
    given: list[int] = []
    for row in circle.tolist():
        texts[row] = _number(rows.texts[row], numbers, f"texts: row {row + 1:,}")
        own = [
            _number(reference, numbers, f"references: row {row + 1:,}")
            for reference in rows.references[row]
        ]
        given += own
        # Of several the best counts, so the first may stand again where there are fewer
        references[row] = [*own, *own[:1] * (references.shape[1] - len(own))]
    partner = np.empty(n, dtype=np.int64)
    partner[circle] = np.roll(circle, -1)
    sides = [references, references[partner]] if shuffled else [references]
    codes = np.stack([texts[:, None] * len(numbers) + side for side in sides])
    meetings, which = np.unique(codes, return_inverse=True)
    which = which.reshape(codes.shape)
    return Pairs(
        distinct=list(numbers),
        texts=texts,
        references=references,
        given=np.array(given, dtype=np.int64),
        width=rows.width,
        meetings=np.column_stack(np.divmod(meetings, len(numbers))),
        own=which[0],
        others=which[1] if shuffled else None,
    )


def _number(text: str, numbers: dict[str, int], where: str) -> int:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} must be valid Unicode for a model's tokenizer; found "
            f"{text[error.start]!r} at character {error.start + 1:,}"
        ) from error
    return numbers.setdefault(text.strip(), len(numbers))


def blocks(sizes: Sequence[int] | Longs, budget: int) -> list[tuple[int, int]]:
    """Divide consecutive items into blocks of bounded size; a larger item is a block of its own.

    Examples
    --------
    >>> blocks([3, 3, 9, 1, 1], 6)
    [(0, 2), (2, 3), (3, 5)]
    """
    cuts, start, filled = [], 0, 0
    for place, size in enumerate(np.asarray(sizes).tolist()):
        if filled and filled + size > budget:
            cuts.append((start, place))
            start, filled = place, 0
        filled += size
    return [*cuts, (start, len(sizes))] if len(sizes) else []


NO_NAME = (*NO_LANGUAGE, UNDECIDED)
HALF = 0.5
"""Of the texts, from which on their language is said."""

KEPT_BYTES = 1 << 28
"""States of a block, and states kept from earlier blocks, may take this much each."""


Compare = Callable[[NDArray[np.float32], Floats, NDArray[np.float32], Floats], tuple[float, float]]
"""States and weights of a text, and of its reference ──► two numbers."""


def match_all(
    encoder: TokenEncoder,
    tokens: TokenIds,
    weights: Floats,
    meetings: Longs,
    advance: Advance,
    *,
    compare: Compare = match,
) -> Floats:
    """Compute precision and recall of each pair, or two other numbers.

    Parameters
    ----------
    encoder, tokens
        The model, and the distinct texts as its tokens.
    weights
        One for each token in `tokens`.
    meetings
        Which texts meet: number of a text and of its reference, shape (m, 2).
    advance
        Told how many texts have gone through the model.
    compare
        Gives the numbers of one pair from the states and the weights of its text and reference.

    Returns
    -------
    array
        Shape (m, 2), NaN where a side has no weight, and for both where a reference holds marks
        alone or the model knows less than half of the words of either; 0 where the text holds marks
        alone, as bert-score has it.
    """
    scores = np.full((len(meetings), 2), np.nan)
    words = _has_words(encoder, tokens)
    (text_read, reference_read) = (words & ~tokens.reading.little)[meetings].T
    scores[~words[meetings[:, 0]] & reference_read] = 0.0
    todo = np.flatnonzero(text_read & reference_read)
    shelf = _Shelf(encoder, tokens, meetings[todo], advance)
    for start, stop in blocks(tokens.lengths[meetings[todo]].sum(axis=1), shelf.room):
        shelf.fill(start, stop)
        for pair in todo[start:stop]:
            text, reference = meetings[pair].tolist()
            scores[pair] = compare(
                shelf.states[text],
                weights[tokens.of(text)],
                shelf.states[reference],
                weights[tokens.of(reference)],
            )
    return scores


class _Shelf:
    """The states of the texts that the present pairs need."""

    def __init__(
        self, encoder: TokenEncoder, tokens: TokenIds, meetings: Longs, advance: Advance
    ) -> None:
        self.states: dict[int, NDArray[np.float32]] = {}
        self.room = max(1, KEPT_BYTES // (4 * encoder.width))
        self._encoder, self._tokens, self._advance = encoder, tokens, advance
        self._meetings = meetings
        self._last = np.full(len(tokens.lengths), -1)
        for side in meetings.T:
            np.maximum.at(self._last, side, np.arange(len(meetings)))

    def fill(self, start: int, stop: int) -> None:
        """Have the states of all texts in some pairs, and of few others."""
        wanted = np.unique(self._meetings[start:stop]).tolist()
        self.states = self._kept(start, set(wanted))
        missing = [text for text in wanted if text not in self.states]
        made = self._encoder.states(self._tokens, missing, self._advance)
        self.states.update(zip(missing, made, strict=True))

    def _kept(self, start: int, wanted: set[int]) -> dict[int, NDArray[np.float32]]:
        """What pairs from `start` on still need: what is wanted now, and the rest while it fits."""
        needed = [text for text in self.states if self._last[text] >= start]
        needed.sort(key=lambda text: (text not in wanted, self._last[text]))
        ends = np.cumsum([len(self.states[text]) for text in needed])
        # A copy, since a part of an array keeps all of it alive
        return {
            text: self.states[text].copy()
            for text, end in zip(needed, ends, strict=True)
            if end <= self.room
        }


def _has_words(encoder: TokenEncoder, tokens: TokenIds) -> Flags:
    """Which texts hold more than the marks that open and close them."""
    words = ~np.isin(tokens.ids, list(encoder.marks))
    before = np.concatenate([[0], np.cumsum(words)])
    return np.diff(before[tokens.starts]) > 0


def token_weights(encoder: TokenEncoder, tokens: TokenIds, references: Longs | None) -> Floats:
    """Weigh each token by 1, or by its idf among the references; special tokens weigh 0.

    Parameters
    ----------
    encoder, tokens
        The model, and the distinct texts as its tokens.
    references
        The number of every reference, repeats included, for idf; None for 1 each.
    """
    size = int(tokens.ids.max(initial=0)) + 1
    table = np.ones(size)
    if references is not None:
        table = idf((tokens.ids[tokens.of(text)] for text in references), size)
    table[[mark for mark in encoder.marks if mark < size]] = 0.0
    return table[tokens.ids]


SHUFFLED = "shuffled"
Baseline = str | Path | Sequence[float] | None
"""None, three numbers (P, R, F1), ``"shuffled"``, or the path of a file with a row per layer."""

_COLUMNS = ("LAYER", "P", "R", "F")


def is_shuffled(baseline: object) -> bool:
    """Whether the baseline is measured on texts paired with references of other rows."""
    return isinstance(baseline, str) and baseline == SHUFFLED


def mean_level(others: Floats) -> Floats:
    """Average the scores of texts against references of other rows, (n, 3) to (3,)."""
    defined = others[~np.isnan(others).any(axis=1)]
    return defined.mean(axis=0) if len(defined) else np.full(3, np.nan)


def baseline_pins(baseline: Baseline, level: Floats | None, seed: int) -> dict[str, object]:
    """Describe the baseline for signatures: its level, and how it was found."""
    if level is None:
        return {"baseline": "none"}
    shown = "/".join(f"{value:.6g}" for value in level)
    if is_shuffled(baseline):
        return {"baseline": f"shuffled/{shown}", "seed": seed}
    return {"baseline": shown}


def given_baseline(baseline: Baseline, layer: int) -> Floats | None:
    """Read a baseline given as numbers or as a file, shape (3,); None for other forms.

    Parameters
    ----------
    baseline
        A file has the columns LAYER, P, R and F, with commas or tabs between them, as the files
        that come with bert-score.
    layer
        The layer whose row counts.

    Raises
    ------
    InputError
        If there is no such file or row, or a value is no number below 1.
    """
    if baseline is None or is_shuffled(baseline):
        return None
    if isinstance(baseline, str | Path):
        return _checked(_row(at_home(baseline), layer), f"{baseline}, layer {layer}")
    return _checked(baseline, "baseline")


def _checked(values: object, where: str) -> Floats:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (3,) or not (np.isfinite(numbers) & (numbers < 1)).all():
        raise InputError(
            f"{where}: a baseline must be 3 numbers below 1, for precision, recall and F1; "
            f"found {values!r}"
        )
    return numbers


def _row(path: Path, layer: int) -> list[str]:
    rows = _table(path)
    layer_row = next((row for row in rows if _is_layer(row["LAYER"], layer)), None)
    if layer_row is None:
        layers = ", ".join(str(row["LAYER"]) for row in rows[:30]) or "none"
        raise InputError(f"{path}: has no row for layer {layer}; its layers are {layers}")
    return [layer_row[column] for column in _COLUMNS[1:]]


def _is_layer(written: str | None, layer: int) -> bool:
    return str(written).strip() == str(layer)


def _table(path: Path) -> list[dict[str, str]]:
    check_plain(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(
            f"baseline must be 'shuffled', 3 numbers or a readable file; {str(path)!r} cannot be "
            f"read: {reason}"
        ) from error
    lines = text.splitlines()
    reader = csv.DictReader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    columns = [name.strip().upper() for name in reader.fieldnames or ()]
    if not set(_COLUMNS) <= set(columns):
        raise InputError(
            f"{path}: a baseline file must have the columns {', '.join(_COLUMNS)}; "
            f"found {', '.join(columns) or 'none'}"
        )
    reader.fieldnames = columns
    return list(reader)


CLOSEST = 1e-6
"""A baseline that comes closer to 1 leaves nothing to tell apart."""


@checks_keywords
def bert_score(
    texts: Texts,
    references: References,
    *,
    model: str | Path = "minilm",
    layer: int | None = None,
    idf: bool = False,
    baseline: Baseline = None,
    max_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    offline: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> BertScore:
    """Tell how much of each text is in its reference (precision), and vice versa (recall).

    Parameters
    ----------
    texts
        n strings, or a corpus, whose texts are taken.
    references
        For each text a string, or a list of strings, as many for each text; the best counts, for
        precision, recall and F1 each by itself.
    model
        ``"minilm"`` (packaged), the folder of a transformers encoder with safetensors weights, or
        the name of one in the local Hugging Face cache.
    layer
        Whose states stand for the tokens, from 1; later layers are not computed. None for three
        quarters of the depth, rounded up: 5 of MiniLM's 6.
    idf
        Whether rare tokens count more, by their idf among the references; else all count alike.
    baseline
        What unrelated texts score, which becomes 0: three numbers (P, R, F1), the path of a file
        in the format of bert-score's (columns LAYER, P, R, F), or ``"shuffled"``, which measures
        each text against the references of another row. None leaves the values as they are.
    max_length
        Most tokens that are read of a text, marks included; None for all that the model reads.
        A longer text keeps its beginning and the mark that closes it.
    device, dtype, batch_size
        As in :func:`calipers.embedders.load_embedder`; no batch size changes a value.
    offline
        False lets a model be downloaded from the Hugging Face hub.
    seed
        Seed for ``"shuffled"``.
    progress
        Display of the progress, in texts.

    Returns
    -------
    BertScore
        Means over the rows, with ``per_sample`` of shape (n,); higher is better, 1 for equal
        texts. Values lie in [0, 1]; with a baseline, 0 is its level. An empty text has 0, which
        ``note`` counts, as bert-score has it. NaN for a row whose references are empty, or one of
        whose texts the model knows less than half of the words; the signature counts these
        (``undefined``; ``unread`` those of words that it does not know), the share of such words
        (``unread_words``), and the texts and references that were cut (``truncated``). NaN
        throughout where most rows were not read.

    Raises
    ------
    InputError
        If texts and references do not match row by row, or an option is unknown.
    MissingExtraError
        If packages that the model needs are not installed.

    References
    ----------
    Zhang et al., "BERTScore: evaluating text generation with BERT", ICLR 2020; paper 003.

    Examples
    --------
    >>> scores = bert_score(["a cat sat"], ["a cat sat down"])  # doctest: +SKIP
    >>> scores.f1.value  # doctest: +SKIP
    """
    rows = align(texts, references)
    check_model_options(layer, idf, max_length, batch_size, offline)
    pairs = pair_up(rows, shuffled=is_shuffled(baseline), seed=check_whole("seed", seed, 0))
    encoder = load_token_encoder(
        model,
        layer=layer,
        max_length=max_length,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        offline=offline,
    )
    level = given_baseline(baseline, encoder.layer)
    tokens = encoder.tokenise(pairs.distinct)
    weights = token_weights(encoder, tokens, pairs.given if idf else None)
    with (progress or Silent()).task("BERTScore", len(pairs.distinct)) as advance:
        pair_scores = with_f1(match_all(encoder, tokens, weights, pairs.meetings, advance))
    if pairs.others is not None:
        level = mean_level(best(pair_scores[pairs.others]))
    pins = {
        **encoder.signature,
        "idf": "references" if idf else "none",
        **baseline_pins(baseline, level, seed),
        "references": pairs.width,
        "truncated": cut_count(pairs, tokens),
    }
    values = best(pair_scores[pairs.own])
    unread, reason = unread_pins(encoder, pairs, tokens)
    if reason is not None:
        values = np.full_like(values, np.nan)
    scores = _finish(values, level, pins | unread, reason)
    note = notes_on(model, pairs, pair_scores)
    return BertScore(
        *(replace(getattr(scores, part), note=note).signed(calipers=__version__) for part in PARTS)
    )


def unread_pins(
    encoder: TokenEncoder, pairs: Pairs, tokens: TokenIds
) -> tuple[dict[str, object], str | None]:
    """Describe what was not read, for signatures, and why a value is missing."""
    if not tokens.reading.unread.any():
        return {}, None
    unread = _unread(pairs, tokens)
    pins = {"unread": int(unread.sum()), "unread_words": _unread_words(pairs, tokens)}
    if 2 * unread.sum() <= len(unread):
        return pins, None
    return pins, (
        f"{encoder.signature['model']} knows less than half of the words in "
        f"{int(unread.sum()):,} of {len(unread):,} rows; choose a model that reads these "
        "texts, or chrf, which compares characters"
    )


def notes_on(model: str | Path, pairs: Pairs, scores: Floats) -> str | None:
    """Report empty texts, and languages that the model rarely saw in training."""
    return "; ".join(filter(None, [_empty(pairs, scores), _foreign(model, pairs)])) or None


def _empty(pairs: Pairs, scores: Floats) -> str | None:
    """Say how many rows count 0 because their text is empty."""
    blank = np.array([not text for text in pairs.distinct])[pairs.texts]
    scored = ~np.isnan(scores[pairs.own]).all(axis=(1, 2))
    count = int(np.count_nonzero(blank & scored))
    verb = "is empty and counts 0" if count == 1 else "are empty and count 0"
    return f"{count:,} of {counted(len(blank), 'text')} {verb}" if count else None


def _foreign(model: str | Path, pairs: Pairs) -> str | None:
    """Say that most texts are in languages that a model was not trained on, where that is known.

    A tokenizer may well know the characters of a language that its model has hardly met.
    """
    covered = READS.get(str(model))
    if covered is None:
        return None
    places = np.linspace(0, len(pairs.distinct) - 1, SAMPLED).astype(np.intp)
    texts = [pairs.distinct[place][:CHARACTERS] for place in np.unique(places)]
    shares = read_languages(texts).languages
    others = {name: share for name, share in shares.items() if name not in {*covered, *NO_NAME}}
    if sum(others.values()) <= HALF:
        return None
    return (
        f"{model} was trained on {listed([*covered])} and these texts are {listed([*others])}: it "
        "compares their characters more than what they say; use chrf, or a model of that language"
    )


def check_model_options(
    layer: object, idf: bool, max_length: object, batch_size: object, offline: bool
) -> None:
    """Refuse invalid options before the model is loaded."""
    for name, number in (("layer", layer), ("max_length", max_length)):
        if number is not None:
            check_whole(name, number, 1)
    check_flags(idf=idf, offline=offline)
    check_positive("batch_size", batch_size)


def cut_count(pairs: Pairs, tokens: TokenIds) -> int:
    """Count the truncated texts and references, including repeats."""
    rows = np.concatenate([pairs.texts, pairs.given])
    return int(np.count_nonzero(tokens.truncated[rows]))


def _unread(pairs: Pairs, tokens: TokenIds) -> Flags:
    """Which rows have no value, since less than half of their text or reference was read."""
    little = tokens.reading.little
    return little[pairs.texts] | little[pairs.references].all(axis=1)


def _unread_words(pairs: Pairs, tokens: TokenIds) -> str:
    """The share of the words of texts and references that the model does not know."""
    rows = np.concatenate([pairs.texts, pairs.given])
    read = tokens.reading.take(rows)
    return f"{read.unread.sum() / read.words.sum():.3g}"


def _finish(
    scores: Floats, level: Floats | None, pins: Mapping[str, object], reason: str | None
) -> BertScore:
    if reason is not None:
        return summarise(scores, pins, reason=reason)
    if level is None:
        return summarise(scores, pins)
    if not (level <= 1 - CLOSEST).all():
        nowhere = np.full_like(scores, np.nan)
        return summarise(nowhere, pins, reason="the baseline is 1: other rows score as their own")
    return summarise(rescale(scores, level), pins, lowest=(-level / (1 - level)).tolist())


def read_bert_score_precision(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).precision


def read_bert_score_recall(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).recall


def read_bert_score_f1(pair: TextPair, options: Chosen) -> Score:
    return _measured(pair, options).f1


def bert_score_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the mean over rows without each block of them, with the same token weights."""
    rows = means_without(measured)
    return TextReplicates(rows=rows, approximate=measured.options["weights"] == "idf")


def _measured(pair: TextPair, options: Chosen) -> BertScore:
    """Precision, recall and F1, which share the work."""
    idf = options["weights"] == "idf"
    return _KEPT.get(pair, idf, lambda: bert_score(pair.texts, pair.references, idf=idf))


_KEPT = Memo()
