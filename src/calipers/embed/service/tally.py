"""What a run asked of an embeddings service, and how a person is told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts of one run; the last four begin anew when they were told.

    Attributes
    ----------
    seen, safe, answers
        Different texts so far, how many of their vectors are kept on disk, and how many are known.
    models
        What the service called the model, in the order of appearance.
    sent, tokens, kept, empty
        Texts that were answered, tokens that the service counted, vectors that were kept from
        before, samples without a character.
    """

    seen: int = 0
    safe: int = 0
    answers: int = 0
    models: dict[str, None] = field(default_factory=dict)
    sent: int = 0
    tokens: int = 0
    kept: int = 0
    empty: int = 0
    _told_models: int = 0

    def begin(self, texts: int, *, kept: int, empty: int) -> None:
        """Count the texts of a call and what is kept of them from before."""
        self.seen += texts
        self.safe += kept
        self.answers += kept
        self.kept += kept
        self.empty += empty

    def answered(self, texts: int, *, tokens: int, safe: bool) -> None:
        """Count an answer; `safe` says whether it is on disk."""
        self.sent += texts
        self.tokens += tokens
        self.answers += texts
        self.safe += texts if safe else 0

    def note_model(self, model: str) -> None:
        """Remember what the service called the model; an empty name says nothing."""
        if model:
            self.models.setdefault(model)

    def standing(self) -> str:
        """Say how much is safe, for the message with which a run ends."""
        return (
            f"The same command goes on from here: {self.safe:,} of {self.seen:,} vectors so far "
            "are kept"
        )

    def tell(self, where: str) -> tuple[str, ...]:
        """Put what happened since the last time into words."""
        notes = (*self._traffic(where), *self._empties(), *self._changes(where))
        self.sent = self.tokens = self.kept = self.empty = 0
        return notes

    def _traffic(self, where: str) -> tuple[str, ...]:
        if not self.sent:
            return ()
        tokens = f" ({self.tokens:,} tokens)" if self.tokens else ""
        before = f"; {_count(self.kept, 'vector')} kept from before" if self.kept else ""
        return (f"{_count(self.sent, 'text')} sent to {where}{tokens}{before}",)

    def _empties(self) -> tuple[str, ...]:
        return (f"{_count(self.empty, 'empty text')} sent as a space",) if self.empty else ()

    def _changes(self, where: str) -> tuple[str, ...]:
        known, self._told_models = self._told_models, len(self.models)
        if len(self.models) < 2 or known == len(self.models):
            return ()
        names = " and ".join(map(repr, self.models))
        return (f"{where} answered as {names}: the vectors may be of different models",)


def _count(number: int, noun: str) -> str:
    return f"1 {noun} was" if number == 1 else f"{number:,} {noun}s were"
