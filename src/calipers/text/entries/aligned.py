"""Entries that hold each text against the reference of its own row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calipers import text
from calipers.text.checks import LONGEST
from calipers.text.entries.memo import Memo
from calipers.text.entries.metric import FROM_ZERO, Held, TextMetric
from calipers.text.entries.options import order
from calipers.text.keys import Option

if TYPE_CHECKING:
    from calipers.metrics.bert_score import BertScore

PERCENT = (0.0, 100.0)
WORDING = "sense: a good text in other words scores low"
ZHANG = "Zhang et al., ICLR 2020"
LEVEL = "fluency, order, facts; its level belongs to the model: 0.8 need not be high"
SIGNED_UNIT = (-1.0, 1.0)
WEIGHTS = Option(
    name="weights",
    usual="even",
    tells="whether rare tokens count more",
    words=("even", "idf"),
)
_KEPT = Memo()


def _bert_score(held: Held, options: Mapping[str, Any]) -> BertScore:
    """Precision, recall and F1, which share the work."""
    idf = options["weights"] == "idf"
    return _KEPT.get(held, idf, lambda: text.bert_score(held.texts, held.references, idf=idf))


ENTRIES = (
    TextMetric(
        name="bleu",
        family="aligned",
        tells="words and phrases in common with the reference of the row, over the whole set",
        read=lambda held, options: text.bleu(
            held.texts, held.references, order=options["n"], tokenizer=options["tokenizer"]
        ),
        source="Papineni et al., ACL 2002; as sacrebleu computes it (Post, WMT 2018)",
        blind=WORDING,
        side="aligned",
        takes=(
            order(4),
            Option(
                name="tokenizer",
                usual="13a",
                tells="sacrebleu's tokenizer, whatever --tokenizer says",
                words=("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"),
            ),
        ),
        range=PERCENT,
        better="higher",
        extra="bleu",
        package="sacrebleu",
    ),
    TextMetric(
        name="chrf",
        family="aligned",
        tells="sequences of characters in common with the reference of the row",
        read=lambda held, options: text.chrf(
            held.texts, held.references, word_order=options["words"]
        ),
        source="Popović, WMT 2015 and 2017; as sacrebleu computes it",
        blind=WORDING,
        side="aligned",
        takes=(
            Option(
                name="words",
                usual=0,
                tells="longest n-grams of words that count too; 2 is chrF++",
                least=0,
                most=LONGEST,
            ),
        ),
        range=PERCENT,
        better="higher",
        extra="bleu",
        package="sacrebleu",
    ),
    TextMetric(
        name="ter",
        family="aligned",
        tells="edits that turn texts into their references, per 100 words of these; slow",
        read=lambda held, _: text.ter(held.texts, held.references),
        source="Snover et al., AMTA 2006; as sacrebleu computes it",
        blind=WORDING,
        side="aligned",
        on_request=True,
        slow=True,
        range=FROM_ZERO,
        better="lower",
        extra="bleu",
        package="sacrebleu",
    ),
    TextMetric(
        name="rouge",
        family="aligned",
        tells="how much of its reference a text says, by n-grams or the longest common subsequence",
        read=lambda held, options: text.rouge(
            held.texts, held.references, kind=options["kind"], part=options["part"]
        ),
        source="Lin, 2004; as rouge-score computes it",
        blind=f"{WORDING}; everything but the letters a-z and digits",
        side="aligned",
        takes=(
            Option(
                name="kind",
                usual="rougeL",
                tells="what is held against the reference",
                words=("rougeL", *(f"rouge{n}" for n in range(1, 10)), "rougeLsum"),
            ),
            Option(
                name="part",
                usual="f1",
                tells="which side's share",
                words=("f1", "precision", "recall"),
            ),
        ),
        better="higher",
        extra="bleu",
        package="rouge_score",
    ),
    TextMetric(
        name="bert_score_precision",
        family="aligned",
        tells="how well each token of a text is matched by one of its reference",
        read=lambda held, options: _bert_score(held, options).precision,
        source=f"{ZHANG}, section 3",
        blind=LEVEL,
        side="aligned",
        takes=(WEIGHTS,),
        on_request=True,
        slow=True,
        range=SIGNED_UNIT,
        better="higher",
        extra="text",
        package="torch",
    ),
    TextMetric(
        name="bert_score_recall",
        family="aligned",
        tells="how well each token of the reference is matched by one of the text",
        read=lambda held, options: _bert_score(held, options).recall,
        source=f"{ZHANG}, section 3",
        blind=LEVEL,
        side="aligned",
        takes=(WEIGHTS,),
        on_request=True,
        slow=True,
        range=SIGNED_UNIT,
        better="higher",
        extra="text",
        package="torch",
    ),
    TextMetric(
        name="bert_score_f1",
        family="aligned",
        tells="how well tokens match both ways, by what they mean in their context",
        read=lambda held, options: _bert_score(held, options).f1,
        source=f"{ZHANG}, section 3",
        blind=LEVEL,
        side="aligned",
        takes=(WEIGHTS,),
        on_request=True,
        slow=True,
        range=SIGNED_UNIT,
        better="higher",
        extra="text",
        package="torch",
    ),
)
