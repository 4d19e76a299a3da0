"""The embedders of an agreement: their column names, and a trial load of each before the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calipers.embedders import Embedder, EmbedderChoice, as_embedder, is_embedder
from calipers.embedders.processes import check_divides, may_divide
from calipers.errors import InputError
from calipers.options.embedding import Model
from calipers.progress import Progress

Embedders = dict[str, Embedder | EmbedderChoice]


def name_embedders(embedders: Any, options: Model) -> Embedders:
    """Assign each embedder a name for its columns.

    Parameters
    ----------
    embedders
        Lines ``NAME[:option=value…]``, choices or embedders, in a sequence or in a dict from the
        name of the column.

    Returns
    -------
    dict
        From name to choice or embedder, in the order given. A line is named by its last part,
        ``./models/gpt2:layer=6`` by ``gpt2:layer=6``, and by all of it where two are alike.

    Raises
    ------
    InputError
        If it holds nothing, something that is not an embedder, or the same one twice.
    """
    if isinstance(embedders, Mapping):
        return {str(name): _choice(given, options) for name, given in embedders.items()}
    listed = [embedders] if isinstance(embedders, str) else _listed(embedders)
    choices = [_choice(given, options) for given in listed]
    lines = [_line(choice) for choice in choices]
    for line in lines:
        if lines.count(line) > 1:
            raise InputError(
                f"the embedder {line!r} is given twice; give each once, or give a dict from "
                "names to embedders"
            )
    short = [_short(line) for line in lines]
    names = [
        brief if short.count(brief) == 1 else line for brief, line in zip(short, lines, strict=True)
    ]
    return dict(zip(names, choices, strict=True))


def processes_of(embedder: Embedder | EmbedderChoice, processes: int | None) -> int | None:
    """Return the number of processes for one of several embedders: one where more do not help."""
    divides = isinstance(embedder, EmbedderChoice) and may_divide(embedder)
    return processes if divides else None


def try_embedders(
    named: Embedders, kind: str, progress: Progress, *, processes: int | None = None
) -> int:
    """Load every embedder once and release it; count the columns that they give.

    A misspelt last name is reported before the first embedder has run for an hour. They are loaded
    one after another, so that no two models need memory at the same time.

    Raises
    ------
    InputError
        If one cannot be loaded or does not read samples of this kind, two are the same, they
        give fewer than two columns, or processes are asked for that could help none of them or
        not with a model where it runs.
    """
    if processes not in (None, 1) and not any(processes_of(e, processes) for e in named.values()):
        raise InputError(
            "`processes` applies to models on the CPU only; none of "
            f"these is one: {', '.join(named)}"
        )
    seen: dict[str, str] = {}
    columns = 0
    with progress.task("Trying embedders", len(named)) as advance:
        for name, given in named.items():
            model = given.load() if isinstance(given, EmbedderChoice) else given
            _check_kind(name, model, kind)
            several = processes_of(given, processes) not in (None, 1)
            if isinstance(given, EmbedderChoice) and several:
                check_divides(given, model)
            if model.identity in seen:
                raise InputError(
                    f"the embedders {seen[model.identity]!r} and {name!r} are the same; their "
                    "columns would always agree"
                )
            seen[model.identity] = name
            columns += len(model.views)
            advance(1)
    if columns < 2:
        raise InputError(
            "agree compares columns with each other, one for each view of each embedder, and "
            f"needs at least two; found {columns}: {', '.join(named) or 'no embedder'}"
        )
    return columns


def _choice(given: Any, options: Model) -> Embedder | EmbedderChoice:
    if isinstance(given, str):
        return options.choice_of(given)
    if isinstance(given, EmbedderChoice):
        return given
    if is_embedder(given):
        return as_embedder(given)
    raise InputError(
        f"embedders must be names such as 'minilm', choices or embedders; found {given!r}"
    )


def _listed(embedders: Any) -> Sequence[Any]:
    if not isinstance(embedders, Iterable):
        raise InputError(f"embedders must be a list of embedders; found {embedders!r}")
    return list(embedders)


def _line(embedder: Embedder | EmbedderChoice) -> str:
    return embedder.line if isinstance(embedder, EmbedderChoice) else embedder.name


def _short(line: str) -> str:
    """Leave out the folders before a name; options stay."""
    name, colon, options = line.partition(":")
    if options.startswith("//"):
        return line
    last = Path(name).name or name
    return f"{last}{colon}{options}"


def _check_kind(name: str, model: Embedder, kind: str) -> None:
    """Refuse early what the embedding would refuse late."""
    if kind not in model.reads:
        raise InputError(f"the embedder {name!r} does not read {kind}; leave it out")
