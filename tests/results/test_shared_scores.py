"""Scores for Every Eval Ever and for model pages of the Hub: what they hold, who accepts them."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InputError
from calipers.results import Comparison
from calipers.results.shared_scores import (
    every_eval_ever,
    hub_results,
    write_every_eval_ever,
    write_hub_results,
)
from extras import lack, need

WHEN = 1_790_000_000.0


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(0)
    found = calipers.compare(
        rng.normal(size=(60, 3)),
        {"org/a": rng.normal(size=(50, 3))},
        metrics=["precision", "recall", "density"],
    )
    (system,) = found.systems
    sure = replace(system["precision"], interval=(0.75, 0.95), level=0.95, standard_error=0.05)
    return replace(found, systems=(replace(system, scores={**system.scores, "precision": sure}),))


@pytest.fixture(scope="module")
def record(comparison: Comparison) -> dict[str, Any]:
    return every_eval_ever(
        comparison, organization="We", relationship="first_party", retrieved=WHEN
    )


def test_every_score_with_its_uncertainty(comparison: Comparison, record: dict[str, Any]) -> None:
    assert record["schema_version"] == "0.3.0"
    assert record["evaluation_id"] == "calipers/org/a/1790000000"
    assert record["retrieved_timestamp"] == "1790000000"
    assert record["source_metadata"]["source_organization_name"] == "We"
    assert record["source_metadata"]["evaluator_relationship"] == "first_party"
    assert record["eval_library"] == {"name": "calipers", "version": calipers.__version__}
    (system,) = comparison.systems
    found = {each["evaluation_result_id"]: each for each in record["evaluation_results"]}
    assert set(found) == {key for key, score in system.scores.items() if math.isfinite(score.value)}
    score = system["precision"]
    each = found["precision"]
    assert each["metric_config"]["metric_id"] == "calipers.precision"
    assert each["metric_config"]["lower_is_better"] is False
    assert (each["metric_config"]["min_score"], each["metric_config"]["max_score"]) == (0.0, 1.0)
    assert each["score_details"]["score"] == score.value
    assert each["score_details"]["details"]["signature"] == score.signature
    assert each["score_details"]["uncertainty"]["confidence_interval"] == {
        "lower": 0.75,
        "upper": 0.95,
        "confidence_level": 0.95,
    }
    assert each["score_details"]["uncertainty"]["standard_error"] == {"value": 0.05}
    assert each["score_details"]["uncertainty"]["num_samples"] == 50
    assert each["source_data"]["additional_details"]["samples"] == "60"
    assert found["density"]["metric_config"]["max_score"] == "Infinity"


def with_scores(comparison: Comparison, **changed: Any) -> Comparison:
    """The same comparison, with the score of precision changed and no other."""
    (system,) = comparison.systems
    score = replace(system["precision"], **changed)
    return replace(comparison, systems=(replace(system, scores={"precision": score}),))


def test_a_score_with_a_goal_is_written_as_the_distance_to_it(comparison: Comparison) -> None:
    aimed = with_scores(comparison, value=12.0, reference=15.5, better="closest")
    (each,) = every_eval_ever(aimed, retrieved=WHEN)["evaluation_results"]
    assert each["metric_config"]["metric_id"] == "calipers.precision.gap"
    assert each["metric_config"]["lower_is_better"] is True
    assert each["metric_config"]["max_score"] == "Infinity"
    assert each["score_details"]["score"] == 3.5
    assert "uncertainty" not in each["score_details"]
    assert each["score_details"]["details"]["value"] == "12.0"
    assert each["score_details"]["details"]["reference"] == "15.5"
    (entry,) = hub_results(aimed, benchmark="me/stories")
    assert entry["value"] == 12.0
    assert (
        "95% interval 0.75 to 0.95; closest to the reference's own 15.5 is best; 5"
        in entry["notes"]
    )


def test_what_is_not_finite_is_left_out(comparison: Comparison) -> None:
    one = with_scores(comparison, interval=(0.5, math.nan), standard_error=None)
    (each,) = every_eval_ever(one)["evaluation_results"]
    assert "uncertainty" not in each["score_details"]
    none = with_scores(comparison, value=math.nan)
    for make in (every_eval_ever, lambda found: hub_results(found, benchmark="a/b")):
        with pytest.raises(InputError, match=r"^org/a: .*finite"):
            make(none)  # type: ignore[operator]


def test_files(comparison: Comparison, record: dict[str, Any], tmp_path: Path) -> None:
    write_every_eval_ever(record, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == record
    with pytest.raises(InputError, match=r"path .*\.yaml or \.yml"):
        write_hub_results(hub_results(comparison, benchmark="me/b"), tmp_path / "a.json")


def test_wrong_choices(comparison: Comparison) -> None:
    with pytest.raises(InputError, match="unknown relationship 'friend'"):
        every_eval_ever(comparison, relationship="friend")  # type: ignore[arg-type]
    for benchmark in ("stories", "a/b/c", "a b/c", ""):
        with pytest.raises(InputError, match=r"benchmark .*org/n"):
            hub_results(comparison, benchmark=benchmark)
    (system,) = comparison.systems
    other = replace(system, summary=replace(system.summary, name="b"))
    two = replace(comparison, systems=(system, other))
    with pytest.raises(InputError, match=r"system .*2 systems: 'org/a', 'b'"):
        every_eval_ever(two)
    assert every_eval_ever(two, "b", model="org/b")["model_info"]["id"] == "org/b"


def test_the_hub_reads_what_is_written(comparison: Comparison, tmp_path: Path) -> None:
    hub, yaml = need("huggingface_hub"), need("yaml")
    if not hasattr(hub, "parse_eval_result_entries"):
        pytest.skip("this huggingface_hub knows no .eval_results")
    entries = hub_results(comparison, benchmark="me/stories", day=date(2026, 11, 24))
    path = tmp_path / "a.yaml"
    write_hub_results(entries, path)
    read = yaml.safe_load(path.read_text())
    assert read == entries
    parsed = hub.parse_eval_result_entries(read)
    assert [(each.dataset_id, each.task_id, each.value, each.date) for each in parsed] == [
        ("me/stories", key, score.value, "2026-11-24")
        for key, score in comparison.systems[0].scores.items()
        if math.isfinite(score.value)
    ]
    assert hub.eval_result_entries_to_yaml(parsed) == entries


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_text_and_number_is_read_back_from_yaml(
    tmp_path_factory: pytest.TempPathFactory, text: str, number: float
) -> None:
    yaml = need("yaml")
    path = tmp_path_factory.mktemp("yaml") / "a.yml"
    entries = [{"dataset": {"id": text}, "value": number, "notes": text}] * 2
    write_hub_results(entries, path)
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == entries


SCHEMA = "CALIPERS_EVERY_EVAL_EVER"
"""Names the folder of an unpacked wheel of every_eval_ever, which asks for Python 3.12 itself."""


@pytest.mark.slow
def test_every_eval_ever_itself_accepts_what_is_written(
    record: dict[str, Any], comparison: Comparison, tmp_path: Path
) -> None:
    folder = os.environ.get(SCHEMA)
    if not folder:
        lack(f"every_eval_ever in the folder of {SCHEMA}")
    jsonschema = need("jsonschema")
    path = Path(folder, "every_eval_ever", "schemas", "eval.schema.json")
    schema = json.loads(path.read_text())
    assert schema["version"] == record["schema_version"]
    aimed = with_scores(comparison, value=12.0, reference=15.5, better="closest")
    jsonschema.validate(record, schema)
    jsonschema.validate(every_eval_ever(aimed), schema)
    broken = {**record, "schema_version": 3}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)
    # Its own validator, with the checks that a schema cannot state
    write_every_eval_ever(record, tmp_path / "a.json")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; "
        "from every_eval_ever.validator.validation_core import validate_aggregate; "
        "report = validate_aggregate(Path(sys.argv[2])); "
        "print(report.valid, report.errors, report.warnings)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, folder, str(tmp_path / "a.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True [] []\n", done.stdout + done.stderr
