"""Where a study is served, and what is said of it."""

import socket

import pytest

from calipers.annotation.server import addresses, check_server, is_open, listen
from calipers.errors import InputError, MissingExtraError


def test_a_port_that_is_taken_is_refused():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        says = f"host 127.0.0.1, port {port}: cannot be listened on: .*in use; --port 0 takes any"
        with pytest.raises(InputError, match=says):
            check_server("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "says"),
    [
        ("127.0.0.1", 70_000, "port .*from 0 to 65,535.* 70000"),
        ("127.0.0.1", -1, "found -1"),
        ("nowhere.invalid", 0, "host nowhere.invalid, port 0: "),
        ("x" * 300, 0, "cannot be listened on"),
        ("192.0.2.1", 0, "host 192.0.2.1, port 0: cannot be listened on: "),
    ],
)
def test_addresses_that_cannot_be_had(host, port, says):
    with pytest.raises(InputError, match=says):
        listen(host, port)


def test_both_families_of_addresses():
    with listen("127.0.0.1", 0) as four:
        assert four.family == socket.AF_INET
    try:
        six = listen("::1", 0)
    except InputError:
        pytest.skip("no IPv6 here")
    with six:
        assert six.family == socket.AF_INET6


@pytest.mark.parametrize(
    ("host", "address", "reached"),
    [
        ("127.0.0.1", "http://127.0.0.1:80", False),
        ("localhost", "http://localhost:80", False),
        ("::1", "http://[::1]:80", False),
        ("192.168.1.7", "http://192.168.1.7:80", True),
        ("annotate.lab", "http://annotate.lab:80", True),
    ],
)
def test_addresses_in_words(host, address, reached):
    assert addresses(host, 80) == [address]
    assert is_open(host) is reached


def test_all_addresses_are_named_by_one_that_others_can_use():
    assert is_open("0.0.0.0")
    assert all("0.0.0.0" not in each for each in addresses("0.0.0.0", 80))
    assert addresses("0.0.0.0", 80)


def test_what_is_not_installed_is_said(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[annotate\]'"):
        check_server("127.0.0.1", 0)
