"""What a metric asked for by name cannot do with sets of these sizes, said before the long work."""

from __future__ import annotations

from collections.abc import Iterable

from calipers.catalogue.choosing import Choice
from calipers.errors import InputError
from calipers.evaluate.text_intake import TextIntake

MOST_FOR_VENDI = 10_000
"""As in :mod:`calipers.text.vendi`, of whose matrix all eigenvalues would be needed."""

FREE = (2.0, float("inf"))
"""Orders of the Vendi score that need no such matrix."""


def check_limits(choices: Iterable[Choice], intake: TextIntake) -> None:
    """Refuse what these sizes do not allow; what only came along with others has a dash instead.

    Raises
    ------
    InputError
        If Self-BLEU would draw more texts than there are, or the Vendi score take too many.
    """
    sizes = intake.sizes.values()
    for choice in choices:
        if not choice.named:
            continue
        if choice.metric.name == "self_bleu":
            _check_draws(choice, min(sizes))
        elif choice.metric.name == "vendi" and choice.option("q") not in FREE:
            _check_vendi(choice, max(sizes))


def _check_draws(choice: Choice, texts: int) -> None:
    """A single text has no others whatever is drawn, which its own reason says."""
    others = int(choice.option("others")) or texts - 1
    pools = {"others": texts - 1, "sample": others + 1}
    for name, most in pools.items():
        if texts > 1 and int(choice.option(name)) > most:
            raise InputError(
                f"{choice.key}: {name} must be at most {most:,}, since the smallest set has "
                f"{texts:,} texts; found {choice.option(name):,}"
            )


def _check_vendi(choice: Choice, texts: int) -> None:
    if texts > MOST_FOR_VENDI:
        raise InputError(
            f"{choice.key}: takes at most {MOST_FOR_VENDI:,} texts, found {texts:,}; take "
            f"vendi:q=2, vendi:q=inf or --max-samples {MOST_FOR_VENDI} "
            f"(max_samples={MOST_FOR_VENDI})"
        )
