"""Clusters: which samples were drawn together, read beside groups, kept when sets change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples, read_systems
from calipers.samples.cutting import match_length

Write = Callable[..., Path]
LONG = "Write a story about a lighthouse. " * 30


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, cluster="doc", **options)  # type: ignore[arg-type]
    return str(caught.value).removeprefix(f"{path}: ")


def test_prompts_of_any_length_name_clusters(write_rows: Write) -> None:
    rows = [{"text": "x", "prompt": prompt} for prompt in (LONG, LONG, "short")]
    samples = read_samples(write_rows("a.jsonl", rows), cluster="prompt")
    assert samples.clusters is not None
    assert samples.clusters.to_pylist() == [LONG, LONG, "short"]
    assert samples.groups is None


def test_groups_and_clusters_of_one_file(write_rows: Write) -> None:
    rows = [{"text": "x", "topic": "t", "meta": {"doc": row // 2}} for row in range(4)]
    path = write_rows("a.jsonl", rows)
    samples = read_samples(path, group="topic", cluster="meta.doc")
    assert samples.groups is not None
    assert samples.clusters is not None
    assert samples.groups.to_pylist() == ["t"] * 4
    assert samples.clusters.to_pylist() == ["0", "0", "1", "1"]
    (system,) = read_systems([str(path)], cluster="meta.doc")
    assert system.sets[0].clusters == samples.clusters
    assert as_sample_set(path, cluster="meta.doc").clusters == samples.clusters


def test_a_row_of_several_texts_is_one_cluster(write_rows: Write) -> None:
    rows = [{"doc": d, "choices": [{"text": "x"}, {"text": "y"}]} for d in "ab"]
    path = write_rows("a.jsonl", rows)
    samples = read_samples(path, field="choices[*].text", cluster="doc")
    assert samples.clusters is not None
    assert samples.clusters.to_pylist() == ["a", "a", "b", "b"]


def test_tables_and_arrays(tmp_path: Path) -> None:
    docs = ["a", "a", "b"]
    pq.write_table(pa.table({"text": ["x", "y", "z"], "doc": docs}), tmp_path / "a.parquet")
    vectors = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", vectors=vectors, doc=np.array(docs), topic=np.array(docs[::-1]))
    for name in ("a.parquet", "a.npz"):
        field = "vectors" if name.endswith("npz") else None
        samples = read_samples(tmp_path / name, cluster="doc", field=field)
        assert samples.clusters is not None
        assert samples.clusters.to_pylist() == docs
    both = read_samples(tmp_path / "a.npz", cluster="doc", group="topic")
    assert both.groups is not None
    assert both.groups.to_pylist() == docs[::-1]


def test_labels_missing_on_some_rows_or_on_all(write_rows: Write) -> None:
    rows = [{"text": "x", "doc": None if row in (1, 4) else "a"} for row in range(6)]
    some = refusal(write_rows("some.jsonl", rows))
    assert some.startswith("the cluster 'doc' is missing in 2 of 6 samples (lines 2 and 5: it is ")
    path = write_rows("none.jsonl", [{"text": "x"}] * 3)
    assert refusal(path).startswith("no line has a cluster 'doc' (line 1: there is no field 'doc'")
    assert read_samples(path, cluster="doc", cluster_needed=False).clusters is None


def test_formats_without_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    assert refusal(path).startswith("has no fields, so none is the cluster 'doc'; give JSON lines")
    assert refusal(path).endswith("SampleSet.with_clusters")
    np.savez(tmp_path / "a.npz", vectors=np.ones((2, 2)))
    assert refusal(tmp_path / "a.npz").startswith("holds no array 'doc' of clusters; the arrays")


def test_clusters_stay_with_their_samples() -> None:
    texts = [f"{row} and more words" for row in range(5)]
    samples = SampleSet.from_texts(texts, name="x").with_clusters([1, 1, 2, 2.0, "b"])
    for kept in (
        samples.take(np.array([3, 0, 4])),
        match_length(samples, 1).take(np.array([3, 0, 4])),
    ):
        assert kept.clusters is not None
        assert kept.clusters.to_pylist() == ["2", "1", "b"]
    with pytest.raises(InputError, match="clusters must have one value for each of the 5 samples"):
        samples.with_clusters(["a"])
    with pytest.raises(InputError, match="clusters are missing for 1 of 5 samples"):
        samples.with_clusters(["a", "a", None, "b", "b"])
