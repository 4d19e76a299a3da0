"""What a view sees is said in words for the kind of the samples, in every format."""

from __future__ import annotations

import re

import numpy as np
import pytest

import calipers
from calipers.report.comparison.document import document, full
from calipers.report.render.html import html
from calipers.report.render.markdown import markdown
from calipers.report.render.text import plain
from calipers.wording.names import VIEWS, VIEWS_OF_IMAGES

OF_TEXTS, OF_IMAGES = (
    [views[name] for name in ("meaning", "form")] for views in (VIEWS, VIEWS_OF_IMAGES)
)


@pytest.fixture(scope="module")
def results():
    class Two:
        name, identity, views, signature = "two", "two", ("meaning", "form"), {"embedder": "two"}
        reads = frozenset({"texts", "images"})

        def embed(self, samples):
            rows = [np.array([len(s), np.sum(s) if len(s) == 8 else ord(s[-1])]) for s in samples]
            rows = np.array(rows, np.float32)
            return calipers.embedders.EncodedBatch(
                {"meaning": rows, "form": rows[:, ::-1].copy()}, np.zeros(len(rows), bool)
            )

    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 40, 8, 8, 3), dtype=np.uint8)
    texts = [[f"text number {n}" for n in rng.integers(0, 9999, 40)] for _ in range(2)]
    metrics = ["precision", "recall"]
    options = {"embedder": Two(), "cache": False, "floor": False, "metrics": metrics}
    return [calipers.compare(*both, **options) for both in (texts, images)]


FORMATS = {
    "screen": lambda found: plain(document(found, details=True)),
    "markdown": lambda found: markdown(full(found)),
    "notebook": lambda found: html(full(found)),
    "page": lambda found: found.html(),
}


@pytest.mark.parametrize("shown", FORMATS)
def test_images_are_not_explained_as_texts(results, shown):
    for found, said, unsaid in zip(
        results, (OF_TEXTS, OF_IMAGES), (OF_IMAGES, OF_TEXTS), strict=True
    ):
        text = re.sub(r"\\s+", " ", FORMATS[shown](found))
        assert all(words in text for words in said), shown
        assert not any(words in text for words in unsaid), shown
        assert "fluency" in text if said is OF_TEXTS else "fluency" not in text


def test_the_views_of_the_pictures_of_a_page_are_those_of_images(results):
    from calipers.report.html.pictures import described

    for found, said in zip(results, (OF_TEXTS, OF_IMAGES), strict=True):
        assert [view["sees"] for view in described(found, ["meaning", "form"])] == said
