"""Fonts for the characters of a figure, and substitutes for characters that no font has.

Matplotlib's own font has Latin, Greek, Cyrillic, Hebrew and Arabic letters. Letters that it lacks
are taken from a font of this machine; where there is none, a word is drawn as ``[Thai 1]`` rather
than as boxes, and a warning says which word that is. A .svg file keeps all words as text, for which
a browser finds a font.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import matplotlib
from matplotlib import ft2font
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import findSystemFonts, fontManager
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FuncFormatter

from calipers.wording.cells import clusters
from calipers.wording.short_names import short_forms

FONT = "DejaVu Sans"
"""It comes with matplotlib."""

PREFERRED = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans CJK KR",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
)
"""Fonts for Chinese, Japanese and Korean that are taken before others."""

EMPTY_FONTS = ("lastresort", "last resort", "adobe blank")
"""Fonts that claim all letters and draw boxes, or nothing."""

SHAPES = hasattr(ft2font, "__libraqm_version__")
"""Whether matplotlib joins and orders letters as their script asks for, as from 3.11 on."""
SHAPED = re.compile(
    "[\u0590-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\ufb1d-\ufdff\ufe70-\ufefc]"
)
"""Letters that are joined, reordered or written from right to left."""
IGNORABLE = re.compile("[\u200b-\u200f\u2060-\u2064\u061c\ufe00-\ufe0f\U000e0020-\U000e007f]")

SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
MOST_NAMED = 12
"""Words that a warning names; further ones are counted."""
MOST_NOTED = 4096
"""Shortened names that are known at a time."""
BETWEEN = ", "
"""What stands between keywords."""
LEAST = 16
"""Characters that what is drawn for a name may take."""


class MissingLettersWarning(UserWarning):
    """No font on this machine has some characters of a figure, which are replaced."""


_kept: ContextVar[bool] = ContextVar("kept", default=False)
_wholes: dict[str, str] = {}
"""Shortened names to the names in full, where some letter is not ASCII."""


@contextmanager
def letters_kept(kept: bool = True) -> Iterator[None]:
    """Draw figures with all text unchanged, for a .svg file."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def note_name(shown: str, whole: str) -> None:
    """Record which name a shortened one represents, so that both are drawn alike."""
    if shown != whole and not shown.isascii():
        while len(_wholes) >= MOST_NOTED:
            _wholes.pop(next(iter(_wholes)))
        _wholes[shown] = whole


def fit_letters(drawn: Figure | Axes, path: str | Path | None = None) -> None:
    """Assign fonts with the needed characters to the texts of a figure or Axes.

    Words with letters that no font has become such as ``[Thai 1]``, with one warning that names
    them; for a `path` that ends in .svg they stay.
    """
    texts = [text for text in drawn.findobj(Text) if not text.get_text().isascii()]
    axes = drawn.findobj(Axes)
    sides = [side for each in axes for side in (each.xaxis, each.yaxis) if _is_named(side)]
    ticks = {side: [label.get_text() for label in side.get_ticklabels()] for side in sides}
    ticks = {side: words for side, words in ticks.items() if not all(map(str.isascii, words))}
    words = [*(text.get_text() for text in texts), *(w for many in ticks.values() for w in many)]
    pieces: dict[str, str] = {}
    stand_ins: dict[str, str] = {}
    if not (_kept.get() or str(path).lower().endswith(".svg")):
        pieces, names = _stand_ins(dict.fromkeys(words))
        stand_ins = pieces | names
        for text in texts:
            text.set_text(_replaced(text.get_text(), stand_ins))
        for side, labels in ticks.items():
            shown = [_replaced(word, stand_ins) for word in labels]
            if shown != labels:
                side.set_ticks(side.get_ticklocs(), shown)
    family = families("".join(_replaced(word, stand_ins) for word in words))
    if family[1:]:
        for each in axes:
            each.tick_params(labelfontfamily=family)
        for text in drawn.findobj(Text):
            text.set_fontfamily(family)
    if pieces:
        warnings.warn(_missing(pieces), MissingLettersWarning, stacklevel=3)


def _is_named(side: Axis) -> bool:
    """Whether the ticks of a side have words, and no numbers."""
    return isinstance(side.get_major_formatter(), FixedFormatter | FuncFormatter)


def families(text: str) -> list[str]:
    """List the fonts that draw a text: matplotlib's own, then those of this machine."""
    found = (font_of(c) for c in dict.fromkeys(text) if not IGNORABLE.match(c))
    return [FONT, *dict.fromkeys(name for name in found if name not in (None, FONT))]


@lru_cache(maxsize=4096)
def font_of(character: str) -> str | None:
    """Return the first font that has a character; None if there is none."""
    known = _first_with(character, _fonts())
    return known or _first_with(character, _new_fonts())


def _first_with(character: str, fonts: Iterable[tuple[str, str]]) -> str | None:
    return next((name for name, path in fonts if ord(character) in _has(path)), None)


def _is_drawable(cluster: str) -> bool:
    if cluster.isascii():
        return True
    if not SHAPES and SHAPED.search(cluster):
        return False
    return all(font_of(c) for c in cluster if not IGNORABLE.match(c))


def _stand_ins(words: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what is drawn for pieces of words that no font has letters for, and for whole names.

    A name is known by its letters in full, however it was shortened.
    """
    numbers: dict[str, str] = {}

    def numbered(piece: str) -> str:
        script = _script(piece)
        count = sum(other.startswith(f"[{script} ") for other in numbers.values())
        return numbers.setdefault(piece, f"[{script} {count + 1}]")

    forms = sorted(_wholes, key=len, reverse=True)
    names: dict[str, str] = {}
    for word in words:
        rest = word
        for form in (form for form in forms if form in rest):
            piece = _lacking(_wholes[form])
            if _lacking(form):
                names[form] = _wholes[form].replace(piece, numbered(piece))
            rest = rest.replace(form, BETWEEN)
        for piece in filter(None, map(_lacking, rest.split(BETWEEN))):
            numbered(piece)
    widths = {form: max(LEAST, len(form)) for form in names}
    known = [*names.values()]
    return numbers, {form: short_forms(known, widths[form])[names[form]] for form in names}


def _replaced(word: str, stand_ins: dict[str, str]) -> str:
    for piece in sorted(stand_ins, key=len, reverse=True):
        word = word.replace(piece, stand_ins[piece])
    return word


def _lacking(text: str) -> str:
    """Return the piece of a text from the first cluster that no font has to the last."""
    parts = list(clusters(text))
    lacking = [place for place, part in enumerate(parts) if not _is_drawable(part)]
    return "".join(parts[lacking[0] : lacking[-1] + 1]) if lacking else ""


def _script(word: str) -> str:
    named = [(unicodedata.name(c, "").split() or [""])[0] for c in word if c.isalnum()]
    found = [SCRIPTS.get(name, name.capitalize()) for name in named if name]
    if not found:
        return "emoji" if any(unicodedata.category(c) in ("So", "Sk") for c in word) else "sign"
    return "Japanese" if "Japanese" in found else found[0]


def _missing(pieces: dict[str, str]) -> str:
    words = [f"{word} is drawn as {drawn}" for word, drawn in pieces.items()]
    rest = f", and {len(words) - MOST_NAMED} more" if words[MOST_NAMED:] else ""
    return (
        f"no font on this machine draws some letters: {', '.join(words[:MOST_NAMED])}{rest}. "
        "Install a font that has them, such as Noto Sans, or save the figure as .svg, whose words "
        "remain text"
        + ("" if SHAPES else "; matplotlib before 3.11 joins no letters and writes none leftwards")
    )


@lru_cache(maxsize=1)
def _fonts() -> tuple[tuple[str, str], ...]:
    """Name the upright fonts that matplotlib knows, and their files, its own first."""
    return _upright()


@lru_cache(maxsize=1)
def _new_fonts() -> tuple[tuple[str, str], ...]:
    """Make those fonts known that came to the machine since matplotlib made its list, once."""
    before = _fonts()
    for path in sorted({*findSystemFonts()} - {font.fname for font in fontManager.ttflist}):
        with suppress(OSError, RuntimeError, ValueError):
            fontManager.addfont(path)
    known = {*before}
    return tuple(font for font in _upright() if font not in known)


def _upright() -> tuple[tuple[str, str], ...]:
    upright = {
        font.name: font.fname
        for font in sorted(fontManager.ttflist, key=lambda font: (font.name, -len(font.fname)))
        if font.style == "normal"
        and font.weight in (400, "normal", "regular", "book")
        and not any(empty in font.name.lower() for empty in EMPTY_FONTS)
    }
    order = (FONT, *PREFERRED)
    own = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    upright[FONT] = str(own)

    def rank(name: str) -> tuple[int, bool, bool, str]:
        place = order.index(name) if name in order else len(order)
        return place, not name.startswith("Noto Sans"), "Sans" not in name, name

    return tuple((name, upright[name]) for name in sorted(upright, key=rank))


@lru_cache(maxsize=1024)
def _has(path: str) -> frozenset[int]:
    """Return the characters of a font with outlines; none of one that cannot be read."""
    try:
        font = ft2font.FT2Font(path)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(font.get_charmap()) if font.scalable else frozenset()
