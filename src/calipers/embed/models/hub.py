"""Models by their name on the Hugging Face hub: from the cache on this machine, or downloaded.

The cache is looked at first and without any network. Only what it does not hold whole is fetched,
and only where that is allowed. A repository often holds its weights several times: for other
frameworks, pickled, in other precisions; one set is fetched, safetensors wherever there are any,
and never pickled ones unless asked for. Where a model cannot be had, the message says what was
looked for, where, and what helps.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from calipers.embed.models.model_files import (
    MODULES,
    PICKLED,
    SAFE,
    TRUST_PICKLE,
    check_files,
    read_modules,
)
from calipers.embed.options import Options
from calipers.errors import InputError, require
from calipers.files import at_home

_CHOICES = (
    "give the folder of a model, its name on the hub, or an embedder that needs no download, such "
    "as 'minilm' or 'tfidf'"
)


def no_name(name: str) -> InputError:
    """Say that what was given can be neither a folder nor a name on the hub."""
    path = at_home(name)
    if os.path.exists(path):
        return InputError(f"{name}: must be the folder of a model; found the file {path}")
    if name.startswith((".", "/", "~")) or os.sep in name[-1:] or name.count("/") > 1:
        return InputError(f"{name}: there is no such folder ({path.absolute()}); {_CHOICES}")
    return InputError(
        f"{name!r} can be neither a folder here nor a name on the hub, which is NAME or "
        f"PUBLISHER/NAME of letters, digits, '-', '_' and '.'; {_CHOICES}"
    )


def not_here(hub: Any, name: str, options: Options, problem: InputError | None) -> InputError:
    """Say what is missing on this machine, and where it was looked for."""
    looked = f"there is no folder {at_home(name).absolute()}"
    if problem is not None:
        found = f"what the Hugging Face cache has of it cannot be used: {problem}"
    else:
        found = f"it is not in the Hugging Face cache {_cache(hub)}{_revisions(hub, name, options)}"
    allow = "leave out --offline (in Python, give offline=False to download it)"
    allow = allow if options.offline else "unset HF_HUB_OFFLINE"
    fetch = f"hf download {name}" + (f" --revision {options.revision}" if options.revision else "")
    return InputError(
        f"the model {name!r} is not on this machine, and nothing may be downloaded: {looked}, and "
        f"{found}; {allow}, or fetch it first with: {fetch}"
    )


def not_downloaded(hub: Any, name: str, options: Options, error: Exception) -> InputError:
    """Say why the hub did not give a model."""
    kinds, site = hub.errors, hub.constants.ENDPOINT
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, kinds.GatedRepoError):
        reason = (
            f"its publisher gives it only to those who accept its terms at {site}/{name}; do that, "
            "then log in with: hf auth login"
        )
    elif isinstance(error, kinds.RevisionNotFoundError):
        reason = f"it has no revision (branch, tag or commit) {options.revision or 'main'!r}"
    elif isinstance(error, kinds.RepositoryNotFoundError):
        return InputError(
            f"no model {name!r}: there is no folder {at_home(name).absolute()}, and no "
            f"public model of that name at {site} (for a private one, log in with: hf auth "
            f"login); {_CHOICES}"
        )
    elif status in (401, 403):
        reason = (
            f"the hub refuses access ({status}): check the token, or log in with: hf auth login"
        )
    elif status is not None:
        reason = f"the hub answers with error {status}; try again later"
    else:
        reason = (
            f"it is not in the Hugging Face cache {_cache(hub)}, and the hub cannot be reached "
            f"({_first_line(error)}); try again, it goes on where it stopped; without a network "
            "give a folder, or an embedder that needs no download, such as 'minilm' or 'tfidf'"
        )
    return InputError(f"the model {name!r} cannot be downloaded from {site}: {reason}")


def damaged(name: str, error: InputError) -> InputError:
    """Say that what was downloaded is not a whole model."""
    return InputError(f"the model {name!r} was downloaded and cannot be used: {error}")


def _cache(hub: Any) -> str:
    names = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")
    by = next((name for name in names if os.environ.get(name)), None)
    rest = f"set by {by}" if by else "HF_HOME moves it"
    return f"{hub.constants.HF_HUB_CACHE} ({rest})"


def _revisions(hub: Any, name: str, options: Options) -> str:
    place = Path(hub.constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    there = [path for folder in ("refs", "snapshots") for path in (place / folder).glob("*")]
    if not there:
        return ""
    asked = options.revision or hub.constants.DEFAULT_REVISION
    shown = ", ".join(path.name[:12] for path in there[:6])
    return f" with the revision {asked!r} (there are: {shown})"


def _first_line(error: Exception) -> str:
    root = error.__cause__ or error
    return (str(root).strip().splitlines() or [type(root).__name__])[0][:200]


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


_NAME = re.compile(r"\w[\w-]*(\.[\w-]+)*(/\w[\w-]*(\.[\w-]+)*)?")
_REVISION = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_SHORT = "sentence-transformers/"
"""Who publishes the models that sentence-transformers knows without their publisher's name."""


def from_hub(name: str, options: Options) -> tuple[Path, str, str]:
    """Find a model by its name on the hub.

    Returns
    -------
    tuple
        The folder with its files, its full name, its commit.

    Raises
    ------
    InputError
        If there is no such model or revision, it may not or cannot be downloaded, or what was
        found is not a whole model.
    MissingExtraError
        If huggingface_hub is not installed.
    """
    _check(name, options.revision)
    hub = _library(name)
    full = (name,) if "/" in name else (name, _SHORT + name)
    problem = None
    for each in full:
        folder = _cached(hub, each, options.revision)
        if folder is not None:
            try:
                check_files(folder, allow_pickle=options.allow_pickle)
            except InputError as error:
                problem = problem or error
            else:
                return folder, each, folder.name
    if options.offline or hub.constants.HF_HUB_OFFLINE:
        raise not_here(hub, name, options, problem)
    return _download(hub, full, options)


def is_cached(name: str) -> bool:
    """Tell whether the Hugging Face cache has anything of a model."""
    place = Path(_library(name).constants.HF_HUB_CACHE)
    return (place / f"models--{name.replace('/', '--')}").is_dir()


def _library(name: str) -> Any:
    """The package that talks to the hub, with the parts that it leaves unloaded at first."""
    for part in ("constants", "errors", "utils"):
        require(f"huggingface_hub.{part}", extra="text", purpose=f"the model {name!r}")
    return require("huggingface_hub", extra="text", purpose=f"the model {name!r}")


def _check(name: str, revision: str | None) -> None:
    if os.path.exists(at_home(name)) or not _NAME.fullmatch(name) or len(name) > 96:
        raise no_name(name)
    if revision is not None and not _REVISION.fullmatch(revision):
        raise InputError(
            f"revision must be a branch, a tag or a commit on the hub; found {revision!r}"
        )


def _cached(hub: Any, name: str, revision: str | None) -> Path | None:
    """The folder of a revision in the cache, whole or not."""
    place = Path(hub.constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    revision = revision or hub.constants.DEFAULT_REVISION
    branch = place / "refs" / revision
    commit = branch.read_text(encoding="utf-8").strip() if branch.is_file() else revision
    if not _COMMIT.fullmatch(commit):
        return None
    # The first digits of a commit, as signatures show them, name it too
    found = sorted((place / "snapshots").glob(f"{commit}*"))
    return found[0] if len(found) == 1 and found[0].is_dir() else None


def _download(hub: Any, full: tuple[str, ...], options: Options) -> tuple[Path, str, str]:
    with _bars(hub):
        for name in full:
            try:
                folder = _fetch(hub, name, options)
            except InputError:
                raise
            except Exception as error:  # which errors mean no network depends on the version
                if name != full[-1] and type(error) is hub.errors.RepositoryNotFoundError:
                    continue
                raise not_downloaded(hub, full[0], options, error) from error
            try:
                check_files(folder, allow_pickle=options.allow_pickle)
            except InputError as error:
                raise damaged(name, error) from error
            return folder, name, folder.name
    raise AssertionError(full)


def _fetch(hub: Any, name: str, options: Options) -> Path:
    listed = hub.HfApi().model_info(name, revision=options.revision).siblings or []
    files = {each.rfilename for each in listed}
    modules: set[str] = set()
    if MODULES in files:
        path = Path(hub.hf_hub_download(name, MODULES, revision=options.revision))
        modules = {module.path for module in read_modules(path.parent)}
    wanted = choose_files(name, files, options, modules=modules)
    return Path(hub.snapshot_download(name, revision=options.revision, allow_patterns=wanted))


@contextlib.contextmanager
def _bars(hub: Any) -> Iterator[None]:
    """Let the download show its bars on a terminal only, and not in the lines of a log."""
    shown = not hub.utils.are_progress_bars_disabled()
    if sys.stderr.isatty() or not shown:
        yield
        return
    hub.utils.disable_progress_bars()
    try:
        yield
    finally:
        hub.utils.enable_progress_bars()
