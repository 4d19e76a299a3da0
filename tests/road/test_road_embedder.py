import numpy as np
import pytest

from calipers.embed import Embedder, EmbedderChoice, Options
from calipers.errors import InputError
from calipers.road import embedder as road
from calipers.samples import SampleSet

TEXTS = SampleSet.from_texts(["one two", "two three"], name="human")
VECTORS = SampleSet.from_vectors(np.eye(3), name="real")
IMAGES = SampleSet.from_images(np.zeros((2, 4, 4, 3), np.uint8), name="pictures")
TOKENS = SampleSet.from_tokens([[1, 2], [3]], name="ids")


class Fitting(Embedder):
    name = "fitting"
    views = ("words",)
    identity = "x"
    signature: dict[str, str] = {}  # noqa: RUF012

    needs_fitting = True

    def __init__(self, seen=None):
        self.seen = seen

    def fitted(self, samples):
        return Fitting(list(samples))

    def encode(self, samples):
        raise AssertionError


class Loaded(Embedder):
    reads = frozenset({"texts", "images"})

    def encode(self, samples):
        raise AssertionError


@pytest.fixture
def loaded(monkeypatch):
    """Note what would be loaded."""
    seen = []

    def load(self):
        seen.append(self)
        return Loaded()

    monkeypatch.setattr(EmbedderChoice, "load", load)
    return seen


@pytest.mark.parametrize(
    ("wanted", "samples", "expected"),
    [
        (None, TEXTS, EmbedderChoice("minilm")),
        (None, IMAGES, EmbedderChoice("pixels")),
        (Options(dtype="auto"), TEXTS, EmbedderChoice("minilm", Options(dtype="auto"))),
        ("tfidf:size=9", TEXTS, EmbedderChoice("tfidf:size=9")),
        (EmbedderChoice("tfidf"), TEXTS, EmbedderChoice("tfidf")),
    ],
)
def test_the_one_that_was_asked_for_or_the_usual_one(loaded, wanted, samples, expected):
    road.open_embedder(wanted, [samples])
    assert loaded == [expected]


def test_options_go_to_an_embedder_that_is_named(loaded):
    road.open_embedder("minilm", [TEXTS], device="cpu", batch_size=3)
    assert loaded[0].settings == Options(device="cpu", batch_size=3)


@pytest.mark.parametrize("wanted", [None, "minilm", EmbedderChoice("tfidf"), Options()])
def test_vectors_are_taken_as_they_are(wanted):
    assert road.open_embedder(wanted, [VECTORS]).name == "precomputed"


def test_token_ids_have_no_usual_embedder():
    with pytest.raises(InputError, match="ids: holds token ids, whose meaning only their own mod"):
        road.open_embedder(None, [TOKENS])


def test_an_embedder_that_does_not_read_the_samples_is_refused():
    with pytest.raises(InputError, match="pictures: holds images, but the embedder 'fitting' rea"):
        road.open_embedder(Fitting(), [IMAGES])


def test_fitting_sees_the_reference_alone_unless_there_is_none():
    other = SampleSet.from_texts(["four"], name="model")
    assert road.open_embedder(Fitting(), [TEXTS, other]).seen == ["one two", "two three"]
    all_of_them = road.open_embedder(Fitting(), [TEXTS, other], fit_on_all=True).seen
    assert all_of_them == ["one two", "two three", "four"]


def test_a_service_is_asked_only_for_a_model_that_was_named():
    with pytest.raises(InputError, match="'minilm' is an embedder of Calipers itself"):
        road.open_embedder(Options(endpoint="http://h/v1"), [TEXTS])


def test_pixels_that_nobody_chose_are_warned_of():
    assert road.usual_warnings(None, IMAGES) == (road.PIXELS,)
    assert road.usual_warnings("pixels", IMAGES) == road.usual_warnings(None, TEXTS) == ()
