"""The errors that Calipers raises, and the wording that they share.

Every message names the file, row or parameter, the rule, and the value that was found.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import ParamSpec, TypeVar

Keywords = ParamSpec("Keywords")
Given = TypeVar("Given")

FAULT = 70
"""What the command line ends with where Calipers itself is at fault (``EX_SOFTWARE`` of BSD).

Python's own 1 would say that a gate failed.
"""


class CalipersError(Exception):
    """Base of all errors that a user can correct; the command line prints it and exits with 2."""


class InputError(CalipersError, ValueError):
    """Invalid input: a file, a row, an array or a parameter that breaks a rule."""


class MissingExtraError(CalipersError, ImportError):
    """An optional package that a feature needs is not installed."""


class MissingKernelsError(CalipersError, ImportError):
    """The compiled kernels are missing, or this machine cannot run the requested ones."""


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error with the pip command that installs it.

    Parameters
    ----------
    module
        Name of the package to import, such as ``"torch"``.
    extra
        The extra of Calipers that installs it.
    purpose
        What needs it, as the subject of a sentence: ``"the embedder 'minilm'"``.

    Raises
    ------
    MissingExtraError
        If the package is not installed, or it is one that loads models and cannot, because the
        torchvision beside it is not of the torch that is installed.
    """
    if module.partition(".")[0] in LOADERS:
        _check_torchvision(purpose)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise _missing(module, extra, purpose) from error


def check_installed(module: str, *, extra: str, purpose: str) -> None:
    """Report that a package is missing, without importing it, before the work.

    Parameters are those of :func:`require`.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    if importlib.util.find_spec(module) is None:
        raise _missing(module, extra, purpose)


def _missing(module: str, extra: str, purpose: str) -> MissingExtraError:
    return MissingExtraError(
        f"{purpose} needs the package {module!r}, which is not installed. "
        f"Install it with: pip install 'calipers[{extra}]'"
    )


LOADERS = ("transformers", "sentence_transformers")
"""Packages that import torchvision for nearly every model, where it is installed."""


def _check_torchvision(purpose: str) -> None:
    """Refuse to load a model beside a torchvision that was made for another torch."""
    if not (importlib.util.find_spec("torchvision") and importlib.util.find_spec("torch")):
        return
    try:
        importlib.import_module("torchvision")
    except Exception as error:  # whatever a library that was linked to another one raises
        pair = " and ".join(f"{name} {_version(name)}" for name in ("torchvision", "torch"))
        raise MissingExtraError(
            f"{purpose} cannot be loaded: {pair} do not fit together ({first_line(error)}). "
            "Calipers needs no torchvision: pip uninstall torchvision; or install the torchvision "
            "of this torch, from the same index"
        ) from error


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type where there is none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_unicode(name: str, text: str) -> None:
    """Refuse a text that cannot be encoded, such as one typed in another encoding."""
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        character = f"{text[problem.start]!r} at character {problem.start + 1}"
        raise InputError(f"{name} must be valid Unicode; found {character}") from None


class UnknownKeyError(InputError, KeyError):
    """A name that a result does not contain."""

    __str__ = Exception.__str__  # a KeyError would quote its message


class UnknownOptionError(InputError, TypeError):
    """A keyword that a function does not have."""


MOST_LISTED = 12
"""Options that a message lists where none of them is near; of more ``help`` shows them."""


def check_keywords(
    function: str, given: Iterable[str], known: Iterable[str], *, home: str = "calipers"
) -> None:
    """Refuse keywords that a function does not have, naming the nearest that it has.

    Parameters
    ----------
    function
        Its name, such as ``"compare"``.
    given, known
        The keywords of a call, and those of the function.
    home
        The module in which a person finds it.

    Raises
    ------
    UnknownOptionError
        Names the first unknown keyword.

    Examples
    --------
    >>> check_keywords("judge", ["modle"], ["model", "rubric"])
    Traceback (most recent call last):
    calipers.errors.UnknownOptionError: judge(): unknown option 'modle'; did you mean 'model'?
    """
    names = set(known)
    for name in given:
        if name not in names:
            many = f"help({home}.{function}) lists its options"
            hint = hint_of_names(name, names, otherwise=many if len(names) > MOST_LISTED else "")
            raise UnknownOptionError(f"{function}(): unknown option {name!r}; {hint}")


def checks_keywords(function: Callable[Keywords, Given]) -> Callable[Keywords, Given]:
    """Make a public function suggest the intended keyword for a misspelt one."""
    known = frozenset(inspect.signature(function).parameters)
    home = ".".join(function.__module__.split(".")[:2])

    @functools.wraps(function)
    def call(*args: Keywords.args, **named: Keywords.kwargs) -> Given:
        if not named.keys() <= known:
            check_keywords(function.__name__, named, known, home=home)
        return function(*args, **named)

    return call


def unknown_key(kind: str, key: object, known: Iterable[str]) -> UnknownKeyError:
    """Build the error for a missing key of a result, with the nearest keys."""
    return UnknownKeyError(f"unknown {kind} {key!r}; {hint_of_names(str(key), known)}")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Build the error for a misspelt name, with the nearest known ones."""
    return InputError(f"unknown {kind} {name!r}; {hint_of_names(name, known)}")


def hint_of_names(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Suggest the nearest known names; where none is near, write `otherwise` or list all."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return did_you_mean(near) if near else otherwise or f"known: {', '.join(names)}"


def did_you_mean(names: Sequence[str]) -> str:
    """Write a suggestion of a few names."""
    return f"did you mean {either(list(map(repr, names)))}?"


def either(words: Sequence[str]) -> str:
    """Write alternatives: ``"a"``, ``"a or b"``, ``"a, b or c"``."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
