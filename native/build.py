"""Compile the kernels in this folder: one library for each instruction set that matters.

``python native/build.py`` compiles for this machine, into the package of this checkout; pip does
the same by ``hatch_build.py``. The compiler is ``$CC``, ``cc``, ``clang`` or ``gcc``, else the one
in the PyPI package ``ziglang``, which also compiles for other systems (``--target``).
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "calipers" / "_kernels"
"""Where the package looks for its libraries."""

FLAGS = ("-std=c17", "-O3", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno")
FLAGS += (
    "-fno-trapping-math",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
    "-Werror=implicit-function-declaration",
)
SANITIZERS = ("-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")
SANITIZERS += ("-fno-sanitize-recover=undefined",)

X86 = {
    "x86-64": ("-march=x86-64",),
    "avx2": ("-march=x86-64-v3",),
    "avx512": ("-march=x86-64-v4",),
    "avx512vnni": ("-march=x86-64-v4", "-mavx512vnni"),
}
"""Instruction sets by their names here, and the options of compilers for each."""
ARM: dict[str, tuple[str, ...]] = {"neon": ()}


@dataclass(frozen=True)
class Target:
    """A system that libraries are built for.

    Attributes
    ----------
    triple
        What zig calls it; None for this machine as it is.
    tag
        The platform in the name of a wheel.
    suffix
        How a library's name ends.
    sets
        The instruction sets.
    """

    triple: str | None
    tag: str
    suffix: str
    sets: dict[str, tuple[str, ...]]


TARGETS = {
    "linux-x86_64": Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", ".so", X86),
    "linux-aarch64": Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", ".so", ARM),
    "macos-x86_64": Target("x86_64-macos.11.0", "macosx_11_0_x86_64", ".dylib", X86),
    "macos-arm64": Target("aarch64-macos.11.0", "macosx_11_0_arm64", ".dylib", ARM),
    "windows-x86_64": Target("x86_64-windows-gnu", "win_amd64", ".dll", X86),
}
"""The systems that a release has wheels for."""


def this_machine() -> Target:
    """This system, by its own compiler.

    Raises
    ------
    SystemExit
        On another processor than those that there are kernels for.
    """
    processor = platform.machine().lower()
    arm = processor in ("aarch64", "arm64")
    if not arm and processor not in ("x86_64", "amd64"):
        sys.exit(f"Calipers has kernels for x86-64 and 64-bit ARM; this processor is {processor}")
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return Target(None, tag, suffix, ARM if arm else X86)


def own_compiler() -> list[str] | None:
    """The C compiler of this machine as the start of a command; None where there is none."""
    named = os.environ.get("CC", "").strip()
    if named:
        return shlex.split(named)
    for name in ("cc", "clang", "gcc"):
        if shutil.which(name):
            return [name]
    return None


def compiler(target: Target) -> list[str]:
    """The command that compiles for a system.

    Raises
    ------
    SystemExit
        Where there is no compiler; says what to install.
    """
    own = own_compiler() if target.triple is None else None
    if own is not None:
        return own
    if find_spec("ziglang") is None:
        sys.exit(
            "Calipers compiles its kernels when it is installed, and found no C compiler ($CC, cc, "
            "clang, gcc). Install one, or the package that has one: pip install ziglang"
        )
    command = [sys.executable, "-m", "ziglang", "cc"]
    return command if target.triple is None else [*command, "-target", target.triple]


def build(
    folder: Path,
    target: Target | None = None,
    *,
    sanitize: bool = False,
    only: Sequence[str] = (),
    work: Path | None = None,
) -> list[Path]:
    """Compile one library for each instruction set into a folder.

    Parameters
    ----------
    folder
        Where they go; made where it is missing.
    target
        The system (default: this one).
    sanitize
        With AddressSanitizer and UBSan, whose runtime the program must have loaded.
    only
        Names of instruction sets (default: all of the system).
    work
        Where object files go; those newer than all sources are taken as they are (default: a folder
        in ``build``).

    Raises
    ------
    SystemExit
        With what the compiler said, where it fails.
    """
    target = target or this_machine()
    command = compiler(target)
    zig = "ziglang" in command
    kind = "-".join([target.triple or "this", *(["sanitized"] if sanitize else [])])
    work = (work or HERE.parent / "build" / "native") / kind
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(HERE.glob("*.c"))
    newest = max(path.stat().st_mtime for path in [*HERE.glob("*.[ch]"), Path(__file__)])
    sets = {name: machine for name, machine in target.sets.items() if not only or name in only}

    def compile_one(job: tuple[str, tuple[str, ...], Path]) -> Path:
        name, machine, source = job
        place = work / name / f"{source.stem}.o"
        if place.exists() and place.stat().st_mtime > newest:
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        options = [*FLAGS, *(SANITIZERS if sanitize else ())]
        if target.suffix != ".dll":
            options.append("-fPIC")
        options += [_as_zig_says(option) if zig else option for option in machine]
        if zig:
            options += ["-g0", *(() if sanitize else ("-fno-sanitize=undefined",))]
        _run([*command, *options, "-c", str(source), "-o", str(place)])
        return place

    jobs = [(name, machine, source) for name, machine in sets.items() for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, jobs))
    libraries = []
    for i, name in enumerate(sets):
        library = folder / f"kernels-{name}{target.suffix}"
        own = objects[i * len(sources) : (i + 1) * len(sources)]
        linked, partial = work / name / library.name, library.with_suffix(".part")
        extra = SANITIZERS if sanitize else ("-s",) if target.suffix == ".so" else ()
        _run([*command, "-shared", *map(str, own), "-o", str(linked), *extra, "-lm"])
        shutil.copy(linked, partial)  # alone: on Windows the linker puts more beside it
        partial.replace(library)  # a process that has the old one loaded keeps it
        libraries.append(library)
    return libraries


def _as_zig_says(option: str) -> str:
    """Architectures are spelt with underscores there."""
    before, name, after = option.partition("-march=")
    return before + name + after.replace("-", "_")


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{shlex.join(command)}\n{result.stderr.rstrip()}")
    if result.stderr:
        print(result.stderr.rstrip(), file=sys.stderr)


def main() -> None:
    """Compile by the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, help="another system, by ziglang")
    parser.add_argument("--sanitize", action="store_true", help="with AddressSanitizer and UBSan")
    parser.add_argument("--only", nargs="*", default=(), help="instruction sets")
    parser.add_argument("--output", type=Path, default=PACKAGE, help="default: the package's own")
    given = parser.parse_args()
    target = TARGETS[given.target] if given.target else this_machine()
    print(f"compiling with {shlex.join(compiler(target))}")
    for library in build(given.output, target, sanitize=given.sanitize, only=given.only):
        print(f"{library}  {library.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
