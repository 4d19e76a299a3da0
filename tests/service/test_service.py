"""Addresses, keys and waits of services, without a request."""

import base64
import json
import pickle
import random
import time

import pytest

from calipers.embedders.service.endpoint import EMBEDDINGS
from calipers.errors import InputError
from calipers.service import address as addresses
from calipers.service.address import Address, Key, find_key, variables
from calipers.service.client import RetryPolicy, TransientError, retry_after
from calipers.service.refusal import one_line, server_message, status_line
from calipers.service.side_by_side import as_they_arrive

SECRET = "sk-proj-0123456789-abcdefghijklm"
OPENAI = "https://api.openai.com/v1"


def read_address(text):
    return addresses.read_address(text, EMBEDDINGS)


def read_name(name, endpoint):
    return addresses.read_name(name, endpoint, EMBEDDINGS)


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
    assert (address.url("embeddings"), address.shown) == (url, shown)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("localhost:8000/v1", "must begin with http:// or https:// and a host; found 'localhost:8"),
        ("", "found ''"),
        ("ftp://h/v1", "found 'ftp://h/v1'"),
        ("https:///v1", "found 'https:///v1'"),
        ("https://h:99999/v1", "'h:99999' is not a host with a port: Port out of range"),
        ("https://h:x/v1", "'h:x' is not a host with a port"),
        ("https://[::1/v1", "is not an address: Invalid IPv6 URL"),
        ("https://h ost/v1", "'h ost' is not a host"),
        ("https://api.openai.com\\.evil.com/v1", "is not a host"),
        (
            "https://a..b/v1",
            "'a..b' is not a host; parts of letters, digits and '-', at most 63 each",
        ),
        (f"https://{'a' * 64}.org/v1", "is not a host; parts of letters"),
        (f"https://{'a.' * 127}bc/v1", "is not a host; parts of letters"),
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
    with pytest.raises(InputError, match=r"model's name .*Unicode"):
        read_name(f"{OPENAI}#m\udcff", None)


def test_a_name_holds_the_address_or_the_model_alone():
    assert read_name(f"{OPENAI}#a/b:c", None) == (read_address(OPENAI), "a/b:c")
    assert read_name("a/b:c", OPENAI) == (read_address(OPENAI), "a/b:c")
    assert read_name("a#b", OPENAI)[1] == "a#b"
    for bare in (OPENAI, f"{OPENAI}#", f"{OPENAI}# "):
        with pytest.raises(InputError, match=r"api\.openai\.com/v1: .*'#'"):
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
    assert key.scrub("x" * 200_000) == "x" * 4096  # no message shows more


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


def nested_error(levels: int) -> bytes:
    return b'{"error": ' * levels + b'"busy"' + b"}" * levels


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"\\" * 65_536, "\\"),
        (b"<html>" + b"<title>" * 9_000, ""),
        (b"<html>" + b"<title " * 9_000 + b"></title>", ""),
        (b"<html><TITLE lang=en>Busy</Title>" + b"<title>" * 9_000, '"Busy"'),
        (b"<" * 65_536, "<"),
        (b"&amp;" * 13_000, "&amp;"),
        (nested_error(5), '"busy"'),
        (nested_error(300), '{"error"'),
        (nested_error(100_000), '{"error"'),
    ],
    ids=["backslashes", "titles", "open", "title", "tags", "entities", "5", "300", "100,000"],
)
def test_hostile_refusals_are_read_at_once_and_shown_in_part(body, shown):
    line = status_line(503, body, Key(SECRET, "X"))
    assert line.startswith("answered 503 (Service Unavailable)")
    assert shown in line
    assert len(line) < 300


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<html><title>a</title>", "a"),
        ("<html><title >a\nb</TITLE><title>c</title>", "a\nb"),
        ("<html><title", ""),
        ("<html><title>a", ""),
        ("<html></title><title>a", ""),
        ("<html>no title", ""),
    ],
)
def test_the_title_of_a_page(page, title):
    assert server_message(page.encode()) == title


@pytest.mark.parametrize(
    ("text", "bare"),
    [("a<b>c", "ac"), ("<<b>>c", ">c"), ("a<b", "a<b"), ("a>b", "a>b"), ("", ""), ("<a><b>", "")],
)
def test_tags_are_left_out_of_what_may_hide_a_key(text, bare):
    assert addresses._without_tags(text) == bare


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
    cut = TransientError("x", broken_off=True)
    assert policy.allows(7, cut, answered=True, broken=3)
    assert not policy.allows(7, cut, answered=True, broken=4)
    assert not policy.allows(9, cut, answered=True, broken=1)
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
        ("٣", None),
        ("1e9", None),
        ("1.2.3", None),
        ("9" * 400, None),
        ("9" * 100_000, None),
        ("Thu, 01 Jan 1970 00:01:00 +99999999999999", None),
        ("Thu, 01 Jan 1970 00:01:00 -99999999999999", None),
        ("Mon, 01 Jan 9999 00:00:00 -2359", None),
        ("Fri, 01 Jan 2100 00:00:00 GMT", None),
        ("Thu, 01 Jan 0000 00:00:00 GMT", None),
        ("Thu, 99 Foo 20266 25:61:61 GMT", None),
        ("+99999999999999", None),
        ("3600", 3600.0),
    ],
)
def test_the_header_retry_after(header, seconds):
    assert retry_after(header, 3.0) == seconds


def test_a_line_has_no_control_characters_and_an_end():
    assert one_line("a\n\x1b[31mb\t c", 99) == "a [31mb c"
    assert one_line("a" * 50, 10) == "a" * 9 + "…"


# ---------------------------------------------------------------- requests side by side


def arriving(work, ask, *, at_once=4, alone=False):
    left = []
    running = as_they_arrive(
        work,
        lambda piece, stopped: ask(piece),
        at_once=at_once,
        first_alone=alone,
        leave=lambda *pair: left.append(pair),
    )
    return running, left


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_every_piece_comes_with_its_result(at_once, alone):
    running, left = arriving(range(40), lambda piece: piece * piece, at_once=at_once, alone=alone)
    assert sorted(running) == [(piece, piece * piece) for piece in range(40)]
    assert left == []
    assert list(arriving([], int)[0]) == []


@pytest.mark.parametrize("kind", [IndexError, ValueError, MemoryError])
def test_a_failure_comes_after_all_that_arrived(kind):
    def ask(piece):
        if piece == 7:
            raise kind("seven")
        return piece

    running, left = arriving(range(20), ask, at_once=1)
    assert [next(running) for _ in range(7)] == [(piece, piece) for piece in range(7)]
    with pytest.raises(kind, match="seven"):
        next(running)
    assert left == []


def test_the_others_wait_for_the_first():
    busy, most = [], []

    def ask(piece):
        busy.append(piece)
        most.append(len(busy) if piece == 0 else 0)
        time.sleep(0.02)
        busy.remove(piece)
        return piece

    running, _ = arriving(range(12), ask, alone=True)
    assert next(running) == (0, 0)
    assert max(most) == 1
    assert len(list(running)) == 11


def test_what_arrives_after_the_end_is_left():
    asked = []

    def ask(piece):
        asked.append(piece)
        time.sleep(0.05)
        return piece

    running, left = arriving(range(50), ask)
    first = next(running)
    running.close()
    assert sorted([first, *left]) == [(piece, piece) for piece in sorted(asked)]
    assert len(asked) <= 4
