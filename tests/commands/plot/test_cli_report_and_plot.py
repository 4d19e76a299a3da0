"""``calipers report`` and ``calipers plot``: from what was kept to files."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from calipers.cli import outputs
from calipers.commands.plot.cli import LINES, read_x
from calipers.commands.report.cli import page_beside
from calipers.errors import InputError
from calipers.report.plot_kinds import plot_kinds
from extras import need


@pytest.fixture
def bare(monkeypatch):
    """A machine with no font but matplotlib's own."""
    from calipers.report.plots import fonts

    own = fonts._fonts()[:1]
    monkeypatch.setattr(fonts, "_fonts", lambda: own)
    monkeypatch.setattr(fonts, "_new_fonts", tuple)
    fonts.font_of.cache_clear()
    yield
    fonts.font_of.cache_clear()


@pytest.fixture(scope="module")
def kept_texts(tmp_path_factory):
    """A zip of a comparison of texts, small enough to be made in a second."""
    from typer.testing import CliRunner

    from calipers.cli import app

    folder = tmp_path_factory.mktemp("kept")
    words = ["cat", "dog", "fox", "mill", "lake", "hill", "bird", "fish"]
    rng = np.random.default_rng(0)
    for name, much in (("human", 8), ("model_a", 5), ("model_b", 8)):
        texts = [" ".join(rng.choice(words[:much], 12)) for _ in range(60)]
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n")
    job = ["compare", "-r", *(str(folder / f"{n}.txt") for n in ("human", "model_a", "model_b"))]
    more = ["--embedder", "tfidf", "--no-cache", "--no-floor", "--save", str(folder / "run.zip")]
    result = CliRunner().invoke(app, [*job, *more], prog_name="calipers")
    assert result.exit_code == 0, result.output
    return folder / "run.zip"


def test_the_page_of_a_run_stands_beside_it():
    assert page_beside("runs/run.zip") == "runs/run.html"
    assert page_beside("RUN.ZIP") == "RUN.html"
    assert page_beside("v1.2") == "v1.2.html"
    assert page_beside("run") == "run.html"


def test_with_no_file_named_the_page_is_written_and_told(calipers, calls):
    Path("runs").mkdir()
    result = calipers("report", "runs/run.zip")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("wrote runs/run.html, ")
    assert result.stderr.endswith("kB: open it in a browser\n")
    again = calipers("report", "runs/run.zip")
    assert again.exit_code == 2
    assert "--html runs/run.html: the file already exists; --force replaces it" in again.stderr
    assert calipers("report", "runs/run.zip", "--force", "--quiet").stderr == ""


def test_named_files_and_no_other_are_written(calipers, calls):
    result = calipers("report", "run.zip", "--json", "s.json")
    assert result.exit_code == 0, result.output
    assert [path.name for path in Path().iterdir()] == ["s.json"]
    alone = calipers("report", "run.zip", "--json", "-")
    assert json.loads(alone.stdout) == json.loads(Path("s.json").read_text())


def test_redact_and_map_go_with_the_page_that_is_written_by_default(calipers, calls):
    result = calipers("report", "run.zip", "--redact", "--map", "pca")
    assert result.exit_code == 0, result.output
    page = Path("run.html").read_text()
    assert "'redacted': True" in page
    assert "'method': 'pca'" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.zip"], "gone.zip: cannot be read: No such file or directory"),
        (["."], "cannot be read: Is a directory"),
        (["text.zip"], "text.zip: is not a result saved by calipers, or is damaged"),
        (["text.zip", "--html", "text.zip"], "--html would overwrite an input: text.zip"),
        (["text.zip", "--map", "pca", "--csv", "x.csv"], "--map needs --html FILE"),
    ],
)
def test_bad_input_is_one_sentence(calipers, arguments, message):
    Path("text.zip").write_text("no zip")
    result = calipers("report", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert [path.name for path in Path().iterdir()] == ["text.zip"]


def test_the_way_from_what_was_kept_to_every_file(calipers, kept_texts):
    names = {"html": "r.html", "json": "s.json", "csv": "s.csv", "latex": "t.tex"}
    named = [part for name, path in names.items() for part in (f"--{name}", path)]
    result = calipers("report", str(kept_texts), *named, "--markdown", "-")
    assert result.exit_code == 0, result.output
    assert "| model_a" in result.stdout
    data = json.loads(Path("s.json").read_text())
    assert data["settings"]["command"].startswith("calipers compare -r ")
    rows = list(csv.DictReader(Path("s.csv").read_text().splitlines()))
    assert {"model_a", "model_b"} <= {row["system"] for row in rows}
    assert "\\begin{tabular}" in Path("t.tex").read_text()
    page = Path("r.html").read_text()
    assert page[:15].lower() == "<!doctype html>"
    assert "calipers compare -r" in page
    size = outputs.size_words(Path("r.html").stat().st_size)
    assert f"wrote r.html, {size}: open it in a browser" in result.stderr


@pytest.mark.slow
def test_a_redacted_report_of_a_real_run_holds_none_of_its_texts(calipers, kept_texts):
    texts = (kept_texts.parent / "model_a.txt").read_text().splitlines()
    calipers("report", str(kept_texts), "--html", "open.html", "--json", "open.json")
    calipers("report", str(kept_texts), "--html", "r.html", "--json", "s.json", "--redact")
    whole = Path("open.html").read_text()
    assert any(text in whole for text in texts)
    for name in ("r.html", "s.json"):
        found = Path(name).read_text()
        assert not any(text in found or text[:40] in found for text in texts)
        assert str(kept_texts.parent) not in found


@pytest.mark.slow
def test_a_redacted_table_of_a_real_run_names_no_folder(calipers, kept_texts, monkeypatch):
    need("pyarrow")
    import pyarrow.parquet as parquet

    from calipers.results import rows

    folder = "/home/jane/model"
    monkeypatch.setattr(
        rows,
        "score_rows",
        lambda result: [{"system": "a/b", "signature": f"embedder:{folder}|k:4"}],
    )
    files = [str(kept_texts.parent / f"{name}.txt") for name in ("human", "model_a")]
    job = ("compare", "-r", *files, "--embedder", "tfidf", "--no-cache", "--no-floor")
    result = calipers(*job, "--table", "t.parquet", "--redact")
    assert result.exit_code == 0, result.output
    found = parquet.read_table("t.parquet").to_pylist()
    assert found == [{"system": "a/b", "signature": "embedder:model|k:4"}]


def test_every_setting_is_documented_and_none_else(calipers, kept_texts):
    page = (Path(__file__).parents[3] / "docs" / "json.md").read_text()
    section = page.partition("\n## Settings\n")[2].partition("\n## ")[0]
    values = {
        "null",
        "l2",
        "none",
        "equal",
        "kept",
        "texts",
        "tokens",
        "images",
        "vectors",
        "settings",
    }
    parts_of_chosen = {"reason", "languages", "scripts"}
    documented = set(re.findall(r"`(\w+)`", section)) - values - parts_of_chosen
    settings = json.loads(calipers("show", str(kept_texts), "--json", "-").stdout)["settings"]
    assert documented == {*settings, "chosen"}  # which is there where no embedder is named


def test_nothing_is_measured_again(calipers, kept_texts, monkeypatch):
    import calipers.metrics.pair as pair
    from calipers.embedders import EmbedderChoice

    def measured(*_, **__):
        raise AssertionError("measured again")

    monkeypatch.setattr(EmbedderChoice, "load", measured)
    monkeypatch.setattr(pair.Pair, "__init__", measured)
    monkeypatch.setattr("calipers.results.system.explain_pair", measured)
    monkeypatch.setattr("calipers.explain.sample_map", measured)
    assert calipers("report", str(kept_texts), "--html", "r.html").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("output", ["--html", "--save"])
def test_nothing_is_computed_while_a_file_is_written(calipers, kept_texts, monkeypatch, output):
    import calipers.explain as explain
    import calipers.results.system as system

    open_tasks, during = [], set()

    class Watching:
        @contextmanager
        def task(self, description, total):
            open_tasks.append(description)
            yield lambda steps: None
            open_tasks.pop()

    def watched(function):
        def call(*given, **named):
            during.add(tuple(open_tasks))
            return function(*given, **named)

        return call

    monkeypatch.setattr("calipers.cli.outputs.Outputs.progress", lambda self: Watching())
    monkeypatch.setattr(system, "explain_pair", watched(system.explain_pair))
    monkeypatch.setattr(explain, "sample_map", watched(explain.sample_map))
    files = [str(kept_texts.parent / f"{name}.txt") for name in ("human", "model_a")]
    job = ("compare", "-r", *files, "--embedder", "tfidf", "--no-cache", "--no-floor")
    result = calipers(*job, output, "out.zip" if output == "--save" else "out.html")
    assert result.exit_code == 0, result.output
    assert during == {("Explaining",)}


OF_COMPARISONS = [name for name, kind in plot_kinds().items() if kind.takes == "comparison"]


WORDS = {"sport": "goal match team coach league", "world": "minister vote treaty talks border"}


def _text(topic: str, rng: np.random.Generator) -> dict[str, str]:
    words = rng.choice(WORDS[topic].split(), 12)
    return {"text": " ".join(words), "topic": topic}


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A comparison of two systems with groups, a sweep and a ranking, made once."""
    from typer.testing import CliRunner

    from calipers.cli import app

    folder = tmp_path_factory.mktemp("kept")
    rng = np.random.default_rng(5)
    for name, sport in (("human", 0.5), ("t-0.5", 0.1), ("t-1.0", 0.5)):
        rows = [_text("sport" if draw < sport else "world", rng) for draw in rng.random(60)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    names = ("human", "t-0.5", "t-1.0")
    sides = ["-r", *(str(folder / f"{name}.jsonl") for name in names)]
    sides += ["--embedder", "tfidf", "--no-cache", "--quiet"]

    def run(*arguments: str) -> None:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == 0, result.stderr

    scores = ("--json", str(folder / "scores.json"), "--save", str(folder / "run.zip"))
    metrics = "precision,recall,coverage,mauve_star,prd_f8,prd_f1_8,frontier_integral_star"
    run("compare", *sides, "--group", "topic", "--metrics", metrics, *scores)
    run("sweep", "--over", "k", *sides, "--values", "1-4", "--json", str(folder / "sweep.json"))
    run("rank", str(folder / "scores.json"), "--json", str(folder / "rank.json"), "--quiet")
    return folder


@pytest.fixture
def plot(calipers, kept):
    """Run ``calipers plot`` with inputs by their short names."""

    def run(*arguments: str):
        names = {"run.zip", "scores.json", "sweep.json", "rank.json"}
        return calipers("plot", *(str(kept / a) if a in names else a for a in arguments))

    return run


DRAWN = [(name, "run.zip") for name in OF_COMPARISONS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "source"), [*DRAWN, ("sweep", "sweep.json"), ("heat-map", "rank.json")]
)
def test_every_kind_is_drawn_from_what_was_kept(plot, kind, source):
    result = plot(kind, source, "-o", "a.svg")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "wrote a.svg, " in result.stderr
    assert "<svg" in Path("a.svg").read_text()[:800]


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(plot):
    for name in ("a.pdf", "b.pdf"):
        assert plot("plane", "run.zip", "-o", name, "--quiet").stderr == ""
    assert Path("a.pdf").read_bytes() == Path("b.pdf").read_bytes()


def test_topics_are_named_by_their_keywords(plot):
    assert plot("cells", "run.zip", "--system", "t-0.5", "-o", "a.svg").exit_code == 0
    text = Path("a.svg").read_text()
    assert any(f"{word}, " in text for word in WORDS["sport"].split())
    assert " % under-represented</text>" in text


def test_names_give_the_axis_and_its_label_can_be_told(plot):
    options = ("--metrics", "recall", "--x-label", "temperature of sampling")
    assert plot("parameter", "run.zip", *options, "-o", "a.svg").exit_code == 0
    text = Path("a.svg").read_text()
    assert "temperature of sampling" in text
    assert ">t</text>" in text


@pytest.mark.parametrize(("name", "warned"), [("a.png", 1), ("a.svg", 0)])
def test_letters_that_no_font_has_are_told_of_once(bare, plot, kept, name, warned):
    text = (kept / "scores.json").read_text().replace("t-0.5", "\N{CJK UNIFIED IDEOGRAPH-6A21}")
    Path("named.json").write_text(text)
    result = plot("f-scores", "named.json", "-o", name)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("is drawn as [Chinese 1]") == warned
    assert "Glyph" not in result.stderr


@pytest.mark.slow
def test_a_table_gives_the_places_and_the_lines(plot):
    Path("x.csv").write_text("system,value,line\nt-0.5,10,first\nt-1.0,2000,second\n")
    assert plot("parameter", "scores.json", "--x", "x.csv", "-o", "a.svg").exit_code == 0
    text = Path("a.svg").read_text()
    assert ">first</text>" in text
    assert ">1,000</text>" in text
    assert read_x("x.csv", None)["x"] == {"t-0.5": 10.0, "t-1.0": 2000.0}
    assert read_x("words", LINES[0]) == {"x": "words", "by": "family"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("system,val\na,1\n", "has no column 'value'"),
        ("system,value\na,x\n", "line 2: value .*finite number.* 'x'"),
        ("system,value\na,1\na,2\n", "names the system 'a' more than once"),
        ("", "x.csv"),
    ],
)
def test_a_table_that_cannot_be_read_is_told(tmp_path, monkeypatch, table, words):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(table)
    with pytest.raises(InputError, match=words):
        read_x("x.csv", None)


def test_a_table_with_lines_excludes_by(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("system,value,line\na,1,b\n")
    with pytest.raises(InputError, match=r"--by .*'line' of x.csv"):
        read_x("x.csv", "family")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "run.zip"), "unknown plot 'plan'; did you mean 'plane'?"),
        (("plane", "run.zip", "run.zip"), "the plot 'plane' takes one input; found 2"),
        (("plane", "none.zip"), "none.zip: there is no such file"),
        (("plane", "."), ".: this is a folder; the plot 'plane' takes a comparison (RUN.zip"),
        (("plane", "text.txt"), "text.txt: this is neither a zip file nor a .json file; the plot"),
        (("plane", "bad.json"), "bad.json: broken JSON at line 1"),
        (("plane", "other.json"), "other.json: cannot be drawn"),
        (("map", "report.json"), "report.json: cannot be drawn; the plot 'map' takes a comparison"),
        (("map", "lacks.json"), "lacks.json: is not a comparison of calipers, or is damaged: "),
        (("map", "scores.json"), "scores.json: holds only scores; the plot 'map' takes"),
        (("sweep", "run.zip"), "run.zip: is a comparison; the plot 'sweep' takes a sweep"),
        (("plane", "rank.json"), "rank.json: is a ranking; the plot 'plane' takes a comparison"),
        (
            ("plane", "run.zip", "--x-label", "a"),
            "the plot 'plane' has no option --x-label; its options: ",
        ),
        (
            ("heat-map", "rank.json", "--view", "a"),
            "'heat-map' has no option --view; its options: none",
        ),
        (("cells", "run.zip", "--limit", "0"), "--limit must be a whole number of at least 1"),
        (("cells", "run.zip", "--regions", "all"), "--regions must be topics or cells"),
        (("parameter", "run.zip", "--by", "run"), "--by must be family or system; found 'run'"),
        (("parameter", "run.zip", "--x", "kk"), "unknown x 'kk'; did you mean 'k'"),
        (("group-bars", "run.zip", "--metrics", "mauve"), "unknown metric by group 'mauve'"),
        (("map", "run.zip", "--system", "t"), "unknown system 't'"),
        (("map", "run.zip", "--view", "form"), "unknown view 'form'"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(plot, arguments, words):
    Path("text.txt").write_text("hello")
    Path("bad.json").write_text("{bad")
    Path("other.json").write_text("[1]")
    Path("report.json").write_text('{"comparison": {"settings": {}}, "map": {}}')
    Path("lacks.json").write_text('{"calipers": "0", "kind": "comparison", "settings": {}}')
    result = plot(*arguments, "-o", "a.png")
    assert result.exit_code == 2
    assert result.stderr.startswith("calipers: ")
    assert words in result.stderr
    assert not Path("a.png").exists()


@pytest.mark.parametrize("name", ["a.gif", "a", "-"])
def test_other_files_than_figures_are_refused(plot, name):
    result = plot("plane", "run.zip", "-o", name)
    assert result.exit_code == 2
    assert "--output must name a file ending in .png, .pdf or .svg" in result.stderr


def test_a_file_that_is_there_is_kept_unless_forced(plot):
    Path("a.svg").write_text("mine")
    refused = plot("plane", "run.zip", "-o", "a.svg")
    assert refused.exit_code == 2
    assert "a.svg: the file already exists; --force replaces it" in refused.stderr
    assert Path("a.svg").read_text() == "mine"
    assert plot("plane", "run.zip", "-o", "a.svg", "--force").exit_code == 0
    assert Path("a.svg").read_text() != "mine"


def test_signs_that_the_font_lacks_are_told_once(bare, plot, kept):
    data = json.loads((kept / "scores.json").read_text())
    data["systems"][0]["name"] = "模型甲 1"
    Path("wide.json").write_text(json.dumps(data))
    options = ("wide.json", "--metrics", "recall")
    result = plot("parameter", *options, "-o", "a.png")
    assert result.exit_code == 0
    assert result.stderr.count("is drawn as [Chinese 1]") == 1
    assert "Glyph" not in result.stderr
    assert plot("parameter", *options, "-o", "b.png", "--quiet").stderr == ""


def test_the_page_lists_the_kinds_and_fits(calipers):
    page = calipers("plot", "--help").stdout
    assert all(f"\n  {name} " in page for name in plot_kinds())
    assert "Examples" in page
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.slow
def test_the_page_loads_no_matplotlib():
    code = (
        "import sys; from typer.testing import CliRunner; from calipers.cli import app; "
        "CliRunner().invoke(app, ['plot', '--help']); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kinds_are_completed():
    from calipers.cli.options import complete

    assert complete(*plot_kinds())("c") == ["curves", "cells"]


def test_the_screen_explains_where_it_is_asked_to(calipers, kept_texts):
    plainly = calipers("show", str(kept_texts))
    assert "behind the gap" not in plainly.stdout
    result = calipers("show", str(kept_texts), "--explain")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(plainly.stdout)
    below = result.stdout.removeprefix(plainly.stdout)
    assert "Topics and samples behind the gap, by system" in below
    assert "\nmodel_a by wording: " in below
    assert "\nmodel_b by wording: no topic is significantly under- or over-represented" in below
    samples = [line for line in below.splitlines() if line.startswith("- ")]
    assert samples


def test_the_screen_explains_without_texts(calipers, kept_texts):
    result = calipers("show", str(kept_texts), "--explain", "--redact")
    assert result.exit_code == 0, result.output
    assert "the worst are rows" in result.stdout
    assert not [line for line in result.stdout.splitlines() if line.startswith("- ")]


def test_explanations_have_no_room_on_an_output_that_a_file_takes(calipers, kept_texts):
    result = calipers("show", str(kept_texts), "--explain", "--json", "-")
    assert result.exit_code == 2
    assert "--explain adds to the tables on standard output, where --json - leaves" in result.stderr
