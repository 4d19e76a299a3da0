"""The pages over HTTP: who sees what, what is refused, what is kept."""

import re

import pytest
from annotation_helpers import Visitor, action, answers, form_of, make_items, signature

from calipers.annotation.app import LARGEST, is_known_host, make_app
from calipers.errors import InputError
from calipers.judgements.items import Item, RatedTexts
from calipers.judgements.rubric import DIVERSITY, QUALITY, Question, Rubric


def test_a_link_leads_to_instructions_then_to_items(study, visit):
    made = study(checks=2)
    ada = visit(made, "ada")
    first = ada.follow("/")
    assert "What you are asked" in first.text
    assert "Which of the two makes more sense" in first.text
    assert "under 25 s" in first.text
    page = ada.follow("/next")
    assert action(page.text) == "/item/1"
    sent = ada.post(page, form_of(2))
    assert (sent.status_code, sent.headers["location"]) == (303, "/next")
    assert action(ada.follow("/").text) == "/item/2"
    assert len(made.judgements()) == 1


def test_a_whole_study_by_its_pages(study, visit):
    made = study(6)
    for name in ("ada", "grace"):
        visitor = visit(made, name)
        while "action=" in (page := visitor.follow("/next")).text:
            visitor.post(page, form_of(4))
        assert "Done, thank you" in page.text or "Nothing to do just now" in page.text
    assert made.status().complete == 6


def test_a_double_submit_is_one_answer(study, visit):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert [ada.post(page, form_of(2)).status_code for _ in range(3)] == [303, 303, 303]
    assert len(made.judgements()) == 1


def test_an_older_tab_gives_a_revision(study, visit):
    made = study()
    ada = visit(made, "ada")
    tab, other = ada.follow("/next"), ada.follow("/next")
    ada.post(tab, form_of(1))
    ada.post(other, form_of(5))
    (row,) = made.judgements()
    assert row.answers["sensible"] == (5 if row.first == "a" else 1)
    with made.writing() as db:
        assert db.execute("SELECT COUNT(*) FROM answers").fetchone()[0] == 2


def test_back_shows_the_answer_and_changes_it(study, visit):
    made = study()
    ada = visit(made, "ada")
    ada.post(ada.follow("/next"), form_of(2))
    page = ada.follow("/next")
    back = re.search(r'id="back" href="([^"]+)"', page.text)[1]
    assert back == "/item/1"
    earlier = ada.get(back)
    assert earlier.text.count(" checked") == 3
    assert re.findall(r'value="(\d)" data-key="\d" required checked', earlier.text) == ["2"] * 3
    ada.post(earlier, form_of(5))
    (row,) = made.judgements()
    assert row.answers["sensible"] == (5 if row.first == "a" else 1)
    assert action(ada.follow("/next").text) == action(page.text)


def test_what_is_missing_is_said_and_the_rest_is_kept_on_the_page(study, visit):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    sent = ada.post(page, {"answer.sensible": "4"})
    assert sent.status_code == 422
    assert "Not saved yet: 2 questions have no answer." in sent.text
    assert sent.text.count(" checked") == 1
    assert made.judgements() == []


@pytest.mark.parametrize("value", ["0", "6", "", "1.0", "１", "01", " 1", "a", "9" * 5000])
def test_what_is_no_answer_is_refused(study, visit, value):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert ada.post(page, {**form_of(2), "answer.sensible": value}).status_code == 400
    assert made.judgements() == []


# Who may see what ------------------------------------------------------------------------------


PRIVATE = [
    "/instructions",
    "/next",
    "/item/1",
    "/finished",
    "/overview",
    "/overview/judgements.csv",
]


@pytest.mark.parametrize("path", [*PRIVATE, "/nothing", "/a/", "/a/x", "/o/x", "/item/x"])
def test_strangers_see_nothing_and_the_same_everywhere(study, visit, path):
    stranger = visit(study())
    page = stranger.get(path)
    assert page.status_code == 404
    assert page.text == stranger.get("/a/unknown").text
    assert not page.cookies


def test_the_front_page_says_what_to_do(study, visit):
    page = visit(study()).get("/")
    assert page.status_code == 200
    assert "Open the link that you were given." in page.text


def test_annotators_see_neither_each_other_nor_the_overview(study, visit):
    made = study()
    ada, grace = visit(made, "ada"), visit(made, "grace")
    page = ada.follow("/next")
    assert ada.get("/overview").status_code == 404
    assert grace.get(action(page.text)).status_code == 404
    assert "grace" not in page.text
    assert not re.search(
        "alpha|beta|human_", re.sub("answer.human_like|text \\d of \\w+", "", page.text)
    )


def test_the_token_is_in_a_cookie_that_scripts_and_other_sites_do_not_get(study, visit):
    made = study()
    visitor = visit(made)
    sent = visitor.get(f"/a/{made.annotators[0].token}")
    cookie = sent.headers["set-cookie"]
    assert f"calipers_{made.settings.name}={made.annotators[0].token};" in cookie
    for rule in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert rule in cookie


def test_two_studies_have_cookies_of_their_own(study, visit):
    one, two = study(name="one.sqlite"), study(name="two.sqlite")
    names = {f"calipers_{each.settings.name}" for each in (one, two)}
    both = visit(one, "ada")
    both.cookies |= visit(two, "grace").cookies
    assert set(both.cookies) == names
    assert "ada" in both.follow("/").text


@pytest.mark.parametrize("forged", ["", "0" * 64, None, "é"])
def test_a_form_without_the_signature_is_refused(study, visit, forged):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    form = form_of(2) | ({} if forged is None else {"csrf": forged})
    assert ada.send("POST", action(page.text), data=form).status_code == 403
    assert made.judgements() == []


def test_the_signature_of_another_annotator_is_refused(study, visit):
    made = study()
    ada, grace = visit(made, "ada"), visit(made, "grace")
    page, other = ada.follow("/next"), grace.follow("/next")
    form = {**form_of(2), "csrf": signature(other.text)}
    sent = ada.send("POST", action(page.text), data=form)
    assert sent.status_code == 403
    assert "belongs to another link" in sent.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "//x"])
def test_a_form_from_another_site_is_refused(study, visit, origin):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert ada.post(page, form_of(2), headers={"Origin": origin}).status_code == 403
    here = {"Origin": "http://127.0.0.1:8765"}
    assert ada.post(page, form_of(2), headers=here).status_code == 303


@pytest.mark.parametrize(
    ("header", "host", "known"),
    [
        ("127.0.0.1:8765", "127.0.0.1", True),
        ("localhost:8765", "127.0.0.1", True),
        ("LOCALHOST", "127.0.0.1", True),
        ("[::1]:8765", "::1", True),
        ("192.168.1.7:8765", "127.0.0.1", False),
        ("192.168.1.7:8765", "0.0.0.0", True),
        ("evil.example", "127.0.0.1", False),
        ("evil.example", "0.0.0.0", False),
        ("evil.example:8765", "192.168.1.7", False),
        ("127.0.0.1.evil.example", "0.0.0.0", False),
        ("127.0.0.1@evil.example", "127.0.0.1", False),
        ("annotate.lab", "annotate.lab", True),
        ("", "0.0.0.0", False),
        ("[", "0.0.0.0", False),
        ("x" * 5000, "0.0.0.0", False),
    ],
)
def test_only_names_of_this_machine_are_answered(header, host, known):
    assert is_known_host(header, host) is known


def test_requests_under_a_foreign_name_get_nothing(study):
    made = study()
    visitor = Visitor(make_app(made), base="http://evil.example")
    page = visitor.get(f"/a/{made.annotators[0].token}")
    assert page.status_code == 421
    assert not page.cookies


# What every answer carries, and what is too much ------------------------------------------------


def test_every_answer_is_guarded(study, visit):
    made = study()
    ada = visit(made, "ada")
    pages = [ada.follow("/next"), ada.get("/nothing"), ada.get("/next"), ada.get("/static/keys.js")]
    foreign = Visitor(make_app(made), base="http://evil.example").get("/")
    for page in [*pages, foreign, ada.send("DELETE", "/next")]:
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"


def test_files_of_the_pages_are_kept_by_browsers_under_their_version(study, visit):
    visitor = visit(study(), "ada")
    page = visitor.follow("/next")
    for path in re.findall(r'(?:href|src)="(/static/[^"]+\?[^"]+)"', page.text):
        found = visitor.get(path)
        assert found.status_code == 200
        assert "immutable" in found.headers["cache-control"]
    assert visitor.get("/static/style.css").headers["content-type"].startswith("text/css")
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/app.py"):
        assert visitor.get(path).status_code == 404


def test_pages_ask_for_nothing_elsewhere_and_hold_no_scripts(study, visit):
    made = study()
    ada, boss = visit(made, "ada"), visit(made)
    boss.get(f"/o/{made.settings.overview}")
    for page in (
        ada.follow("/"),
        ada.follow("/next"),
        ada.follow("/finished"),
        boss.get("/overview"),
    ):
        text = re.sub(r'value="http://127[^"]+"', "", page.text)
        assert "http" not in text.replace("http-equiv", "")
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", text)


@pytest.mark.parametrize("header", [True, False])
def test_a_large_form_is_refused(study, visit, header):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    body = b"x=" + b"y" * LARGEST

    async def stream():
        for start in range(0, len(body), 4096):
            yield body[start : start + 4096]

    sent = ada.send(
        "POST",
        action(page.text),
        content=body if header else stream(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert sent.status_code == 413


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"", "multipart/form-data; boundary=x", 415),
        (b"", "", 415),
        (b"a=1&a=2", "application/x-www-form-urlencoded", 400),
        ("ü".encode("latin-1"), "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a%d=1" % n for n in range(200)), "application/x-www-form-urlencoded", 400),
        (b"%ff%00=%ff", "application/x-www-form-urlencoded", 403),
        (b"", "application/x-www-form-urlencoded", 403),
    ],
)
def test_what_is_no_form_is_refused(study, visit, content, kind, status):
    ada = visit(study(), "ada")
    page = ada.follow("/next")
    sent = ada.send("POST", action(page.text), content=content, headers={"Content-Type": kind})
    assert sent.status_code == status


@pytest.mark.parametrize(
    "place",
    ["0", "-1", "9" * 9, "9" * 30, "9" * 5_000, "1.5", "1e3", "\u0663", "\u00b2", "1/2", "x%00"],
)
def test_places_that_are_none(study, visit, place):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert ada.get(f"/item/{place}").status_code == 404
    form = {**form_of(1), "csrf": signature(page.text)}
    assert ada.send("POST", f"/item/{place}", data=form).status_code == 404


@pytest.mark.parametrize("length", ["\u00b2", "9" * 5_000, "-1", "1e3", ""])
def test_a_length_that_is_none_is_no_error_of_the_server(study, visit, length):
    ada = visit(study(), "ada")
    page = ada.follow("/next")
    headers = {
        "Content-Length": length.encode("latin-1"),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    sent = ada.send("POST", action(page.text), content=b"csrf=x", headers=headers)
    assert sent.status_code in (400, 403, 413)


def test_an_error_shows_no_trace(study, visit, monkeypatch):
    made = study()
    ada = visit(made, "ada")
    page = ada.follow("/next")

    def fail(*arguments):
        raise RuntimeError("a secret path /home/x")

    monkeypatch.setattr(made.turns, "turn", fail)
    shown = ada.get("/item/1")
    assert shown.status_code == 500
    assert "secret" not in shown.text
    assert "Your saved answers are kept." in shown.text

    def full(*arguments):
        raise InputError("/home/x/study.sqlite: cannot be written: disk full")

    monkeypatch.setattr(made.turns, "answer", full)
    sent = ada.post(page, form_of(1))
    assert sent.status_code == 503
    assert "could not be written" in sent.text
    assert "/home/x" not in sent.text


# What is shown -------------------------------------------------------------------------------


HOSTILE = (
    "</div><script>window.hacked=1</script><img src=x onerror=alert(1)>",
    "{{ 7*7 }} {% raw %}",
    "nul \0 bell \a half \ud800 end",
    "\u202eright to left",
    '" autofocus onfocus="alert(1)',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_shown_as_texts(study, visit, text):
    rubric = Rubric("own", "pairs", f"{text}\n\nmore", (Question("q", text),))
    item = Item(text, f"{text}!", text, f"{text} other", text)
    made = study(items=[item], rubric=rubric, annotators=["<b>ada</b>"])
    ada = visit(made, "<b>ada</b>")
    boss = visit(made)
    boss.get(f"/o/{made.settings.overview}")
    for page in (ada.follow("/"), ada.follow("/next"), boss.get("/overview")):
        assert page.status_code == 200
        for piece in ("<script>window", "<img", "<b>ada", 'autofocus onfocus="', "\0", "\a"):
            assert piece not in page.text
        assert "&lt;b&gt;ada&lt;/b&gt;" in page.text
        assert page.text.count("{{ 7*7 }}") == page.text.count("{% raw %}")
    assert ada.post(ada.follow("/next"), {"answer.q": "1"}).status_code == 303
    for ending in ("csv", "jsonl"):
        assert boss.get(f"/overview/judgements.{ending}").status_code == 200


def test_the_sides_are_as_recorded(study, visit):
    made = study(12)
    ada = visit(made, "ada")
    for _ in range(6):
        page = ada.follow("/next")
        ada.post(page, form_of(1))
        texts = re.findall(r'dir="auto" tabindex="0" role="group"[^>]*>([^<]*)<', page.text)
        row = made.judgements()[-1]
        item = next(each for each in made.items() if each.id == row.item)
        sides = [item.text_a, item.text_b]
        assert texts == [item.context, *(sides if row.first == "a" else sides[::-1])]


def test_single_texts_are_rated_on_scales(study, visit):
    made = study(
        items=[RatedTexts("alpha", ("the text",), ("the prompt",))],
        rubric=QUALITY,
        annotators=["ada"],
    )
    ada = visit(made, "ada")
    assert "1: hard to follow; 5: very easy to follow" in ada.follow("/").text
    page = ada.follow("/next")
    assert "the prompt" in page.text
    assert page.text.count('type="radio"') == 15
    form = {"answer.coherence": "5", "answer.insightfulness": "2", "answer.likelihood": "1"}
    assert ada.post(page, form).status_code == 303
    assert made.judgements()[0].answers == {"coherence": 5, "insightfulness": 2, "likelihood": 1}


def test_long_scales_are_typed_and_checked(study, visit):
    question = Question("liked", "How many of a hundred readers would like it?", 0, 100)
    made = study(
        items=[RatedTexts("alpha", ("the text",))],
        rubric=Rubric("own", "quality", "Read.", (question,)),
        annotators=["ada"],
    )
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert 'type="number" name="answer.liked" min="0" max="100"' in page.text
    for wrong in ("101", "-1", "5.5"):
        assert ada.post(page, {"answer.liked": wrong}).status_code == 400
    assert ada.post(page, {"answer.liked": "55"}).status_code == 303
    assert 'value="55"' in ada.get("/item/1").text
    assert made.judgements()[0].answers == {"liked": 55}


def test_batches_are_rated_with_yes_or_no(study, visit):
    texts = tuple(f"text {n}" for n in range(10))
    made = study(items=[RatedTexts("alpha", texts)], rubric=DIVERSITY, annotators=["ada"])
    ada = visit(made, "ada")
    page = ada.follow("/next")
    assert all(text in page.text for text in texts)
    assert page.text.count('type="radio"') == 2
    assert ada.post(page, {"answer.diverse": "0"}).status_code == 303
    assert made.judgements()[0].answers == {"diverse": 0}


def test_empty_texts_are_said_to_be_empty(study, visit):
    made = study(items=[Item("a", "b", "", "something")], annotators=["ada"])
    page = visit(made, "ada").follow("/next")
    assert "(an empty text)" in page.text
    assert "How the text begins" not in page.text


def test_the_overview_shows_progress_links_and_downloads(study, visit):
    made = study(6, annotators=["ada", "grace"], least_seconds=25)
    ada = visit(made, "ada")
    ada.post(ada.follow("/next"), form_of(1))
    boss = visit(made)
    page = boss.follow(f"/o/{made.settings.overview}")
    assert "1 of 6 items have all their ratings" in page.text
    for each in made.annotators:
        assert f"http://127.0.0.1:8765/a/{each.token}" in page.text
    assert "text 0" not in page.text
    csv = boss.get("/overview/judgements.csv")
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in csv.headers["content-disposition"]
    assert csv.text.count("\n") == 2
    assert boss.get("/overview/judgements.jsonl").json()["text_a"]
    assert boss.get("/overview/judgements.zip").status_code == 404


def test_who_has_done_the_share_may_go_on(study, visit):
    made = study(6)
    ada = visit(made, "ada")
    for _ in range(3):
        ada.post(ada.follow("/next"), form_of(1))
    assert "You have done your share, thank you." in ada.follow("/next").text


def test_annotators_that_are_added_while_it_is_served(study, visit):
    made = study(6)
    visitor = visit(made)
    (mary,) = made.add_annotators(["mary"])
    visitor.get(f"/a/{mary.token}")
    assert "mary" in visitor.follow("/").text


def test_pages_are_the_same_for_the_same_turn(study, visit):
    made = study(items=make_items(1))
    ada = visit(made, "ada")
    assert ada.follow("/next").text == ada.get("/item/1").text
    assert answers()
