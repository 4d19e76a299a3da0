"""What holds of the options of every command, and of a new one as soon as its folder is there."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import MISSING, fields

import pytest
import typer

from calipers.cli import app
from calipers.cli.help import first_sentence
from calipers.command import commands
from calipers.options.option import Group, options_of, without_markup

RECORDS = [record for record in commands().values() if record.options]
LONGEST = 280
"""Characters of a first sentence, about four lines of a terminal."""

ENDS = "."
"""How a text ends."""


@pytest.fixture(params=RECORDS, ids=[record.name for record in RECORDS])
def group(request):
    return request.param.load(request.param.options)


def test_a_record_leads_to_its_options(group):
    assert issubclass(group, Group)
    assert len(fields(group)) > 0


def test_defaults_pass_their_own_check(group):
    needed = {field.name: "a" for field in fields(group) if field.default is MISSING}
    checked = {field.name: field.default for field in fields(group) if field.default is not MISSING}
    for field, about in options_of(group):
        if checked.get(field.name) is not None:
            about.rule.check(field.name, field.default)
    assert set(needed) | set(checked) == set(vars(group.of(group, **needed)))


def test_every_text_is_one_or_more_whole_sentences(group):
    for field, about in options_of(group):
        assert about.text.endswith(ENDS), field.name
        assert about.text[:1].isupper(), field.name
        assert "  " not in about.text, field.name
        assert about.text.count("``") % 2 == 0, field.name


def test_the_first_sentence_of_every_text_fits(group):
    for field, about in options_of(group):
        sentence = first_sentence(without_markup(about.text))
        assert len(sentence) <= LONGEST, (field.name, len(sentence))


def test_texts_on_the_command_line_have_no_marks(group):
    for field, about in options_of(group):
        shown = without_markup(about.text)
        assert "`" not in shown, field.name
        assert not re.search(r":[a-z]+:[^a-z]", shown), field.name


@pytest.mark.parametrize("record", commands().values(), ids=list(commands()))
def test_every_flag_of_a_command_is_one_option(record):
    command = typer.main.get_command(app).commands[record.name]
    flags = Counter(
        flag for param in command.params for flag in (*param.opts, *param.secondary_opts)
    )
    assert [flag for flag, number in flags.items() if number > 1] == []
