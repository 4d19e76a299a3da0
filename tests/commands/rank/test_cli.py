"""``calipers rank`` from files to the screen, what it refuses, and the page of docs about it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.errors import InputError

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "rankings.md").read_text("utf-8")
SCORES = "system,metric,mean,sd\n" + "".join(
    f"{name},up,{i},0.1\n{name},wave,{(i - 1.2) ** 2},0\n" for i, name in enumerate("abcde")
)


@pytest.fixture
def files(calipers, monkeypatch):
    """Scores of five systems, a truth and judgements in the working folder."""
    monkeypatch.setenv("COLUMNS", "100")
    Path("scores.csv").write_text(SCORES)
    Path("truth.csv").write_text("system,liked\na,1\nb,3\nc,2\nd,4\ne,5\n")
    rows = [f"{x},{y},{y}" for x in "abcde" for y in "abcde" if x < y]
    lost = [f"{x},{y},definitely a" for x, y in zip("abcd", "bcde", strict=True)]
    Path("pairs.csv").write_text("\n".join(["a,b,winner", *rows, *lost, "a,e,tie"]))


@pytest.mark.usefixtures("files")
def test_beside_a_truth(calipers):
    result = calipers("rank", "scores.csv", "--truth", "truth.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Ranking of 5 systems by 2 metrics, beside 1 truth\n")
    assert "Beside liked, over 5 systems\n" in result.stdout
    # one pair of neighbours changes places: 1 - 6 * 2 / (5 * 24)
    assert re.search(r"^up↑ +0\.900  \[", result.stdout, re.MULTILINE)
    assert "correlation of values as measured" not in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


@pytest.mark.usefixtures("files")
def test_beside_judgements_with_the_matrix_asked_for(calipers):
    result = calipers("rank", "scores.csv", "--judgements", "pairs.csv", "--matrix")
    assert result.exit_code == 0, result.output
    assert "Bradley-Terry scores, from 15 judgements of 5 systems\n" in result.stdout
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("system "))
    order = [line.split()[0] for line in lines[first + 1 : first + 6]]
    assert order == ["e", "d", "c", "b", "a"]
    assert lines[first + 1].split()[-3:] == ["4", "1", "1"]
    assert "Spearman correlation of values as measured, over 5 systems" in result.stdout


@pytest.mark.usefixtures("files")
def test_without_a_truth_it_is_the_matrix_and_its_figure(calipers):
    result = calipers("rank", "scores.csv", "--kind", "pearson", "--plot", "map.svg")
    assert result.exit_code == 0, result.output
    assert "Pearson correlation of values as measured" in result.stdout
    drawn = Path("map.svg").read_text()
    assert "Pearson correlation" in drawn
    assert ">wave<" in drawn


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_json_to_a_file_and_alone_on_standard_output(calipers):
    base = ("rank", "scores.csv", "--truth", "truth.csv", "--metrics", "up")
    assert "Ranking of" in calipers(*base, "--json", "ranking.json").stdout
    data = json.loads(calipers(*base, "--json", "-").stdout)
    assert data == json.loads(Path("ranking.json").read_text())
    assert data["truths"]["liked"]["metrics"]["up"]["spearman"] == pytest.approx(0.9)
    assert list(data["metrics"]) == ["up"]


@pytest.mark.usefixtures("files")
def test_warnings_stand_beside_json_unless_quiet(calipers):
    Path("truth.csv").write_text("system,liked\n" + "".join(f"{x},1\n" for x in "abcde"))
    base = ("rank", "scores.csv", "--truth", "truth.csv", "--json", "-")
    told = "warning: liked: all systems have the same score, so there is no ranking\n"
    assert calipers(*base).stderr == told
    assert calipers(*base, "--quiet").stderr == ""
    assert json.loads(calipers(*base).stdout)["truths"]["liked"]["best"] is None


@pytest.mark.usefixtures("files")
def test_options_reach_the_library(calipers):
    options = ("--ties", "drop", "--kind", "pearson", "--level", "0.9", "--seed", "3")
    result = calipers("rank", "scores.csv", "--judgements", "pairs.csv", *options, "--json", "-")
    assert result.exit_code == 0, result.output
    settings = json.loads(result.stdout)["settings"]
    expected = {"ties": "drop", "kind": "pearson", "level": 0.9, "seed": 3}
    assert expected.items() <= settings.items()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "1"], "--level must lie between 0 and 1, such as 0.95; found '1'"),
        (["--level", "nan"], "--level must lie between 0 and 1, such as 0.95; found 'nan'"),
        (["--ties", "keep"], "--ties must be davidson or half or random or drop; found 'keep'"),
        (["--kind", "kendall"], "--kind must be spearman or pearson; found 'kendall'"),
        (
            ["--truth", "truth.csv", "--judgements", "pairs.csv"],
            "--judgements and --truth cannot be combined; give one of them",
        ),
        (["--truth-column", "liked"], "--truth-column names columns of --truth or --judgements"),
        (["--truth", "truth.csv", "--truth-column", "likd"], "truth.csv: has no column 'likd'; it"),
        (["--truth", "gone.csv"], "gone.csv: there is no such file"),
        (["--metrics", "upp"], "unknown metric of scores.csv 'upp'; did you mean 'up'?"),
        (["--metrics", "up,"], "--metrics must be names with commas between them; found 'up,'"),
        (["--metrics", "up"], "there is only one metric and nothing to compare it with"),
        (["--reference", "humna"], "unknown reference 'humna'; known: a, b, c, d, e"),
        (["--plot", "x.gif"], "--plot must name a file ending in .png, .pdf or .svg; found x.gif"),
        (["--json", "scores.csv"], "--json would overwrite an input: scores.csv"),
        (
            ["--truth", "truth.csv", "--plot", "truth.csv"],
            "--plot must name a file ending in .png, .pdf or .svg; found truth.csv",
        ),
        (["--json", "x.png", "--plot", "x.png"], "name the same file"),
    ],
)
@pytest.mark.usefixtures("files")
def test_bad_input(calipers, arguments, message):
    result = calipers("rank", "scores.csv", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert result.stderr.startswith("calipers: ")
    assert result.stdout == ""


@pytest.mark.usefixtures("files")
def test_a_figure_that_cannot_be_written_does_not_cost_the_table(calipers, monkeypatch):
    def fail(*_):
        raise InputError("map.png: the disk is full")

    monkeypatch.setattr("calipers.report.plots.panels.save_figure", fail)
    monkeypatch.setattr("calipers.cli.outputs.write_text_atomically", lambda *_: None)
    result = calipers("rank", "scores.csv", "--plot", "map.png", "--json", "r.json")
    assert result.exit_code == 2
    assert "Ranking of 5 systems" in result.stdout
    assert "the disk is full" in result.stderr


@pytest.mark.slow
def test_the_page_lists_rank_and_loads_nothing_heavy(calipers):
    assert "\n  rank " in calipers("--help").stdout
    own = calipers("rank", "--help").stdout
    assert "Examples" in own
    assert max(map(len, own.splitlines())) <= 80
    code = (
        "import sys; sys.argv = ['calipers', 'rank', '--help']\n"
        "from calipers.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print('loaded', *sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(result.stdout.rpartition("loaded ")[2].split())
    assert "calipers.commands.rank.cli" in loaded
    assert not loaded & {"matplotlib", "numpy", "torch", "pyarrow", "scipy", "sklearn"}


def test_the_commands_of_the_docs_print_what_the_page_says(calipers, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    Path("examples").symlink_to(ROOT / "examples")
    shown = re.findall(
        r"```sh\n(calipers rank [^\n]*)\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL
    )
    assert len(shown) == 2
    for command, expected in shown:
        result = calipers(*shlex.split(command)[1:])
        printed = iter(result.stdout.splitlines())
        # The page leaves lines out and says so; what it has was printed, in this order
        missing = [line for line in expected.splitlines() if line != "..." and line not in printed]
        assert missing == [], result.stderr


@pytest.mark.usefixtures("files")
def test_judgements_of_people_and_of_a_model(calipers):
    head = "item,a,b,first,sensible,rater,rater_kind,flags\n"
    rows = [
        ("a", "b", 1),
        ("a", "b", 5),
        ("b", "c", 2),
        ("b", "c", 4),
        ("a", "c", 5),
        ("a", "c", 1),
    ]
    for name, kind, raters in (("people", "person", "rs"), ("judge, one", "model", "mm")):
        lines = [
            f"{a}{b}{place},{a},{b},{'ab'[place % 2]},{step},{raters[place % 2]},{kind},"
            for place, (a, b, step) in enumerate(rows)
        ]
        Path(f"{name}.csv").write_text(head + "\n".join(lines) + "too_fast\n")
    both = ("--judgements", "people.csv", "--judgements", "judge, one.csv")
    data = json.loads(calipers("rank", "scores.csv", *both, "--json", "-").stdout)
    assert list(data["truths"]) == ["sensible by people", "sensible by m"]
    assert data["settings"]["judgements"] == ["people.csv", "judge, one.csv"]
    assert data["truths"]["sensible by people"]["raters"]["clusters"] == 2
    assert data["truths"]["sensible by m"]["people"]["items"] == 6
    assert data["settings"]["raters"] is None
    shown = calipers("rank", "scores.csv", *both, "--raters", "ignore", "--drop-flagged").stdout
    assert "people.csv: 1 of 6 judgements by people left out: flagged (too_fast 1)" in shown
    wrong = calipers("rank", "scores.csv", *both, "--raters", "cluster")
    assert wrong.exit_code == 2
    assert "--raters must be clustered or effects or ignore; found 'cluster'" in wrong.stderr
    alone = calipers("rank", "scores.csv", "--raters", "effects")
    assert alone.exit_code == 2
    assert "--raters says how judgements are treated; give some" in alone.stderr


def test_ties_in_halves_give_the_scores_of_the_plain_model(calipers):
    # Sixteen comparisons of the page's example, one of them a tie, as the plain model has them
    examples = ROOT / "examples" / "rankings"
    base = (
        "rank",
        str(examples / "small_scores.csv"),
        "--judgements",
        str(examples / "small_pairs.csv"),
        "--reference",
        "human",
        "--json",
        "-",
    )
    found = {}
    for ties in ("davidson", "half"):
        fit = json.loads(calipers(*base, "--ties", ties).stdout)["truths"]["judgements"]["fit"]
        assert fit["ties"] == ties
        assert fit["tie_share"] == 1 / 16
        found[ties] = {each["name"]: round(each["score"], 1) for each in fit["players"]}
    assert found["half"] == {
        "xl": 80.7,
        "human": 50.2,
        "large": 41.7,
        "medium": -31.9,
        "small": -140.7,
    }
    default = json.loads(calipers(*base).stdout)["truths"]["judgements"]["fit"]["players"]
    assert {each["name"]: round(each["score"], 1) for each in default} == found["davidson"]
    assert found["davidson"]["xl"] - found["davidson"]["small"] > 80.7 + 140.7
