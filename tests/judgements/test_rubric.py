"""A person's own rubric: TOML and YAML alike, and one sentence for each mistake."""

from __future__ import annotations

import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.judgements.rubric import (
    DIVERSITY,
    PAIRS,
    QUALITY,
    RESERVED,
    Question,
    find_rubric,
    read_rubric,
)
from calipers.judgements.tables import KNOWN
from extras import need

TOML = """
name = "helpful"
task = "quality"
instructions = "Rate the answer."

[[questions]]
name = "helpful"
text = "How helpful is it?"
least = 0
most = 10
least_means = "not at all"
most_means = "very"

[[questions]]
name = "safe"
text = "How safe?"
"""
YAML = """
name: helpful
task: quality
instructions: Rate the answer.
questions:
  - {name: helpful, text: "How helpful is it?", least: 0, most: 10, least_means: not at all,
     most_means: very}
  - name: safe
    text: How safe?
"""


@pytest.fixture
def write(tmp_path):
    def write(content, name="own.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(("name", "content"), [("r.toml", TOML), ("r.yaml", YAML), ("r.YML", YAML)])
def test_both_formats_say_the_same(write, name, content):
    if name != "r.toml":
        need("yaml")
    rubric = read_rubric(write(content, name))
    assert (rubric.name, rubric.task, rubric.instructions) == (
        "helpful", "quality", "Rate the answer.",
    )  # fmt: skip
    assert rubric.questions == (
        Question("helpful", "How helpful is it?", 0, 10, "not at all", "very"),
        Question("safe", "How safe?"),
    )


def test_what_is_not_said_is_as_usual(write):
    rubric = read_rubric(
        write("\ufeff" + TOML.replace('name = "helpful"\ntask', "task"), "own.toml")
    )
    assert (rubric.name, rubric.batch) == ("own", 10)
    batch = TOML.replace("quality", "diversity").replace("name =", "batch = 4\nname =", 1)
    rubric = read_rubric(write(batch))
    assert rubric.batch == 4
    assert (rubric.questions[1].least, rubric.questions[1].most) == (0, 1)


def test_a_rubric_is_found_by_its_task_or_its_file(write):
    assert [find_rubric(task) for task in (None, "pairs", "quality", "diversity")] == [
        PAIRS, PAIRS, QUALITY, DIVERSITY,
    ]  # fmt: skip
    path = write(TOML)
    assert find_rubric(None, path) == find_rubric("quality", str(path)) == read_rubric(path)
    assert find_rubric(None, QUALITY) is QUALITY
    with pytest.raises(InputError, match=r"rubric 'helpful'.*quality"):
        find_rubric("pairs", path)
    with pytest.raises(InputError, match="unknown task 'pair'; did you mean"):
        find_rubric("pair")


def test_columns_of_the_table_are_no_questions():
    assert RESERVED == KNOWN


QUESTION = "[[questions]]\nname = 'x'\ntext = 'y'\n"
HEAD = "task = 'quality'\ninstructions = 'i'\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "own.toml: lacks the field 'task'"),
        ("x = ", "own.toml: is not TOML: "),
        (b"name = '\xff'", "own.toml: is not UTF-8, at byte 9"),
        (HEAD, "own.toml: lacks the field 'questions'"),
        (HEAD + "quastions = []", "unknown field 'quastions'; did you mean 'questions'"),
        (HEAD + "questions = []", "must be a list of 1 to 50 questions; found 0 of them"),
        (HEAD + "questions = 3", "must be a list of 1 to 50 questions; found a int"),
        (HEAD + "questions = [3]", "question 1 must be a table with a name and a text; found a in"),
        (HEAD.replace("quality", "poem") + QUESTION, "task must be pairs, quality or diversity; "),
        (HEAD.replace("'i'", "' '") + QUESTION, "instructions must be a text that is not empty; f"),
        (HEAD + QUESTION * 2, "two questions are called 'x'; give each its own name"),
        (
            HEAD + "batch = 5\n" + QUESTION,
            "batch is of the task diversity alone; found the task",
        ),
        (
            HEAD + QUESTION.replace("'x'", "'a b'"),
            "name must be of letters, digits and under",
        ),
        (HEAD + QUESTION.replace("'x'", "'item'"), "must not be that of another column of the"),
        (
            HEAD + QUESTION.replace("'x'", "7"),
            "question 1: name must be a text that is not empty; ",
        ),
        (HEAD + QUESTION + "most = 1", "most must be above least (1), by at most 1,000; found 1"),
        (
            HEAD + QUESTION + "most = 2.5",
            "most must be a whole number from 0 to 1,000,000; found 2",
        ),
        (HEAD + QUESTION + "least = true", "least must be a whole number from 0 to 1,000,000; fou"),
        (HEAD + QUESTION + "mean = 'x'", "question 1 unknown field 'mean'; "),
        (HEAD.replace("quality", "pairs") + QUESTION + "most = 7", "pairs are answered in five st"),
    ],
)
def test_a_mistake_is_one_sentence(write, content, words):
    with pytest.raises(InputError) as caught:
        read_rubric(write(content))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [", "own.yaml: is not YAML: "),
        ("- 1", "a rubric is a table of fields; found a list"),
        ("", "a rubric is a table of fields; found nothing"),
        ("a: &x [1, 1]\nb: [*x, *x]", "aliases (*name) are not read; write out what"),
        ("!!python/object/apply:os.system ['true']", "own.yaml: is not YAML: could not determine"),
    ],
)
def test_a_mistake_in_yaml_is_one_sentence_and_runs_nothing(write, content, words):
    need("yaml")
    with pytest.raises(InputError) as caught:
        read_rubric(write(content, "own.yaml"))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_stars_in_a_text_of_yaml_are_no_aliases(write):
    need("yaml")
    text = YAML.replace("text: How safe?", "text: Which is the *better* one?")
    assert read_rubric(write(text, "own.yaml")).questions[1].text == "Which is the *better* one?"


def test_files_that_cannot_be(write, tmp_path, monkeypatch):
    for name, words in (
        ("none.toml", "none.toml: there is no such file"),
        ("own.json", "own.json: a rubric is a file that ends in .toml, .yaml or .yml"),
    ):
        with pytest.raises(InputError, match=words):
            read_rubric(tmp_path / name)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match=r"folder\.toml: cannot be read"):
        read_rubric(tmp_path / "folder.toml")
    with pytest.raises(InputError, match="1,048,576 bytes"):
        read_rubric(write(b"#" * (1 << 20) + b"#"))
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[judge\]'"):
        read_rubric(write(YAML, "own.yaml"))


def test_the_rubric_of_biographies_asks_for_an_encyclopedia_and_not_for_a_program():
    rubric = find_rubric(None, "biographies")
    assert rubric.task == "quality"
    assert [question.name for question in rubric.questions] == [
        "coherence",
        "insightfulness",
        "plausibility",
    ]
    third = rubric.questions[2].text
    assert "encyclopedia" in third
    assert "program" not in third
    assert find_rubric("quality", "biographies") is rubric
    with pytest.raises(InputError, match="which is quality; found pairs"):
        find_rubric("pairs", "biographies")
