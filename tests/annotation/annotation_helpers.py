"""Small studies, a clock that a test sets, and a visitor of pages without a browser."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

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

        response = asyncio.run(ask())
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
