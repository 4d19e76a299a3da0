"""Several processes embed side by side, each with a share of the processor's cores.

One forward pass does not keep many cores busy: beyond some eight, further threads add little.
Processes do, at the price of the model's memory in each. A sample's vectors do not depend on its
company, so how the samples are divided changes no vector beyond the last digits.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

import numpy as np

from calipers.embed.catalogue import MODEL, EmbedderChoice
from calipers.embed.protocol import Embedder, EncodedBatch
from calipers.errors import CalipersError, InputError

PER_PROCESS = 256
_own: dict[str, Embedder] = {}


def in_processes(choice: EmbedderChoice, processes: int) -> Embedder:
    """Make an embedder that divides its work among processes.

    Raises
    ------
    InputError
        If it runs no model on the processor.
    """
    if choice.module not in (MODEL, "calipers.embed.minilm"):
        raise InputError(
            f"processes have a meaning for models on the CPU; {choice.shown!r} is none: leave "
            "--processes (processes= in Python) out"
        )
    model = choice.load()
    if model.signature.get("device") != "cpu":
        raise InputError(
            f"processes have a meaning on the CPU; {choice.shown!r} runs on "
            f"{model.signature.get('device')}: leave --processes (processes= in Python) out"
        )
    return SideBySide(model, choice, processes)


class SideBySide:
    """An embedder in several processes; this one keeps a copy, which tells what it is.

    Parameters
    ----------
    model
        The embedder.
    choice
        What the others load it by.
    processes
        How many embed.
    """

    def __init__(self, model: Embedder, choice: EmbedderChoice, processes: int) -> None:
        self.name, self.views, self.identity = model.name, model.views, model.identity
        self.signature = model.signature
        self.view_signature = getattr(model, "view_signature", {})
        self.reads = getattr(model, "reads", frozenset({"texts"}))
        self._step = getattr(model, "at_once", PER_PROCESS)
        self.at_once = self._step * processes
        threads = max(1, _cores() // processes)
        self._pool = ProcessPoolExecutor(
            processes,
            mp_context=get_context("spawn"),
            initializer=_begin,
            initargs=(choice, threads),
        )

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed samples, in their order.

        Raises
        ------
        CalipersError
            If a process was ended from outside, as for want of memory.
        """
        parts = [samples[i : i + self._step] for i in range(0, len(samples), self._step)]
        try:
            found = list(self._pool.map(_embed, parts))
        except BrokenProcessPool as error:
            raise CalipersError(
                "a process that embeds has ended without a word, most likely for want of memory; "
                "take fewer processes"
            ) from error
        return _joined(found, self.views)


def _joined(parts: Sequence[EncodedBatch], views: Sequence[str]) -> EncodedBatch:
    joined = {view: np.concatenate([part.views[view] for part in parts]) for view in views}
    return EncodedBatch(joined, np.concatenate([part.truncated for part in parts]))


def _begin(choice: EmbedderChoice, threads: int) -> None:
    """Load the embedder in a new process; Ctrl-C is left to the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    _own["embedder"] = choice.load()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _embed(samples: Sequence[Any]) -> EncodedBatch:
    return _own["embedder"].embed(samples)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
