"""Scripts and languages, told apart without a model."""

import numpy as np
import pytest

from calipers.road.confounders import confounders
from calipers.road.confounders_letters import letters, script_of
from calipers.samples import SampleSet

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


def check(reference, *generated):
    return confounders(
        SampleSet.from_texts(reference, name="x"),
        [SampleSet.from_texts(each, name="y") for each in generated],
    )


def about_language(found):
    return [text for text in found.warnings if "hardly occur" in text]


def test_another_language_is_noticed_on_either_side(rng):
    english, german = prose(rng, ENGLISH), prose(rng, GERMAN)
    for reference, generated in ((english, german), (german, english)):
        found = check(reference, generated)
        assert found.language.generated_foreign > 0.95
        assert found.language.reference_foreign > 0.95
        (warning,) = about_language(found)
        assert warning.startswith(f"in {found.language.generated_foreign:.0%}".replace("%", " %"))
        assert repr(found.language.example) in warning
        assert generated[0].startswith(found.language.example[:30])


def test_a_tenth_in_another_language_is_noticed_on_either_side(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::10] = prose(rng, GERMAN, 30)
    assert check(english, mixed).language.generated_foreign == pytest.approx(0.1, abs=0.01)
    assert about_language(check(english, mixed))[0].startswith("in 10 % of its texts")
    assert about_language(check(mixed, english))[0].startswith("in 10 % of the reference's texts")


def test_the_same_mixture_on_both_sides_is_no_warning(rng):
    sides = [prose(rng, ENGLISH, 200) + prose(rng, GERMAN, 100) for _ in range(2)]
    assert check(*sides).warnings == ()


def test_other_topics_are_no_other_language(rng):
    other = [text.replace("al", "ov").replace("er", "is") for text in prose(rng, ENGLISH)]
    found = check(prose(rng, ENGLISH), other)
    assert found.language.generated_foreign == 0
    assert about_language(found) == []


def test_titles_are_too_short_to_tell(rng):
    titles = [" ".join(text.split()[:7]) for text in prose(rng, ENGLISH)]
    assert check(titles, titles[::-1]).language is None


def test_the_order_of_the_texts_does_not_matter(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::10] = prose(rng, GERMAN, 30)
    one = check(english, mixed).to_dict()["language"]
    other = check(english[::-1], mixed[::-1]).to_dict()["language"]
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


def test_another_script_is_told_once_with_its_share(rng):
    english, mixed = prose(rng, ENGLISH), prose(rng, ENGLISH)
    mixed[::5] = ["".join(chr(0x430 + number) for number in rng.integers(0, 32, 150))] * 60
    found = check(english, mixed)
    assert found.scripts.reference == {"Latin": 1, "Cyrillic": 0}
    share = found.scripts.generated["Cyrillic"]
    assert found.scripts.distance == pytest.approx(share) == pytest.approx(0.3, abs=0.05)
    said = [text for text in found.warnings if "letters are" in text]
    assert len(said) == 1
    assert f"{100 * share:.0f} % Cyrillic" in said[0]
    assert said[0].index("Latin") < said[0].index("Cyrillic"), "the largest share first"
    assert about_language(found) == []


def test_two_scripts_on_both_sides_are_no_warning(rng):
    def side():
        cyrillic = [
            "".join(chr(0x430 + number) for number in rng.integers(0, 32, 180)) for _ in range(60)
        ]
        return rng.permutation(prose(rng, ENGLISH, 60) + cyrillic).tolist()

    found = check(side(), side())
    assert 0 < found.scripts.halves < 0.5
    assert [text for text in found.warnings if "letters are" in text] == []


def test_texts_without_letters_have_no_script(rng):
    numbers = [" ".join(map(str, rng.integers(0, 99, 20))) for _ in range(50)]
    found = check(numbers, numbers[::-1])
    assert (found.scripts, found.language) == (None, None)
    assert np.isfinite(found.lengths[0].distance)
