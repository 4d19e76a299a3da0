"""The list of sentences is up to date, and holds what people read and nothing else."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("sentences.py")
SPEC = importlib.util.spec_from_file_location("sentences", SCRIPT)
sentences = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sentences)


def test_the_list_is_up_to_date():
    listed = sentences.LIST.read_text("utf-8").splitlines()
    now = sentences.as_text(sentences.listed()).splitlines()
    changed = [
        line
        for line in difflib.unified_diff(listed, now, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    assert not changed, (
        "sentences have changed: read them, then run `python tests/wording/sentences.py --write`\n"
        + "\n".join(changed)
    )


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('"""A docstring of words."""\n', []),
        ('x = "keys" + "two words"', ["two words"]),
        ('x = "no " "part of " f"a {n:,} sum"', ["no part of a {…} sum"]),
        ('x = f\'{n} rows {"that lie" if n else ""}\'', ["that lie", "{…} rows {…}"]),
        ('x = row["a key"]', []),
        ('re.compile("a pattern")', []),
        ('x = "tests/wording/a.py and-so-on"', []),
        ('x = "<p class=lead>two words</p>"', []),
    ],
)
def test_sentences_of_python(source, texts):
    assert sorted(filter(sentences.is_sentence, sentences.of_python(source))) == texts


def test_sentences_of_scripts_and_templates():
    script = '// no comment here\nsay(`${list.map((x) => { return x; })} of them`, "two words");'
    assert list(filter(sentences.is_sentence, sentences.of_script(script))) == [
        "{…} of them",
        "two words",
    ]
    template = (
        '{# no comment #}<p title="Read aloud">One <b>bold</b> word, {{ n }} times</p>'
        '{{ "Pairs of systems" if x else "" }}'
    )
    assert set(filter(sentences.is_sentence, sentences.of_template(template))) == {
        "Read aloud",
        "One bold word, {…} times",
        "Pairs of systems",
    }
