"""The samples that a command line names, all read before anything long begins."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli.guard import guarded
from calipers.cli.options import INPUT
from calipers.memory import memory_limit, parse_size

if TYPE_CHECKING:
    from calipers.samples import SampleSet, System


MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Most memory that all samples read may take, such as 8GB, 500MB (powers of ten) or "
        "8GiB (powers of two). What takes more is refused. By default half of what is free.",
        rich_help_panel=INPUT,
    ),
]


def with_memory_limit(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--max-memory``; all that it reads counts against one limit."""
    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter(
        "max_memory", inspect.Parameter.KEYWORD_ONLY, annotation=MaxMemory, default=None
    )

    @functools.wraps(command)
    def run(*, max_memory: str | None = None, **given: Any) -> None:
        with guarded():
            size = None if max_memory is None else parse_size(max_memory)
        with memory_limit(size):
            command(**given)

    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in (*signature.parameters.values(), option)
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    del run.__wrapped__
    return run


def read_sides(
    reference: str,
    generated: Sequence[str],
    *,
    field: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    skip_bad: bool = False,
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read both sides first: a misspelt last file should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    return (
        read_samples(
            reference,
            field=field,
            group=group,
            cluster=cluster,
            cluster_needed=False,
            skip_bad=skip_bad,
        ),
        read_systems(generated, field=field, group=group, cluster=cluster, skip_bad=skip_bad),
    )
