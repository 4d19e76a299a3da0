"""The door to the compiled kernels: nothing passes it that C would misread."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import calipers
from calipers.numeric import native

NATIVE = Path(__file__).parents[2] / "native"
SOURCE = Path(calipers.__file__).parent

ARRAYS = {
    "f4": "float",
    "f8": "double",
    "i1": "int8_t",
    "i4": "int32_t",
    "i8": "int64_t",
    "u1": "uint8_t",
    "u4": "uint32_t",
    "u8": "uint64_t",
    "b1": "bool",
}
NUMBERS = {"int": "int64_t", "float": "double", "single": "float", "bool": "bool"}
NUMBERS["word"] = "uint64_t"

SELECT = native.kernel(
    "select_subsets", "draws f8[count, places]", "size int", "chosen b1[count, places] out"
)
native.DECLARED.remove(SELECT)


def declared() -> list[native.Kernel]:
    """The kernels of all modules."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "native.kernel(" in path.read_text():
            import_module(".".join(["calipers", *path.relative_to(SOURCE).with_suffix("").parts]))
    return native.DECLARED


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def c_functions() -> dict[str, tuple[str, list[str]]]:
    """What each exported function returns and takes, by the C source."""
    functions = {}
    for path in NATIVE.glob("*.c"):
        pattern = r"^API\s+([\w ]+?)\s+(\w+)\(([^)]*)\)\s*\{"
        for returned, name, inside in re.findall(pattern, without_comments(path.read_text()), re.M):
            takes = inside.split(",") if inside != "void" else []
            functions[name] = returned, [c_type(one) for one in takes]
    return functions


def c_type(parameter: str) -> str:
    """The type of a C parameter or field, without its name."""
    words = re.sub(r"\b(RESTRICT|restrict|__restrict__)\b", "", parameter)
    kind, _ = words.strip().rsplit("*", 1) if "*" in words else words.strip().rsplit(None, 1)
    return kind.strip() + (" *" if "*" in words else "")


def c_type_of(parameter: native.Parameter) -> str:
    """The type that C is to have for a declared array or number."""
    if parameter.kind in NUMBERS:
        return NUMBERS[parameter.kind]
    const = "" if parameter.written else "const "
    return f"{const}{ARRAYS.get(parameter.kind, parameter.kind)} *"


def test_what_python_declares_is_what_c_defines() -> None:
    functions, checked = c_functions(), 0
    for kernel in declared():
        returned, parameters = functions[kernel.name]
        assert returned == (NUMBERS[kernel.returns] if kernel.returns else "void"), kernel.name
        sizes = ["int64_t"] * len(kernel.sizes)
        assert len(parameters) == len(kernel.parameters) + len(sizes), kernel.name
        for parameter, defined in zip(kernel.parameters, parameters, strict=False):
            if parameter.record is not None:  # its address alone; its fields say what is written
                assert defined.removeprefix("const ") == f"{parameter.kind} *", kernel.name
            else:
                assert defined == c_type_of(parameter), (kernel.name, parameter.name)
        assert parameters[len(kernel.parameters) :] == sizes, kernel.name
        checked += 1
    assert checked


def test_structures_have_the_fields_of_c() -> None:
    declared()
    texts = "\n".join(without_comments(path.read_text()) for path in NATIVE.glob("*.[ch]"))
    for name, record in native._RECORDS.items():
        matched = re.search(r"typedef struct \{([^}]*)\} " + name + ";", texts)
        assert matched, name
        fields = []
        for line in filter(None, (part.strip() for part in matched[1].split(";"))):
            first, *others = line.split(",")
            fields.append(c_type(first))
            star = " *" if "*" in first else ""
            fields += [c_type(first).removesuffix(" *") + star for _ in others]
        expected = [c_type_of(field) for field in record.fields]
        assert fields == expected + ["int64_t"] * len(record.sizes), name


def test_every_function_that_c_exports_is_used() -> None:
    assert set(c_functions()) - {"best_instruction_set"} == {one.name for one in declared()}


def arguments(**changed: object) -> list[object]:
    """What the kernel takes, but for what is changed."""
    chosen = np.zeros((2, 5), np.bool_)
    given = {"draws": np.full((2, 5), 0.5), "size": 3, "chosen": chosen, **changed}
    return list(given.values())


def test_a_kernel_runs_on_what_it_takes() -> None:
    given = arguments()
    SELECT(*given)
    assert given[2].sum(axis=1).tolist() == [3, 3]  # type: ignore[attr-defined]


def read_only() -> np.ndarray:
    array = np.zeros((2, 5), np.bool_)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"draws": np.zeros((2, 5), np.float32)}, TypeError, "draws .* f8.*float32"),
        ({"chosen": np.zeros((2, 10), np.bool_)[:, ::2]}, ValueError, "chosen .*contiguous"),
        ({"draws": [[0.5] * 5] * 2}, TypeError, "draws .*list"),
        ({"draws": np.zeros(10)}, ValueError, r"draws .*2 axes.*\(10,\)"),
        ({"chosen": np.zeros((2, 6), np.bool_)}, ValueError, r"chosen .*\(2, 6\).*\(2, 5\)"),
        ({"chosen": read_only()}, ValueError, "chosen .*written"),
        ({"size": 1.5}, TypeError, "size .*float"),
        ({"size": None}, TypeError, "size .*NoneType"),
    ],
)
def test_what_c_would_misread_is_refused(
    changed: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        SELECT(*arguments(**changed))


@pytest.mark.parametrize("kind", ["view", "columns first", "misaligned"])
def test_what_is_only_read_may_lie_in_memory_in_any_way(kind: str) -> None:
    draws = np.random.default_rng(0).random((2, 5))
    other = {
        "view": np.repeat(draws, 2, axis=1)[:, ::2],
        "columns first": np.asfortranarray(draws),
        "misaligned": np.frombuffer(b"\0" + draws.tobytes(), np.uint8)[1:].view("f8").reshape(2, 5),
    }[kind]
    assert not (other.flags.c_contiguous and other.flags.aligned)
    given, again = arguments(draws=draws), arguments(draws=other)
    SELECT(*given)
    SELECT(*again)
    np.testing.assert_array_equal(given[2], again[2])


def test_arguments_are_counted() -> None:
    with pytest.raises(TypeError, match="3 arguments: 2"):
        SELECT(*arguments()[:2])


@pytest.mark.parametrize("text", ["x", "x f8", "x int[n]", "x f8[n] maybe", "x f8[n"])
def test_a_declaration_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        native.Parameter.of(text)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != native.VARIABLE}
    command = [sys.executable, "-c", f"from calipers.numeric import native\n{code}"]
    return subprocess.run(
        command, capture_output=True, text=True, env=kept | environment, check=False
    )


@pytest.mark.parametrize("name", native.available_sets())
def test_each_instruction_set_can_be_chosen(name: str) -> None:
    result = run("print(native.instruction_set())", **{native.VARIABLE: name})
    assert result.stdout.split() == [name], result.stderr


def test_the_best_instruction_set_is_the_default() -> None:
    expected = [native.available_sets()[-1]]
    assert run("print(native.instruction_set())").stdout.split() == expected


def test_an_unknown_instruction_set_names_those_there_are() -> None:
    result = run("native.instruction_set()", **{native.VARIABLE: "mmx"})
    assert result.returncode
    assert f"{native.VARIABLE}=mmx: this machine can run" in result.stderr


def test_without_libraries_the_error_says_how_to_build_them() -> None:
    code = "from pathlib import Path\nnative.FOLDER = Path('/nowhere')\nnative.instruction_set()"
    result = run(code)
    assert result.returncode
    assert "python native/build.py" in result.stderr


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_libraries_that_cannot_be_loaded_are_named_with_what_to_do(
    tmp_path: Path, damage: str
) -> None:
    if damage == "damaged":
        (tmp_path / f"kernels-x86-64{native.SUFFIX}").write_bytes(b"nothing that can be run")
    code = f"from pathlib import Path\nnative.FOLDER = Path({str(tmp_path)!r})\n"
    result = run(code + "native.instruction_set()")
    assert "MissingKernelsError: the compiled kernels" in result.stderr
    assert "pip install ." in result.stderr


@pytest.mark.slow
def test_a_person_reads_one_line_where_kernels_cannot_run(tmp_path: Path) -> None:
    for name in ("x.npy", "y.npy"):
        np.save(tmp_path / name, np.random.default_rng(0).normal(size=(60, 4)))
    command = [
        sys.executable,
        "-m",
        "calipers",
        "compare",
        "-r",
        "x.npy",
        "y.npy",
        "--no-intervals",
    ]
    environment = os.environ | {native.VARIABLE: "mmx"}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert f"calipers: {native.VARIABLE}=mmx: this machine can run" in result.stderr


def test_a_size_that_only_what_is_left_out_has_is_zero() -> None:
    given = native.Kernel(
        "none", tuple(map(native.Parameter.of, ("x f8[n] optional", "y f8[n]"))), None
    )
    passed: list[object] = []
    given.__dict__["function"] = lambda *arguments: passed.extend(arguments)
    given(None, np.zeros(3))
    assert passed[0] is None
    assert passed[2] == 3  # by the array that is there, though it comes later


def test_sizes_of_a_structure_are_its_own() -> None:
    pair = native.record("pair_of_tests", "x f8[n]", "y i8[n, 2]", "k int")
    try:
        parameter = native.Parameter.of("pair pair_of_tests")
        value = SimpleNamespace(x=np.zeros(3), y=np.zeros((3, 2), np.int64), k=7)
        made = native._structure("kernel", parameter, value, [])
        assert (made.k, made.size_n) == (7, 3)
        assert pair.sizes == ("n",)
        value.y = np.zeros((4, 2), np.int64)
        with pytest.raises(ValueError, match="kernel: pair: y"):
            native._structure("kernel", parameter, value, [])
    finally:
        del native._RECORDS["pair_of_tests"]
