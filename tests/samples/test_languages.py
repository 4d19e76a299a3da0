"""Languages of texts, and what texts are that are in none."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.samples import SampleSet
from calipers.samples.grammar_words import GRAMMAR, LETTERS, SCRIPTS, SIMPLIFIED, TRADITIONAL
from calipers.samples.languages import (
    ANOTHER,
    CODE,
    EMOJI,
    NUMBERS,
    OLD,
    SAMPLED,
    SEQUENCES,
    SIMPLE,
    UNDECIDED,
    TextLanguages,
    read_languages,
    sign_kind,
    text_parts,
)

SENTENCES = {
    "English": "The dog was not in the garden when we came home, and nobody knew where it was.",
    "German": "Der Hund war nicht im Garten, als wir nach Hause kamen, und niemand sah ihn.",
    "French": "Le chien n'était pas dans le jardin quand nous sommes rentrés, et on ne l'a pas vu.",
    "Spanish": "El perro no estaba en el jardín cuando llegamos a casa, y nadie sabía dónde está.",
    "Italian": "Il cane non era nel giardino quando siamo tornati, e nessuno sapeva dove era.",
    "Portuguese": "O cão não estava no jardim quando nós chegamos, e ninguém sabia onde ele foi.",
    "Dutch": "De hond was niet in de tuin toen wij thuis kwamen, en niemand wist waar hij was.",
    "Polish": "Psa nie było w ogrodzie, kiedy wróciliśmy do domu, i nikt nie wiedział, gdzie jest.",
    "Turkish": "Eve geldiğimiz zaman köpek bahçede değildi ve hiç kimse onun için bir şey demedi.",
    "Swedish": "Hunden var inte i trädgården när vi kom hem, och ingen visste var den hade varit.",
    "Danish": "Hunden var ikke i haven, da vi kom hjem, og ingen vidste, hvor den havde været.",
    "Finnish": "Koira ei ollut enää siellä, kun me tulimme kotiin, mutta se oli jo syönyt niin.",
    "Czech": "Pes nebyl na zahradě, když jsme se vrátili domů, a nikdo už to tak ještě nevěděl.",
    "Hungarian": "A kutya nem volt a kertben, amikor haza jöttünk, és már senki sem tudta azt.",
    "Vietnamese": "Con chó không có ở trong vườn khi chúng tôi về và không ai biết nó đã đi đâu.",
    "Tagalog": "Ang aso ay wala sa hardin nang umuwi kami at hindi namin alam kung nasaan siya.",
    "Swahili": "Mbwa hakuwa katika bustani wakati huo, na watu hawakujua kwamba yuko wapi.",
    "Latin": "Canis in horto non erat cum nos rediimus, et nemo ex amicis sciebat quo is iret.",
    "Esperanto": "La hundo ne estis en la ĝardeno kiam ni revenis, kaj neniu sciis kie ĝi estis.",
    "Vietnamese without accents": (
        "Con cho khong co o trong vuon khi chung toi ve va khong ai biet no da di dau."
    ),
    "Hindi in Latin letters": (
        "Jab hum ghar aaye to kutta bagiche mein nahi tha aur kisi ko pata nahi ki woh kahan hai."
    ),
    "Malagasy": (
        "Tsy tao ny alika rehefa tonga tao izahay ary tsy nisy olona nahalala izay nisy azy io."
    ),
    "Maori": "Kua hoki mai matou ki te kainga, a kahore te kuri i roto i te kari i tona taenga.",
    "Javanese": "Asu iku ora ana ing kebon nalika aku mulih lan ora ana wong sing ngerti.",
    "Scottish Gaelic": (
        "Cha robh an cù anns an taigh nuair a thàinig sinn, agus cha robh fios aig duine air."
    ),
    "Breton": "Ne oa ket ar c'hi er liorzh pa oamp deuet d'ar gêr, ha den ne ouie pelec'h e oa.",
    "Indonesian or Malay": "Anjing itu tidak ada di kebun dan kami tidak tahu di mana dia.",
    "Russian": "Собаки не было в саду, когда мы вернулись домой, и никто не знал, где она была.",
    "Ukrainian": "Собаки не було в саду, коли ми прийшли додому, і ніхто не знав, де вона.",
    "Bulgarian": "Кучето не беше в градината, когато се върнахме, и никой не знаеше къде е то.",
    "Arabic": "لم يكن الكلب في الحديقة عندما عدنا إلى البيت، ولا أحد كان يعرف من هو الذي أخذه.",
    "Persian": "وقتی به خانه برگشتیم سگ در باغ نبود و کسی از ما نمی دانست که این سگ با چه کسی است.",
    "Greek": "Ο σκύλος δεν ήταν στον κήπο όταν γυρίσαμε στο σπίτι.",
    "Hebrew": "הכלב לא היה בגינה כשחזרנו הביתה.",
    "Devanagari script": "जब हम घर आए तो कुत्ता बगीचे में नहीं था।",
    "Thai": "เมื่อเรากลับถึงบ้าน สุนัขไม่ได้อยู่ในสวน",
    "Korean": "우리가 집에 왔을 때 개는 정원에 없었다.",
    "Japanese": "私たちが家に帰ったとき、犬は庭にいなかった。",
    SIMPLE: "我们回家的时候，狗不在花园里，没有人知道它在哪儿。这个问题还没有说过。",
    OLD: "我們回家的時候，狗不在花園裡，沒有人知道牠在哪兒。這個問題還沒有說過。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_one_sentence_tells_its_language(language):
    assert dict(read_languages([SENTENCES[language]]).languages) == {language: 1.0}


@pytest.mark.parametrize("language", [name for name in SENTENCES if name != "English"])
def test_a_tenth_in_another_language_is_noticed_and_a_fortieth_is_not(language):
    # Numbers make different texts, so that no two have one hash
    def mixed(count):
        made = [f"{SENTENCES['English']} {row}" for row in range(400 - count)]
        made += [f"{SENTENCES[language]} {row}" for row in range(count)]
        return SampleSet.from_texts(made, name="x").languages

    assert mixed(40).noticed == ("English", language)
    assert mixed(4).noticed == ("English",)


def test_what_is_in_no_language():
    rng = random.Random(0)
    code = (
        "for (int i = 0; i < n; i++) {\n  rows[i] = malloc(size * sizeof(*rows));\n"
        "  if (rows[i] == NULL) { return -1; }\n}"
    )
    log = "2024-05-07 12:11:07,113 INFO [main] c.f.Server(started)={port=8080} 12 ms 404"
    protein = "".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=120))
    dna = " ".join(rng.choices("ACGT", k=60))
    texts = [code, log, protein, dna, "3.14 2.72 1.41 1.62", "😀🎉👍🏽🔥❤️😀"]
    assert [max(part, key=part.get) for part in text_parts(texts)] == [
        *(CODE, CODE, SEQUENCES, SEQUENCES, NUMBERS, EMOJI)
    ]
    assert read_languages([code] * 3 + [SENTENCES["English"]]).kind == CODE
    assert read_languages([code, SENTENCES["English"]]).kind is None


def test_an_answer_with_some_code_is_still_english():
    text = f"{SENTENCES['English']} {SENTENCES['English']} Call `run(x)` and print its value."
    assert dict(read_languages([text]).languages) == {"English": 1.0}


@pytest.mark.parametrize(
    "text", ["w12 w7 w99 w3", "red green blue", "la la la la la la", "New York Times", "x"]
)
def test_words_that_show_no_language_are_undecided(text):
    assert dict(read_languages([text] * 30).languages) == {UNDECIDED: 1.0}


def test_prose_of_a_latin_language_that_is_not_listed_is_no_english():
    # Upper Sorbian, written for this test
    text = "Pos njebě w zahrodźe, hdyž smy so domoj wróćili, a nichtó njewědźeše, hdźe běše."
    read = read_languages([f"{text} {row}" for row in range(20)])
    assert "English" not in read.languages
    assert ANOTHER in read.noticed


ROMAJI = (
    "Watashi wa kinou tomodachi to issho ni machi e ikimashita. Ame ga futte ita node, kasa o "
    "motte dekakemashita. Hon o katte, kissaten de koohii o nomimashita. Sono ato uchi ni kaette, "
    "yuuhan o tsukuri, haha ni denwa o kakemashita."
)
INGREDIENTS = (
    "2 cups plain flour, 1 tsp salt, 3 tbsp sugar, ripe tomatoes, 1 large onion, 2 cloves garlic, "
    "1 bunch fresh basil, 200 g grated cheese, black pepper, olive oil, 1 lemon, 2 sliced carrots, "
    "1 avocado, 1 mango, soda water, vanilla extract, 100 g pasta, 1 tin tuna, paprika, chilli"
)
NAMES = (
    "Maria Rossi, Giulia Moretti, Yuki Tanaka, Haruko Suzuki, Anna Kowalska, Paolo Bianchi, Diego "
    "Romero, Lucia Navarro, Kofi Mensah, Amina Diallo, Sofia Costa, Hiro Yamamoto, Luca Marino"
)


def test_words_that_end_as_hardly_one_does_in_english_are_not_english():
    # No list has words of Japanese in Latin letters
    read = read_languages([f"{ROMAJI} {row}" for row in range(20)])
    assert read.noticed == (ANOTHER,)
    mixed = [f"{SENTENCES['English']} {row}" for row in range(36)]
    read = read_languages([*mixed, *(f"{ROMAJI} {row}" for row in range(4))])
    assert read.noticed == ("English", ANOTHER)


@pytest.mark.parametrize("text", [INGREDIENTS, NAMES, "la ti do ra mi fa " * 9])
def test_lists_of_english_words_and_of_names_stay_undecided(text):
    assert dict(read_languages([text] * 30).languages) == {UNDECIDED: 1.0}


def test_english_about_words_that_end_open_is_english():
    text = (
        "The words that we know are: mama, papa, casa, vita, luna, terra, amico, sole, mano, voce, "
        "acqua, vino, pane, gatto, cane, libro, porta, strada, cielo, and they mean this to us all."
    )
    assert read_languages([f"{text} {row}" for row in range(20)]).noticed == ("English",)


def test_titles_are_decided_together():
    titles = ["Haus mit Garten", "Brot und Wein", "Der Mann im Mond", "Über das Meer", "Nicht so"]
    assert read_languages(titles).noticed == ("German",)


def test_a_short_text_is_written_as_the_others_of_its_set():
    texts = [SENTENCES[OLD], "你好", "天上"]
    assert dict(read_languages(texts).languages) == {OLD: 1.0}
    assert dict(read_languages(texts[1:]).languages) == {SIMPLE: 1.0}
    russian = [*[SENTENCES["Russian"]] * 9, "Дерево", "Река течёт"]
    assert dict(read_languages(russian).languages) == {"Russian": 1.0}


def test_names_in_latin_letters_do_not_make_a_text_of_another_script_mixed():
    text = "これは apt-get install と dpkg を使うための手順です。 Debian GNU/Linux"
    assert dict(read_languages([text]).languages) == {"Japanese": 1.0}


def test_a_text_in_two_scripts_counts_for_both():
    text = f"{SENTENCES['English']} {SENTENCES['Russian']}"
    (parts,) = text_parts([text])
    assert set(parts) == {"English", "Russian"}
    assert sum(parts.values()) == pytest.approx(1)


def test_texts_without_signs_are_left_out():
    read = read_languages(["", "  \n", SENTENCES["Thai"]])
    assert (read.n, dict(read.languages)) == (1, {"Thai": 1.0})
    assert read_languages([]) == TextLanguages({}, {}, 0) == read_languages([" "])


def test_scripts_are_shares_of_letters():
    assert dict(read_languages(["abc", "жжж жжж"]).scripts) == {
        "Cyrillic": pytest.approx(2 / 3),
        "Latin": pytest.approx(1 / 3),
    }


@given(st.lists(st.text(max_size=40), max_size=12), st.randoms(use_true_random=False))
def test_shares_sum_to_one_whatever_the_texts_and_their_order(texts, rng):
    read = read_languages(texts)
    assert sum(read.languages.values()) == pytest.approx(1 if read.n else 0)
    assert sum(read.scripts.values()) == pytest.approx(1 if read.scripts else 0)
    shuffled = list(texts)
    rng.shuffle(shuffled)
    again = read_languages(shuffled)
    assert dict(again.languages) == pytest.approx(dict(read.languages))
    assert again.noticed == read.noticed or len(read.languages) > 1


def test_the_order_of_the_texts_does_not_matter_where_some_are_looked_at(rng):
    texts = [f"{sentence} {row}" for row in range(40) for sentence in SENTENCES.values()]
    first = SampleSet.from_texts(texts, name="x").languages
    order = rng.permutation(len(texts))
    other = SampleSet.from_texts([texts[at] for at in order], name="y").languages
    assert first.n == SAMPLED < len(texts)
    assert dict(first.languages) == pytest.approx(dict(other.languages))


def test_a_lone_surrogate_and_a_million_marks_are_read():
    marks = "a" + "\u0301" * 1_000_000
    assert read_languages(["\ud800 the dog", marks[:900]]).n == 2
    assert SampleSet.from_texts([marks, "b"], name="x").languages.n == 2


def test_vectors_have_no_languages():
    assert SampleSet.from_vectors(np.eye(3), name="x").languages is None


def test_files_of_one_system_are_put_together_by_their_texts():
    one = TextLanguages({"Thai": 1.0}, {"Thai": 1.0}, 30)
    other = TextLanguages({"Thai": 0.5, "English": 0.5}, {"Latin": 1.0}, 10)
    joined = TextLanguages.joined([one, other])
    assert joined.n == 40
    assert dict(joined.languages) == pytest.approx({"Thai": 0.875, "English": 0.125})
    assert dict(joined.scripts) == pytest.approx({"Thai": 0.75, "Latin": 0.25})


def test_the_lists_are_as_their_module_says():
    for language, words in GRAMMAR.items():
        listed = words.split()
        assert max(Counter(listed).values()) == 1, language
        assert all(word == word.lower() for word in listed), language
        letters = {sign for word in listed for sign in word if sign.isalpha()}
        script = SCRIPTS.get(language, "Latin")
        foreign = {sign for sign in letters if sign_kind(sign) != script}
        assert not foreign, (language, foreign)
        beyond = {sign for sign in letters if not sign.isascii()} - set(LETTERS.get(language, ""))
        assert not beyond, (language, beyond)
    assert set(SCRIPTS) | set(LETTERS) <= set(GRAMMAR)
    pairs = list(zip(SIMPLIFIED, TRADITIONAL, strict=True))
    assert len(set(pairs)) == len(pairs)
    assert not set(SIMPLIFIED) & set(TRADITIONAL)


@pytest.mark.parametrize(
    ("file", "language"),
    [
        *[("ar", "Arabic"), ("de", "German"), ("fr", "French"), ("ja", "Japanese")],
        *[("ru", "Russian"), ("zh", SIMPLE)],
    ],
)
def test_paragraphs_of_people_have_their_language(data_folder, file, language):
    lines = (data_folder / "languages" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    read = SampleSet.from_texts(texts, name=file).languages
    assert read.noticed == (language,)
    assert read.languages[language] > 0.9
