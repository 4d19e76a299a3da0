"""Pictures of the pages of ``calipers annotate`` for the docs: on a desk and on a phone.

    python research/experiments/annotate_screenshots.py                 # to docs/images
    python research/experiments/annotate_screenshots.py --folder here   # somewhere else

A small study of texts that stand in this file is made and partly answered, then served. Needs
playwright and a Chromium (CALIPERS_BROWSER may name it), and starlette and uvicorn.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

import calipers
from calipers.annotation.server import addresses, listen, run
from calipers.annotation.study import AnnotationStudy
from calipers.samples import SampleSet
from report_screenshots import IMAGES, PHONE, packed

DESK = (1280, 800)
LARGEST = 150_000
SEED = 6
"""Leaves a long text open for the picture."""

TEXTS = {
    "The library at the end of our street closed last winter, and": {
        "human": (
            "for weeks the lights inside stayed on, as if somebody had forgotten to tell the "
            "building. My daughter still slowed down when we passed it, because she had a book "
            "about whales that was due in January and nobody to give it back to. In the end we "
            "pushed it through the letter box with a note. In March the answer came by post: a "
            "pencilled line from Mrs Adeyemi, who had been the librarian for as long as I have "
            "lived here. No fine, it said. Keep reading. The whale book was in the parcel, and "
            "so was the stamp she used to press on the back of every child's hand."
        ),
        "large": (
            "the council says it has no plans to open it again. The building, which dates from "
            "1911, will be offered to community groups, who would have to find the money for a "
            "new roof. “We know how much it means to people,” a spokesman said, “but the cost of "
            "keeping it open was no longer justified by the number of visitors.” Figures show "
            "that loans fell by a third over ten years. A petition against the closure has been "
            "signed by more than two thousand people, many of whom say that they had not been "
            "inside for some time but liked to know that it was there."
        ),
        "small": (
            "the library was closed. It was the best library in the street and the people of the "
            "street said that the library was the best. The library had a lot of books and the "
            "books were in the library. When the winter came the library closed in the winter, "
            "and the winter was cold. The man who worked at the library said that he was sad "
            "about the library and that the books would be moved to the other library, which is "
            "also closed. The street is now the end of the street. You can read more about the "
            "library here. Advertisement. Share this story."
        ),
    },
    "There is a trick to baking bread in a cold kitchen:": {
        "human": (
            "warm the flour, not the room. Put it in the oven in its bowl for as long as it takes "
            "to find the yeast, and then do everything slower than the book says. My aunt set "
            "the dough on top of the refrigerator, under a hat. We never asked about the hat. By "
            "the time the radio had gone through the news twice it would have risen enough to "
            "lift the brim, and she would say good morning to it."
        ),
        "large": (
            "let time do the work of heat. Mix the dough in the evening with a third of the usual "
            "yeast, cover it, and leave it on the counter overnight. A slow rise at fourteen "
            "degrees gives the bacteria the hours they need to sour the dough a little, which is "
            "why such loaves taste of more. In the morning shape it gently, let it rest while the "
            "oven heats, and bake it hot in a closed pot."
        ),
        "small": (
            "bake the bread. First you take the bread and then you bake the bread in the kitchen "
            "until the bread is cold. If the kitchen is cold then the bread is cold too, so you "
            "have to warm up the cold. Many people do not know this trick. The trick is a trick "
            "that bakers use all over the world to make the bread that they make. Preheat."
        ),
    },
    "When the river rises in spring, the people of the lower village": {
        "human": (
            "carry their chairs upstairs and leave the tables to look after themselves. It is "
            "done without hurry, in the order in which the houses stand, each household helping "
            "the next one up the hill. The water comes to the second step, as a rule, and stays "
            "for a week. There are chalk marks by the church door that go back to 1764."
        ),
        "large": (
            "have learned to read the colour of the water. Grey means snow from the hills, and a "
            "day or two to prepare; brown means rain, and hardly an hour. The flood of 2013 was "
            "brown. Since then a gauge has been fixed to the bridge, and every phone in the "
            "village rings when it passes three metres."
        ),
        "small": (
            "river. The river is in the spring and the spring is in the river. People in the "
            "village like the river because of the water in the river. The lower village is "
            "lower than the upper village, and the river is lower than the lower village, which "
            "is why the people rise when the river rises."
        ),
    },
}
"""Written for these pictures; no model wrote any of them, and nobody judged them."""


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the page, the window, the colours, and what is pressed first."""

    name: str
    page: str
    window: tuple[int, int] = DESK
    scheme: str = "light"
    keys: str = ""


SHOTS = (
    Shot("item", "/next", keys="24"),
    Shot("phone-dark", "/next", PHONE, "dark"),
    Shot("overview", "/overview"),
)


def make(folder: Path) -> AnnotationStudy:
    """Make a study, and answer most of it."""
    systems = [
        SampleSet.from_texts(
            [texts[name] for texts in TEXTS.values()], name=name, prompts=list(TEXTS)
        )
        for name in ("human", "large", "small")
    ]
    path = folder / "continuations.sqlite"
    calipers.annotate(
        path,
        reference=systems[0],
        generated={each.name: each for each in systems[1:]},
        annotators=["Ada", "Grace", "Mary", "Emmy"],
        per_pair=9,
        ratings_per_item=3,
        seed=SEED,
    ).close()
    now = [1_790_000_000.0]
    study = AnnotationStudy.open(path, clock=lambda: now[0])
    chance = random.Random(2)
    for annotator, items in zip(study.annotators, (4, 10, 7, 0), strict=True):
        for _ in range(items):
            place = study.turns.next(annotator)
            if place is None:
                break
            turn = study.turns.turn(annotator, place)
            assert turn is not None
            now[0] += chance.uniform(20, 100)
            answers = {each.name: chance.randint(1, 5) for each in study.settings.rubric.questions}
            if getattr(turn.item, "check", "") and annotator.name != "Mary":
                answers = dict.fromkeys(answers, 1 if turn.first == "a" else 5)
            study.turns.answer(annotator, place, answers)
    study.close()
    return AnnotationStudy.open(path)


def taken(browser: Any, address: str, token: str, shot: Shot) -> bytes:
    """Open the page for one picture, and take it as PNG."""
    width, height = shot.window
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=shot.scheme,
        reduced_motion="reduce",
        has_touch=shot.window == PHONE,
    )
    tab = context.new_page()
    tab.goto(f"{address}/{token}")
    tab.goto(f"{address}{shot.page}")
    for key in shot.keys:
        tab.keyboard.press(key)
    made: bytes = tab.screenshot()
    context.close()
    return made


def small(png: bytes) -> bytes:
    """The same picture packed tightly; in few colours where it is still too large."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    made = packed(image)
    return made if len(made) < LARGEST else packed(image.quantize(128))


def take_all(study: AnnotationStudy, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    from report_screenshots import browser_path

    listening = listen("127.0.0.1", 0)
    address = addresses("127.0.0.1", listening.getsockname()[1])[0]
    threading.Thread(target=run, args=(study, listening, "127.0.0.1"), daemon=True).start()
    reader = f"a/{study.annotators[0].token}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in SHOTS:
            token = f"o/{study.settings.overview}" if shot.page == "/overview" else reader
            picture = small(taken(browser, address, token, shot))
            (folder / f"annotate-{shot.name}.png").write_bytes(picture)
            note = "" if len(picture) < LARGEST else "  too large"
            print(f"annotate-{shot.name}.png  {len(picture) / 1000:.0f} kB{note}")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        take_all(make(Path(folder)), asked.folder)


if __name__ == "__main__":
    main()
