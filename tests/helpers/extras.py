"""What only some installations have: a test that needs it skips and names the extra that brings it.

Where ``CALIPERS_REQUIRE_ALL`` is 1, as in CI, nothing may be missing: such a test fails.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NoReturn

import pytest

from calipers.errors import MissingExtraError

EXTRAS = {
    "torch": "models",
    "transformers": "models",
    "sentence_transformers": "models",
    "torchmetrics": "torchmetrics",
    "gguf": "gguf",
    "accelerate": "gguf",
    "sacrebleu": "bleu",
    "rouge_score": "bleu",
    "datasketch": "duplicates",
    "ot": "transport",
    "sklearn": "trees",
    "httpx": "endpoint",
    "tenacity": "endpoint",
    "starlette": "annotate",
    "uvicorn": "annotate",
    "yaml": "judge",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "parquet",
    "fsspec": "remote",
    "ray": "ray",
    "grpc": "ray",
    "usearch": "approximate",
    "lightning": "test-all",
    "trl": "test-all",
}
"""The extra that brings a package; all others that tests ask for come with ``test-all`` alone."""

REASON = "needs "
"""How the reason of such a skip begins; what is needed follows."""


def need(module: str) -> ModuleType:
    """Import a module, or skip the test, or the file, where its package is not installed."""
    try:
        return importlib.import_module(module)
    except (ModuleNotFoundError, MissingExtraError) as error:
        package = missing_package(error)
        if package not in EXTRAS and package != module.partition(".")[0]:
            raise
        lack(f"calipers[{EXTRAS.get(package, 'test-all')}]", f"the package {package}")


def missing_package(error: BaseException) -> str:
    """Name the package that could not be imported; nothing where that is not what happened."""
    while not isinstance(error, ModuleNotFoundError):
        if error.__cause__ is None:
            return ""
        error = error.__cause__
    return (error.name or "").partition(".")[0]


def lack(needed: str, missing: str = "it") -> NoReturn:
    """Skip, or fail where nothing may be missing, for want of an extra or a program."""
    reason = f"{REASON}{needed}"
    if os.environ.get("CALIPERS_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason}: CALIPERS_REQUIRE_ALL is 1, and {missing} is not here")
    pytest.skip(reason, allow_module_level=True)


def need_all(collect: Callable[[], Iterable[Any]]) -> Callable[[], list[Any]]:
    """Have a module skip where its import, or that of what it imports, needs an extra."""

    def collected() -> list[Any]:
        try:
            return list(collect())
        except pytest.Collector.CollectError as error:
            lack_of(error)
            raise

    return collected


def lack_of(error: BaseException) -> None:
    """Skip where an error says that the package of an extra is missing; else do nothing."""
    package = missing_package(error)
    if package in EXTRAS:
        lack(f"calipers[{EXTRAS[package]}]", f"the package {package}")
