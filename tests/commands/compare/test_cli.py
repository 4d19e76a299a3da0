"""``calipers compare``: what reaches the library, where the results go, and runs from files."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent
from hand_made import listed_tests

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl", "b=runs/b-*.jsonl")


def test_defaults_reach_compare(calipers, calls):
    assert calipers(*JOB).exit_code == 0
    (call,) = calls.compare
    assert calls.read == [("human.jsonl", None), (["a.jsonl", "b=runs/b-*.jsonl"], None)]
    assert call.pop("progress") is not None
    usual = {**vars(CompareOptions())}
    del usual["progress"]
    assert call == {
        "reference": "human.jsonl",
        "generated": ["a.jsonl", "b=runs/b-*.jsonl"],
        **usual,
    }


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--metrics", "precision,recall mauve", "--metrics", "recall"], "metrics", None),
        (["--metrics", "all"], "metrics", ("all",)),
        (["--k", "1"], "k", 1),
        (["--ties", "open"], "ties", "open"),
        (["--distance", "cosine"], "distance", "cosine"),
        (["--projection", "union"], "projection", "union"),
        (["--group", "meta.topic"], "group", "meta.topic"),
        (["--cluster", "meta.document"], "cluster", "meta.document"),
        (["--train", "train.jsonl"], "train", "train.jsonl"),
        (["--buckets", "50"], "buckets", 50),
        (["--buckets", "cube-root"], "buckets", "cube-root"),
        (["--estimator", "knn"], "estimator", "knn"),
        (["--c", "2.5"], "c", 2.5),
        (["--shared"], "shared", True),
        (["--seed", "12"], "seed", 12),
        (["--max-samples", "2"], "max_samples", 2),
        (["--keep-sizes"], "keep_sizes", True),
        (["--embedder", "precomputed"], "embedder", "precomputed"),
        (["--device", "cuda"], "device", "cuda"),
        (["--dtype", "auto"], "dtype", "auto"),
        (["--batch-size", "8"], "batch_size", 8),
        (["--offline", "--allow-pickle"], "allow_pickle", True),
        (["--processes", "3"], "processes", 3),
        (["--cache-dir", "cache"], "cache_dir", "cache"),
        (["--no-cache"], "cache", False),
        (["--threads", "2"], "threads", 2),
    ],
)
def test_options_reach_compare(calipers, calls, arguments, name, value):
    assert calipers(*JOB, *arguments).exit_code == 0
    expected = ("precision", "recall", "mauve") if value is None else value
    assert calls.compare[0][name] == expected


def test_bad_images_are_skipped_on_both_sides_when_asked(calipers, calls):
    calipers(*JOB)
    calipers(*JOB, "--train", "t.npy", "--skip-bad")
    assert calls.skips == [False, False, True, True]
    assert [call["skip_bad"] for call in calls.compare] == [False, True]


def test_field_reaches_both_sides(calipers, calls):
    calipers(*JOB, "--field", "a.b[0]")
    assert [field for _, field in calls.read] == ["a.b[0]", "a.b[0]"]


def test_the_group_is_read_from_both_sides(calipers, calls):
    calipers(*JOB, "--group", "topic", "--train", "train.jsonl")
    assert calls.groups == [
        ("human.jsonl", "topic"),
        (["a.jsonl", "b=runs/b-*.jsonl"], "topic"),
    ]


def test_the_cluster_is_read_from_both_sides(calipers, calls):
    calipers(*JOB, "--cluster", "prompt", "--train", "train.jsonl")
    assert calls.clusters == [
        ("human.jsonl", "prompt"),
        (["a.jsonl", "b=runs/b-*.jsonl"], "prompt"),
    ]


def test_the_table_is_plain_text_where_there_is_no_terminal(calipers, calls):
    result = calipers(*JOB)
    assert "model_a" in result.stdout
    assert ".750 ▲" in result.stdout
    assert "warning: human: one text is empty" in calipers(*JOB, "--details").stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_json_alone_on_standard_output(calipers, calls):
    calls.act = lambda: print("loading ...")  # noqa: T201
    result = calipers(*JOB, "--json", "-")
    data = json.loads(result.stdout)
    assert [system["name"] for system in data["systems"]] == ["model_a", "model_b"]
    assert "loading ..." in result.stderr
    assert "warning: human: one text is empty" in result.stderr


def test_json_and_save_write_files_beside_the_table(calipers, calls):
    result = calipers(*JOB, "--json", "scores.json", "--save", "run.zip")
    assert result.exit_code == 0
    assert json.loads(Path("scores.json").read_text())["reference"]["name"] == "human"
    assert Path("run.zip").read_bytes() == b"zip"
    assert "model_a" in result.stdout


def test_per_sample_reaches_the_json(calipers, calls):
    result = calipers(*JOB, "--json", "-", "--per-sample")
    assert json.loads(result.stdout)["settings"]["per"] is True


def test_quiet_leaves_standard_error_empty_and_the_table_whole(calipers, calls):
    calls.act = lambda: warnings.warn("from a library", stacklevel=1)
    result = calipers(*JOB, "--quiet", "--details")
    assert isinstance(calls.compare[0]["progress"], Silent)
    assert result.stderr == ""
    assert "warning: human" in result.stdout
    assert calipers(*JOB, "--quiet", "--json", "-").stderr == ""


def test_results_are_shown_even_if_a_file_cannot_be_written(calipers, calls, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["calipers.results"].Comparison, "save", full)
    result = calipers(*JOB, "--save", "run.zip", "--json", "scores.json")
    assert result.exit_code == 2
    assert "model_a" in result.stdout
    assert Path("scores.json").exists()
    assert result.stderr == (
        "wrote scores.json, 5 kB\n"
        "calipers: --save run.zip: cannot be written: No space left on device\n"
    )


def test_errors_of_the_library_are_one_paragraph_and_exit_2(calipers, calls):
    def fail():
        raise InputError("a.jsonl, line 3: not JSON \x1b[2J")

    calls.act = fail
    result = calipers(*JOB)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "calipers: a.jsonl, line 3: not JSON \ufffd[2J\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "in steps of 1,024 samples"),
        (["--no-cache"], "nothing"),
        (["--work-dir", "work"], "finished parts of the search are in files; the same command"),
    ],
)
def test_interrupting_says_what_was_kept_and_exits_130(calipers, calls, arguments, words):
    def interrupt():
        raise KeyboardInterrupt

    calls.act = interrupt
    result = calipers(*JOB, *arguments)
    assert result.exit_code == 130
    assert words in result.stderr


def test_faults_of_calipers_keep_their_traceback(calipers, calls):
    def fail():
        raise ZeroDivisionError("a bug")

    calls.act = fail
    result = calipers(*JOB)
    assert result.exit_code == 70
    assert "ZeroDivisionError: a bug" in result.stderr


PAIR = ("compare", "--reference", "human.jsonl", "a.jsonl")


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ([], "level", 0.95),
        (["--level", "0.9"], "level", 0.9),
        (["--level", "1e-3"], "level", 0.001),
        (["--no-intervals"], "level", None),
        (["--no-intervals", "--level", "0.9"], "level", None),
        ([], "floor", None),
        (["--floor"], "floor", True),
        (["--no-floor"], "floor", False),
        ([], "advice", False),
        (["--advice"], "advice", True),
        ([], "paired", None),
        (["--paired"], "paired", True),
        (["--no-paired"], "paired", False),
        ([], "margin", None),
        (["--margin", "0.05"], "margin", 0.05),
        (["--margin", "5e-2"], "margin", 0.05),
        ([], "match_length", None),
        (["--match-length", "50"], "match_length", 50),
    ],
)
def test_options_of_certainty_reach_compare(calipers, calls, arguments, name, value):
    assert calipers(*PAIR, *arguments).exit_code == 0
    (call,) = calls.compare
    assert call[name] == value


@pytest.mark.parametrize("level", ["0", "1", "95", "-0.5", "95%", "nan", "inf", "", "0,95"])
def test_refuses_what_is_no_level(calipers, calls, level):
    result = calipers(*PAIR, "--level", level)
    assert result.exit_code == 2
    wanted = f"--level must lie between 0 and 1, such as 0.95; found {level!r}"
    assert wanted in " ".join(result.stderr.split())
    assert calls.compare == []
    assert calls.read == []


@pytest.mark.parametrize("margin", ["0", "1", "5", "-0.1", "5%", "nan", "inf", "", "0,05"])
def test_refuses_what_is_no_margin(calipers, calls, margin):
    result = calipers(*PAIR, "--margin", margin)
    assert result.exit_code == 2
    wanted = f"--margin must lie between 0 and 1, such as 0.05; found {margin!r}"
    assert wanted in " ".join(result.stderr.split())
    assert calls.compare == []
    assert calls.read == []


@pytest.mark.parametrize("words", ["0", "-3", "ten", "2.5"])
def test_refuses_what_is_no_number_of_words(calipers, calls, words):
    result = calipers(*PAIR, "--match-length", words)
    assert result.exit_code == 2
    assert "--match-length" in result.stderr
    assert calls.compare == []


def test_help_names_every_option(calipers):
    shown = calipers("compare", "--help-all").stdout
    options = ("--level", "--no-intervals", "--no-floor", "--advice", "--paired", "--match-length")
    options += ("--margin",)
    for option in options:
        assert option in shown


@pytest.fixture
def vectors(tmp_path):
    rng = np.random.default_rng(3)
    for name, n, shift in (("human", 120, 0), ("a", 120, 0.1), ("b", 110, 0.9)):
        np.save(tmp_path / f"{name}.npy", np.float32(rng.standard_normal((n, 4)) + shift))
    return ("compare", "-r", "human.npy", "a.npy", "b.npy", "--no-floor", "--no-cache", "-q")


def written(calipers, tmp_path, *arguments):
    result = calipers(*arguments, "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    return json.loads((tmp_path / "out.json").read_text())


def test_a_run_from_files(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--level", "0.9", "--metrics", "recall density")
    recall = found["systems"][1]["scores"]["recall"]
    assert recall["level"] == found["settings"]["level"] == 0.9
    assert recall["interval"][0] <= recall["value"] <= recall["interval"][1]
    between = [test for test in listed_tests(found) if test["b"] == "b"]
    assert [test["score"] for test in between] == ["recall", "density"]


def test_a_run_with_a_margin(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--margin", "0.9", "--metrics", "recall density")
    assert found["settings"]["margin"] == 0.9
    near = {test["score"]: test["equivalence"] for test in listed_tests(found) if test["b"] == "b"}
    assert near["recall"] < 0.05
    assert near["density"] is None


def test_a_margin_without_intervals_is_refused(calipers, vectors):
    result = calipers(*vectors, "--no-intervals", "--margin", "0.1")
    assert result.exit_code == 2
    assert "margin" in result.stderr


def test_a_run_without_intervals(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--no-intervals", "--metrics", "recall")
    assert listed_tests(found) == []
    assert found["systems"][0]["scores"]["recall"]["interval"] is None
    assert found["settings"]["level"] is None


def test_pairs_of_unequal_sets_are_refused(calipers, vectors):
    result = calipers(*vectors, "--keep-sizes", "--paired")
    assert result.exit_code == 2
    assert "paired rows need generated sets of one size" in " ".join(result.stderr.split())
    assert "found 110 to 120 samples" in " ".join(result.stderr.split())


WORDS = [
    "sea",
    "land",
    "wind",
    "stone",
    "light",
    "house",
    "river",
    "bird",
    "runs",
    "falls",
    "sings",
]


def write(path, rng, count, each, **more):
    """Several continuations of each prompt, of the few words that it is about."""
    lines = []
    for place in range(count):
        own = rng.choice(WORDS, 4)
        for _ in range(each):
            text = " ".join([*rng.choice(own, 6), *rng.choice(WORDS, 2)])
            lines.append(json.dumps({"prompt": f"{path} {place}", "text": text, **more}))
    Path(path).write_text("\n".join(lines))


@pytest.fixture
def clustered(rng, calipers):
    write("human.jsonl", rng, 130, 1)
    write("model.jsonl", rng, 26, 5)
    return calipers


def compare_clustered(run, *more):
    job = ("compare", "-r", "human.jsonl", "model.jsonl", "--field", "text", "--metrics")
    return run(
        *job,
        "recall",
        "--embedder",
        "tfidf",
        "--no-floor",
        "--quiet",
        "--no-cache",
        "--details",
        *more,
    )


def read(run, *more):
    result = compare_clustered(run, *more, "--json", "run.json", "--force")
    assert result.exit_code == 0, result.stderr
    return json.loads(Path("run.json").read_text()), result.stdout


@pytest.mark.slow
def test_from_files_to_table_and_json(clustered):
    by_row, table = read(clustered)
    assert "130 samples of 26 in model" in " ".join(table.split())
    by_cluster, table = read(clustered, "--cluster", "prompt")
    assert by_cluster["settings"]["cluster"] == "prompt"
    assert by_row["settings"]["cluster"] is None
    assert "count as drawn together: 130 of 130 samples in the reference, 26 of 130" in " ".join(
        table.split()
    )
    ours, theirs = (data["systems"][0]["scores"]["recall"] for data in (by_cluster, by_row))
    assert ours["value"] == theirs["value"]
    assert ours["standard_error"] != theirs["standard_error"]
    assert ours["interval"]


def test_bad_fields(clustered, rng):
    result = compare_clustered(clustered, "--cluster", "promt")
    assert result.exit_code == 2
    assert "cluster 'promt': no set has this field in its rows" in " ".join(result.stderr.split())
    lines = Path("model.jsonl").read_text().splitlines()
    Path("model.jsonl").write_text("\n".join([*lines, json.dumps({"text": "the sea sings"})]))
    result = compare_clustered(clustered, "--cluster", "prompt")
    assert result.exit_code == 2
    assert "model.jsonl: the cluster 'prompt' is missing in 1 of 131 samples" in " ".join(
        result.stderr.split()
    )


def test_the_page_tells_what_it_is_for(calipers):
    page = " ".join(calipers("compare", "--help-all").stdout.split())
    assert "--cluster prompt" in page
    assert "--cluster FIELD" in page
    assert "rows that are not independent" in page


LABELS = ["sea", "land"] * 60


def rows(rng, labels):
    centres = {"sea": (30.0, 0.0), "land": (0.0, 30.0)}
    return np.array([centres[label] for label in labels]) + rng.standard_normal((len(labels), 2))


@pytest.fixture
def grouped(rng, calipers):
    """A reference with groups, a model that forgets one and repeats the training set, and that."""
    train = rows(rng, LABELS)
    np.savez("human.npz", vectors=rows(rng, LABELS), topic=np.array(LABELS))
    np.savez("train.npz", vectors=train)
    np.savez("parrot.npz", vectors=train[::2])
    return calipers


def compare_grouped(run, *more):
    job = ("compare", "-r", "human.npz", "parrot.npz", "--metrics", "recall")
    return run(*job, "--embedder", "precomputed", "--quiet", *more)


def test_from_files_to_table_json_and_archive(grouped):
    options = ("--group", "topic", "--train", "train.npz", "--per-sample")
    result = compare_grouped(grouped, *options, "--json", "run.json", "--save", "run.zip")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "By group (topic)" in result.stdout
    assert "Copies of the training set: train, n = 120" in result.stdout
    data = json.loads(Path("run.json").read_text())
    assert data["settings"]["group"] == "topic"
    assert data["reference"]["groups"] == {"land": 60, "sea": 60}
    assert data["train"]["n"] == 120
    (parrot,) = data["systems"]
    assert parrot["scores"]["recall:group=land"]["value"] == 0
    assert parrot["scores"]["recall:group=sea"]["value"] > 0.5
    assert parrot["scores"]["near_copies:train"]["value"] == 1
    assert data["reference"]["scores"]["near_copies:train"]["value"] < 0.2
    assert len(parrot["scores"]["recall:group=sea"]["per_sample"]) == 60
    assert parrot["neighbours"]["nearest_train"] == list(range(0, 120, 2))
    assert len(parrot["neighbours"]["generated_first_k"]) == 120
    assert grouped("show", "run.zip").stdout == result.stdout


def test_without_the_options_nothing_of_them(grouped):
    result = compare_grouped(grouped, "--field", "vectors")
    assert result.exit_code == 0
    assert "By group" not in result.stdout
    assert "Copies" not in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--group", "theme"],
            "human.npz: holds no array 'theme' of groups; the arrays are 'vectors' and 'topic'",
        ),
        (["--train", "none.npy"], "none.npy: there is no such file"),
        (["--train", "empty.npy"], "empty.npy: is empty"),
        (["--train", "nan.npy"], "nan.npy: NaN or infinite values in 1 of 3 rows: row 2"),
        (["--train", "wide.npy"], "wide: embeddings must have as many columns as the reference's"),
        (["--train", "one.npy"], "one.npy: the training set needs at least 2 samples; it has 1"),
        (["--train", "words.txt"], "the training set 'words' holds texts; both must be samples"),
    ],
)
def test_bad_files(grouped, options, message):
    Path("empty.npy").touch()
    Path("words.txt").write_text("a\nb\n")
    np.save("nan.npy", np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 1.0]]))
    np.save("wide.npy", np.ones((9, 5)))
    np.save("one.npy", np.ones((1, 2)))
    result = compare_grouped(grouped, "--group", "topic", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_labels_missing_on_some_rows_of_a_file(calipers):
    lines = [{"text": f"text {row}", **({"topic": "sea"} if row % 3 else {})} for row in range(9)]
    Path("human.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = calipers("compare", "-r", "human.jsonl", "human.jsonl", "--group", "topic")
    assert result.exit_code == 2
    assert result.stderr == (
        "calipers: human.jsonl: the group 'topic' is missing in 3 of 9 samples (lines 1, 4 and 7: "
        "there is no field 'topic'; the fields are 'text'); give every row a label, such as "
        '"none"\n'
    )
