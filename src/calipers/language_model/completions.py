"""Requests for texts to a server of language models, and its answers, with all answers checked.

``temperature`` and ``top_p`` are sent always. Many servers have defaults of their own for other
parameters: vLLM takes ``top_k`` and ``repetition_penalty`` from the model's generation_config,
llama.cpp keeps 40 tokens, then those of a twentieth of the largest probability, and applies the
temperature last, and transformers' own server is greedy with any temperature. So ``top_k``,
``min_p``, ``repetition_penalty`` and llama.cpp's ``samplers`` are sent too, so as to have no effect
where the decoding does not write them; to a server that refuses them in the words of transformers
all of it goes as ``generation_config``, and others are asked without. OpenAI's own is never sent
any of these.

Where a text should be a JSON object, its schema is sent as ``response_format``, strictly; to a
server that refuses that, the wish for some JSON object, and then nothing. A server whose model
knows no system role gets its text at the head of the first message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from calipers.errors import InputError, either
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Completion, Request, without_system
from calipers.language_model.sampling import uniforms
from calipers.service.address import Address, Key
from calipers.service.client import MAX_BYTES, ServiceQuestion
from calipers.service.refusal import AnswerError, is_count, one_line, parsed_json, said_in

SENT_AS: Mapping[str, str] = {
    "top_k": "top_k",
    "min_p": "min_p",
    "typical": "typical_p",
    "repetition_penalty": "repetition_penalty",
}
"""Parameters beside temperature and top_p that servers take, by the names that these have there."""

WITHOUT_EFFECT: Mapping[str, Any] = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""What is sent for those that a decoding does not write, as vLLM, SGLang and llama.cpp read it."""

_OFF_IN_TRANSFORMERS: Mapping[str, Any] = {
    "num_beams": 1,
    "top_k": 0,
    "min_p": 0.0,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "repetition_penalty": 1.0,
}
_SAMPLERS = {"typical": "typ_p", "repetition_penalty": "penalties"}
_UNKNOWN = re.compile(
    r"unknown|unrecogni[sz]ed|unsupported|unexpected|extra|additional propert|invalid (param|arg|"
    r"field)|(not|n't) (be )?(support|permit|allow|recogni|expect)|top_k|min_p|repetition_penalty|"
    r"samplers|repeat_",
    re.IGNORECASE,
)
_NO_FORMAT = re.compile(
    r"response_format|json_?schema|json_?object|json mode|structured|grammar|guided|schema",
    re.IGNORECASE,
)
_NO_SYSTEM = re.compile(
    r"system.{0,12}(role|message|prompt)|role.{0,12}system|roles must alternate", re.IGNORECASE
)
_OF_TRANSFORMERS = "Unexpected fields in the request"
_SEEDS = 2**31
_BYTES, _BYTES_PER_TOKEN = 1 << 20, 512
"""Bytes that an answer may have, and more for each token that was asked for."""


def is_openai(address: Address) -> bool:
    """Whether a server is OpenAI's own, which accepts only temperature and top_p."""
    return address.host == "api.openai.com"


def check_decoding(decoding: Decoding, address: Address) -> None:
    """Refuse a decoding that a server cannot perform, before any request.

    Raises
    ------
    InputError
        If the decoding is not sampling, has a parameter that servers do not take, or truncations
        whose order matters.
    """
    known = ("temperature", "top_p", *(() if is_openai(address) else SENT_AS))
    written = str(decoding)
    odd = [f"{name}={value:g}" for name, value in decoding.parameters if name not in known] or (
        [] if decoding.method in ("sample", "greedy") else [written]
    )
    if odd:
        raise InputError(
            f"{address.shown}: this server cannot decode by {odd[0]}; it takes greedy or "
            f"{either(list(known))}"
        )
    names = [name for name, _ in decoding.truncations]
    if len(names) > 1 and not set(names) <= {"top_k", "min_p"}:
        raise InputError(
            f"{address.shown}: a server applies {' and '.join(names)} in an order of its own, "
            f"which changes what is left; found {written!r}, write one of them"
        )


Beside = Literal["fields", "generation_config", "nothing"]
"""How a request states what else is, or is not, in force: see above."""

Structured = Literal["json_schema", "json_object", "nothing"]
"""How a request states what JSON object a text should be."""

_WEAKER: Mapping[Structured, Structured] = {"json_schema": "json_object", "json_object": "nothing"}


def sampling(decoding: Decoding, beside: Beside) -> dict[str, Any]:
    """Return the request parameters of a decoding, with other defaults switched off."""
    greedy = decoding.method == "greedy"
    parameters = dict(decoding.parameters)
    sent: dict[str, Any] = {
        "temperature": 0.0 if greedy else decoding.temperature,
        "top_p": float(parameters.get("top_p", 1.0)),
    }
    written = {word: parameters[name] for name, word in SENT_AS.items() if name in parameters}
    if beside == "generation_config":
        config = {"do_sample": not greedy, **_OFF_IN_TRANSFORMERS, **written}
        return {**sent, "generation_config": json.dumps(config)}
    if beside == "nothing":
        return sent | written
    sent |= {**WITHOUT_EFFECT, **written}
    penalty = parameters.get("repetition_penalty")
    if penalty is not None:
        sent |= {"repeat_penalty": penalty, "repeat_last_n": -1}
    order = [] if penalty is None else ["repetition_penalty"]
    order += ["temperature", *(name for name, _ in decoding.truncations)]
    return sent | {"samplers": [_SAMPLERS.get(name, name) for name in order]}


def seed_of(seed: int, sample: int) -> int:
    """Return the seed of one sample's request, from 0 to 2³¹ − 1, different for each sample.

    Examples
    --------
    >>> seed_of(0, 8) - seed_of(0, 7)
    1
    """
    return (int(uniforms(seed, 0, 1)[0] * _SEEDS) + sample) % _SEEDS


@dataclass
class CompletionRequestFormat:
    """The format of requests to a server, adapted after refusals; shared by threads.

    Attributes
    ----------
    model
        The model's name at the server.
    chat
        Whether it is asked in the chat form.
    beside
        How what keeps other defaults out is sent.
    limit
        How the most tokens are called.
    structured
        How the schema of an answer is sent.
    system
        Whether it takes a message of the system.
    """

    model: str
    chat: bool
    beside: Beside
    limit: str = "max_tokens"
    structured: Structured = "json_schema"
    system: bool = True


@dataclass(frozen=True, eq=False)
class Told:
    """Metadata that a server sends with its answer.

    Attributes
    ----------
    model
        What it calls the model, or "".
    prompt_tokens, completion_tokens
        How many tokens it counted, or None.
    """

    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class TextQuestion(ServiceQuestion[tuple[Completion, Told]]):
    """The request for one text.

    Parameters
    ----------
    request
        What to write.
    decoding
        How, checked before.
    max_tokens
        Most tokens.
    seed
        Of this request.
    manner
        How the server is asked.
    """

    wanted = "texts"

    def __init__(
        self,
        request: Request,
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        manner: CompletionRequestFormat,
    ) -> None:
        self.request, self._manner = request, manner
        self.operation = "chat/completions" if manner.chat else "completions"
        self._decoding, self._max_tokens, self._seed = decoding, max_tokens, seed
        self._limit_sent, self._beside_sent = manner.limit, manner.beside
        self._structured_sent, self._system_sent = manner.structured, manner.system

    @property
    def sent(self) -> str:
        """What the request contains: one prompt."""
        return "1 prompt"

    def body(self) -> Mapping[str, Any]:
        """Return the body of the request: the prompt or conversation, and all parameters."""
        manner = self._manner
        self._limit_sent, self._beside_sent = manner.limit, manner.beside
        self._structured_sent, self._system_sent = manner.structured, manner.system
        return {
            "model": manner.model,
            **(self._conversation() if manner.chat else {"prompt": self.request.prompt}),
            self._limit_sent: self._max_tokens,
            **sampling(self._decoding, self._beside_sent),
            **self._response_format(),
            "seed": self._seed,
            "n": 1,
        }

    def most_bytes(self) -> int:
        """Upper limit on the bytes of so many tokens."""
        return min(_BYTES + _BYTES_PER_TOKEN * self._max_tokens, MAX_BYTES)

    def read(self, content: bytes, key: Key | None) -> tuple[Completion, Told]:
        """Read the text, why it ended, and the counts of tokens."""
        parsed, choice = read_choice(content)
        metadata = read_told(parsed, key)
        reason = choice.get("finish_reason")
        reason = (one_line(reason, 40) if isinstance(reason, str) else "") or "unknown"
        holder = choice.get("message") if self._manner.chat else choice
        if not isinstance(holder, dict):
            raise AnswerError("a choice without a message", passing=True)
        name = "content" if self._manner.chat else "text"
        text, refusal = holder.get(name), holder.get("refusal")
        refused = refusal if isinstance(refusal, str) else ""
        ended = reason == "content_filter" or (self._manner.chat and reason == "length") or refused
        if text is None and ended:
            text = ""
        if not isinstance(text, str):
            kind = "null" if text is None else type(text).__name__
            raise AnswerError(f"a choice whose {name} is {kind}", passing=True)
        details: dict[str, object] = {"request_seed": self._seed}
        if metadata.model and metadata.model != self._manner.model:
            details["served"] = metadata.model
        fingerprint = parsed.get("system_fingerprint")
        if isinstance(fingerprint, str) and fingerprint:
            details["system_fingerprint"] = one_line(_scrubbed(fingerprint, key), 120)
        if refused:
            details["refusal"] = _as_data(refused, key)
        completion = Completion(
            id=self.request.id,
            text=_as_data(text, key),
            finish_reason=_scrubbed(reason, key),
            tokens=metadata.completion_tokens,
            prompt_tokens=metadata.prompt_tokens,
            details=details,
        )
        return completion, metadata

    def adapts(self, status: int, message: str) -> bool:
        """Rename the limit as the server requires, and drop parameters that it does not know."""
        if status not in (400, 422):
            return False
        manner = self._manner
        if "max_completion_tokens" in message and self._limit_sent == "max_tokens":
            manner.limit = "max_completion_tokens"
            return True
        if self._response_format() and _NO_FORMAT.search(message):
            if manner.structured == self._structured_sent:
                manner.structured = _WEAKER[self._structured_sent]
            return True
        if self._system_sent and self._has_system and _NO_SYSTEM.search(message):
            manner.system = False
            return True
        if self._beside_sent == "nothing" or not _UNKNOWN.search(message):
            return False
        if manner.beside == self._beside_sent:
            of_transformers = self._beside_sent == "fields" and _OF_TRANSFORMERS in message
            manner.beside = "generation_config" if of_transformers else "nothing"
        return True

    @property
    def _has_system(self) -> bool:
        messages = self.request.messages or ()
        return self._manner.chat and len(messages) > 1 and messages[0].get("role") == "system"

    def _response_format(self) -> dict[str, Any]:
        schema = self.request.schema
        if schema is None or self._structured_sent == "nothing":
            return {}
        if self._structured_sent == "json_object":
            return {"response_format": {"type": "json_object"}}
        named = {"name": schema.get("title", "answer"), "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _conversation(self) -> dict[str, Any]:
        given = self.request.messages or ()
        messages = [dict(message) for message in given]
        if not self._system_sent:
            messages = without_system(given)
        if not self.request.prompt:
            return {"messages": messages}
        messages.append({"role": "assistant", "content": self.request.prompt})
        return {
            "messages": messages,
            "continue_final_message": True,
            "add_generation_prompt": False,
        }


def read_choice(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse an answer as JSON, and return its one choice.

    Raises
    ------
    AnswerError
        If there is no choice, or more than one. Another answer may be better.
    """
    parsed = parsed_json(content, passing=True)
    if not isinstance(parsed, dict):
        raise AnswerError("JSON that is not an object", passing=True)
    if parsed.get("error"):
        words = one_line(said_in(parsed), 160)
        raise AnswerError(f"an error in place of choices: {words!r}", passing=True)
    choices = parsed.get("choices")
    if not isinstance(choices, list):
        keys = one_line(", ".join(map(repr, list(parsed)[:5])), 100) or "no keys"
        raise AnswerError(f"JSON without a list 'choices'; found {keys}", passing=True)
    if len(choices) != 1 or not isinstance(choices[0], dict):
        raise AnswerError(f"{len(choices):,} choices for 1 prompt", passing=True)
    return parsed, choices[0]


def read_told(parsed: Mapping[str, Any], key: Key | None) -> Told:
    """Read what a server reports besides its answer; missing or invalid counts are None."""
    model, usage = parsed.get("model"), parsed.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    names = ("prompt_tokens", "completion_tokens")
    prompt, completion = (counts[name] if is_count(counts.get(name)) else None for name in names)
    return Told(
        one_line(_scrubbed(model, key), 120) if isinstance(model, str) else "", prompt, completion
    )


def _as_data(text: str, key: Key | None) -> str:
    """Keep a text as it is, but for the key and for half characters, which no file can hold."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole if key is None else key.hide(whole)


@lru_cache(maxsize=64)
def _scrubbed(text: str, key: Key | None) -> str:
    """Take the key out of a word that most answers have in common."""
    return text if key is None else key.scrub(text)
