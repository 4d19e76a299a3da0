"""Models by their name on the Hugging Face hub: from the cache on this machine, or downloaded.

The cache is looked at first and without any network. Only what it does not hold whole is fetched,
and only where that is allowed. Pickled weights are never fetched unless asked for.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calipers.embed.models.hub_errors import damaged, no_name, not_downloaded, not_here
from calipers.embed.models.hub_files import choose_files
from calipers.embed.models.model_files import check_files
from calipers.embed.models.sentence_transformer_files import MODULES, read_modules
from calipers.embed.options import Options
from calipers.errors import InputError, require
from calipers.files import at_home

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
