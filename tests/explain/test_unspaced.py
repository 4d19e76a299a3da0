"""Keywords of scripts without spaces: n-grams that stay together, and no particles."""

import numpy as np
import pytest

from calipers.explain.unspaced import best_ngrams, is_fragment, name_candidates, repeated_candidates
from calipers.explain.words import Keywords, WordCounts

PARTICLES = "的是在了和"


def topic_texts(rng, words, n=60):
    """Sentences of a few words of a topic, a particle between two of them."""
    texts = []
    for _ in range(n):
        chosen = rng.choice(words, 6)
        texts.append("".join(f"{word}{rng.choice(list(PARTICLES))}" for word in chosen) + "。")
    return texts


@pytest.mark.parametrize(
    "topics",
    [
        (["软件包", "服务器", "安装"], ["足球", "运动员", "比赛"]),
        (["データベース", "管理者", "設定"], ["サッカー", "選手", "試合"]),
        (["โรงเรียน", "นักเรียน", "หนังสือ"], ["ตลาด", "ผลไม้", "แม่ค้า"]),
        (["សាលារៀន", "សិស្ស", "សៀវភៅ"], ["ផ្សារ", "ផ្លែឈើ", "អ្នកលក់"]),
    ],
    ids=["Chinese", "Japanese", "Thai", "Khmer"],
)
def test_keywords_are_the_words_of_their_topic(topics):
    rng = np.random.default_rng(0)
    texts = [text for words in topics for text in topic_texts(rng, words)]
    labels = np.repeat([0, 1], 60)
    order = rng.permutation(120)
    halves = [[texts[row] for row in order[:60]], [texts[row] for row in order[60:]]]
    sides = labels[order[:60]], labels[order[60:]]
    keywords = Keywords(*map(WordCounts.of, halves), sides).of(sides, 2, {0: 0, 1: 0})
    for words, named in zip(topics, keywords, strict=True):
        assert named
        assert set(words) & set(named)
        for keyword in named:
            assert any(keyword in word for word in words)
            assert not set(keyword) & set(PARTICLES)


def test_candidates_stay_within_a_script():
    assert list(name_candidates("apt命令を使う")) == ["apt", "命", "令", "命令", "使"]
    assert list(name_candidates("ひらがな")) == []
    assert set(name_candidates("ไปเดิน")) == {"ไป", "เดิ", "น", "ไปเดิ", "เดิน", "ไปเดิน"}
    assert max(map(len, name_candidates("一二三四五六"))) == 4


def test_words_of_scripts_with_spaces_are_chosen_in_order():
    words = ["the", "then", "he", "he"]
    assert best_ngrams(words, np.array([4.0, 3, 2, 0]), np.ones(4), 10) == [0, 1, 2]


def test_n_grams_of_one_word_name_it_once():
    words = ["数据库", "数据", "据库管", "安装"]
    assert best_ngrams(words, np.array([4.0, 3, 2, 1]), np.array([9.0, 9, 3, 5]), 10) == [0, 3]


def test_common_units_stay_where_they_belong():
    uses = {"电子邮": 9.0, "电子邮件": 9.0, "电子邮件的": 2.0, "邮件": 9.0, "邮": 9.0}
    assert not is_fragment("电子邮件", {"件", "的"}, uses)
    assert is_fragment("电子邮件的", {"件", "的"}, uses)


def test_in_large_sets_n_grams_of_one_text_are_not_counted(monkeypatch):
    monkeypatch.setattr("calipers.explain.words.SAMPLED", 3)
    texts = ["软件包", "软件库", "服务器", "软件包。"]
    assert repeated_candidates(texts) == {"软", "件", "包", "软件", "件包", "软件包"}
    counted = WordCounts.of(texts)
    assert "软件" in counted.vocabulary
    assert "服务" not in counted.vocabulary


def test_words_of_one_look_are_one():
    counted = WordCounts.of(["cafe\u0301", "café"])
    assert counted.vocabulary == ("café",)
    assert len(counted) == 2
