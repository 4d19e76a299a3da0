"""Public names that are imported when first used are those that type checkers see."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import calipers
from calipers import text
from calipers.lazy import lazy_names, pattern

both = pytest.mark.parametrize("package", [calipers, text], ids=lambda package: package.__name__)


def imported_for_types(package: ModuleType) -> dict[str, str]:
    """The names under ``TYPE_CHECKING``, with the modules that they are imported from."""
    source = ast.parse(Path(str(package.__file__)).read_text())
    guarded = next(node for node in source.body if isinstance(node, ast.If))
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


@both
def test_type_checkers_see_the_public_names(package):
    seen = imported_for_types(package)
    assert set(seen) == set(package.__all__) - {"__version__"}
    for name, home in seen.items():
        module = __import__(home, fromlist=[name])
        assert getattr(package, name) is getattr(module, name)


@both
def test_all_names_are_listed_and_no_other_is_known(package):
    assert dir(package) == sorted(package.__all__)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'no'"):
        package.no  # noqa: B018


def test_the_docstring_groups_every_public_name_and_fits_on_a_screen():
    docstring = str(calipers.__doc__)
    table = docstring.split("=\n")[1]
    named = Counter(re.findall(r"\b\w+\b", table))
    assert {name for name in calipers.__all__ if named[name] < 1} == {"__version__"}
    twice = {name for name in calipers.__all__ if named[name] > 1}
    assert twice == {"compare", "generate", "judge"}  # groups are called by their first name
    assert docstring.count("\n") < 40


def test_a_name_is_imported_when_it_is_used_and_then_kept(monkeypatch):
    monkeypatch.delitem(vars(text), "bleu", raising=False)
    found = text.bleu
    assert vars(text)["bleu"] is found


def test_names_of_modules_and_from_modules_stand_in_one_list():
    get, listed = lazy_names("calipers", {"math": ("tau", "pi")}, modules=("score",))
    assert listed() == get("__all__") == ["pi", "score", "tau"]
    assert get("score") is calipers.score


def test_another_name_loads_nothing():
    code = "import sys, calipers.text; hasattr(calipers.text, 'no'); print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch):
    compiled = []

    def compile_pattern(text, flags):
        compiled.append((text, flags))
        return re.compile(text, flags)

    monkeypatch.setitem(sys.modules, "compiler", SimpleNamespace(compile=compile_pattern))
    made = pattern("(a)+", re.IGNORECASE, package="compiler")
    assert compiled == []
    assert made.fullmatch("aA") is not None
    assert made.sub("b", "aac") == "bc"
    assert made.groups == 1
    assert compiled == [("(a)+", re.IGNORECASE)]


def test_a_pattern_that_is_none_says_so_when_it_is_used():
    with pytest.raises(re.error):
        pattern("(").findall("")
