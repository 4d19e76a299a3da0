"""A server with OpenAI's interface that plays a judge with known habits, to try judging by.

It reads no text: it prefers the longer one, and the one shown first. All its answers are simulated.

    python examples/simulated_judge.py --port 8766
    calipers judge a.jsonl b.jsonl --model http://127.0.0.1:8766/v1#simulated --output judged.csv
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FIRST = 0.7
"""Log odds by which the text shown first is preferred to one of its length."""

LONGER = 1.5
"""Log odds by which a text of twice the length is preferred."""

TALKATIVE = 0.03
"""Share of answers that begin with a phrase, and cannot be read."""

SHOWN = re.compile(r"\[text[^\]\n]* ([0-9a-f]{16})\]\n(.*?)\n\[end of [^\]\n]* \1\]", re.DOTALL)


def answer(request: dict[str, Any]) -> str:
    """Answer every question of the schema; the same request gives the same answer."""
    messages = request["messages"]
    rng = random.Random(json.dumps([request["model"], messages, request.get("seed")]))
    words = [len(text.split()) for _, text in SHOWN.findall(messages[1]["content"])]
    questions = request["response_format"]["json_schema"]["schema"]["properties"]
    text = json.dumps({name: judged(words, about, rng) for name, about in questions.items()})
    return f"Here is my answer: {text}" if rng.random() < TALKATIVE else text


def judged(words: list[int], about: dict[str, Any], rng: random.Random) -> str | int:
    """Choose one of the answers of a question."""
    steps: list[Any] = about["enum"]
    if about["type"] == "string":
        odds = FIRST + LONGER * math.log2((words[0] + 1) / (words[1] + 1))
        if rng.random() < 0.1:
            return str(steps[2])
        return str(rng.choice(steps[:2] if rng.random() < 1 / (1 + math.exp(-odds)) else steps[3:]))
    middle = (steps[0] + steps[-1]) / 2 + math.log2((sum(words) / len(words) + 1) / 50)
    return min(steps, key=lambda step: abs(step - rng.gauss(middle, 0.7)))


class Handler(BaseHTTPRequestHandler):
    """Answers every POST as /v1/chat/completions does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = answer(request)
        read = sum(len(message["content"]) for message in request["messages"]) // 4
        body = {
            "model": request["model"],
            "choices": [
                {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": read, "completion_tokens": len(text) // 4},
        }
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8766)
    port = parser.parse_args().port
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
