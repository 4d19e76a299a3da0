"""calipers annotate: what it makes, says, refuses and writes; the server stands apart."""

from __future__ import annotations

import json
import re

import pytest

from calipers.annotation.study import AnnotationStudy
from calipers.judgements.rubric import PAIRS

NEW = "s.sqlite -r human.jsonl alpha.jsonl"


@pytest.fixture
def files(tmp_path):
    """Three systems that continue the same prompts."""
    for name in ("human", "alpha", "beta"):
        rows = [
            {"prompt": f"Beginning {n}", "text": " ".join(f"{name}{n}x{k}" for k in range(12))}
            for n in range(8)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return ["-r", "human.jsonl", "alpha.jsonl", "beta.jsonl"]


@pytest.fixture
def served(monkeypatch):
    """Stand in for the server: say where it would listen, and stop at once."""
    seen = []

    def serve(study, *, host, port, ready):
        seen.append((host, port))
        ready(f"http://{host}:{port}")

    monkeypatch.setattr("calipers.annotation.server.serve", serve)
    monkeypatch.setattr("calipers.annotation.server.check_server", lambda host, port: None)
    return seen


def answer(path, count=3):
    """Let the first annotator answer."""
    with AnnotationStudy.open(path) as study:
        first = study.annotators[0]
        for _ in range(count):
            place = study.turns.next(first)
            study.turns.answer(first, place, {each.name: 1 for each in PAIRS.questions})


def test_a_study_is_made_and_served_with_a_link_for_each(calipers, files, served):
    run = calipers(
        "annotate", "study.sqlite", *files, "--annotators", "ada,grace", "--per-pair", "4"
    )
    assert run.exit_code == 0, run.output
    assert served == [("127.0.0.1", 8765)]
    assert "study.sqlite: 0 of 12 items have all their ratings" in run.stdout
    links = re.findall(r"^  (\S+) +http://127\.0\.0\.1:8765/a/[\w-]{22}$", run.stdout, re.MULTILINE)
    assert links == ["ada", "grace"]
    assert (
        len(re.findall(r"^  http://127\.0\.0\.1:8765/o/[\w-]{22}$", run.stdout, re.MULTILINE)) == 1
    )
    assert "warning" not in run.stderr
    assert "`calipers annotate study.sqlite` goes on" in run.stderr


def test_the_same_study_goes_on(calipers, files, served):
    first = calipers("annotate", "s.sqlite", *files, "--annotators", "2", "--checks", "0").stdout
    answer("s.sqlite")
    again = calipers("annotate", "s.sqlite", "--port", "9001")
    assert served[-1] == ("127.0.0.1", 9001)
    assert "3 of 24 ratings by 1 of 2 annotators" in again.stdout
    tokens = re.findall(r"/[ao]/([\w-]+)", first)
    assert tokens == re.findall(r"/[ao]/([\w-]+)", again.stdout)
    assert len(tokens) == 3


def test_the_manifest_of_an_export_tells_the_agreement(calipers, files, served, tmp_path):
    calipers(
        *("annotate", "s.sqlite", *files, "--annotators", "2", "--ratings-per-item", "2"),
        *("--per-pair", "8", "--checks", "0"),
    )
    with AnnotationStudy.open("s.sqlite") as study:
        for place, annotator in enumerate(study.annotators):
            while (turn := study.turns.next(annotator)) is not None:
                values = {each.name: 1 + 4 * ((turn + place) % 2) for each in PAIRS.questions}
                study.turns.answer(annotator, turn, values)
        study.export(tmp_path / "j.jsonl")
        found = study.status().agreement
    told = json.loads((tmp_path / "j.jsonl.manifest.json").read_text())["agreement"]
    assert [each["question"] for each in told] == [each.name for each in PAIRS.questions]
    assert [each["alpha"] for each in told] == [each.alpha for each in found]
    assert all(-1 <= each["alpha"] <= 1 for each in told)


def test_another_host_is_warned_of(calipers, files, served):
    run = calipers("annotate", "s.sqlite", *files, "--host", "192.168.1.7")
    assert "warning: everybody on this network can reach this page." in run.stderr


def test_what_was_answered_is_exported_and_ranked_by(calipers, files, served, tmp_path):
    calipers("annotate", "s.sqlite", *files, "--checks", "0", "--least-seconds", "0")
    answer("s.sqlite", 24)
    run = calipers("annotate", "s.sqlite", "--export", "j.csv")
    assert run.exit_code == 0, run.output
    assert "wrote j.csv, 24 judgements, and j.csv.manifest.json, who answered" in run.stderr
    manifest = (tmp_path / "j.csv.manifest.json").read_text()
    told = json.loads(manifest)
    assert told["given"] == 24
    assert [each["name"] for each in told["rubric"]["questions"]] == [
        q.name for q in PAIRS.questions
    ]
    assert [each["answered"] for each in told["annotators"]] == [24]
    with AnnotationStudy.open("s.sqlite") as study:
        assert study.annotators[0].token not in manifest
    assert (tmp_path / "j.csv").read_text().count("\n") == 25
    assert calipers("annotate", "s.sqlite", "--export", "j.csv").exit_code == 2
    assert calipers("annotate", "s.sqlite", "--export", "j.csv", "--force").exit_code == 0
    assert len(served) == 1


def test_the_status_is_shown_and_written(calipers, files, served):
    calipers("annotate", "s.sqlite", *files, "--annotators", "ada", "--per-pair", "2")
    shown = calipers("annotate", "s.sqlite", "--status").stdout
    assert "0 of 6 items have all their ratings" in shown
    assert "ada" in shown
    written = json.loads(calipers("annotate", "s.sqlite", "--json", "-").stdout)
    assert written["wanted"] == 6
    assert [each["name"] for each in written["annotators"]] == ["ada"]


def test_annotators_are_added(calipers, files, served):
    calipers("annotate", "s.sqlite", *files)
    more = calipers("annotate", "s.sqlite", "--add-annotators", "2").stdout
    assert [line.split()[0] for line in more.splitlines()] == ["annotator-02", "annotator-03"]
    named = calipers("annotate", "s.sqlite", "--add-annotators", "mary, emmy").stdout
    assert [line.split()[0] for line in named.splitlines()] == ["mary", "emmy"]
    with AnnotationStudy.open("s.sqlite") as study:
        assert len(study.annotators) == 5


def test_tasks_for_label_studio_and_back(calipers, files, served, tmp_path):
    calipers("annotate", "s.sqlite", *files, "--per-pair", "2", "--checks", "1")
    run = calipers("annotate", "s.sqlite", "--label-studio", "tasks.json")
    assert "wrote tasks.json, and its labelling configuration tasks.xml" in run.stderr
    (tmp_path / "tasks.json").rename(tmp_path / "kept.json")
    again = calipers("annotate", "s.sqlite", "--label-studio", "tasks.json")
    assert "--label-studio tasks.xml: the file already exists" in again.stderr
    tasks = json.loads((tmp_path / "kept.json").read_text())
    assert len(tasks) == 7
    result = [
        {"from_name": each.name, "type": "choices", "value": {"choices": ["Tie"]}}
        for each in PAIRS.questions
    ]
    exported = [{**task, "annotations": [{"completed_by": 3, "result": result}]} for task in tasks]
    (tmp_path / "export.json").write_text(json.dumps(exported))
    run = calipers("annotate", "s.sqlite", "--import-label-studio", "export.json", "--status")
    assert "7 answers taken into s.sqlite." in run.stdout
    assert "6 of 6 items have all their ratings" in run.stdout


def test_a_rubric_of_ones_own(calipers, files, served, tmp_path):
    (tmp_path / "own.toml").write_text(
        'task = "quality"\ninstructions = "Read."\n[[questions]]\nname = "kind"\n'
        'text = "How kind is it?"\nleast = 1\nmost = 7\nleast_means = "not"\nmost_means = "very"\n'
    )
    run = calipers("annotate", "s.sqlite", "alpha.jsonl", "--rubric", "own.toml")
    assert run.exit_code == 0, run.output
    with AnnotationStudy.open("s.sqlite") as study:
        assert study.settings.rubric.questions[0].most == 7
        assert len(study.items()) == 8


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("none.sqlite", "none.sqlite: there is no such study; to create it, give the samples"),
        ("human.jsonl alpha.jsonl", "human.jsonl: the file already exists"),
        ("alpha.jsonl", "alpha.jsonl: is not a study"),
        ("s.sqlite alpha.jsonl", "pairs are of two systems, but there is one"),
        ("s.sqlite alpha.jsonl none.jsonl", "none.jsonl: there is no such file"),
        (f"{NEW} --annotators 0", "from 1 to 2,000"),
        (f"{NEW} --annotators a,,b", "--annotators must be a number, or names with commas between"),
        (f"{NEW} --ratings-per-item 2", "ratings_per_item is 2, but there is 1 annotator"),
        (f"{NEW} --rubric no.toml", "no.toml"),
        (f"{NEW} --least-seconds -1", "--least-seconds must be a number of at least 0; found '-1'"),
        (f"{NEW} --export x.xlsx", "ending in .csv or .jsonl"),
        (f"{NEW} --label-studio tasks.xml", "--label-studio must name a file ending in .json"),
        (f"{NEW} --port 70000", "--port must be a whole number from 0 to 65,535; found '70000'"),
        (f"{NEW} --port x", "--port must be a whole number from 0 to 65,535; found 'x'"),
        (f"{NEW} --export alpha.jsonl --force", "--export would overwrite an input"),
    ],
)
def test_bad_input_is_one_sentence(calipers, files, served, tmp_path, arguments, says):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run = calipers("annotate", *arguments.split())
    assert run.exit_code == 2
    assert says in run.stderr
    assert run.stderr.strip().count("\n") == 0
    assert served == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_is_fixed_cannot_be_given_again(calipers, files, served):
    calipers("annotate", "s.sqlite", *files)
    run = calipers("annotate", "s.sqlite", "--per-pair", "4")
    assert run.exit_code == 2
    assert "--per-pair is fixed when a study is made" in run.stderr
    run = calipers("annotate", "s.sqlite", *files)
    assert "samples can only be given to a new study" in run.stderr


def test_without_the_server_nothing_is_begun(calipers, files, served, monkeypatch, tmp_path):
    from calipers.errors import MissingExtraError

    def missing(host, port):
        raise MissingExtraError("calipers annotate needs the package 'starlette'")

    monkeypatch.setattr("calipers.annotation.server.check_server", missing)
    run = calipers("annotate", "s.sqlite", *files)
    assert run.exit_code == 2
    assert "needs the package 'starlette'" in run.stderr
    assert not (tmp_path / "s.sqlite").exists()
