"""The examples of the documentation print what the page says, and its checker finds dead links."""

import doctest
import hashlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

RUN = ("huse", "index", "tutorial", *sorted(path.stem for path in DOCS.glob("tutorial_*.md")))
"""Pages whose commands are run."""

CORPUS = "a38332908128be12"
"""What the paragraphs inside Python 3.11.7, which the pages are written with, hash to."""


def program(name):
    """Load a program of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded  # for its dataclasses
    spec.loader.exec_module(loaded)
    return loaded


def corpus():
    from calipers.demo.corpora import paragraphs

    return hashlib.sha256("\n".join(paragraphs()).encode()).hexdigest()[:16]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_commands_of_a_page(page):
    if corpus() != CORPUS:
        pytest.skip("the texts inside this Python are not those of the page")
    runner, path = program("run_examples"), DOCS / f"{page}.md"
    if lacking := runner.missing_data(path.read_text("utf-8")):
        pytest.skip(f"CALIPERS_DATA has no {lacking[0]}")
    found = runner.failures(path)
    assert not found, "\n".join(found)


def test_commands_are_found_with_what_they_print():
    page = (
        "```sh\na\n```\n\n```text\n1\n```\n\n```python\nb\n```\nand\n"
        "```text\n2\n```\n```bash\nc\n```\n"
    )
    found = [
        (each.language, each.body, each.expected) for each in program("run_examples").examples(page)
    ]
    assert found == [("sh", "a\n", "1\n"), ("python", "b\n", None)]


def test_a_page_that_prints_something_else_is_told_and_can_be_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\necho 2 > kept; echo 1\n```\n```text\n0\n```\n```sh\ncat "
        "kept\n```\n```text\n2\n```\n"
    )
    runner = program("run_examples")
    (told,) = runner.failures(page)
    assert "echo 1" in told
    assert told.startswith("page.md: this printed")
    assert runner.failures(page, write=True) == []
    assert runner.failures(page) == []
    assert "```text\n1\n```" in page.read_text()


def test_a_page_that_needs_data_is_run_where_they_are(tmp_path, monkeypatch):
    page, runner = tmp_path / "page.md", program("run_examples")
    page.write_text("<!-- needs data: birds -->\n```sh\nexit 3\n```\n")
    for folder in (None, tmp_path):
        if folder is None:
            monkeypatch.delenv("CALIPERS_DATA", raising=False)
        else:
            monkeypatch.setenv("CALIPERS_DATA", str(folder))
        assert runner.missing_data(page.read_text()) == ["birds"]
        assert runner.failures(page) == []
    (tmp_path / "birds").mkdir()
    (told,) = runner.failures(page)
    assert "ended with 3" in told


def test_a_command_that_needs_a_model_is_run_only_where_there_is_one(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- needs: CALIPERS_MODELS CALIPERS_DATA -->\n```sh\nls samples\n```\n\n"
        "```text\nkept.jsonl\n```\n"
    )
    runner = program("run_examples")
    monkeypatch.setenv("CALIPERS_MODELS", "models")
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    (found,) = runner.examples(page.read_text())
    assert found.needs == ("CALIPERS_MODELS", "CALIPERS_DATA")
    assert runner.failures(page) == []
    monkeypatch.setenv("CALIPERS_DATA", "data")
    monkeypatch.delenv("CALIPERS_SAMPLES", raising=False)
    assert "No such file" in runner.failures(page)[0]
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "kept.jsonl").touch()
    monkeypatch.setenv("CALIPERS_SAMPLES", str(tmp_path / "samples"))
    assert runner.failures(page) == []


def test_a_command_that_fails_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nexit 3\n```\n")
    (told,) = program("run_examples").failures(page)
    assert told.startswith("page.md: this ended with 3")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<a href="other.html#here">', None),
        ('<a href="#own">', None),
        ('<a id="own" href="https://example.org/a?b#c">', None),
        ('<a href="mailto:someone@example.org">', None),
        ('<a href="gone.html">', "page.html: there is no gone.html"),
        ('<a href="other.html#gone">', "page.html: other.html#gone: the page has no such place"),
        ('<a href="https://no host">', "page.html: no browser can open https://no host"),
        (
            '<script src="https://cdn.example/x.js">',
            "page.html: <script> fetches https://cdn.example/x.js",
        ),
        ('<img src="//cdn.example/x.png">', "page.html: <img> fetches //cdn.example/x.png"),
    ],
)
def test_dead_links_and_foreign_files_are_found(tmp_path, body, told):
    (tmp_path / "other.html").write_text('<p id="here"></p>')
    (tmp_path / "page.html").write_text(f'<p id="own"></p>{body}')
    assert list(program("check_site").faults(tmp_path)) == ([] if told is None else [told])


def test_styles_that_fetch_fonts_are_found(tmp_path):
    (tmp_path / "a.css").write_text('@font-face { src: url("https://fonts.example/a.woff2") }')
    (tmp_path / "b.css").write_text("a { background: url(own.png) }")
    assert list(program("check_site").faults(tmp_path)) == [
        "a.css: fetches https://fonts.example/a.woff2"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in sorted(DOCS.glob("*.md")) if ">>>" in page.read_text("utf-8")],
    ids=lambda page: page.name,
)
def test_examples_of_a_page(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert attempted > 0
    assert failed == 0


def test_some_page_has_examples():
    assert (DOCS / "divergences.md").read_text("utf-8").count(">>>") >= 10


def test_the_readme_shows_the_demo_as_the_index_does():
    """What the index shows is run by a slow test."""
    runner, readme = program("run_examples"), (ROOT / "README.md").read_text("utf-8")
    (demo,) = [
        each.expected
        for each in runner.examples((DOCS / "index.md").read_text("utf-8"))
        if each.body == "calipers demo\n"
    ]
    shown = re.search(r"calipers demo\n```\n\n```\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[1]
    assert demo.startswith(shown)
    assert len(shown.splitlines()) > 15


ROAD = re.findall(
    r"^\d+\. .*\]\((\w+\.md)\)",
    (DOCS / "index.md").read_text("utf-8").split("## Start here")[1],
    re.MULTILINE,
)
"""The pages that a newcomer reads after the index, in order."""


def test_a_newcomer_is_led_from_page_to_page():
    assert 5 <= len(ROAD) < 10
    for page, following in zip(["index.md", *ROAD], ROAD, strict=False):
        text = (DOCS / page).read_text("utf-8").split("\n## Look up")[0]
        assert f"]({following})" in text.strip().splitlines()[-1], page


def places_of(text):
    """The addresses of a page's anchors, and of its headings, as GitHub and MyST make them."""
    yield from re.findall(r"^\((.+)\)=$", text, re.MULTILINE)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("\\", "")
        yield re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def dead_links(page):
    """Links of a page to files, or to places in pages, that are not there."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, place = link.partition("#")
        target = page.parent / name if name else page
        made = target.is_relative_to(DOCS) and target.parent.name in ("api", "gallery", "metrics")
        if ":" in link or made:
            continue
        if not target.exists() or (place and place not in places_of(target.read_text("utf-8"))):
            yield link


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert list(dead_links(page)) == []


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "other.md").write_text("# One `two`: *three*\n")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md#one-two-three) [b](other.md#two) [c](gone.md) [d](https://e)\n")
    assert list(dead_links(page)) == ["other.md#two", "gone.md"]


def test_every_place_that_contributors_are_sent_to_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    places = re.findall(r"`((?:src|tests|docs|native|research|\.ci)/[\w./]+)`", text)
    assert len(places) > 50
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_the_tests_of_a_room_are_in_the_folder_of_its_name():
    """Of a command without a folder of tests, in tests/cli."""
    source, tests = ROOT / "src" / "calipers", ROOT / "tests"
    rooms = [path.parent.relative_to(source) for path in source.glob("*/__init__.py")]
    commands = [path.parent.relative_to(source) for path in source.glob("commands/*/__init__.py")]
    without = {
        room.as_posix()
        for room in [*rooms, *commands]
        if not any((tests / room).glob("**/test_*.py"))
    }
    in_cli = "".join(path.read_text("utf-8") for path in (tests / "cli").glob("test_*.py"))
    assert [room for room in without - {"demo"} if f'"{Path(room).name}"' not in in_cli] == []
    own = {path.name for path in tests.iterdir() if any(path.glob("**/test_*.py"))}
    assert own - {room.as_posix() for room in rooms} == {"browser", "research"}


def test_figures_show_the_numbers_of_their_pages():
    figures, page = program("figures"), (DOCS / "scores.md").read_text("utf-8")
    (axes,) = figures.views().axes
    falls = {text.get_text() for text in axes.texts}
    assert {"0.52", "0.95", "0.04", "0.91"} <= falls  # words shuffled; cut at half
    assert "(MAUVE\\* by meaning falls by 0.04)" in page
    shown = [text.get_text() for text in figures.mauve_star().axes[1].texts]
    assert "MAUVE* = 0.72" in shown
    assert "MAUVE 0.59 and MAUVE\\* 0.72" in " ".join(page.split())
