"""Saved log-probabilities in the place of a language model.

An ``.npz`` of plain arrays: ``about`` (JSON, as bytes) names the model, how it read the texts and,
for each set, its name, the hash of its texts and prompts and that of the texts alone;
``N.log_probability`` and ``N.starts`` hold the scores of the N-th, beside ``N.unscored``, the
characters before them, ``N.words`` and ``N.unread``, the words of each text and those that the
model does not know, and ``N.decoded`` and ``N.squares`` where a decoding was asked for.
The texts themselves are not in it. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calipers._version import __version__
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.vectors import write_vectors
from calipers.errors import InputError
from calipers.files import check_there, fitting_in_memory
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Completion, LanguageModel, Passage, Request, TokenScores
from calipers.memory import budget
from calipers.progress import Advance

ENDING = ".npz"
KIND = "log-probabilities"
ARRAYS = {"log_probability": "f", "starts": "i", "decoded": "f", "squares": "f", "unscored": "i"}
READ = {"words": "i", "unread": "i"}
"""Arrays of a set, and the kind of their numbers: of its scores, and of what was read."""

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, RecursionError),
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
)


def is_kept(name: object) -> bool:
    """Whether the name of a model is that of a file of log-probabilities."""
    return isinstance(name, str | Path) and str(name).lower().endswith(ENDING)


def passages_hash(passages: Sequence[Passage]) -> str:
    """Hash texts with their prompts, in order: hexadecimal SHA-256."""
    digest = hashlib.sha256()
    for passage in passages:
        for part in (passage.prompt.encode(), passage.text.encode()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        if passage.ended:
            digest.update(b"\xff" * 8)  # no text is as long as that
    return digest.hexdigest()


def texts_hash(texts: Sequence[str]) -> str:
    """Hash texts alone, in order: hexadecimal SHA-256."""
    return passages_hash([Passage(text) for text in texts])


@dataclass(frozen=True)
class Convention:
    """The scoring conventions of a model, which two files must share to be comparable.

    Attributes
    ----------
    first, stride, decoding
        As for :meth:`~calipers.language_model.model.LanguageModel.score`; the decoding as it is
        written, empty for none.
    """

    first: str = "skip"
    stride: int | None = None
    decoding: str = ""


def keep(
    path: str | Path,
    model: LanguageModel,
    convention: Convention,
    sets: Sequence[tuple[str, Sequence[Passage], TokenScores]],
) -> None:
    """Save the log-probabilities of some sets of texts.

    Parameters
    ----------
    path
        Where; it ends in ``.npz``.
    model, convention
        What scored them, and how.
    sets
        Name, texts with their prompts, and scores of each.

    Raises
    ------
    InputError
        If nothing can be written there.
    """
    arrays: dict[str, Any] = {}
    listed: list[dict[str, Any]] = []
    for name, passages, scores in sets:
        content, texts = passages_hash(passages), [passage.text for passage in passages]
        if content in (stored["hash"] for stored in listed):
            continue
        place, about_set = len(listed), {"name": name, "hash": content, "texts": texts_hash(texts)}
        listed.append({**about_set, "vocabulary": scores.vocabulary})
        reading = model.reading(texts)
        columns = {array: getattr(scores, array) for array in ARRAYS}
        columns |= {} if reading is None else {"words": reading.words, "unread": reading.unread}
        arrays |= {
            f"{place}.{array}": stored for array, stored in columns.items() if stored is not None
        }
    about = {
        "calipers": __version__,
        "kind": KIND,
        "model": model.name,
        "revision": model.revision,
        "signature": dict(model.signature),
        "end_marks": list(model.end_marks),
        **vars(convention),
        "sets": listed,
    }
    plain = json.dumps(about, ensure_ascii=False).encode()
    arrays["about"] = np.frombuffer(plain, np.uint8)
    write_vectors(path, arrays, about={})


class KeptScores(LanguageModel):
    """The saved scores of a model, in place of the model.

    Parameters
    ----------
    path
        What :func:`keep` wrote.

    Raises
    ------
    InputError
        If there is no such file, it is damaged, holds something else, or claims more than fits.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.scores_end = True  # the hash of the texts tells whether it was scored
        check_there(self.path)
        with fitting_in_memory(self.path):
            try:
                about, self._scores, self._readings = _read(self.path)
                self.name = str(about["model"])
                self.revision = str(about["revision"])
                self.signature = {str(k): str(v) for k, v in about["signature"].items()}
                stride = about["stride"]
                self.convention = Convention(
                    str(about["first"]),
                    None if stride is None else int(stride),
                    str(about["decoding"]),
                )
                self.end_marks = tuple(str(mark) for mark in about["end_marks"])
                self.scores_first = self.convention.first == "bos"
            except InputError:
                raise
            except DAMAGE as error:
                raise self._refusal(f"holds no log-probabilities, or is damaged: {error}") from None

    def reading(self, texts: Sequence[str]) -> ReadingCounts | None:
        """Look up the number of words of these texts unknown to the model."""
        return self._readings.get(texts_hash(texts))

    def score(
        self,
        passages: Sequence[Passage],
        *,
        first: str = "skip",
        stride: int | None = None,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> TokenScores:
        """Look up the scores of these texts.

        Raises
        ------
        InputError
            If the file has none of them, or they were read in another way.
        """
        scores = self._scores.get(passages_hash(passages))
        if scores is None:
            sizes = ", ".join(f"{len(token_scores):,}" for token_scores in self._scores.values())
            raise self._refusal(
                f"holds log-probabilities of other texts (sets of {sizes}), not of these "
                f"{len(passages):,}; they must be the same texts, in the same order, with the "
                "same prompts and the same `end_of_text`"
            )
        convention = self.convention
        if first != convention.first or (stride is not None and stride != convention.stride):
            way = (
                f"`first_token={convention.first!r}`"
                if first != convention.first
                else f"`stride={convention.stride}`"
            )
            if first == convention.first and convention.stride is None:
                raise self._refusal("was made without `stride`, which must be left out here too")
            raise self._refusal(f"was made with {way}, which must be given here too")
        asked = "" if decoding is None else str(decoding)
        if asked != convention.decoding and asked not in ("", str(Decoding())):
            made = f"`decoding={convention.decoding!r}`" if convention.decoding else "no decoding"
            raise self._refusal(f"was made with {made}; found `decoding={asked!r}`")
        if advance is not None:
            advance(len(passages))
        return scores

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Refuse to generate, since there is no model."""
        raise self._refusal("holds log-probabilities; it is not a model that writes texts")

    def _refusal(self, problem: str) -> InputError:
        return InputError(f"{self.path}: {problem}")


def _read(
    path: Path,
) -> tuple[Mapping[str, Any], dict[str, TokenScores], dict[str, ReadingCounts]]:
    with np.load(path, allow_pickle=False) as arrays:
        size = sum(member.file_size for member in arrays.zip.infolist())

        def refusal(problem: str) -> InputError:
            return InputError(f"{path}: {problem}")

        budget().check_claim("claims to hold log-probabilities", size, refusal)
        budget().take(size, refusal)
        about = json.loads(bytes(arrays["about"]))
        if about.get("kind") != KIND:
            raise ValueError(f"it holds {about.get('kind')!r:.100}")
        scores_by_hash, readings = {}, {}
        for place, entry in enumerate(about["sets"]):
            columns = {
                name: arrays[f"{place}.{name}"]
                for name in (*ARRAYS, *READ)
                if f"{place}.{name}" in arrays.files
            }
            _check(columns)
            read = [columns.pop(name) for name in READ if name in columns]
            if read:
                readings[str(entry["texts"])] = ReadingCounts(*read)
            scores_by_hash[str(entry["hash"])] = TokenScores(
                vocabulary=int(entry["vocabulary"]), **columns
            )
        return about, scores_by_hash, readings


def _check(columns: Mapping[str, Any]) -> None:
    """Refuse arrays that do not belong together."""
    starts, tokens = columns["starts"], len(columns["log_probability"])
    for name, array in columns.items():
        if array.ndim != 1 or array.dtype.kind != {**ARRAYS, **READ}[name]:
            raise ValueError(f"the array {name} has shape {array.shape} and type {array.dtype}")
        of_texts = name in ("unscored", *READ)
        if of_texts and (len(array) != len(starts) - 1 or (array < 0).any()):
            raise ValueError(f"the array {name} does not fit the texts")
        if not of_texts and name != "starts" and len(array) != tokens:
            raise ValueError(f"the array {name} has {len(array)} numbers for {tokens} tokens")
    read = [columns[name] for name in READ if name in columns]
    if len(read) == 1 or (read and (read[1] > read[0]).any()):
        raise ValueError("more words were not read than there are")
    if not len(starts) or starts[0] != 0 or starts[-1] != tokens or (np.diff(starts) < 0).any():
        raise ValueError("the texts do not begin one behind the other")
    if not (columns["log_probability"] <= 1e-4).all():
        raise ValueError("a log-probability lies above 0, or is none")
