r"""A comparison as data ──► LaTeX tables for a paper: booktabs, and no other package.

Best values are bold, intervals small beside them, and what cannot be told from the best carries
a dagger. The caption says how it was measured and what the marks mean; warnings are comments, for
the author.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.report.content import BEST
from calipers.report.export_cells import DAGGERS
from calipers.report.export_latex_escape import escape, needs_unicode_fonts
from calipers.report.export_latex_float import table
from calipers.report.export_table import (
    Data,
    Document,
    document_of,
    made_by,
)
from calipers.report.names import clean
from calipers.report.uncertain_numbers import APPROXIMATE

MOST_FLOATS = 10
"""Floats after which pages are printed: LaTeX stops where more than 18 wait for a place."""


def latex_table(data: Data) -> str:
    r"""Write a comparison as a LaTeX ``table``, ready for a paper.

    Needs ``\usepackage{booktabs}``. The scores stand in one ``tabular``, with a rule over the
    columns of each view, or in several where they would be too wide. Scores by group and copies of
    the training set have tables of their own.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` or ``TextComparison.to_dict()`` gives.

    Raises
    ------
    InputError
        If the data are of neither.
    """
    document = document_of(data)
    main, *more = document.sections
    floats = table(main, _caption(document), "tab:calipers")
    for place, section in enumerate(more, start=2):
        words = f"{escape(section.heading)}. {escape(section.caption)}"
        floats += table(section, words, f"tab:calipers-{place}")
    body = "\n\n".join(_emptied(floats))
    return "\n".join([*_comments(document, made_by(data), body), body, ""])


def _emptied(floats: Sequence[str]) -> Iterator[str]:
    """Have the pages printed now and then."""
    for place, each in enumerate(floats):
        yield each if place % MOST_FLOATS or not place else f"\\clearpage\n{each}"


def _comments(document: Document, made: str, body: str) -> Iterator[str]:
    """Say what the document needs, and what its author should know."""
    yield rf"% Made by {made}. Needs \usepackage{{booktabs}}."
    if needs_unicode_fonts(body):
        yield "% Holds letters beyond Latin: use LuaLaTeX or XeLaTeX and a font that has them."
    yield from (f"% Warning: {clean(warning)}" for warning in document.warnings)


def _caption(document: Document) -> str:
    """Say what was measured, how to read it, and why values are missing."""
    told = [_sentence(document.title.replace(" · ", "; "))]
    told += [_sign(sign) + _sentence(words) for sign, words in document.marks if sign]
    told += [_sentence(words) for sign, words in document.marks if not sign]
    return " ".join([*told, *map(_sentence, document.notes)])


def _sign(sign: str) -> str:
    known = {BEST: r"\textbf{Bold}", APPROXIMATE: r"$\sim$"}
    return f"{known.get(sign) or escape(DAGGERS.get(sign, sign))}: "


def _sentence(text: str) -> str:
    return escape(text.removesuffix(".")) + "."
