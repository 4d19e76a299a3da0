"""The checks: what is drawn, and what each kind of metric must do.

After Räisä, van Breugel and van der Schaar, "All current generative fidelity and diversity metrics
are flawed" (ICML 2025, arXiv 2505.22450). Fidelity is the share of the generated distribution that
lies in the reference's support, diversity the share of the reference that lies in the generated
one's. Where the paper draws in 1, 8 and 64 dimensions, most checks here draw in 8.
"""

from __future__ import annotations

import sanity_draws as draws
from sanity_demands import Check, Demand, both, each, every
from sanity_metrics import COPYING, NOVELTY
from sanity_rules import falls, follows, holds_up, near, peaks, settings, stays

ENDS, START, END = (0, -1), (0,), (-1,)


ALONE = ("",)
GOOD = "generated samples are all as good as real ones"
LESS = "less and less of the reference is reached"
SIZE = "the distributions stay as they are, and so must the score"

CHECKS = (
    Check(
        "equal",
        "two draws of one Gaussian in 8 and in 64 dimensions",
        draws.two_draws,
        (8, 64),
        ALONE,
        both("equal distributions deserve the best score", near(1))
        | {COPYING: Demand("fresh samples are no copies", near(0))},
    ),
    Check(
        "itself",
        "a set against itself, in 8 and in 64 dimensions",
        draws.itself,
        (8, 64),
        ALONE,
        both("equal sets deserve the best score", near(1))
        | {
            NOVELTY: Demand("nothing is new", near(0)),
            COPYING: Demand("all are copies", near(1)),
        },
    ),
    Check(
        "shift",
        "the generated Gaussian moves from -3 to 3 on each of 8 axes",
        draws.shifted,
        (8,),
        (-3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0),
        both(
            "the score is best in place and 0 far away, on either side",
            peaks() & near(0, at=ENDS, where="at both ends"),
        ),
    ),
    Check(
        "width",
        "the generated Gaussian is 0.1 to 10 times as wide, 8 dimensions",
        draws.rescaled,
        (8,),
        (0.1, 0.3, 1.0, 3.0, 10.0),
        each(
            (
                "narrow samples are all good, very wide ones are not",
                falls(0.2)
                & near(1, at=START, where="at the start")
                & near(0, at=END, where="at the end"),
            ),
            (
                "narrow samples miss nearly everything; wide ones reach all (or, thinly, nothing)",
                near(0, at=START, where="at the start")
                & (near(1, at=END, where="at the end") | near(0, at=END, where="at the end")),
            ),
        ),
    ),
    Check(
        "drop",
        "0 to 9 of 10 modes are dropped, 8 dimensions",
        draws.dropped,
        ALONE,
        (0, 2, 5, 7, 9),
        each((GOOD, stays()), (LESS, falls(0.2, half=0.1))),
    ),
    Check(
        "fade",
        "9 of 10 modes lose 0 to 100 % of their mass together, 8 dimensions",
        draws.faded,
        ALONE,
        (0.0, 0.5, 0.95, 0.99, 1.0),
        each((GOOD, stays()), (LESS + ", long before the modes are gone", falls(0.2, half=0.1))),
    ),
    Check(
        "invent",
        "0 to 5 modes are invented beside the 5 real ones, 8 dimensions",
        draws.invented,
        ALONE,
        (0, 1, 2, 3, 5),
        each(
            ("more and more samples lie where nothing real is", falls(0.2)),
            ("all of the reference is still reached", stays()),
        ),
    ),
    Check(
        "collapse",
        "every one of 10 modes shrinks to a twentieth around its mean, 8 dimensions",
        draws.collapsed,
        ALONE,
        (1.0, 0.5, 0.2, 0.05),
        each((GOOD, holds_up()), (LESS, falls(0.2))),
    ),
    Check(
        "repeat",
        "fresh samples, each given 1 to 50 times, 8 dimensions",
        draws.repeated,
        ALONE,
        (1, 5, 20, 50),
        each(("a sample is as good the second time", stays()), (LESS, falls(0.2))),
    ),
    Check(
        "copy",
        "0 to 100 % of the generated samples are copies of reference samples, 8 dimensions",
        draws.copied,
        ALONE,
        (0.0, 0.25, 0.5, 1.0),
        both("copies are as good and as varied as fresh samples", stays())
        | {
            NOVELTY: Demand("copies are not new", falls(0.2)),
            COPYING: Demand("the score is the share of copies", follows((0.0, 0.25, 0.5, 1.0))),
        },
    ),
    Check(
        "outlier-ref",
        "one outlier joins the reference, sets in one place or 3 apart on 8 axes",
        draws.outlier_in_reference,
        (0.0, 3.0),
        (False, True),
        every("one sample of a thousand hardly matters", stays()),
    ),
    Check(
        "outlier-gen",
        "one outlier joins the generated set, sets in one place or 3 apart on 8 axes",
        draws.outlier_in_generated,
        (0.0, 3.0),
        (False, True),
        every("one sample of a thousand hardly matters", stays()),
    ),
    Check(
        "tails",
        "two axes, one with heavy tails; on the other the generated set moves from -6 to 6",
        draws.heavy_tailed,
        ALONE,
        (-6.0, -2.0, 0.0, 2.0, 6.0),
        both(
            "far samples on one axis must not hide the gap on the other",
            peaks() & near(0, at=ENDS, where="at both ends"),
        ),
    ),
    Check(
        "stretch",
        "sets 6 apart on one axis, while the unit of the other goes from 0.001 to 1000",
        draws.stretched,
        ALONE,
        (1e-3, 1.0, 1e3),
        both("the sets are disjoint whatever the units", stays() & near(0)),
    ),
    Check(
        "dims",
        "sets 6 apart on one axis, with 0 to 999 further axes on which they agree",
        draws.one_axis_apart,
        ALONE,
        (1, 10, 100, 1000),
        both("the sets are disjoint however many axes there are", stays() & near(0)),
    ),
    Check(
        "cubes",
        "cubes that share 20 % of their volume, in 1, 8 and 64 dimensions",
        draws.overlapping_cubes,
        ALONE,
        (1, 8, 64),
        both("the score is the share of the volume, in any dimension", stays() & near(0.2)),
    ),
    Check(
        "torus",
        "a ball inside a torus, and the reverse; 0.25 to 4 times as many generated",
        draws.ball_and_torus,
        ("ball", "torus"),
        (0.25, 1.0, 4.0),
        both("the supports do not touch", near(0)),
    ),
    Check(
        "growth",
        "cubes that share 20 % of their volume, 8 dimensions; n = m grows from 1,000 to 4,000",
        draws.growing_cubes,
        (8,),
        (1.0, 2.0, 4.0),
        both(SIZE, stays()),
    ),
    Check(
        "more",
        "the same cubes; the generated set alone grows from 1,000 to 4,000",
        draws.more_generated,
        (8,),
        (1.0, 2.0, 4.0),
        both(SIZE, stays()),
    ),
    Check(
        "rounding",
        "one axis; whole numbers against any numbers, standard deviations of 1 and of 1,000",
        draws.rounded,
        ("reference", "generated"),
        (1.0, 1000.0),
        each(
            (
                "a rounded reference holds nothing but whole numbers; rounded samples are all good",
                settings(("reference rounded", near(0)), ("generated rounded", near(1))),
            ),
            (
                "whole numbers reach nothing between them",
                settings(("reference rounded", near(1) | near(0)), ("generated rounded", near(0))),
            ),
        ),
    ),
)
"""Every check, in the order of the table."""
