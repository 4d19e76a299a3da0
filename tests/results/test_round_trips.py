"""Every result through JSON, through its zip and back; files that hold another kind are named."""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.brief import LONGEST, Brief
from calipers.catalogue.shown import HEADLINE
from calipers.command import kinds
from calipers.commands.agree.result import Agreement, MetricAgreement, ViewColumn
from calipers.commands.check.result import Check, CheckedScore
from calipers.commands.history.result import (
    History,
    HistoryPoint,
    HistoryRun,
    ScoreChange,
    ScoreHistory,
)
from calipers.commands.huse.result import HuseResult, UsedTexts
from calipers.commands.judge.result import (
    BetweenJudges,
    Judge,
    JudgedQuestion,
    JudgedSystem,
    JudgedValue,
    Judging,
    WithPeople,
)
from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.commands.overlap.result import Overlap, OverlapSystem, OverlapView
from calipers.commands.probe.result import Move, Probe, ProbedChange, ProbedView
from calipers.commands.prompts.result import ByPrompt, Homogeneity, PromptSet, PromptTest
from calipers.commands.rank.result import Beside, Fit, Matrix, Player, RankedMetric, Ranking, Truth
from calipers.commands.sweep.result import Curve, Sweep, SweptSystem
from calipers.commands.tune.result import Tuned, TunedPoint, Tuning
from calipers.errors import InputError, MissingExtraError
from calipers.results import Comparison, Result, SetSummary, SystemResult, load
from calipers.results.archive import ABOUT
from calipers.results.caution import Caution
from calipers.results.comparison import Advice
from calipers.results.result import Drawn
from calipers.results.rows import sample_rows, score_rows
from calipers.results.sets import Samples
from calipers.results.tests import SignificanceTest
from calipers.results.texts import TextComparison, TextResult
from calipers.score import NoiseFloor, Score
from calipers.serialise import plain, read
from extras import need

ABOUT_SET = SetSummary(
    "human", "human.jsonl", 4, 5, {"mean": 4.5, "median": 4.0}, "ab" * 32, ("short",), {"x": 4}, 3
)
OTHER = replace(ABOUT_SET, name="a", words=None, groups=None, clusters=None, warnings=())
FLOOR = NoiseFloor(0.9, 0.01, 0.8, math.nan, 2, 10)
SCORES = {
    "precision": Score(
        1 / 3, (0.1, math.inf), 0.95, signature="metric:precision", floor=FLOOR, seeds=(0.2, 0.5)
    ),
    "form.frechet_distance": Score(
        math.nan, range=(0.0, math.inf), better="lower", reason="too few samples"
    ),
}
TEXT_SCORES = {
    "distinct:n=2": Score(
        0.7, reference=0.8, better="closest", per_sample=np.array([0.5, 1.0]), details=({"a": 1},)
    ),
    "repetition": Score(0.1, sources={"seed": 0.01}, standard_error=0.01, approximate=True),
}
NAN = math.nan


def comparison() -> Comparison:
    system = SystemResult(
        OTHER,
        {**SCORES, "recall": Score(0.5, per_sample=np.array([True, False, True, False]))},
        {"prd": np.ones((3, 2))},
        seeds=("a1", "a2"),
        samples=(Samples(["a", "b", "c", "d"], {"meaning": np.eye(4)}),),
        warnings=("one",),
        neighbours={"nearest_reference": np.arange(4)},
        confounders={"lengths": {}, "copies": None},
        correlations={"precision|recall": -0.25},
        cautions=(Caution("lengths", "longer (9 vs 6 words)", "one", "`match_length=6`"),),
    )
    return Comparison(
        ABOUT_SET,
        (system,),
        {"views": ["meaning", "form"], "k": None},
        ("all",),
        Samples(["e", "f", "g", "h"], {"meaning": np.ones((4, 4))}),
        reference_scores={"near_copies:train": Score(0.0)},
        train=replace(ABOUT_SET, name="train"),
        tests=(SignificanceTest("a", "reference", "mmd", 0.1, None, 0.04, NAN, reason="none"),),
        advice=(Advice("a", "recall", (2, 4), (0.4, 0.5), NAN, 0.1, 0.2, False),),
        cautions=(Caution("few_samples", "fewer than 1,000 samples", "all"),),
    )


def sweep() -> Sweep:
    curves = {
        "precision": Curve(
            np.array([1, 2, 4, 8]), np.array([[0.1, 0.5, 0.5, 0.5], [0.2, 0.5, 0.5, NAN]]), "k"
        ),
        "form.mmd": Curve(
            np.array([1, 2, 4, 8]), np.ones((1, 4)), "k", (0.0, math.inf), "lower", "why"
        ),
        "recall": Curve(np.array([1, 2, 4, 8]), np.ones((2, 4)), "k", tolerance=0.05),
    }
    system = SweptSystem(OTHER, curves, ("a1", "a2"), ("one",))
    settings = {"values": [1, 2, 4, 8], "views": ["meaning", "form"], "embedder": "minilm"}
    fixed = {"metrics": ["precision", "recall"], "tolerance": 0.01, "seed": 0, "max_samples": None}
    return Sweep("k", ABOUT_SET, (system,), settings | fixed, ("w",))


def overlap() -> Overlap:
    systems = tuple(
        OverlapSystem(replace(ABOUT_SET, name=name), (replace(ABOUT_SET, name=name, warnings=()),))
        for name in ("a", "b")
    )
    view = OverlapView(
        *("meaning", ("a", "b"), (4, 4), np.array([[NAN, 0.5], [0.25, NAN]])),
        precision_sd=np.full((2, 2), NAN),
        file_pairs=np.ones((2, 2), np.int64),
        signatures=(("", "ab"), ("ba", "")),
    )
    return Overlap(systems, {"meaning": view}, {"embedder": "minilm", "k": 4, "seed": 7}, ("w",))


def agreement() -> Agreement:
    columns = (ViewColumn("minilm", "meaning"), ViewColumn("tfidf", "words"))
    square = np.array([[1.0, NAN], [NAN, 1.0]])
    metric = MetricAgreement(
        *("precision", columns, ("a", "b")),
        scores=((Score(0.5), Score(0.75)), (Score(0.75), Score(NAN, reason="none"))),
        spearman=square,
        kendall=square,
        chance=square,
        reasons=((None, "too few"), ("too few", None)),
        tie=0.25,
    )
    settings = {
        "embedders": {name: {"embedder": name} for name in ("minilm", "tfidf")},
        "views": [],
    }
    systems = tuple(replace(ABOUT_SET, name=name) for name in ("a", "b"))
    return Agreement(
        ABOUT_SET, systems, columns, {"precision": metric}, settings, 0.25, NAN, ("w",)
    )


def probe() -> Probe:
    move = Move("precision", "higher", (0.9, 0.95), (0.5, NAN), 0.05)
    change = ProbedChange("shuffle", "words shuffled", "puts words in any order", 0.9, NAN, (move,))
    view = ProbedView("meaning", {"shuffle": change})
    settings = {"embedder": "tfidf", "seeds": 2, "half": 2, "k": 4, "seed": 0}
    settings |= {"metrics": ["precision"], "changes": ["shuffle"]}
    return Probe(ABOUT_SET, {"meaning": view}, settings, {"precision": "metric:precision"}, ("w",))


def ranking() -> Ranking:
    player = Player("a", 1.5, 0.1, (1.0, 2.0), 3.0, 1.0, 0.5)
    fit = Fit((player,), "davidson", 0.1, 0.5, 1.0, 0.95, np.array([[0.01]]))
    beside = Beside("mauve", 3, NAN, None, -0.5, True, -0.5, 0.5, (0.1, 0.9), "a tie", (0.0, 1.0))
    truths = {
        "people": Truth("people", "p.csv", "judgements", {"a": 1.5}, {"mauve": beside}, fit),
        "other": Truth("other", "o.csv", "scores", {"a": NAN}, {"mauve": beside}, None, {"a": 0.1}),
    }
    matrix = Matrix(
        *("spearman", ("mauve", "people"), 1, np.array([[1.0, NAN], [NAN, 1.0]])),
        systems=np.full((2, 2), 3),
        reasons=((None, "a tie"), ("a tie", None)),
    )
    metrics = {"mauve": RankedMetric("mauve", "higher", {"a": 0.5}, {"a": 0.1}, {})}
    return Ranking(
        ("a",), metrics, truths, matrix, {"level": 0.95}, {3: NAN, 5: 0.9}, ("n",), ("w",)
    )


def judging() -> Judging:
    known, none = JudgedValue(0.75, (0.5, 1.0), 8), JudgedValue(NAN, None, 0, "no item has answers")
    systems = {
        "a": JudgedSystem("a", 12.5, (-3.0, 28.0), 7.5, 2.5, 8),
        "b": JudgedSystem("b", NAN, None, NAN, NAN, 0),
    }
    people = WithPeople("p.csv", 3, known, known, none, none, JudgedValue(1.2, (0.6, 2.4), 3))
    question = JudgedQuestion(
        "sensible", systems, known, known, known, known, none, NAN, people, "a reason"
    )
    counts = {"asked": 9, "answered": 8, "refused": 1, "malformed": 0, "asked_again": 2, "new": 5}
    counts |= {"prompt_tokens": 900, "tokens": 90, "cost": 0.25}
    judges = {
        name: Judge(name, {"model": name}, counts, {"sensible": question}) for name in ("m", "n")
    }
    between = (BetweenJudges(("m", "n"), "sensible", known, none, none),)
    settings = {"rubric": {"name": "pairs"}, "decoding": "greedy", "seed": 0, "level": 0.95}
    return Judging("pairs", ("a", "b"), "a", 8, judges, between, settings, ("n",), ("w",))


def texts() -> TextComparison:
    told = (Caution("duplicates", "14 % duplicates", "one"),)
    systems = (TextResult(OTHER, TEXT_SCORES, ("a1", "a2"), ("one",), cautions=told),)
    settings = {"aligned": False, "tokenizer": "words", "seed": 0, "metrics": [*TEXT_SCORES]}
    scores = {"distinct:n=2": Score(0.8, better="closest")}
    return TextComparison(systems, settings, ABOUT_SET, scores, None, ("w",))


def check() -> Check:
    numbers = CheckedScore(
        *("recall < 0.8", "a", "recall", 0.7, (0.62, 0.78), 0.95, 0.63, 0.77, "below", 0.8),
        *("fails", None),
        *(0.04, 0.01, 0.02, 0.99, 400, None, True),
    )
    before = CheckedScore(
        *("frechet_distance > 2 * baseline", "a", "frechet_distance", 3.0, None, None, 1.0, 5.0),
        *("above", 2.8, "inconclusive", 1.4, 1.2, 0.4, 0.4, 0.6, 400, 5_000, False, True),
    )
    settings = {"level": 0.95, "inconclusive": "report"}
    return Check("run.zip", "baseline.zip", (numbers, before), settings, ("w",))


def huse() -> HuseResult:
    sets = [replace(ABOUT_SET, name=name) for name in ("human", "a")]
    settings = {"model": "gpt2", "question": "typical", "k": 2, "judged_by": "people", "seed": 0}
    return HuseResult(
        UsedTexts(sets[0], used=2, not_judged=1, not_likely=1, answers=6, raters=2),
        UsedTexts(sets[1], used=4, not_judged=0, not_likely=0, answers=8, raters=2),
        Score(0.5, (0.25, 0.75), 0.95, range=(0.0, 2.0)),
        Score(0.75, (0.5, 1.0), 0.95, range=(0.0, 2.0)),
        Score(0.75, (0.5, 1.0), 0.95, range=(-1.0, 3.0), signature="metric:huse_d"),
        {**settings, "level": 0.95, "given_prompt": False},
        ("w",),
    )


def likelihoods() -> LikelihoodComparison:
    made = texts()
    return LikelihoodComparison(**{part.name: getattr(made, part.name) for part in fields(made)})


def tuning() -> Tuning:
    points = (TunedPoint("a", {"top_p": 0.9}, "top_p=0.9"),)
    tuned = Tuned(("top_p",), points, "gpt2", 4, "recall", "a", (), (), (), ())
    return Tuning.of(comparison(), tuned)


def history() -> History:
    runs = tuple(HistoryRun(name, f"{name}.zip", "0.1.0") for name in ("one", "two"))
    points = (HistoryPoint(0.5, (0.4, 0.6), 100), HistoryPoint(NAN, None, 100, "too few"))
    changes = (ScoreChange(0, 1, -0.1, 0.05, 0.04, 0.08, "open", True),)
    scores = (ScoreHistory("a", "recall", "higher", True, points, changes),)
    return History(runs, scores, {"level": 0.95, "tests": 1}, ("w",))


def by_prompt() -> ByPrompt:
    score = Score(0.5, (0.4, 0.6), 0.95, per_sample=np.array([0.5, NAN]))
    sets = [PromptSet(replace(ABOUT_SET, name=name), (1, 2), {"s": score}) for name in ("h", "a")]
    square = np.array([[0.5, 0.25], [0.25, NAN]])
    homogeneity = Homogeneity(("h", "a"), *[square] * 7)
    test = PromptTest("a", "h", "classifier", "meaning", 0.5, 0.6, 0.04, 0.08, 0.95, "pins")
    settings = {"level": 0.95, "view": "meaning", "k": 1, "threshold": 0.9, "seed": 0}
    return ByPrompt(("p", "q"), sets[0], (sets[1],), homogeneity, (test,), settings, ("w",))


EVERY = {
    made.__name__: made
    for made in (
        *(comparison, sweep, overlap, agreement, probe, ranking, judging, texts, check, huse),
        *(likelihoods, tuning, history, by_prompt),
    )
}


@pytest.mark.parametrize("kind", [kind for kind, record in kinds().items() if record.plot])
def test_what_a_command_draws_its_result_draws(kind, monkeypatch):
    class Kept:
        def figure(self, path):
            return path

    (result,) = (one() for one in EVERY.values() if one().kind == kind)
    record = kinds()[kind]
    monkeypatch.setattr(type(record), "load", lambda self, address: lambda shown: Kept())
    assert result.plot("kept.png") == "kept.png"
    assert isinstance(result, Drawn)


def test_every_kind_is_among_them():
    assert {made().kind for made in EVERY.values()} == set(kinds())


@pytest.fixture(params=EVERY.values(), ids=EVERY)
def result(request):
    return request.param()


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def same(one, other) -> bool:
    """Whether two results hold the same, NaN for NaN and array for array."""
    if type(one) is not type(other) and not (
        isinstance(one, float | int) and isinstance(other, float | int)
    ):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, one.dtype.kind == "f")
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return one == other or (one != one and other != other)


def test_data_come_back_the_same(result):
    data = through_json(result.to_dict())
    back = type(result).from_dict(data)
    assert type(back) is type(result)
    assert through_json(back.to_dict()) == data
    assert list(through_json(back.to_dict())) == list(data)
    if not isinstance(result, Ranking | Agreement):
        assert str(back) == str(result)


@pytest.mark.parametrize("made", [sweep, overlap, agreement, ranking, judging, check, huse])
def test_fields_come_back_the_same(made):
    result = made()
    back = type(result).from_dict(through_json(result.to_dict()))
    if made is sweep:  # its systems have one list of warnings
        system = result.systems[0]
        assert same(back.systems[0].curves, system.curves)
        assert back.systems[0].warnings == (*system.summary.warnings, *system.warnings)
        result = replace(result, systems=back.systems)
    assert same(back, result)


def test_a_probe_comes_back_with_the_noise_as_the_least():
    result = probe()
    back = Probe.from_dict(through_json(result.to_dict()))
    there, here = (each["meaning"]["shuffle"]["precision"] for each in (result, back))
    assert same(replace(here, least_noise=there.least_noise), there)
    assert here.noise == there.noise == here.least_noise


def test_every_result_is_saved_and_loaded(result, tmp_path):
    path = tmp_path / "run.zip"
    result.save(path)
    for back in (type(result).load(path), Result.load(path), load(path)):
        assert type(back) is type(result)
        assert through_json(back.to_dict()) == through_json(result.to_dict())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.zip"]
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read(ABOUT))
    assert about == {"kind": result.kind, "format": 2, "calipers": calipers.__version__}


def test_values_of_samples_come_back_with_the_zip(tmp_path):
    for result in (comparison(), texts()):
        result.save(tmp_path / "run.zip")
        back = Result.load(tmp_path / "run.zip")
        assert back.to_dict(per_sample=True) == result.to_dict(per_sample=True)


def test_values_of_samples_come_back_with_the_json():
    for result in (comparison(), texts()):
        data = through_json(result.to_dict(per_sample=True))
        assert type(result).from_dict(data).to_dict(per_sample=True) == data


def test_json_of_every_command_is_read(result, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(result.to_dict()))
    back = load(path)
    assert type(back) is type(result)
    assert back.to_dict() == through_json(result.to_dict())


def test_another_kind_is_named(tmp_path):
    path = tmp_path / "run.zip"
    sweep().save(path)
    with pytest.raises(InputError, match=r"run\.zip: .*'sweep'"):
        Comparison.load(path)


def written(path, about):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ABOUT, json.dumps(about))
        archive.writestr("sweep.json", json.dumps(sweep().to_dict()))


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"kind": "sweep", "format": 3}, "has format 3, of a later version of calipers"),
        ({"kind": "sweep", "format": "2"}, "its format is '2', not a whole number"),
        ({"kind": "os", "format": 2}, "it holds 'os', none of comparison, texts"),
        ({"kind": ["sweep"], "format": 2}, r"its kind is \['sweep'\], not a text"),
        ({"kind": "probe", "format": 2}, "is not a result saved by calipers"),
        ({"format": 2}, "is not a result saved by calipers"),
        ([], "is not a result saved by calipers"),
    ],
)
def test_a_zip_that_says_what_it_is_not_is_refused(tmp_path, about, words):
    written(tmp_path / "bad.zip", about)
    with pytest.raises(InputError, match=rf"bad\.zip: .*{words}"):
        Result.load(tmp_path / "bad.zip")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not valid JSON"),
        ("[1]", "is not a result of calipers"),
        ('{"systems": []}', "is not a result of calipers"),
        (
            '{"calipers": "1", "kind": "sweep", "settings": {"over": "k"}}',
            "is not a sweep of calipers",
        ),
    ],
)
def test_json_that_is_no_result_is_refused(tmp_path, text, words):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"run\.json: {words}"):
        load(path)


def test_json_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b" " * 2_000_000)
    with calipers.memory_limit("1MB"), pytest.raises(InputError, match=r"run\.json: .*1\.0 MB"):
        load(path)


def test_settings_that_cannot_be_are_named():
    data = comparison().to_dict()
    with pytest.raises(InputError, match="k is 'many', not a whole number"):
        Comparison.from_dict({**data, "settings": {"views": ["meaning"], "k": "many"}})


def test_want_of_memory_is_no_damage(monkeypatch):
    def full(*args):
        raise MemoryError

    monkeypatch.setattr("calipers.results.system.check_confounders", full)
    with pytest.raises(MemoryError):
        Comparison.from_dict(comparison().to_dict())


def test_a_missing_file_is_named(tmp_path):
    for name in ("run.json", "run.zip"):
        with pytest.raises(InputError, match=rf"{name}: cannot be read: No such file"):
            load(tmp_path / name)


DAMAGE = [
    (overlap, lambda d: d["views"]["meaning"].update(precision=[[1.0]]), "precision of 'meaning'"),
    (overlap, lambda d: d["views"]["meaning"]["precision"][0].pop(), "precision"),
    (overlap, lambda d: d["views"]["meaning"].update(precision=[["x", 1], [1, 1]]), "of numbers"),
    (overlap, lambda d: d["views"]["meaning"].update(precision=[[5, 1], [1, 1]]), "between 0 and"),
    (overlap, lambda d: d.update(views={}), "no views"),
    (overlap, lambda d: d["systems"][0].update(files=[]), "damaged"),
    (overlap, lambda d: d["systems"][0]["files"][0].update(n=0), "without samples"),
    (overlap, lambda d: d.update(systems=3), "damaged"),
    (huse, lambda d: d["reference"].update(used=4), "do not add up to 4"),
    (huse, lambda d: d["settings"].pop("question"), "question"),
    (check, lambda d: d.update(checked=[]), "nothing was checked"),
    (check, lambda d: d["settings"].update(inconclusive="maybe"), "inconclusive is 'maybe'"),
    (check, lambda d: d["settings"].update(level=0.5), "level is 0.5, not a number between"),
    (check, lambda d: d["checked"][0].update(outcome="open"), r"outcome is 'open', none of"),
    (sweep, lambda d: d["systems"][0]["curves"]["recall"].update(values=[1]), "curve 'recall'"),
    (sweep, lambda d: d["systems"][0]["curves"]["recall"].update(values=[1.5, 2, 3]), "values"),
    (sweep, lambda d: d["systems"][0]["curves"]["recall"].update(replicates=[]), "curve 'recall'"),
    (sweep, lambda d: d["settings"].update(over="x"), "over is 'x', none of"),
    (agreement, lambda d: d["metrics"]["precision"].update(kendall=[[1]]), "kendall"),
    (agreement, lambda d: d["metrics"]["precision"]["scores"].pop(), "scores of 'precision'"),
    (agreement, lambda d: d["metrics"]["precision"]["scores"][0].pop("a"), "lacks 'a'"),
    (agreement, lambda d: d.pop("limits"), "lacks 'limits'"),
    (probe, lambda d: _move(d)["values"].pop(), r"shuffle.*: precision has 1 values and 2"),
    (probe, lambda d: _move(d).update(noise="x"), "moves.0..least_noise is 'x', not a number"),
    (ranking, lambda d: d["matrix"].update(values=[[1.0]]), "values of the matrix"),
    (ranking, lambda d: d["matrix"].update(systems=[[0.5, 1], [1, 1]]), "systems"),
    (ranking, lambda d: d["truths"]["people"].update(made_of="guesses"), "made_of is 'guesses'"),
    (texts, lambda d: d["systems"][0]["scores"].update(repetition=4), "repetition is 4, not an"),
    (texts, lambda d: d["systems"][0].update(n=-1), r"n is -1, not a whole number"),
    (texts, lambda d: d["systems"][0].update(n=10**400), "n is 1000"),
]


def _move(data):
    return data["views"]["meaning"]["shuffle"]["metrics"]["precision"]


@pytest.mark.parametrize(("made", "damage", "words"), DAMAGE)
def test_damage_is_named(tmp_path, made, damage, words):
    result, path = made(), tmp_path / "bad.zip"
    result.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(parts[f"{result.kind}.json"])
    damage(data)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {f"{result.kind}.json": json.dumps(data)}).items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=rf"bad\.zip: is not a {result.kind} saved .*{words}"):
        type(result).load(path)


def test_any_damage_to_any_zip_is_said_and_never_raised_raw(result, tmp_path, rng):
    path, broken = tmp_path / "run.zip", tmp_path / "broken.zip"
    result.save(path)
    whole = path.read_bytes()
    refused = 0
    for _ in range(60):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), 4):
            content[place] = rng.integers(0, 256)
        broken.write_bytes(bytes(content))
        try:
            Result.load(broken)
        except InputError:
            refused += 1
    assert refused > 20


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "run.zip"
    texts().save(path)
    np.save(tmp_path / "evil.npy", np.array([print], object), allow_pickle=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.write(tmp_path / "evil.npy", "systems/0/per_sample/evil.npy")
    with pytest.raises(InputError, match="Object arrays cannot be loaded"):
        TextComparison.load(path)


numbers = st.floats(-1e100, 1e100) | st.just(math.nan)
ordered = st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)).map(
    lambda ends: tuple(sorted(ends))
)


@given(
    st.lists(numbers, min_size=1, max_size=5),
    st.none() | ordered,
    st.text(max_size=5),
    st.dictionaries(st.text(max_size=3), st.floats(0, 1e9), max_size=2),
)
def test_any_score_comes_back(seeds, interval, words, sources):
    score = Score(
        seeds[0], interval, 0.95, (-math.inf, math.inf), signature=words, reason=words,
        seeds=tuple(seeds), sources=sources,
    )  # fmt: skip
    data = through_json(plain(score))
    back = read(Score, data)
    assert through_json(plain(back)) == data
    assert same(back.seeds, score.seeds)
    assert (back.signature, back.reason, list(back.sources)) == (words, words, list(sources))


# ---------------------------------------------------------------- data frames


def test_rows_name_every_score_of_every_set():
    rows = score_rows(comparison())
    assert [(row["system"], row["role"], row["key"]) for row in rows] == [
        ("human", "reference", "near_copies:train"),
        ("a", "generated", "precision"),
        ("a", "generated", "form.frechet_distance"),
        ("a", "generated", "recall"),
    ]
    train, precision, distance, _ = rows
    assert (train["view"], train["metric"], train["options"]) == ("meaning", "near_copies", "train")
    assert (distance["view"], distance["metric"]) == ("form", "frechet_distance")
    assert (precision["low"], precision["high"], precision["level"]) == (0.1, math.inf, 0.95)
    assert (precision["noise_floor"], precision["noise_floor_sd"]) == (0.9, 0.01)
    assert (distance["range_low"], distance["range_high"]) == (0.0, math.inf)
    assert (math.isnan(distance["value"]), distance["low"]) == (True, None)
    assert distance["reason"] == "too few samples"
    assert {row["view"] for row in score_rows(texts())} == {"text"}


def test_rows_of_samples():
    rows = sample_rows(comparison())
    assert [(row["key"], row["sample"], row["value"]) for row in rows] == [
        ("recall", place, place % 2 == 0) for place in range(4)
    ]


def test_a_data_frame_of_scores():
    need("pandas")
    frame = comparison().to_frame()
    assert list(frame["key"]) == [row["key"] for row in score_rows(comparison())]
    assert frame.loc[frame["key"] == "precision", "value"].item() == 1 / 3
    assert len(comparison().to_frame(per_sample=True)) == 4
    assert len(texts().to_frame()) == 3


FRAMES = {
    "comparison": (("system", "role"), "key", "value"),
    "texts": (("system", "role"), "key", "value"),
    "sweep": (("system", "k"), "key", "value"),
    "overlap": (("view", "reference"), "generated", "precision"),
    "agreement": (("system", "embedder", "view"), "metric", "value"),
    "probe": (("view", "change"), "metric", "gap"),
    "ranking": (("truth",), "metric", "spearman"),
    "judging": (("judge", "system"), "question", "score"),
    "check": (("system",), "condition", "outcome"),
    "huse": (("system",), "metric", "value"),
    "likelihoods": (("system", "role"), "key", "value"),
    "tuning": (("system", "role"), "key", "value"),
    "history": (("run", "system"), "score", "value"),
    "prompts": (("system", "role"), "key", "value"),
}


def test_every_result_is_a_data_frame_long_or_wide(result):
    need("pandas")
    long, wide = result.to_frame(), result.to_frame(wide=True)
    index, column, value = FRAMES[result.kind]
    assert len(long) > 0
    assert set(wide.columns) == {*index, *long[column]}
    assert len(wide) == len(long.drop_duplicates(list(index)))
    first = long.iloc[0]
    row = wide[(wide[list(index)] == first[list(index)]).all(axis=1)]
    np.testing.assert_equal(row[first[column]].item(), first[value])


def test_a_result_without_values_of_samples_says_so():
    with pytest.raises(InputError, match=r"^a sweep .*per_sam"):
        sweep().to_frame(per_sample=True)
    with pytest.raises(InputError, match=r"^wide and per_sample"):
        comparison().to_frame(per_sample=True, wide=True)


def test_metrics_without_a_truth_stand_beside_one_another():
    need("pandas")
    alone = replace(ranking(), truths={})
    frame = alone.to_frame()
    assert len(frame) == len(alone.matrix.names) ** 2
    assert alone.matrix.kind in frame


def test_every_result_has_a_repr_of_one_line(result):
    assert repr(result).startswith(f"<{type(result).__name__} ")
    assert "\n" not in repr(result)


def parts_of(value):
    """Give every part of a result that a person can take out of it and print, at any depth."""
    if isinstance(value, Brief | Score):
        yield value
    if hasattr(value, "__dataclass_fields__"):
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from parts_of(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from parts_of(item)


def test_every_part_of_a_result_is_shown_on_a_few_lines(result):
    parts = [*parts_of(result)]
    assert len(parts) > 1
    for part in parts:
        assert len(repr(part)) <= LONGEST, type(part)
        assert "\n" not in repr(part), type(part)
        if not isinstance(part, Result):
            assert len(str(part)) <= 1_000, type(part)
            assert str(part).count("\n") < 10, type(part)


@pytest.mark.parametrize("withheld", [None, "it reads none of the words " * 9])
def test_a_system_with_many_scores_and_warnings_prints_on_ten_lines(withheld):
    system = comparison().systems[0]
    many = {key: Score(0.5, (0.4, 0.6)) for key in (*HEADLINE, *(f"s{i}" for i in range(60)))}
    cautions = tuple(Caution("lengths", f"longer {n}", f"longer {n} " * 30) for n in range(9))
    warnings = tuple(f"warning {n} " * 30 for n in range(40))
    large = replace(system, scores=many, cautions=cautions, warnings=warnings, withheld=withheld)
    for shown in (large, TextResult(OTHER, many, warnings=warnings, cautions=cautions)):
        lines = str(shown).splitlines()
        assert len(lines) <= 10
        assert max(map(len, lines)) <= 100
        assert "longer 0" in str(shown)
        assert "40 warnings" in str(shown)
        assert len(repr(shown)) <= LONGEST
    precision = next(
        line for line in str(replace(large, withheld=None)).splitlines() if "prec" in line
    )
    assert precision.split() == ["precision", "0.500", "[0.400,0.600]"]


def test_without_pandas_the_command_that_brings_it_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[pandas\]'"):
        comparison().to_frame()


# ---------------------------------------------------------------- explanations


class Watching:
    """Keeps the tasks that were opened, and how far they came."""

    def __init__(self):
        self.seen = []

    def task(self, description, total):
        from contextlib import nullcontext

        self.seen.append([description, total, 0])

        def advance(steps):
            self.seen[-1][2] += steps

        return nullcontext(advance)


def test_explanations_and_maps_are_made_ahead():
    rng = np.random.default_rng(0)
    sets = {name: rng.standard_normal((60, 3)) for name in "ab"}
    found = calipers.compare(rng.standard_normal((60, 3)), sets, floor=False)
    watching = Watching()
    explained = found.explained(progress=watching)
    assert watching.seen == [["Explaining", 3, 3]]
    view = next(iter(explained.maps))
    assert explained["a"].explained[view] == found["a"].explain()
    assert explained.report_data() == found.report_data()
    assert not found["a"].explained
