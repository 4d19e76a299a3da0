"""Studies in files: a command line written as TOML and run again, and what a machine fixes."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path

import pytest

import calipers as package
from calipers.cli.help import Subcommands
from calipers.cli.study import read_study, study_of, words_of
from calipers.command import commands
from calipers.errors import InputError

TEXTS = [
    f"the {a} saw a {b}" for a in ("cat", "dog", "fox", "man") for b in ("bird", "fish", "hen")
]
WORDS = (
    "plain",
    "-5",
    "0.50",
    "é 中",
    "a\"b'c\\\\d",
    "runs/*.jsonl",
    "x,y",
    "[1]",
    "#no",
    "-",
    "1e3",
)
QUICK = ("--embedder", "tfidf", "--metrics", "precision,recall", "--no-cache", "--threads", "1")
STUDIED = [name for name, record in commands().items() if record.options]


@pytest.fixture
def sets(calipers):
    write_sets(36)


def write_sets(size):
    for place, name in enumerate(("human", "one", "two")):
        texts = (TEXTS * size)[:size]
        rows = [json.dumps({"text": f"{text} {place * n}"}) for n, text in enumerate(texts)]
        Path(f"{name}.jsonl").write_text("\n".join(rows))


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def measured(data):
    for name in ("command", "study"):
        data["settings"].pop(name, None)
    return data


@pytest.mark.parametrize("systems", [("one.jsonl", "two.jsonl"), ("a=one.jsonl", "a b=two.jsonl")])
def test_a_command_line_written_as_a_study_gives_the_same_result(calipers, sets, systems):
    job = ("compare", "-r", "human.jsonl", *systems, *QUICK, "--seed", "3", "--level", "0.9")
    written = calipers(*job, "--write-config", "study.toml")
    assert written.exit_code == 0, written.output
    assert written.stderr == "study.toml: run it with calipers run study.toml\n"
    assert written.stdout == ""
    plain = measured(data_of(calipers(*job, "--json", "-")))
    assert measured(data_of(calipers("run", "study.toml", "--json", "-"))) == plain
    assert measured(data_of(calipers("compare", "--config=study.toml", "--json", "-"))) == plain


def test_a_study_is_put_in_order(calipers, sets):
    job = ("compare", "-r", "human.jsonl", "a=one.jsonl", *QUICK, "--save", "run.zip")
    study = calipers(*job, "--write-config", "-")
    assert tomllib.loads(study.stdout) == {
        "command": "compare",
        "reference": "human.jsonl",
        "systems": {"a": "one.jsonl"},
        "options": {
            "embedder": "tfidf",
            "metrics": ["precision", "recall"],
            "cache": False,
            "threads": 1,
        },
        "outputs": {"save": "run.zip"},
    }
    assert not Path("run.zip").exists()


def test_what_is_typed_counts_in_place_of_the_file(calipers, sets):
    calipers("compare", "-r", "human.jsonl", "one.jsonl", *QUICK, "--write-config", "a.toml")
    more = ("--seed", "5", "--metrics=coverage", "two.jsonl", "--json", "-")
    for job in (("run", "a.toml", *more), ("compare", "--config", "a.toml", *more)):
        data = data_of(calipers(*job))
        assert [one["name"] for one in data["systems"]] == ["two"]
        assert data["settings"]["seed"] == 5
        assert data["settings"]["metrics_shown"] == ["coverage"]
        assert data["settings"]["study"] == Path("a.toml").read_text()


def test_a_result_keeps_its_study_and_a_redacted_one_does_not(calipers, sets):
    calipers("compare", "-r", "human.jsonl", "one.jsonl", *QUICK, "--write-config", "a.toml")
    run = calipers("run", "a.toml", "--save", "run.zip", "--html", "r.html")
    assert run.exit_code == 0, run.output
    text = Path("a.toml").read_text()
    assert package.load("run.zip").settings["study"] == text
    assert "Copy the study" in Path("r.html").read_text()
    shared = data_of(calipers("run", "a.toml", "--redact", "--json", "-"))
    assert shared["settings"]["study"] is None


def test_a_study_of_text_statistics_is_kept_too(calipers, sets):
    Path("t.toml").write_text(
        'command = "text"\n[systems]\na = "one.jsonl"\n[options]\nmetrics = "distinct:n=2"'
    )
    data = data_of(calipers("run", "t.toml", "--json", "-", "--threads", "1"))
    assert data["settings"]["study"].startswith('command = "text"')


@pytest.mark.parametrize(("condition", "code"), [("precision > 0.9", 0), ("precision < 0.5", 1)])
def test_checks_run_on_the_saved_result_and_give_its_exit_code(calipers, condition, code):
    write_sets(100)
    calipers("compare", "-r", "human.jsonl", "one.jsonl", *QUICK, "--save", "run.zip",
             "--write-config", "a.toml")  # fmt: skip
    with open("a.toml", "a") as file:
        file.write(f'\n[checks]\nfail-if = ["{condition}"]\n')
    run = calipers("run", "a.toml", "--seed", "0")
    assert run.exit_code == code, run.output
    assert condition.split()[0] in run.stdout.rpartition("legend")[2]
    assert "[checks] are for calipers run" in calipers("compare", "--config", "a.toml").stderr


def test_checks_need_a_saved_result(calipers, sets):
    Path("a.toml").write_text(
        'reference = "human.jsonl"\n[systems]\na = "one.jsonl"\n[checks]\nfail_if = "recall < 0.1"'
    )
    run = calipers("run", "a.toml")
    assert run.exit_code == 2
    assert "name its file in [outputs], such as save = 'run.zip'" in run.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reference = ", "study.toml: must be TOML: "),
        ('command = "compar"', "found 'compar'; did you mean 'compare'?"),
        ('command = "version"', "found 'version'; known: agree, annotate"),
        (
            "metrcs = 'recall'",
            "metrcs is not an option of calipers compare; did you mean 'metrics'",
        ),
        ("[options]\nmetrcs = 'recall'", "metrcs is not an option of calipers compare"),
        ("[optons]\nmetrics = 'recall'", "unknown table [optons]; did you mean 'options'?"),
        ("seed = 1\n[options]\nseed = 2", "seed is given twice"),
        ("fail-if = 'x'", "fail-if is not an option of calipers compare"),
        (
            "strip_prompt = true\nstrip-prompt = true",
            "strip-prompt and strip_prompt are one option",
        ),
        ("strip-prompt = 'yes'", "strip-prompt must be true or false; found 'yes'"),
        ("seed = true", "seed must be a text, a number or a list of them; found True"),
        ("seed = 1.5", "--seed must be a whole number of at least 0; found '1.5'"),
        ("checks = 'a.jsonl'", "checks must be a table, [checks]; found 'a.jsonl'"),
        ("[systems]\na = 3", "systems.a must be a file, or a pattern"),
        ("generated = 'a'\n[systems]\na = 'b'", "give [systems] or generated, not both"),
        ("[checks]\nfail-iff = 'x'", "checks.fail-iff is not an option of calipers check"),
        ("config = 'other.toml'", "config is not an option of calipers compare"),
        ("command = 'generate'\n[systems]\na = 'b'", "calipers generate takes no [systems]"),
    ],
)
def test_a_study_that_says_something_else_is_refused(calipers, sets, text, said):
    sides = (
        ""
        if "generated" in text or "systems" in text or "generate" in text
        else "generated = 'one.jsonl'\n"
    )
    head = "" if "reference =" in text or "generate'" in text else "reference = 'human.jsonl'\n"
    Path("study.toml").write_text(head + sides + text)
    run = calipers("run", "study.toml")
    assert run.exit_code == 2, run.output
    assert said in run.stderr


def test_a_file_that_is_not_there_or_not_utf8_is_refused(calipers, sets):
    assert "none.toml: cannot be read: No such file" in calipers("run", "none.toml").stderr
    Path("bad.toml").write_bytes(b"seed = '\xff'")
    assert "bad.toml: must be UTF-8; byte 8 is not" in calipers("run", "bad.toml").stderr
    said = calipers("text", "--config", "none.toml", "--config", "other.toml").stderr
    assert "--config must be given once, with a file" in said
    Path("t.toml").write_text("command = 'text'")
    said = calipers("compare", "--config", "t.toml").stderr
    assert "t.toml: is a study of calipers text, not of calipers compare" in said


def test_a_study_is_not_written_over_a_file(calipers, sets):
    job = ("compare", "-r", "human.jsonl", "one.jsonl", "--write-config", "one.jsonl")
    before = Path("one.jsonl").read_text()
    assert "--write-config" in calipers(*job).stderr
    assert Path("one.jsonl").read_text() == before
    Path("old.toml").write_text("seed = 1")
    assert "--force" in calipers(*job[:-1], "old.toml").stderr
    assert Path("old.toml").read_text() == "seed = 1"


@pytest.mark.parametrize("name", STUDIED)
def test_every_option_of_every_command_comes_back_from_its_study(tmp_path, name):
    command, spec = Subcommands()[name], commands()[name].load(commands()[name].cli)
    typed = {}
    for place, param in enumerate(command.params):
        words = [WORDS[(place + n) % len(WORDS)] for n in range(2)]
        number = param.name == "port"
        if param.name in ("help", "help_all", "config", "write_config"):
            continue
        if getattr(param, "is_flag", False):
            typed[param.name] = True
        elif getattr(param, "multiple", False) or param.nargs == -1:
            typed[param.name] = words
        else:
            typed[param.name] = str(7 + place) if number else words[0]
    path = tmp_path / "study.toml"
    text = study_of(name, inspect.signature(spec.run).parameters.values(), typed, ())
    path.write_text(text, encoding="utf-8")
    again = words_of(read_study(str(path)), command.params)
    context = command.make_context(name, list(again))
    for key, value in typed.items():
        read = context.params[key]
        assert (list(read) if isinstance(value, list) else read) in (value, _number(value)), key


def _number(value):
    return float(value) if isinstance(value, str) and value.isdigit() else value


def test_the_environment_stands_for_what_is_not_given(calipers, sets, monkeypatch):
    monkeypatch.setenv("CALIPERS_EMBEDDER", "tfidf")
    job = ("compare", "-r", "human.jsonl", "one.jsonl", "--metrics", "recall", "--threads", "1")
    data = data_of(calipers(*job, "--json", "-"))
    assert data["settings"]["embedder"] == "tfidf"
    data = data_of(calipers(*job, "--embedder", "characters", "--json", "-"))
    assert data["settings"]["embedder"] == "characters"
    made = package.compare("human.jsonl", "one.jsonl", metrics="recall", threads=1, cache=False)
    assert made.settings["embedder"] == "tfidf"
    monkeypatch.setenv("CALIPERS_EMBEDDER", "")
    monkeypatch.setenv("CALIPERS_THREADS", "many")
    said = "CALIPERS_THREADS must be a whole number of at least 1; found 'many'"
    assert said in calipers("compare", "-r", "human.jsonl", "one.jsonl").stderr
    with pytest.raises(InputError, match=said):
        package.compare("human.jsonl", "one.jsonl", metrics="recall")


def test_an_error_about_what_the_environment_fixes_names_the_variable(calipers, sets, monkeypatch):
    job = ("compare", "-r", "human.jsonl", "one.jsonl", "--metrics", "recall", "--no-cache")
    said = "(CALIPERS_DEVICE in the environment says banana)"
    monkeypatch.setenv("CALIPERS_DEVICE", "banana")
    assert said in calipers(*job).stderr
    assert said not in calipers(*job, "--device", "banana").stderr
    with pytest.raises(InputError, match="CALIPERS_DEVICE in the environment says banana"):
        package.compare("human.jsonl", "one.jsonl", cache=False)
    monkeypatch.delenv("CALIPERS_DEVICE")
    monkeypatch.setenv("CALIPERS_EMBEDDER", "efficientnet")
    stopped = calipers(*job)
    assert stopped.exit_code == 2
    assert "(CALIPERS_EMBEDDER in the environment says efficientnet)" in stopped.stderr


def test_a_study_holds_no_defaults_and_every_number(calipers):
    job = ("annotate", "s.sqlite", "-r", "human.jsonl", "one.jsonl", "--write-config", "-")
    assert "options" not in tomllib.loads(calipers(*job).stdout)
    held = tomllib.loads(calipers(*job, "--port", "0").stdout)
    assert held["options"] == {"port": 0}


def test_a_name_that_is_not_utf8_is_not_written_as_another(calipers, sets):
    job = ("compare", "-r", "human.jsonl", "\udcff.jsonl", "--write-config", "a.toml")
    assert "a study is UTF-8, which '\\udcff.jsonl' is not" in calipers(*job).stderr
    assert not Path("a.toml").exists()


def test_a_study_that_lacks_what_its_command_needs_is_refused(calipers, sets):
    Path("a.toml").write_text('reference = "human.jsonl"')
    said = "a.toml: lacks generated, which calipers compare needs"
    assert said in calipers("run", "a.toml").stderr
    assert said in calipers("compare", "--config", "a.toml").stderr
    assert calipers("run", "a.toml", "one.jsonl", *QUICK).exit_code == 0


def test_a_secret_in_a_study_is_blanked(calipers, sets):
    Path("a.toml").write_text(
        'generated = "one.jsonl"\nreference = "human.jsonl"\n# https://me:hunter2@host/v1\n'
    )
    data = data_of(calipers("run", "a.toml", *QUICK, "--json", "-"))
    assert "hunter2" not in json.dumps(data)
