"""
Scores against a decoding parameter
===================================

An n-gram model writes at four temperatures; ``calipers.tune`` compares what it writes with human
texts.
"""

import calipers
from calipers.demo.systems import systems

human, _ = systems(seed=0)
tuning = calipers.tune(
    human, model="ngram:order=3", over="temperature=0.2,0.6,1.0,1.4", n=200, floor=False
)

tuning.plot("parameter", x_label="temperature").get_figure()
