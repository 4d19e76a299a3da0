"""All five sources and what real models show of them, in the order in which the pages stand."""

from __future__ import annotations

from calipers.errors import InputError
from reproduction.item import Item, Source
from reproduction.items_bertscore_mauve import SOURCE as BERTSCORE_MAUVE
from reproduction.items_mauve import SOURCE as MAUVE
from reproduction.items_perplexity_bleu import SOURCE as PERPLEXITY_BLEU
from reproduction.items_prd import SOURCE as PRD
from reproduction.items_precision_recall import SOURCE as PRECISION_RECALL
from reproduction.items_real_models import SOURCE as REAL_MODELS

SOURCES: tuple[Source, ...] = (
    *(PRECISION_RECALL, PRD, PERPLEXITY_BLEU, BERTSCORE_MAUVE, MAUVE),
    REAL_MODELS,
)

ITEMS: dict[str, Item] = {item.key: item for source in SOURCES for item in source.items}


def find(key: str) -> Item:
    """Look an item up by its key."""
    if key not in ITEMS:
        raise InputError(f"{key}: no table or figure of that name; --list names all")
    return ITEMS[key]
