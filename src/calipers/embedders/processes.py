"""Embedding in several processes, each with a share of the processor's cores.

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
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import numpy as np

from calipers.embedders.catalogue import MODEL, EmbedderChoice
from calipers.embedders.embedder import Embedder, EncodedBatch, SampleError
from calipers.embedders.reading import ReadingCounts
from calipers.errors import CalipersError, InputError
from calipers.numeric.threads import allowed_threads

_own: dict[str, Embedder] = {}


def in_processes(choice: EmbedderChoice, processes: int) -> Embedder:
    """Return an embedder that divides its work among processes.

    Raises
    ------
    InputError
        If it runs no model on the processor.
    """
    if not may_divide(choice):
        raise InputError(
            f"`processes` applies to models on the CPU only; leave it out for {choice.shown!r}"
        )
    model = choice.load()
    check_divides(choice, model)
    return SideBySide(model, choice, processes)


def may_divide(choice: EmbedderChoice) -> bool:
    """Tell whether an embedder runs a model, so that processes could help."""
    return choice.module in (MODEL, "calipers.embedders.minilm")


def check_divides(choice: EmbedderChoice, model: Embedder) -> None:
    """Refuse processes for a model that does not run on the processor.

    Raises
    ------
    InputError
        If it does.
    """
    if model.signature.get("device") != "cpu":
        raise InputError(
            "`processes` applies to the CPU only; leave it out, since "
            f"{choice.shown!r} runs on {model.signature.get('device')}"
        )


class SideBySide(Embedder):
    """An embedder in several processes, described by a copy in this one.

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
        self.view_signature, self.reads = model.view_signature, model.reads
        self.leaves_out = model.leaves_out
        self.sends = model.sends
        self._step = model.at_once
        self.at_once = self._step * processes
        self._choice, self._processes = choice, processes
        self._crew: Crew | None = None

    def encode(self, prepared: Sequence[Any]) -> EncodedBatch:
        """Embed samples, in their order.

        Raises
        ------
        CalipersError
            If a process was ended from outside, as for want of memory.
        """
        starts = range(0, len(prepared), self._step)
        shares = [prepared[first : first + self._step] for first in starts]
        crew = self._crew = self._crew or Crew(self._choice, self._processes)
        try:
            batches = list(crew.pool.map(_embed, starts, shares))
        except BaseException as error:
            self._crew = None
            crew.dismiss()
            if isinstance(error, BrokenProcessPool):
                raise CalipersError(
                    "an embedding process ended without a message, most likely because "
                    "memory ran out; use fewer processes"
                ) from error
            raise
        return EncodedBatch(
            {view: np.concatenate([batch.views[view] for batch in batches]) for view in self.views},
            np.concatenate([batch.truncated for batch in batches]),
            ReadingCounts.joined([batch.reading for batch in batches]),
        )


class Crew:
    """Worker processes that embed until they are dismissed or this process ends.

    Parameters
    ----------
    choice
        What they load the embedder by.
    processes
        How many.
    """

    def __init__(self, choice: EmbedderChoice, processes: int) -> None:
        context = get_context("spawn")
        rope, self._rope = context.Pipe(duplex=False)
        self.pool = ProcessPoolExecutor(
            processes,
            mp_context=context,
            initializer=_begin,
            initargs=(choice, max(1, _threads() // processes), rope),
        )

    def dismiss(self) -> None:
        """End the processes at once."""
        self._rope.close()
        self.pool.shutdown(wait=False, cancel_futures=True)


def _begin(choice: EmbedderChoice, threads: int, rope: Connection) -> None:
    """Load the embedder in a new process; Ctrl-C is left to the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with, args=(rope,), daemon=True).start()
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(threads)
    _own["embedder"] = choice.load()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _leave_with(rope: Connection) -> None:
    """End this process when the first one lets go: it dismisses this one, or was killed."""
    rope.poll(None)
    os._exit(1)


def _embed(first: int, samples: Sequence[Any]) -> EncodedBatch:
    try:
        return _own["embedder"].embed(samples)
    except SampleError as error:
        raise error.behind(first) from error


def _threads() -> int:
    """Count the threads to share: as many as torch would take here, which limits may lower."""
    if "torch" in sys.modules:
        return int(sys.modules["torch"].get_num_threads())
    return allowed_threads()
