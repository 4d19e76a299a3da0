"""The tokenizer of sacrebleu for the script of the references.

BLEU and TER count words, and by default sacrebleu takes for one what stands between white space and
marks: of Chinese, Japanese or Thai a clause or a whole text, so that nothing is shared by two texts
that differ. Its tokenizers for such languages are chosen by hand there; here by the letters of the
references alone, so that all systems of a run are cut alike, whatever they wrote. sacrebleu's own
signature tells which one it was.

====================  ==============================  ============================================
references            BLEU                            TER
====================  ==============================  ============================================
Chinese               ``zh``: Chinese by characters   Chinese and Japanese by characters
Japanese              ``ja-mecab`` where MeCab is     (``norm:yes|asian:yes``)
                      installed, else ``char``
Thai, Lao, Khmer, …   ``char``: by code points        not defined: a clause would be one word
all others            ``13a``                         between white space
====================  ==============================  ============================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import chain, islice

from calipers.text.sacrebleu_tokenizers import MECAB
from calipers.unicode.scripts import without_spaces

LOOKED_AT = 1_000
"""References, from the first on."""

KANA_OF_JAPANESE = 0.05
"""Of all signs; Japanese prose has 0.4 to 0.7, and Chinese none but in names."""

_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")


def bleu_tokenizer(references: Iterable[Iterable[str]]) -> str:
    """Return the name of sacrebleu's tokenizer for the script of the references.

    Examples
    --------
    >>> bleu_tokenizer([["我喜欢咖啡。"]]), bleu_tokenizer([["ฉันชอบกาแฟ"]])
    ('zh', 'char')
    >>> bleu_tokenizer([["I like coffee."], ["Я люблю кофе."]])
    '13a'
    """
    text = _joined(references)
    if not without_spaces(text):
        return "13a"
    han, kana = len(_HAN.findall(text)), len(_KANA.findall(text))
    if kana > KANA_OF_JAPANESE * (han + kana):
        return "ja-mecab" if all(map(find_spec, MECAB["ja-mecab"][1])) else "char"
    return "zh" if han else "char"


def ter_cuts_characters(references: Iterable[Iterable[str]]) -> bool | None:
    """Whether TER must treat characters as words; None where sacrebleu supports no way.

    Examples
    --------
    >>> [ter_cuts_characters([[text]]) for text in ("I like it", "我喜欢", "ฉันชอบ")]
    [False, True, None]
    """
    text = _joined(references)
    if not without_spaces(text):
        return False
    return True if _HAN.search(text) or _KANA.search(text) else None


def lack_spaces(references: Iterable[Iterable[str]]) -> bool:
    """Whether the references are in a script without spaces between words."""
    return without_spaces(_joined(references))


def _joined(references: Iterable[Iterable[str]]) -> str:
    return "\n".join(islice(chain.from_iterable(references), LOOKED_AT))
