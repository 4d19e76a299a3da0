"""A service on this machine that plays every failure, and any other server for the time of a test.

A test says how the next requests are answered: ``service.acts`` holds an act for each of them,
after which ``service.usual`` answers all. An act takes the handler and the request, read from JSON.
"""

import json
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "sk-proj-0123456789-abcdefghijklm"
"""A key that must be shown nowhere."""


@contextmanager
def running(server):
    """Let a server answer in a thread of its own."""
    with server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        service = self.server
        with service.lock:
            service.requests.append(request)
            service.paths.append(self.path)
            service.keys.append(self.headers.get("Authorization"))
            act = service.acts.pop(0) if service.acts else service.usual
            service.busy += 1
            service.most_busy = max(service.most_busy, service.busy)
        try:
            act(self, request)
        finally:
            with service.lock:
                service.busy -= 1

    def log_message(self, *words):
        pass

    def reply(self, status, body, **headers):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(content)


class Service(ThreadingHTTPServer):
    """A service of one kind, and what was asked of it.

    `answer` makes the body of a good answer to a request, and `read` lists the texts of a request.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, answer, read):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.read = answer, read
        self.lock = threading.Lock()
        self.usual, self.acts = well, []
        self.requests, self.paths, self.keys = [], [], []
        self.answered = Counter()
        self.busy = self.most_busy = 0
        self.where = f"127.0.0.1:{self.server_port}/v1"
        self.url = f"http://{self.where}"

    def handle_error(self, request, client_address):
        pass

    @property
    def texts(self):
        return [text for request in self.requests for text in self.read(request)]


def well(handler, request):
    service = handler.server
    with service.lock:  # counted first, since a client may have read the reply by then
        service.answered.update(service.read(request))
    handler.reply(200, service.answer(request))


def says(status, body, **headers):
    return lambda handler, request: handler.reply(status, body, **headers)


def changed(change):
    """Answer well but for what `change` does to the body, which it may also give anew."""

    def act(handler, request):
        body = handler.server.answer(request)
        handler.reply(200, change(body) or body)

    return act


def begun(handler, request):
    """Begin an answer and close the connection in the middle of it."""
    content = json.dumps(handler.server.answer(request)).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True
