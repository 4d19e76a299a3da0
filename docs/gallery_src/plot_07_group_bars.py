"""
Scores by group
===============

Which part of the reference does a system forget? Here ``forgetful`` writes nothing about classes.
"""

import calipers
from calipers.demo.systems import systems


def labelled(texts):
    """Label texts by the first of three words that they mention."""
    topics = ("class", "function", "string")
    return [
        {"text": text, "topic": next((topic for topic in topics if topic in text), "other")}
        for text in texts
    ]


human, generated = systems(seed=0)
fair = labelled(generated["held_out"])
forgetful = [row for row in fair if row["topic"] != "class"]
comparison = calipers.compare(
    labelled(human),
    {"fair": fair, "forgetful": forgetful},
    group="topic",
    metrics=["recall", "coverage", "precision"],
    floor=False,
)

comparison.plot("group-bars").get_figure()
