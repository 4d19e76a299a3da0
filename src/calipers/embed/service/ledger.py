"""The vectors that came from an embeddings service: checked, counted, and kept at once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from calipers.embed.service.address import Address
from calipers.embed.service.answer import Answer
from calipers.embed.service.paid_texts import Paid, PaidTexts
from calipers.embed.service.tally import Tally
from calipers.errors import CalipersError

Vectors = dict[str, NDArray[np.float32]]


class Ledger:
    """What one run has of a model's vectors, from before and from now; for several threads.

    Parameters
    ----------
    address, model, size
        The service, the model's name there, and the numbers that a vector should have (None: the
        model's own).
    """

    def __init__(self, address: Address, model: str, size: int | None) -> None:
        self.service = f"endpoint|url:{address.unversioned}|model:{model}|size:{size}"
        self.width = size
        self._where, self._model, self._size = address.shown, model, size
        self._tally, self._lock = Tally(), Lock()
        self._store: PaidTexts | None = None

    def keep_in(self, folder: Path | None) -> None:
        """Keep vectors in a database in this folder; None for nowhere."""
        self._store = None if folder is None else PaidTexts(Path(folder))

    @property
    def served(self) -> tuple[str, ...]:
        """What the service calls the model, in the order of appearance."""
        return tuple(self._tally.models)

    def look_up(self, texts: list[str], *, empty: int) -> Vectors:
        """Return the vectors that are kept from before; `empty` samples had no character."""
        keys = {self._key(text): text for text in texts}
        found = {} if self._store is None else self._store.find(list(keys))
        for paid in found.values():
            self._check_width(paid.vector.shape[0])
            self._tally.note_model(paid.model)
        self._tally.begin(len(texts), kept=len(found), empty=empty)
        return {keys[key]: paid.vector for key, paid in found.items()}

    def accept(self, texts: list[str], answer: Answer) -> Vectors:
        """Check the vectors of an answer and keep them.

        Raises
        ------
        CalipersError
            If they are not as long as those before.
        """
        with self._lock:
            self._check_width(answer.vectors.shape[1])
            self._tally.note_model(answer.model or "")
        vectors = dict(zip(texts, answer.vectors, strict=True))
        safe = self._store is not None and self._store.keep(
            {self._key(text): Paid(row, answer.model or "") for text, row in vectors.items()}
        )
        with self._lock:
            self._tally.answered(len(texts), tokens=answer.tokens or 0, safe=safe)
        return vectors

    def told(self) -> tuple[str, ...]:
        """Tell what happened since the last call."""
        with self._lock:
            notes = self._tally.tell(self._where)
        return notes if self._store is None else (*notes, *self._store.notes())

    def standing(self) -> str:
        """Say what is kept, for the message with which a run ends; empty where nothing was."""
        if not self._tally.answers:
            return ""
        if self._store is None:
            return "Nothing is kept of what was answered, since there is no cache folder"
        if self._store.refusal:
            return (
                f"Not all that was answered could be kept in {self._store.path} "
                f"({self._store.refusal})"
            )
        return f"{self._tally.standing()} in {self._store.path}"

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.service}\0{text}".encode()).digest()

    def _check_width(self, width: int) -> None:
        if self.width is None:
            self.width = width
        if width == self.width:
            return
        if self._size is not None:
            raise CalipersError(
                f"{self._where}: the size asked for is {self._size:,}, but the vectors have "
                f"{width:,} numbers; if {self._model!r} comes in no other size, leave the size out"
            )
        kept = "" if self._store is None else f" (those from before are in {self._store.path})"
        raise CalipersError(
            f"{self._where}: the vectors of {self._model!r} must be equally long; they had "
            f"{self.width:,} numbers at first and have {width:,} now{kept}. The service has "
            "another model behind the name; with another cache folder all texts are sent anew"
        )
