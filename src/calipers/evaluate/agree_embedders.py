"""The embedders of an agreement: each with a name of its own, each tried before the long work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calipers.embed import Embedder, EmbedderChoice, as_embedder, is_embedder
from calipers.embed.processes import check_divides, may_divide
from calipers.errors import InputError
from calipers.progress import Progress

Named = dict[str, Embedder | EmbedderChoice]


def name_embedders(embedders: Any) -> Named:
    """Give each embedder a name for its columns.

    Parameters
    ----------
    embedders
        Lines ``NAME[:option=value…]``, choices or embedders, in a sequence or in a dict from the
        name of the column.

    Returns
    -------
    dict
        From name to choice or embedder, in the order given. A line goes by its last part,
        ``./models/gpt2:layer=6`` by ``gpt2:layer=6``, and by all of it where two are alike.

    Raises
    ------
    InputError
        If it holds nothing, what is no embedder, or the same one twice.
    """
    if isinstance(embedders, Mapping):
        return {str(name): _choice(each) for name, each in embedders.items()}
    given = [embedders] if isinstance(embedders, str) else _listed(embedders)
    choices = [_choice(each) for each in given]
    lines = [_line(each) for each in choices]
    for line in lines:
        if lines.count(line) > 1:
            raise InputError(
                f"the embedder {line!r} stands twice; give each once, or name two that differ in a "
                "dict from name to embedder"
            )
    short = [_short(line) for line in lines]
    names = [own if short.count(own) == 1 else line for own, line in zip(short, lines, strict=True)]
    return dict(zip(names, choices, strict=True))


def processes_of(each: Embedder | EmbedderChoice, processes: int | None) -> int | None:
    """Give the processes that embed by one of several embedders: one where more cannot help."""
    divides = isinstance(each, EmbedderChoice) and may_divide(each)
    return processes if divides else None


def try_embedders(
    named: Named, kind: str, progress: Progress, *, processes: int | None = None
) -> int:
    """Load every embedder once and let it go; tell how many columns they give.

    A misspelt last one is found before the first has embedded for an hour. One after another, so
    that no two models need memory at the same time.

    Raises
    ------
    InputError
        If one cannot be loaded or does not read samples of this kind, two are the same, they
        give fewer than two columns, or processes are asked for that could help none of them or
        not with a model where it runs.
    """
    if processes not in (None, 1) and not any(processes_of(e, processes) for e in named.values()):
        raise InputError(
            f"processes have a meaning for models on the CPU; {', '.join(named)}: none of these is "
            "one, so leave --processes (processes= in Python) out"
        )
    seen: dict[str, str] = {}
    columns = 0
    with progress.task("Trying embedders", len(named)) as advance:
        for name, each in named.items():
            model = each.load() if isinstance(each, EmbedderChoice) else each
            _check_kind(name, model, kind)
            if isinstance(each, EmbedderChoice) and processes_of(each, processes) not in (None, 1):
                check_divides(each, model)
            if model.identity in seen:
                raise InputError(
                    f"the embedders {seen[model.identity]!r} and {name!r} are one and the same; "
                    "their columns would agree whatever they see"
                )
            seen[model.identity] = name
            columns += len(model.views)
            advance(1)
    if columns < 2:
        raise InputError(
            "agree holds columns against each other, one for each view of an embedder, and needs "
            f"at least two; found {columns}: {', '.join(named) or 'no embedder'}"
        )
    return columns


def _choice(each: Any) -> Embedder | EmbedderChoice:
    if isinstance(each, str):
        return EmbedderChoice(each)
    if isinstance(each, EmbedderChoice):
        return each
    if is_embedder(each):
        return as_embedder(each)
    raise InputError(
        f"embedders must be names such as 'minilm', choices or embedders; found {each!r}"
    )


def _listed(embedders: Any) -> Sequence[Any]:
    if not isinstance(embedders, Iterable):
        raise InputError(f"embedders must be a list of embedders; found {embedders!r}")
    return list(embedders)


def _line(each: Embedder | EmbedderChoice) -> str:
    return each.line if isinstance(each, EmbedderChoice) else each.name


def _short(line: str) -> str:
    """Leave out the folders before a name, and an ending such as ``.txt``, but no option."""
    name, colon, options = line.partition(":")
    if options.startswith("//"):
        return line
    last = Path(name).name or name
    return f"{last}{colon}{options}"


def _check_kind(name: str, model: Embedder, kind: str) -> None:
    """Refuse early what the embedding would refuse late."""
    if kind not in model.reads:
        raise InputError(f"the embedder {name!r} does not read {kind}; leave it out")
