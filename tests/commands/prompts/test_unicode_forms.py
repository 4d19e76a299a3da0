"""Prompts that are written in other Unicode forms are the same prompts."""

import calipers
from calipers.samples import SampleSet


def test_systems_meet_on_prompts_in_any_form():
    prompts = [f"Un café numéro {row}" for row in range(8) for _ in range(2)]
    apart = [prompt.replace("é", "e\u0301") for prompt in prompts]
    texts = [f"il pleut sur la ville {row % 5} {row % 3}" for row in range(16)]
    systems = {
        "composed": SampleSet.from_texts(texts, name="composed", prompts=prompts),
        "apart": SampleSet.from_texts(texts[::-1], name="apart", prompts=apart),
    }
    found = calipers.prompts(None, systems, embedder="tfidf", cache=False, threads=1)
    assert not any("lack" in warning for warning in found.warnings)
    assert {system.name: system.summary.n for system in found} == {"composed": 16, "apart": 16}
