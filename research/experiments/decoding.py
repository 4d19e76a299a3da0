"""Decoding algorithms, model sizes and lengths: do the trends of paper 004 show on small models?

    python research/experiments/decoding_models.py test.csv --output models/
    python research/experiments/decoding.py test.csv --models models/ --samples samples/

For each model and decoding, 2,000 texts of AG News are written from their beginning (kept in
`--samples`, so that a stopped run goes on) and compared with 2,000 texts that no model has seen:
MAUVE*, precision and recall by meaning and form, and the perplexity of generated and real texts
under the largest model. Tables as 5, 6, 7 and 15 and figures as 8, 22 and 23 of Pillutla et al.
(JMLR 2023), and tables 1 to 3 of Le Bronnec et al. (ACL 2024). `--model ngram:order=3` in place of
`--models` goes through the same with the n-gram model, fitted on the training texts.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import calipers
from calipers.embedders.options import EmbedderOptions
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import LanguageModel, Passage
from calipers.language_model.models import find_language_model
from decoding_models import read_parts

MAIN = ("greedy", "ancestral", "top_p=0.9", "adversarial")
NUCLEUS = ("top_p=0.5", "top_p=0.7", "top_p=0.8", "top_p=0.9", "top_p=0.95", "top_p=0.99")
OTHERS = (
    "temperature=0.3",
    "temperature=0.5",
    "temperature=0.7",
    "temperature=0.85",
    "temperature=1.2",
    "top_k=40",
    "typical=0.9",
    "min_p=0.05",
    "beam=4",
    "beam=4,no_repeat_ngram=4",
    "contrastive=0.6,top_k=5",
)
WORDS, PROMPTED = 10, 1_000
"""Words of a prompt, and how many texts are continued."""

CONTINUED = (
    *MAIN,
    "top_p=0.7",
    "temperature=0.7",
    "beam=4",
    "beam=4,no_repeat_ngram=4",
    "contrastive=0.6,top_k=5",
)
LENGTHS = (8, 16, 24, 32, 48)
KEYS = ("mauve_star", "precision", "recall", "form.mauve_star", "form.precision", "form.recall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="test.csv of AG News")
    parser.add_argument("--models", type=Path, help="folder that decoding_models.py wrote")
    parser.add_argument("--model", help="ngram:order=3, in place of --models")
    parser.add_argument("--samples", type=Path, required=True, help="folder for the samples")
    parser.add_argument("--n", type=int, default=2_000)
    parser.add_argument("--quick", action="store_true", help="the main decodings alone")
    options = parser.parse_args()
    parts = read_parts(options.data)
    reference = parts["reference"][: options.n]
    models = _models(options, parts)
    judge = list(models.values())[-1]
    options.samples.mkdir(parents=True, exist_ok=True)
    human = perplexity(judge, reference)
    print(f"real texts under {judge.name}: perplexity {human:.2f}")
    tables: dict[str, Any] = {"human": human}
    for size, model in models.items():
        last = model is judge
        wanted = dict.fromkeys(MAIN + NUCLEUS + OTHERS) if last and not options.quick else MAIN
        # Contrastive search compares hidden states, which an n-gram model does not have
        wanted = [name for name in wanted if not (options.model and "contrastive" in name)]
        systems = {name: write(model, size, name, reference, options) for name in wanted}
        compared = calipers.compare(reference, systems, metrics=KEYS_ASKED, floor=False, seed=0)
        for name, texts in systems.items():
            row = _row(compared[name], perplexity(judge, texts), human)
            tables[f"{size} {name}"] = row
            print(f"{size:8} {name:26} " + _line(row), flush=True)
        if last and not options.quick:
            tables["verdict"] = str(compared.verdict)
            figure(compared.to_dict(), options.samples / "top_p.png")
    if not options.quick:
        tables["prompted"] = prompted(list(models.items())[-1], judge, reference, options)
        tables["length"] = lengths(models, reference, options)
    (options.samples / "tables.json").write_text(json.dumps(tables, indent=1) + "\n")


KEYS_ASKED = "mauve_star,precision,recall"


def _models(options: argparse.Namespace, parts: dict[str, list[str]]) -> dict[str, LanguageModel]:
    if options.model:
        name = options.model.replace(":", "-").replace("=", "")
        return {name: find_language_model(options.model, EmbedderOptions(), fit_on=parts["train"])}
    sizes = [size for size in ("small", "medium", "large") if (options.models / size).is_dir()]
    return {
        size: find_language_model(str(options.models / size), EmbedderOptions()) for size in sizes
    }


def write(
    model: LanguageModel, size: str, decoding: str, reference: list[str], options: Any
) -> list[str]:
    """Write the samples of one decoding, or read them where they are."""
    made = calipers.generate(
        model=model,
        reference=reference,
        decoding=Decoding.parse(decoding),
        n=options.n,
        max_tokens=64,
        output=options.samples / f"{size}-{decoding}.jsonl",
    )
    return list(made)


def prompted(
    last: tuple[str, LanguageModel], judge: LanguageModel, reference: list[str], options: Any
) -> Any:
    """Continue the first words of real texts, so that searches write different texts too."""
    size, model = last
    n = min(options.n, PROMPTED)
    prompts = [text for text in reference if len(text.split()) > WORDS + 5][:n]
    rest = [text.split(None, WORDS)[WORDS] for text in prompts]
    wanted = [name for name in CONTINUED if not (options.model and "contrastive" in name)]
    systems = {name: proceed(model, size, name, prompts, options) for name in wanted}
    compared = calipers.compare(rest, systems, metrics=KEYS_ASKED, floor=False, paired=True)
    human, found = perplexity(judge, rest), {}
    print(f"real continuations under {judge.name}: perplexity {human:.2f}")
    for name, texts in systems.items():
        found[name] = _row(compared[name], perplexity(judge, texts), human)
        print(f"{size:8} {name:26} " + _line(found[name]), flush=True)
    return found


def proceed(
    model: LanguageModel, size: str, decoding: str, prompts: list[str], options: Any
) -> list[str]:
    """Continue the first words of texts by one decoding, or read what is there."""
    made = calipers.generate(
        model=model,
        reference=prompts,
        prompts=prompts,
        prompt_words=WORDS,
        decoding=Decoding.parse(decoding),
        n=len(prompts),
        max_tokens=48,
        output=options.samples / f"{size}-{WORDS}words-{decoding}.jsonl",
    )
    return list(made)


def perplexity(model: LanguageModel, texts: list[str]) -> float:
    """Of a corpus: exp of the mean negative log-likelihood over all tokens."""
    scores = model.score([Passage(text) for text in texts if text], first="bos")
    return math.exp(-float(np.mean(scores.log_probability)))


def figure(data: dict[str, Any], path: Path) -> None:
    """Draw the scores against p and the temperature, as figure 23 of paper 004 does."""
    from calipers.report.plots import save_figure
    from calipers.report.plots.parameter import parameter_plot

    x, by = {"ancestral": 1.0}, {"ancestral": "top_p"}
    for name in (*NUCLEUS, *OTHERS):
        key, _, value = name.partition("=")
        if key in ("top_p", "temperature") and "," not in name:
            x[name], by[name] = float(value), key
    save_figure(parameter_plot(data, x=x, by=by, x_label="top_p, or temperature").figure(), path)


def lengths(models: dict[str, LanguageModel], reference: list[str], options: Any) -> Any:
    """Scores of both sides cut to a number of words."""
    found = {}
    for size, model in models.items():
        texts = write(model, size, "top_p=0.9", reference, options)
        for words in LENGTHS:
            compared = calipers.compare(
                reference, texts, match_length=words, metrics=KEYS_ASKED, floor=False
            )
            row = {key: compared["generated"][key].value for key in KEYS}
            found[f"{size} {words}"] = row
            print(f"{size:8} {words:3} words  " + _line(row), flush=True)
    return found


def _row(system: Any, perplexity: float, human: float) -> dict[str, Any]:
    scores = {key: system[key].value for key in KEYS}
    halves = {
        f"{key}_half": (system[key].interval[1] - system[key].interval[0]) / 2
        for key in KEYS
        if system[key].interval
    }
    return {**scores, **halves, "perplexity": perplexity, "gap": abs(perplexity - human)}


def _line(row: dict[str, Any]) -> str:
    shown = [f"{row[key]:.3f}" for key in KEYS]
    more = f"  ppl {row['perplexity']:8.2f}" if "perplexity" in row else ""
    return "  ".join(shown) + more


if __name__ == "__main__":
    main()
