"""Import and export of a study: tables of judgements, and tasks and answers of Label Studio."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from calipers._version import __version__
from calipers.errors import InputError
from calipers.files import at_home
from calipers.judgements.items import Item
from calipers.samples.wording import counted
from calipers.whole_files import write_text_atomically

if TYPE_CHECKING:
    from calipers.annotation.study import AnnotationStudy
    from calipers.judgements.judgement import PairJudgement


def write_export(study: AnnotationStudy, path: str | Path) -> Path:
    """Write all judgements of a study as ``.csv``, or with the texts as ``.jsonl``.

    Beside them goes a manifest in JSON: what was asked, how far the study is, what each annotator
    did, and how far annotators agree (Krippendorff's α).

    Returns
    -------
    Path
        Of the manifest.

    Raises
    ------
    InputError
        If the name ends otherwise, or the file cannot be written.
    """
    _write_table(study, path)
    rubric = study.settings.rubric.to_dict()
    data = {"calipers": __version__, "rubric": rubric, **study.status().to_dict()}
    manifest = manifest_of(path)
    write_text_atomically(manifest, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    return manifest


def manifest_of(path: str | Path) -> Path:
    """Return the path of the manifest beside an export."""
    place = at_home(path)
    return place.with_name(f"{place.name}.manifest.json")


def export_text(study: AnnotationStudy, ending: str) -> bytes:
    """Return the judgements as text, in the format of :func:`write_export`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"judgements.{ending}")
        _write_table(study, path)
        return path.read_bytes()


def _write_table(study: AnnotationStudy, path: str | Path) -> None:
    from calipers.judgements.tables import write_judgements

    rubric = study.settings.rubric
    write_judgements(
        path,
        study.judgements(),
        shown={item.id: item for item in study.items()},
        questions=[question.name for question in rubric.questions],
        pairs=rubric.task == "pairs",
    )


def write_tasks(study: AnnotationStudy, path: str | Path) -> Path:
    """Write the items of a study, including attention checks, as tasks for Label Studio.

    Returns
    -------
    Path
        Of the labelling configuration that is written beside them.
    """
    from calipers.judgements import label_studio

    items = [item for item in study.items(checks=True) if isinstance(item, Item)]
    return label_studio.write_tasks(path, items, study.settings.rubric, seed=study.settings.seed)


def import_annotations(study: AnnotationStudy, path: str | Path) -> tuple[int, tuple[str, ...]]:
    """Import the answers of a Label Studio export into a study.

    Its annotators are added under the names that they have there. An item that one of them has
    answered here already is left as it is.

    Returns
    -------
    int, tuple of str
        How many answers were taken, those to attention checks among them, and notes
        on the others.

    Raises
    ------
    InputError
        If the file is not such an export, or is of other items or questions.
    """
    from calipers.judgements.label_studio import read_label_studio

    rubric = study.settings.rubric
    if rubric.task != "pairs":
        raise InputError(
            f"{study.path}: the rubric {rubric.name!r} is of {rubric.task}; what Label Studio "
            "exports are judgements of pairs"
        )
    # Attention checks are answers like others to the file, which counts them itself
    items = [replace(i, check="") for i in study.items(checks=True) if isinstance(i, Item)]
    imported = read_label_studio(path, items, rubric=rubric)
    asked = {question.name for question in rubric.questions}
    places = {item.id for item in items}
    for judgement in imported.judgements:
        if set(judgement.answers) != asked:
            raise InputError(
                f"{path}: the item {judgement.item} has answers to {_listed(judgement.answers)}, "
                f"but the study asks {_listed(asked)}"
            )
        if judgement.item not in places:
            raise InputError(f"{path}: the item {judgement.item} is not in the study {study.path}")
    known = {annotator.name for annotator in study.annotators}
    fresh = list(dict.fromkeys(e.rater for e in imported.judgements if e.rater not in known))
    if fresh:
        study.add_annotators(fresh)
    with study.writing() as db:
        taken = sum(_take(db, judgement) for judgement in imported.judgements)
    notes = [*imported.notes]
    left = len(imported.judgements) - taken
    if left:
        notes.append(
            f"{counted(left, 'answer')} left out, of items that the annotator has answered in "
            "the study already"
        )
    return taken, tuple(notes)


def _take(db: sqlite3.Connection, judgement: PairJudgement) -> bool:
    """Put a judgement into the file; False where its annotator has answered the item."""
    (annotator,) = db.execute(
        "SELECT annotator FROM annotators WHERE name = ?", (judgement.rater,)
    ).fetchone()
    (item,) = db.execute("SELECT item FROM items WHERE id = ?", (judgement.item,)).fetchone()
    row = db.execute(
        "SELECT shown, answered FROM shown WHERE annotator = ? AND item = ?", (annotator, item)
    ).fetchone()
    if row is not None and row["answered"]:
        return False
    if row is None:
        (place,) = db.execute(
            "SELECT COALESCE(MAX(place), 0) + 1 FROM shown WHERE annotator = ?", (annotator,)
        ).fetchone()
        shown = db.execute(
            "INSERT INTO shown (annotator, item, place, first, opened, served, answered)"
            " VALUES (?, ?, ?, ?, NULL, 0, 1)",
            (annotator, item, place, judgement.first),
        ).lastrowid
    else:
        shown = row["shown"]
        db.execute(
            "UPDATE shown SET first = ?, answered = 1, opened = NULL WHERE shown = ?",
            (judgement.first, shown),
        )
    time = judgement.time or datetime.now(UTC).isoformat(timespec="seconds")
    db.execute(
        "INSERT INTO answers VALUES (?, 0, ?, ?, ?)",
        (shown, json.dumps(dict(judgement.answers)), judgement.seconds, time),
    )
    return True


def _listed(names: object) -> str:
    return ", ".join(sorted(map(repr, names)))  # type: ignore[call-overload]
