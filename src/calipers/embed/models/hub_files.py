"""Which files of a repository on the hub are needed, and no more than these.

A repository often holds its weights several times: for other frameworks, pickled, in other
precisions. Only one set is fetched, safetensors wherever there are any.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from calipers.embed.models.model_files import PICKLED, SAFE, TRUST_PICKLE
from calipers.embed.options import Options
from calipers.errors import InputError

_SMALL = ("*.json", "*.txt", "*.model", "*.spm", "*.tiktoken", "*.jinja", "bpe.codes")
_WHOLE = {SAFE: "model-*.safetensors", PICKLED: "pytorch_model-*.bin"}


def choose_files(
    name: str, files: Collection[str], options: Options, *, modules: Iterable[str] = ()
) -> list[str]:
    """Choose the files to fetch.

    Parameters
    ----------
    name
        The repository, for messages.
    files
        All that it holds, as paths.
    options
        ``allow_pickle`` and ``trust_remote_code`` are read.
    modules
        Subfolders of the modules of a sentence-transformers model.

    Raises
    ------
    InputError
        If it holds no weights that may be read.
    """
    small = (*_SMALL, "*.py") if options.trust_remote_code else _SMALL
    chosen, weights = set[str](), set[str]()
    for folder in {"", *modules}:
        own = [path for path in files if _parent(path) == folder]
        chosen.update(path for path in own if _matches(path, small))
        weights.update(_weights(name, own, options))
    if not weights:
        raise InputError(
            f"the repository {name!r} on the hub holds no weights that can be read here: it must "
            f"have {SAFE[0]}; it has: {_some(files)}"
        )
    return sorted(chosen | weights)


def _weights(name: str, own: Sequence[str], options: Options) -> list[str]:
    """The weights in one folder: safetensors, or pickled ones where these may be read."""
    for forms in (SAFE, PICKLED):
        found = _of_form(own, forms)
        if found and forms == PICKLED and not options.allow_pickle:
            raise InputError(
                f"the repository {name!r} on the hub has no safetensors weights, only pickled ones "
                f"({found[0]}): {TRUST_PICKLE}"
            )
        if found:
            return found
    return []


def _of_form(own: Sequence[str], forms: tuple[str, str]) -> list[str]:
    whole, listed = forms
    names = {PurePosixPath(path).name: path for path in own}
    if whole in names:
        return [names[whole]]
    if listed in names:
        return [path for path in own if _matches(path, (_WHOLE[forms],))]
    return []


def _matches(path: str, patterns: Iterable[str]) -> bool:
    name = PurePosixPath(path).name
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _parent(path: str) -> str:
    parent = PurePosixPath(path).parent.as_posix()
    return "" if parent == "." else parent


def _some(files: Collection[str]) -> str:
    shown = sorted(files)[:8]
    return ", ".join(shown) + (" …" if len(files) > len(shown) else "") or "no files"
