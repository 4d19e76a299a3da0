"""Zips that were tampered with: one message that names the file and the part, and nothing run."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

import calipers
from calipers.errors import InputError
from calipers.results import Comparison

FIRST_K = "systems/0/neighbours/reference_first_k.npy"
CELL_COUNT = "systems/0/neighbours/cell_count.npy"
CELLS = "systems/0/neighbours/generated_cells.npy"
NEAREST = "systems/0/neighbours/nearest_reference.npy"
VECTORS = "systems/0/samples/0/vectors/wording.npy"
TEXTS = "systems/0/samples/0/texts.jsonl"
CLUSTERS = "systems/0/samples/0/clusters.npy"
FRONTIER, ERRORS = "systems/0/curves/frontier.npy", "systems/0/curve_errors/frontier.npy"
MAP, ABOUT_MAP = "map/wording/1.npy", "map/wording.json"
SPREADS = "systems/0/spreads.json"
EXPLANATION, INDEX = "systems/0/explanations/wording.json", "comparison.json"
N = 110


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """What is in a sound zip, by name."""
    words = ["harbour", "ship", "storm", "tide", "judge", "court", "trial", "oven", "salt"]
    rng = np.random.default_rng(2)
    reference, *generated = ([" ".join(rng.choice(words, 9)) for _ in range(N)] for _ in range(3))
    found = calipers.compare(
        reference, dict(zip("ab", generated, strict=True)), embedder="tfidf", floor=False
    )
    path = tmp_path_factory.mktemp("zip") / "good.zip"
    found.save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def load(members, tmp_path):
    """Load the zip with some members changed; those changed to None are left out."""

    def loaded(changed):
        path = tmp_path / "bad.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in (members | changed).items():
                if content is not None:
                    archive.writestr(name, content)
        return Comparison.load(path)

    return loaded


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(text):
    line = text.encode() + b" " * (-(11 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line


def test_the_zip_is_sound_before_it_is_changed(load, members):
    assert load({})["a"].explain().topics
    assert {FIRST_K, CELL_COUNT, CELLS, ERRORS, MAP, EXPLANATION} <= set(members)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        (FIRST_K, np.ones(5, int), "reference_first_k of 'a' has 5 entries, not 110"),
        (FIRST_K, np.full(N, "x"), "reference_first_k of 'a' has dtype <U1"),
        (FIRST_K, np.full(N, np.nan), "reference_first_k of 'a' has dtype float64"),
        (FIRST_K, np.array(3), "reference_first_k of 'a' has dtype int64 and shape"),
        (NEAREST, np.full(N, -1), "nearest_reference of 'a' holds numbers from -1"),
        (NEAREST, np.full(N, N), "nearest_reference of 'a' holds numbers from 110"),
        (CELL_COUNT, np.array([10**12]), "cell_count of 'a' holds numbers"),
        (CELL_COUNT, np.array([], int), "cell_count of 'a' has 0 entries"),
        (CELLS, np.full(N, 100), "generated_cells of 'a' names cells"),
        (VECTORS, np.ones((N, 2)), r"vectors of 'a' by 'wording' has shape \(110, 2\)"),
        (VECTORS, np.ones((3, 2)), "explanations/wording.json"),
        (VECTORS, np.ones(N), "vectors of 'a' by 'wording' has dtype float64 and shape"),
        (CLUSTERS, np.ones(3, int), r"'a' has vectors, texts or ids of \[3, 110\] samples"),
        (CLUSTERS, np.full(N, -1), "clusters of 'a' holds numbers from -1"),
        (CLUSTERS, np.full(N, 0.5), "clusters of 'a' has dtype float64"),
        (FRONTIER, np.ones((25, 2)), r"curve 'frontier' of 'a' has shape \(25, 2\)"),
        (FRONTIER, np.ones((25, 3), complex), "curve 'frontier' of 'a' has dtype complex"),
        (ERRORS, np.ones((3, 3)), r"errors of curve 'frontier' of 'a' has shape \(3, 3\)"),
        (MAP, np.full((N, 2), np.nan), "map of 'wording' .*finite"),
        (MAP, np.full((N, 2), "x"), "map of 'wording' .*finite"),
    ],
)
def test_arrays_that_do_not_fit_are_named(load, name, array, words):
    with pytest.raises(InputError, match=rf"bad\.zip: .*{words}"):
        load({name: npy(array)})


def test_vectors_that_are_not_finite_are_named(load, members):
    vectors = np.load(io.BytesIO(members[VECTORS]))
    vectors[7, 0] = np.inf
    with pytest.raises(InputError, match=r"bad\.zip: .*'a' by 'wording'"):
        load({VECTORS: npy(vectors)})


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([print], object), allow_pickle=True),
        pickle.dumps(print),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': ((("),
        b"",
    ],
    ids=["objects", "pickle", "80 TB", "broken header", "empty"],
)
@pytest.mark.parametrize("name", [FIRST_K, VECTORS, MAP, FRONTIER])
def test_what_is_no_array_of_numbers_is_refused(load, name, content):
    with pytest.raises(InputError, match=r"bad\.zip: "):
        load({name: content})


@pytest.mark.parametrize(
    ("line", "words"),
    [(b"1", "a text of 'a' is no text"), (b"null", "a text of 'a'"), (b"{", "damaged")],
)
def test_texts_that_are_none_are_refused(load, line, words):
    with pytest.raises(InputError, match=rf"bad\.zip: .*{words}"):
        load({TEXTS: (line + b"\n") * N})


def test_a_text_too_few_is_refused(load, members):
    fewer = b"".join(members[TEXTS].splitlines(keepends=True)[1:])
    with pytest.raises(InputError, match=r"bad\.zip: .*(109|texts)"):
        load({TEXTS: fewer, EXPLANATION: None})


def changed(content, place, value):
    data = json.loads(content)
    part = data
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return json.dumps(data)


MEDOID = ("topics", 0, "reference_medoids", 0, "row")


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        (EXPLANATION, MEDOID, 10**9),
        (EXPLANATION, MEDOID, -1),
        (EXPLANATION, ("n",), N + 1),
        (EXPLANATION, ("view",), "form"),
        (EXPLANATION, ("outside_count",), 10**400),
        (EXPLANATION, ("score",), 10**400),
        (ABOUT_MAP, ("explained",), [float("nan"), 0.2]),
        (ABOUT_MAP, ("explained",), [10**400, 0.2]),
        (ABOUT_MAP, ("method",), "<b>"),
        (INDEX, ("settings", "k"), float("inf")),
        (INDEX, ("settings", "k"), -4),
        (INDEX, ("settings", "seed"), "x"),
        (INDEX, ("settings", "level"), 2.0),
        (INDEX, ("settings", "views"), None),
        (INDEX, ("systems", 0, "correlations"), {"precision|recall": 5}),
        (INDEX, ("systems", 0, "correlations"), {"precision|recall": None}),
        (INDEX, ("systems", 0, "name"), ["a"]),
        (INDEX, ("systems", 1, "name"), "a"),
        (INDEX, ("systems", 0, "n"), "x"),
        (INDEX, ("systems", 0, "scores", "precision", "value"), 10**400),
        (SPREADS, ("precision", "components", 0, 0), "weather"),
        (SPREADS, ("precision", "components", 0, 1), [0.1, None]),
        (SPREADS, ("precision", "components", 0, 1), [0.1]),
        (SPREADS, ("precision", "components", 0, 1), [[0.1, 0.2]]),
        (SPREADS, ("precision", "halves"), "x"),
        (SPREADS, ("precision", "allowance"), -1),
        (SPREADS, ("precision", "allowance"), None),
        (SPREADS, ("precision", "components"), None),
    ],
)
def test_json_that_cannot_be_is_refused(load, members, name, place, value):
    with pytest.raises(InputError, match=r"bad\.zip: is not a comparison saved"):
        load({name: changed(members[name], place, value)})


def test_how_much_scores_move_comes_back(load, members):
    found = load({})["a"]
    for key, score in found.scores.items():
        if score.standard_error is not None and key in found.spreads:
            assert found.spreads[key].standard_error == pytest.approx(score.standard_error)
    assert {"precision", "recall"} <= found.spreads.keys()
    without = {name: None for name in members if name.endswith("spreads.json")}
    with pytest.raises(InputError, match=r"bad\.zip: .*spreads\.json"):
        load(without)


def test_rows_of_samples_without_texts_are_looked_at_too(load, members):
    bare = {name: None for name in members if name.endswith("texts.jsonl")}
    assert load(bare)["a"].explain().topics
    damaged = changed(members[EXPLANATION], MEDOID, 10**9)
    with pytest.raises(InputError, match=r"bad\.zip: "):
        load(bare | {EXPLANATION: damaged})


def test_a_zip_from_before_explanations_is_read_and_explained(load, members):
    new = ("map/", "explanations/", "curve_errors/", "covered", "copied", "_cells", "cell_count")
    older = {name: None for name in members if any(part in name for part in new)}
    data = json.loads(members[INDEX])
    for system in data["systems"]:
        del system["correlations"]
    found = load(older | {INDEX: json.dumps(data)})
    explanation = found["a"].explain()
    assert explanation.topics == ()
    assert "no uncovered samples: coverage was not measured" in explanation.notes
    assert found.report_data()["map"]["wording"]["method"] == "pca"


def test_names_of_members_lead_nowhere(load, tmp_path):
    before = set(tmp_path.rglob("*"))
    odd = {"../../evil.npy": npy(np.ones(3)), "/evil.json": b"{}", "map/../x.json": b"{}"}
    assert load(odd)["a"].explain()
    assert set(tmp_path.rglob("*")) - before == {tmp_path / "bad.zip"}


# ---------------------------------------------------------------- sizes


def test_parts_that_claim_too_much_are_not_unpacked(tmp_path, members):
    path = tmp_path / "large.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if name != TEXTS else bytes(10_000_000))
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    with calipers.memory_limit("5MB"), pytest.raises(InputError) as caught:
        Comparison.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: claims to hold {len(members)} parts (")
    assert "as packed), which take at least 10." in str(caught.value)
    assert "5.0 MB may be taken as `calipers.memory_limit` says" in str(caught.value)


def test_more_rows_than_there_are_samples_are_not_unpacked(load):
    many = np.zeros((20_000, 2), np.float32)
    with pytest.raises(InputError, match=r"nearest_reference\.npy .*20,000 rows \(160\.1 kB\)"):
        load({NEAREST: npy(many)})
    odd = header("{'descr': '<f8', 'fortran_order': False, 'shape': (100, 100), }")
    with pytest.raises(InputError, match=r"80,128 bytes.* 144"):
        load({NEAREST: odd + bytes(16)})


def test_a_part_gives_no_more_than_it_claims(tmp_path, members):
    path = tmp_path / "lies.zip"
    size = 30_000_000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if name != INDEX else bytes(size))
    data = path.read_bytes()
    assert data.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(data.replace(size.to_bytes(4, "little"), (900).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"lies\.zip: is not a comparison"):
        Comparison.load(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_json_and_texts_count_as_they_are_parsed(tmp_path, members):
    path = tmp_path / "deep.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if name != INDEX else b"[" + b"[]," * 300_000 + b"[]]")
    with calipers.memory_limit("9MB"), pytest.raises(InputError, match=r"takes more than 9\.0 MB"):
        Comparison.load(path)
    long = json.dumps("x" * 100_000).encode() + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if name != TEXTS else long * N)
    with calipers.memory_limit("14MB"), pytest.raises(InputError, match=r"line 1 of .* is longer"):
        Comparison.load(path)


def test_parts_packed_in_another_way_are_refused(tmp_path, members):
    path = tmp_path / "packed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"packed\.zip: .*packed"):
        Comparison.load(path)
