"""Lengths, and texts that the embedder cut."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ks_2samp

from calipers.embed import Embeddings
from calipers.road.confounders import confounders
from calipers.road.confounders_chance import beyond_chance, ks_chance, ks_distance, percent
from calipers.road.confounders_lengths import measure_lengths
from calipers.road.confounders_texts import read_facts
from calipers.samples import SampleSet
from calipers.samples.cutting import match_length


def of_lengths(rng, lengths, letters=4):
    signs = list("abcdefghijklmnopqrstuvwxyz")
    texts = [" ".join("".join(rng.choice(signs, letters)) for _ in range(n)) for n in lengths]
    return SampleSet.from_texts(texts, name="set")


def lengths_of(reference, *generated):
    return measure_lengths(read_facts(reference), [read_facts(each) for each in generated])


def test_the_distance_is_that_of_scipy_and_its_place_is_where_the_shares_differ_so(rng):
    for _ in range(20):
        ours, theirs = rng.integers(0, 30, 40), rng.integers(3, 25, 60)
        distance, place = ks_distance(ours, theirs)
        assert distance == pytest.approx(ks_2samp(ours, theirs).statistic)
        assert abs((ours <= place).mean() - (theirs <= place).mean()) == pytest.approx(distance)


def test_sets_of_one_kind_hardly_ever_reach_the_chance_distance(rng):
    found = [ks_distance(*rng.integers(0, 50, (2, 100)))[0] for _ in range(500)]
    assert max(found) < ks_chance(100, 100)
    assert np.mean(np.array(found) > ks_chance(100, 100) / 2) > 0.05


def test_by_hand():
    sides = ["a bb", "a bb ccc", "a bb ccc dddd"], ["a", "a bb", "a bb ccc"]
    reference, generated = (SampleSet.from_texts(side, name="x") for side in sides)
    words, characters = lengths_of(reference, generated)
    assert (words.unit, words.reference, words.generated) == ("words", 3, 2)
    # 0, 1, 2 of the reference's three are at most 1, 2, 3 words long, and 1, 2, 3 of the others
    assert words.distance == pytest.approx(1 / 3)
    assert words.generated_short - words.reference_short == pytest.approx(1 / 3)
    assert (characters.unit, characters.reference, characters.generated) == ("characters", 8, 4)
    assert not words.differs, "three texts differ by chance"


def test_longer_texts_are_warned_of_with_a_length_to_cut_at(rng):
    reference = of_lengths(rng, rng.integers(30, 50, 200))
    longer = of_lengths(rng, rng.integers(60, 80, 200))
    (warning,) = confounders(reference, [longer]).warnings
    median, known = np.median(longer.word_counts()), np.median(reference.word_counts())
    assert warning.startswith(
        f"its texts have {median:g} words in the median, those of the reference {known:g};"
    )
    cut = lengths_of(reference, longer)[0].cut
    assert cut == int(np.quantile(reference.word_counts(), 0.05))
    assert f"--match-length {cut} cuts both sides alike" in warning
    assert confounders(match_length(reference, cut), [match_length(longer, cut)]).warnings == ()


def test_equal_medians_with_a_limit_on_one_side_are_warned_of(rng):
    reference = of_lengths(rng, rng.integers(20, 81, 300))
    stopped = of_lengths(rng, [50] * 300)
    (warning,) = confounders(reference, [stopped]).warnings
    assert "of its texts have at most" in warning
    assert "words" in warning


def test_a_word_more_at_one_limit_is_no_difference(rng):
    found = confounders(of_lengths(rng, [100] * 300), [of_lengths(rng, [101] * 300)])
    assert found.lengths[0].distance == 1
    assert found.lengths[0].stretch == pytest.approx(1.01)
    assert found.warnings == ()


def test_empty_texts_on_one_side_are_a_difference(rng):
    lengths = rng.integers(20, 40, 300)
    reference, generated = of_lengths(rng, lengths), of_lengths(rng, lengths * (lengths > 25))
    assert (
        "of its texts have at most 0 words, 0 % of the"
        in (confounders(reference, [generated]).warnings[0])
    )


def test_longer_words_show_in_characters(rng):
    numbers = rng.integers(30, 50, 200)
    short, long = of_lengths(rng, numbers, 3), of_lengths(rng, numbers, 7)
    warning = confounders(short, [long]).warnings[0]
    assert "characters in the median" in warning
    assert "--match-length" not in warning


def test_a_script_without_spaces_is_measured_in_characters(rng):
    signs = [chr(0x4E00 + number) for number in range(400)]
    texts = ["".join(rng.choice(signs, rng.integers(40, 60))) for _ in range(100)]
    chinese = SampleSet.from_texts(texts, name="x")
    assert [each.unit for each in lengths_of(chinese, chinese)] == ["characters"]


def test_token_ids_are_measured_in_tokens(rng):
    short, long = (
        SampleSet.from_tokens([rng.integers(0, 5000, n) for n in rng.integers(*span, 80)], name="x")
        for span in ((10, 20), (30, 40))
    )
    found = confounders(short, [long])
    assert list(found.to_dict()["lengths"]) == ["tokens"]
    assert "tokens in the median" in found.warnings[0]
    assert (found.scripts, found.language) == (None, None)


def test_files_of_one_system_are_taken_together(rng):
    reference = of_lengths(rng, rng.integers(30, 50, 200))
    files = [of_lengths(rng, rng.integers(30, 50, 100)) for _ in range(3)]
    whole = SampleSet.from_texts([text for each in files for text in each], name="x")
    assert lengths_of(reference, *files) == lengths_of(reference, whole)


def embedded(marks):
    marks = np.array(marks)
    return Embeddings({"meaning": np.zeros((len(marks), 2))}, {}, truncated=marks)


@pytest.fixture
def alike(rng):
    return [of_lengths(rng, rng.integers(100, 150, 200)) for _ in range(2)]


@pytest.mark.parametrize(
    ("theirs", "ours", "said"),
    [
        (0.0, 0.04, None),
        (0.30, 0.32, None),
        (0.0, 0.5, "beginnings stand against whole texts"),
        (0.6, 0.2, "beginnings stand against whole texts"),
        (0.9, 0.91, "the scores speak of their beginnings"),
    ],
)
def test_texts_that_the_embedder_cut(alike, theirs, ours, said):
    reference, generated = alike
    marks = [np.arange(200) < share * 200 for share in (theirs, ours)]
    found = confounders(reference, [generated], (embedded(marks[0]), [embedded(marks[1])]))
    assert (found.truncation.reference, found.truncation.generated) == (theirs, ours)
    assert len(found.warnings) == (said is not None)
    if said:
        text = found.warnings[0]
        assert text.startswith(f"{percent(ours)} of its texts and {percent(theirs)} of the ref")
        assert said in text
        assert f"--match-length {found.truncation.words} cuts" in text


def test_the_length_to_cut_at_lies_between_what_was_cut_and_what_was_not(rng):
    reference = of_lengths(rng, rng.integers(80, 120, 200))
    longer = of_lengths(rng, rng.integers(180, 220, 200))
    cut, whole = embedded([True] * 200), embedded([False] * 200)
    found = confounders(reference, [longer], (whole, [cut])).truncation
    assert 110 <= found.words < 120
    found = confounders(longer, [longer.renamed("again")], (cut, [cut]))
    assert found.truncation.words is None
    assert found.warnings == (), "the reference itself"


def test_without_marks_nothing_is_said_of_cuts(alike):
    reference, generated = alike
    given = embedded([True] * 200)
    assert confounders(reference, [generated]).truncation is None
    none = replace(given, truncated=None)
    assert confounders(reference, [generated], (given, [none])).truncation is None


def test_few_texts_are_no_proof(rng):
    texts = of_lengths(rng, rng.integers(100, 150, 10))
    marks = embedded([True] * 2 + [False] * 8), [embedded([False] * 10)]
    assert confounders(texts, [of_lengths(rng, texts.word_counts())], marks).warnings == ()


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.0002, "under 0.1 %"),
        (0.031, "3.1 %"),
        (0.0996, "10 %"),
        (0.42, "42 %"),
        (0.9962, "99.6 %"),
        (0.99999, "over 99.9 %"),
    ],
)
def test_shares_are_never_rounded_to_none_or_all(share, text):
    assert percent(float(share)) == text


def test_a_share_is_beyond_chance_by_four_standard_errors():
    # sqrt(0.15 * 0.85 * 2 / n) is the standard error of the difference of 0.2 and 0.1
    assert not beyond_chance(0.2, 0.1, 400, 400)
    assert beyond_chance(0.2, 0.1, 420, 420)
    assert not beyond_chance(0.1, 0.2, 9000, 9000)
    assert not beyond_chance(0.0, 0.0, 5, 5)
