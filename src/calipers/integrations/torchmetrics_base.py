"""Base class of the torchmetrics metrics: batches of samples become vectors, scores tensors."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from calipers.embedders.catalogue import load_embedder
from calipers.embedders.embedder import Embedder, as_embedder, is_embedder
from calipers.errors import InputError, require
from calipers.numeric.validation import check_flags, check_whole
from calipers.results.reading import REMEDY, SetReading, too_little
from calipers.score import Score
from calipers.uncertainty.spread import check_level

for package, extra in (("torch", "models"), ("torchmetrics", "torchmetrics")):
    require(package, extra=extra, purpose="calipers.integrations.torchmetrics")

import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from torchmetrics import Metric  # noqa: E402
from torchmetrics.utilities import rank_zero_warn  # noqa: E402

Side = Literal["real", "fake"]
SIDES: tuple[Side, Side] = ("real", "fake")
Embed = str | Embedder | Callable[[Any], Any]


class _Rows(NamedTuple):
    """A batch whose vectors were made already."""

    rows: Tensor
    read: Tensor


class SampleMetric(Metric):  # type: ignore[misc]
    """Base class of the metrics: batches of samples become vectors, scores become tensors."""

    width: Tensor
    _rows_dtype: torch.dtype

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    def __init__(
        self,
        *,
        embedder: Embed | None,
        view: str | None,
        seed: int,
        level: float | None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        if level is not None:
            check_level(level)
        self.seed, self.level, self.view = check_whole("seed", seed, 0), level, view
        self.embedder = as_embedder(embedder) if is_embedder(embedder) else embedder
        if not (
            embedder is None or isinstance(self.embedder, str | Embedder) or callable(embedder)
        ):
            raise InputError(
                "embedder must be the name of an embedder, an embedder or a function that gives "
                f"vectors, such as a torch module; found {embedder!r}"
            )
        self._loaded: Embedder | None = None
        self._read = torch.zeros(4, dtype=torch.int64)
        self._rows_dtype = torch.float32

    # Batches -------------------------------------------------------------------------------------

    def update(self, samples: Any, real: bool) -> None:
        """Add a batch of one side.

        Parameters
        ----------
        samples
            Vectors, shape ``(n, d)``; a list of texts; or images, shape ``(n, 3, height, width)``
            or ``(n, 1, height, width)``, uint8 or from 0 to 1 — a module as `embedder` gets them
            as they are.
        real
            Whether they belong to the reference.

        Raises
        ------
        InputError
            If the samples cannot be read, or their vectors are not finite or of another length
            than those before.
        """
        check_flags(real=real)
        rows = self.features(samples)
        width = int(self.width)
        if width and rows.shape[1] != width:
            raise InputError(
                f"vectors must be as long as those before, {width} numbers; found {rows.shape[1]}"
            )
        if not len(rows):
            return
        self.width = torch.full_like(self.width, rows.shape[1])
        side: Side = "real" if real else "fake"
        read = samples.read if isinstance(samples, _Rows) else self._read
        setattr(self, f"{side}_read", getattr(self, f"{side}_read") + read.to(self.device))
        self._take(rows, side)

    def forward(self, samples: Any, real: bool) -> dict[str, Tensor]:
        """Add a batch, and return its scores against the samples held of the other side.

        NaN where there is too little of either. Unlike in most metrics, the batch alone has no
        score: it is of one side.
        """
        rows = self.features(samples)
        read = samples.read if isinstance(samples, _Rows) else self._read
        self.update(_Rows(rows, read), real)
        sides = (rows, self._held("fake")) if real else (self._held("real"), rows)
        counts = (read, self.fake_read) if real else (self.real_read, read)
        unread = self._unread(*counts) is not None
        values = self._as_tensors({} if unread else self._of_rows(*sides, warn=False))
        self._forward_cache = values
        return values

    def features(self, samples: Any) -> Tensor:
        """Turn a batch into vectors, shape ``(n, d)``, on the device of the metric.

        Raises
        ------
        InputError
            If the samples cannot be read, or a vector is not finite.
        """
        if isinstance(samples, _Rows):
            return samples.rows
        self._read = torch.zeros(4, dtype=torch.int64)
        with torch.no_grad():
            rows = self._embedded(samples)
            if rows.ndim != 2:
                raise InputError(
                    "a batch must be vectors of shape (n, d), or the embedder must give such; "
                    f"found the shape {tuple(rows.shape)}"
                )
            rows = rows.to(device=self.device, dtype=self._rows_dtype)
            if not bool(torch.isfinite(rows).all()):
                raise InputError("vectors must be finite; a batch holds NaN or infinity")
        return cast("Tensor", rows)

    def _embedded(self, samples: Any) -> Tensor:
        embedder, texts = self.embedder, _is_texts(samples)
        if embedder is None:
            if texts:
                raise InputError("texts need an embedder, such as embedder='minilm'; found none")
            return torch.as_tensor(samples)
        if isinstance(embedder, torch.nn.Module):
            training = embedder.training
            embedder.eval()
            try:
                return cast("Tensor", embedder(samples))
            finally:
                embedder.train(training)
        if not isinstance(embedder, str | Embedder):
            return torch.as_tensor(embedder(samples))
        made = self._open(embedder)
        batch = made.embed(list(samples) if texts else _as_images(samples))
        if batch.reading is not None:
            read = batch.reading
            counts = (len(read), read.words.sum(), read.unread.sum(), read.nothing.sum())
            self._read = torch.tensor([int(count) for count in counts])
        view = made.views[0] if self.view is None else self.view
        if view not in batch.views:
            raise InputError(f"view must be one of {', '.join(batch.views)}; found {view!r}")
        return cast("Tensor", torch.from_numpy(np.array(batch.views[view])))

    def _open(self, embedder: str | Embedder) -> Embedder:
        """Load a named embedder when it is first needed, on the device of the metric."""
        if self._loaded is None:
            made = embedder
            if isinstance(made, str):
                made = load_embedder(made, device=str(self.device))
            if made.needs_fitting and "images" not in made.reads:
                raise InputError(
                    f"the embedder {made.name!r} is fitted to a whole reference, so it cannot read "
                    "batches; choose another"
                )
            self._loaded = made
        return self._loaded

    # Scores --------------------------------------------------------------------------------------

    def compute(self) -> dict[str, Tensor]:
        """Return the value of each score, and with a level ``KEY_low`` and ``KEY_high``.

        NaN stands for what so few samples do not tell, with a warning where it is the values; so it
        does where the embedder knows too few of the words of a side.
        """
        unread = self._unread(self.real_read, self.fake_read)
        if unread is not None:
            rank_zero_warn(f"{unread}, so that scores are NaN; {REMEDY}")
            return self._as_tensors({})
        return self._as_tensors(self._scores())

    def _unread(self, real: Tensor, fake: Tensor) -> str | None:
        """Say why texts are not compared, where the embedder knows too few of their words."""
        made = self.embedder if self._loaded is None else self._loaded
        left_out, name = getattr(made, "leaves_out", False), getattr(made, "name", made)
        sides = []
        for whose, counts in (("the generated", fake), ("the real", real)):
            texts, words, unread, nothing = map(int, counts.tolist())
            sides.append((whose, SetReading(texts, words, unread, nothing, left_out=left_out)))
        return too_little(str(name), sides)

    @property
    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Keys of the scores."""

    @abstractmethod
    def _take(self, rows: Tensor, side: Side) -> None:
        """Take rows into what is held of a side."""

    @abstractmethod
    def _scores(self) -> Mapping[str, Score]:
        """Score what is held; empty where that is too little."""

    @abstractmethod
    def _held(self, side: Side) -> Any:
        """What is held of a side."""

    @abstractmethod
    def _of_rows(self, real: Any, fake: Any, *, warn: bool) -> Mapping[str, Score]:
        """Score what is held of one side against what is held or given of the other."""

    def _as_tensors(self, scores: Mapping[str, Score]) -> dict[str, Tensor]:
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        values: dict[str, float] = {}
        for key in self.keys:
            score = scores.get(key)
            values[key] = np.nan if score is None else score.value
            if self.level is not None:
                interval = None if score is None else score.interval
                values[f"{key}_low"], values[f"{key}_high"] = interval or (np.nan, np.nan)
        return {
            key: torch.tensor(value, dtype=dtype, device=self.device)
            for key, value in values.items()
        }

    # States --------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget all samples."""
        super().reset()
        self._fill()

    def merge_state(self, incoming_state: dict[str, Any] | Metric) -> None:
        """Merge the samples of another metric, which should have another seed."""
        super().merge_state(incoming_state)
        for side in SIDES:
            self._settle(side)

    @abstractmethod
    def _settle(self, side: Side) -> None:
        """Bring what several metrics held of a side to what one holds."""

    def _fill(self) -> None:
        """Put an empty tensor of the right type into each list that is held.

        So a process that saw no sample of a side takes part in the exchange with the others.
        """
        for name, dtype in self._lists.items():
            empty = torch.empty(0, dtype=dtype or self._rows_dtype, device=self.device)
            setattr(self, name, [empty])

    def set_dtype(self, dst_type: str | torch.dtype) -> SampleMetric:
        """Store vectors in float32 or float64."""
        wanted = getattr(torch, dst_type) if isinstance(dst_type, str) else dst_type
        if wanted not in (torch.float32, torch.float64):
            raise InputError(f"vectors are held in float32 or float64; found {dst_type!r}")
        self._rows_dtype = wanted
        for name, dtype in self._lists.items():
            if dtype is None:
                setattr(self, name, [part.to(wanted) for part in getattr(self, name)])
        return self

    _lists: ClassVar[Mapping[str, Any]]
    """The list states, each with its type; None for that of the vectors."""

    @property
    def _identity(self) -> tuple[object, str | None]:
        """What makes the vectors."""
        named = isinstance(self.embedder, str)
        return self.embedder if named else id(self.embedder), self.view

    def _add_states(self, plan: object) -> None:
        """Add the states; what `plan` says keeps metrics of other options from sharing them."""
        for name in self._lists:
            self.add_state(name, [], dist_reduce_fx="cat")
        for side in SIDES:
            self.add_state(f"{side}_seen", torch.tensor(0), dist_reduce_fx="sum")
            # Texts, words, those unread, and texts of which nothing was read
            zeros = torch.zeros(4, dtype=torch.int64)
            self.add_state(f"{side}_read", zeros, dist_reduce_fx="sum")
        self.add_state("width", torch.tensor(0), dist_reduce_fx="max")
        self.add_state("plan", _fingerprint(plan), dist_reduce_fx="max")
        self._fill()

    def __getstate__(self) -> dict[str, Any]:
        """Leave a loaded embedder out: it is loaded again where the metric goes."""
        return {**super().__getstate__(), "_loaded": None}


def _fingerprint(plan: object) -> Tensor:
    """Options as a few small whole numbers, which are equal where the options are."""
    return torch.tensor(list(zlib.crc32(repr(plan).encode()).to_bytes(4, "big")))


def _is_texts(samples: Any) -> bool:
    if isinstance(samples, str):
        raise InputError("a batch must be a list of texts; found one text")
    return isinstance(samples, list | tuple) and any(isinstance(sample, str) for sample in samples)


def _as_images(samples: Any) -> list[Any]:
    """A batch of image tensors as arrays (height, width, 3) of uint8."""
    images = torch.as_tensor(samples)
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise InputError(
            "images must have the shape (n, 3, height, width) or (n, 1, height, width); found "
            f"{tuple(images.shape)}"
        )
    if images.is_floating_point():
        if not bool(((images >= 0) & (images <= 1)).all()):
            raise InputError("images of floats must lie between 0 and 1; found values beyond")
        images = (255 * images).round()
    elif images.dtype != torch.uint8:
        raise InputError(f"images must be uint8 or floats from 0 to 1; found {images.dtype}")
    images = images.to(torch.uint8).expand(-1, 3, -1, -1).permute(0, 2, 3, 1)
    return list(images.contiguous().cpu().numpy())
