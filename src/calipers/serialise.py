"""Conversion of frozen dataclasses to plain data for strict JSON, and back.

Written, a dataclass is a dict of its fields, an array a list, a tuple a list, and a number that
JSON lacks ``None``. Read, every value is compared with the type of its field: null is an open bound
in a pair of bounds, None where the field may be None, and NaN for any other number. Numbers that
JSON lacks, and scores outside of their range, are refused. What is written of a class beyond its
fields, or otherwise, and what must hold among its fields, the class says itself (:class:`Plain`).
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from calipers.brief import Brief
from calipers.errors import InputError
from calipers.score import NoiseFloor, Score

Data = Mapping[str, Any]
T = TypeVar("T")

LARGEST = 1e150
"""No number that is written is further from 0, so that its square is a number too."""

MOST = 2**53
"""Whole numbers are below this, so that they are the same in every reader of JSON."""


class Plain(Brief):
    """Base of dataclasses that are written as plain data and read back, field by field."""

    _written: ClassVar[tuple[str, ...]] = ()
    """The attributes that are written, in order; all fields where none are named."""
    _key: ClassVar[str] = ""
    """The field that is not written, since the object stands under it in a mapping."""
    _optional: ClassVar[tuple[str, ...]] = ()
    """Fields that may be missing when it is read: those that older files lack."""
    _apart: ClassVar[tuple[str, ...]] = ()
    """Fields that are neither written nor read."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, fit for strict JSON."""
        return plain(self)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Data) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        InputError
            If a field is missing or invalid; the message names it.
        """
        return read(cls, data)

    def _outline(self) -> Data:
        """What is written, by key and in order, of whatever kind."""
        left_out = {*self._apart, self._key}
        names = self._written or [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name not in left_out}

    def _of_samples(self) -> Data:
        """What is written after that, where values of single samples are asked for."""
        return {}

    @classmethod
    def _restored(cls, data: Data) -> Data:
        """Bring what was written to fields; keys that are no fields may stay."""
        return data

    def _check(self) -> None:
        """Refuse, of what was read, fields that cannot be or do not fit together.

        Raises
        ------
        TypeError, ValueError
            Names them, the rule and what they hold.
        """


def plain(value: Any, *, per_sample: bool = False) -> Any:
    """Convert a value to plain data, at any depth.

    Parameters
    ----------
    value
        A dataclass, a mapping, a tuple or list, an array, or what JSON holds as it is.
    per_sample
        Whether to include one value for each sample, where a score has them.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return float(value) if math.isfinite(value) else None
        case np.generic():
            return plain(value.item())
        case np.ndarray():
            return values(value)
        case Mapping():
            return {str(name): plain(item, per_sample=per_sample) for name, item in value.items()}
        case tuple() | list():
            return [plain(item, per_sample=per_sample) for item in value]
        case Score() | NoiseFloor() | Plain():
            return plain(_outline(value, per_sample), per_sample=per_sample)
        case _:
            return value


def values(array: NDArray[Any]) -> list[Any]:
    """Return the values of an array, row by row, with None for those that JSON lacks."""
    listed: list[Any] = array.tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [plain(row) for row in listed]
    return listed


def read(kind: type[T], data: Any) -> T:
    """Read a dataclass from the output of :func:`plain`.

    Raises
    ------
    InputError
        If a field is missing or cannot be; names its place, as ``scores.recall.interval[0]``.
    """
    try:
        result: T = _converter().structure(data, kind)
    except Exception as error:
        refused = _first(error)
        where = refused.place.removeprefix(".")
        if refused.what.startswith(": "):  # of a class, which names its fields itself
            raise InputError(f"{where}{refused.what}".removeprefix(": ")) from None
        raise InputError(f"{where or 'the data'} {refused.what}") from None
    return result


def read_fields(kinds: Mapping[str, Any], data: Data, place: str) -> None:
    """Check that values of a mapping have the types of the fields.

    Parameters
    ----------
    kinds
        The types, by key.
    data
        The mapping, which has all of these keys.
    place
        What messages call it.

    Raises
    ------
    ValueError
        Names the first that is not, and what it is.
    """
    for name, kind in kinds.items():
        try:
            _converter().structure(data[name], kind)
        except Exception as error:
            raise _first(error, f"{place}.{name}") from None


def parsed_json(content: str | bytes) -> Any:
    """Parse strict JSON, without the extra numbers of Python's parser.

    Raises
    ------
    ValueError
        If it is not JSON.
    """
    return json.loads(content, parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is no JSON")


# ------------------------------------------------------------------ scores


def _outline(value: Score | NoiseFloor | Plain, per_sample: bool) -> Data:
    if isinstance(value, NoiseFloor):
        counts = {"size": value.size, "splits": value.splits, "inside": value.inside}
        return {**{name: _real(number) for name, number in vars(value).items()}, **counts}
    if isinstance(value, Score):
        return _score_outline(value, per_sample)
    return {**value._outline(), **(value._of_samples() if per_sample else {})}


def _score_outline(score: Score, per_sample: bool) -> Data:
    data: dict[str, Any] = {
        "value": _real(score.value),
        "interval": score.interval and tuple(map(_real, score.interval)),
        "level": score.level,
        "standard_error": _real(score.standard_error),
        "sources": {name: _real(error) for name, error in score.sources.items()},
        "approximate": score.approximate,
        "noise_floor": _real(score.noise_floor),
        "floor": score.floor,
        "range": tuple(map(_real, score.range)),
        "better": score.better,
        "signature": score.signature,
        "reason": score.reason,
    }
    if score.reference is not None:
        data |= {"reference": _real(score.reference), "gap": _real(score.gap)}
    if score.seeds:
        data |= {"seeds": tuple(map(_real, score.seeds)), "seeds_sd": score.seeds_sd}
    if score.details:
        data["details"] = score.details
    if score.note:
        data["note"] = score.note
    if per_sample and score.per_sample is not None:
        data["per_sample"] = score.per_sample
    return data


def _real(value: float | None) -> float | None:
    """A number as a float, of whatever kind it is."""
    return None if value is None else float(value)


_OPTIONAL = {
    Score: (
        *("seeds", "reference", "standard_error", "sources", "approximate", "floor"),
        *("details", "note", "per_sample"),
    ),
    NoiseFloor: ("margin",),
}


_SLACK = 1e-6
"""By how much rounding may move a value beyond its range, in shares of the bound."""


def _check_score(score: Score) -> None:
    """Refuse numbers that no score of such a range has."""
    low, high = score.range
    if not low <= high:
        raise ValueError(f"range is {low:g} to {high:g}, which holds no number")
    for name, value in _in_range(score):
        if value < low - _SLACK * max(1.0, abs(low)) or value > high + _SLACK * max(1.0, abs(high)):
            raise ValueError(f"{name} is {value:.12g}, outside of its range {low:g} to {high:g}")
    if score.interval is not None and not score.interval[0] <= score.interval[1]:
        raise ValueError(f"interval is {score.interval}, not a lower and an upper bound")
    if score.interval is not None and score.level is None:
        raise ValueError("level is null, though there is an interval")
    if score.level is not None and not 0 < score.level < 1:
        raise ValueError(f"level is {score.level:.12g}, not a number between 0 and 1")
    for name, error in (("standard_error", score.standard_error), *score.sources.items()):
        if error is not None and error < 0:
            raise ValueError(f"{name} is {error:.12g}, not a number of at least 0")


def _in_range(score: Score) -> Iterator[tuple[str, float]]:
    yield "value", score.value
    yield from (("a seed", value) for value in score.seeds)
    if score.reference is not None:
        yield "reference", score.reference


def _check_floor(floor: NoiseFloor) -> None:
    for name in ("spread", "beside_spread", "margin"):
        value = getattr(floor, name)
        if value is not None and value < 0:
            raise ValueError(f"{name} is {value:.12g}, not a number of at least 0")


def _check(made: Any) -> None:
    if isinstance(made, Score):
        _check_score(made)
    elif isinstance(made, NoiseFloor):
        _check_floor(made)
    elif isinstance(made, Plain):
        made._check()


def _restored(kind: type, data: Data) -> Data:
    if issubclass(kind, Plain):
        return kind._restored(data)
    # Older files say null for what they lack, newer ones leave it out
    empty = ("sources",) if kind is Score else ()
    return {name: value for name, value in data.items() if value is not None or name not in empty}


# ------------------------------------------------------------------ reading


class _RefusedError(ValueError):
    """A value that cannot be, and where it stands."""

    def __init__(self, what: str, place: str = "") -> None:
        super().__init__(what)
        self.what, self.place = what, place


def _first(error: BaseException, step: str = "") -> _RefusedError:
    """The first of the errors that cattrs gathered of a class, with the way to it."""
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, BaseExceptionGroup):
        inner = error.exceptions[0]
        notes = [note.name for note in getattr(inner, "__notes__", ()) if hasattr(note, "name")]
        return _first(inner, step + "".join(f".{name}" for name in notes[:1]))
    if isinstance(error, _RefusedError):
        return _RefusedError(error.what, step + error.place)
    return _RefusedError(f"cannot be read: {error!s:.200}", step)


def _refused_by(error: BaseException) -> _RefusedError:
    """What a class says of its own fields, in its own words."""
    if isinstance(error, _RefusedError):
        return error
    return _RefusedError(f": {error!s:.300}")


def _refuse(value: Any, rule: str) -> _RefusedError:
    return _RefusedError(f"is {value!r:.100}, {rule}")


@cache
def _converter() -> Any:
    """The hooks of cattrs by type; loaded when something is first read."""
    from cattrs import Converter
    from cattrs.gen import make_dict_structure_fn, override

    made = Converter()

    def of_class(kind: type) -> Callable[[Any, Any], Any]:
        apart, needed = _fields(kind)
        left_out: Any = {name: override(omit=True) for name in apart}
        fill: Any = make_dict_structure_fn(kind, made, **left_out)

        def structure(data: Any, _: Any) -> Any:
            if type(data) is kind:  # read already by the class that holds it
                return data
            try:
                fields = _restored(kind, _object(data))
            except KeyError as error:
                raise _RefusedError(f"lacks {error}") from None
            except (AttributeError, TypeError, ValueError) as error:
                raise _first(error) from None
            for name in needed:
                if name not in fields:
                    raise _RefusedError(f"lacks {name!r}")
            instance = fill(fields, kind)
            try:
                _check(instance)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise _refused_by(error) from None
            return instance

        return structure

    def of_mapping(kind: Any) -> Callable[[Any, Any], Any]:
        key, item = get_args(kind)
        hook, named = made.get_structure_hook(item), _key_of(item)

        def structure(data: Any, _: Any) -> Any:
            items = {}
            for name, value in _object(data).items():
                given = {**_object(value, f".{name}"), named: name} if named else value
                try:
                    items[int(name) if key is int else name] = hook(given, item)
                except Exception as error:
                    raise _first(error, f".{name}") from None
            return items

        return structure

    def of_tuple(kind: Any) -> Callable[[Any, Any], Any]:
        item = get_args(kind)[0]
        hook = made.get_structure_hook(item)

        def structure(data: Any, _: Any) -> Any:
            items = []
            for place, value in enumerate(_listed(data)):
                try:
                    items.append(hook(value, item))
                except Exception as error:
                    raise _first(error, f"[{place}]") from None
            return tuple(items)

        return structure

    def of_text_or_class(kind: Any) -> Callable[[Any, Any], Any]:
        (other,) = (argument for argument in get_args(kind) if argument is not str)
        hook = made.get_structure_hook(other)

        def structure(data: Any, _: Any) -> Any:
            return data if isinstance(data, str) else hook(data, other)

        return structure

    def is_of(origin: Any) -> Callable[[Any], bool]:
        return lambda kind: get_origin(kind) is origin

    made.register_structure_hook_factory(dataclasses.is_dataclass, of_class)
    made.register_structure_hook_factory(is_of(Mapping), of_mapping)
    made.register_structure_hook_factory(is_of(tuple), of_tuple)
    made.register_structure_hook_factory(_is_text_or_class, of_text_or_class)
    made.register_structure_hook_func(lambda kind: kind == tuple[float, float], _bounds)
    made.register_structure_hook_func(is_of(np.ndarray), _array)
    made.register_structure_hook_func(is_of(Literal), _choice)
    for kind, hook in {float: _number, int: _whole, bool: _flag, str: _text}.items():
        made.register_structure_hook(kind, hook)
    return made


def _fields(kind: type) -> tuple[set[str], list[str]]:
    """The fields of a class that are never read, and those that must be there; types resolved."""
    apart = set(getattr(kind, "_apart", ()))
    optional = {*apart, *getattr(kind, "_optional", _OPTIONAL.get(kind, ()))}
    fields = dataclasses.fields(kind)

    def holder() -> None: ...

    holder.__annotations__ = {field.name: field.type for field in fields if field.name not in apart}
    names: dict[str, Any] = {}
    for base in reversed(kind.__mro__):  # the types of inherited fields are named where these are
        names |= vars(sys.modules[base.__module__])
    hints = get_type_hints(holder, names, {"NDArray": NDArray, "Mapping": Mapping})
    for field in fields:  # cattrs takes types that were resolved before
        field.type = hints.get(field.name, object)
    return apart, [field.name for field in fields if field.name not in optional]


def _is_text_or_class(kind: Any) -> bool:
    """Whether a type is of a text, or of an object of one class."""
    kinds = get_args(kind) if get_origin(kind) is UnionType else ()
    return len(kinds) == 2 and str in kinds and any(map(dataclasses.is_dataclass, kinds))


def _key_of(kind: Any) -> str:
    return kind._key if isinstance(kind, type) and issubclass(kind, Plain) else ""


def _object(data: Any, place: str = "") -> Data:
    if not isinstance(data, Mapping):
        raise _RefusedError(f"is {data!r:.100}, not an object", place)
    return data


def _listed(data: Any) -> list[Any]:
    if not isinstance(data, list | tuple):
        raise _refuse(data, "not a list")
    return list(data)


def _number(value: Any, _: Any = None) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refuse(value, "not a number")
    try:
        number = float(value)
    except OverflowError:
        raise _refuse(value, "beyond what a number can be") from None
    if not math.isfinite(number):
        raise _refuse(value, "not a number that JSON has")
    if abs(number) > LARGEST:
        raise _refuse(value, "beyond what a number can be")
    return number


def _whole(value: Any, _: Any = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST:
        raise _refuse(value, "not a whole number of at least 0")
    return value


def _flag(value: Any, _: Any = None) -> bool:
    if not isinstance(value, bool):
        raise _refuse(value, "neither true nor false")
    return value


def _text(value: Any, _: Any = None) -> str:
    if not isinstance(value, str):
        raise _refuse(value, "not a text")
    return value


def _choice(value: Any, kind: Any) -> Any:
    if value not in get_args(kind):
        raise _refuse(value, f"none of {get_args(kind)}")
    return value


def _bounds(data: Any, _: Any = None) -> tuple[float, float]:
    if not isinstance(data, list | tuple) or len(data) != 2:
        raise _refuse(data, "not two bounds")
    bounds = []
    for place, (bound, open_end) in enumerate(zip(data, (-math.inf, math.inf), strict=True)):
        try:
            bounds.append(open_end if bound is None else _number(bound))
        except _RefusedError as error:
            raise _first(error, f"[{place}]") from None
    return bounds[0], bounds[1]


def _array(data: Any, kind: Any) -> NDArray[Any]:
    """An array of numbers, null for NaN; of any kind of number where the type names none."""
    dtype = get_args(get_args(kind)[1])[0] if get_args(kind)[1:] else Any
    known = isinstance(dtype, type) and issubclass(dtype, np.generic)
    whole = known and issubclass(dtype, np.integer)
    try:
        array = np.array(_listed(data) if whole else _with_nan(_listed(data)))
    except ValueError:
        raise _refuse(data, "not an array of numbers") from None
    kinds = "iu" if whole else "biuf"
    if array.size and array.dtype.kind not in kinds:
        raise _refuse(data, "not an array of numbers")
    if array.dtype.kind == "f" and (np.abs(array) > LARGEST).any():
        raise _refuse(data, "an array with numbers beyond what a number can be")
    return array.astype(dtype) if known else array


def _with_nan(data: list[Any]) -> list[Any]:
    return [
        math.nan if entry is None else _with_nan(entry) if isinstance(entry, list) else entry
        for entry in data
    ]
