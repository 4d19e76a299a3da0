"""The web application of a study: who may see which page, and how submitted answers are handled.

A link holds a token; opening it leaves the token in a cookie that scripts cannot read and other
sites cannot send along. Forms carry a signature of that token. Nothing is loaded from elsewhere and
no page may contain a script (Content-Security-Policy). Requests are answered only under names of
this machine, so that no other site can be made to point at it; bodies are small or refused; an
error shows a sentence and no trace.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from calipers.annotation.exchange import export_text
from calipers.annotation.pages import (
    STATIC,
    ends_of,
    item_page,
    keys_of,
    render,
    seconds_in_words,
    static,
    static_version,
)
from calipers.annotation.turns import Annotator
from calipers.errors import InputError

if TYPE_CHECKING:
    from calipers.annotation.study import AnnotationStudy

LARGEST = 64 * 1024
"""Bytes that a form may have."""

FIELDS = 64
DIGITS = 9
"""Most digits of a number that is read; of a longer one the first tell enough."""

COOKIE_DAYS = 180
LOOPBACK = ("localhost", "127.0.0.1", "::1")

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every answer."""

FRESH = {"Cache-Control": "no-store"}

SENTENCES: Mapping[int, tuple[str, str]] = {
    400: ("This cannot be read", "The request was not as a browser sends it."),
    403: (
        "Not saved",
        "This page belongs to another link, or is from an older study. Open your own link again; "
        "what you saved before is kept.",
    ),
    404: ("Nothing here", "There is no such page. Open the link that you were given."),
    405: ("Nothing here", "There is no such page. Open the link that you were given."),
    413: ("Too large", "What was sent is larger than any answer, and was not read."),
    415: ("This cannot be read", "The request was not as a browser sends it."),
    421: ("Nothing here", "This address is not served here."),
    500: ("Something went wrong", "Your saved answers are kept. Go back, and try again."),
    503: (
        "Not saved",
        "The answer could not be written to the disk. Those before it are kept. Tell the person "
        "who runs the study, then go back and send it again.",
    ),
}
"""What a person reads of an error: a heading and a sentence."""

Endpoint = Callable[[Request], Awaitable[Response]]

log = logging.getLogger("uvicorn.error")


def make_app(study: AnnotationStudy, *, host: str = "127.0.0.1") -> Any:
    """Make the web application of a study.

    Parameters
    ----------
    study
        What it shows.
    host
        Where it listens, which says under which names requests are answered.

    Returns
    -------
    An ASGI application.
    """
    return Guard(_Pages(study).app(), study, host)


class Guard:
    """Refuses requests under foreign host names, and adds protective headers to every response."""

    def __init__(self, app: Any, study: AnnotationStudy, host: str) -> None:
        self._app = app
        self._study = study
        self._host = host

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = {**HEADERS, **FRESH}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in added.items()
                        if name.lower().encode() not in present
                    ),
                ]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not is_known_host(hosts[0].decode("latin-1"), self._host):
            await error_page(421)(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)


def is_known_host(header: str, host: str) -> bool:
    """Whether a Host header names this machine, by address or by one of its names.

    A page of another site whose name was made to point at this machine sends that name.
    """
    try:
        name = (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return False
    alone = host in LOOPBACK
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        names = {socket.gethostname().lower(), socket.getfqdn().lower(), host.lower()}
        names |= {f"{short}.local" for short in names if "." not in short}
        return name == "localhost" or (not alone and name in names - {""})
    return number.is_loopback or not alone


def error_page(status: int) -> Response:
    """Render an error as a page."""
    heading, sentence = SENTENCES.get(status, SENTENCES[400])
    return HTMLResponse(
        render("message.html", heading=heading, sentence=sentence), status_code=status
    )


class _Pages:
    """The pages of a study, each a function of a request."""

    def __init__(self, study: AnnotationStudy) -> None:
        self.study = study
        self.cookie = f"calipers_{study.settings.name}"
        self.overview_cookie = f"{self.cookie}_overview"
        self.rubric = study.settings.rubric

    def app(self) -> Starlette:
        """Put the pages at their addresses."""
        routes = [
            Route("/", self.home),
            Route("/a/{token}", self.enter),
            Route("/o/{token}", self.enter_overview),
            Route("/instructions", self.instructions),
            Route("/next", self.next),
            Route("/finished", self.finished),
            Route("/item/{place}", self.item, methods=["GET", "POST"]),
            Route("/overview", self.overview),
            Route("/overview/judgements.{ending}", self.download),
            Route("/static/{name}", self.static),
        ]
        handlers: Any = {
            HTTPException: self.refused,
            InputError: self.broken,
            ClientDisconnect: self.gone,
            Exception: self.failed,
        }
        return Starlette(routes=routes, exception_handlers=handlers)

    # Who asks ----------------------------------------------------------------------------------

    async def annotator(self, request: Request) -> Annotator | None:
        token = request.cookies.get(self.cookie, "")
        annotator: Annotator | None = await run_in_threadpool(self.study.annotator, token)
        return annotator

    async def known(self, request: Request) -> Annotator:
        annotator = await self.annotator(request)
        if annotator is None:
            raise HTTPException(404)
        return annotator

    def signature(self, annotator: Annotator) -> str:
        """Sign the forms of an annotator, so that no other site can send one."""
        key = self.study.settings.key.encode()
        return hmac.new(key, annotator.token.encode(), hashlib.sha256).hexdigest()

    async def form(self, request: Request, annotator: Annotator) -> dict[str, str]:
        """Read a form, once it is known to be from a page of this annotator.

        Raises
        ------
        HTTPException
            If it is too large, no form, or from elsewhere.
        """
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != (
            "application/x-www-form-urlencoded"
        ):
            raise HTTPException(415)
        announced = request.headers.get("content-length", "0")
        if _is_number(announced) and int(announced[:DIGITS]) > LARGEST:
            raise HTTPException(413)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                raise HTTPException(413)
        try:
            pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError:
            raise HTTPException(400) from None
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise HTTPException(400)
        origin = request.headers.get("origin")
        sent_from_here = origin is None or urlsplit(origin).netloc == request.headers.get("host")
        signed = hmac.compare_digest(
            self.signature(annotator).encode(), fields.get("csrf", "").encode("utf-8", "replace")
        )
        if not (sent_from_here and signed):
            raise HTTPException(403)
        return fields

    # Pages of annotators -------------------------------------------------------------------------

    async def home(self, request: Request) -> Response:
        annotator = await self.annotator(request)
        if annotator is None:
            heading, sentence = "Annotation", "Open the link that you were given."
            return HTMLResponse(render("message.html", heading=heading, sentence=sentence))
        progress = await run_in_threadpool(self.study.turns.progress, annotator)
        return _to("/next" if progress.answered else "/instructions")

    async def enter(self, request: Request) -> Response:
        token = request.path_params["token"]
        annotator = await run_in_threadpool(self.study.annotator, token)
        if annotator is None:
            raise HTTPException(404)
        return self._kept(_to("/"), self.cookie, annotator.token)

    def _kept(self, response: Response, name: str, token: str) -> Response:
        response.set_cookie(
            name, token, max_age=COOKIE_DAYS * 86_400, httponly=True, samesite="lax"
        )
        return response

    async def instructions(self, request: Request) -> Response:
        annotator = await self.known(request)
        settings = self.study.settings
        least = settings.least_seconds
        progress = await run_in_threadpool(self.study.turns.progress, annotator)
        return HTMLResponse(
            render(
                "instructions.html",
                annotator=annotator,
                progress=progress,
                goal=progress.goal,
                instructions=[
                    paragraph
                    for paragraph in self.rubric.instructions.split("\n")
                    if paragraph.strip()
                ],
                questions=[
                    {
                        "text": question.text,
                        "ends": "" if self.rubric.task == "pairs" else ends_of(question),
                    }
                    for question in self.rubric.questions
                ],
                task=self.rubric.task,
                seconds=f"under {seconds_in_words(least)}" if least else "",
                checks=settings.checks,
                keys=keys_of(self.rubric),
            )
        )

    async def next(self, request: Request) -> Response:
        annotator = await self.known(request)
        place = await run_in_threadpool(self.study.turns.next, annotator)
        return _to("/finished" if place is None else f"/item/{place}")

    async def finished(self, request: Request) -> Response:
        annotator = await self.known(request)
        turns = self.study.turns
        progress = await run_in_threadpool(turns.progress, annotator)
        pending = await run_in_threadpool(turns.pending, annotator)
        return HTMLResponse(
            render("finished.html", annotator=annotator, progress=progress, pending=pending)
        )

    async def item(self, request: Request) -> Response:
        annotator = await self.known(request)
        place = _place(request.path_params["place"])
        if request.method != "POST":
            return await self._item(annotator, place)
        fields = await self.form(request, annotator)
        answers = self._answers(fields)
        if len(answers) < len(self.rubric.questions):
            return await self._item(annotator, place, answers)
        if not await run_in_threadpool(self.study.turns.answer, annotator, place, answers):
            raise HTTPException(404)
        return _to("/next")

    def _answers(self, fields: Mapping[str, str]) -> dict[str, int]:
        """Read the answers that were given; what is no answer to a question is refused."""
        answers = {}
        for question in self.rubric.questions:
            text = fields.get(f"answer.{question.name}")
            if text is None:
                continue
            allowed = {str(value): value for value in range(question.least, question.most + 1)}
            if text not in allowed:
                raise HTTPException(400)
            answers[question.name] = allowed[text]
        return answers

    async def _item(
        self, annotator: Annotator, place: int, given: Mapping[str, int] | None = None
    ) -> Response:
        turns = self.study.turns
        turn = await run_in_threadpool(turns.turn, annotator, place)
        if turn is None:
            raise HTTPException(404)
        progress = await run_in_threadpool(turns.progress, annotator)
        page = item_page(turn, self.rubric, given)
        missing = sum(question.missing for question in page.questions)
        shown = await run_in_threadpool(
            render,
            "item.html",
            annotator=annotator,
            progress=progress,
            page=page,
            missing=missing,
            csrf=self.signature(annotator),
        )
        return HTMLResponse(shown, status_code=422 if missing else 200)

    # Pages of the person who runs the study ----------------------------------------------------

    async def enter_overview(self, request: Request) -> Response:
        token = request.path_params["token"]
        if not self.study.is_overview(token):
            raise HTTPException(404)
        return self._kept(_to("/overview"), self.overview_cookie, token)

    def _check_overview(self, request: Request) -> None:
        if not self.study.is_overview(request.cookies.get(self.overview_cookie, "")):
            raise HTTPException(404)

    async def overview(self, request: Request) -> Response:
        self._check_overview(request)
        status = await run_in_threadpool(self.study.status)
        address = f"{request.url.scheme}://{request.headers['host']}"
        return HTMLResponse(
            render(
                "overview.html",
                status=status,
                sentence=status.sentence,
                links=self.study.links_at(address),
            )
        )

    async def download(self, request: Request) -> Response:
        self._check_overview(request)
        ending = request.path_params["ending"]
        kinds = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
        if ending not in kinds:
            raise HTTPException(404)
        text = await run_in_threadpool(export_text, self.study, ending)
        name = f'attachment; filename="judgements.{ending}"'
        headers = {"Content-Disposition": name}
        return Response(text, media_type=kinds[ending], headers=headers)

    # The rest ------------------------------------------------------------------------------------

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        versioned = request.url.query == static_version()
        headers = {"Cache-Control": "public, max-age=31536000, immutable"} if versioned else FRESH
        return Response(static(name), headers={"Content-Type": STATIC[name], **headers})

    async def refused(self, request: Request, error: Exception) -> Response:
        return error_page(getattr(error, "status_code", 400))

    async def broken(self, request: Request, error: Exception) -> Response:
        log.error("calipers: %s", error)
        return error_page(503)

    async def gone(self, request: Request, error: Exception) -> Response:
        return error_page(400)

    async def failed(self, request: Request, error: Exception) -> Response:
        return error_page(500)


def _to(path: str) -> Response:
    """Send the browser to a page; reloading that sends nothing again."""
    return RedirectResponse(path, status_code=303)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _place(text: str) -> int:
    """Read the place of an item in an address.

    Raises
    ------
    HTTPException
        If it can be none, however long it is.
    """
    if not _is_number(text) or len(text) > DIGITS or int(text) == 0:
        raise HTTPException(404)
    return int(text)
