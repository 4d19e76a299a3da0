"""An embeddings service that plays every failure, on this machine, and what comes of it."""

import base64
import gzip
import hashlib
import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import tracemalloc
from collections import Counter
from contextlib import closing
from operator import itemgetter

import numpy as np
import pytest

from calipers.embedders import Cache, embed, load_embedder
from calipers.embedders.service import endpoint
from calipers.embedders.service.answer import EmbeddingAnswer, read_answer
from calipers.embedders.service.endpoint import EMBEDDINGS, Endpoint, Requests
from calipers.embedders.service.store import FILE
from calipers.errors import CalipersError, InputError
from calipers.samples import SampleSet
from calipers.service import address, client
from calipers.service.address import Key
from calipers.service.refusal import AnswerError
from extras import need
from services import SECRET, Service, begun, changed, running, says, well

need("httpx")
pytestmark = pytest.mark.usefixtures("no_keys")

WIDTH = 6


def read_address(text):
    return address.read_address(text, EMBEDDINGS)


def vector_of(text, width=WIDTH):
    digest = hashlib.sha256(text.encode()).digest()
    return np.frombuffer(digest[:width], dtype=np.uint8).astype(np.float32) / np.float32(7)


def answer(request, width=WIDTH, model=None):
    data = []
    for index, text in enumerate(request["input"]):
        vector = vector_of(text, request.get("dimensions", width))
        plain = [float(number) for number in vector]
        coded = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        data.append(
            {
                "object": "embedding",
                "index": index,
                "embedding": coded if request.get("encoding_format") == "base64" else plain,
            }
        )
    usage = {"total_tokens": 3 * len(data), "prompt_tokens": 3 * len(data)}
    return {"data": data, "model": model or request["model"], "usage": usage}


@pytest.fixture
def service():
    with running(Service(answer, read=itemgetter("input"))) as service:
        yield service


@pytest.fixture
def make(service, waits, tmp_path):
    def endpoint(folder=tmp_path, key=None, **options):
        options = {"connections": 1, "sleep": waits.append} | options
        made = Endpoint(read_address(service.url), "m", key=key, **options)
        made.keep_in(folder)
        return made

    return endpoint


def rows(batch):
    return batch.views["meaning"]


def expected(texts):
    return np.stack([vector_of(text) for text in texts])


TEXTS = [f"text {number}" for number in range(10)]


def test_vectors_arrive_in_the_order_of_the_texts_whatever_the_batches(make, service):
    for batch_size, connections in ((64, 1), (3, 1), (1, 8)):
        found = make(None, batch_size=batch_size, connections=connections).embed(TEXTS)
        assert rows(found).dtype == np.float32
        np.testing.assert_array_equal(rows(found), expected(TEXTS))
        assert not found.truncated.any()
    assert service.paths == ["/v1/embeddings"] * len(service.paths)
    assert service.requests[0] == {"model": "m", "input": TEXTS, "encoding_format": "base64"}
    assert [len(each["input"]) for each in service.requests[1:5]] == [3, 3, 3, 1]


def test_several_requests_are_under_way_at_a_time(make, service):
    def slow(handler, request):
        time.sleep(0.1)
        well(handler, request)

    service.usual = slow
    found = make(batch_size=1, connections=8).embed(TEXTS)
    assert 4 <= service.most_busy <= 8
    np.testing.assert_array_equal(rows(found), expected(TEXTS))


def test_the_embedder_is_made_from_its_name(service, monkeypatch):
    monkeypatch.setenv("CALIPERS_ENDPOINT_KEY", SECRET)
    named = load_embedder(f"{service.url}#m", size=4, prefix="query: ", batch_size=2)
    apart = load_embedder("m", endpoint=f"{service.url}/embeddings", size=4, prefix="query: ")
    assert named.identity == apart.identity
    assert named.name == "m"
    assert named.views == ("meaning",)
    host = service.url.removeprefix("http://")
    assert named.signature == {
        "embedder": "m",
        "endpoint": host,
        "size": "4",
        "prefix": "query: ",
    }
    found = rows(named.embed(["a", "b", "c"]))
    np.testing.assert_array_equal(found, [vector_of(f"query: {text}", 4) for text in "abc"])
    assert [each["input"] for each in service.requests if len(each["input"]) == 1] == [["query: c"]]
    assert {each["dimensions"] for each in service.requests} == {4}
    assert set(service.keys) == {f"Bearer {SECRET}"}


def test_identities_differ_with_whatever_changes_a_vector(service):
    url = service.url
    lines = [
        load_embedder(f"{url}#m"),
        load_embedder(f"{url}#n"),
        load_embedder(f"{url}/other#m"),
        load_embedder(f"{url}#m", size=3),
        load_embedder(f"{url}#m", prefix="x"),
    ]
    assert len({each.identity for each in lines}) == len(lines)
    assert service.requests == []


def test_repeated_texts_are_asked_for_once_and_empty_ones_as_a_space(make, service):
    texts = ["a", "", "a", "b", "", "a"]
    embedder = make()
    found = embedder.embed(texts)
    assert service.texts == ["a", " ", "b"]
    np.testing.assert_array_equal(rows(found), expected([text or " " for text in texts]))
    told = embedder.told()
    assert told[0].startswith("3 texts were sent to 127.0.0.1:")
    assert told[0].endswith("/v1 (9 tokens)")
    assert told[1] == "2 empty texts were sent as a space"
    assert embedder.told() == ()


def test_no_samples_give_no_rows(make, service):
    assert rows(make().embed([])).shape == (0, 0)
    assert service.requests == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["a", 7], "text 2 must be a string; found int"),
        (["a\ud800"], r"text 1 must be valid Unicode; found '\ud800' at character 2"),
    ],
)
def test_what_is_no_text_is_refused_before_anything_is_sent(make, service, bad, message):
    with pytest.raises(InputError) as caught:
        make().embed(bad)
    assert message in str(caught.value)
    assert service.requests == []


# ---------------------------------------------------------------- troubles that pass


def test_passing_troubles_are_waited_for(make, service, waits):
    service.acts = [says(500, b"oops"), says(500, {}), well]
    found = make().embed(["a"])
    np.testing.assert_array_equal(rows(found), expected(["a"]))
    assert len(service.requests) == 3
    assert 0.5 <= waits[0] <= 1.0
    assert 1.0 <= waits[1] <= 2.0


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_each_passing_status_is_asked_again(make, service, status):
    service.acts = [says(status, {"error": {"message": "later"}})]
    make().embed(["a"])
    assert len(service.requests) == 2


def test_retry_after_is_honoured_in_seconds_and_as_a_date(make, service, waits):
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 90))
    service.acts = [says(429, {}, Retry_After="41"), says(429, {}, Retry_After=date)]
    make().embed(["a"])
    assert waits[0] == 41
    assert 85 < waits[1] <= 90


def test_a_service_that_wants_to_be_left_alone_for_long_ends_the_run(make, service, waits):
    service.acts = [says(429, {"error": "daily limit"}, Retry_After="86400")]
    with pytest.raises(CalipersError) as caught:
        make().embed(["a"])
    assert 'answered 429 (Too Many Requests): "daily limit"' in str(caught.value)
    assert "it asks to wait for 86,400 seconds" in str(caught.value)
    assert waits == []


def test_a_trouble_that_stays_ends_the_run_and_says_so(make, service, waits):
    service.usual = says(429, {"error": {"message": "slow down"}})
    with pytest.raises(CalipersError) as caught:
        make(max_retries=5).embed(["a"])
    assert len(service.requests) == 6
    assert waits == sorted(waits)
    assert "asked 6 times, at last answered 429" in str(caught.value)
    assert "slow down" in str(caught.value)


def test_a_service_that_never_answered_gets_less_policy(make, service):
    service.usual = says(500, b"broken")
    with pytest.raises(CalipersError, match="asked 4 times"):
        make(max_retries=8).embed(["a"])


def test_a_lost_connection_is_asked_again(make, service, waits):
    service.acts = [begun, begun]
    found = make().embed(TEXTS)
    np.testing.assert_array_equal(rows(found), expected(TEXTS))
    assert len(waits) == 2


def test_answers_that_keep_breaking_off_end_the_run_soon(make, service, waits):
    service.acts = [well]
    service.usual = begun
    with pytest.raises(CalipersError) as caught:
        make(batch_size=2).embed(TEXTS)
    assert len(service.requests) == 1 + 4
    assert sum(waits) < 7
    assert "asked 4 times, at last the connection failed: peer closed" in str(caught.value)
    assert "given up after 0 seconds: such a request is made again 3 times at most, and not" in (
        str(caught.value)
    )
    assert "2 of 10 vectors so far are kept" in str(caught.value)


def test_silence_is_a_passing_trouble(make, service):
    def silent(handler, request):
        time.sleep(0.4)

    service.acts = [silent]
    found = make(silence=0.1).embed(["a"])
    np.testing.assert_array_equal(rows(found), expected(["a"]))
    service.usual = silent
    with pytest.raises(CalipersError, match="no answer in time"):
        make(silence=0.05, max_retries=0).embed(["b"])


def test_nobody_at_the_address(waits):
    embedder = Endpoint(read_address("http://127.0.0.1:9/v1"), "m", sleep=waits.append)
    with pytest.raises(CalipersError) as caught:
        embedder.embed(["a"])
    message = str(caught.value)
    assert message.startswith("127.0.0.1:9/v1: asked 4 times, at last the connection failed: ")
    assert "kept" not in message


def test_without_a_cache_folder_it_is_said_that_nothing_is_kept(make, service):
    service.acts = [well, says(401, b"")]
    with pytest.raises(CalipersError) as caught:
        make(None, batch_size=5).embed(TEXTS)
    assert str(caught.value).endswith("No answers are kept, because there is no cache folder")


def test_a_store_that_refuses_is_said_with_the_failure(make, service, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    service.acts = [well, says(401, b"")]
    with pytest.raises(CalipersError, match=r"could not be kept in .*File exists"):
        make(taken, batch_size=5).embed(TEXTS)
    embedder = make(taken)
    np.testing.assert_array_equal(rows(embedder.embed(TEXTS)), expected(TEXTS))
    told = embedder.told()
    assert "could not all be read from or kept in" in told[1]
    assert "(File exists)" in told[1]


# ---------------------------------------------------------------- refusals


def test_redirects_are_not_followed(make, service):
    service.usual = says(307, b"", Location="http://elsewhere.example/v1/embeddings?key=1")
    with pytest.raises(CalipersError) as caught:
        make(key=Key(SECRET, "X")).embed(["a"])
    assert "answered 307 (Temporary Redirect); check the address" in str(caught.value)
    assert len(service.requests) == 1


def test_a_batch_that_is_too_large_is_halved_and_stays_small(make, service):
    def at_most_three(handler, request):
        if len(request["input"]) > 3:
            handler.reply(422, {"message": "batch size 8 > maximum allowed batch size 3"})
        else:
            well(handler, request)

    service.usual = at_most_three
    found = make(batch_size=8).embed([f"t{number}" for number in range(24)])
    assert len(found.truncated) == 24
    sizes = [len(request["input"]) for request in service.requests]
    assert sizes == [8, 4] + [2] * 12
    assert set(service.answered.values()) == {1}


def test_a_text_that_is_too_long_is_named(make, service):
    def short_ones(handler, request):
        if max(map(len, request["input"])) > 100:
            handler.reply(413, {"error": {"message": "input must have less than 100 tokens"}})
        else:
            well(handler, request)

    service.usual = short_ones
    texts = [*TEXTS, "Once upon a time " * 20, "z"]
    with pytest.raises(CalipersError) as caught:
        make().embed(texts)
    message = str(caught.value)
    assert 'answered 413 (Request Entity Too Large): "input must have less' in message
    assert "text 11 of the 12 at hand, of 340 characters, which begins 'Once upon a time" in message
    assert "of 12 vectors so far are kept" in message
    assert service.answered == Counter(list(service.answered))


def test_a_long_batch_is_divided_by_its_characters(make, service):
    make().embed(["a" * 60_000, "b" * 60_000, "c", "d" * 150_000])
    assert [list(map(len, each["input"])) for each in service.requests] == [
        [60_000],
        [60_000, 1],
        [150_000],
    ]


def test_plain_numbers_are_asked_for_where_base64_is_refused(make, service):
    def plain_only(handler, request):
        if "encoding_format" in request:
            handler.reply(400, {"message": "base64 encoding is not currently supported"})
        else:
            well(handler, request)

    service.usual = plain_only
    found = make(batch_size=5).embed(TEXTS)
    np.testing.assert_array_equal(rows(found), expected(TEXTS))
    assert ["encoding_format" in each for each in service.requests] == [True, False, False]


def test_lists_are_taken_though_base64_was_asked_for(make, service):
    service.usual = lambda handler, request: handler.reply(
        200, answer({"input": request["input"], "model": "m"})
    )
    np.testing.assert_array_equal(rows(make().embed(TEXTS)), expected(TEXTS))


# ---------------------------------------------------------------- answers that are none


def with_entry(**change):
    return changed(lambda body: body["data"][1].update(change))


ANSWERED = "the service answered with"
USED_UP = {"error": {"message": "No credit", "code": "insufficient_quota"}}


@pytest.mark.parametrize(
    ("act", "parts"),
    [
        # What a service says, and what to check
        (
            says(401, {"error": {"message": "Bad key"}}),
            ('401 (Unauthorized): "Bad key"', "CALIPERS_END"),
        ),
        (says(403, {"detail": "no"}), ("403 (Forbidden)", "set the environment variable")),
        (says(404, {"message": "no such model"}), ("no such model", "the model's name ('m')")),
        (says(400, {"error": "odd"}), ('400 (Bad Request): "odd"', "the options")),
        (says(422, {"detail": [{"msg": "Field required"}]}), ("Field required", "422")),
        (says(405, b""), ("answered 405 (Method Not Allowed); check the address",)),
        (
            says(501, b"<html><title>Gone fishing</title>"),
            ('501 (Not Implemented): "Gone fishing"',),
        ),
        (says(418, b"x" * 5000), ("x" * 200 + "x" * 39 + "…",)),
        (says(418, b"x" * 500_000), ("x" * 200 + "x" * 39 + "…",)),
        (says(400, b"\x1b[31mred\nline"), ('"[31mred line"',)),
        (says(400, [1, 2]), ('"[1, 2]"',)),
        (says(429, USED_UP), ("No credit",)),  # no passing trouble
        # Answers that are none
        (says(200, b'{"data": ['), (ANSWERED, "malformed JSON, which begins '{\"data\": ['")),
        (says(200, b"\xff\xfe"), (ANSWERED, "malformed JSON")),
        (says(204, b""), (ANSWERED, "malformed JSON")),
        (
            says(200, b"<!DOCTYPE html><title>Log in</title>"),
            (ANSWERED, "a web page (HTML) instead of JSON"),
        ),
        (says(200, b"[" * 100_000), (ANSWERED, "malformed JSON")),
        (says(200, []), (ANSWERED, "JSON without a list 'data'; found no object")),
        (says(200, {}), (ANSWERED, "JSON without a list 'data'; found no keys")),
        (
            says(200, {"embeddings": []}),
            (ANSWERED, "JSON without a list 'data'; found 'embeddings'"),
        ),
        (changed(lambda body: body["data"].pop() and None), (ANSWERED, "2 vectors for 3 texts")),
        (
            changed(lambda body: body["data"].append(body["data"][0])),
            (ANSWERED, "4 vectors for 3 texts"),
        ),
        (
            with_entry(index=0),
            (ANSWERED, "indices that are doubled, missing or out of range; they must be 0"),
        ),
        (with_entry(index=None), (ANSWERED, "indices that are doubled")),
        (with_entry(index="1"), (ANSWERED, "indices that are doubled")),
        (with_entry(index=True), (ANSWERED, "indices that are doubled")),
        (with_entry(index=3), (ANSWERED, "indices that are doubled")),
        (with_entry(embedding=[1.0] * 5), (ANSWERED, "vectors of different sizes, 5 and 6")),
        (with_entry(embedding=[]), (ANSWERED, "an empty vector for text 2")),
        (with_entry(embedding=""), (ANSWERED, "an empty vector for text 2")),
        (
            with_entry(embedding=[1.0, float("nan")]),
            (ANSWERED, "text 2 that holds NaN or infinity"),
        ),
        (with_entry(embedding=[1e39, 1.0]), (ANSWERED, "text 2 that holds NaN or infinity")),
        (with_entry(embedding=[10**400]), (ANSWERED, "text 2 with a number beyond float32")),
        (with_entry(embedding=["1"]), (ANSWERED, "text 2 that is not a list of numbers")),
        (with_entry(embedding=[True]), (ANSWERED, "text 2 that is not a list of numbers")),
        (with_entry(embedding=[[1.0]]), (ANSWERED, "text 2 that is not a list of numbers")),
        (with_entry(embedding=None), (ANSWERED, "text 2 that is not a list of numbers")),
        (with_entry(embedding="%%%"), (ANSWERED, "text 2 that is not base64")),
        (with_entry(embedding="AAAA"), (ANSWERED, "not base64 of float32 numbers")),
        (with_entry(embedding="AADAfw=="), (ANSWERED, "text 2 that holds NaN or infinity")),
        (
            changed(lambda body: body["data"][1].pop("embedding") and None),
            (ANSWERED, "has no 'embedding'"),
        ),
        (changed(lambda body: body["data"].__setitem__(1, 5)), (ANSWERED, "an entry 2 of 'data'")),
    ],
)
def test_what_is_refused_after_one_request(make, service, act, parts):
    service.usual = act
    with pytest.raises(CalipersError) as caught:
        make().embed(["a", "b", "c"])
    assert str(caught.value).startswith("127.0.0.1:")
    for part in parts:
        assert part in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(service.requests) == 1


def test_shuffled_vectors_are_put_in_order_by_their_index(make, service):
    service.usual = changed(lambda body: body["data"].reverse())
    np.testing.assert_array_equal(rows(make().embed(TEXTS)), expected(TEXTS))


def test_vectors_without_index_keep_their_order(make, service):
    service.usual = changed(lambda body: [each.pop("index") for each in body["data"]] and None)
    np.testing.assert_array_equal(rows(make().embed(TEXTS)), expected(TEXTS))


def test_an_endless_answer_is_cut_off(make, service, monkeypatch):
    monkeypatch.setattr("calipers.embedders.service.answer.BYTES_PER_TEXT", 1000)
    service.usual = says(200, b" " * 100_000)
    with pytest.raises(CalipersError, match="answered with more than 1,000 bytes"):
        make().embed(["a"])


def test_an_answer_is_bounded_by_the_texts_that_were_sent(make, service):
    vector = "[" + "0.5," * 900_000 + "0.5]"  # 3.6 MB
    service.usual = says(200, f'{{"data": [{{"embedding": {vector}}}]}}'.encode())
    with pytest.raises(CalipersError, match=r"more than 393,216 bytes .*1 text"):
        make().embed(["a"])
    service.acts = [well, says(200, b'{"data": [' + b" " * 100_000)]
    with pytest.raises(CalipersError, match=r"more than 22,400 bytes .*5 texts"):  # of 6 numbers
        make(batch_size=5).embed(TEXTS)
    assert len(service.requests) == 3


def test_an_answer_that_says_to_be_too_long_is_not_read(make, service):
    def boast(handler, request):
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**10))
        handler.end_headers()
        time.sleep(5)

    service.usual = boast
    with pytest.raises(CalipersError, match=r"393,216 bytes .*10,000,000,000 .*1 t"):
        make(silence=2.0).embed(["a"])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (b"{},", "4,000,001 objects for 9 texts"),
        (b"[],", "4,000,001 lists for 9 texts"),
        (b'{"embedding":[]},', "4,000,001 objects for 9 texts"),
    ],
)
def test_many_small_vectors_are_refused_before_they_are_parsed(part, message):
    body = b'{"data": [' + (part * 4_000_000)[:-1] + b"]}"
    tracemalloc.start()
    with pytest.raises(AnswerError, match=message):
        read_answer(body, 9)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def packed(times, encoding, size=None):
    def act(handler, request):
        body = json.dumps(answer(request)).encode() if size is None else bytes(size)
        for _ in range(times):
            body = gzip.compress(body)
        handler.reply(200, body, Content_Encoding=encoding)

    return act


def test_gzip_is_unpacked_once(make, service):
    service.usual = packed(1, "gzip")
    np.testing.assert_array_equal(rows(make(batch_size=3).embed(TEXTS)), expected(TEXTS))
    for times, encoding in ((2, "gzip, gzip"), (1, "br"), (1, "deflate")):
        service.usual = packed(times, encoding)
        with pytest.raises(CalipersError, match=f"packed as '{encoding}'; gzip"):
            make(folder=None).embed(["new"])
    service.usual = packed(2, "gzip")  # says once, but is twice
    with pytest.raises(CalipersError, match="malformed JSON"):
        make(folder=None).embed(["new"])
    service.usual = says(400, gzip.compress(gzip.compress(b"oops")), Content_Encoding="gzip, gzip")
    with pytest.raises(CalipersError, match=r"answered 400 \(Bad Request\); check"):
        make(folder=None).embed(["new"])


def test_what_gzip_unpacks_is_counted_as_it_comes(make, service):
    make().embed(["warm"])
    service.usual = packed(1, "gzip", size=200_000_000)
    embedder = make()
    tracemalloc.start()
    with pytest.raises(CalipersError, match="more than 393,216 bytes"):
        embedder.embed(["a"])
    # The service of this test holds its packed body, and no more by now
    assert tracemalloc.get_traced_memory()[0] < 20e6
    tracemalloc.stop()
    found = list(client._gunzipped([gzip.compress(bytes(10_000_000))]))
    assert max(map(len, found)) <= 1 << 16
    assert sum(map(len, found)) == 10_000_000


@pytest.mark.parametrize("end", [10, -1])
def test_gzip_that_ends_too_soon_is_asked_for_again(make, service, end):
    service.acts = [
        lambda handler, request: handler.reply(
            200,
            gzip.compress(json.dumps(answer(request)).encode())[:end],
            Content_Encoding="gzip",
        ),
        says(200, b"\x1f\x8bno gzip", Content_Encoding="gzip"),
    ]
    np.testing.assert_array_equal(rows(make().embed(TEXTS)), expected(TEXTS))
    assert len(service.requests) == 3


def test_vectors_must_be_as_long_as_those_before(make, service):
    embedder = make(batch_size=5)
    service.acts = [well, lambda handler, request: handler.reply(200, answer(request, width=4))]
    with pytest.raises(CalipersError) as caught:
        embedder.embed(TEXTS)
    assert "they had 6 numbers at first and have 4 now" in str(caught.value)
    service.acts = [lambda handler, request: handler.reply(200, answer(request, width=4))]
    with pytest.raises(CalipersError, match="must be equally long"):
        make().embed(TEXTS)
    service.acts = [says(200, answer({"input": ["a"], "model": "m"}))]
    with pytest.raises(CalipersError, match=r"size .* 9, .*vectors have 6"):
        make(size=9).embed(["a"])


def test_what_the_service_calls_the_model_is_told(make, service):
    def named(name):
        return lambda handler, request: handler.reply(200, answer(request, model=name))

    embedder = make(batch_size=5)
    service.acts = [named("m-2024"), named("m-2024"), named("m-2025")]
    embedder.embed(TEXTS)
    assert embedder.signature["served"] == "m-2024"
    assert len(embedder.told()) == 1
    again = make()
    again.embed(TEXTS)
    assert again.signature == embedder.signature
    embedder.embed(["more"])
    assert embedder.signature["served"] == "m-2024+m-2025"
    where = service.url.removeprefix("http://")
    assert embedder.told()[1] == (
        f"{where} answered as 'm-2024' and 'm-2025': the vectors may be of different models"
    )


# ---------------------------------------------------------------- nothing is paid for twice


def test_what_was_answered_is_never_asked_for_again(make, service, tmp_path):
    first = make(batch_size=3).embed(TEXTS)
    embedder = make()
    again = embedder.embed(TEXTS[::-1])
    assert service.answered == Counter(TEXTS)
    np.testing.assert_array_equal(rows(again), rows(first)[::-1])
    assert embedder.told() == ()
    embedder.embed([*TEXTS[:4], "new"])
    assert service.texts.count("new") == 1
    assert embedder.told()[0].endswith("(3 tokens); 4 vectors were kept from before")


@pytest.mark.parametrize("connections", [1, 4])
def test_a_failure_half_way_costs_nothing_that_was_answered(make, service, connections):
    service.acts = [well] * 5 + [says(401, {"error": {"message": "revoked"}})] * 99
    texts = [f"t{number}" for number in range(40)]
    with pytest.raises(CalipersError) as caught:
        make(batch_size=2, connections=connections).embed(texts)
    message = str(caught.value)
    assert "revoked" in message
    assert "The same command continues from here: 10 of 40 vectors so far are kept in " in message
    assert len(service.requests) <= 5 + connections
    service.acts = []
    found = make(batch_size=2, connections=connections).embed(texts)
    np.testing.assert_array_equal(rows(found), expected(texts))
    assert service.answered == Counter(texts)


def test_every_answer_is_on_disk_before_the_next_is_asked_for(make, service, tmp_path):
    kept = []

    def act(handler, request):
        with sqlite3.connect(f"file:{tmp_path / FILE}?mode=ro", uri=True) as connection:
            kept.append(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        well(handler, request)

    service.acts = [well]
    service.usual = act
    make(batch_size=2).embed(TEXTS)
    assert kept == [2, 4, 6, 8]


@pytest.mark.slow
def test_a_run_that_is_killed_loses_only_what_is_under_way(service, tmp_path):
    release, reached = threading.Event(), threading.Event()

    def act(handler, request):
        if sum(service.answered.values()) >= 30:
            reached.set()
            release.wait(20)
        else:
            well(handler, request)

    service.usual = act
    (tmp_path / "a.txt").write_text("".join(f"text {number}\n" for number in range(200)))
    job = [sys.executable, "-m", "calipers", "embed", str(tmp_path / "a.txt"), "-o"]
    job += [str(tmp_path / "a.npy"), "--cache-dir", str(tmp_path), "--batch-size", "2"]
    with subprocess.Popen([*job, "--embedder", f"{service.url}#m"], env=os.environ) as process:
        assert reached.wait(60)
        deadline = time.monotonic() + 20
        while stored(tmp_path) < sum(service.answered.values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    answered = set(service.answered)
    assert stored(tmp_path) == len(answered) >= 30
    release.set()
    service.usual = well
    service.requests.clear()
    assert subprocess.run([*job, "--embedder", f"{service.url}#m"], env=os.environ).returncode == 0
    assert len(service.texts) == 200 - len(answered)
    assert not answered & set(service.texts)


def stored(folder):
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_answered_and_what_is_under_way(make, service, tmp_path):
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from calipers.embedders import Cache, embed, load_embedder\n"
        "from calipers.samples import SampleSet\n"
        "texts = [f't{number}' for number in range(60)]\n"
        "try:\n"
        "    embed(SampleSet.from_texts(texts, name='x'), load_embedder(sys.argv[1],"
        " batch_size=2), cache=Cache(sys.argv[2]))\n"
        "except KeyboardInterrupt as error:\n"
        "    print(error)\n"
    )

    def slow(handler, request):
        time.sleep(0.15)
        well(handler, request)

    service.usual = slow
    job = subprocess.Popen(
        [sys.executable, "-c", code, f"{service.url}#m", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 20
    while len(service.answered) < 6 and time.monotonic() < until:
        time.sleep(0.01)
    job.send_signal(2)
    printed, _ = job.communicate(timeout=20)
    paid = len(service.answered)
    assert 6 <= paid < 60
    assert f"{paid} of 60 vectors so far are kept in {tmp_path}" in printed
    service.usual = well
    make().embed([f"t{number}" for number in range(60)])
    assert set(service.answered.values()) == {1}
    assert len(service.answered) == 60


@pytest.mark.slow
def test_ctrl_c_twice_ends_a_wait_for_a_silent_service(make, service):
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from calipers.embedders import load_embedder\n"
        "try:\n"
        "    load_embedder(sys.argv[1], batch_size=2).embed(['a', 'b', 'c'])\n"
        "except KeyboardInterrupt as error:\n"
        "    print(error)\n"
    )
    silent = threading.Event()
    service.usual = lambda handler, request: silent.wait(60)
    job = subprocess.Popen(
        [sys.executable, "-c", code, f"{service.url}#m"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until = time.monotonic() + 20
    while len(service.requests) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    job.send_signal(2)
    time.sleep(0.3)
    assert job.poll() is None
    begun = time.monotonic()
    job.send_signal(2)
    printed, _ = job.communicate(timeout=20)
    silent.set()
    assert (job.returncode, printed) == (0, "stopped\n")
    assert time.monotonic() - begun < 5


@pytest.fixture
def interruptible():
    """Let an interrupt be heard where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_stopped_run_waits_for_a_silent_service_only_so_long(monkeypatch):
    monkeypatch.setattr(endpoint, "GRACE", 0.2)
    asked, free, stopped = threading.Event(), threading.Event(), threading.Event()

    def ask(texts):
        asked.set()
        free.wait(30)
        return EmbeddingAnswer(np.zeros((len(texts), 1), np.float32))

    def interrupt():
        asked.wait(20)
        os.kill(os.getpid(), signal.SIGINT)

    requests = Requests(ask, at_once=1, texts=1, characters=9, stopped=stopped)
    accepted = []
    threading.Thread(target=interrupt, daemon=True).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        requests.fetch(["a", "b", "c"], lambda texts, answer: accepted.extend(texts))
    assert time.monotonic() - begun < 10
    stopped.clear()  # as the next run does
    free.set()
    time.sleep(0.2)
    assert accepted == ["a"]  # what was under way, and nothing after it


@pytest.mark.slow
def test_two_processes_share_what_is_kept(service, make, tmp_path):
    code = (
        "import sys, numpy\n"
        "from calipers.embedders import load_embedder\n"
        "embedder = load_embedder(sys.argv[1], batch_size=1)\n"
        "embedder.keep_in(sys.argv[2])\n"
        "for first in range(0, 60, 20):\n"
        "    embedder.embed([f't{number}' for number in range(first, first + 20)])\n"
        "print(embedder.told())\n"
    )
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", code, f"{service.url}#m", str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    for job in jobs:
        printed, _ = job.communicate(timeout=30)
        assert job.returncode == 0, printed
        assert "could not" not in printed
    assert len(service.answered) == 60
    before = service.answered.copy()
    texts = [f"t{number}" for number in range(60)]
    np.testing.assert_array_equal(rows(make().embed(texts)), expected(texts))
    assert service.answered == before


def test_other_choices_do_not_find_each_others_vectors(make, service):
    make().embed(["a"])
    make(size=3).embed(["a"])
    make(prefix="q: ").embed(["a"])
    assert service.texts == ["a", "a", "q: a"]
    make(prefix="q: ").embed(["a"])
    assert len(service.texts) == 3


def test_on_the_whole_road_another_choice_of_samples_costs_only_what_is_new(service, tmp_path):
    texts = [f"text {number}" for number in range(1500)]
    load = lambda: load_embedder(f"{service.url}#m")  # noqa: E731
    part = SampleSet.from_texts(texts[:700], name="part")
    embed(part, load(), cache=Cache(tmp_path))
    whole = embed(SampleSet.from_texts(texts, name="all"), load(), cache=Cache(tmp_path))
    np.testing.assert_array_equal(whole.views["meaning"], expected(texts))
    assert service.answered == Counter(texts)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [
        "paid-vectors-1.sqlite3"
    ]
    assert "800 texts were sent to" in whole.notes[0]


# ---------------------------------------------------------------- the key


def test_the_key_stays_between_us_and_the_service(make, service, tmp_path, caplog, capsys):
    key = Key(SECRET, "CALIPERS_ENDPOINT_KEY")
    caplog.set_level(logging.DEBUG)
    echo = f"key {SECRET} is wrong, and so is {SECRET[:14]}… and …{SECRET[-9:]}"
    seen = []
    for act in (
        says(401, {"error": {"message": echo}}),
        says(500, echo.encode()),
        says(413, {"message": echo}),
        says(200, echo.encode()),
        says(200, {echo: 1}),
        begun,
        says(307, echo.encode()),
    ):
        service.usual = act
        embedder = make(key=key, max_retries=1)
        with pytest.raises(CalipersError) as caught:
            embedder.embed(["a"])
        printed = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        printed.stack = traceback.StackSummary.from_list(printed.stack[1:])  # not this function
        seen += [str(caught.value), "".join(printed.format()), repr(embedder), embedder.identity]
    service.usual = lambda handler, request: handler.reply(200, answer(request, model=SECRET))
    embedder = make(key=key)
    embedder.embed(["a"])
    seen += [str(embedder.signature), str(embedder.told()), repr(key), str(vars(embedder))]
    seen += [caplog.text, *capsys.readouterr()]
    seen += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(seen) > 30
    for text in seen:
        for part in (SECRET, SECRET[:14], SECRET[-9:]):
            assert part not in text
    assert set(service.keys) == {f"Bearer {SECRET}"}


def test_a_proxy_never_sees_what_stays_on_this_machine(make, service, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    np.testing.assert_array_equal(rows(make(max_retries=0).embed(["a"])), expected(["a"]))


def test_a_proxy_that_cannot_be_is_said(monkeypatch):
    monkeypatch.setenv("all_proxy", "gopher://127.0.0.1:9")
    with pytest.raises(InputError, match="proxy"):
        Endpoint(read_address("https://example.com/v1"), "m")


def test_offline_a_service_of_this_machine_alone_is_asked(service):
    service_here = load_embedder(f"{service.url}#m", offline=True)
    np.testing.assert_array_equal(rows(service_here.embed(["a"])), expected(["a"]))
    with pytest.raises(InputError, match="h/v1: offline"):
        load_embedder("https://h/v1#m", offline=True)


@pytest.mark.slow
def test_importing_the_embedder_loads_no_http_client():
    code = "import sys, calipers.embedders.service.endpoint; print('httpx' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "False"
