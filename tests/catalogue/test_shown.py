"""Which scores are shown, and so tested: those asked for, else the headline, by every view."""

from __future__ import annotations

from calipers.catalogue.shown import HEADLINE, UNRANKED, ShownKey, shown_keys, split_view, views_of

VIEWS = ("meaning", "form")


def test_the_headline_is_shown_in_its_order_by_every_view():
    both = [*reversed(HEADLINE), *(f"form.{name}" for name in HEADLINE), "density"]
    shown = shown_keys(both, VIEWS)
    assert [each.key for each in shown] == [*HEADLINE, *(f"form.{name}" for name in HEADLINE)]
    assert shown[-1] == ShownKey("form", HEADLINE[-1], f"form.{HEADLINE[-1]}")


def test_what_was_asked_for_is_shown_where_it_was_computed():
    shown = shown_keys(["density", "precision", "form.density"], VIEWS, ["form.density"])
    assert [each.key for each in shown] == ["density", "form.density"]


def test_all_is_shown_where_nothing_of_the_headline_was_computed():
    shown = shown_keys(["kid", "kid:group=x", "near_copies:train"], VIEWS)
    assert [each.key for each in shown] == ["kid"]


def test_the_headline_follows_the_estimator():
    shown = shown_keys(["mauve:knn", "mauve_star"], VIEWS, estimator="knn")
    assert [each.key for each in shown] == ["mauve:knn"]


def test_keys_are_split_at_a_known_view_alone():
    assert split_view("form.precision", VIEWS) == ("form", "precision")
    assert split_view("prd:beta=0.5", VIEWS) == ("", "prd:beta=0.5")
    assert views_of({}) == [""]


def test_metrics_without_a_good_end_are_not_of_the_headline():
    assert not set(HEADLINE) & UNRANKED
