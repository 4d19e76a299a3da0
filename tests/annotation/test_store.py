"""The file of a study: whole or not there, refused where it is none, never believed."""

import os
import sqlite3
import stat
import sys

import pytest
from annotation_helpers import answers, make_items

from calipers.annotation.store import Store, is_local
from calipers.annotation.study import AnnotationStudy
from calipers.errors import InputError
from calipers.judgements.rubric import PAIRS


def test_a_study_is_kept_and_opened_again(study, tmp_path):
    made = study(4, annotators=["ada"], least_seconds=10, seed=7, notes=["one text is empty"])
    with AnnotationStudy.open(made.path) as again:
        assert again.settings == made.settings
        assert again.items() == made.items()
        assert again.annotators == made.annotators
    assert [path.name for path in tmp_path.glob("*.tmp")] == []


def test_texts_come_back_as_they_were(study):
    odd = "nul \0, half \ud800, line\r\nend, \u202eback, 👩‍👩‍👧"
    items = [type(each)(each.a, each.b, odd, each.text_b, odd) for each in make_items(1)]
    made = study(items=items)
    assert made.items() == items


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_only_its_owner_reads_a_study(study):
    assert stat.S_IMODE(os.stat(study().path).st_mode) == 0o600


def test_a_file_that_is_there_is_not_replaced(study, tmp_path):
    made = study()
    with pytest.raises(InputError, match=r"study\.sqlite: .*already"):
        AnnotationStudy.make(made.path, make_items(3), rubric=PAIRS)


def test_nothing_is_left_where_making_fails(tmp_path):
    with pytest.raises(RuntimeError), Store.create(tmp_path / "new.sqlite").writing():
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        AnnotationStudy.make(tmp_path / "none" / "s.sqlite", make_items(3), rubric=PAIRS)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a study made by calipers annotate"),
        (b"a text\n" * 300, ".*file is not a database"),
    ],
)
def test_a_file_that_is_no_study_is_refused_and_kept(tmp_path, content, says):
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"other.sqlite: {says}"):
        AnnotationStudy.open(path)
    assert path.read_bytes() == content


def test_other_places_that_are_no_study(tmp_path):
    with pytest.raises(InputError, match="there is no such study"):
        AnnotationStudy.open(tmp_path / "none.sqlite")
    with pytest.raises(InputError, match=r"file.*folder"):
        AnnotationStudy.open(tmp_path)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE answers (x)")
    with pytest.raises(InputError, match="calipers annotate"):
        AnnotationStudy.open(other)


def changed(path, *statements):
    db = sqlite3.connect(path)
    with db:
        for each in statements:
            db.execute(each)
    db.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("PRAGMA user_version = 9", "version 9, .*version 1"),
        ("CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM shown; END", "other tables"),
        ("DROP INDEX shown_of_item", "other tables"),
        ("DELETE FROM study WHERE name = 'key'", "is damaged: key is None"),
        ("UPDATE study SET value = '{' WHERE name = 'rubric'", "is damaged"),
        ("""UPDATE study SET value = '"x"' WHERE name = 'seed'""", "is damaged: seed is 'x'"),
        ("""UPDATE study SET value = '""' WHERE name = 'overview'""", "its secrets are missing"),
    ],
)
def test_a_study_that_was_changed_is_refused(study, statement, says):
    made = study()
    made.close()
    changed(made.path, statement)
    with pytest.raises(InputError, match=says):
        AnnotationStudy.open(made.path)


def test_items_and_answers_that_were_changed_are_refused(study):
    made = study(annotators=["ada"])
    (ada,) = made.annotators
    place = made.turns.next(ada)
    made.turns.answer(ada, place, answers())
    changed(made.path, """UPDATE answers SET answers = '{"sensible": 9}'""")
    with pytest.raises(InputError, match=r"study\.sqlite: is damaged"):
        made.judgements()
    changed(made.path, """UPDATE items SET content = '{"a": 1}'""")
    with pytest.raises(InputError, match=r"study\.sqlite: is damaged"):
        made.items()
    with pytest.raises(InputError, match=r"study\.sqlite: is damaged"):
        made.turns.turn(ada, place)


def test_a_damaged_file_is_refused(study):
    made = study(300)
    made.close()
    content = bytearray(made.path.read_bytes())
    content[9000:30000] = b"\xff" * 21000
    made.path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        AnnotationStudy.open(made.path)


def test_a_write_ahead_log_on_local_disks_alone(study, tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    there = str(tmp_path.parent).replace(" ", "\\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {there} nfs4 rw 0 0\n")
    assert is_local(tmp_path.parent.parent / "x", mounts)
    assert not is_local(tmp_path / "x", mounts)
    assert not is_local(tmp_path / "x", tmp_path / "none")
    for local, mode in ((True, "wal"), (False, "delete")):
        monkeypatch.setattr("calipers.annotation.store.is_local", lambda path, is_it=local: is_it)
        made = study(name=f"{mode}.sqlite")
        with made.writing() as db:
            assert db.execute("PRAGMA journal_mode").fetchone()[0] == mode
            assert db.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_a_step_that_fails_changes_nothing(study):
    made = study()

    def fail():
        with made.writing() as db:
            db.execute("DELETE FROM items")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert len(made.items()) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved")
def test_nothing_is_written_to_a_study_that_was_taken_away(study, tmp_path):
    made = study()
    (ada, _) = made.annotators
    place = made.turns.next(ada)
    made.path.rename(tmp_path / "moved.sqlite")
    with pytest.raises(InputError, match=r"study\.sqlite: .*moved or deleted"):
        made.turns.answer(ada, place, answers())
    made.path.write_text("another file")
    with pytest.raises(InputError, match="was moved or deleted"):
        made.turns.next(ada)
