"""A stand-in for a judge, to try `calipers judge` offline: no model, and a bad judge by design.

It speaks the chat form of OpenAI's interface, and prefers longer texts, the text that stands first,
and whatever chance says:

    python examples/judgements/simulated_server.py 8000

It binds to this machine alone and answers requests about pairs of texts; nothing else.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LENGTH, FIRST = 1.0, 0.9
"""Log odds by which a text of e times as many words is preferred, and the one that stands first."""

STEPS = ("definitely A", "slightly A", "tie", "slightly B", "definitely B")
TEXT = re.compile(
    r"^\[text ([AB]) (\w+)\]\n(.*?)\n\[end of text \1 \2\]$", re.DOTALL | re.MULTILINE
)


def judgement(texts: dict[str, str], questions: list[str], draw: random.Random) -> dict[str, str]:
    """Answer each question about two texts, by their sides."""
    words = {side: len(text.split()) for side, text in texts.items()}
    lean = FIRST + LENGTH * math.log((words["A"] + 1) / (words["B"] + 1))
    answers = {}
    for question in questions:
        chance = draw.random()
        push = lean + math.log(chance / (1 - chance))
        answers[question] = STEPS[sum(push < limit for limit in (2.0, 0.4, -0.4, -2.0))]
    return answers


class Judge(BaseHTTPRequestHandler):
    """Answers one request after another, each by a seed made of it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        schema = request["response_format"]["json_schema"]["schema"]
        found = TEXT.findall(request["messages"][1]["content"])
        texts = {side: text for side, _, text in found}
        draw = random.Random(f"{texts} {request.get('seed')}")
        answer = json.dumps(judgement(texts, list(schema["properties"]), draw))
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        sizes = (sum(map(len, texts.values())) // 4, len(answer) // 4)
        usage = dict(zip(("prompt_tokens", "completion_tokens"), sizes, strict=True))
        made = {"id": "simulated", "model": request["model"], "choices": [choice], "usage": usage}
        self.reply(made)

    def do_GET(self) -> None:
        self.reply({"data": [{"id": "stand-in"}]})

    def reply(self, data: Any) -> None:
        """Send JSON."""
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    ThreadingHTTPServer(("127.0.0.1", port), Judge).serve_forever()
