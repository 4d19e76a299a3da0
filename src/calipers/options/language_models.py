"""Options of language models: the model, its prompts and decoding."""

from __future__ import annotations

import difflib
import os
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from calipers.errors import unknown_name
from calipers.options.option import LANGUAGE_MODEL, PROMPTS, Group, option, options_class, reworded
from calipers.options.rules import FLAG, Rule, one_of, whole

if TYPE_CHECKING:
    from calipers.embedders.options import EmbedderOptions

from calipers.options.embedding import Model
from calipers.options.inputs import Reading
from calipers.options.running import Seeded


def is_language_model(value: Any) -> bool:
    """Whether a value is a language model or may name one."""
    if isinstance(value, str | os.PathLike):
        return str(value).strip() != ""
    from calipers.language_model.model import LanguageModel

    return isinstance(value, LanguageModel)


def may_name_model(value: Any) -> bool:
    """Refuse what is nearly ``ngram`` and no file or folder; its backend knows any other name."""
    kind = value.partition(":")[0] if isinstance(value, str) else ""
    near = kind.isalpha() and difflib.get_close_matches(kind.lower(), ["ngram"], cutoff=0.8)
    if near and kind != "ngram" and not os.path.exists(kind):
        raise unknown_name("language model", kind, ["ngram"])
    return True


def _is_decoding(value: Any) -> bool:
    from calipers.language_model.decoding import Decoding

    Decoding.parse(value)
    return True


DECODINGS = (
    "ancestral",
    "greedy",
    "temperature=",
    "top_k=",
    "top_p=",
    "min_p=",
    "typical=",
    "beam=",
    "contrastive=",
    "adversarial",
)
"""What the shell offers of decodings."""


LANGUAGE_MODEL_NAME = Rule("name a language model", may_name_model)
DECODING = Rule("name a decoding algorithm", _is_decoding, metavar="DECODING")


@options_class
class LanguageModelling(Group):
    """The language model, and how and where it runs."""

    model: Any = option(
        MISSING,
        "The language model: a causal model of transformers by its folder or name, a GGUF file, "
        "ngram or ngram:order=3 for a small model that is fitted on the reference in a second, "
        "https://host/v1#MODEL for a server with OpenAI's interface, or vllm:NAME. In Python also "
        "a :class:`~calipers.language_model.model.LanguageModel`.",
        LANGUAGE_MODEL_NAME,
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        required=True,
        common=True,
        complete=("ngram", "ngram:order=3", "./", "http://localhost:8000/v1#", "vllm:"),
    )
    fit_on: Any = option(
        None,
        "For the model ngram: texts to fit it on. By default the reference.",
        panel=LANGUAGE_MODEL,
        metavar="FILE",
        source=True,
    )
    chat: bool = option(
        False,
        "Ask the model as a chat model: by the chat template of its tokenizer, or the chat form of "
        "a server.",
        FLAG,
        panel=LANGUAGE_MODEL,
        setting=True,
    )
    max_requests: int | None = option(
        None,
        "Stop after N requests to a server. What was received is kept, and the same command "
        "continues from there.",
        whole(1),
        panel=LANGUAGE_MODEL,
    )


@options_class
class Prompted(Group):
    """The prompts of a language model."""

    task: str | None = option(
        None,
        "What to write: continue texts, biographies after examples of them, creative texts by "
        "fifty instructions, or none, texts from their beginning. By default continue where "
        "--prompts or --prompt-words is given, else none.",
        one_of("continue", "biographies", "creative", "none"),
        panel=PROMPTS,
        setting=True,
    )
    prompts: Any = option(
        None,
        "Texts to continue, or prompts, in any format of --reference. By default, with "
        "--prompt-words, the reference.",
        panel=PROMPTS,
        metavar="FILE",
        source=True,
        common=True,
    )
    prompt_words: int | None = option(
        None,
        "Use the first N words of each text as the prompt; in scripts without spaces, characters "
        "count as words. Without it the prompt is the field prompt of a row, or the whole text.",
        whole(1),
        panel=PROMPTS,
        setting=True,
        common=True,
    )
    shots: int = option(
        4,
        "For biographies: number of examples in each prompt, drawn at random from --prompts, whose "
        "rows have the fields name and text.",
        whole(0),
        panel=PROMPTS,
    )
    instructions: Any = option(
        None,
        "Instructions in place of the built-in ones: for creative texts one per line, or one per "
        "sample in any format of --reference; for biographies and, with --chat, for texts to "
        "continue, the text placed before the examples or the words.",
        panel=PROMPTS,
        metavar="FILE",
        source=True,
    )
    keep_prompt: bool = option(
        False,
        "Write texts with their prompts. By default the prompt is left out of the text, so that it "
        "is not scored.",
        FLAG,
        panel=PROMPTS,
        setting=True,
    )


@options_class
class Writing(Group):
    """Options for generating texts."""

    decoding: Any = option(
        "ancestral",
        "How tokens are chosen: ancestral, greedy, or parameters such as "
        "temperature=0.8,top_k=40. Known: temperature, top_k, top_p, min_p, typical, epsilon, "
        "eta, top_h, repetition_penalty, no_repeat_ngram; beam=4, contrastive=0.6,top_k=4, "
        "adversarial. Parameters that are not named are off; truncations apply in the order "
        "written. In Python also a :class:`~calipers.language_model.decoding.Decoding`.",
        DECODING,
        panel=LANGUAGE_MODEL,
        common=True,
        complete=DECODINGS,
    )
    n: int | None = option(
        None,
        "Number of samples. Prompts are used in turn. By default one for each prompt, or 500.",
        whole(1),
        panel=PROMPTS,
        common=True,
    )
    max_tokens: int = option(
        256,
        "Maximum number of tokens of a text, without its prompt.",
        whole(1),
        panel=LANGUAGE_MODEL,
        setting=True,
        common=True,
    )


@options_class
class Loading(Group):
    """Where a language model is found, and how it runs."""

    revision: str | None = reworded(Model, "revision", panel=LANGUAGE_MODEL)
    device: str = reworded(
        Model, "device", "Where the model runs: auto, cpu, cuda, mps.", panel=LANGUAGE_MODEL
    )
    dtype: str = reworded(
        Model,
        "dtype",
        "Number format of the model. In float32 the seed fixes every sample, whatever else is "
        "written; auto is faster on hardware with bfloat16, where it does not.",
        panel=LANGUAGE_MODEL,
    )
    batch_size: int | None = reworded(
        Model,
        "batch_size",
        "Largest number of texts in one forward pass, or of requests under way.",
        panel=LANGUAGE_MODEL,
    )
    endpoint: str | None = reworded(
        Model,
        "endpoint",
        "Server with OpenAI's interface that has the model that --model names. The key is read "
        "from CALIPERS_ENDPOINT_KEY, or for api.openai.com from OPENAI_API_KEY.",
        panel=LANGUAGE_MODEL,
    )
    offline: bool = reworded(Model, "offline", panel=LANGUAGE_MODEL)
    trust_remote_code: bool = reworded(Model, "trust_remote_code", panel=LANGUAGE_MODEL)
    allow_pickle: bool = reworded(Model, "allow_pickle", panel=LANGUAGE_MODEL)

    def of_models(self) -> EmbedderOptions:
        """Return the options in the form that language models take."""
        from calipers.embedders.options import EmbedderOptions

        known = {field.name for field in fields(EmbedderOptions)}
        names = [field.name for field in fields(Loading) if field.name in known]
        return EmbedderOptions(**{name: getattr(self, name) for name in names})


@options_class
class Generating(Loading, Seeded, Writing, Prompted, LanguageModelling, Reading):
    """All options that determine the samples of a language model."""
