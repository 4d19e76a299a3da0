"""A folder that all workers of a run share: rows to read, and results of tiles to go on from.

A file there is either whole or not there at all. The folder lies on a disk that all machines see,
or in object storage behind an address with ``://``, by fsspec; from there each machine fetches a
file once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, first_line, require
from calipers.whole_files import replacing

fcntl: Any
try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

Array = NDArray[Any]

DAMAGED = (ValueError, KeyError, EOFError, OSError)
"""What reading a file raises that was cut or changed; `zipfile.BadZipFile` beside them."""


@dataclass(frozen=True)
class WorkFolder:
    """A folder of arrays, read and written by name.

    Attributes
    ----------
    place
        Path, or address with ``://`` such as ``s3://bucket/work``.
    """

    place: str

    @property
    def remote(self) -> bool:
        """Whether it lies behind an address."""
        return "://" in self.place

    @contextmanager
    def claimed(self, name: str) -> Iterator[None]:
        """Keep other runs on machines that see this folder from what has a name, until the end.

        Object storage and systems without locks of files allow no such claim.

        Raises
        ------
        InputError
            If another run has it.
        """
        if self.remote or fcntl is None:
            yield
            return
        path = Path(self.place) / f".{name}.lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.open("a")
        except OSError as error:
            raise self._unwritable(error) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{self.place}: another run measures the same samples there now; wait for it, "
                    "or name another folder with --work-dir (work_dir= in Python)"
                ) from error
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(
            f"{self.place}: cannot be written: {error.strerror or first_line(error)}; what was "
            "finished is kept there. Make room or name another folder with --work-dir (work_dir= "
            "in Python)"
        )

    def has(self, name: str) -> bool:
        """Tell whether a file is there.

        Raises
        ------
        InputError
            If the folder cannot be looked into.
        """
        if not self.remote:
            return (Path(self.place) / name).is_file()
        return bool(self._reached(lambda storage, path: storage.isfile(path), name))

    def write(self, name: str, write: Callable[[BinaryIO], None]) -> None:
        """Write a file, at once and whole.

        Raises
        ------
        InputError
            If there is no room for it, or the folder cannot be written to.
        """
        try:
            if not self.remote:
                path = Path(self.place) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(path) as file:
                    write(file)
                return
            with tempfile.TemporaryDirectory(prefix="calipers-") as folder:
                made = Path(folder) / "file"
                with made.open("wb") as file:
                    write(file)
                self._reached(lambda storage, path: storage.put_file(str(made), path), name)
        except OSError as error:
            raise self._unwritable(error) from error

    def write_array(self, name: str, array: Array) -> None:
        """Write an array as a ``.npy`` file."""
        self.write(name, lambda file: np.save(file, np.asarray(array), allow_pickle=False))

    def write_arrays(self, name: str, arrays: dict[str, Array]) -> None:
        """Write named arrays as one ``.npz`` file, which tells whether it was damaged."""
        self.write(name, lambda file: np.savez(file, allow_pickle=False, **arrays))

    def open_array(self, name: str) -> Array:
        """Open an array where it lies; it is read from the disk as it is used.

        Raises
        ------
        InputError
            If it is not there, or is damaged.
        """
        path = self._near(name)
        try:
            # Copied where it is written to, which nothing does: kernels know one kind of array
            return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        except DAMAGED as error:
            raise InputError(
                f"{self.place}: {name} is missing or damaged ({first_line(error)}); start the run "
                "again, which goes on from what is whole"
            ) from error

    def read_arrays(self, name: str) -> dict[str, Array] | None:
        """Read named arrays; None where the file is not there or is damaged."""
        from zipfile import BadZipFile

        if not self.has(name):
            return None
        path = self._near(name, keep=False)
        try:
            with np.load(path, allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
        except (*DAMAGED, BadZipFile):
            return None
        finally:
            if self.remote:
                path.unlink(missing_ok=True)

    def discard(self, name: str) -> None:
        """Remove a file, or a folder and all that is in it; nothing happens where it is not there.

        A worker that was told to stop may write a last file meanwhile, so it is tried again.
        """
        if self.remote:
            self._reached(
                lambda storage, path: (
                    storage.rm(path, recursive=True) if storage.exists(path) else None
                ),
                name,
            )
            return
        path = Path(self.place) / name
        if path.is_file():
            path.unlink(missing_ok=True)
        for _ in range(20):
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                return
            time.sleep(0.05)

    def discard_if_empty(self) -> None:
        """Remove the folder itself, unless something is in it."""
        if not self.remote:
            try:
                os.rmdir(self.place)
            except OSError:
                return
        self.discard_copies()

    def discard_copies(self) -> None:
        """Remove what this machine fetched from object storage."""
        shutil.rmtree(self._local_copies, ignore_errors=True)

    @property
    def _local_copies(self) -> Path:
        """Where this machine keeps what it fetched."""
        key = hashlib.sha256(self.place.encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"calipers-work-{key}"

    def _near(self, name: str, *, keep: bool = True) -> Path:
        """The path of a file on this machine, fetched where it lies elsewhere."""
        if not self.remote:
            return Path(self.place) / name
        kept = self._local_copies / name
        if keep and kept.is_file():
            return kept
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=kept.parent, suffix=PurePosixPath(name).suffix)
        os.close(handle)
        self._reached(lambda storage, path: storage.get_file(path, fresh), name)
        if not keep:
            return Path(fresh)
        os.replace(fresh, kept)
        return kept

    def _reached(self, do: Callable[[Any, str], Any], name: str) -> Any:
        fsspec = require("fsspec", extra="ray", purpose=f"the work folder {self.place}")
        try:
            storage, root = fsspec.core.url_to_fs(self.place)
            return do(storage, f"{root.rstrip('/')}/{name}")
        except ImportError as error:
            raise InputError(f"{self.place}: cannot be reached: {first_line(error)}") from error
        except (OSError, ValueError) as error:
            raise InputError(f"{self.place}: {first_line(error)}") from error


def digest_of(*values: Array | str | float | None) -> str:
    """Hash arrays, with their shapes and types, and what else tells runs apart."""
    digest = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype.str} {value.shape} ".encode())
            for start in range(0, len(value), 65_536):
                digest.update(np.ascontiguousarray(value[start : start + 65_536]).data)
        else:
            digest.update(f"{value!r} ".encode())
    return digest.hexdigest()[:20]
