"""``huse`` from files: by hand, beside the function of lists, what is counted, what refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import calipers
from calipers.commands.huse.judged import judged_texts
from calipers.errors import InputError
from calipers.judgements.items import RatedTexts, make_rated_texts
from calipers.judgements.judgement import Rating
from calipers.judgements.rubric import find_rubric
from calipers.judgements.tables import write_judgements
from calipers.samples import SampleSet
from calipers.uncertainty.huse import huse as by_lists

WORDS = ("a cat dog ran sat on", "under by hill tree rain fell", "night letter she he read the")


def texts_of(rng, count: int, words: int) -> list[str]:
    return [" ".join(rng.choice(" ".join(WORDS).split()[:words], 9)) for _ in range(count)]


@pytest.fixture
def files(tmp_path, monkeypatch, rng) -> dict[str, list[str]]:
    """Texts of people and of a model, others to fit on, ratings of all by two raters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    sets = {"human": texts_of(rng, 30, 18), "m": texts_of(rng, 25, 6), "fit": texts_of(rng, 40, 18)}
    for name, texts in sets.items():
        lines = [json.dumps({"text": text}) + "\n" for text in texts]
        Path(f"{name}.jsonl").write_text("".join(lines))
    ratings = [
        Rating(
            item=RatedTexts(name, (text,)).id,
            system=name,
            answers={"typical": int(rng.integers(1, 6)), "other": 1},
            rater=rater,
            rater_kind="person",
        )
        for name in ("human", "m")
        for text in sets[name]
        for rater in ("ada", "alan")
    ]
    write_judgements("ratings.csv", ratings)
    return sets


def likelihoods(**more):
    return calipers.likelihood(
        "m.jsonl", **{"reference": "human.jsonl", "model": "ngram", "fit_on": "fit.jsonl"}
        | {"keep_sizes": True} | more,
    )  # fmt: skip


def huse(**more):
    given = {"judgements": "ratings.csv", "question": "typical", "k": 5}
    if not {"likelihoods", "model"} & set(more):
        given |= {"model": "ngram", "fit_on": "fit.jsonl"}
    return calipers.huse("human.jsonl", "m.jsonl", **(given | more))


def by_hand(name: str, texts: list[str]) -> list[float]:
    """Mean ratings, read from the file without the code that is tested."""
    rows = [line.split(",") for line in Path("ratings.csv").read_text().splitlines()]
    head, place = rows[0], {}
    for row in rows[1:]:
        place.setdefault(row[head.index("item")], []).append(int(row[head.index("typical")]))
    ids = [RatedTexts(name, (text,)).id for text in texts]
    return [float(np.mean(place[one])) for one in ids]


def test_the_scores_are_those_of_the_four_lists(files):
    scored = likelihoods()
    likely = [
        -np.log(score.per_sample)
        for score in (scored.reference_scores["perplexity"], scored["m"]["perplexity"])
    ]
    expected = by_lists(
        by_hand("human", files["human"]), by_hand("m", files["m"]), *likely, k=5, level=0.9, seed=3
    )
    found = huse(level=0.9, seed=3)
    for name in ("huse", "quality", "diversity"):
        made, wanted = getattr(found, name), getattr(expected, name)
        assert (made.value, made.interval, made.level) == (wanted.value, wanted.interval, 0.9)
        assert made.signature.startswith(wanted.signature)
        assert "question:typical" in made.signature
    assert (found.reference.used, found.generated.used) == (30, 25)
    assert (found.reference.answers, found.generated.raters) == (60, 2)


def test_likelihoods_of_a_file_and_of_a_result_give_the_same(files, calipers):
    asked = ("--model", "ngram", "--fit-on", "fit.jsonl", "--keep-sizes", "--per-sample")
    run = calipers("likelihood", "m.jsonl", "-r", "human.jsonl", *asked, "--json", "l.json")
    assert run.exit_code == 0, run.output
    values = [
        {name: score.value for name, score in made.scores.items()}
        for made in (huse(), huse(likelihoods="l.json"), huse(likelihoods=likelihoods()))
    ]
    assert values[0] == values[1] == values[2]


def test_tables_with_texts_need_neither_item_nor_rater():
    ours = SampleSet.from_texts(["a b", "c d"], name="human")
    theirs = SampleSet.from_texts(["e f", "e f", "g"], name="m")
    rows = [
        {"system": "human", "text": " a b", "q": 1},
        {"system": "human", "text": "a b", "q": "4"},
        {"system": "human", "text": "c d", "q": 3},
        {"system": "m", "text": "e f", "q": 2, "rater": "ada"},
        {"system": "m", "text": "e f", "q": 4, "rater": "ada"},
        {"system": "m", "text": "e f", "q": 5, "rater": "alan"},
    ]
    judged = judged_texts(rows, ours, theirs)
    assert judged.question == "q"
    # Each rater counts once: (mean(2, 4) + 5) / 2; both rows of a text have its judgement
    np.testing.assert_equal(judged.sets[0].values, [2.5, 3.0])
    np.testing.assert_equal(judged.sets[1].values, [4.0, 4.0, np.nan])
    assert judged.sets[1].answers == 3


@pytest.mark.parametrize("longest", [None, 2])
def test_items_are_found_as_raters_were_shown_them(longest):
    prompts = ["One day", "One day", "At night"]
    texts = ["One day it rained a lot", "One day it was dry", "At night all slept well"]
    sides = [
        SampleSet.from_texts(texts, name="human", prompts=prompts),
        SampleSet.from_texts([f"{text} or not" for text in texts], name="m", prompts=prompts),
    ]
    rubric = find_rubric("quality")
    shown = make_rated_texts(sides, rubric, longest=longest, seed=7)
    rows = [
        Rating(item=one.id, system=one.system, answers={"q": 3}, rater="a", rater_kind="person")
        for one in shown
    ]
    judged = judged_texts(rows, *sides, longest=longest)
    assert judged.notes == ()
    assert all(np.array_equal(side.values, [3.0, 3.0, 3.0]) for side in judged.sets)


def test_what_is_missing_is_counted_and_said(files, calipers):
    lines = Path("ratings.csv").read_text().splitlines()
    gone = {RatedTexts("human", (text,)).id for text in files["human"][:4]}
    kept = [line for line in lines if line.partition(",")[0] not in gone]
    kept += ["0123456789abcdef,m,4,1,ada,person,0,,,", "0123,other,4,1,ada,person,0,,,"]
    blank = kept[1].split(",")
    assert lines[0].startswith("item,system,typical,other,rater")
    kept.append(",".join([*blank[:2], "", *blank[3:]]))
    kept.append(",".join([*blank[:4], "robot", "model", "0", "", "", ""]))
    Path("ratings.csv").write_text("\n".join(kept) + "\n")
    Path("m.jsonl").write_text(Path("m.jsonl").read_text() + '{"text": ""}\n')
    with open("ratings.csv", "a") as file:
        file.write(f"{RatedTexts('m', ('',)).id},m,1,1,ada,person,0,,,fast\n")
    asked = ("--question", "typical", "--k", "5", "--model", "ngram", "--fit-on", "fit.jsonl")
    run = calipers("huse", "m.jsonl", "-r", "human.jsonl", "--judgements", "ratings.csv", *asked,
                   "--json", "h.json")  # fmt: skip
    assert run.exit_code == 0, run.output
    data = json.loads(Path("h.json").read_text())
    counts = ("used", "not_judged", "not_likely", "answers")
    assert [data["reference"][key] for key in counts] == [26, 4, 0, 52]
    assert [data["generated"][key] for key in counts] == [25, 0, 1, 51]
    said = " ".join(run.stdout.split())
    for words in (
        "human: 4 of 30 texts left out: without a judgement",
        "m: 1 of 26 texts left out: without a finite likelihood",
        "1 judgement left out: no such text in these files",
        "1 judgement of other systems left out",
        "1 judgement without an answer to typical",
        "1 judgement of models left out",
        "1 judgement is flagged and kept; --drop-flagged leaves them out",
        "25 texts of a set are few",
    ):
        assert words in said
    dropped = huse(drop_flagged=True)
    assert (dropped.generated.not_judged, dropped.generated.answers) == (1, 50)


def test_judgements_of_models_alone_are_taken_with_a_warning(files):
    text = Path("ratings.csv").read_text().replace(",person,", ",model,")
    Path("ratings.csv").write_text(text)
    found = huse()
    assert found.settings["judged_by"] == "models"
    assert any("all judgements are by models" in note for note in found.warnings)


def test_a_model_that_was_fitted_to_the_texts_is_named(files):
    assert any("fitted to the very reference" in note for note in huse(fit_on=None).warnings)
    assert not any("fitted" in note for note in huse().warnings)


def test_every_format_is_written_and_shown_again(files, calipers):
    asked = ("--question", "typical", "--model", "ngram", "--fit-on", "fit.jsonl")
    outputs = {"--json": "h.json", "--markdown": "h.md", "--latex": "h.tex", "--csv": "h.csv",
               "--html": "h.html", "--save": "h.zip"}  # fmt: skip
    typed = [word for pair in outputs.items() for word in pair]
    run = calipers("huse", "m.jsonl", "-r", "human.jsonl", "--judgements", "ratings.csv", *asked,
                   *typed)  # fmt: skip
    assert run.exit_code == 0, run.output
    for path in outputs.values():
        if path != "h.zip":
            assert re.search("huse|HUSE", Path(path).read_text())
    shown = calipers("show", "h.zip")
    assert shown.stdout == run.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": None}, r"`question` must say .*'typical'.*'other'"),
        ({"question": "tipical"}, r"ratings.csv: has no column 'tipical'"),
        ({"k": 55}, r"k must be at most 54"),
        ({"model": None}, r"give either `likelihoods` .* found neither"),
        ({"likelihoods": "l.json", "model": "ngram"}, r"found both"),
        ({"likelihoods": "l.json"}, r"l.json: .*no such file|l.json.*not"),
        ({"likelihoods": 3}, r"must be a file or the result"),
        ({"judgements": "pairs.csv"}, r"pairs.csv: holds judgements of pairs"),
        ({"judgements": "bare.csv"}, r"bare.csv: has no column 'text'.*no column 'item'"),
        ({"judgements": "words.csv"}, r"words.csv: line 2: typical must be a finite number"),
        ({"judgements": "others.csv"}, r"human: no judgement of 'typical' .*systems.*'x'"),
    ],
)
def test_bad_input_is_named(files, change, message):
    Path("pairs.csv").write_text("item,a,b,first,typical,rater\n1,human,m,a,1,ada\n")
    Path("bare.csv").write_text("system,typical\nhuman,1\n")
    Path("words.csv").write_text(f"system,text,typical\nhuman,{files['human'][0]},good\n")
    Path("others.csv").write_text("system,text,typical\nx,y,1\n")
    with pytest.raises(InputError, match=message):
        huse(**({"fit_on": None} | change if "model" in change else change))


def test_likelihoods_of_other_texts_are_refused(files):
    with pytest.raises(InputError, match=r"human: has likelihoods of 25 texts of the 30 given"):
        huse(likelihoods=likelihoods(keep_sizes=False))
    with pytest.raises(InputError, match=r"holds no likelihoods of the reference"):
        huse(likelihoods=likelihoods(reference=None))
    scored = likelihoods()
    texts = files["m"]
    Path("m.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts[::-1]))
    with pytest.raises(InputError, match=r"m: has likelihoods of other texts .*reordered"):
        huse(likelihoods=scored)
    calipers.likelihood("m.jsonl", reference="human.jsonl", model="ngram", keep_sizes=True).save(
        "l.zip"
    )
    data = scored.to_dict()
    Path("plain.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"plain.json: human: has no likelihood of each text"):
        huse(likelihoods="plain.json")


def test_one_file_of_one_system(files):
    with pytest.raises(InputError, match=r"one file of one system.*2 files"):
        calipers.huse("human.jsonl", {"m": "m.jsonl", "n": "fit.jsonl"}, judgements="ratings.csv",
                      question="typical", model="ngram")  # fmt: skip
    with pytest.raises(InputError, match=r"both sets are called 'human'"):
        calipers.huse("human.jsonl", {"human": "m.jsonl"}, judgements="ratings.csv",
                      question="typical", model="ngram")  # fmt: skip
