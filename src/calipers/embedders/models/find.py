"""Find a model's files: in a folder, in the Hugging Face cache, or on the hub.

The cache is looked at first and without any network. Only what it does not hold whole is fetched,
and only where that is allowed. A repository often holds its weights several times: for other
frameworks, pickled, in other precisions; one set is fetched, safetensors wherever there are any,
and never pickled ones unless asked for. Where a model cannot be had, the message says what was
looked for, where, and what helps.

One hash over all files tells two models in folders apart; a model of the hub goes by its commit.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from calipers.embedders.models import gguf
from calipers.embedders.models.model_files import (
    MODULES,
    PICKLED,
    SAFE,
    TRUST_PICKLE,
    check_files,
    read_config,
    read_modules,
)
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError, MissingExtraError, first_line, require
from calipers.files import at_home, check_plain


@dataclass(frozen=True, eq=False)
class FoundModel:
    """A model with files on this machine.

    Attributes
    ----------
    folder
        Where they are; of a GGUF model the file itself.
    name
        What a person calls it: its name on the hub, or that of its folder or file.
    revision
        The commit on the hub, or the beginning of the hash of its files.
    config
        What its ``config.json`` says; empty for a sentence-transformers model without one.
    quantised
        How the weights of a GGUF file are stored, such as ``"Q4_K_M"``; empty for any other.
    """

    folder: Path
    name: str
    revision: str
    config: Mapping[str, Any]
    quantised: str = ""


def find_model(name: str, options: EmbedderOptions) -> FoundModel:
    """Find a model: in a folder or GGUF file, in the local Hugging Face cache, or on the hub.

    The hub is asked only for what the cache does not hold, and never with ``options.offline``, nor
    for a name that ends in ``.gguf``.

    Parameters
    ----------
    name
        A folder, a GGUF file, or the name of a model on the Hugging Face hub.
    options
        ``revision``, ``offline``, ``allow_pickle`` and ``trust_remote_code`` are read.

    Raises
    ------
    InputError
        If there is no such model or revision, it may not or cannot be downloaded, or its files
        are incomplete, damaged, or pickled and `options` do not allow that.
    MissingExtraError
        If a name must be looked up and huggingface_hub is not installed.
    """
    path = at_home(name)
    if gguf.is_gguf(name):
        return _gguf_file(name, options)
    if not os.path.isdir(path):
        folder, called, commit = from_hub(name, options)
        return FoundModel(folder, called, commit[:12], _config(folder))
    if options.revision is not None:
        raise InputError(
            f"{name}: is a folder, and a revision names a version on the hub; found revision "
            f"{options.revision!r}"
        )
    check_files(path, allow_pickle=options.allow_pickle)
    content = content_hash(path, pickled=options.allow_pickle)
    return FoundModel(path, path.resolve().name, content[:12], _config(path))


def _gguf_file(name: str, options: EmbedderOptions) -> FoundModel:
    if options.revision is not None:
        raise InputError(
            f"{name}: is a file, and a revision names a version on the hub; found revision "
            f"{options.revision!r}"
        )
    head = gguf.read_head(name)
    content = gguf.content_hash(head.path)
    return FoundModel(
        head.path,
        gguf.shown_name(head.path),
        content[:12],
        {"model_type": head.architecture},
        head.quantisation,
    )


def find_folder(model: str | Path, *, offline: bool = True) -> Path:
    """Find the folder of a plain transformers model with safetensors weights.

    Parameters
    ----------
    model
        A folder with ``config.json``, ``*.safetensors`` and the tokenizer's files, or the name of
        a model on the Hugging Face hub.
    offline
        Whether a name may only be looked up in the local cache; False lets it be downloaded.

    Raises
    ------
    InputError
        If there is no such model, it may not or cannot be downloaded, or it lacks a configuration
        or safetensors weights.
    MissingExtraError
        If a name must be looked up and huggingface_hub is not installed.
    """
    if not isinstance(model, str | Path):
        raise InputError(f"model must be 'minilm', a folder or a name on the hub; found {model!r}")
    path = at_home(model)
    if not os.path.isdir(path):
        return from_hub(str(model), EmbedderOptions(offline=offline))[0]
    for pattern in ("config.json", "*.safetensors"):
        if not any(path.glob(pattern)):
            raise InputError(
                f"{path}: the folder of a model must hold config.json and its weights as "
                f"safetensors files; found no {pattern}"
            )
    return path


def _config(folder: Path) -> dict[str, Any]:
    needed = not read_modules(folder) or (folder / "config.json").is_file()
    return read_config(folder) if needed else {}


_PARTS = (
    *("config.json", "*.safetensors", "model.safetensors.index.json"),
    *("tokenizer*", "vocab*", "merges.txt", "*.model", "*.spm", "*.tiktoken", "bpe.codes"),
    *("tekken.json", "special_tokens_map.json", "added_tokens.json"),
    *("preprocessor_config.json", "processor_config.json"),
    *("modules.json", "config_sentence_transformers.json", "sentence_*_config.json", "*.py"),
)
"""Patterns of the files that make a model and its tokenizer."""
_OF_MODULES = ("*.json", "*.safetensors", "*.txt", "*.model")


def content_hash(folder: Path, *, pickled: bool = False) -> str:
    """Return the SHA-256 over names and bytes of the files of the model and its tokenizer.

    Parameters
    ----------
    folder
        The model's files; those of a sentence-transformers model's modules may lie below it.
    pickled
        Whether pickled weights count too.
    """
    digest = hashlib.sha256()
    for path in sorted(set(_parts(folder, (*_PARTS, *(["*.bin"] if pickled else []))))):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        check_plain(path)
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def _parts(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from folder.glob(pattern)
    below = (*_OF_MODULES, *patterns)
    for module in read_modules(folder):
        if module.path:
            yield from (path for form in below for path in (folder / module.path).glob(form))


_NAME = re.compile(r"\w[\w-]*(\.[\w-]+)*(/\w[\w-]*(\.[\w-]+)*)?")
_REVISION = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_SHORT = "sentence-transformers/"
"""Who publishes the models that sentence-transformers knows without their publisher's name."""


def from_hub(name: str, options: EmbedderOptions) -> tuple[Path, str, str]:
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
    if os.path.exists(at_home(name)) or not _NAME.fullmatch(name) or len(name) > 96:
        raise no_name(name)
    if options.revision is not None and not _REVISION.fullmatch(options.revision):
        raise InputError(
            f"revision must be a branch, a tag or a commit on the hub; found {options.revision!r}"
        )
    hub = _library(name)
    full = (name,) if "/" in name else (name, _SHORT + name)
    problem = None
    for candidate in full:
        folder = _cached(hub, candidate, options.revision)
        if folder is not None:
            try:
                check_files(folder, allow_pickle=options.allow_pickle)
                return folder, candidate, folder.name
            except InputError as error:
                problem = problem or error
    if options.offline or hub.constants.HF_HUB_OFFLINE:
        raise not_here(hub, name, options, problem)
    return _download(hub, full, options)


def is_cached(name: str) -> bool:
    """Tell whether the Hugging Face cache holds any file of a model that can be read."""
    try:
        return _place(_library(name), name).is_dir()
    except MissingExtraError:  # without the package there is nothing to read it
        return False


def _place(hub: Any, name: str) -> Path:
    """Where the cache keeps a model."""
    return Path(hub.constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"


def _library(name: str) -> Any:
    """The package that talks to the hub, with the parts that it leaves unloaded at first."""
    for part in ("constants", "errors", "utils"):
        require(f"huggingface_hub.{part}", extra="models", purpose=f"the model {name!r}")
    return require("huggingface_hub", extra="models", purpose=f"the model {name!r}")


def _cached(hub: Any, name: str, revision: str | None) -> Path | None:
    """The folder of a revision in the cache, whole or not."""
    place = _place(hub, name)
    revision = revision or hub.constants.DEFAULT_REVISION
    branch = place / "refs" / revision
    commit = branch.read_text(encoding="utf-8").strip() if branch.is_file() else revision
    if not _COMMIT.fullmatch(commit):
        return None
    # The first digits of a commit, as signatures show them, name it too
    snapshots = list((place / "snapshots").glob(f"{commit}*"))
    return snapshots[0] if len(snapshots) == 1 and snapshots[0].is_dir() else None


def _download(hub: Any, full: tuple[str, ...], options: EmbedderOptions) -> tuple[Path, str, str]:
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
                raise InputError(
                    f"the model {name!r} was downloaded and cannot be used: {error}"
                ) from error
            return folder, name, folder.name
    raise AssertionError(full)


def _fetch(hub: Any, name: str, options: EmbedderOptions) -> Path:
    listed = hub.HfApi().model_info(name, revision=options.revision).siblings or []
    files = {file.rfilename for file in listed}
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


_SMALL = ("*.json", "*.txt", "*.model", "*.spm", "*.tiktoken", "*.jinja", "bpe.codes")
_DIVIDED = {SAFE: "model-*.safetensors", PICKLED: "pytorch_model-*.bin"}
"""One file with all weights and the list of several, to the names that these have."""


def choose_files(
    name: str, files: Collection[str], options: EmbedderOptions, *, modules: Iterable[str] = ()
) -> list[str]:
    """Choose the files to download.

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
        paths = {path for path in map(PurePosixPath, files) if path.parent == PurePosixPath(folder)}
        chosen |= _matching(paths, *small)
        weights |= _weights(name, paths, options)
    if not weights:
        some = sorted(files)[:8]
        listing = ", ".join(some) + (" …" if len(files) > len(some) else "") or "no files"
        raise InputError(
            f"the repository {name!r} on the hub holds no weights that can be read here: it must "
            f"have {SAFE[0]}; it has: {listing}"
        )
    return sorted(chosen | weights)


def _weights(name: str, paths: Collection[PurePosixPath], options: EmbedderOptions) -> set[str]:
    """The weights in one folder: safetensors, or pickled ones where these may be read."""
    for (whole, listed), divided in _DIVIDED.items():
        weights = _matching(paths, whole)
        if not weights and _matching(paths, listed):
            weights = _matching(paths, divided)
        if weights and whole == PICKLED[0] and not options.allow_pickle:
            raise InputError(
                f"the repository {name!r} on the hub has no safetensors weights, only pickled ones "
                f"({min(weights)}): {TRUST_PICKLE}"
            )
        if weights:
            return weights
    return set()


def _matching(paths: Iterable[PurePosixPath], *patterns: str) -> set[str]:
    return {
        path.as_posix()
        for path in paths
        if any(fnmatch.fnmatchcase(path.name, pattern) for pattern in patterns)
    }


_CHOICES = (
    "give the folder of a model or its name on the hub; the embedders 'minilm', 'tfidf' and "
    "'characters' and the language model 'ngram' need no download"
)


def no_name(name: str) -> InputError:
    """Build the error for a name that can be neither a folder nor a model on the hub."""
    path = at_home(name)
    if os.path.exists(path):
        return InputError(f"{name}: must be the folder of a model; found the file {path}")
    if name.startswith((".", "/", "~")) or os.sep in name[-1:] or name.count("/") > 1:
        return InputError(f"{name}: there is no such folder ({path.absolute()}); {_CHOICES}")
    return InputError(
        f"{name!r} is neither a folder on this machine nor a possible name on the hub, which "
        f"is NAME or PUBLISHER/NAME of letters, digits, '-', '_' and '.'; {_CHOICES}"
    )


def not_here(
    hub: Any, name: str, options: EmbedderOptions, problem: InputError | None
) -> InputError:
    """Build the error for missing files, with the places that were searched."""
    looked = f"there is no folder {at_home(name).absolute()}"
    if problem is not None:
        cached = f"its files in the Hugging Face cache cannot be used: {problem}"
    else:
        cached = (
            f"it is not in the Hugging Face cache {_cache(hub)}{_revisions(hub, name, options)}"
        )
    allow = "download it (`offline=False`)"
    allow = allow if options.offline else "unset HF_HUB_OFFLINE"
    fetch = f"hf download {name}" + (f" --revision {options.revision}" if options.revision else "")
    return InputError(
        f"the model {name!r} is not on this machine, and nothing may be downloaded: {looked}, and "
        f"{cached}; {allow}, or fetch it first with: {fetch}"
    )


def not_downloaded(hub: Any, name: str, options: EmbedderOptions, error: Exception) -> InputError:
    """Build the error for a failed download from the hub."""
    kinds, site = hub.errors, hub.constants.ENDPOINT
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, kinds.GatedRepoError):
        reason = (
            f"access requires that you accept its terms at {site}/{name}; do that, "
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
            f"({first_line(error.__cause__ or error)[:200]}); try again, and the download "
            "continues where it stopped; without a network, give a folder; the "
            "embedders 'minilm', 'tfidf' and 'characters' and the language model 'ngram' need no "
            "download"
        )
    return InputError(f"the model {name!r} cannot be downloaded from {site}: {reason}")


def _cache(hub: Any) -> str:
    names = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")
    by = next((name for name in names if os.environ.get(name)), None)
    rest = f"set by {by}" if by else "set HF_HOME to change it"
    return f"{hub.constants.HF_HUB_CACHE} ({rest})"


def _revisions(hub: Any, name: str, options: EmbedderOptions) -> str:
    place = _place(hub, name)
    there = [path for folder in ("refs", "snapshots") for path in (place / folder).glob("*")]
    if not there:
        return ""
    asked = options.revision or hub.constants.DEFAULT_REVISION
    shown = ", ".join(path.name[:12] for path in there[:6])
    return f" with the revision {asked!r} (there are: {shown})"
