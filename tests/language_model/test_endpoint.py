"""A server of language models that plays every failure, on this machine, and what comes of it."""

import contextlib
import csv
import gzip
import hashlib
import json
import logging
import math
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

import numpy as np
import pytest

from calipers.embedders.options import EmbedderOptions
from calipers.errors import CalipersError, InputError
from calipers.language_model import completions
from calipers.language_model.decoding import Decoding
from calipers.language_model.endpoint import SERVERS, ServedModel, load_endpoint
from calipers.language_model.model import Passage, Request
from calipers.language_model.models import find_language_model
from calipers.service import side_by_side
from calipers.service.address import Key, read_address
from calipers.service.client import RequestLimitError
from extras import need
from services import SECRET, Service, begun, changed, running, says, well

need("httpx")
pytestmark = pytest.mark.usefixtures("no_keys")

SAMPLE = Decoding.parse("ancestral")


def text_of(prompt, seed):
    return " " + hashlib.sha256(f"{prompt}|{seed}".encode()).hexdigest()[:12]


def prompt_of(request):
    if "messages" in request:
        return request["messages"][-1]["content"]
    return request["prompt"]


def answer(request, **choice):
    text = text_of(prompt_of(request), request.get("seed"))
    chat = "messages" in request
    content = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    return {
        "id": "x",
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", **content, **choice}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    }


def with_choice(**choice):
    return lambda handler, request: handler.reply(200, answer(request, **choice))


def hang_up(handler, request):
    handler.close_connection = True


def cut_short(handler, request):
    """Give half of an answer as if it were whole."""
    content = json.dumps(answer(request)).encode()
    handler.reply(200, content[: len(content) // 2])


@pytest.fixture
def server():
    with running(Service(answer, read=lambda request: [prompt_of(request)])) as server:
        yield server


@pytest.fixture
def make(server, waits):
    def model(**options):
        options = {"at_once": 1, "sleep": waits.append} | options
        return ServedModel(read_address(server.url, SERVERS), "m", **options)

    return model


def prompts(count):
    return [Request(id=number, prompt=f"prompt {number}") for number in range(count)]


def write(model, requests, decoding=SAMPLE, max_tokens=16, seed=0, **options):
    return list(model.generate(requests, decoding, max_tokens=max_tokens, seed=seed, **options))


def failure(model, requests, **options):
    """Give what was written before a run failed, and the failure."""
    written = []
    running = model.generate(requests, SAMPLE, max_tokens=16, seed=0, **options)
    with pytest.raises(CalipersError) as caught:
        written.extend(running)
    assert "\n" not in str(caught.value)
    return written, caught.value


# ---------------------------------------------------------------- what is sent, and what is read


def test_each_prompt_is_one_request_with_every_parameter(make, server):
    model, steps = make(), []
    written = write(model, prompts(3), advance=steps.append)
    assert server.paths == ["/v1/completions"] * 3
    assert server.requests[0] == {
        "model": "m",
        "prompt": "prompt 0",
        "max_tokens": 16,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "samplers": ["temperature"],
        "seed": completions.seed_of(0, 0),
        "n": 1,
    }
    for completion, request in zip(written, server.requests, strict=True):
        assert completion.text == text_of(request["prompt"], request["seed"])
        assert completion.finish_reason == "stop"
        assert (completion.tokens, completion.prompt_tokens) == (7, 5)
        assert completion.details == {"request_seed": request["seed"]}
    assert [completion.id for completion in written] == [0, 1, 2]
    assert steps == [1, 1, 1]
    usage = model.usage
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (3, 15, 21)
    assert model.told() == (
        f"3 requests to {server.where}: 15 tokens read, 21 written, as the server counts",
    )


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("greedy", {"temperature": 0.0, "top_p": 1.0, "top_k": -1, "samplers": ["temperature"]}),
        ("temperature=0.7", {"temperature": 0.7, "top_p": 1.0}),
        ("top_p=0.9", {"top_p": 0.9, "samplers": ["temperature", "top_p"]}),
        ("top_k=40", {"top_k": 40, "min_p": 0.0, "samplers": ["temperature", "top_k"]}),
        (
            "temperature=0.5,top_k=40,min_p=0.1",
            {"top_k": 40, "min_p": 0.1, "samplers": ["temperature", "top_k", "min_p"]},
        ),
        ("typical=0.9", {"typical_p": 0.9, "samplers": ["temperature", "typ_p"]}),
        (
            "repetition_penalty=1.2",
            {
                "repetition_penalty": 1.2,
                "repeat_penalty": 1.2,
                "repeat_last_n": -1,
                "samplers": ["penalties", "temperature"],
            },
        ),
    ],
)
def test_decodings_are_sent_in_the_words_of_servers(make, server, written, sent):
    model = make()
    decoding = Decoding.parse(written)
    write(model, prompts(1), decoding)
    assert server.requests[0] | sent == server.requests[0]
    assert model.parameters(decoding, 16) | sent == model.parameters(decoding, 16)
    assert "typical_p" not in server.requests[0] or written.startswith("typical")


@pytest.mark.parametrize("written", ["ancestral", "top_p=0.5", "top_k=7", "repetition_penalty=1.1"])
def test_a_server_that_takes_openai_s_parameters_alone_is_asked_for_these(make, server, written):
    plain = {"model", "prompt", "max_tokens", "temperature", "top_p", "seed", "n"}
    decoding = Decoding.parse(written)
    named = {name for name, _ in decoding.parameters}

    def strict(handler, request):
        odd = sorted(set(request) - plain - named)
        if odd:
            words = f"Unrecognized request argument supplied: {odd[0]}"
            handler.reply(400, {"error": {"message": words}})
        else:
            well(handler, request)

    server.usual = strict
    model = make(at_once=4)
    assert len(write(model, prompts(9), decoding)) == 9
    assert len(server.requests) == 10  # the first was asked alone, and twice
    assert set(server.answered.values()) == {1}
    assert model.told()[-1] == (
        f"{server.where} does not take top_k, min_p and repetition_penalty; its own defaults apply"
    )
    assert set(model.parameters(decoding, 5)) == (plain | named) - {"model", "prompt", "seed", "n"}


def test_the_server_of_transformers_is_told_by_its_own_field(make, server):
    known = {"model", "prompt", "max_tokens", "temperature", "top_p", "seed", "n"}

    def strict(handler, request):
        odd = set(request) - known - {"generation_config"}
        if odd:
            handler.reply(422, {"detail": f"Unexpected fields in the request: {odd}"})
        else:
            well(handler, request)

    server.usual = strict
    model = make(at_once=4)
    assert len(write(model, prompts(5), Decoding.parse("temperature=0.5,top_k=7"))) == 5
    assert len(server.requests) == 6
    last = server.requests[-1]
    assert (last["temperature"], last["top_p"]) == (0.5, 1.0)
    config = json.loads(last["generation_config"])
    assert (config["do_sample"], config["top_k"], config["min_p"]) == (True, 7, 0.0)
    write(model, prompts(1), Decoding.parse("greedy"))
    assert json.loads(server.requests[-1]["generation_config"])["do_sample"] is False
    assert len(model.told()) == 1


def test_a_parameter_that_is_written_and_refused_ends_the_run(make, server):
    words = {"error": {"message": "top_k: extra inputs are not permitted"}}
    server.usual = says(422, words)
    with pytest.raises(CalipersError) as caught:
        write(make(), prompts(3), Decoding.parse("top_k=4"))
    assert "top_k: extra inputs are not permitted" in str(caught.value)
    assert len(server.requests) == 2


def test_the_limit_is_called_as_the_server_wants_it(make, server):
    def newer(handler, request):
        if "max_tokens" in request:
            words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            handler.reply(400, {"error": {"message": f"Unsupported parameter: {words}"}})
        else:
            well(handler, request)

    server.usual = newer
    assert len(write(make(), prompts(4))) == 4
    assert len(server.requests) == 5
    assert server.requests[-1]["max_completion_tokens"] == 16
    assert "top_k" in server.requests[-1]


def test_conversations_in_the_chat_form(make, server):
    talk = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})
    asked = [Request(0, messages=talk), Request(1, "Once upon", messages=talk)]
    written = write(make(chat=True), asked)
    assert server.paths == ["/v1/chat/completions"] * 2
    plain, continued = server.requests
    assert plain["messages"] == list(talk)
    assert "continue_final_message" not in plain
    assert continued["messages"] == [*talk, {"role": "assistant", "content": "Once upon"}]
    assert continued["continue_final_message"] is True
    assert continued["add_generation_prompt"] is False
    assert written[1].text == text_of("Once upon", continued["seed"])
    assert make(chat=True).signature["form"] == "chat"


def test_seeds_hold_whatever_else_is_asked(make, server):
    few = [Request(5, "a"), Request(2, "b")]
    many = [*prompts(2), *few]
    first = {each.id: each.text for each in write(make(), few, seed=3)}
    again = {each.id: each.text for each in write(make(at_once=4), many[::-1], seed=3)}
    assert first.items() <= again.items()
    assert {each.id: each.text for each in write(make(), few, seed=4)} != first
    seeds = {completions.seed_of(3, number) for number in range(2000)}
    assert len(seeds) == 2000
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_what_is_said_of_reproducing(make, server):
    assert make().reproducible == (
        f"{server.where} decides how a text is drawn: a seed is sent with each "
        "request, but only the server knows whether it honours it"
    )


@pytest.mark.parametrize(
    ("choice", "text", "reason"),
    [
        ({"finish_reason": "length"}, None, "length"),
        ({"finish_reason": None}, None, "unknown"),
        ({"finish_reason": 7}, None, "unknown"),
        ({"finish_reason": "content_filter", "text": ""}, "", "content_filter"),
        ({"finish_reason": "content_filter", "text": None}, "", "content_filter"),
        ({"text": ""}, "", "stop"),
        ({"text": "größer \u2028\x00"}, "größer \u2028\x00", "stop"),
        ({"text": "half \ud83d, whole \ud83d\ude00"}, "half \ufffd, whole 😀", "stop"),
    ],
)
def test_texts_are_kept_as_they_ended(make, server, choice, text, reason):
    server.usual = with_choice(**choice)
    (completion,) = write(make(), prompts(1))
    assert completion.finish_reason == reason
    assert text is None or completion.text == text


@pytest.mark.parametrize(
    ("message", "reason", "details"),
    [
        ({"content": None, "refusal": "I cannot"}, "stop", {"refusal": "I cannot"}),
        ({"content": None}, "content_filter", {}),
        ({"content": None, "reasoning_content": "hm"}, "length", {}),
    ],
)
def test_refusals_of_a_chat_model_are_empty_texts(make, server, message, reason, details):
    server.usual = with_choice(message=message, finish_reason=reason)
    (completion,) = write(
        make(chat=True), [Request(0, messages=({"role": "user", "content": ""},))]
    )
    assert (completion.text, completion.finish_reason) == ("", reason)
    assert details.items() <= completion.details.items()


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        {"prompt_tokens": -1, "completion_tokens": "7"},
        {"prompt_tokens": True},
        {"prompt_tokens": 10**400, "completion_tokens": 10**400},
        {"prompt_tokens": 1.5, "completion_tokens": [7]},
    ],
)
def test_counts_that_are_missing_are_unknown(make, server, usage):
    server.usual = changed(lambda body: body.update(usage=usage))
    model = make()
    (completion,) = write(model, prompts(1))
    assert (completion.tokens, completion.prompt_tokens) == (None, None)
    assert model.usage.uncounted == 1
    assert model.told()[0].endswith("(1 answers told no counts)")


def test_what_the_server_calls_the_model_is_recorded(make, server):
    server.acts = [
        changed(lambda body: body.update(model="m-2024", system_fingerprint="fp_1")),
        changed(lambda body: body.update(model="m-2025")),
    ]
    model = make()
    before = model.signature
    written = write(model, prompts(2))
    assert written[0].details["served"] == "m-2024"
    assert written[0].details["system_fingerprint"] == "fp_1"
    assert model.served == ("m-2024", "m-2025")
    assert model.revision == ""
    assert model.signature == before
    assert before == {"model": "m", "endpoint": server.where, "form": "completions"}
    assert "the texts may be of different models" in model.told()[-1]


def test_packed_answers_are_unpacked(make, server):
    server.usual = lambda handler, request: handler.reply(
        200, gzip.compress(json.dumps(answer(request)).encode()), Content_Encoding="gzip"
    )
    assert len(write(make(), prompts(2))) == 2


def test_an_answer_far_too_long_ends_the_run(make, server):
    server.usual = with_choice(text="x" * 2_000_000)
    _, error = failure(make(), prompts(1))
    assert "more than 1,056,768 bytes" in str(error)
    assert "to 1 prompt, which cannot be the texts that were asked for" in str(error)
    assert len(server.requests) == 1


def test_nothing_to_write_asks_nothing(make, server):
    assert write(make(), []) == []
    assert server.requests == []


# ---------------------------------------------------------------- side by side


def test_requests_are_under_way_side_by_side_after_the_first(make, server):
    def slow(handler, request):
        time.sleep(0.1)
        well(handler, request)

    server.usual = slow
    model = make(at_once=8)
    assert len(write(model, prompts(17))) == 17
    assert 4 <= server.most_busy <= 8
    server.requests.clear()
    assert len(write(model, prompts(16))) == 16


def test_texts_are_given_as_they_arrive(make, server):
    def act(handler, request):
        time.sleep(0.4 if request["prompt"] == "prompt 1" else 0.01)
        well(handler, request)

    server.usual = act
    written = write(make(at_once=4), prompts(8))
    assert (written[0].id, written[-1].id) == (0, 1)


def test_a_generator_that_is_closed_stops_asking(make, server):
    def slow(handler, request):
        time.sleep(0.05)
        well(handler, request)

    server.usual = slow
    model = make(at_once=3)
    running = model.generate(prompts(100), SAMPLE, max_tokens=4, seed=0)
    assert server.requests == []
    taken = [next(running) for _ in range(4)]
    running.close()
    asked = len(server.requests)
    assert asked <= 4 + 3
    time.sleep(0.2)
    assert len(server.requests) == asked
    received = [f"prompt {completion.id}" for completion in (*taken, *model.unclaimed)]
    assert Counter(received) == server.answered
    assert len(received) == asked


def test_no_more_is_asked_than_is_taken_soon(make, server):
    running = make(at_once=2).generate(prompts(100), SAMPLE, max_tokens=4, seed=0)
    next(running)
    time.sleep(0.3)
    assert len(server.requests) <= 2
    assert len(list(running)) == 99
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_run_ends_at_the_most_requests(make, server, at_once):
    model = make(at_once=at_once, max_requests=10)
    written, error = failure(model, prompts(50))
    assert isinstance(error, RequestLimitError)
    assert str(error) == (
        f"{server.where}: 10 requests were made, as many as `max_requests=10` allows; "
        "10 of 50 texts were written"
    )
    assert len(written) == len(server.requests) == model.usage.requests == 10
    written, error = failure(model, prompts(2))
    assert "0 of 2 texts were written" in str(error)
    assert len(server.requests) == 10


def test_requests_that_are_made_again_count(make, server):
    server.acts = [well, says(500, b"")]
    model = make(max_requests=5)
    assert len(write(model, prompts(4))) == 4
    assert model.usage.requests == 5


def test_a_failure_half_way_gives_all_that_was_answered(make, server):
    def act(handler, request):
        if request["prompt"] == "prompt 20":
            handler.reply(401, {"error": {"message": "revoked"}})
        else:
            time.sleep(0.02)
            well(handler, request)

    server.usual = act
    written, error = failure(make(at_once=4), prompts(100))
    assert Counter(f"prompt {each.id}" for each in written) == server.answered
    assert f"; {len(written)} of 100 texts were written" in str(error)
    assert 17 <= len(written) <= 24


# ---------------------------------------------------------------- troubles that pass


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_each_passing_status_is_asked_again(make, server, waits, status):
    server.acts = [says(status, {"error": {"message": "later"}})]
    assert len(write(make(), prompts(2))) == 2
    assert len(server.requests) == 3
    assert 0.5 <= waits[0] <= 1.0


@pytest.mark.parametrize(
    "act",
    [
        begun,
        hang_up,
        cut_short,
        says(200, b"{"),
        says(200, b""),
        says(200, b"[]"),
        says(200, {"oops": 1}),
        says(200, {"error": {"message": "upstream"}}),
        says(200, {"choices": []}),
        says(200, {"choices": [1]}),
        says(200, {"choices": {"text": "x"}}),
        says(200, b"\x1f\x8bno gzip", Content_Encoding="gzip"),
        with_choice(text=None),
        with_choice(text=7),
        changed(lambda body: body.update(choices=body["choices"] * 2)),
    ],
)
def test_an_answer_that_is_none_is_asked_for_again(make, server, act):
    server.acts = [act, act]
    written = write(make(), prompts(2))
    assert [completion.id for completion in written] == [0, 1]
    assert server.texts == ["prompt 0"] * 3 + ["prompt 1"]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (cut_short, 'at last answered with malformed JSON, which begins \'{"id": "x"'),
        (says(200, {"oops": 1}), "at last answered with JSON without a list 'choices'; found 'oo"),
        (says(200, {"choices": []}), "at last answered with 0 choices for 1 prompt"),
        (says(200, {"error": {"message": "up"}}), "an error in place of choices: 'up'"),
        (with_choice(text=None), "at last answered with a choice whose text is null"),
        (changed(lambda body: body.update(choices=body["choices"] * 3)), "3 choices for 1 prompt"),
        (says(200, b"[]"), "JSON that is not an object"),
        (begun, "at last the connection failed: peer closed"),
    ],
)
def test_an_answer_that_is_never_one_ends_the_run(make, server, waits, act, words):
    server.acts = [well]
    server.usual = act
    written, error = failure(make(), prompts(3))
    assert len(written) == 1
    assert f"{server.where}: asked 6 times, " in str(error)
    assert words in str(error)
    assert str(error).endswith("; 1 of 3 texts were written")
    assert len(server.requests) == 1 + 6
    assert len(waits) == 5


def test_a_web_page_ends_the_run_at_once(make, server):
    server.usual = says(200, b"<!doctype html><title>Welcome</title>")
    _, error = failure(make(), prompts(3))
    assert "a web page (HTML) instead of JSON; the address must be that of the API" in str(error)
    assert len(server.requests) == 1


def test_retry_after_is_honoured_in_seconds_and_as_a_date(make, server, waits):
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 90))
    server.acts = [
        says(429, {}, Retry_After="41"),
        says(503, {}, Retry_After=date),
        says(429, {}, Retry_After="soon"),
    ]
    write(make(), prompts(1))
    assert waits[0] == 41
    assert 85 < waits[1] <= 90
    assert waits[2] <= 4
    server.usual = says(429, {"error": "daily limit"}, Retry_After="86400")
    _, error = failure(make(), prompts(1))
    assert "it asks to wait for 86,400 seconds" in str(error)


@pytest.mark.parametrize(
    "header",
    [
        "Thu, 01 Jan 1970 00:01:00 +99999999999999",
        "9" * 400,
        "-5",
        "1e9",
        "Fri, 01 Jan 9998 0:0:0 GMT",
    ],
)
def test_an_odd_retry_after_ends_no_run(make, server, waits, header):
    server.acts = [says(429, {}, Retry_After=header)]
    assert len(write(make(), prompts(1))) == 1
    assert len(waits) == 1
    assert waits[0] <= 1


def test_a_trouble_that_stays_ends_the_run_and_says_so(make, server, waits):
    server.usual = says(429, {"error": {"message": "slow down"}})
    _, error = failure(make(), prompts(3))
    assert 'asked 9 times, at last answered 429 (Too Many Requests): "slow down"' in str(error)
    assert len(server.requests) == 9
    assert max(waits) > 30


def test_a_used_up_credit_is_no_passing_trouble(make, server):
    server.usual = says(429, {"error": {"code": "insufficient_quota", "message": "no credit"}})
    _, error = failure(make(), prompts(3))
    assert "no credit" in str(error)
    assert len(server.requests) == 1


def test_silence_is_a_passing_trouble(make, server):
    server.acts = [lambda handler, request: time.sleep(0.5)]
    assert len(write(make(silence=0.1), prompts(1))) == 1
    assert len(server.requests) == 2


def test_nobody_at_the_address(waits):
    model = ServedModel(read_address("http://127.0.0.1:9/v1", SERVERS), "m", sleep=waits.append)
    _, error = failure(model, prompts(3))
    assert str(error).startswith("127.0.0.1:9/v1: asked 4 times, at last the connection failed: ")


FAULTS = (
    says(429, {}),
    says(429, {}, Retry_After="1"),
    says(429, {}, Retry_After="Thu, 01 Jan 1970 00:00:10 GMT"),
    says(500, b"oops"),
    says(503, b"<html>busy</html>"),
    begun,
    hang_up,
    cut_short,
    says(200, b"nonsense"),
    says(200, {"choices": []}),
    with_choice(text=None),
)


def faulty(share, seed=0, delay=0.02):
    rng, lock = random.Random(seed), threading.Lock()

    def act(handler, request):
        with lock:
            trouble, fault, pause = rng.random() < share, rng.choice(FAULTS), rng.random() * delay
        time.sleep(pause)
        (fault if trouble else well)(handler, request)

    return act


@pytest.mark.slow
def test_under_fifty_requests_and_random_faults_nothing_is_lost_nor_asked_twice(make, server):
    server.usual = faulty(0.25, delay=0.15)
    model = make(at_once=50, sleep=lambda seconds: time.sleep(0.001))
    wanted = prompts(600)
    written = write(model, wanted)
    assert sorted(completion.id for completion in written) == list(range(600))
    for completion in written:
        seed = completions.seed_of(0, completion.id)
        assert completion.text == text_of(f"prompt {completion.id}", seed)
    assert server.answered == Counter(request.prompt for request in wanted)
    assert 20 <= server.most_busy <= 50
    usage = model.usage
    assert usage.requests == len(server.requests) > 700
    assert usage.completion_tokens == 600 * 7


@pytest.mark.slow
def test_a_run_that_ends_again_and_again_asks_for_nothing_twice(make, server):
    """Runs that a bound stops, each going on with what is left, as a journal has it."""
    server.usual = faulty(0.2, seed=1, delay=0.002)
    left = {request.id: request for request in prompts(300)}
    runs = 0
    while left:
        model = make(at_once=20, sleep=lambda seconds: time.sleep(0.001), max_requests=40)
        runs += 1
        with contextlib.suppress(RequestLimitError):
            for done in model.generate(list(left.values()), SAMPLE, max_tokens=4, seed=0):
                assert done.text == text_of(f"prompt {done.id}", completions.seed_of(0, done.id))
                del left[done.id]
    assert 300 / 40 <= runs < 20
    assert set(server.answered.values()) == {1}
    assert len(server.answered) == 300


# ---------------------------------------------------------------- refusals


def test_redirects_are_not_followed(make, server):
    server.usual = says(307, b"", Location="http://elsewhere.example/v1/completions?key=1")
    _, error = failure(make(key=Key(SECRET, "X")), prompts(2))
    assert "answered 307 (Temporary Redirect); check the address" in str(error)
    assert len(server.requests) == 1


def test_a_missing_key_is_named(make, server):
    server.usual = says(401, {"error": {"message": "no key"}})
    _, error = failure(make(), prompts(2))
    assert str(error) == (
        f'{server.where} answered 401 (Unauthorized): "no key"; set the environment variable '
        "CALIPERS_ENDPOINT_KEY to the key; 0 of 2 texts were written"
    )
    assert len(server.requests) == 1


def test_an_unknown_model_is_named(make, server):
    server.usual = says(404, {"error": {"message": "no such model"}})
    _, error = failure(make(), prompts(2))
    assert 'answered 404 (Not Found): "no such model"' in str(error)
    assert "the model's name ('m')" in str(error)


def test_a_prompt_that_is_too_long_is_named(make, server):
    def short_ones(handler, request):
        if len(request["prompt"]) > 100:
            words = "This model's maximum context length is 32 tokens. You requested 99 tokens"
            handler.reply(400, {"error": {"message": words}})
        else:
            well(handler, request)

    server.usual = short_ones
    written, error = failure(make(), [*prompts(3), Request(17, "Once upon a time " * 20)])
    assert len(written) == 3
    assert "maximum context length is 32 tokens" in str(error)
    assert "it is the prompt of sample 17, of 340 characters, which begins 'Once upon a" in str(
        error
    )
    assert len(server.requests) == 4


# ---------------------------------------------------------------- what is refused unasked


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("beam=4", "cannot decode by beam=4; it takes greedy or temperature, top_p, top_k, min_p"),
        ("contrastive=0.6,top_k=4", "cannot decode by contrastive=0.6"),
        ("adversarial", "cannot decode by adversarial"),
        ("epsilon=0.01", "cannot decode by epsilon=0.01"),
        ("eta=0.01", "cannot decode by eta=0.01"),
        ("top_h=0.4", "cannot decode by top_h=0.4"),
        ("greedy,no_repeat_ngram=3", "cannot decode by no_repeat_ngram=3"),
        ("top_p=0.9,top_k=40", "applies top_p and top_k in an order of its own"),
        ("top_k=40,top_p=0.9", "found 'top_k=40,top_p=0.9', write one of them"),
        ("typical=0.9,min_p=0.1", "applies typical and min_p in an order of its own"),
    ],
)
def test_what_a_server_cannot_do_is_refused_before_it_is_asked(make, server, written, words):
    with pytest.raises(InputError) as caught:
        make().generate(prompts(2), Decoding.parse(written), max_tokens=4, seed=0)
    assert words in str(caught.value)
    assert server.requests == []


def test_openai_takes_temperature_and_top_p_alone():
    model = load_endpoint("https://api.openai.com/v1#gpt", EmbedderOptions(), chat=True)
    talk = ({"role": "user", "content": "u"},)
    with pytest.raises(InputError) as caught:
        model.generate([Request(0, messages=talk)], Decoding.parse("top_k=4"), max_tokens=4, seed=0)
    assert str(caught.value) == (
        "api.openai.com/v1: this server cannot decode by top_k=4; it takes greedy or temperature "
        "or top_p"
    )
    with pytest.raises(InputError, match="continue a reply"):
        model.generate([Request(0, "Once", talk)], SAMPLE, max_tokens=4, seed=0)
    assert model.parameters(SAMPLE, 4) == {"max_tokens": 4, "temperature": 1.0, "top_p": 1.0}


@pytest.mark.parametrize(
    ("request_", "chat", "words"),
    [
        (Request(3, "a"), True, "the chat form needs messages, and sample 3 has none"),
        (Request(3, messages=()), True, "the chat form needs messages, and sample 3 has none"),
        (
            Request(3, messages=({"role": "user", "content": "u"},)),
            False,
            "the completions form continues a prompt, and sample 3 is a conversation",
        ),
        (Request(3, "a\ud800"), False, "the prompt of sample 3 must be valid Unicode"),
        (
            Request(3, messages=({"role": "user", "content": "\ud800"},)),
            True,
            "a message of sample 3 must be valid Unicode",
        ),
    ],
)
def test_requests_of_the_other_form_are_refused_before_anything_is_sent(
    make, server, request_, chat, words
):
    with pytest.raises(InputError) as caught:
        make(chat=chat).generate([request_], SAMPLE, max_tokens=4, seed=0)
    assert words in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("ftp://h/v1#m", {}, "a server of language models must begin with http:// or https:// and"),
        ("ftp://h/v1#m", {}, "and a host; found 'ftp://h/v1'"),
        ("https://h/v1", {}, "h/v1: name the model behind a '#', as in https://api.openai.com/v1#"),
        ("m", {"endpoint": "h:80"}, "must begin with http:// or https:// and a host; found 'h:80'"),
        (
            "https://h#m",
            {"endpoint": "https://g"},
            "is given twice, in the model's name and as the",
        ),
        (f"https://me:{SECRET}@h/v1#m", {}, "may hold no user name and no password; put the key"),
        ("https://h/v1#m", {"offline": True}, "offline asks no service beyond this machine; leave"),
        ("https://h/v1#m", {"batch_size": 51}, "at most 50 requests at a time (batch_size); found"),
        ("https://h/v1#m", {"revision": "main"}, "no revision can be chosen; leave it out (found"),
    ],
)
def test_what_is_no_server_is_refused(name, options, words):
    with pytest.raises(InputError) as caught:
        find_language_model(name, EmbedderOptions(**options))
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bound_must_be_one():
    for bad in (0, -1, True, 1.5):
        with pytest.raises(InputError, match=r"max_requests .*at least 1"):
            load_endpoint("https://h#m", EmbedderOptions(), max_requests=bad)
    with pytest.raises(InputError, match=r"max_tokens .*at least 1"):
        load_endpoint("https://h#m", EmbedderOptions()).generate([], SAMPLE, max_tokens=0, seed=0)


def test_a_key_does_not_cross_a_network_unencrypted(monkeypatch):
    monkeypatch.setenv("CALIPERS_ENDPOINT_KEY", SECRET)
    with pytest.raises(InputError) as caught:
        load_endpoint("http://10.0.0.5:8000/v1#m", EmbedderOptions())
    assert "the key in CALIPERS_ENDPOINT_KEY would cross the network unencrypted" in str(
        caught.value
    )


@pytest.mark.parametrize("ending", ["", "/", "/completions", "/chat/completions/"])
def test_an_address_may_be_given_in_full(server, ending):
    model = find_language_model("m", EmbedderOptions(endpoint=server.url + ending, offline=True))
    write(model, prompts(1))
    assert server.paths == ["/v1/completions"]
    assert model.name == "m"
    assert model.signature["endpoint"] == server.where


# ---------------------------------------------------------------- log-probabilities


def pieces(text):
    return re.findall(r" ?[^ ]+| +", text)


def log_probability(token):
    return -0.25 * (1 + hashlib.sha256(token.encode()).digest()[0])


def echo(request, *, mark=None, new=(), spell=lambda token: token):
    tokens = [*([mark] if mark else []), *map(spell, pieces(request["prompt"])), *new]
    numbers = [None, *(log_probability(token) for token in tokens[1:])]
    text = request["prompt"] + "".join(new)
    body = answer(request, text=text, logprobs={"tokens": tokens, "token_logprobs": numbers})
    body["usage"] = {"prompt_tokens": len(tokens) - len(new), "completion_tokens": len(new)}
    return body


def echoing(**options):
    return lambda handler, request: handler.reply(200, echo(request, **options))


def one_new_token(handler, request):
    if request.get("max_tokens") == 0:
        handler.reply(400, {"error": {"message": "max_tokens must be at least 1, got 0"}})
    else:
        handler.reply(200, echo(request, new=[" brave"]))


def failing_without_a_new_token(handler, request):
    if request.get("max_tokens") == 0:
        handler.reply(500, b"Internal Server Error")
    else:
        one_new_token(handler, request)


def listing(mark=None):
    def act(handler, request):
        if "echo" in request:
            handler.reply(400, {"error": {"message": "echo is not supported"}})
            return
        tokens = [*([mark] if mark else []), *pieces(request["prompt"])]
        listed = [None] + [
            {
                str(number): {
                    "logprob": log_probability(token),
                    "rank": 3,
                    "decoded_token": token,
                },
            }
            for number, token in enumerate(tokens[1:])
        ]
        handler.reply(200, answer(request, prompt_logprobs=listed))

    return act


TEXTS = ["the cat sat", "a dog", "", "one", "ha ha", "größer 😀 ist"]
WAYS = {
    "echo": echoing(),
    "one new token": one_new_token,
    "failing without a new token": failing_without_a_new_token,
    "prompt_logprobs": listing(),
    "echo with a mark": echoing(mark="<s>"),
    "prompt_logprobs with a mark": listing("<s>"),
    "bytes": echoing(spell=lambda token: token.replace("😀", "\ufffd")),
    "sentence pieces": echoing(spell=lambda token: token.replace(" ", "▁")),
}


@pytest.mark.parametrize("way", WAYS)
def test_log_probabilities_of_texts(make, server, way):
    server.usual = WAYS[way]
    steps = []
    scores = make(at_once=3).score([Passage(text) for text in TEXTS], advance=steps.append)
    assert scores.tokens.tolist() == [2, 1, 0, 0, 1, 2]
    assert sum(steps) == len(TEXTS)
    assert scores.vocabulary == 0
    assert scores.log_probability.dtype == np.float64
    if way not in ("bytes", "sentence pieces"):
        expected = [log_probability(token) for text in TEXTS for token in pieces(text)[1:]]
        np.testing.assert_array_equal(scores.log_probability, expected)
    assert "the cat sat" in server.texts
    assert "" not in server.texts


@pytest.mark.parametrize("way", [way for way in WAYS if way != "sentence pieces"])
def test_log_probabilities_after_a_prompt(make, server, way):
    server.usual = WAYS[way]
    passages = [
        Passage(" sat down", "the cat"),
        Passage("dog", "a "),
        Passage("x"),
        Passage("", "p"),
    ]
    scores = make().score(passages)
    expected = [log_probability(token) for token in (" sat", " down", " dog")]
    np.testing.assert_array_equal(scores.log_probability, expected)
    assert scores.starts.tolist() == [0, 2, 3, 3, 3]
    assert scores.unscored.tolist() == [0, 0, 1, 0]  # "x", which nothing stands before


def test_the_way_that_a_server_answers_is_found_once(make, server):
    server.usual = listing()
    model = make(at_once=4)
    model.score([Passage(f"some text {number}") for number in range(9)])
    assert len(server.requests) == 9 + 2
    assert [request["max_tokens"] for request in server.requests[:3]] == [0, 1, 1]
    model.score([Passage("more text")])
    assert len(server.requests) == 12
    assert server.requests[-1] == {
        "model": "m",
        "prompt": "more text",
        "max_tokens": 1,
        "prompt_logprobs": 0,
        "temperature": 1.0,
        "top_p": 1.0,
        "n": 1,
    }


def test_first_tokens_are_scored_where_a_mark_stands_before_them(make, server):
    server.usual = WAYS["echo with a mark"]
    scores = make().score([Passage("the cat"), Passage("a")], first="bos")
    expected = [log_probability(token) for token in ("the", " cat", "a")]
    np.testing.assert_array_equal(scores.log_probability, expected)
    server.usual = echoing()
    with pytest.raises(InputError) as caught:
        make().score([Passage("the cat")], first="bos")
    assert str(caught.value) == (
        f"{server.where}: this server gives no log-probability of a first token; first='bos' needs "
        "one, first='skip' leaves it out"
    )


def test_what_a_server_cannot_score_is_refused_unasked(make, server):
    with pytest.raises(InputError, match="whole distribution of a token"):
        make().score([Passage("a b")], decoding=Decoding.parse("top_p=0.9"))
    with pytest.raises(InputError, match="first token 'last'"):
        make().score([Passage("a b")], first="last")
    with pytest.raises(InputError, match="text 2 must be valid Unicode"):
        make().score([Passage("a b"), Passage("\ud800")])
    with pytest.raises(InputError, match="token that ends"):
        make().score([Passage("a b", ended=True)])
    assert not make().scores_end
    assert len(make().score([])) == 0
    assert make().score([Passage("")]).starts.tolist() == [0, 0]
    assert server.requests == []


@pytest.mark.parametrize(
    ("act", "asked"),
    [
        (well, 3),
        (with_choice(logprobs=None), 3),
        (with_choice(logprobs={"content": []}), 3),
        (says(400, {"error": {"message": "echo and logprobs cannot be combined"}}), 3),
        (with_choice(logprobs={"tokens": [" x"], "token_logprobs": [-1.0]}), 3),
    ],
)
def test_a_server_that_gives_no_log_probabilities(make, server, act, asked):
    server.usual = act
    model = make()
    with pytest.raises(CalipersError) as caught:
        model.score([Passage("a b"), Passage("c d")])
    assert (
        f"{server.where}: this server gives no log-probabilities of given texts, neither by echo "
        "with logprobs nor by prompt_logprobs"
    ) in str(caught.value)
    assert str(caught.value).endswith("; 0 of 2 texts were scored")
    assert len(server.requests) == asked
    server.usual = echoing()
    assert model.score([Passage("a b")]).tokens.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda given: given["token_logprobs"].pop(),
            "log-probabilities that are not one for each",
        ),
        (
            lambda given: given["token_logprobs"].__setitem__(1, None),
            "no log-probability for token 2",
        ),
        (
            lambda given: given["token_logprobs"].__setitem__(1, 0.5),
            "no log-probability for token 2",
        ),
        (
            lambda given: given["token_logprobs"].__setitem__(1, "x"),
            "no log-probability for token 2",
        ),
        (lambda given: given["token_logprobs"].__setitem__(0, math.nan), "for token 1"),
        (lambda given: given["tokens"].__setitem__(0, 5), "tokens that are not texts"),
        (lambda given: given.pop("tokens"), "log-probabilities that are not one for each token"),
    ],
)
def test_log_probabilities_that_cannot_be_end_the_run(make, server, change, words):
    def act(handler, request):
        body = echo(request)
        change(body["choices"][0]["logprobs"])
        handler.reply(200, body)

    server.acts = [echoing()]
    server.usual = act
    with pytest.raises(CalipersError) as caught:
        make().score([Passage("a b"), Passage("c d e")])
    assert words in str(caught.value)
    assert "1 of 2 texts were scored" in str(caught.value)


def test_a_text_that_is_too_long_to_score_is_named(make, server):
    message = {"error": {"message": "maximum context length is 8 tokens"}}
    server.usual = says(400, message)
    with pytest.raises(CalipersError) as caught:
        make().score([Passage("a b c")])
    assert "it is text 1, of 5 characters, which begins 'a b c'" in str(caught.value)
    assert len(server.requests) == 1


def test_a_prompt_whose_end_cannot_be_seen_is_refused(make, server):
    server.usual = echoing(spell=lambda token: "#" + token)
    assert make().score([Passage("a b c")]).tokens.tolist() == [2]
    with pytest.raises(CalipersError) as caught:
        make().score([Passage("a b"), Passage(" b", "a")])
    assert "the tokens of text 2 do not make up the text" in str(caught.value)


def test_faults_do_not_change_log_probabilities(make, server):
    passages = [Passage(f" text {number}", f"prompt {number}") for number in range(150)]
    server.usual = echoing()
    plain = make(at_once=8).score(passages)
    rng, lock = random.Random(4), threading.Lock()

    def act(handler, request):
        with lock:
            fault = rng.choice([*FAULTS[:-1], echoing(), echoing(), echoing(), *[echoing()] * 20])
        fault(handler, request)

    server.usual = act
    model = make(at_once=50, sleep=lambda seconds: time.sleep(0.001))
    scores = model.score(passages)
    np.testing.assert_array_equal(scores.log_probability, plain.log_probability)
    np.testing.assert_array_equal(scores.starts, plain.starts)


# ---------------------------------------------------------------- the key


@pytest.mark.slow
def test_the_key_stays_between_us_and_the_server(make, server, caplog, capsys):
    key = Key(SECRET, "CALIPERS_ENDPOINT_KEY")
    caplog.set_level(logging.DEBUG)
    words = f"key {SECRET} is wrong, and so is {SECRET[:14]}… and …{SECRET[-9:]}"
    seen = []
    acts = [
        says(401, {"error": {"message": words}}),
        says(500, words.encode()),
        says(413, {"message": words}),
        says(400, {"message": words}),
        says(200, words.encode()),
        says(200, {words: 1}),
        says(200, {"error": {"message": words}}),
        begun,
        says(307, words.encode()),
    ]
    for act in acts:
        server.usual = act
        model = make(key=key, max_retries=1)
        for ask in (
            lambda model=model: write(model, prompts(2)),
            lambda model=model: model.score([Passage("a b")]),
        ):
            with pytest.raises(CalipersError) as caught:
                ask()
            printed = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            printed.stack = traceback.StackSummary.from_list(printed.stack[1:])
            seen += [str(caught.value), "".join(printed.format()), repr(model)]
            assert "\n" not in str(caught.value)
    server.usual = lambda handler, request: handler.reply(
        200,
        answer(request, text=f"Your key is {SECRET}!", finish_reason=SECRET)
        | {"model": SECRET, "system_fingerprint": SECRET},
    )
    model = make(key=key)
    (completion,) = write(model, prompts(1))
    assert completion.text == "Your key is ***!"
    with pytest.raises(TypeError) as caught:
        pickle.dumps(model)
    seen += [str(completion), str(completion.__dict__), str(model.signature), str(model.told())]
    seen += [str(caught.value), str(vars(model)), repr(key), str(model.served)]
    seen += [caplog.text, *capsys.readouterr()]
    for text in seen:
        for part in (SECRET, SECRET[:14], SECRET[-9:]):
            assert part not in text
    assert set(server.keys) == {f"Bearer {SECRET}"}


def test_a_key_that_is_a_word_stays_a_word_in_texts(make, server):
    server.usual = with_choice(text="The EMPTY room")
    (completion,) = write(make(key=Key("EMPTY", "X")), prompts(1))
    assert completion.text == "The EMPTY room"


def test_the_key_comes_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("CALIPERS_ENDPOINT_KEY", SECRET)
    write(find_language_model(f"{server.url}#m", EmbedderOptions()), prompts(2))
    assert set(server.keys) == {f"Bearer {SECRET}"}


# ---------------------------------------------------------------- stopped runs

STOPPED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from calipers.embedders.options import EmbedderOptions
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Request
from calipers.language_model.models import find_language_model
model = find_language_model(sys.argv[1], EmbedderOptions())
requests = [Request(number, f"prompt {number}") for number in range(200)]
try:
    decoding = Decoding.parse("ancestral")
    for done in model.generate(requests, decoding, max_tokens=4, seed=0):
        print(done.id, flush=True)
except KeyboardInterrupt as error:
    print(error)
"""


def stopped(server, asked):
    job = subprocess.Popen(
        [sys.executable, "-c", STOPPED, f"{server.url}#m"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ,
    )
    until = time.monotonic() + 30
    while len(server.requests) < asked and time.monotonic() < until:
        time.sleep(0.01)
    return job


@pytest.mark.slow
def test_ctrl_c_gives_what_is_under_way_before_the_run_ends(server):
    free = threading.Event()

    def held_back(handler, request):
        if len(server.answered) >= 8:
            free.wait(30)
        well(handler, request)

    server.usual = held_back
    job = stopped(server, 16)  # eight are answered, and eight under way
    time.sleep(0.5)
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    free.set()
    printed, _ = job.communicate(timeout=20)
    *ids, last = printed.splitlines()
    assert Counter(f"prompt {number}" for number in ids) == server.answered
    assert last == f"stopped; {len(ids)} of 200 texts were written"
    assert 16 <= len(ids) <= 24


@pytest.mark.slow
def test_ctrl_c_twice_does_not_wait(server):
    silent = threading.Event()
    server.usual = lambda handler, request: silent.wait(60)
    job = stopped(server, 1)
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert job.poll() is None
    begin = time.monotonic()
    job.send_signal(signal.SIGINT)
    printed, _ = job.communicate(timeout=20)
    silent.set()
    assert printed == "stopped; 0 of 200 texts were written\n"
    assert time.monotonic() - begin < 5


def test_a_stopped_run_waits_for_a_silent_server_only_so_long(monkeypatch, make, server):
    monkeypatch.setattr(side_by_side, "GRACE", 0.2)
    free = threading.Event()
    server.acts = [well, well]
    server.usual = lambda handler, request: free.wait(30)
    running = make(at_once=2).generate(prompts(9), SAMPLE, max_tokens=4, seed=0)
    assert len({next(running).id, next(running).id}) == 2
    begin = time.monotonic()
    running.close()
    assert time.monotonic() - begin < 5
    free.set()


@pytest.mark.parametrize("at", [1, 3, 6])
def test_ctrl_c_at_the_moment_that_an_answer_arrives_loses_nothing(make, server, monkeypatch, at):
    wait, counted = side_by_side._one_more, []

    def interrupted(*words):
        found = wait(*words)
        counted.append(1)
        if len(counted) == at:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(side_by_side, "_one_more", interrupted)
    model, written = make(at_once=3), []
    with pytest.raises(KeyboardInterrupt):
        written.extend(model.generate(prompts(40), SAMPLE, max_tokens=4, seed=0))
    received = Counter(f"prompt {each.id}" for each in [*written, *model.unclaimed])
    assert received == server.answered
    assert at <= len(server.requests) < 12


@pytest.mark.slow
def test_importing_the_backend_loads_no_http_client():
    code = (
        "import sys, calipers.language_model.endpoint as e\n"
        "print({'httpx', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "set()"


def generating(server, folder, *more):
    words = "--n 120 --task continue --max-tokens 8 --decoding top_p=0.9"
    (folder / "prompts.jsonl").write_text(
        "".join(json.dumps({"prompt": f"prompt {n}", "text": "x"}) + "\n" for n in range(120))
    )
    job = [sys.executable, "-m", "calipers", "generate", "--model", f"{server.url}#m"]
    return subprocess.Popen(
        [*job, "--prompts", "prompts.jsonl", "--output", "out.jsonl", *words.split(), *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"CALIPERS_ENDPOINT_KEY": SECRET},
    )


@pytest.mark.slow
def test_a_command_that_is_killed_loses_only_what_is_under_way(server, tmp_path):
    def slow(handler, request):
        time.sleep(0.05)
        well(handler, request)

    server.usual = slow
    for at_least in (30, 60):
        job = generating(server, tmp_path)
        until = time.monotonic() + 60
        while sum(server.answered.values()) < at_least and time.monotonic() < until:
            time.sleep(0.01)
        job.kill()
        printed, _ = job.communicate(timeout=20)
        assert SECRET not in printed
    time.sleep(0.3)
    server.usual = well
    job = generating(server, tmp_path)
    printed, _ = job.communicate(timeout=60)
    assert job.returncode == 0, printed
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == list(range(120))
    assert {row["prompt"] for row in rows} == {f"prompt {number}" for number in range(120)}
    assert set(server.answered) == {row["prompt"] for row in rows}
    assert 120 <= sum(server.answered.values()) <= 120 + 2 * 8
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET not in path.read_text()
    assert SECRET not in printed


@pytest.mark.slow
def test_a_command_goes_on_after_its_most_requests(server, tmp_path):
    job = generating(server, tmp_path, "--max-requests", "50")
    printed, _ = job.communicate(timeout=60)
    assert job.returncode == 2
    assert (
        "50 requests were made, as many as --max-requests 50 allows; 50 of 120 texts"
        in " ".join(printed.split())
    )
    job = generating(server, tmp_path, "--price", "1,2")
    printed, _ = job.communicate(timeout=60)
    assert job.returncode == 0, printed
    assert set(server.answered.values()) == {1}
    assert len(server.answered) == 120


# ---------------------------------------------------------------- likelihood by a server


@pytest.fixture
def measure(server, tmp_path, monkeypatch):
    """Run ``calipers likelihood``, by a model of the server unless another one is named."""
    from typer.testing import CliRunner

    from calipers.cli.app import app

    monkeypatch.chdir(tmp_path)
    for name, word in (("model", "cat"), ("human", "dog")):
        rows = [json.dumps({"text": f"the {word} {number} sat"}) + "\n" for number in range(12)]
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))

    def run(*arguments, model=f"{server.url}#m", **environment):
        how = ("--model", model, "--tokenizer", "whitespace", "--threads", "1")
        job = ["likelihood", "model.jsonl", *how, *arguments]
        return CliRunner().invoke(app, job, prog_name="calipers", env=environment)

    return run


def test_the_command_measures_by_a_server(measure, server):
    server.usual = echoing()
    done = measure("-r", "human.jsonl", "--json", "-")
    assert done.exit_code == 0, done.output
    (system,) = json.loads(done.stdout)["systems"]
    expected = [
        log_probability(token) for number in range(12) for token in (" cat", f" {number}", " sat")
    ]
    score = system["scores"]["perplexity"]
    assert score["value"] == pytest.approx(math.exp(-np.mean(expected)))
    assert score["gap"] is not None
    assert len(server.requests) == len({*server.texts}) == 24


@pytest.mark.parametrize(
    ("act", "arguments", "words", "asked"),
    [
        (well, (), "gives no log-probabilities of given texts, neither by echo with logprobs", 3),
        (says(401, {"error": {"message": "no key"}}), (), "answered 401 (Unauthorized)", 1),
        (says(404, {"error": {"message": "no m"}}), (), "and the model's name ('m')", 1),
        (echoing(), ("--decoding", "top_p=0.9"), "does not tell the whole distribution", 0),
        (echoing(), ("--end-of-text", "count"), "of which m tells no log-probability", 0),
        (echoing(), ("--first-token", "bos"), "gives no log-probability of a first token", 12),
        (echoing(), ("--max-requests", "0"), "must be a whole number of at least 1; found '0'", 0),
    ],
)
def test_the_command_says_what_a_server_cannot_do(measure, server, act, arguments, words, asked):
    server.usual = act
    done = measure(*arguments, "--json", "out.json")
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.startswith("calipers: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not os.path.exists("out.json")
    assert len(server.requests) == asked


def test_the_command_prints_no_key(measure, server):
    server.usual = says(401, {"error": {"message": f"bad key {SECRET}"}})
    done = measure(CALIPERS_ENDPOINT_KEY=SECRET)
    assert done.exit_code == 2
    assert "check the key in the environment variable CALIPERS_ENDPOINT_KEY" in done.stderr
    assert SECRET not in done.output


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("ftp://127.0.0.1/v1#m", "must begin with http:// or https:// and a host; found 'ftp://"),
        ("http://127.0.0.1:9/v1", "127.0.0.1:9/v1: name the model behind a '#'"),
    ],
)
def test_the_command_refuses_what_is_no_server(measure, model, words):
    done = measure(model=model)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_command_says_that_nobody_answers(measure):
    done = measure(model="http://127.0.0.1:9/v1#m")
    assert done.exit_code == 2
    assert "127.0.0.1:9/v1: asked 4 times, at last the connection failed" in done.stderr
    assert "0 of 12 texts were scored" in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_texts_than_requests_are_refused_unasked(measure, server):
    server.usual = echoing()
    done = measure("-r", "human.jsonl", "--max-requests", "23")
    assert done.exit_code == 2
    assert done.stderr == (
        "calipers: --max-requests allows 23 requests, but each text takes one, and "
        "all sets together have 24; what had been scored before the bound would be lost, so "
        "nothing was sent to m\n"
    )
    assert server.requests == []
    assert measure("-r", "human.jsonl", "--max-requests", "24").exit_code == 0
    assert len(server.requests) == 24


def test_requests_that_are_made_again_reach_the_bound(measure, server):
    server.usual = echoing()
    server.acts = [says(503, {}, Retry_After="0")]
    done = measure("--max-requests", "12")
    assert done.exit_code == 2
    assert "12 requests were made, as many as --max-requests 12 allows; 11 of 12" in done.stderr
    assert len(server.requests) == 12


# ---------------------------------------------------------------- judges by a server

SCHEMA = {
    "title": "judgement",
    "type": "object",
    "properties": {"q": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["q"],
    "additionalProperties": False,
}
ASKED = ({"role": "system", "content": "Be strict."}, {"role": "user", "content": "Well?"})


def judgements(count):
    return [Request(number, messages=ASKED, schema=SCHEMA) for number in range(count)]


def test_the_schema_of_an_answer_is_sent_strictly(make, server):
    write(make(chat=True), [*judgements(1), Request(7, messages=ASKED)])
    asked, plain = server.requests
    assert asked["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "judgement", "strict": True, "schema": SCHEMA},
    }
    assert "response_format" not in plain


@pytest.mark.parametrize(
    ("knows", "sent"),
    [({"json_object"}, {"type": "json_object"}), (set(), None)],
)
@pytest.mark.parametrize(
    "words",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
        "response_format: extra inputs are not permitted",
        "guided decoding is not available",
    ],
)
def test_a_server_without_schemas_is_asked_for_less_and_that_is_remembered(
    make, server, knows, sent, words
):
    def strict(handler, request):
        kind = request.get("response_format", {}).get("type")
        if kind is not None and kind not in knows:
            handler.reply(400, {"error": {"message": words}})
        else:
            well(handler, request)

    server.usual = strict
    assert len(write(make(chat=True, at_once=4), judgements(6))) == 6
    assert len(server.requests) == 6 + 2 - len(knows)
    assert server.requests[-1].get("response_format") == sent
    assert "top_k" in server.requests[-1]


@pytest.mark.parametrize(
    "words",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_server_without_a_role_of_the_system_is_told_by_the_first_message(make, server, words):
    def strict(handler, request):
        if request["messages"][0]["role"] == "system":
            handler.reply(400, {"error": {"message": words}})
        else:
            well(handler, request)

    server.usual = strict
    assert len(write(make(chat=True), judgements(3))) == 3
    assert len(server.requests) == 4
    assert server.requests[-1]["messages"] == [{"role": "user", "content": "Be strict.\n\nWell?"}]


def test_one_item_that_a_filter_refuses_does_not_end_the_run(make, server):
    refused = says(400, {"error": {"code": "content_filter", "message": "content_filter: no"}})
    server.acts = [refused, well, refused]
    written = write(make(chat=True), judgements(4))
    assert [each.finish_reason for each in written] == [
        "content_filter", "stop", "content_filter", "stop",
    ]  # fmt: skip
    assert "content_filter: no" in written[0].details["refusal"]
    assert len(server.requests) == 4
    server.acts = [refused]
    _, error = failure(make(chat=True), [Request(0, messages=ASKED)])
    assert "content_filter: no" in str(error)


def test_an_item_that_is_too_long_is_refused_once_the_server_has_answered(make, server):
    long = says(400, {"error": {"message": "maximum context length is 8192 tokens"}})
    server.acts = [well, long]
    assert [each.finish_reason for each in write(make(chat=True), judgements(3))] == [
        "stop", "content_filter", "stop",
    ]  # fmt: skip
    server.acts = [long]
    written, error = failure(make(chat=True), judgements(3))
    assert written == []
    assert "maximum context length is 8192 tokens" in str(error)
    assert "0 of 3 answers were given" in str(error)


def judged(handler, request):
    """Prefer the text shown first, in a quarter of all cases after some prose."""
    names = request["response_format"]["json_schema"]["schema"]["required"]
    seed = request["seed"] + len(request["messages"])
    step = "definitely A" if seed % 4 else "slightly B"
    text = json.dumps(dict.fromkeys(names, step))
    text = f"I think: {text}" if seed % 5 == 0 else text
    with handler.server.lock:
        handler.server.answered[json.dumps([request["messages"], request["seed"]])] += 1
    handler.reply(200, answer(request, message={"role": "assistant", "content": text}))


def judging(server, folder, *more):
    for name in ("one", "two", "three"):
        (folder / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"prompt": f"prompt {n}", "text": f"{n} by {name}"}) + "\n"
                for n in range(60)
            )
        )
    job = [sys.executable, "-m", "calipers", "judge", "--model", f"{server.url}#m"]
    given = ["one.jsonl", "two.jsonl", "three.jsonl", "--output", "out.csv", "--per-pair", "50"]
    return subprocess.Popen(
        [*job, *given, "--json", "out.json", "--force", *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"CALIPERS_ENDPOINT_KEY": SECRET},
    )


def judge_rows(folder):
    with open(folder / "out.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_judges_that_are_killed_and_meet_faults_lose_nothing_and_pay_once(server, tmp_path):
    """Fifty requests at a time, one in five of which fails, and two runs that are killed."""
    rng, lock = random.Random(0), threading.Lock()

    def act(handler, request):
        with lock:
            trouble, fault, pause = rng.random() < 0.2, rng.choice(FAULTS[4:-1]), rng.random()
        time.sleep(0.1 * pause)
        (fault if trouble else judged)(handler, request)

    server.usual = act
    for at_least in (60, 150):
        job = judging(server, tmp_path, "--batch-size", "50")
        until = time.monotonic() + 60
        while sum(server.answered.values()) < at_least and time.monotonic() < until:
            time.sleep(0.01)
        job.kill()
        job.communicate(timeout=20)
    time.sleep(0.3)
    job = judging(server, tmp_path, "--batch-size", "50")
    printed, _ = job.communicate(timeout=120)
    assert job.returncode == 0, printed
    assert "prefers the text shown first in " in " ".join(printed.split())
    assert SECRET not in printed
    data = json.loads((tmp_path / "out.json").read_text())
    counts = data["judges"]["m"]["counts"]
    rows = judge_rows(tmp_path)
    assert len({(row["item"], row["first"], row["repeat"]) for row in rows}) == len(rows)
    assert len(rows) == counts["answered"] == counts["asked"] - counts["malformed"]
    assert counts["asked"] >= 300
    assert 140 <= len({row["item"] for row in rows}) <= 150
    # Each answer was paid for once, but for what was under way when a run was killed
    needed = counts["asked"] + counts["asked_again"]
    assert len(server.answered) == needed
    assert sum(server.answered.values()) <= needed + 2 * 50
    before = (tmp_path / "out.csv").read_bytes()
    paid = sum(server.answered.values())
    job = judging(server, tmp_path)
    printed, _ = job.communicate(timeout=60)
    assert (job.returncode, sum(server.answered.values())) == (0, paid), printed
    assert (tmp_path / "out.csv").read_bytes() == before
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET not in path.read_text()


@pytest.mark.slow
def test_a_judge_goes_on_after_its_most_requests_and_after_ctrl_c(server, tmp_path):
    stopped = threading.Event()

    def slow(handler, request):
        time.sleep(0.03)
        if sum(server.answered.values()) >= 120:
            stopped.wait(60)  # no run is over before it is stopped
        judged(handler, request)

    server.usual = slow
    job = judging(server, tmp_path, "--max-requests", "50")
    printed, _ = job.communicate(timeout=60)
    assert job.returncode == 2
    said = " ".join(printed.split())
    assert "as many as --max-requests 50 allows; 50 of " in said
    assert said.endswith("answers were given; the same command continues from there")
    assert not (tmp_path / "out.csv").exists()
    job = judging(server, tmp_path)
    until = time.monotonic() + 60
    while sum(server.answered.values()) < 120 and time.monotonic() < until:
        time.sleep(0.01)
    job.send_signal(signal.SIGINT)
    time.sleep(0.2)
    stopped.set()
    printed, _ = job.communicate(timeout=30)
    assert job.returncode == 130, printed
    assert "stopped; " in printed  # how many answers there are is told where none is being kept
    assert "the same command continues from there" in printed
    job = judging(server, tmp_path)
    printed, _ = job.communicate(timeout=60)
    assert job.returncode == 0, printed
    assert set(server.answered.values()) == {1}
