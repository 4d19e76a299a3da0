"""How the kernels are compiled: by which compiler, for which systems; what a wheel is named."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = """
import json, sys
place = sys.argv[sys.argv.index("-o") + 1]
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if {fails!r} in place:
    sys.exit("no such luck")
for path in (place, place + ".more"):  # as on Windows
    with open(path, "w") as file:
        file.write("compiled")
"""


def loaded(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Any:
    """native/build.py."""
    return loaded("native_build_of_tests", ROOT / "native" / "build.py", monkeypatch)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where programs are looked for, empty; $CC is not set."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    return folder


def install(folder: Path, *names: str) -> None:
    for name in names:
        place = folder / (f"{name}.exe" if os.name == "nt" else name)
        place.write_text("")
        place.chmod(0o755)


def with_ziglang(build: Any, present: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_spec", lambda name: name if present else None)


@pytest.mark.parametrize(
    ("programs", "first"),
    [
        (("gcc", "clang", "cc"), ["cc"]),
        (("gcc", "clang"), ["clang"]),
        (("gcc",), ["gcc"]),
        (("tcc",), None),
        ((), None),
    ],
)
def test_the_compiler_is_the_first_of_cc_clang_gcc(
    programs: tuple[str, ...], first: list[str] | None, build: Any, machine: Path
) -> None:
    install(machine, *programs)
    assert build.own_compiler() == first


def test_the_compiler_that_is_named_comes_first(
    build: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(machine, "cc")
    monkeypatch.setenv("CC", "ccache 'my cc' -m64")
    assert build.compiler(build.this_machine()) == ["ccache", "my cc", "-m64"]
    monkeypatch.setenv("CC", "  ")
    assert build.compiler(build.this_machine()) == ["cc"]


def test_where_there_is_none_it_is_that_of_ziglang(
    build: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_ziglang(build, True, monkeypatch)
    assert build.compiler(build.this_machine()) == [sys.executable, "-m", "ziglang", "cc"]


def test_other_systems_are_compiled_for_by_ziglang_alone(
    build: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(machine, "cc")
    monkeypatch.setenv("CC", "cc")
    with_ziglang(build, True, monkeypatch)
    command = build.compiler(build.TARGETS["macos-arm64"])
    assert command[1:] == ["-m", "ziglang", "cc", "-target", "aarch64-macos.11.0"]
    with_ziglang(build, False, monkeypatch)
    with pytest.raises(SystemExit, match="pip install ziglang"):
        build.compiler(build.TARGETS["macos-arm64"])


def test_without_any_compiler_the_message_says_what_to_install(
    build: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_ziglang(build, False, monkeypatch)
    with pytest.raises(SystemExit, match=r"\$CC, cc, clang, gcc.*pip install ziglang"):
        build.compiler(build.this_machine())


ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def test_wheels_are_named_for_what_they_are_compiled_for(build: Any) -> None:
    systems = {"linux": ".so", "macos": ".dylib", "windows": ".dll"}
    assert {name.split("-")[0] for name in build.TARGETS} == set(systems)
    for name, target in build.TARGETS.items():
        system, machine = name.split("-")
        architecture = ARCHITECTURES[machine]
        assert target.triple.startswith(f"{architecture}-{system}")
        assert target.suffix == systems[system]
        assert target.sets is (build.X86 if architecture == "x86_64" else build.ARM)
        version = target.triple.split(".", 1)[-1].replace(".", "_")
        tag = {
            "linux": f"manylinux_{version}_{machine}",
            "macos": f"macosx_{version}_{machine}",
            "windows": "win_amd64",
        }[system]
        assert target.tag == tag


def test_a_wheel_of_this_machine_can_be_installed_on_it(build: Any) -> None:
    tags = pytest.importorskip("packaging.tags")
    assert build.this_machine().tag in set(tags.platform_tags())


@pytest.mark.parametrize(
    ("system", "machine", "suffix", "sets"),
    [
        ("linux", "x86_64", ".so", "X86"),
        ("linux", "aarch64", ".so", "ARM"),
        ("darwin", "arm64", ".dylib", "ARM"),
        ("win32", "AMD64", ".dll", "X86"),
    ],
)
def test_machines(
    system: str, machine: str, suffix: str, sets: str, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.sys, "platform", system)
    monkeypatch.setattr(build.platform, "machine", lambda: machine)
    target = build.this_machine()
    assert (target.triple, target.suffix, target.sets) == (None, suffix, getattr(build, sets))


@pytest.fixture
def compiling(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A folder of C files, and a compiler that only writes down what it was asked to do."""
    source = tmp_path / "native"
    source.mkdir()
    for name in ("one.c", "two.c", "both.h"):
        (source / name).write_text("")
    monkeypatch.setattr(build, "HERE", source)
    log = tmp_path / "log"

    def use(*, fails: str = "nothing", zig: bool = False) -> None:
        script = tmp_path / "compiler.py"
        script.write_text(COMPILER.format(log=str(log), fails=fails))
        command = [sys.executable, str(script), *(["ziglang"] if zig else [])]
        monkeypatch.setattr(build, "compiler", lambda target: command)

    def taken() -> list[list[str]]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    use()
    return SimpleNamespace(source=source, use=use, taken=taken, output=tmp_path / "output")


def test_each_file_is_compiled_for_each_instruction_set(
    build: Any, compiling: SimpleNamespace
) -> None:
    target = build.TARGETS["linux-x86_64"]
    libraries = build.build(compiling.output, target)
    names = ["kernels-x86-64.so", "kernels-avx2.so", "kernels-avx512.so", "kernels-avx512vnni.so"]
    assert [library.name for library in libraries] == names
    assert sorted(path.name for path in compiling.output.iterdir()) == sorted(names)
    commands = compiling.taken()
    compiled = [command for command in commands if "-c" in command]
    assert len(compiled) == 8
    assert all({"-ffp-contract=off", "-std=c17", "-fPIC"} <= set(one) for one in compiled)
    marches = sorted(part for one in compiled for part in one if part.startswith("-march="))
    expected = ["-march=x86-64", "-march=x86-64-v3", "-march=x86-64-v4", "-march=x86-64-v4"]
    assert marches == sorted(2 * expected)
    linked = [command for command in commands if "-shared" in command]
    assert len(linked) == 4
    for command in linked:
        assert sum(part.endswith((f"{os.sep}one.o", f"{os.sep}two.o")) for part in command) == 2


def test_only_what_is_older_than_a_source_is_compiled_again(
    build: Any, compiling: SimpleNamespace, tmp_path: Path
) -> None:
    target = build.TARGETS["linux-aarch64"]
    objects = tmp_path / "objects"
    for path in compiling.source.iterdir():
        os.utime(path, (0, 0))
    build.build(compiling.output, target, work=objects)
    assert len(compiling.taken()) == 3
    for path in objects.rglob("*.o"):  # later than build.py itself, whatever the clock says
        os.utime(path, (5e9, 5e9))
    build.build(compiling.output, target, work=objects)
    assert [command for command in compiling.taken() if "-c" in command] == []
    os.utime(compiling.source / "both.h", (6e9, 6e9))
    build.build(compiling.output, target, work=objects)
    assert len([command for command in compiling.taken() if "-c" in command]) == 2


def test_instruction_sets_can_be_left_out(build: Any, compiling: SimpleNamespace) -> None:
    libraries = build.build(compiling.output, build.TARGETS["windows-x86_64"], only=["avx2"])
    assert [library.name for library in libraries] == ["kernels-avx2.dll"]
    assert not any("-fPIC" in command for command in compiling.taken())


def test_sanitizers_have_objects_of_their_own(build: Any, compiling: SimpleNamespace) -> None:
    build.build(compiling.output, sanitize=False)
    plain = compiling.taken()
    build.build(compiling.output, sanitize=True)
    assert len(compiling.taken()) == len(plain)
    build.build(compiling.output, sanitize=True)
    assert all("-fsanitize=address,undefined" in command for command in compiling.taken())


def test_zig_has_names_of_its_own_for_processors(build: Any, compiling: SimpleNamespace) -> None:
    compiling.use(zig=True)
    build.build(compiling.output, build.TARGETS["linux-x86_64"], only=["avx512"])
    compiled = [command for command in compiling.taken() if "-c" in command]
    assert len(compiled) == 2
    # Zig checks for undefined behaviour unless it is told not to
    assert all({"-march=x86_64_v4", "-fno-sanitize=undefined"} <= set(one) for one in compiled)


@pytest.mark.parametrize("stage", ["two.o", "kernels-"])
def test_what_the_compiler_says_ends_the_build(
    stage: str, build: Any, compiling: SimpleNamespace
) -> None:
    compiling.use(fails=stage)
    with pytest.raises(SystemExit, match=r"(?s)compiler\.py.*\nno such luck"):
        build.build(compiling.output, build.TARGETS["linux-aarch64"])
    assert list(compiling.output.glob("kernels-*.so")) == []


@pytest.fixture
def hook(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The build hook without hatchling, whose compiling only takes notes."""
    interface = ModuleType("interface")
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    plugin = "hatchling.builders.hooks.plugin"
    for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks", plugin):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, f"{plugin}.interface", interface)
    module = loaded("hatch_build_of_tests", ROOT / "hatch_build.py", monkeypatch)
    monkeypatch.setattr(module, "kernels", lambda: build)
    monkeypatch.delenv(module.TARGET, raising=False)
    one = module.Assets()
    one.built, one.said = [], []
    one.app = SimpleNamespace(display_info=one.said.append)
    monkeypatch.setattr(build, "build", lambda *given, **named: one.built.append((given, named)))
    return one


def test_a_build_asks_for_a_compiler_only_where_there_is_none(
    hook: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [name.partition(">")[0] for name in hook.dependencies()] == ["ziglang"]
    install(machine, "gcc")
    assert hook.dependencies() == []
    monkeypatch.setenv("CALIPERS_TARGET", "linux-aarch64")
    assert [name.partition(">")[0] for name in hook.dependencies()] == ["ziglang"]


def test_a_wheel_holds_the_libraries_and_is_named_for_its_system(
    hook: Any, build: Any, tmp_path: Path, machine: Path
) -> None:
    install(machine, "gcc")
    data: dict[str, Any] = {"force_include": {}}
    hook._compile(tmp_path, "standard", data)
    assert data["force_include"] == {str(tmp_path / "kernels"): "calipers/_kernels"}
    assert data["pure_python"] is False
    assert data["tag"] == f"py3-none-{build.this_machine().tag}"
    ((given, named),) = hook.built
    assert given == (tmp_path / "kernels", build.this_machine())
    assert named == {"work": tmp_path / "objects"}
    assert hook.said == ["compiling kernels with gcc"]


def test_a_wheel_for_another_system(
    hook: Any, build: Any, tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_ziglang(build, True, monkeypatch)
    monkeypatch.setenv("CALIPERS_TARGET", "macos-arm64")
    data: dict[str, Any] = {"force_include": {}}
    hook._compile(tmp_path, "standard", data)
    assert data["tag"] == "py3-none-macosx_11_0_arm64"
    assert "aarch64-macos" in hook.said[0]
    monkeypatch.setenv("CALIPERS_TARGET", "amiga")
    with pytest.raises(SystemExit, match="CALIPERS_TARGET=amiga is not one of linux-x86_64, "):
        hook._compile(tmp_path, "standard", data)


def test_an_editable_install_has_its_libraries_in_the_checkout(
    hook: Any, build: Any, tmp_path: Path, machine: Path
) -> None:
    install(machine, "cc")
    data: dict[str, Any] = {"force_include": {}}
    hook._compile(tmp_path, "editable", data)
    assert hook.built == [((build.PACKAGE, build.this_machine()), {})]
    assert data == {"force_include": {}}
    assert build.PACKAGE == ROOT / "src" / "calipers" / "_kernels"


def test_a_processor_without_kernels_is_named(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.platform, "machine", lambda: "riscv64")
    with pytest.raises(SystemExit, match=r"kernels for x86-64 and 64-bit ARM.*riscv64"):
        build.this_machine()
