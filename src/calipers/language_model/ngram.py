"""An interpolated n-gram model of a set of texts, for use without a neural language model.

Words and marks carry the white space before them (:mod:`calipers.language_model.pieces`), so that
texts come out as people write them; probabilities are interpolated Kneser-Ney
(:mod:`calipers.language_model.kneser_ney`). A word that no text had is the unknown token of its
kind, which has a share of the probability but is never written: texts are drawn from the
distribution without it, renormalised, and its probability under a decoding is 0.

No package does this: KenLM scores and does not generate, and estimates by a C++ program of its own;
``nltk.lm`` counts in Python dictionaries, and draws by listing all that can follow.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock

import numpy as np

from calipers.errors import InputError, unknown_name
from calipers.language_model import pieces
from calipers.language_model.decoding import TRUNCATIONS, Decoding
from calipers.language_model.kneser_ney import fit_tables
from calipers.language_model.model import (
    Completion,
    LanguageModel,
    Passage,
    Request,
    TokenScores,
)
from calipers.language_model.ngram_beams import BeamExtensions
from calipers.language_model.ngram_tables import Memory, Tables, TemperatureWeights, remember, weigh
from calipers.language_model.ngram_walks import (
    after,
    next_probabilities,
    proceed,
    read,
    read_decoded,
    write,
)
from calipers.language_model.sampling import invert, stream
from calipers.language_model.search import adversarial_search, perplexity_target, search_beams
from calipers.language_model.truncation import has_distribution, truncated
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.threads import allowed_threads, workers
from calipers.numeric.validation import is_whole
from calipers.progress import Advance
from calipers.text.corpus import as_strings

LONGEST = 5
"""Most tokens of an n-gram."""

OWN_FORMS = 200
"""Most marks that have a form of their own."""

COLDEST = 0.05
"""Lowest temperature of which sums of p^(1/T) are safe in float64; below, logarithms are taken."""

BLOCK = 256
"""Tokens of a text that are written at once."""

BATCH = 64
"""Texts that are written at once."""


def read_ngram_options(text: str) -> dict[str, int]:
    """Parse the options after ``ngram:``.

    Raises
    ------
    InputError
        If it is not an order of an n-gram model.

    Examples
    --------
    >>> read_ngram_options("order=4"), read_ngram_options("")
    ({'order': 4}, {})
    """
    options: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name.strip() != "order":
            raise unknown_name("option of the n-gram model", name.strip(), ["order"])
        if "order" in options:
            raise InputError(f"the model 'ngram:{text}' gives order twice")
        digits = value.strip()
        if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= LONGEST):
            raise _wrong_order(repr(digits))
        options["order"] = int(digits)
    return options


def fit_ngram(texts: Sequence[str], *, order: int = 3) -> NGramModel:
    """Fit an n-gram model on texts.

    Parameters
    ----------
    texts
        The texts; empty ones are texts that end at once.
    order
        Tokens of the longest n-gram, 1 to 5.

    Raises
    ------
    InputError
        If there is no text, an item is no string, or the order is none from 1 to 5.
    """
    if not is_whole(order, 1) or order > LONGEST:
        raise _wrong_order(repr(order))
    listed = as_strings(texts)
    split = [pieces.split(text) for text in listed]
    counts = Counter(chain.from_iterable(split))
    vocabulary = {piece: number for number, piece in enumerate(counts, 1)}
    known = len(vocabulary)
    kind = np.array(
        [pieces.END, *map(pieces.kind_of, vocabulary), *range(1, pieces.KINDS)], np.int32
    )
    form = np.array([*map(pieces.form_of, kind.tolist()), pieces.BEGIN], np.int32)
    marks = [
        (piece, count)
        for piece, count in counts.items()
        if form[vocabulary[piece]] == pieces.AFTER_MARK
    ]
    marks.sort(key=lambda mark: -mark[1])
    for place, (piece, _) in enumerate(marks[:OWN_FORMS]):
        form[vocabulary[piece]] = pieces.AFTER_MARK + 1 + place
    begin = len(form) - 1
    lengths = np.array([len(tokens) + 2 for tokens in split])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.zeros(starts[-1], np.int32)
    inside = np.ones(len(tokens), np.bool_)
    inside[starts[:-1]] = inside[starts[1:] - 1] = False
    tokens[inside] = np.fromiter(
        map(vocabulary.__getitem__, chain.from_iterable(split)), np.int32, int(inside.sum())
    )
    tokens[starts[:-1]] = begin
    tables = fit_tables(tokens, starts, order=int(order), known=known, kind=kind, form=form)
    digest = hashlib.sha256()
    for text in listed:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return NGramModel(tables, vocabulary, order=int(order), revision=digest.hexdigest()[:16])


def _wrong_order(order: str) -> InputError:
    return InputError(
        f"order of the n-gram model must be a whole number from 1 to {LONGEST}; found {order}"
    )


class NGramModel(LanguageModel):
    """An interpolated n-gram model of some texts; made by :func:`fit_ngram`.

    Attributes
    ----------
    order
        Tokens of the longest n-gram.
    tables
        All probabilities.
    vocabulary
        The number of each known token, from 1; 0 ends a text.
    """

    def __init__(
        self, tables: Tables, vocabulary: dict[str, int], *, order: int, revision: str
    ) -> None:
        self.tables, self.vocabulary, self.order = tables, vocabulary, order
        self.scores_first = self.scores_end = True
        self.name, self.revision = f"ngram:order={order}", revision
        self.signature = {"model": self.name, "revision": revision, "dtype": "float64"}
        self._pieces = ["", *vocabulary]
        self._sums: tuple[float, TemperatureWeights] | None = None
        self._lock = Lock()

    @property
    def known(self) -> int:
        """Number of tokens that can be generated, without the end."""
        return len(self.vocabulary)

    @property
    def begin(self) -> int:
        """The token that begins a text, and the context before it."""
        return len(self.tables.form) - 1

    def tokenise(self, text: str) -> Longs:
        """Number the tokens of a text, unknown ones by their kind."""
        return self._numbers(pieces.split(text))

    def detokenise(self, tokens: Sequence[int]) -> str:
        """Join tokens into a text; the end is the empty text."""
        return "".join([self._pieces[token] for token in tokens])

    def context_after(self, tokens: Longs, *, begin: bool = True) -> int:
        """Find the context after some tokens; unless they begin a text, there must be one."""
        return int(self._contexts_after([tokens], self.begin if begin else -1)[0])

    def _contexts_after(self, texts: Sequence[Longs], opening: int) -> Longs:
        """Find the context after the tokens of each text."""
        tokens, starts = _joined(texts)
        return after(self.tables, tokens, starts, opening)

    def next_probabilities(self, context: int) -> Floats:
        """Probabilities of the end, the known tokens, and the unknown token of each kind."""
        return np.asarray(next_probabilities(self.tables, np.array([context], np.int64))[0])

    def score(
        self,
        passages: Sequence[Passage],
        *,
        first: str = "skip",
        stride: int | None = None,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> TokenScores:
        """Compute the log-probability of every token of some texts.

        As :meth:`LanguageModel.score`, with no limit to the context. A prompt and its text are cut
        into tokens together, and a token that reaches into the text is scored. The end of a text is
        where its passage asks for that. ``decoded`` and ``squares`` are of the distribution that
        texts are written from, which has no unknown tokens; a token that cannot be written has 0.
        """
        if first not in ("skip", "bos"):
            raise InputError(f"first must be 'skip' or 'bos'; found {first!r}")
        if decoding is not None and not has_distribution(decoding):
            truncated(np.ones(1), decoding)
        texts, skipped = [], []
        unscored = np.zeros(len(passages), np.int64)
        for row, passage in enumerate(passages):
            cut = pieces.split(passage.prompt + passage.text)
            before = 0
            if passage.prompt:
                ends = np.cumsum([len(piece) for piece in cut])
                before = int((ends <= len(passage.prompt)).sum())
            end = np.zeros(int(passage.ended), np.int64)
            texts.append(np.concatenate([self._numbers(cut), end]))
            skipped.append(max(before, first == "skip"))
            if cut and skipped[-1] > before:
                unscored[row] = max(len(cut[0]) - len(passage.prompt), 0)
        tokens, starts = _joined(texts)
        lengths = np.diff(starts)
        opening = self.begin if first == "bos" else -1
        probability, contexts = read(self.tables, tokens, starts, opening)
        place = np.arange(len(tokens)) - np.repeat(starts[:-1], lengths)
        scored = place >= np.repeat(np.array(skipped, np.int64), lengths)
        counts = np.maximum(lengths - np.array(skipped, np.int64), 0)
        decoded = squares = None
        if decoding is not None:
            rows = np.flatnonzero(scored)
            decoded, squares = self._decoded(decoding, tokens, starts, contexts, rows)
        if advance is not None:
            advance(len(passages))
        return TokenScores(
            log_probability=np.minimum(np.log(probability[scored]), 0),
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            vocabulary=len(self.tables.kind),
            decoded=decoded,
            squares=squares,
            unscored=unscored,
        )

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Write a text for each request, in order.

        As :meth:`LanguageModel.generate`. A sample depends on the seed, its number and its prompt.
        Where a prompt ends in white space, the text begins without any.
        """
        if not is_whole(max_tokens, 1):
            raise InputError(
                f"max_tokens must be a whole number of at least 1; found {max_tokens!r}"
            )
        if any(request.messages is not None for request in requests):
            raise InputError(f"{self.name} continues plain text; it takes no conversation")
        if decoding.method == "contrastive":
            raise InputError(
                f"{self.name} has no hidden states, which contrastive search compares; "
                f"found {decoding}"
            )
        if decoding.method == "adversarial":
            perplexity_target(decoding)
            if self.known == 0:
                raise InputError(f"{self.name} was fitted on empty texts and has no words to write")
        return self._generated(list(requests), decoding, int(max_tokens), seed, advance)

    def _generated(
        self,
        requests: list[Request],
        decoding: Decoding,
        max_tokens: int,
        seed: int,
        advance: Advance | None,
    ) -> Iterator[Completion]:
        listed: list[Memory] = []
        size = max(1, min(BATCH, -(-len(requests) // allowed_threads())))
        batches = [requests[start : start + size] for start in range(0, len(requests), size)]
        by_sums = _by_sums(decoding)
        weights = self._weights(decoding.temperature if by_sums else 1.0)

        def work(batch: list[Request]) -> list[Completion]:
            prompts = [self.tokenise(request.prompt) for request in batch]
            streams = [stream(seed, request.id) for request in batch]
            if by_sums:
                with self._lock:
                    memory = listed.pop() if listed else remember(self.tables, weights)
                written = self._drawn(prompts, streams, decoding, weights, memory, max_tokens)
                with self._lock:
                    listed.append(memory)
            elif has_distribution(decoding):
                written = self._drawn_by_definition(prompts, streams, decoding, max_tokens)
            elif decoding.method == "beam":
                written = self._found_by_beams(prompts, decoding, max_tokens)
            else:
                written = [
                    self._adversarial(prompt, decoding, max_tokens, uniforms)
                    for prompt, uniforms in zip(prompts, streams, strict=True)
                ]
            return list(map(self._completion, batch, prompts, written))

        with workers(allowed_threads()) as pool:
            for completions in pool.map(work, batches):
                yield from completions
                if advance is not None:
                    advance(len(completions))

    def _drawn(
        self,
        prompts: list[Longs],
        streams: list[np.random.Generator],
        decoding: Decoding,
        weights: TemperatureWeights,
        memory: Memory,
        max_tokens: int,
    ) -> list[list[int]]:
        """Write texts token by token, all of a batch at once."""
        contexts = self._contexts_after(prompts, self.begin)
        written: list[list[int]] = [[] for _ in prompts]
        done = 0
        while done < max_tokens and (contexts >= 0).any():
            steps = min(BLOCK, max_tokens - done)
            rows = np.flatnonzero(contexts >= 0)
            uniforms = np.stack([streams[row].random(steps) for row in rows])
            going = contexts[rows]
            tokens, lengths = write(
                self.tables, weights, memory, *_rules(decoding), going, uniforms
            )
            contexts[rows] = going
            for row, drawn, length in zip(rows, tokens, lengths, strict=True):
                written[row].extend(drawn[:length].tolist())
            done += steps
        return written

    def _drawn_by_definition(
        self,
        prompts: list[Longs],
        streams: list[np.random.Generator],
        decoding: Decoding,
        max_tokens: int,
    ) -> list[list[int]]:
        """Write texts by a decoding that looks at what was written, a token of each in turn."""
        contexts = np.full(len(prompts), self.begin, np.int64)
        histories = [prompt.tolist() for prompt in prompts]
        written: list[list[int]] = [[] for _ in prompts]
        steps, going = prompts, list(range(len(prompts)))
        while going and len(written[going[0]]) < max_tokens:
            following = proceed(self.tables, contexts, *_joined(steps))[:, : self.known + 1]
            for row, probabilities in zip(going, following, strict=True):
                chances = truncated(probabilities, decoding, history=histories[row])
                token = int(invert(chances[None], streams[row].random(1))[0])
                written[row].append(token)
                histories[row].append(token)
            contexts = contexts[[written[row][-1] != 0 for row in going]]
            going = [row for row in going if written[row][-1] != 0]
            steps = [np.array(written[row][-1:], np.int64) for row in going]
        return written

    def _found_by_beams(
        self, prompts: list[Longs], decoding: Decoding, max_tokens: int
    ) -> list[list[int]]:
        """Write texts by beam search, a token of each in turn."""
        no_repeat, beams = decoding.get("no_repeat_ngram"), int(decoding.get("beam"))
        extend = BeamExtensions(
            self.tables,
            self._weights(1.0),
            known=self.known,
            begin=self.begin,
            beams=beams,
            no_repeat_ngram=None if no_repeat is None else int(no_repeat),
            repetition_penalty=decoding.get("repetition_penalty"),
        )
        found = search_beams(
            extend,
            [prompt.tolist() for prompt in prompts],
            beams=beams,
            max_tokens=max_tokens,
            end=0,
            length_penalty=float(decoding.get("length_penalty", 1.0)),
        )
        return [list(text.tokens) for text in found]

    def _adversarial(
        self, prompt: Longs, decoding: Decoding, max_tokens: int, uniforms: np.random.Generator
    ) -> list[int]:
        """Write a text of a given perplexity."""
        return adversarial_search(
            self._log_probabilities,
            prompt.tolist(),
            decoding,
            uniforms.random(max_tokens),
            choices=np.arange(1, self.known + 1),
        )

    def _log_probabilities(self, histories: Sequence[Sequence[int]]) -> Floats:
        """Logarithms of the probabilities of the end and the known tokens after some texts."""
        texts = [np.asarray(history, np.int64) for history in histories]
        contexts = np.full(len(texts), self.begin, np.int64)
        rows = proceed(self.tables, contexts, *_joined(texts))
        with np.errstate(divide="ignore"):
            return np.log(rows[:, : self.known + 1])

    def _decoded(
        self, decoding: Decoding, tokens: Longs, starts: Longs, contexts: Longs, rows: Longs
    ) -> tuple[Floats, Floats]:
        """Probability of the tokens of some rows as they are decoded, and the sums of squares."""
        if _by_sums(decoding):
            weights = self._weights(decoding.temperature)
            memory = remember(self.tables, weights)
            return read_decoded(
                self.tables, weights, memory, *_rules(decoding), contexts[rows], tokens[rows]
            )
        decoded, squares = np.zeros(len(rows)), np.zeros(len(rows))
        begins = starts[np.searchsorted(starts, rows, side="right") - 1]
        for first in range(0, len(rows), BATCH):
            following = next_probabilities(self.tables, contexts[rows[first : first + BATCH]])
            for place, probabilities in enumerate(following[:, : self.known + 1], first):
                row = rows[place]
                chances = truncated(probabilities, decoding, history=tokens[begins[place] : row])
                if tokens[row] <= self.known:
                    decoded[place] = chances[tokens[row]]
                squares[place] = (chances**2).sum()
        return decoded, squares

    def _completion(self, request: Request, prompt: Longs, written: list[int]) -> Completion:
        text = self.detokenise(written)
        return Completion(
            id=request.id,
            text=text.lstrip() if request.prompt[-1:].isspace() else text,
            finish_reason="stop" if written and written[-1] == 0 else "length",
            tokens=len(written),
            prompt_tokens=len(prompt) + 1,
        )

    def _weights(self, temperature: float) -> TemperatureWeights:
        """The sums for a temperature; those of the last one are kept."""
        with self._lock:
            if self._sums is None or self._sums[0] != temperature:
                self._sums = temperature, weigh(self.tables, self.known, temperature)
            return self._sums[1]

    def _numbers(self, tokens: Sequence[str]) -> Longs:
        return np.fromiter(map(self._number, tokens), np.int64, len(tokens))

    def _number(self, piece: str) -> int:
        """The number of a token; of one that only differs in white space, that of the usual one."""
        number = self.vocabulary.get(piece)
        if number is None and piece[:1].isspace():
            number = self.vocabulary.get(" " + piece.lstrip())
        return self.known + pieces.kind_of(piece) if number is None else number


def _joined(texts: Sequence[Longs]) -> tuple[Longs, Longs]:
    """All tokens end to end, and where those of each text begin."""
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    return np.concatenate([*texts, np.zeros(0, np.int64)]), starts


def _by_sums(decoding: Decoding) -> bool:
    """Whether the next token depends on the context alone, at a temperature that sums allow."""
    looks_back = {"repetition_penalty", "no_repeat_ngram"} & dict(decoding.parameters).keys()
    return has_distribution(decoding) and not looks_back and decoding.temperature >= COLDEST


def _rules(decoding: Decoding) -> tuple[Longs, Floats]:
    """Truncations as the kernels read them."""
    rules = (("top_k", 1.0),) if decoding.method == "greedy" else decoding.truncations
    return (
        np.array([TRUNCATIONS.index(name) for name, _ in rules], np.int64),
        np.array([value for _, value in rules], np.float64),
    )
