"""Which scores are shown, and so tested: those asked for, else the headline, by every view."""

from __future__ import annotations

from calipers.catalogue.shown import HEADLINE, UNRANKED, ShownKey, shown_keys, split_view, views_of


def comparison(*keys, **settings):
    """A comparison of one system with scores of these keys."""
    system = {"name": "a", "scores": {key: {"value": 0.5} for key in keys}}
    return {"settings": {"views": ["meaning", "form"], **settings}, "systems": [system]}


def test_the_headline_is_shown_in_its_order_by_every_view():
    both = [*reversed(HEADLINE), *(f"form.{name}" for name in HEADLINE), "density"]
    shown = shown_keys(comparison(*both))
    assert [each.key for each in shown] == [*HEADLINE, *(f"form.{name}" for name in HEADLINE)]
    assert shown[-1] == ShownKey("form", HEADLINE[-1], f"form.{HEADLINE[-1]}")


def test_what_was_asked_for_is_shown_where_it_was_computed():
    data = comparison("density", "precision", "form.density", metrics_shown=["form.density"])
    assert [each.key for each in shown_keys(data)] == ["density", "form.density"]


def test_all_is_shown_where_nothing_of_the_headline_was_computed():
    data = comparison("kid", "kid:group=x", "near_copies:train")
    assert [each.key for each in shown_keys(data)] == ["kid"]


def test_the_headline_follows_the_estimator():
    data = comparison("mauve:knn", "mauve_star", estimator="knn")
    assert [each.key for each in shown_keys(data)] == ["mauve:knn"]


def test_keys_are_split_at_a_known_view_alone():
    data = comparison("prd:beta=0.5")
    assert split_view(data, "form.precision") == ("form", "precision")
    assert split_view(data, "prd:beta=0.5") == ("", "prd:beta=0.5")
    assert views_of({}) == [""]


def test_metrics_without_a_good_end_are_not_of_the_headline():
    assert not set(HEADLINE) & UNRANKED
