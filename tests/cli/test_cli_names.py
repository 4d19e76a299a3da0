"""Names and fields of sets as they are typed, in the commands that take sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEXTS = [
    f"the {a} saw a {b}" for a in ("cat", "dog", "fox", "man") for b in ("bird", "fish", "hen")
]
QUICK = ("--tokenizer", "whitespace", "--threads", "1")


@pytest.fixture
def results(calipers):
    """Outputs of two systems and of people, in folders of their own, in fields of their own."""
    for name, field in (("one", "first"), ("two", "second"), ("people", "third")):
        folder = Path("results", name)
        folder.mkdir(parents=True)
        rows = [{"prompt": f"p{n}", field: text, "note": "x"} for n, text in enumerate(TEXTS)]
        (folder / "out.json").write_text(json.dumps(rows))


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def names_of(data):
    reference = data.get("reference")
    return (reference and reference["name"], [one["name"] for one in data["systems"]])


SETS = ("results/one/out.json@first", "results/two/out.json@second")


def test_sets_of_one_file_name_are_called_by_their_folders(calipers, results):
    job = ("text", *SETS, "-r", "results/people/out.json", "--field", "third", *QUICK)
    data = data_of(calipers(*job, "--metrics", "distinct:n=2", "--json", "-"))
    assert names_of(data) == ("people", ["one", "two"])
    assert [one["field"] for one in data["systems"]] == ["first", "second"]
    assert data["reference"]["field"] == "third"


@pytest.mark.parametrize("reference", ["gold=results/people/out.json@third"])
@pytest.mark.parametrize("command", ["text", "likelihood", "compare", "prompts"])
def test_a_reference_has_a_name_and_a_field(calipers, results, command, reference):
    more = {
        "text": ("--metrics", "distinct:n=2", *QUICK),
        "likelihood": ("--model", "ngram", "--threads", "1"),
        "compare": ("--embedder", "tfidf", "--metrics", "mauve_star", "--threads", "1"),
        "prompts": ("--threads", "1", "--embedder", "tfidf"),
    }[command]
    found = calipers(command, *SETS, "-r", reference, *more, "--json", "-")
    assert found.exit_code == 0, found.output
    assert names_of(json.loads(found.stdout)) == ("gold", ["one", "two"])


def test_an_output_over_an_input_with_a_name_or_a_field_is_refused(calipers, results):
    for typed in ("results/one/out.json@first", "m=results/one/out.json@first"):
        job = ("text", typed, *QUICK, "--json", "results/one/out.json", "--force")
        result = calipers(*job)
        assert result.exit_code == 2
        assert "--json would overwrite an input" in result.stderr
    job = ("text", SETS[0], "-r", "r=results/people/out.json@third", *QUICK)
    result = calipers(*job, "--json", "results/people/out.json", "--force")
    assert "--json would overwrite an input" in result.stderr
