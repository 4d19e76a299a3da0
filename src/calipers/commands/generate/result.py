"""Samples that a language model wrote, with prompts, token counts and likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calipers.samples import SampleSet
from calipers.samples.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class Generation:
    """Samples of a language model: compare them, or look at their rows.

    Attributes
    ----------
    name
        Name of the set.
    source
        The file that holds it, or ``"<generated>"``.
    configuration
        What the samples depend on, as plain data: model, revision, decoding, seed, prompts.
    counts
        Counts of tokens, of reasons why texts ended, and others.
    rows
        One for each sample: ``text``, ``prompt``, ``prompt_id``, ``model``, ``revision``,
        ``decoding``, ``seed``, ``finish_reason``, ``tokens``.
    notes
        Notes on the set.
    """

    name: str
    source: str
    configuration: Mapping[str, Any]
    counts: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return (row["text"] for row in self.rows)

    def __repr__(self) -> str:
        return f"<Generation {self.name!r} of {counted(len(self), 'sample')}>"

    @cached_property
    def samples(self) -> SampleSet:
        """The texts with their prompts, for :func:`calipers.compare`."""
        prompts = [row["prompt"] for row in self.rows if "prompt" in row]
        return SampleSet.from_texts(
            list(self),
            name=self.name,
            source=self.source,
            prompts=prompts if len(prompts) == len(self) else None,
        )

    def __str__(self) -> str:
        counts = self.counts
        ended = ", ".join(
            f"{count:,} {_REASONS.get(reason, reason)}"
            for reason, count in counts["finish_reasons"].items()
        )
        lines = [
            f"{counted(len(self), 'text')} by {self.configuration['model']} "
            f"({_decoding(self.configuration['decoding'])}, seed {self.configuration['seed']}): "
            f"{counts['tokens']:,} tokens; {ended}."
        ]
        if counts["new"] < len(self):
            lines.append(f"{len(self) - counts['new']:,} of them already existed.")
        if "cost" in counts:
            lines.append(f"At {counts['price']} a million tokens: {counts['cost']:.4f}.")
        lines += [f"Note: {note}." for note in self.notes]
        return "\n".join(lines)


_REASONS = {"stop": "ended by themselves", "length": "cut at the token limit"}


def _decoding(data: Mapping[str, Any]) -> str:
    parts = [f"{key}={value:g}" for key, value in data.items() if key != "method"]
    if data["method"] == "sample":
        return ",".join(parts) or "ancestral"
    return ",".join(parts if data["method"] in data else [data["method"], *parts])
