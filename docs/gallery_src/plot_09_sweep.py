"""
Scores against the number of samples
====================================

From how many samples on does a score hold?
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
chosen = {name: generated[name] for name in ("held_out", "markov_chain")}
sweep = calipers.sweep(human, chosen, over="n", seeds=3, metrics=["precision", "recall"])

sweep.plot()
