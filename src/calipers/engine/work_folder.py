"""The folder that all workers of a run share: rows to read, and results of tiles to resume from.

A file there is either whole or not there at all. The folder lies on a disk that all machines see,
or in object storage behind an address with ``://``, by fsspec; from there each machine fetches a
file once, however many workers it has.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.engine.locks import LOCKS, hold, wait_for
from calipers.errors import InputError, first_line, require
from calipers.whole_files import replacing

Array = NDArray[Any]

SHOWN = ".seen-"
"""How names of files begin that only tell others that they see the folder."""

HERE = ".here"
"""A file that represents a folder in object storage, which others ask for before they write."""

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
        """Whether it has a network address."""
        return "://" in self.place

    @contextmanager
    def claimed(self, name: str) -> Iterator[None]:
        """Reserve a name against other runs that share this folder, for the duration of a context.

        Object storage and systems without locks of files allow no such claim.

        Raises
        ------
        InputError
            If another run has it.
        """
        if self.remote or not LOCKS:
            yield
            return
        path = Path(self.place) / f".{name}.lock"
        try:
            lock = hold(path)
        except OSError as error:
            raise self._unwritable(error) from error
        if lock is None:
            raise InputError(
                f"{self.place}: another run measures the same samples there now; wait for it, "
                "or name another folder with `work_dir`"
            )
        with lock:
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    @contextmanager
    def shown(self) -> Iterator[str]:
        """Place a temporary file, by whose name others tell whether they see this folder.

        Those of runs that were killed meanwhile are removed.
        """
        for name in self.names():
            if name.startswith(SHOWN):
                self._discard_unheld(name)
        name = f"{SHOWN}{secrets.token_hex(6)}"
        try:
            if self.remote or not LOCKS:
                self.write(name, lambda file: None)
                try:
                    yield name
                finally:
                    self.discard(name)
            else:
                with self.claimed(name.removeprefix(".")):
                    yield f"{name}.lock"
        finally:
            self.discard_if_empty()

    def _discard_unheld(self, name: str) -> None:
        """Remove a file that was put there to be seen, unless the run that did so still goes on."""
        if self.remote or not LOCKS:
            return  # nobody can tell
        path = Path(self.place) / name
        with suppress(OSError):
            lock = hold(path)
            if lock is not None:
                with lock:
                    path.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(
            f"{self.place}: cannot be written: {error.strerror or first_line(error)}; what was "
            "finished is kept there. Make room or name another folder with `work_dir`"
        )

    def has(self, name: str) -> bool:
        """Tell whether a file exists.

        Raises
        ------
        InputError
            If the folder cannot be looked into.
        """
        if not self.remote:
            return (Path(self.place) / name).is_file()
        return bool(self._reached(lambda storage, path: storage.isfile(path), name))

    def names(self, folder: str = "") -> set[str]:
        """Return the names of the files in a subfolder; an empty set where there is none.

        Raises
        ------
        InputError
            If it cannot be looked into.
        """
        if self.remote:
            paths = self._reached(
                lambda storage, path: storage.ls(path, detail=False) if storage.isdir(path) else [],
                folder,
            )
            return {PurePosixPath(path).name for path in paths}
        try:
            return set(os.listdir(Path(self.place) / folder))
        except FileNotFoundError:
            return set()
        except OSError as error:
            reason = error.strerror or first_line(error)
            raise InputError(f"{self.place}: cannot be looked into: {reason}") from error

    def holds(self, name: str, array: Array) -> bool:
        """Tell whether the ``.npy`` file of an array exists with its full length."""
        if not self.has(name):
            return False
        header = io.BytesIO()
        layout = np.lib.format.header_data_from_array_1_0(np.asarray(array, order="A"))
        np.lib.format.write_array_header_1_0(header, layout)
        whole = len(header.getvalue()) + array.nbytes
        if self.remote:
            return bool(self._reached(lambda storage, path: storage.size(path), name) == whole)
        return (Path(self.place) / name).stat().st_size == whole

    def write(
        self, name: str, write: Callable[[BinaryIO], None], *, make_folder: bool = True
    ) -> None:
        """Write a file atomically.

        Parameters
        ----------
        name
            Of the file, with those of the folders that it is in.
        write
            Writes the content.
        make_folder
            Whether the folder that it is in is made. Without it nothing is written where that is
            gone, so that a worker that comes too late leaves nothing behind.

        Raises
        ------
        InputError
            If there is no room for it, or the folder cannot be written to.
        """
        try:
            if not self.remote:
                path = Path(self.place) / name
                if make_folder:
                    path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(path) as file:
                    write(file)
                return
            if not make_folder and not self.has(f"{PurePosixPath(name).parent}/{HERE}"):
                raise FileNotFoundError(None, "its folder is not there any more")
            made = self._fresh_copy(name)
            try:
                with made.open("wb") as file:
                    write(file)
                self._send(made, name)
            finally:
                made.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def write_array(self, name: str, array: Array) -> None:
        """Write an array as a ``.npy`` file."""
        self.write(name, lambda file: np.save(file, np.asarray(array), allow_pickle=False))

    def write_arrays(
        self, name: str, arrays: dict[str, Array], *, make_folder: bool = True
    ) -> None:
        """Write named arrays as one ``.npz`` file, in which damage is detected."""

        def save(file: BinaryIO) -> None:
            np.savez(file, allow_pickle=False, **arrays)

        self.write(name, save, make_folder=make_folder)

    def make_folder(self, name: str) -> None:
        """Make a subfolder; most object storage needs none.

        Raises
        ------
        InputError
            If it cannot be made.
        """
        if self.remote:
            self.write(f"{name}/{HERE}", lambda file: None)
            return
        try:
            (Path(self.place) / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def open_array(self, name: str) -> Array:
        """Open an array as a memory map.

        Raises
        ------
        InputError
            If it is not there, or is damaged.
        """
        try:
            path = self._near(name)
            # Copied where it is written to, which nothing does: kernels know one kind of array
            return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        except InputError:
            raise
        except DAMAGED as error:
            raise InputError(
                f"{self.place}: {name} is missing or damaged ({first_line(error)}); start the run "
                "again, which continues from what is intact"
            ) from error

    def read_arrays(self, name: str) -> dict[str, Array] | None:
        """Read named arrays; None where the file is missing or damaged."""
        from zipfile import BadZipFile

        if not self.has(name):
            return None
        try:
            path = self._near(name, keep=False)
        except FileNotFoundError:
            return None
        try:
            with np.load(path, allow_pickle=False) as file:
                return {key: file[key] for key in file.files}
        except (*DAMAGED, BadZipFile):
            return None
        finally:
            if self.remote:
                path.unlink(missing_ok=True)

    def discard(self, name: str) -> None:
        """Remove a file or a folder with its contents, if it exists.

        A worker that was told to stop may write a last file meanwhile, so it is tried again.
        """
        if self.remote:
            with suppress(FileNotFoundError):
                self._reached(lambda storage, path: storage.rm(path, recursive=True), name)
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
        """Remove the folder itself if it is empty."""
        if not self.remote:
            try:
                os.rmdir(self.place)
            except OSError:
                return
        self.discard_copies()

    def discard_copies(self) -> None:
        """Remove the files that this machine fetched from object storage."""
        shutil.rmtree(self._local_copies, ignore_errors=True)

    @property
    def _local_copies(self) -> Path:
        """Where this machine keeps what it fetched, for this user."""
        owner = "" if sys.platform == "win32" else str(os.getuid())
        key = hashlib.sha256(f"{owner} {self.place}".encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"calipers-work-{key}"

    def _fresh_copy(self, name: str) -> Path:
        """Make an empty file on this machine, for what is fetched or sent."""
        folder = self._local_copies / PurePosixPath(name).parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=folder, suffix=PurePosixPath(name).suffix)
        os.close(handle)
        return Path(fresh)

    def _near(self, name: str, *, keep: bool = True) -> Path:
        """The path of a file on this machine, fetched where it lies elsewhere.

        What is kept is fetched by one worker of the machine, while the others wait for it.
        """
        if not self.remote:
            return Path(self.place) / name
        if not keep:
            return self._fetched(name)
        copy = self._local_copies / name
        if copy.is_file():
            return copy
        if not self.has(name):
            raise FileNotFoundError(None, "no such file")
        try:
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with wait_for(copy.parent / f".{copy.name}.lock"):
                if not copy.is_file():
                    os.replace(self._fetched(name), copy)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InputError(
                f"{self.place}: {name} cannot be kept in {self._local_copies}: "
                f"{error.strerror or first_line(error)}; the environment variable TMPDIR names "
                "another folder for it"
            ) from error
        return copy

    def _send(self, made: Path, name: str) -> None:
        """Send a file to where it is to lie."""

        def put(storage: Any, path: str) -> None:
            try:
                storage.put_file(str(made), path)
            except FileNotFoundError:  # of storage that has folders as disks do
                storage.makedirs(path.rpartition("/")[0], exist_ok=True)
                storage.put_file(str(made), path)

        self._reached(put, name)

    def _fetched(self, name: str) -> Path:
        """Fetch a file from where it lies."""
        fresh = self._fresh_copy(name)
        try:
            self._reached(lambda storage, path: storage.get_file(path, str(fresh)), name)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        return fresh

    def _reached(self, do: Callable[[Any, str], Any], name: str) -> Any:
        fsspec = require("fsspec", extra="ray", purpose=f"the work folder {self.place}")
        try:
            storage, root = fsspec.core.url_to_fs(self.place)
            storage.invalidate_cache()  # others write there meanwhile
            return do(storage, f"{root.rstrip('/')}/{name}")
        except ImportError as error:
            raise InputError(f"{self.place}: cannot be reached: {first_line(error)}") from error
        except FileNotFoundError:
            raise  # which whoever asked for the file tells
        except (OSError, ValueError) as error:
            raise InputError(f"{self.place}: {first_line(error)}") from error


def digest_of(*values: Array | str | float | None) -> str:
    """Hash arrays with their shapes and types, and other values that tell runs apart."""
    digest = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype.str} {value.shape} ".encode())
            for start in range(0, len(value), 65_536):
                digest.update(np.ascontiguousarray(value[start : start + 65_536]).data)
        else:
            digest.update(f"{value!r} ".encode())
    return digest.hexdigest()[:20]
