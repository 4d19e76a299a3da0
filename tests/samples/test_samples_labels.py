"""Labels of samples, and the names of systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples, read_systems
from calipers.samples.truncation import match_length

# Groups and clusters: read from a field, given as labels, kept when sets change.


Write = Callable[..., Path]
VECTORS = np.arange(8.0).reshape(4, 2)


def refusal(path: Path, **options: object) -> str:
    """Read a file that is refused, and return the message without the path before it."""
    with pytest.raises(InputError) as caught:
        read_samples(path, group="g", **options)  # type: ignore[arg-type]
    return str(caught.value).removeprefix(f"{path}: ")


def test_numbers_and_booleans_become_their_text(write_rows: Write) -> None:
    labels = ["news", 7, 7.0, 0.5, True, " "]
    rows = [{"text": "x", "g": label} for label in labels]
    samples = read_samples(write_rows("a.jsonl", rows[:-1]), group="g")
    assert samples.groups.tolist() == ["news", "7", "7", "0.5", "True"]


@pytest.mark.parametrize("nothing", [None, "", "  ", math.nan])
def test_labels_missing_on_some_rows(write_rows: Write, nothing: object) -> None:
    rows = [{"text": "x", "g": nothing if row in (1, 4) else "a"} for row in range(6)]
    path = write_rows("a.jsonl", rows)
    message = refusal(path)
    assert message.startswith("the group 'g' is missing in 2 of 6 samples (lines 2 and 5: it is ")
    assert message.endswith('give every row a label, such as "none"')
    assert refusal(path, group_needed=False).endswith("or take the field out of every row")


def test_a_field_that_only_some_rows_have(write_rows: Write) -> None:
    rows = [{"text": "x", "g": "a"}, *[{"text": "x"}] * 9]
    assert refusal(write_rows("a.jsonl", rows)).startswith(
        "the group 'g' is missing in 9 of 10 samples (lines 2, 3, 4, 5, 6 and 4 more: there is "
        "no field 'g'; the fields are 'text'); give every row a label"
    )


def test_samples_of_one_row_share_its_group_and_are_counted_each(write_rows: Write) -> None:
    rows = [{"t": ["x", "y"], "g": 1}, {"t": ["z", "u"]}]
    message = refusal(write_rows("a.jsonl", rows), field="t[*]")
    assert message.startswith("the group 'g' is missing in 2 of 4 samples (line 2: ")


def test_a_field_that_no_row_has(write: Write, write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"text": "x", "h": 1}])
    assert refusal(path) == (
        "no line has a group 'g' (line 1: there is no field 'g'; the fields are 'text' and 'h'); "
        "name a field that every row has"
    )
    assert read_samples(path, group="g", group_needed=False).groups is None
    table = write("a.csv", "text,h\nx,1\n")
    assert "the fields are 'text' and 'h'" in refusal(table)
    assert read_samples(table, group="g", group_needed=False).groups is None


def test_tables_read_no_more_than_they_need(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x"], "h": [1], "prompt": ["p"]}), path)
    assert "the fields are 'text', 'h' and 'prompt'" in refusal(path)
    samples = read_samples(path, group="g", group_needed=False)
    assert (samples.groups, samples.prompts.tolist()) == (None, ["p"])
    pq.write_table(pa.table({"text": ["x", "y"], "g": pa.array([1, None])}), path)
    assert "missing in 1 of 2 samples (row 2: it is null)" in refusal(path)


@pytest.mark.parametrize("label", [["a"], {"a": 1}])
def test_what_is_no_label(write_rows: Write, label: object) -> None:
    message = refusal(write_rows("a.jsonl", [{"text": "x", "g": label}]), group_needed=False)
    assert message.startswith("line 1: the group 'g' must be one string, number or boolean, not a")


def test_a_whole_text_is_no_label(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"text": "x", "g": "word " * 50}])
    assert refusal(path) == (
        "line 1: the group 'g' must be a label of at most 200 characters, but it has 250; "
        "is it the right field?"
    )


def test_formats_without_fields(write: Write, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VECTORS)
    for path in (write("a.txt", "x\n"), tmp_path / "a.npy"):
        assert refusal(path).startswith("has no fields, so none is the group 'g'; give JSON lines")
        assert read_samples(path, group="g", group_needed=False).groups is None


def test_an_array_of_an_npz_is_the_group(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, vectors=VECTORS, g=np.array(["a", "b", "a", "b"]))
    samples = read_samples(path, group="g")
    assert samples.groups.tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(samples.vectors, VECTORS)
    np.savez(path, vectors=VECTORS, g=np.arange(3))
    assert refusal(path) == (
        "groups must have one value for each of the 4 samples, but there are 3"
    )
    np.savez(path, vectors=VECTORS)
    assert refusal(path) == "holds no array 'g' of groups; the arrays are 'vectors'"
    assert read_samples(path, group="g", group_needed=False).groups is None
    np.savez(path, vectors=VECTORS, g=np.array(["a", None] * 2, dtype=object))
    assert "pickled Python objects" in refusal(path)


def test_labels_for_samples_that_are_there() -> None:
    samples = SampleSet.from_vectors(VECTORS, name="v")
    grouped = samples.with_groups(np.array(["a", "b", "b", "a"]))
    assert samples.groups is None
    assert grouped.groups.tolist() == ["a", "b", "b", "a"]
    assert grouped.content_hash == samples.content_hash
    assert grouped.take(np.array([3, 1])).groups.tolist() == ["a", "b"]
    with pytest.raises(InputError, match=r"v: groups .*4 samples"):
        samples.with_groups("abc")
    with pytest.raises(InputError, match=r"2 of 4 samples .*1 and 4"):
        samples.with_groups([None, "a", "b", ""])


def test_generated_files_may_lack_the_field(write_rows: Write) -> None:
    have = write_rows("have.jsonl", [{"text": "x", "g": "a"}])
    lack = write_rows("lack.jsonl", [{"text": "x"}])
    first, second = read_systems([str(have), str(lack)], group="g")
    assert first.sets[0].groups.tolist() == ["a"]
    assert second.sets[0].groups is None


def test_paths_in_python_take_the_group(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"text": "x", "g": "a"}])
    assert as_sample_set(path, group="g").groups.tolist() == ["a"]
    assert as_sample_set(["x"], group="g").groups is None


LONG = "Write a story about a lighthouse. " * 30


def refusal_of_clusters(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, cluster="doc", **options)  # type: ignore[arg-type]
    return str(caught.value).removeprefix(f"{path}: ")


def test_prompts_of_any_length_name_clusters(write_rows: Write) -> None:
    rows = [{"text": "x", "prompt": prompt} for prompt in (LONG, LONG, "short")]
    samples = read_samples(write_rows("a.jsonl", rows), cluster="prompt")
    assert samples.clusters is not None
    assert samples.clusters.tolist() == [LONG, LONG, "short"]
    assert samples.groups is None


def test_groups_and_clusters_of_one_file(write_rows: Write) -> None:
    rows = [{"text": "x", "topic": "t", "meta": {"doc": row // 2}} for row in range(4)]
    path = write_rows("a.jsonl", rows)
    samples = read_samples(path, group="topic", cluster="meta.doc")
    assert samples.groups is not None
    assert samples.clusters is not None
    assert samples.groups.tolist() == ["t"] * 4
    assert samples.clusters.tolist() == ["0", "0", "1", "1"]
    (system,) = read_systems([str(path)], cluster="meta.doc")
    assert system.sets[0].clusters == samples.clusters
    assert as_sample_set(path, cluster="meta.doc").clusters == samples.clusters


def test_a_row_of_several_texts_is_one_cluster(write_rows: Write) -> None:
    rows = [{"doc": d, "choices": [{"text": "x"}, {"text": "y"}]} for d in "ab"]
    path = write_rows("a.jsonl", rows)
    samples = read_samples(path, field="choices[*].text", cluster="doc")
    assert samples.clusters is not None
    assert samples.clusters.tolist() == ["a", "a", "b", "b"]


def test_tables_and_arrays(tmp_path: Path) -> None:
    docs = ["a", "a", "b"]
    pq.write_table(pa.table({"text": ["x", "y", "z"], "doc": docs}), tmp_path / "a.parquet")
    vectors = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", vectors=vectors, doc=np.array(docs), topic=np.array(docs[::-1]))
    for name in ("a.parquet", "a.npz"):
        field = "vectors" if name.endswith("npz") else None
        samples = read_samples(tmp_path / name, cluster="doc", field=field)
        assert samples.clusters is not None
        assert samples.clusters.tolist() == docs
    both = read_samples(tmp_path / "a.npz", cluster="doc", group="topic")
    assert both.groups is not None
    assert both.groups.tolist() == docs[::-1]


def test_labels_missing_on_some_rows_or_on_all(write_rows: Write) -> None:
    rows = [{"text": "x", "doc": None if row in (1, 4) else "a"} for row in range(6)]
    some = refusal_of_clusters(write_rows("some.jsonl", rows))
    assert some.startswith("the cluster 'doc' is missing in 2 of 6 samples (lines 2 and 5: it is ")
    path = write_rows("none.jsonl", [{"text": "x"}] * 3)
    assert refusal_of_clusters(path).startswith(
        "no line has a cluster 'doc' (line 1: there is no field 'doc'"
    )
    assert read_samples(path, cluster="doc", cluster_needed=False).clusters is None


def test_formats_without_fields_hold_no_clusters(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    assert refusal_of_clusters(path).startswith(
        "has no fields, so none is the cluster 'doc'; give JSON lines"
    )
    assert refusal_of_clusters(path).endswith("SampleSet.with_clusters")
    np.savez(tmp_path / "a.npz", vectors=np.ones((2, 2)))
    assert refusal_of_clusters(tmp_path / "a.npz").startswith(
        "holds no array 'doc' of clusters; the arrays"
    )


def test_clusters_stay_with_their_samples() -> None:
    texts = [f"{row} and more words" for row in range(5)]
    samples = SampleSet.from_texts(texts, name="x").with_clusters([1, 1, 2, 2.0, "b"])
    for kept in (
        samples.take(np.array([3, 0, 4])),
        match_length(samples, 1).take(np.array([3, 0, 4])),
    ):
        assert kept.clusters is not None
        assert kept.clusters.tolist() == ["2", "1", "b"]
    with pytest.raises(InputError, match=r"clusters .*each of the 5 samples"):
        samples.with_clusters(["a"])
    with pytest.raises(InputError, match=r"clusters .*1 of 5 samples"):
        samples.with_clusters(["a", "a", None, "b", "b"])


# Generated systems as the command line names them: files, seeds or images by a pattern.


def test_files_are_named_after_themselves(write: Write) -> None:
    paths = [write("model_a.jsonl.gz", '{"text": "a"}'), write("model-b.v2.txt", "b\n")]
    systems = read_systems([str(path) for path in paths])
    assert [system.name for system in systems] == ["model_a", "model-b.v2"]
    assert [system.sets[0].name for system in systems] == ["model_a", "model-b.v2"]
    assert [list(system.sets[0]) for system in systems] == [["a"], ["b"]]


def test_one_name_for_several_files(write: Write, tmp_path: Path) -> None:
    for seed in (2, 0, 1):
        write(f"runs/seed{seed}.txt", f"{seed}\n")
    (system,) = read_systems([f"model={tmp_path}/runs/*.txt"])
    assert system.name == "model"
    assert [each.name for each in system.sets] == ["seed0", "seed1", "seed2"]
    assert [each[0] for each in system.sets] == ["0", "1", "2"]
    assert system.sets[0].source == str(tmp_path / "runs" / "seed0.txt")


def test_one_name_for_one_file(write: Write) -> None:
    (system,) = read_systems([f"model={write('out.txt', 'a')}"])
    assert (system.name, system.sets[0].name) == ("model", "model")
    (system,) = read_systems([f"m={write('odd[1].txt', 'a')}"])
    assert list(system.sets[0]) == ["a"]


def test_a_path_with_an_equals_sign_is_a_file(write: Write) -> None:
    (system,) = read_systems([str(write("t=0.7.txt", "a\n"))])
    assert system.name == "t=0.7"


def test_the_field_is_for_all_files(write: Write) -> None:
    path = write("a.jsonl", '{"x": {"y": "a"}, "text": "b"}')
    assert list(read_systems([str(path)], field="x.y")[0].sets[0]) == ["a"]


def test_same_name_twice(write: Write) -> None:
    first, second = write("one/out.txt", "a"), write("two/one.jsonl", '"b"')
    with pytest.raises(InputError, match=r"two generated .*'one'") as caught:
        read_systems([f"one={first}", str(second)])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    with pytest.raises(InputError, match="'stdin'"):
        read_systems(["-", "-"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no.jsonl", r"^no\.jsonl: there is no such file"),
        ("A=*.nope", r"^A=\*\.nope: no file matches '\*\.nope'"),
        ("runs/*.jsonl", r"a pattern needs a name: NAME=runs/\*\.jsonl"),
        ("=a.txt", "must be FILE or NAME=PATTERN"),
        ("A=", "must be FILE or NAME=PATTERN"),
    ],
)
def test_wrong_specifications(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        read_systems([spec])


def test_a_name_that_is_missing_is_told_before_files_are_read(write: Write) -> None:
    broken = write("a.jsonl", "{")
    with pytest.raises(InputError, match="no file matches"):
        read_systems([str(broken), "B=/nowhere/*.txt"])


@pytest.fixture
def fill(tmp_path: Path) -> Callable[..., Path]:
    """Put images under names in a new folder."""

    def make(*names: str) -> Path:
        for number, name in enumerate(names):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.full((2, 3), number, np.uint8)).save(path)
        return tmp_path

    return make


def refusal_of_systems(spec: str) -> str:
    with pytest.raises(InputError) as caught:
        read_systems([spec])
    return str(caught.value)


def test_images_of_a_pattern_are_one_set(fill: Callable[..., Path]) -> None:
    base = fill("fake/2.png", "fake/1.jpg", "fake/3.png", "real/1.png")
    (system,) = read_systems([f"model={base}/fake/*"])
    (samples,) = system.sets
    assert (system.name, samples.name, len(samples)) == ("model", "model", 3)
    assert samples.source == f"{base}/fake/*"
    assert [int(image[0, 0, 0]) for image in samples] == [1, 0, 2]


def test_folders_are_one_set_each(fill: Callable[..., Path]) -> None:
    base = fill("run1/1.png", "run1/2.png", "run2/1.png")
    plain, named = read_systems([f"{base}/run1", f"all={base}/run*"])
    assert (plain.name, len(plain.sets[0])) == ("run1", 2)
    assert [(each.name, len(each)) for each in named.sets] == [("run1", 2), ("run2", 1)]


def test_two_stars_reach_into_folders(fill: Callable[..., Path]) -> None:
    base = fill("fake/cat/1.png", "fake/cat/2.png", "fake/dog/1.png")
    for pattern in ("fake/**", "fake/*/*.png", "fake/**/*.png"):
        (system,) = read_systems([f"m={base}/{pattern}"], group="folder")
        assert system.sets[0].groups.tolist() == ["cat", "cat", "dog"]


def test_images_beside_other_files(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png", "fake/2.png")
    (base / "fake" / "labels.csv").write_text("x")
    message = refusal_of_systems(f"m={base}/fake/*")
    assert message.startswith(f"m={base}/fake/*: matches 2 image files and 1 other path (")
    assert message.endswith(
        "give a pattern that matches images alone, or the folder that holds them"
    )


def test_one_image(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png")
    assert (
        refusal_of_systems(f"m={base}/fake/*")
        == f"m={base}/fake/*: matches only one image, but a set needs many"
    )
    for spec in (f"{base}/fake/1.png", f"m={base}/fake/1.png"):
        assert f"pattern NAME='{base}/fake/*.png' in quotes" in refusal_of_systems(spec)


def test_bad_images_are_skipped_where_asked(fill: Callable[..., Path]) -> None:
    base = fill("fake/1.png", "fake/2.png", "fake/3.png")
    (base / "fake" / "2.png").write_bytes(b"")
    assert f"{base}/fake/*: 1 of 3 image files cannot be read" in refusal_of_systems(
        f"m={base}/fake/*"
    )
    (system,) = read_systems([f"m={base}/fake/*"], skip_bad=True)
    assert len(system.sets[0]) == 2
    (folder,) = read_systems([f"{base}/fake"], skip_bad=True)
    assert len(folder.sets[0]) == 2
