"""What else may have moved a score: lengths, copies, scripts and languages."""

import csv
import json
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from calipers.demo.systems import systems
from calipers.embedders import Embeddings
from calipers.evaluate.cautions.confounders import Confounders, ReferenceTexts, confounders
from calipers.evaluate.cautions.copies import Duplicates, repeats
from calipers.evaluate.cautions.forms import Forms
from calipers.evaluate.cautions.lengths import ks_chance, ks_distance, measure_lengths
from calipers.evaluate.cautions.texts import (
    beyond_chance,
    common_words,
    letters,
    longest_among,
    longest_common,
    percent,
    read_facts,
    script_of,
)
from calipers.evaluate.inference import paired_rows
from calipers.samples import SampleSet
from calipers.samples.truncation import match_length

KEYS = {
    "lengths",
    "truncation",
    "duplicates",
    "copies",
    "prompts",
    "beginnings",
    "forms",
    "languages",
    "scripts",
    "language",
    "same",
}


def sample_set(texts):
    return SampleSet.from_texts(texts, name="x")


@pytest.mark.parametrize("seed", range(4))
def test_the_demo_systems(seed):
    reference, generated = systems(seed)
    known = ReferenceTexts.of(sample_set(reference))
    said = {
        name: confounders(known, [sample_set(texts)]).warnings for name, texts in generated.items()
    }
    assert said["held_out"] == said["markov_chain"] == ()
    assert any("begin as a reference text does" in text for text in said["near_copies"])


def test_the_record_is_plain_data_with_every_number(rng):
    reference, generated = systems(0)
    found = confounders(sample_set(reference), [sample_set(generated["held_out"])])
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(data) == KEYS
    assert set(data["lengths"]) == {"words", "characters"}
    sizes = {"n": len(reference), "m": len(generated["held_out"])}  # by what this Python documents
    assert data["copies"] == {"generated": 0.0, "expected": 0.0, **sizes}
    assert data["scripts"]["reference"] == {"Latin": 1.0}


def test_a_reference_read_once_gives_the_same():
    reference, generated = systems(1)
    texts, system = sample_set(reference), sample_set(generated["near_copies"])
    known = ReferenceTexts.of(texts)
    first, again = confounders(known, [system]), confounders(known, [system])
    assert first == again == confounders(texts, [system])


@pytest.mark.parametrize(
    "samples",
    [
        SampleSet.from_vectors(np.eye(4), name="x"),
        SampleSet.from_images(np.zeros((3, 4, 4), np.uint8), name="x"),
    ],
)
def test_images_have_none_of_it_and_embeddings_their_repeats(samples):
    found = confounders(samples, [samples])
    repeats = None if samples.vectors is None else Duplicates(0.0, 0.0, 4, "rows")
    assert found == Confounders(duplicates=repeats, same=True)
    assert found.warnings == ()
    assert set(found.to_dict()) == KEYS


def test_rows_that_repeat_are_told_beside_those_of_the_reference(rng):
    reference, generated = rng.standard_normal((2, 300, 5)).round(1) + 0.0
    generated[:, 0] += np.arange(300)
    generated[150:] = generated[:150]
    generated[0, 1], generated[150, 1] = 0.0, -0.0
    sets = [SampleSet.from_vectors(rows, name="x") for rows in (reference, generated)]
    found = confounders(sets[0], sets[1:])
    assert (found.duplicates.generated, found.duplicates.reference) == (0.5, 0.0)
    (warning,) = found.warnings
    assert warning.startswith("50 % of its rows duplicate an earlier one, as do 0 % of as many")
    assert "coverage, recall, MAUVE" in warning
    assert "precision" in warning
    assert confounders(sets[1], sets[1:]).warnings == ()
    assert confounders(sets[1], [SampleSet.from_vectors(generated + 1, name="y")]).warnings == ()


@pytest.mark.parametrize(
    "texts", [["a"], ["", "a"], ["a b", "", "?"], ["\x00\x01", "é" * 5000], ["🙂 🙂", "zwei"]]
)
def test_odd_and_tiny_sets_are_measured_without_a_warning(texts):
    for other in (["b", ""], texts[::-1], ["longer text of some more words"]):
        found = confounders(sample_set(texts), [sample_set(other)])
        json.dumps(found.to_dict(), allow_nan=False)
        assert found.warnings == ()


def ag_news(folder):
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        return [f"{row[1]}. {row[2]}" for row in csv.reader(file)]


def writing_prompts(folder, name):
    with (folder / "writing_prompts" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


@pytest.mark.slow
def test_halves_of_human_texts_are_never_warned_of(data_folder):
    for texts in (ag_news(data_folder), writing_prompts(data_folder, "human")):
        for seed in range(5):
            rows = np.random.default_rng(seed).permutation(len(texts))
            one, other = ([texts[row] for row in half] for half in np.array_split(rows, 2))
            for size in (60, 500, len(texts)):
                found = confounders(sample_set(one[:size]), [sample_set(other[:size])])
                assert found.warnings == ()


def test_the_prompts_in_the_writing_prompts_are_found(data_folder):
    human = ReferenceTexts.of(sample_set(writing_prompts(data_folder, "human")))
    for name in ("gpt2-xl", "gpt-neox-20b"):
        found = confounders(human, [sample_set(writing_prompts(data_folder, name))])
        assert found.beginnings.generated > 0.98
        assert found.beginnings.expected < 0.3
        assert found.beginnings.words == 25
        assert "of its texts begin as a reference text does" in found.warnings[-1]


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
        f"its texts have a median of {median:g} words, those of the reference {known:g};"
    )
    cut = lengths_of(reference, longer)[0].cut
    assert cut == int(np.quantile(reference.word_counts(), 0.05))
    assert f"`match_length={cut}` cuts both sides equally" in warning
    assert confounders(match_length(reference, cut), [match_length(longer, cut)]).warnings == ()


def test_a_cut_that_leaves_next_to_nothing_of_the_texts_is_not_advised(rng):
    """A tenth of the texts have a dozen words; the others, hundreds."""

    def side(size):
        return of_lengths(
            rng, np.where(np.arange(200) % 10 == 0, 12, rng.integers(size, size + 50, 200))
        )

    (caution,) = confounders(side(150), [side(300)]).cautions
    assert caution.kind == "lengths"
    assert caution.remedy == ""
    assert "compare texts of similar length" in caution.text
    few = [of_lengths(rng, rng.integers(size, size + 50, 200)) for size in (150, 300)]
    (caution,) = confounders(few[0], [few[1]]).cautions
    assert caution.remedy.startswith("`match_length=1")


def test_equal_medians_with_a_limit_on_one_side_are_warned_of(rng):
    reference = of_lengths(rng, rng.integers(20, 81, 300))
    stopped = of_lengths(rng, [50] * 300)
    (warning,) = confounders(reference, [stopped]).warnings
    assert "of its texts have at most" in warning
    assert "words" in warning


@pytest.mark.slow
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
    assert "characters, those of the reference" in warning
    assert "match_length" not in warning


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
    assert "a median of 34 tokens" in found.warnings[0]
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
        (0.20, 0.22, None),
        (0.30, 0.32, "the scores see only their beginnings"),
        (0.0, 0.5, "beginnings are compared with whole texts"),
        (0.6, 0.2, "beginnings are compared with whole texts"),
        (0.9, 0.91, "the scores see only their beginnings"),
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
        assert f"`match_length={found.truncation.words}` cuts" in text
        assert found.cautions[0].remedy == f"`match_length={found.truncation.words}`"


@pytest.mark.slow
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


VOCABULARY = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("an", "el", "is", "or", "um")]


def story(rng, words=30):
    return " ".join(rng.choice(VOCABULARY, words))


def stories(rng, n=200):
    return [story(rng) for _ in range(n)]


def check(reference, generated, prompts=(None, None)):
    sets = [
        SampleSet.from_texts(texts, name="x", prompts=known)
        for texts, known in zip((reference, generated), prompts, strict=True)
    ]
    return confounders(sets[0], [sets[1]])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.data())
def test_expected_repeats_are_those_of_all_subsets(values, data):
    size = data.draw(st.integers(1, len(values)))
    counts = np.array(list(Counter(values).values()))
    all_subsets = [1 - len(set(each)) / size for each in combinations(values, size)]
    assert repeats(counts, size) == pytest.approx(np.mean(all_subsets), abs=1e-9)


def test_repeats_are_told_beside_the_reference_at_the_same_size(rng):
    reference, generated = stories(rng, 400), stories(rng, 100)
    reference[200:] = reference[:200]
    generated[60:] = [f"{text.upper()}\n" for text in generated[:40]]
    found = check(reference, generated)
    assert found.duplicates.size == 100
    assert found.duplicates.generated == pytest.approx(0.4)
    # 200 pairs, of which 100 texts are drawn: the chance of the other half is 99 of 399
    assert found.duplicates.reference == pytest.approx(99 / 399 / 2, abs=1e-9)
    (warning,) = found.warnings
    assert warning.startswith("40 % of its texts duplicate an earlier one, as do 12 % of as many")


def test_what_people_repeat_as_often_is_no_warning(rng):
    answers = ["yes", "no", "maybe", "never"]
    reference, generated = rng.choice(answers, (2, 300)).tolist()
    found = check(reference, generated)
    assert found.duplicates.generated > 0.9
    assert found.copies.generated == found.copies.expected == 1
    assert found.warnings == ()


def test_empty_texts_are_no_repeats_and_no_copies(rng):
    reference, generated = stories(rng), stories(rng)
    reference[:50] = generated[:50] = [""] * 50
    found = check(reference, generated)
    assert (found.duplicates.generated, found.copies.generated) == (0, 0)
    assert found.duplicates.size == 150


def test_copies_of_the_reference_are_found_whatever_their_case_and_spacing(rng):
    reference, generated = stories(rng), stories(rng)
    generated[:30] = [text.title().replace(" ", "\n  ") for text in reference[10:40]]
    found = check(reference, generated)
    assert (found.copies.generated, found.copies.expected) == (0.15, 0)
    (warning,) = found.warnings
    assert warning.startswith("15 % of its texts occur word for word in the reference (0 % of")


def test_the_reference_itself_is_said_elsewhere(rng):
    texts = stories(rng)
    found = check(texts, texts)
    assert found.same
    assert found.copies.generated == 1
    assert found.warnings == ()


def test_prompts_on_both_sides_are_told_once(rng):
    prompts = [story(rng, 12) for _ in range(200)]
    sides = [[f"{prompt}\n{story(rng)}" for prompt in prompts] for _ in range(2)]
    known = check(*sides, prompts=(prompts, prompts))
    assert (known.prompts.reference, known.prompts.generated) == (1, 1)
    (warning,) = known.warnings
    assert warning.startswith(
        "100 % of its texts and 100 % of the reference's begin with their own"
    )
    assert "this changes" in warning
    unknown = check(*sides)
    assert unknown.prompts is None
    assert (unknown.beginnings.generated, unknown.beginnings.words) == (1, 12)
    (warning,) = unknown.warnings
    assert warning.startswith("100 % of its texts begin as a reference text does, with 12 words in")
    assert "if it is a prompt, `strip_prompt` removes it from both sides" in warning


def test_a_prompt_on_one_side_sets_the_sides_apart(rng):
    prompts = [story(rng, 4) for _ in range(200)]
    reference = stories(rng)
    generated = [f"{prompt.upper()} {story(rng, 26)}" for prompt in prompts]
    found = check(reference, generated, prompts=(prompts, prompts))
    assert (found.prompts.reference, found.prompts.generated) == (0, 1)
    (warning,) = found.warnings
    assert "this alone separates the two sides" in warning


def test_a_reference_that_keeps_the_prompts_which_generated_rows_name_is_seen(rng):
    prompts = [story(rng, 8) for _ in range(200)]
    reference = [f"{prompt} {story(rng)}" for prompt in prompts]
    found = check(reference, stories(rng), prompts=(None, prompts))
    assert (found.prompts.continued, found.prompts.generated) == (1, 0)
    assert "100 % of the prompts that its rows name begin a text of the" in found.warnings[-1]
    few = check(reference, stories(rng)[:50], prompts=(None, prompts[:50]))
    assert few.prompts.continued == 1
    cut = check(stories(rng), stories(rng), prompts=(None, prompts))
    assert (cut.prompts.continued, cut.warnings) == (0, ())


def test_a_reference_whose_rows_name_no_prompts_is_searched_for_those_of_the_other_side(rng):
    prompts = [story(rng, 10) for _ in range(200)]
    reference, generated = ([f"{p} {story(rng)}" for p in prompts] for _ in range(2))
    found = check(reference, generated, prompts=(None, prompts))
    assert (found.prompts.reference, found.prompts.reference_others) == (None, 1)
    (warning,) = found.warnings
    assert warning.startswith(
        "100 % of its texts begin with their own prompt, and 100 % of the reference's texts with "
        "one of these; the reference's rows name none; this changes"
    )
    turned = check(reference, generated, prompts=(prompts, None))
    assert (turned.prompts.generated, turned.prompts.generated_others) == (None, 1)
    (warning,) = turned.warnings
    assert warning.startswith(
        "100 % of the reference's texts begin with their own prompt, and 100 % of its texts with "
        "one of these; its rows name none; this changes"
    )


def test_a_side_that_names_no_prompts_may_begin_with_others(rng):
    prompts = [story(rng, 10) for _ in range(200)]
    kept, without = [f"{p} {story(rng)}" for p in prompts], stories(rng)
    warning = check(without, kept, prompts=(None, prompts)).warnings[-1]
    assert "0 % of the reference's texts with one of these; the reference's rows name none" in (
        warning
    )
    assert "unless the reference's texts begin with other prompts, this alone separates" in warning
    warning = check(kept, without, prompts=(prompts, None)).warnings[-1]
    assert "and 0 % of its texts with one of these; its rows name none; unless its texts" in warning


def test_a_long_reference_that_keeps_the_prompts_of_few_outputs(rng):
    prompts = [story(rng, 10) for _ in range(400)]
    reference = [f"{p} {story(rng)}" for p in prompts]
    few = prompts[:12]
    generated = [f"{prompt} {story(rng)}" for prompt in few]
    (warning,) = check(reference, generated, prompts=(None, few)).warnings
    assert "and 100 % of these begin a text of the reference" in warning
    assert "this changes" in warning


def test_answers_that_restate_a_prompt_of_its_own_field_lose_no_words(rng):
    prompts = [story(rng, 10) for _ in range(200)]
    sides = [
        [f"The answer to {p} is {story(rng)}" if row % 5 == 0 else story(rng)
         for row, p in enumerate(prompts)]
        for _ in range(2)
    ]  # fmt: skip
    for known in ((prompts, prompts), (None, prompts), (prompts, None)):
        (caution,) = check(*sides, prompts=known).cautions
        assert caution.kind == "openings"
        assert caution.remedy == ""
        assert "they do not begin with the prompts in their rows" in caution.text
        assert "--" not in caution.text
    (caution,) = check(*sides).cautions
    assert caution.remedy.startswith("`skip_words=")


def test_what_nearly_all_texts_begin_with_is_a_prompt_though_rows_name_others(rng):
    prompts = [story(rng, 10) for _ in range(200)]
    sides = [[f"{p} {story(rng)}" for p in prompts] for _ in range(2)]
    names = [story(rng, 4) for _ in prompts]
    (caution,) = check(*sides, prompts=(names, names)).cautions
    assert caution.remedy == "`skip_words=10`"
    assert "if it is a prompt that the rows do not name" in caution.text


def test_a_form_that_people_share_is_no_prompt(rng):
    sides = [[f"Once upon a time there was {story(rng)}" for _ in range(200)] for _ in range(2)]
    found = check(*sides)
    assert found.beginnings.generated == found.beginnings.expected == 1
    assert found.warnings == ()


def test_prompts_of_two_words_begin_a_text_by_chance(rng):
    reference, generated = stories(rng), stories(rng)
    prompts = [" ".join(text.split()[:2]) for text in generated]
    found = check(reference, generated, prompts=(None, prompts))
    assert found.prompts is None


def test_copies_are_not_counted_as_beginnings(rng):
    reference, generated = stories(rng), stories(rng)
    generated[:100] = reference[:100]
    found = check(reference, generated)
    assert (found.beginnings.generated, found.beginnings.m) == (0, 100)
    assert len(found.warnings) == 1


short = st.lists(st.sampled_from(["a", "b", "ab", "a!"]), max_size=5).map(" ".join)


def slow_common(one, other):
    pairs = zip(one.split(), other.split(), strict=False)
    return next(
        (n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, map(str.split, (one, other))))
    )


@given(short, st.lists(short, min_size=1, max_size=8))
def test_common_beginnings_are_those_of_all_pairs(text, others):
    assert all(common_words(text, each) == slow_common(text, each) for each in others)
    longest = max(slow_common(text, each) for each in others)
    assert longest_common([text], sorted(others)).tolist() == [longest]
    in_order = sorted(others)
    expected = [
        max((slow_common(a, b) for j, b in enumerate(in_order) if j != i), default=0)
        for i, a in enumerate(in_order)
    ]
    assert longest_among(in_order).tolist() == expected


def prompted(prompts, texts=None):
    return SampleSet.from_texts(texts or ["t"] * len(prompts), name="x", prompts=prompts)


def test_rows_are_pairs_where_they_answer_the_same_prompts():
    prompts = [f"prompt {row}" for row in range(200)]
    rows = prompted(prompts)
    assert paired_rows(rows, prompted([f" {each.upper()}\n" for each in prompts]))
    assert paired_rows(rows, prompted(["other", *prompts[1:]]))
    assert not paired_rows(rows, prompted(["other"] * 3 + prompts[3:]))
    assert not paired_rows(rows, prompted(prompts[::-1]))
    assert not paired_rows(rows, prompted(prompts[:-1]))
    assert not paired_rows(rows, SampleSet.from_texts(["t"] * 200, name="x"))
    cut = [each.subsample(50, seed=3) for each in (rows, prompted(prompts, ["u"] * 200))]
    assert paired_rows(*cut)


def test_one_prompt_or_none_makes_no_pairs():
    for same in ("write a story", ""):
        assert not paired_rows(prompted([same] * 50), prompted([same] * 50))


ENGLISH = "the and of to in that it was he for on with as his they at be this from had she which"
GERMAN = "der die und das nicht von mit sich auf ist dem eine auch als nach wie aus bei noch einer"
NOUNS = [a + b + c for a in "bcdfgklmnprst" for b in "aeiou" for c in "bcdfgklmnprst"]


def prose(rng, grammar, n=300):
    """Half grammar, half words of its own topic, as prose is."""
    return [
        " ".join(
            word for _ in range(15) for word in (rng.choice(grammar.split()), rng.choice(NOUNS))
        )
        for _ in range(n)
    ]


def check_language(reference, *generated):
    return confounders(
        SampleSet.from_texts(reference, name="x"),
        [SampleSet.from_texts(each, name="y") for each in generated],
    )


def about_language(found):
    """What the most frequent words say, whatever the languages that are known say first."""
    caution = None if found.language is None else found.language.caution()
    return [] if caution is None else [caution.text]


def about_scripts(found):
    caution = found.scripts.caution()
    return [] if caution is None else [caution.text]


def test_a_set_that_repeats_one_text_has_no_language(rng):
    english = prose(rng, ENGLISH)
    assert check_language(english, english[:30]).language is not None
    found = check_language(english, [story(rng, 40)] * 30)
    assert found.language is None
    assert about_language(found) == []


@pytest.mark.slow
def test_another_language_is_noticed_on_either_side(rng):
    english, german = prose(rng, ENGLISH), prose(rng, GERMAN)
    for reference, generated in ((english, german), (german, english)):
        found = check_language(reference, generated)
        assert found.language.generated_foreign > 0.95
        assert found.language.reference_foreign > 0.95
        (warning,) = about_language(found)
        assert warning.startswith(f"in {found.language.generated_foreign:.0%}".replace("%", " %"))
        assert repr(found.language.example) in warning
        assert generated[0].startswith(found.language.example[:30])


@pytest.mark.slow
def test_a_language_that_is_known_is_named_first(rng):
    english, german = prose(rng, ENGLISH, 60), prose(rng, GERMAN, 60)
    cautions = check_language(english, german[:30], german[30:]).cautions
    (warning,) = [caution.text for caution in cautions if caution.kind == "language"]
    assert warning.startswith(
        "100 % of its texts are German, 0 % of the reference's (its texts are 100 % German, those "
        "of the reference 100 % English)"
    )
    assert [c.brief for c in check_language(english, german).cautions if c.kind == "language"] == [
        "all German, reference 0 %"
    ]
    half = [*english[:30], *german[:30]]
    (caution,) = [c for c in check_language(half, german).cautions if c.kind == "language"]
    assert caution.brief == "all German, reference 50 %"
    assert caution.movement == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize(
    ("reference", "generated", "language"),
    [
        (
            "私たちが家に帰ったとき、犬は庭にいなかった。",
            "我们回家的时候，狗不在花园里。",
            "Chinese (simplified)",
        ),
        (
            "我們回家的時候，這個問題還沒有說過。",
            "我们回家的时候，这个问题还没有说过。",
            "Chinese (simplified)",
        ),
        ("우리가 집에 왔을 때 개는 정원에 없었다.", "เมื่อเรากลับถึงบ้าน สุนัขไม่ได้อยู่ในสวน", "Thai"),
        ("जब हम घर आए तो कुत्ता नहीं था।", "যখন আমরা বাড়ি এলাম তখন কুকুর ছিল না।", "in Bengali script"),
        (
            "Hunden var ikke i haven, da vi kom hjem, og ingen vidste, hvad den havde gjort.",
            "Hunden var inte i trädgården när vi kom hem, och ingen visste vad den hade gjort.",
            "Swedish",
        ),
    ],
)
def test_languages_without_spaces_and_relatives_are_told_apart(reference, generated, language):
    def check(one, other, n):
        sides = [[f"{text} {row}" for row in range(n)] for text in (one, other)]
        return [c.text for c in check_language(*sides).cautions if c.kind == "language"]

    for n in (30, 200):
        (text,) = check(reference, generated, n)
        assert text.startswith(f"100 % of its texts are {language}, 0 % of the reference's")
        assert check(reference, reference, n) == check(generated, generated, n) == []


@pytest.mark.slow
def test_a_tenth_in_another_language_is_noticed_on_either_side(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::10] = prose(rng, GERMAN, 30)
    assert check_language(english, mixed).language.generated_foreign == pytest.approx(0.1, abs=0.01)
    assert about_language(check_language(english, mixed))[0].startswith("in 10 % of its texts")
    assert about_language(check_language(mixed, english))[0].startswith(
        "in 10 % of the reference's texts"
    )


@pytest.mark.slow
def test_the_same_mixture_on_both_sides_is_no_warning(rng):
    sides = [prose(rng, ENGLISH, 200) + prose(rng, GERMAN, 100) for _ in range(2)]
    assert check_language(*sides).warnings == ()


def test_other_topics_are_no_other_language(rng):
    other = [text.replace("al", "ov").replace("er", "is") for text in prose(rng, ENGLISH)]
    found = check_language(prose(rng, ENGLISH), other)
    assert found.language.generated_foreign == 0
    assert about_language(found) == []


def test_titles_are_too_short_to_tell(rng):
    titles = [" ".join(text.split()[:7]) for text in prose(rng, ENGLISH)]
    assert check_language(titles, titles[::-1]).language is None


@pytest.mark.slow
def test_the_order_of_the_texts_does_not_matter(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::10] = prose(rng, GERMAN, 30)
    one = check_language(english, mixed).to_dict()["language"]
    other = check_language(english[::-1], mixed[::-1]).to_dict()["language"]
    for key in ("generated_foreign", "expected", "reference_foreign", "usual"):
        assert one[key] == pytest.approx(other[key], abs=0.02)


@pytest.mark.parametrize(
    ("sign", "script"),
    [
        ("a", "Latin"),
        ("ß", "Latin"),
        ("Ａ", "Latin"),
        ("я", "Cyrillic"),
        ("ひ", "Hiragana"),
        ("ｶ", "Katakana"),
        ("語", "Han"),
        ("한", "Hangul"),
        ("ب", "Arabic"),
        ("ก", "Thai"),
        ("5", ""),
        ("!", ""),
        (" ", ""),
    ],
)
def test_the_script_of_a_letter(sign, script):
    assert script_of(sign) == script


def test_letters_are_counted_text_by_text():
    found = letters(["ab, я 1", "", "語語a", "?!"])
    counts = {name: counts.tolist() for name, counts in found.items()}
    assert counts == {"Cyrillic": [1, 0, 0, 0], "Han": [0, 0, 2, 0], "Latin": [2, 0, 1, 0]}
    assert letters([]) == letters(["", "12"]) == {}


@pytest.mark.slow
def test_another_script_is_told_once_with_its_share(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::5] = ["".join(chr(0x430 + number) for number in rng.integers(0, 32, 150))] * 60
    found = check_language(english, mixed)
    assert found.scripts.reference == {"Latin": 1, "Cyrillic": 0}
    share = found.scripts.generated["Cyrillic"]
    assert found.scripts.distance == pytest.approx(share) == pytest.approx(0.3, abs=0.05)
    said = about_scripts(found)
    assert len(said) == 1
    # One cause is named once, by the languages
    (warning,) = [text for text in found.warnings if "separates the sides" in text]
    assert warning.startswith("20 % of its texts are in Cyrillic script, 0 % of the reference's")
    assert f"{100 * share:.0f} % Cyrillic" in said[0]
    assert said[0].index("Latin") < said[0].index("Cyrillic"), "the largest share first"
    assert about_language(found) == []


def test_two_scripts_on_both_sides_are_no_warning(rng):
    def side():
        cyrillic = [
            "".join(chr(0x430 + number) for number in rng.integers(0, 32, 180)) for _ in range(60)
        ]
        return rng.permutation(prose(rng, ENGLISH, 60) + cyrillic).tolist()

    found = check_language(side(), side())
    assert 0 < found.scripts.halves < 0.5
    assert about_scripts(found) == []
    assert [text for text in found.warnings if "separates the sides" in text] == []


def test_texts_without_letters_have_no_script(rng):
    numbers = [" ".join(map(str, rng.integers(0, 99, 20))) for _ in range(50)]
    found = check_language(numbers, numbers[::-1])
    assert (found.scripts, found.language) == (None, None)
    assert np.isfinite(found.lengths[0].distance)


def test_sides_in_other_unicode_forms_are_told_and_their_copies_found():
    plain = [f"le café numéro {row} est déjà fermé à Orléans ce soir" for row in range(40)]
    apart = [unicodedata.normalize("NFD", text) for text in plain]
    hidden = [text.replace(" ", "\u200b ") for text in plain]
    for other in (apart, hidden):
        found = confounders(sample_set(plain), [sample_set(other)])
        assert found.forms == Forms(0.0, 1.0, 40, 40)
        assert found.copies.generated == 1
        assert found.language is None or found.language.generated_foreign == 0
        (caution,) = [each for each in found.cautions if each.kind == "forms"]
        assert caution.brief == "all in a different Unicode form"
        assert caution.text.startswith(
            "100 % of its texts and 0 % of the reference's are in decomp"
        )
        (caution,) = [
            each
            for each in confounders(sample_set(other), [sample_set(plain)]).cautions
            if each.kind == "forms"
        ]
        assert caution.brief == "reference: all in a different Unicode form"
    assert not confounders(sample_set(apart), [sample_set(hidden)]).forms.caution()
