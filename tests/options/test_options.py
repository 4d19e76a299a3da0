"""One field states an option: what Python, the command line and a result make of it."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from typing import get_args

import pytest

import calipers
from calipers.catalogue.settings import Distance, Projection, Ties
from calipers.catalogue.shown import HEADLINE
from calipers.cli import options as flags
from calipers.command import commands
from calipers.commands.agree.options import AgreeOptions
from calipers.commands.probe.options import CHANGES as KNOWN_CHANGES
from calipers.commands.probe.perturbations import CHANGES
from calipers.commands.rank.options import RankOptions
from calipers.commands.sweep.options import SweepOptions
from calipers.embedders import options as embedders
from calipers.errors import InputError
from calipers.options.comparison import CompareOptions
from calipers.options.embedding import Model
from calipers.options.keywords import ALIASES, keywords_of
from calipers.options.measuring import Neighbours
from calipers.options.option import Group, option, options_class, options_of, reworded
from calipers.options.rules import one_of, whole
from calipers.uncertainty.bradley_terry import Ties as JudgedTies
from calipers.uncertainty.correlation import CorrelationKind
from calipers.uncertainty.plateau import TOLERANCE

FUNCTIONS = {
    record.public: record.load(record.options)
    for record in commands().values()
    if record.options and record.public
}
EVERY = [record.load(record.options) for record in commands().values() if record.options]


@options_class
class Toy(Group):
    """Two options of a toy."""

    count: int = option(3, "How many. As :func:`~calipers.compare` says.", whole(1), setting=True)
    kind: str = option("a", "Which kind.", one_of("a", "b"))


@options_class
class Longer(Toy):
    """The same with another default and help."""

    count: int = reworded(Toy, "count", "How many of the longer ones.", default=9)


@keywords_of(Toy)
def toy(samples, options):
    """Do it.

    Parameters
    ----------
    samples
        What it is done to.

    Returns
    -------
    tuple
        All of it.
    """
    return samples, options.count, options.kind


def test_a_function_takes_the_options_as_keywords():
    assert toy(1) == (1, 3, "a")
    assert toy(samples=1, kind="b", count=2) == (1, 2, "b")
    with pytest.raises(TypeError, match=r"toy\(\): unknown option 'size'; known: count, kind,"):
        toy(1, size=3)
    with pytest.raises(TypeError, match=r"toy\(\) missing a required argument: 'samples'"):
        toy(count=2)


def test_a_function_takes_a_group_as_it_is(monkeypatch):
    group = Toy(count=2)
    monkeypatch.setattr(Toy, "__post_init__", None)  # would fail if it were made again
    assert toy(1, options=group) == (1, 2, "a")
    with pytest.raises(TypeError, match=r"toy\(\): unknown option 'count'; known: samples"):
        toy(1, options=group, count=3)
    with pytest.raises(TypeError, match=r"options of the class Toy; found dict"):
        toy(1, options={"count": 3})


def test_help_tells_every_option():
    assert list(inspect.signature(toy).parameters) == ["samples", "count", "kind", "options"]
    assert inspect.signature(toy).parameters["count"].default == 3
    before, _, after = toy.__doc__.partition("    Returns\n")
    assert "count : int\n        How many. As :func:`~calipers.compare` says." in before
    assert "kind : str\n        Which kind." in before
    assert "options : Toy\n" in before
    assert "All of it." in after


@keywords_of(Toy)
def held(reference, generated, options):
    """Hold them side by side.

    Returns
    -------
    tuple
        Both sides.
    """
    return reference, generated, options.count


def test_sides_may_go_by_the_names_of_evaluate():
    assert held(predictions="q", references="p", count=2) == ("p", "q", 2)
    assert held("p", predictions="q") == held(generated="q", references="p") == ("p", "q", 3)
    assert list(inspect.signature(held).parameters)[-3:-1] == ["references", "predictions"]
    assert (
        "    references, predictions : Any\n        Other names of `reference` and" in held.__doc__
    )


@pytest.mark.parametrize("more", [{"generated": "q"}, {}])
def test_a_side_under_both_names_is_refused(more):
    given = ["p"] if more else ["p", "q"]
    with pytest.raises(InputError, match=r"^predictions .*generated"):
        held(*given, predictions="q", **more)
    with pytest.raises(TypeError, match=r"held\(\) missing a required argument: 'generated'"):
        held(references="p")


def test_a_value_that_breaks_its_rule_is_refused_wherever_it_comes_from():
    with pytest.raises(InputError, match=r"^count .*at least 1.* 0$"):
        Toy(count=0)
    for word in ("0", "x?"):
        with pytest.raises(
            InputError, match=rf"^--count must be a whole number of .*; found '{re.escape(word)}'$"
        ):
            flags.build(Toy, {"count": word})
    with pytest.raises(InputError, match=r"^kind must be a or b; found 'c'$"):
        Toy(kind="c")


def test_every_value_is_checked_once(monkeypatch):
    checked = []

    def check(self, name, value):
        checked.append((name, value))

    monkeypatch.setattr("calipers.options.rules.Rule.check", check)
    group, _ = flags.build(Toy, {"count": "5"})
    assert toy(1, options=group.changed(kind="b")) == (1, 5, "b")
    assert checked == [("count", 5), ("kind", "a")]


def test_the_command_line_shows_a_text_without_its_marks():
    (count, _) = flags.parameters(Toy)
    assert (
        count.annotation.__metadata__[0].help == "How many. As calipers.compare says. [default: 3]"
    )


def test_an_option_can_be_said_in_other_words():
    (count, _) = options_of(Longer)
    assert (count[0].default, count[1].text) == (9, "How many of the longer ones.")
    assert count[1].rule is next(options_of(Toy))[1].rule
    assert Longer().settings() == {"count": 9}


def test_what_was_typed_is_told_from_what_is_usual():
    built, typed = flags.build(Toy, {"count": "5", "kind": None})
    assert (built, typed) == (Toy(count=5), {"count"})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_have_the_fields_as_keywords(name):
    group = FUNCTIONS[name]
    given = inspect.signature(getattr(calipers, name)).parameters
    keywords = {key: each for key, each in given.items() if each.kind is each.KEYWORD_ONLY}
    del keywords["options"]
    others = {key for key in keywords if key in ALIASES.values()}
    assert others == {ALIASES[key] for key in given if key in ALIASES}
    keywords = {key: each for key, each in keywords.items() if key not in others}
    assert list(keywords) == [each.name for each in fields(group)]
    for each in fields(group):
        usual = inspect.Parameter.empty if each.default is MISSING else each.default
        assert keywords[each.name].default is usual
        assert f"    {each.name} : " in getattr(calipers, name).__doc__
    assert getattr(calipers, name).__doc__.count("    Parameters\n    ----------\n") == 1


@pytest.mark.parametrize("group", EVERY)
def test_the_command_line_has_every_flag(group):
    made = {parameter.name for parameter in flags.parameters(group)}
    for each, about in options_of(group):
        if about.off is not None:
            assert about.off[0].lstrip("-").replace("-", "_") in made
        elif about.flags(each.name):
            assert each.name in made


@pytest.mark.parametrize(
    "group", [group for group in EVERY if all(f.default is not MISSING for f in fields(group))]
)
def test_nothing_typed_gives_the_defaults(group):
    assert flags.build(group, {}) == (group(), frozenset())


def test_a_flag_can_stand_for_none_or_for_false():
    built, typed = flags.build(CompareOptions, {"no_intervals": True, "no_cache": True})
    assert (built.level, built.cache, typed) == (None, False, {"level", "cache"})


def test_options_of_embedders_are_checked_before_anything_is_read():
    with pytest.raises(InputError, match="unknown pooling 'middle'"):
        CompareOptions(pooling="middle")
    with pytest.raises(InputError, match="stands twice in the embedder"):
        CompareOptions(embedder="gpt2:layer=1:layer=2")


def about(group, name):
    return next(about for each, about in options_of(group) if each.name == name)


@pytest.mark.parametrize("group", [CompareOptions, AgreeOptions])
def test_help_names_the_metrics_that_a_table_shows(group):
    assert f"{', '.join(HEADLINE[:-1])} and {HEADLINE[-1]}" in about(group, "metrics").text


def test_words_of_options_are_those_that_what_they_reach_knows():
    assert about(Model, "pooling").complete == embedders.POOLINGS
    assert set(about(Model, "dtype").rule.values) == set(embedders.DTYPES)
    assert about(Model, "device").complete == embedders.DEVICES
    assert about(Neighbours, "ties").rule.values == get_args(Ties)
    assert about(Neighbours, "distance").rule.values == get_args(Distance)
    assert about(Neighbours, "projection").rule.values == get_args(Projection)
    assert about(RankOptions, "ties").rule.values == get_args(JudgedTies)
    assert about(RankOptions, "kind").rule.values == get_args(CorrelationKind)
    assert tuple(CHANGES) == KNOWN_CHANGES
    assert SweepOptions().tolerance == TOLERANCE
