"""Letters of figures: fonts that have them, and words that say so where none has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from calipers.report.plot_kinds import draw
from calipers.report.plots import fonts, save_figure
from calipers.report.plots.fonts import (
    FONT,
    MissingLettersWarning,
    families,
    fit_letters,
    font_of,
    letters_kept,
    note_name,
)
from hand_made import comparison_of

NAMES = (
    "日本語モデル-大規模言語モデル-二〇二四年版-v2",
    "文心一言",
    "模型 $5",
    "ตัวแบบ",
    "نظام",
    "ａｂｃ",
    "llama",
)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with no font but matplotlib's own."""
    own = fonts._fonts()[:1]
    monkeypatch.setattr(fonts, "_fonts", lambda: own)
    monkeypatch.setattr(fonts, "_new_fonts", tuple)
    font_of.cache_clear()
    yield
    font_of.cache_clear()


@pytest.fixture
def named(make: dict[str, Any]) -> Callable[..., Any]:
    """Make a comparison of systems of these names."""

    def of(*names: str) -> Any:
        keys = ("precision", "recall")
        systems = [
            make["system"](name, {key: make["score"](0.5 + 0.04 * n) for key in keys})
            for n, name in enumerate(names)
        ]
        return comparison_of(make["comparison"](systems, views=["meaning"]))

    return of


def texts_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_own_font_has_latin_greek_cyrillic_hebrew_and_arabic(bare: None) -> None:
    assert all(font_of(letter) == FONT for letter in "aéЖωשن…")
    assert font_of("模") is None
    assert families("model نظام") == [FONT]


def test_words_that_no_font_has_are_numbered_by_script(bare: None, named: Any) -> None:
    with pytest.warns(MissingLettersWarning) as raised:
        figure = draw("plane", [named(*NAMES)])
    shown = texts_of(figure)
    assert {"[Chinese 1]", "[Thai 1]", "نظام", "[Fullwidth 1]", "llama"} <= set(shown)
    assert r"[Chinese 2] \$5" in shown
    assert [text for text in shown if "[Japanese 1]-v2" in text]  # whole or shortened, one word
    assert not [text for text in shown if "Japanese 2" in text]
    message = str(raised[0].message)
    assert len(raised) == 1
    assert "文心一言 is drawn as [Chinese 1]" in message
    assert "ตัวแบบ is drawn as [Thai 1]" in message


def test_figures_are_drawn_without_a_word_of_matplotlib(
    bare: None, named: Any, tmp_path: Any
) -> None:
    with pytest.warns(MissingLettersWarning):
        figure = draw("plane", [named(*NAMES)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for suffix in (".png", ".pdf", ".svg"):
            save_figure(figure, tmp_path / f"figure{suffix}")


def test_an_svg_keeps_all_words_as_text(bare: None, named: Any, tmp_path: Any) -> None:
    with warnings.catch_warnings(), letters_kept():
        warnings.simplefilter("error")
        save_figure(draw("plane", [named(*NAMES)]), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text("utf-8")
    assert ">文心一言</text>" in text
    assert ">ตัวแบบ</text>" in text
    assert "[Thai" not in text


def test_ticks_keep_what_stands_in_when_they_are_drawn(bare: None) -> None:
    figure = Figure()
    axes = figure.add_subplot()
    axes.set_yticks([0, 1, 2], ["模型, topic, モデル", "topic", "模型"])
    with pytest.warns(MissingLettersWarning):
        fit_letters(figure)
    figure.draw_without_rendering()
    drawn = [label.get_text() for label in axes.get_yticklabels()]
    assert drawn == ["[Chinese 1], topic, [Japanese 1]", "topic", "[Chinese 1]"]


def test_a_short_name_is_known_by_the_whole(bare: None) -> None:
    figure = Figure()
    for shown in ("模型…版-a", "模型一号的第二版-a", "模型…版-b"):
        figure.text(0, 0, f"{shown} (missing)")
    note_name("模型…版-a", "模型一号的第二版-a")
    note_name("模型…版-b", "模型二号的第二版-b")
    with pytest.warns(MissingLettersWarning):
        fit_letters(figure)
    first, whole, other = texts_of(figure)
    assert first == whole == "[Chinese 1]-a (missing)"
    assert other == "[Chinese 2]-b (missing)"


def test_letters_of_a_font_of_the_machine_are_drawn_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        fonts, "_first_with", lambda c, known: FONT if c.isascii() else "DejaVu Serif"
    )
    font_of.cache_clear()
    figure = Figure()
    axes = figure.add_subplot()
    text = axes.set_title("模型")
    axes.set_xticks([0], ["模"])
    fit_letters(figure)
    assert text.get_fontfamily() == [FONT, "DejaVu Serif"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that font is said to have them, and has not
        figure.draw_without_rendering()
    assert axes.get_xticklabels()[0].get_fontfamily() == [FONT, "DejaVu Serif"]
    font_of.cache_clear()


def test_before_matplotlib_joined_letters_their_words_are_numbered_too(
    bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "SHAPES", False)
    figure = Figure()
    figure.text(0, 0, "نظام and דגם and é")
    with pytest.warns(MissingLettersWarning, match="joins no letters"):
        fit_letters(figure)
    assert texts_of(figure) == ["[Arabic 1] and é"]
