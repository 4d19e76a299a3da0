"""Addresses, keys, waits, batches and kept vectors of an embeddings endpoint, without a request."""

import base64
import hashlib
import json
import os
import pickle
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embed.service import store as store_module
from calipers.embed.service.address import (
    Address,
    Key,
    find_key,
    read_address,
    read_name,
    variables,
)
from calipers.embed.service.answer import one_line, status_line
from calipers.embed.service.client import RetryPolicy, TransientError, retry_after
from calipers.embed.service.endpoint import batched
from calipers.embed.service.store import FILE, StoredVector, VectorStore
from calipers.errors import InputError

SECRET = "sk-proj-0123456789-abcdefghijklm"
OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("given_as", "url", "shown"),
    [
        (OPENAI, f"{OPENAI}/embeddings", "api.openai.com/v1"),
        (f"{OPENAI}/", f"{OPENAI}/embeddings", "api.openai.com/v1"),
        (f"{OPENAI}/embeddings/", f"{OPENAI}/embeddings", "api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com:443/v1", f"{OPENAI}/embeddings", "api.openai.com/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1/embeddings", "localhost:11434/v1"),
        ("http://h/", "http://h/v1/embeddings", "h/v1"),
        ("http://h/embeddings", "http://h/embeddings", "h"),
        ("http://[::1]:80/v1", "http://[::1]/v1/embeddings", "[::1]/v1"),
        ("http://h/a/b//", "http://h/a/b/embeddings", "h/a/b"),
        (
            "https://h/v1?api-version=2024-02-01",
            "https://h/v1/embeddings?api-version=2024-02-01",
            "h/v1",
        ),
    ],
)
def test_addresses_are_read_as_people_write_them(given_as, url, shown):
    address = read_address(given_as)
    assert (address.url, address.shown) == (url, shown)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("localhost:8000/v1", "must begin with http:// or https:// and a host; found 'localhost:8"),
        ("", "found ''"),
        ("ftp://h/v1", "found 'ftp://h/v1'"),
        ("https:///v1", "found 'https:///v1'"),
        ("https://h:99999/v1", "'h:99999' is no host with a port: Port out of range"),
        ("https://h:x/v1", "'h:x' is no host with a port"),
        ("https://[::1/v1", "is no address: Invalid IPv6 URL"),
        ("https://h ost/v1", "'h ost' is no host"),
        ("https://api.openai.com\\.evil.com/v1", "is no host"),
        ("https://a..b/v1", "'a..b' is no host; parts of letters, digits and '-', at most 63 each"),
        (f"https://{'a' * 64}.org/v1", "is no host; parts of letters"),
        (f"https://{'a.' * 127}bc/v1", "is no host; parts of letters"),
        ("https://h/v 1", "'/v 1' cannot be the path"),
        (f"https://me:{SECRET}@h/v1", "may hold no user name and no password; put the key into"),
        (f"https://{SECRET}@h/v1", "may hold no user name"),
        (f"https://evil.com\\@api.openai.com/{SECRET}", "may hold no user name"),
        (f"https://h/v1?key={SECRET}", "h/v1: the address of an embeddings service may hold no qu"),
        (f"me:{SECRET}@h/v1", "must begin with http"),
        (f"h/v1?key={SECRET}", "must begin with http"),
    ],
)
def test_addresses_that_cannot_be_are_refused_without_their_credentials(bad, message):
    with pytest.raises(InputError) as caught:
        read_address(bad)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_model_typed_in_another_encoding_is_refused():
    with pytest.raises(InputError, match="the model's name must be valid Unicode; found"):
        read_name(f"{OPENAI}#m\udcff", None)


def test_a_name_holds_the_address_or_the_model_alone():
    assert read_name(f"{OPENAI}#a/b:c", None) == (read_address(OPENAI), "a/b:c")
    assert read_name("a/b:c", OPENAI) == (read_address(OPENAI), "a/b:c")
    assert read_name("a#b", OPENAI)[1] == "a#b"
    for bare in (OPENAI, f"{OPENAI}#", f"{OPENAI}# "):
        with pytest.raises(InputError, match=r"api\.openai\.com/v1: name the model behind a '#'"):
            read_name(bare, None)
    with pytest.raises(InputError, match="given twice"):
        read_name(f"{OPENAI}#m", OPENAI)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("notlocalhost", False),
        ("10.0.0.1", False),
        ("localhost.evil.com", False),
    ],
)
def test_what_is_on_this_machine(host, local):
    assert Address("http", host, None, "/v1").local is local


def test_each_key_goes_where_it_belongs():
    both = {"CALIPERS_ENDPOINT_KEY": "mine", "OPENAI_API_KEY": SECRET}
    openai, other = read_address(OPENAI), read_address("https://other.com/v1")
    assert find_key(openai, both).variable == "CALIPERS_ENDPOINT_KEY"
    assert find_key(openai, {"OPENAI_API_KEY": f" {SECRET}\n"}).variable == "OPENAI_API_KEY"
    assert find_key(other, both).variable == "CALIPERS_ENDPOINT_KEY"
    assert find_key(other, {"CALIPERS_ENDPOINT_KEY": " "}) is None


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.com/v1",
        "https://api-openai.com/v1",
        "http://localhost:8000/v1",
    ],
)
def test_the_key_of_openai_goes_to_openai_alone(elsewhere):
    address = read_address(elsewhere)
    assert variables(address) == ("CALIPERS_ENDPOINT_KEY",)
    assert find_key(address, {"OPENAI_API_KEY": SECRET}) is None


def test_a_key_does_not_cross_a_network_unencrypted():
    key = {"CALIPERS_ENDPOINT_KEY": SECRET}
    with pytest.raises(InputError) as caught:
        find_key(read_address("http://10.0.0.5:8000/v1"), key)
    assert "10.0.0.5:8000/v1: the key in CALIPERS_ENDPOINT_KEY would cross" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert find_key(read_address("http://10.0.0.5:8000/v1"), {}) is None
    assert find_key(read_address("http://127.0.0.1:8000/v1"), key) is not None


@pytest.mark.parametrize("odd", ["a\nb", "a b", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(odd):
    with pytest.raises(InputError) as caught:
        find_key(read_address(OPENAI), {"OPENAI_API_KEY": odd})
    assert "the key in OPENAI_API_KEY holds" in str(caught.value)
    assert odd not in str(caught.value)


def test_a_key_is_never_shown_nor_written():
    key = Key(SECRET, "X")
    assert repr(key) == str(key) == "<the key in X>"
    assert SECRET not in f"{key} {key!r} {[key]}"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    assert key.scrub(f"a {SECRET}, b") == "a ***, b"
    assert key.scrub(f"Bearer {SECRET[:12]}xxx.") == "Bearer ***"
    assert key.scrub(f"…{SECRET[-8:]}!") == "***!"
    assert key.scrub("nothing here") == "nothing here"
    assert Key("abc", "X").scrub("abcd") == "***d"
    assert len(key.scrub("x" * 200_000)) == 200_000


CODES = SECRET.encode()
SPELLINGS = {
    "as it is": SECRET,
    "upper case": SECRET.upper(),
    "wide letters": "".join(chr(ord(sign) + 0xFEE0) for sign in SECRET),
    "spaces": " ".join(SECRET),
    "dashes": "-".join(SECRET),
    "lines": "\n".join(SECRET),
    "zero width": "\u200b".join(SECRET),
    "tags": "".join(f"<b>{sign}</b>" for sign in SECRET),
    "backwards": SECRET[::-1],
    "a part": SECRET[9:17],
    "its end": SECRET[-8:],
    "JSON lines": json.dumps("\n".join(SECRET)),
    "JSON list": json.dumps(list(SECRET)),
    "JSON escapes": "".join(f"\\u{code:04x}" for code in CODES),
    "JSON escapes twice": json.dumps("".join(f"\\u{code:04x}" for code in CODES)),
    "HTML": "".join(f"&#{code};" for code in CODES),
    "address": "".join(f"%{code:02X}" for code in CODES),
    "address twice": "".join(f"%25{code:02X}" for code in CODES),
    "base64": base64.b64encode(CODES).decode(),
    "base64 one on": base64.b64encode(b"x" + CODES).decode(),
    "base64 two on": base64.urlsafe_b64encode(b"xy" + CODES).decode(),
    "base64 upper case": base64.b64encode(SECRET.upper().encode()).decode(),
    "base64 in lines": "\n".join(base64.encodebytes(CODES).decode()),
    "base64 of a part": base64.b64encode(CODES[6:18]).decode(),
    "base64 twice": base64.b64encode(base64.b64encode(CODES)).decode(),
    "base32": base64.b32encode(CODES).decode(),
    "hex": CODES.hex(),
    "hex of a part": CODES[9:19].hex(),
    "hex with colons": CODES.hex(":").upper(),
    "hex escapes": "".join(f"\\x{code:02x}" for code in CODES),
    "hex numbers": ", ".join(map(hex, CODES)),
    "numbers": str(list(CODES)),
    "base64 of hex": base64.b64encode(CODES.hex().encode()).decode(),
}


@pytest.mark.parametrize("around", ["{}", "Bad key: {} is wrong.", 'ab{}", "x": 1}}'])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_body_that_shows_the_key_in_any_spelling_is_withheld(spelling, around):
    body = around.replace("{}", SPELLINGS[spelling]).encode()
    line = status_line(401, body, Key(SECRET, "X"))
    assert line == (
        "answered 401 (Unauthorized); what it said is withheld, since it resembles the key"
    )


@pytest.mark.parametrize(
    "body",
    [
        "no such model",
        "Incorrect API key provided: sk-p****. Find yours at https://platform.example/keys.",
        '{"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}',
        "request req_4d3a91b2f8e04d3a91b2f8e04d3a91b2, try again in 20 s",
        base64.b64encode(random.Random(0).randbytes(40_000)).decode(),
    ],
)
def test_other_bodies_are_shown(body):
    assert "withheld" not in status_line(400, body.encode(), Key(SECRET, "X"))


def test_short_keys_are_withheld_as_a_whole():
    assert Key("EMPTY", "X").resembles("the input is empty")
    assert not Key("EMPTY", "X").resembles("the input is empt")
    assert Key("!!!", "X").resembles("oh!!!")
    assert not Key("!!!", "X").resembles("oh!")


def test_waits_double_with_a_spread_and_have_a_longest():
    policy = RetryPolicy(8, random.Random(0))
    for attempt, longest in enumerate((1, 2, 4, 8, 16, 32, 60, 60), start=1):
        assert longest / 2 <= policy.wait(attempt, None) <= longest
    assert policy.wait(1, 30.0) == 30.0
    assert policy.wait(9, 0.1) >= 30.0
    one, two = (RetryPolicy(8, random.Random(1)) for _ in range(2))
    assert [one.wait(n, None) for n in (1, 2, 3)] == [two.wait(n, None) for n in (1, 2, 3)]


def test_policy_lasts_as_long_as_it_is_likely_to_help():
    policy = RetryPolicy(8, random.Random(0))
    broken, busy = TransientError("x", status=500), TransientError("x", status=429)
    lost = TransientError("x")

    def lasts(trouble, answered):
        return sum(policy.allows(n, trouble, answered=answered) for n in range(1, 20))

    assert lasts(broken, True) == lasts(busy, True) == lasts(busy, False) == lasts(lost, True) == 8
    assert lasts(broken, False) == lasts(lost, False) == 3
    assert lasts(TransientError("x", broken_off=True), True) == 3
    assert policy.allows(1, lost, answered=True, seconds=600.0)
    assert not policy.allows(1, lost, answered=True, seconds=600.1)
    assert policy.allows(1, TransientError("x", after=5.0), answered=True, seconds=700.0)
    assert lasts(TransientError("x", after=601.0, status=429), True) == 0
    assert lasts(TransientError("x", after=600.0, status=429), True) == 8


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("0", 0.0),
        (" 2.5 ", 2.5),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 7.0),
        ("Thu, 01 Jan 1970 01:00:10 +0100", 7.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("Thu, 41 Jan 1970 00:00:01 GMT", None),
        ("²", None),
    ],
)
def test_the_header_retry_after(header, seconds):
    assert retry_after(header, 3.0) == seconds


@given(
    st.lists(st.text(max_size=30), max_size=40),
    st.integers(1, 9),
    st.integers(min_value=1, max_value=50),
)
def test_batches_hold_all_texts_in_order_within_their_bounds(texts, most, characters):
    batches = list(batched(texts, most=most, characters=characters))
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 1 <= len(batch) <= most
        assert len(batch) == 1 or sum(map(len, batch)) <= characters


def test_a_line_has_no_control_characters_and_an_end():
    assert one_line("a\n\x1b[31mb\t c", 99) == "a [31mb c"
    assert one_line("a" * 50, 10) == "a" * 9 + "…"


# ---------------------------------------------------------------- the database of paid vectors

connect = sqlite3.connect


def key_of(number):
    return hashlib.sha256(str(number).encode()).digest()


def made(numbers, width=5, model="m"):
    return {
        key_of(number): StoredVector(
            np.full(width, number, dtype=np.float32) / np.float32(3), model
        )
        for number in numbers
    }


def same(found, expected):
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key].vector, expected[key].vector)
        and found[key].model == expected[key].model
        for key in expected
    )


@pytest.fixture
def store(tmp_path):
    return VectorStore(tmp_path)


def fill(store, rows=400, width=64):
    """Keep enough rows for many pages."""
    for first in range(0, rows, 40):
        assert store.keep(made(range(first, first + 40), width))


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_was_kept_is_found_and_nothing_else(store, tmp_path):
    assert store.find([key_of(1)]) == {}
    assert not store.path.exists()
    rows = made(range(1200), model="größer")
    assert store.keep(rows)
    assert same(store.find([*rows, key_of("other")]), rows)
    again = VectorStore(tmp_path).find(list(rows))
    assert same(again, rows)
    assert all(
        paid.vector.dtype == np.float32 and paid.vector.flags.owndata for paid in again.values()
    )
    assert store.notes() == ()
    assert files(tmp_path) == [FILE]


def test_a_vector_that_is_kept_again_replaces_the_first(store):
    store.keep(made([1], width=3))
    store.keep(made([1], width=4))
    assert same(store.find([key_of(1)]), made([1], width=4))


def test_the_folder_is_made(tmp_path):
    store = VectorStore(tmp_path / "deep" / "er")
    assert store.keep(made([1]))
    assert same(store.find([key_of(1)]), made([1]))


@pytest.mark.slow
def test_threads_and_processes_may_write_at_once(store, tmp_path):
    code = (
        "import sys, hashlib, numpy as np\n"
        "from pathlib import Path\n"
        "from calipers.embed.service.store import StoredVector, VectorStore\n"
        "store = VectorStore(Path(sys.argv[1]))\n"
        "for number in range(int(sys.argv[2]), int(sys.argv[2]) + 60):\n"
        "    key = hashlib.sha256(str(number).encode()).digest()\n"
        "    vector = np.full(5, number, np.float32) / np.float32(3)\n"
        "    assert store.keep({key: StoredVector(vector, 'm')})\n"
        "assert store.notes() == (), store.notes()\n"
    )
    jobs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(start)])
        for start in (0, 30)
    ]
    with ThreadPoolExecutor(8) as pool:
        kept = pool.map(lambda number: store.keep(made([number])), range(90, 150))
        assert all(kept)
    assert [job.wait(30) for job in jobs] == [0, 0]
    assert same(store.find(list(made(range(150)))), made(range(150)))


def corrupt(path, start, size):
    content = bytearray(path.read_bytes())
    content[start : start + size] = os.urandom(len(content[start : start + size]))
    path.write_bytes(content)


def test_a_changed_vector_is_not_believed(store):
    store.keep(made([1, 2]))
    connection = connect(store.path)
    with connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(20) WHERE key = ?", (key_of(1),))
    connection.close()
    assert same(store.find([key_of(1), key_of(2)]), made([2]))
    assert store.notes() == (f"1 damaged vector in {store.path}, asked for again",)
    store.keep(made([1]))
    assert same(store.find([key_of(1), key_of(2)]), made([1, 2]))
    assert store.notes() == ()


@pytest.mark.parametrize(
    "change", ["model = 'x'", "width = 4", "crc = 'one'", "vector = 7", "vector = x''", "crc = 0"]
)
def test_every_part_of_a_row_is_checked(store, change):
    store.keep(made([1]))
    connection = connect(store.path)
    with connection:
        connection.execute(f"UPDATE vectors SET {change}")
    connection.close()
    assert store.find([key_of(1)]) == {}
    assert "1 damaged vector" in store.notes()[0]


def test_rows_that_were_swapped_are_not_believed(store):
    store.keep(made([1, 2]))
    connection = connect(store.path)
    with connection:
        connection.execute("UPDATE vectors SET key = x'00' WHERE key = ?", (key_of(1),))
        connection.execute("UPDATE vectors SET key = ? WHERE key = ?", (key_of(1), key_of(2)))
    connection.close()
    assert store.find([key_of(1), key_of(2)]) == {}


@pytest.mark.parametrize(
    "content", [b"no database at all " * 50, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_file_that_is_no_database_is_set_aside(store, tmp_path, content):
    store.path.write_bytes(content)
    assert store.find([key_of(1)]) == {}
    (note,) = store.notes()
    assert note.startswith(f"{store.path} was damaged and is now paid-vectors-1.damaged-")
    assert note.endswith(".sqlite3; 0 vectors were read from it")
    assert store.keep(made([1]))
    assert same(store.find([key_of(1)]), made([1]))
    aside = [name for name in files(tmp_path) if "damaged" in name]
    assert len(aside) == 1
    assert (tmp_path / aside[0]).read_bytes() == content


def test_what_can_still_be_read_of_a_damaged_database_is_carried_over(store, tmp_path):
    fill(store)
    size = store.path.stat().st_size
    corrupt(store.path, size // 2, 8192)
    keys = list(made(range(400)))
    found = store.find(keys)
    note = store.notes()[0]
    assert "was damaged and is now paid-vectors-1.damaged-" in note
    assert 100 < len(found) < 400
    assert same(found, {key: made(range(400), 64)[key] for key in found})
    assert same(VectorStore(tmp_path).find(keys), found)
    assert store.keep(made(range(400), 64))
    assert len(store.find(keys)) == 400
    assert store.notes() == ()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_a_database_that_was_cut_short_is_set_aside(store, tmp_path, share):
    fill(store)
    content = store.path.read_bytes()
    store.path.write_bytes(content[: int(len(content) * share)])
    keys = list(made(range(400)))
    found = store.find(keys)
    assert same(found, {key: made(range(400), 64)[key] for key in found})
    assert store.keep(made(range(400), 64))
    assert len(store.find(keys)) == 400
    assert len([name for name in files(tmp_path) if "damaged" in name]) == 1


def test_an_empty_file_is_an_empty_database(store):
    store.path.touch()
    assert store.find([key_of(1)]) == {}
    assert store.keep(made([1]))
    assert store.notes() == ()


def test_a_full_disk_is_noted_and_leaves_what_is_there(store, monkeypatch):
    rows = made(range(8), 500)
    assert store.keep(rows)

    def small(*given, **options):
        connection = connect(*given, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(store_module.sqlite3, "connect", small)
    assert not store.keep(made(range(100, 400), 500))
    assert store.notes() == (
        f"vectors could not all be read from or kept in {store.path} (database or disk is full)",
    )
    monkeypatch.undo()
    assert same(store.find(list(made(range(400)))), rows)


def test_a_read_only_database_is_still_read(store, monkeypatch):
    store.keep(made([1]))

    def reading(path, **options):
        return connect(f"{path.as_uri()}?mode=ro", uri=True, **options)

    monkeypatch.setattr(store_module.sqlite3, "connect", reading)
    assert same(store.find([key_of(1)]), made([1]))
    assert store.notes() == ()
    assert not store.keep(made([2]))
    assert "attempt to write a readonly database" in store.notes()[0]


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write")
def test_a_read_only_folder_is_still_read(store, tmp_path):
    store.keep(made([1]))
    store.path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert same(store.find([key_of(1)]), made([1]))
        assert not store.keep(made([2]))
        assert "could not all be read from or kept in" in store.notes()[0]
    finally:
        tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_noted(tmp_path):
    taken = tmp_path / "cache"
    taken.write_text("a file")
    store = VectorStore(taken)
    assert store.find([key_of(1)]) == {}
    assert not store.keep(made([1]))
    assert "kept in" in (note := store.notes()[0])
    assert "(File exists)" in note


def test_a_database_that_others_hold_is_noted_after_a_while(store, monkeypatch):
    store.keep(made([1]))
    monkeypatch.setattr(store_module, "TIMEOUT", 0.05)
    monkeypatch.setattr(store_module, "TIMEOUT_AGAIN", 0.01)
    store = VectorStore(store.path.parent)
    other = connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert not store.keep(made([2]))
    assert "database is locked" in store.notes()[0]
    other.execute("ROLLBACK")
    other.close()
    assert store.keep(made([2]))


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_whole_rows(store, tmp_path):
    code = (
        "import sys, os, hashlib, numpy as np\n"
        "from pathlib import Path\n"
        "from calipers.embed.service.store import StoredVector, VectorStore\n"
        "store = VectorStore(Path(sys.argv[1]))\n"
        "for number in range(100000):\n"
        "    key = hashlib.sha256(str(number).encode()).digest()\n"
        "    vector = np.full(5, number, np.float32) / np.float32(3)\n"
        "    store.keep({key: StoredVector(vector, 'm')})\n"
        "    print(number, flush=True)\n"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    for _ in range(20):
        last = int(job.stdout.readline())
    job.kill()
    job.wait()
    assert same(store.find(list(made(range(last + 1)))), made(range(last + 1)))
    assert store.notes() == ()
