"""Tables and figures of the papers: the list is complete, pages are current, numbers hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

FIGURES = {
    "precision_recall": (
        [f"Figure {n}" for n in (1, 2, 3, 4, 5, 6, "7a", "7b", 8)],
        [f"Figure A.{n}" for n in range(1, 6)],
        [f"Table B.{n}" for n in range(1, 7)],
        ["Table 1", "Figure B.1", "Figure B.2", "Listing 1", "Tables D.1 and D.2"],
    ),
    "prd": ([f"Figure {n}" for n in range(1, 12)], ["Theorem 1"]),
    "mauve": (
        [f"Figure {n}" for n in (*range(1, 8), 9, 10, 16, 17, 18, 19, 21, 23)],
        ["Figures 8 and 22", "Figures 11 and 12, tables 10 and 17", "Figures 13 and 14"],
        [
            "Figure 15 and table 11",
            "Table 12 and figure 20",
            "Tables 9 and 16",
            "Figures 24 and 25",
        ],
        [f"Table {n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 18)],
        ["Algorithm 1", "Algorithm 2"],
    ),
}
"""Every figure, table and algorithm that the papers number."""


@pytest.fixture(scope="module")
def reproduction(experiments) -> SimpleNamespace:
    """The driver and its modules, which find each other beside it."""
    import reproduce
    from reproduction import catalogue, commands, item, kept, pages, verdicts

    return SimpleNamespace(
        driver=reproduce,
        catalogue=catalogue,
        commands=commands,
        item=item,
        kept=kept,
        pages=pages,
        verdicts=verdicts,
    )


@pytest.mark.parametrize("page", FIGURES)
def test_every_figure_and_table_has_an_item(reproduction, page):
    (source,) = (each for each in reproduction.catalogue.SOURCES if each.page == page)
    numbers = [item.number for item in source.items]
    for number in (each for group in FIGURES[page] for each in group):
        named = [n for n in numbers if n == number or n.startswith((f"{number},", f"{number} "))]
        assert named, f"{number} of {page} has no item"


def test_items_say_what_their_status_asks_for(reproduction):
    keys = [item.key for source in reproduction.catalogue.SOURCES for item in source.items]
    assert len(keys) == len(set(keys))
    for item in reproduction.catalogue.ITEMS.values():
        assert item.status in reproduction.item.STATUSES
        assert bool(item.run) == (item.status in ("own experiment", "other models or data")), (
            item.key
        )
        if item.status in ("other models or data", "not run"):
            assert item.needs, item.key
        if item.status == "no measurement":
            assert not item.needs, item.key
        if item.status == "not run":
            assert item.would, item.key
        if item.status == "other models or data":
            assert item.differs, item.key


def test_commands_and_links_exist_and_parse(reproduction):
    faults = [
        fault
        for item in reproduction.catalogue.ITEMS.values()
        for fault in reproduction.commands.faults(item)
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("calipers compere -r a b", "calipers has no command compere"),
        ("calipers compare -r a b --metrics precision,recal", "--metrics recal"),
        ("calipers compare -r a b --embeder minilm", "No such option: --embeder"),
        ("python research/experiments/no_such.py", "experiments/no_such.py does not exist"),
        (
            "python research/experiments/bounds.py --no-such",
            "experiments/bounds.py has no --no-such",
        ),
        ("rm -r data", "rm is neither calipers nor python"),
    ],
)
def test_a_command_that_would_fail_is_found(reproduction, command, fault):
    item = reproduction.item.Item("key", "Figure 0", "", "not run", needs=("x",), would=command)
    (found,) = reproduction.commands.faults(item)
    assert fault in found


def test_the_pages_are_current_and_every_item_was_run(reproduction, capsys):
    assert reproduction.driver.main(["--check"]) == 0, capsys.readouterr().out


def test_a_page_that_was_edited_is_named(reproduction, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction.pages, "DOCS", tmp_path)
    for path, text in reproduction.pages.pages().items():
        path.write_text(text, "utf-8")
    assert reproduction.pages.outdated() == []
    edited = tmp_path / "reproduction_prd.md"
    edited.write_text(edited.read_text("utf-8").replace("Own experiment", "Made up", 1), "utf-8")
    assert reproduction.pages.outdated() == ["reproduction_prd.md"]


def test_a_page_shows_every_line_with_a_verdict_and_what_is_missing(reproduction):
    for source in reproduction.catalogue.SOURCES:
        found = reproduction.kept.read(source)
        page = reproduction.pages.page(source, found)
        for key, each in found.items():
            section = page.partition(f"\n({key})=\n")[2].partition("\n(")[0]
            judged = {line.verdict for line in each.lines} - {None}
            for line in each.lines:
                row = f"\n| {reproduction.pages.cell(line.what)} | "
                assert line.verdict is None or row in section, (key, line.what)
            for verdict in judged:
                assert verdict.removesuffix(" beyond noise") in section, (key, verdict)
            assert reproduction.catalogue.ITEMS[key].command in section
        for item in source.items:
            for need in item.needs:
                assert f"\n- {reproduction.pages.prose(need)}: " in page


def test_what_is_opposite_or_not_reproduced_is_what_the_item_names(reproduction):
    for source in reproduction.catalogue.SOURCES:
        for key, found in reproduction.kept.read(source).items():
            item = reproduction.catalogue.ITEMS[key]
            assert reproduction.driver.expected(item, found), key


def test_what_was_measured_says_on_what(reproduction):
    """Lines with intervals have them beside every value, and name n, model and seed."""
    for source in reproduction.catalogue.SOURCES:
        for key, found in reproduction.kept.read(source).items():
            for line in found.lines:
                assert len(line.intervals) in (0, len(line.values)), (key, line.what)
                assert line.verdict is None or line.verdict in reproduction.item.VERDICTS
            item = reproduction.catalogue.ITEMS[key]
            if item.status == "other models or data" and any(x.intervals for x in found.lines):
                if item.key in ("mauve-table-4-news", "mauve-figure-21"):
                    continue  # of printed rows; what these say of themselves stands in `differs`
                assert found.setting is not None, key
                assert found.setting.n, key


def test_what_was_found_comes_back_from_its_json(reproduction):
    item, verdicts = reproduction.item, reproduction.verdicts
    row = verdicts.trials([[1.0, 2.0], [1.1, 2.3], [0.9, 2.1]])
    found = item.Found(
        (verdicts.order("two", "rises", row), verdicts.exact("one", "0.86", 0.8601)),
        item.Setting(("ngram:order=3",), "MiniLM", "500 a side", 0),
    )
    kept = reproduction.kept.written(found)
    again = reproduction.kept.restored(json.loads(json.dumps(kept)))
    assert again.setting == found.setting
    assert [x.verdict for x in again.lines] == ["same direction beyond noise", "reproduced"]
    assert reproduction.kept.written(again) == kept


def test_numbers_without_noise_are_equal_or_not_reproduced(reproduction):
    verdicts = reproduction.verdicts
    assert verdicts.exact("", "0.86", 0.8649).verdict == "reproduced"
    assert verdicts.exact("", "0.86", 0.866).verdict == "not reproduced"
    assert verdicts.equal("", 0.5, 0.5 + 1e-6).verdict == "not reproduced"
    assert verdicts.close("", 0.5, 0.5 + 1e-6, within=1e-5).verdict == "reproduced"
    assert verdicts.fact("", "yes", "no", False).verdict == "not reproduced"
    assert reproduction.item.number(-0.0001) == "0.000"


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.80, 0.90), "reproduced"),
        ((0.864, 0.90), "reproduced"),  # 0.86 is printed with two digits
        ((0.87, 0.90), "same direction beyond noise"),
        ((0.10, 0.50), "same direction beyond noise"),
        ((-0.10, 0.90), "not distinguishable"),  # too wide to say anything, though it holds 0.86
        ((-0.90, -0.10), "opposite"),
        (None, "not distinguishable"),
    ],
)
def test_an_estimate_beside_a_published_number(reproduction, interval, verdict):
    ours = reproduction.verdicts.Estimate(0.5, interval)
    assert reproduction.verdicts.beside("", "0.86", ours).verdict == verdict
    flipped = None if interval is None else (-interval[1], -interval[0])
    minus = reproduction.verdicts.Estimate(-0.5, flipped)
    assert reproduction.verdicts.beside("", "-0.86", minus).verdict == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.96, 0.99), "reproduced"),
        ((0.94, 0.99), "not distinguishable"),
        ((-0.2, 0.99), "not distinguishable"),
        ((0.50, 0.90), "same direction beyond noise"),
        ((-0.2, 0.90), "not distinguishable"),
        ((-0.9, -0.2), "opposite"),
    ],
)
def test_an_estimate_that_should_be_at_least_so_large(reproduction, interval, verdict):
    ours = reproduction.verdicts.Estimate(0.9, interval)
    assert reproduction.verdicts.at_least("", "0.95 to 1", ours, 0.95).verdict == verdict


def drawn(*means, trials=40, sd=0.1):
    """Values of systems around known means, in repeated trials that share nothing."""
    return np.random.default_rng(3).normal(means, sd, (trials, len(means)))


@pytest.mark.parametrize(
    ("means", "order", "rises", "falls"),
    [
        ((1, 2, 3), "same direction beyond noise", "same direction beyond noise", "opposite"),
        ((3, 2, 1), "opposite", "opposite", "same direction beyond noise"),
        ((1, 1, 1), *["not distinguishable"] * 3),
        ((1, 1, 2), "not distinguishable", "same direction beyond noise", "opposite"),
        ((1, 3, 2), "opposite", "opposite", "opposite"),
    ],
)
def test_orders_and_trends_by_all_pairs(reproduction, means, order, rises, falls):
    verdicts = reproduction.verdicts
    row = verdicts.trials(drawn(*means))
    assert verdicts.order("", "", row).verdict == order
    assert verdicts.rises("", "", row).verdict == rises
    assert verdicts.falls("", "", row).verdict == falls


def test_the_best_of_several_and_the_papers_own_experiment(reproduction):
    verdicts = reproduction.verdicts
    row = verdicts.trials(drawn(1, 3, 2))
    assert verdicts.best("", "", row, 1).verdict == "same direction beyond noise"
    assert verdicts.best("", "", row, 1, own=True).verdict == "reproduced"
    assert verdicts.best("", "", row, 2).verdict == "opposite"
    assert verdicts.best("", "", row, 0, higher=False).verdict == "same direction beyond noise"
    assert verdicts.below("", "", row).verdict == "same direction beyond noise"
    assert verdicts.above("", "", row).verdict == "opposite"
    tied = verdicts.trials(drawn(3, 3, 2))
    assert verdicts.best("", "", tied, 0).verdict == "not distinguishable"


def test_what_is_called_alike_needs_a_margin(reproduction):
    verdicts = reproduction.verdicts
    same, apart = verdicts.trials(drawn(1, 1)), verdicts.trials(drawn(1, 2))
    assert verdicts.alike("", "", same, margin=0.2).verdict == "same direction beyond noise"
    assert verdicts.alike("", "", same, margin=0.01).verdict == "not distinguishable"
    assert verdicts.alike("", "", apart, margin=0.2).verdict == "opposite"


def test_equal_systems_are_seldom_ordered(reproduction):
    """The chance of any false pair among the three of a line stays at 5 %."""
    verdicts = reproduction.verdicts
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(600):
        row = verdicts.trials(rng.standard_normal((8, 3)))
        found += any(row.directions().values())
    assert found <= 600 * 0.05 + 2.5 * (600 * 0.05 * 0.95) ** 0.5
    assert found > 0


def test_the_jackknife_of_a_mean_is_its_standard_error(reproduction):
    verdicts = reproduction.verdicts
    sample = np.random.default_rng(0).normal(1, 2, 400)
    row = verdicts.jackknife(lambda kept: [sample[kept].mean(), 1.0], 400, blocks=400)
    exact = verdicts.Estimate.mean(sample)
    assert row.estimates[0].value == pytest.approx(exact.value)
    assert row.estimates[0].interval == pytest.approx(exact.interval, rel=1e-6)
    assert row.gaps[0, 1].p_value == pytest.approx(
        verdicts.Estimate.mean(1 - sample).p_value, rel=1e-6
    )


def test_a_comparison_gives_the_gaps_in_the_order_of_the_claim(reproduction):
    import calipers

    rng = np.random.default_rng(0)
    real = rng.standard_normal((120, 6))
    systems = {name: rng.standard_normal((120, 6)) + by for name, by in (("far", 1), ("near", 0.1))}
    found = calipers.compare(real, systems, metrics="frechet_distance", floor=False)
    verdicts = reproduction.verdicts
    row = verdicts.compared(found, "frechet_distance", ("near", "far"))
    assert row.gaps[0, 1].value == pytest.approx(
        row.estimates[1].value - row.estimates[0].value, rel=1e-4
    )
    assert verdicts.order("", "", row).verdict == "same direction beyond noise"
    back = verdicts.compared(found, "frechet_distance", ("far", "near"))
    assert back.gaps[0, 1].interval == pytest.approx(
        tuple(-e for e in row.gaps[0, 1].interval[::-1])
    )
    assert verdicts.order("", "", back).verdict == "opposite"


def test_ranks_that_all_agree_have_an_interval_by_the_next_lower_correlation(reproduction):
    found = reproduction.verdicts.correlation(range(13), range(13))
    assert found.value == 1
    assert 0.9 < found.interval[0] < 1 == found.interval[1]
    few = reproduction.verdicts.correlated("", "positive", range(4), range(4))
    assert few.verdict == "not distinguishable"  # four systems that agree show nothing


def test_an_unknown_item_is_named(reproduction):
    with pytest.raises(
        reproduction.catalogue.InputError, match="prd-figure-99: no table or figure"
    ):
        reproduction.driver.main(["prd-figure-99"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "key",
    [
        "pr-figure-5",
        "prd-figure-2",
        "prd-figure-3",
        "prd-theorem-1",
        "prd-figure-6",
        "post-bleu",
        "post-bertscore-idf",
        "post-kl",
        "mauve-figure-1",
        "mauve-table-1",
        "mauve-table-4",
        "mauve-table-4-stories",
        "mauve-figure-7",
        "mauve-algorithm-1",
        "mauve-algorithm-2",
        "mauve-table-18",
    ],
)
def test_an_item_prints_what_was_kept(reproduction, key):
    item = reproduction.catalogue.ITEMS[key]
    (source,) = (s for s in reproduction.catalogue.SOURCES if item in s.items)
    held = reproduction.kept.read(source)[key]
    assert reproduction.kept.written(item.measure()) == reproduction.kept.written(held)


@pytest.mark.slow
def test_the_driver_lists_and_runs_items_from_the_command_line(experiments):
    run = [sys.executable, str(experiments / "reproduce.py")]
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True, check=True)
    assert "prd-figure-3" in listed.stdout
    shown = subprocess.run([*run, "prd-figure-2"], capture_output=True, text=True, check=True)
    assert "precision 1, recall 0.5" in shown.stdout
    wrong = subprocess.run([*run, "no-such-item"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stderr == "no-such-item: no table or figure of that name; --list names all\n"


CROWD = (
    "HITId,WorkerId,Input.idx,Input.model_a,Input.model_b,Answer.q1,Answer.q2,Answer.q3,Answer.te"
)


def crowd_file(path, rows):
    path.write_text("\n".join([CROWD, *rows]) + "\n", "utf-8")
    return path


def test_the_crowds_file_of_table_18_becomes_judgements(experiments, tmp_path, capsys):
    import mauve_judgements

    sources = {"human": "human", "xl nucleus": "\"('gpt2-xl', 'p0.95')\""}
    sources["small sampling"] = "\"('gpt2', 'p1.0')\""
    rows, place = [], 0
    for first, second, wins in (
        ("human", "xl nucleus", 12),
        ("xl nucleus", "small sampling", 13),
        ("small sampling", "human", 4),
    ):
        for answer in range(20):
            place += 1
            word = "1a" if answer < wins else "2b"
            names = f"{sources[first]},{sources[second]}"
            rows.append(f"{place},W{answer % 3},{place},{names},{word},{word},{word},60.5")
    rows.append(f"99,W1,99,human,{sources['small sampling']},2b,2b,2b,20.0")  # too fast
    file = crowd_file(tmp_path / "crowd.csv", rows)
    table = tmp_path / "pairs.csv"
    assert mauve_judgements.main([str(file), "--output", str(table)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("60 answers of 3 people\n")
    human, sampled = (told.index(f"| {name} |") for name in ("human", "small sampling"))
    assert human < sampled
    assert "| human | 25.503 |" in told
    judged = table.read_text("utf-8").splitlines()
    assert judged[0] == "item,a,b,interesting,sensible,human_like,rater,rater_kind,seconds"
    assert judged[1].startswith("1,human,xl nucleus,slightly a,slightly a,slightly a,W0,person")
    import calipers

    ranked = calipers.rank(
        str(ROOT / "examples" / "rankings" / "webtext_scores.csv"),
        judgements=str(table),
        reference="human",
        metrics=["mauve_star"],
    )
    assert "human_like" in str(ranked)


def test_a_crowds_file_that_is_none_is_refused(experiments, tmp_path):
    import mauve_judgements
    from calipers.errors import InputError

    with pytest.raises(InputError, match="the column 'WorkerId' is missing"):
        mauve_judgements.read(crowd_file(tmp_path / "a.csv", []))
    row = "1,W0,1,human,gpt9,1a,1a,1a,60"
    with pytest.raises(InputError, match=r"line 2: 'gpt9' is no source of table 18"):
        mauve_judgements.read(crowd_file(tmp_path / "b.csv", [row]))
    row = "1,W0,1,human,human,3a,1a,1a,60"
    with pytest.raises(InputError, match=r"line 2: Answer.q1 must be one of 2a, 1a, 1b, 2b"):
        mauve_judgements.read(crowd_file(tmp_path / "c.csv", [row]))
