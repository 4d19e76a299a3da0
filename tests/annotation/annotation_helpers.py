"""Small studies, a clock that a test sets, and a visitor of pages without a browser."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from calipers.annotation.server import listen, make_server
from calipers.annotation.study import AnnotationStudy
from calipers.judgements.items import Item, make_checks
from calipers.judgements.rubric import PAIRS

SYSTEMS = ("alpha", "beta", "human")


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


def make_items(number: int, systems: tuple[str, ...] = SYSTEMS) -> list[Item]:
    """Make items, equally many of each pair of systems, in turn."""
    pairs = [(a, b) for a in systems for b in systems if a < b]
    return [
        Item(a, b, f"text {n} of {a}", f"text {n} of {b}", f"The beginning number {n}")
        for n in range(number)
        for a, b in [pairs[n % len(pairs)]]
    ]


def make_long_checks(number: int) -> list[Item]:
    words = " ".join(f"word{n}" for n in range(20))
    items = [Item("a", "b", f"{words} {n}", f"{words} other {n}", "x") for n in range(number)]
    return list(make_checks(items, count=number, system="a"))


def answers(value: int = 1) -> dict[str, int]:
    return {question.name: value for question in PAIRS.questions}


@cache
def background() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own: playwright has one in that of the tests."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass
class Visitor:
    """Asks an application for pages as a browser does, with cookies and without redirects."""

    app: Any
    base: str = "http://127.0.0.1:8765"
    cookies: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, **more: Any) -> Any:
        import httpx

        async def ask() -> Any:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url=self.base, cookies=self.cookies
            ) as client:
                return await client.request(method, path, **more)

        response = asyncio.run_coroutine_threadsafe(ask(), background()).result(30)
        self.cookies |= dict(response.cookies)
        return response

    def get(self, path: str, **more: Any) -> Any:
        return self.send("GET", path, **more)

    def follow(self, path: str, **more: Any) -> Any:
        """Ask for a page, and for those that it leads to."""
        response = self.get(path, **more)
        for _ in range(5):
            if response.status_code != 303:
                return response
            response = self.get(response.headers["location"])
        raise AssertionError("it leads nowhere")

    def post(self, page: Any, fields: dict[str, Any] | None = None, **more: Any) -> Any:
        """Send the form of a page, with its signature and these fields."""
        form = {"csrf": signature(page.text), **(fields or {})}
        return self.send("POST", action(page.text), data=form, **more)


def signature(html: str) -> str:
    return re.search(r'name="csrf" value="(\w+)"', html)[1]


def action(html: str) -> str:
    return re.search(r'action="([^"]+)"', html)[1]


def form_of(value: int = 1) -> dict[str, str]:
    return {f"answer.{name}": str(each) for name, each in answers(value).items()}


class Server:
    """The command line as a process of its own, at one address over restarts."""

    def __init__(self, study: Path) -> None:
        self.study = study
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "calipers", "annotate", str(self.study), "--port"]
        self.process = subprocess.Popen(
            [*command, str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for line in self.process.stdout:
            if line.startswith(b"Serving"):
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        self.process.stdout.close()
        return self.process.returncode


class ThreadServer:
    """A server within the process of the tests, for those that do not kill it."""

    def __init__(self, study: Path) -> None:
        self.study = AnnotationStudy.open(study)
        self.listening = listen("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self.server = make_server(self.study, "127.0.0.1")
        self.thread = threading.Thread(target=self.server.run, args=([self.listening],))
        self.thread.start()

    def kill(self) -> None:
        self.server.should_exit = True
        self.server.force_exit = True
        self.thread.join(10)
        self.listening.close()
        self.study.close()
