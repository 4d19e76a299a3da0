"""What to say when a model cannot be had: what was looked for, where, and what helps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from calipers.embed.options import Options
from calipers.errors import InputError
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
