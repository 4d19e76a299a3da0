"""``calipers metrics``, and the options that choose what is measured and by what."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from rich.cells import cell_len

from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import ESTIMATORS
from calipers.cli.options import complete_metrics

JOB = ("compare", "--reference", "human.npy", "a.npy")


@pytest.fixture
def arrays(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("human.npy", rng.standard_normal((120, 5)))
    np.save("a.npy", rng.standard_normal((120, 5)) + 0.5)
    np.save("b.npy", rng.standard_normal((120, 5)) + 1)


def width(monkeypatch, columns):
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: size)


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_list_names_every_metric_under_its_family(calipers, monkeypatch, columns):
    width(monkeypatch, columns)
    text = calipers("metrics").stdout
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= columns
    for name, metric in METRICS.items():
        (row,) = [i for i, line in enumerate(lines) if line[2:].split(" ")[0] == name]
        above = [line for line in lines[:row] if line.split(":")[0] in FAMILIES and ": " in line]
        assert above[-1].startswith(f"{metric.family}: ")
        assert lines[row].startswith("•") == (not metric.on_request)
    assert "\x1b" not in text


def test_a_family_lists_its_own(calipers):
    text = calipers("metrics", "prd").stdout
    for name, metric in METRICS.items():
        assert (f" {name} " in text) == (metric.family == "prd"), name


def test_the_page_of_a_metric(calipers, monkeypatch):
    width(monkeypatch, 80)
    text = calipers("metrics", "mauve").stdout
    for words in (
        "0 to 1; higher is better; a set compared with itself scores 1",
        "by default",
        "kl (default), reverse_kl",
        "quantisation (default), knn",
        "none (default), laplace",
        "5 for quantisation, 10 for knn",
        "Pillutla et al., JMLR 2023, equation 5",
        "Not detected",
    ):
        assert words in text, words
    assert max(map(cell_len, text.splitlines())) <= 80


def test_the_page_of_a_key_has_the_range_of_its_options(calipers):
    page = calipers("metrics", "frontier_integral:chi2").stdout
    assert "in tables: FI χ²" in page
    assert "0 to 2; lower is better" in page
    assert "with --metrics frontier_integral:chi2\n" in page
    assert "0 to 0.693" in calipers("metrics", "midpoint_star").stdout
    assert "0 to 1; lower" in calipers("metrics", "frontier_integral:knn").stdout


def test_a_name_that_is_a_family_too(calipers):
    assert calipers("metrics", "ot").stdout.startswith("ot: how far")
    page = calipers("metrics", "ot:").stdout
    assert page.startswith("ot  in tables: W2²")
    assert "--metrics ot:, ot or all" in page
    assert "  By name       A name that a family and a metric share means the metric if a" in page
    foot = "A name that a family and a metric share means the metric if a colon follows:"

    def said(*names):
        return " ".join(calipers("metrics", *names).stdout.split())

    assert said("mmd").endswith(f" {foot} mmd:")
    assert said().endswith(f" {foot} ot:, mmd:")
    assert foot not in said("prd")
    assert "By name" not in calipers("metrics", "mauve").stdout


def test_names_may_be_one_list(calipers):
    apart = calipers("metrics", "mauve:knn", "ot").stdout
    assert calipers("metrics", "mauve:knn,ot").stdout == apart
    data = json.loads(calipers("metrics", "kid, recall", "--json", "-").stdout)["metrics"]
    assert [each["key"] for each in data] == ["kid", "recall"]


def test_too_few_samples_for_the_neighbours_of_knn(calipers, arrays):
    rows = np.load("a.npy")
    for n in (20, 25, 26):
        np.save(f"{n}.npy", rows[:n])
    keys = ("--metrics", "mauve:knn", "--json", "-", "--quiet")
    few = json.loads(calipers("compare", "--reference", "20.npy", "20.npy", *keys).stdout)
    assert few["systems"][0]["scores"]["mauve:knn"]["reason"] == (
        "knn takes 50 neighbours and needs at least 51 samples in both sets together; found 40 "
        "(`k` does not change it)"
    )
    enough = json.loads(calipers("compare", "--reference", "25.npy", "26.npy", *keys).stdout)
    assert enough["systems"][0]["scores"]["mauve:knn"]["value"] is not None


def test_the_catalogue_as_json(calipers):
    data = json.loads(calipers("metrics", "--json", "-").stdout)["metrics"]
    assert [each["key"] for each in data] == list(METRICS)
    one = next(each for each in data if each["key"] == "divergence")
    assert one["range"] == [0.0, None]
    assert one["options"]["estimator"] == list(ESTIMATORS)
    assert next(each for each in data if each["key"] == "realism")["equal"] == "inf"
    result = calipers("metrics", "kid", "--json", "kid.json")
    assert result.stdout.startswith("kid  in tables")
    with open("kid.json") as file:
        assert json.load(file)["metrics"][0]["better"] == "lower"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mauv"], "unknown metric 'mauv'; did you mean 'mauve'"),
        (["fronteir"], "did you mean 'frontier'"),
        (["mauve:chi3"], "'mauve:chi3': unknown option 'chi3'; did you mean 'chi2'"),
        (["form.mauve"], "metrics are the same in every view: ask for 'mauve'"),
        (["precision", "--json", "no/x.json"], "--json no/x.json: there is no folder 'no'"),
        ([""], "unknown metric ''"),
        ([","], "unknown metric ','"),
        (["all:knn"], "'all' takes no option; found 'all:knn'"),
    ],
)
def test_bad_names(calipers, arguments, message):
    result = calipers("metrics", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimator", "knnn"], "unknown --estimator 'knnn'; did you mean 'knn'"),
        (["--estimator", ""], "unknown --estimator ''; known: boosted"),
        (["--c", "0"], "--c must be a number above 0; found '0'"),
        (["--c", "five"], "--c must be a number above 0; found 'five'"),
        (["--c", "nan"], "found 'nan'"),
        (["--c", "inf"], "found 'inf'"),
        (["--c", "-5"], "found '-5'"),
        (["--buckets", "cuberoot"], "--buckets must be auto, cube-root or a whole number"),
        (["mauve_star:chi2"], "mauve_star:chi2: there is no such file. Metrics are"),
        (["frontier"], "frontier: there is no such file. Metrics are given as one"),
    ],
)
def test_bad_options_are_told_before_anything_is_read(calipers, calls, arguments, message):
    result = calipers(*JOB, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert calls.read == calls.compare == []


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("mauve:chi", "'mauve:chi': unknown option 'chi'; did you mean 'chi2'"),
        ("mauve:chi2:kl", "names a divergence twice"),
        ("mauve_star:knn", "ask for 'mauve:knn'"),
        ("mauve:knn:laplace", "has no counts; ask for 'mauve:knn'"),
        ("prd_f8:chi2", "metric 'prd_f8' takes no divergence, only an estimator"),
        ("frontier:chi22", "did you mean 'chi2'"),
        ("shape.mauve:chi2", "unknown view 'shape'"),
        ("mauve:interpolated_kl=1.5", "found 1.5"),
        ("recall:group=Sports", "a field of groups (--group)"),
    ],
)
def test_bad_keys_as_a_stranger_types_them(calipers, arrays, metrics, message):
    result = calipers(*JOB, "--metrics", metrics, "--quiet")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert result.stdout == ""


@pytest.mark.slow
def test_keys_estimator_and_constant_reach_the_scores(calipers, arrays):
    options = ("--estimator", "gaussian", "--c", "3", "--json", "-", "--quiet")
    data = json.loads(calipers(*JOB, "--metrics", "mauve,mauve:knn:chi2", *options).stdout)
    (system,) = data["systems"]
    assert list(system["scores"]) == ["mauve:gaussian", "mauve:chi2:knn", "classifier_auc"]
    assert "|c:3|" in system["scores"]["mauve:gaussian"]["signature"]
    assert data["settings"]["metrics_shown"] == ["mauve:gaussian", "mauve:chi2:knn"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("mauve_s", ["mauve_star"]),
        ("fron", ["frontier", "frontier_integral", "frontier_integral_star", "frontier_f8"]),
        ("recall,mau", ["recall,mauve", "recall,mauve_star"]),
        ("mauve:ch", ["mauve:chi2"]),
        ("recall,mauve:chi2:kn", ["recall,mauve:chi2:knn"]),
        ("xyz", []),
    ],
)
def test_the_shell_completes_keys(typed, offered):
    assert complete_metrics(typed)[: len(offered)] == offered
    assert bool(complete_metrics(typed)) == bool(offered)


def test_a_stream_without_greek_letters_gets_plain_ones():
    import io

    from calipers.cli.streams import encodable

    assert (
        encodable("MAUVE* χ²↑ • W2²", io.TextIOWrapper(io.BytesIO(), "ascii")) == "MAUVE* x2^ * W22"
    )
