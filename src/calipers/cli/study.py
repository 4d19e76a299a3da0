"""Studies in TOML files: the contents of a command line, written down.

``--write-config`` makes the file of a command line, and ``--config`` and ``calipers run`` read it.
Its keys are the options of the command, spelt as their flags or as in Python; ``[systems]`` names
generated sets, and ``[checks]`` are the conditions of ``calipers check`` on the result. What is
typed beside it counts in place of what the file says. Paths mean what they mean on the command
line: they begin in the folder where the command runs.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo

from calipers.cli.command_line import CONFIG, STUDIES, keep_study
from calipers.command import commands
from calipers.errors import InputError, hint_of_names
from calipers.options.option import OUTPUT

COMMAND = "command"
SYSTEMS = "systems"
CHECKS = "checks"
TABLES = ("options", "outputs")
"""Tables whose keys are options too; they only put the file in order."""
NOT_HELD = (*STUDIES, "help_all")
"""Parameters that no study holds."""


@dataclass(frozen=True)
class Study:
    """The contents of a study file.

    Attributes
    ----------
    path
        The file, as it was named.
    text
        All of it.
    command
        The command that it is for.
    values
        Option, as it is spelt in the file, to its value.
    systems
        Name of a generated set to its file, or a pattern of files.
    checks
        Option of ``calipers check`` to its value.
    """

    path: str
    text: str
    command: str
    values: Mapping[str, Any]
    systems: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, Any] = field(default_factory=dict)


def read_study(path: str) -> Study:
    """Read a study file.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, names an unknown command, or has a table that is none
        of a study's, or an option twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        parsed = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: must be UTF-8; byte {error.start} is not") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: must be TOML: {error}") from error
    command = parsed.pop(COMMAND, "compare")
    possible = [name for name, record in commands().items() if record.options]
    if command not in possible:
        raise InputError(
            f"{path}: command must be the name of one that measures; found {command!r}; "
            f"{hint_of_names(str(command), possible)}"
        )
    systems, checks = parsed.pop(SYSTEMS, {}), parsed.pop(CHECKS, {})
    if not isinstance(checks, dict):
        raise InputError(f"{path}: {CHECKS} must be a table, [{CHECKS}]; found {checks!r}")
    values: dict[str, Any] = {}
    if not isinstance(systems, dict):
        values[SYSTEMS], systems = systems, {}
    for name, value in parsed.items():
        inside = isinstance(value, dict)
        if inside and name not in TABLES:
            tables = [*TABLES, SYSTEMS, CHECKS]
            raise InputError(f"{path}: unknown table [{name}]; {hint_of_names(name, tables)}")
        for key, setting in value.items() if inside else [(name, value)]:
            if key in values:
                raise InputError(f"{path}: {key} is given twice")
            values[key] = setting
    return Study(path, text, command, values, _files_of(path, systems), checks)


def with_study(command: str, params: Sequence[Any], typed: Sequence[str]) -> list[str]:
    """Return the arguments of a command, preceded by those in the file of its ``--config``.

    Raises
    ------
    InputError
        If ``--config`` comes without a file or twice, or the file is not a study of the command.
    """
    rest, paths = list[str](), list[str]()
    words = iter(typed)
    for word in words:
        flag, equals, path = word.partition("=")
        if flag == CONFIG:
            paths.append(path if equals else next(words, ""))
        else:
            rest.append(word)
    if len(paths) != 1 or not paths[0]:
        raise InputError(f"{CONFIG} must be given once, with a file; found {paths}")
    study = read_study(paths[0])
    if study.command != command:
        raise InputError(
            f"{study.path}: is a study of calipers {study.command}, not of calipers {command}"
        )
    if study.checks:
        raise InputError(f"{study.path}: [{CHECKS}] are for calipers run; found {CONFIG}")
    keep_study(study.text)
    return words_of(study, params, rest)


def _files_of(path: str, systems: Mapping[str, Any]) -> dict[str, str]:
    for name, value in systems.items():
        if not isinstance(value, str) or not value:
            raise InputError(
                f"{path}: {SYSTEMS}.{name} must be a file, or a pattern of the files of its seeds, "
                f"such as 'runs/{name}-*.jsonl'; found {value!r}"
            )
    return dict(systems)


def words_of(study: Study, params: Sequence[Any], typed: Sequence[str] = ()) -> list[str]:
    """Return the arguments for everything in a study, and for what was typed besides it.

    Parameters
    ----------
    study
        What the file says.
    params
        The parameters of its command, as typer has them.
    typed
        What was typed beside it: an option leaves that of the file out, and an argument those of
        the file.

    Raises
    ------
    InputError
        If the command has no such option, an option takes no such value, or one that is required is
        neither in the file nor typed.
    """
    words = dict(_words(study, params, study.values, "", typed))
    sets = [param for param in params if param.param_type_name == "argument" and param.nargs == -1]
    if study.systems and not sets:
        raise InputError(f"{study.path}: calipers {study.command} takes no [{SYSTEMS}]")
    if study.systems and sets[0].name in words:
        raise InputError(f"{study.path}: give [{SYSTEMS}] or {sets[0].name}, not both")
    if study.systems:
        words[sets[0].name] = [f"{name}={file}" for name, file in study.systems.items()]
    given = _has_arguments(params, typed)
    for param in params:
        here = given if param.param_type_name == "argument" else _typed(param, params, typed)
        if param.required and not here and not words.get(param.name):
            raise InputError(
                f"{study.path}: lacks {param.name.replace('_', '-')}, which calipers "
                f"{study.command} needs"
            )
    places = [param.name for param in params if param.param_type_name == "argument"]
    options = [word for name, of_one in words.items() if name not in places for word in of_one]
    behind = [word for name in places for word in words.get(name, ())]
    if given or not behind:
        return [*options, *typed]
    return [*options, *typed, "--", *behind]


def check_words(study: Study, params: Sequence[Any]) -> list[str]:
    """Return the arguments of ``calipers check`` after ``RUN.zip``."""
    words = _words(study, params, study.checks, f"{CHECKS}.", [], "check")
    return [word for _, of_one in words for word in of_one]


def _words(
    study: Study,
    params: Sequence[Any],
    values: Mapping[str, Any],
    table: str,
    typed: Sequence[str],
    command: str | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """Return the words of every option by its parameter."""
    command = command or study.command
    names = _names(params)
    if not any(param.name == SYSTEMS for param in params):
        sets = [one for one in params if one.param_type_name == "argument" and one.nargs == -1]
        names |= {SYSTEMS: sets[0]} if sets else {}
    used: dict[tuple[str, bool], str] = {}
    for key, value in values.items():
        param, wanted = names.get(_key(key)), True
        if param is None and isinstance(value, bool) and f"no_{_key(key)}" in names:
            param, wanted = names[f"no_{_key(key)}"], False
        if param is None or param.name in NOT_HELD:
            known = [name.replace("_", "-") for name in names]
            raise InputError(
                f"{study.path}: {table}{key} is not an option of calipers {command}; "
                f"{hint_of_names(key.replace('_', '-'), known)}"
            )
        if (param.name, wanted) in used:
            other = used[param.name, wanted]
            raise InputError(f"{study.path}: {table}{key} and {other} are one option; give one")
        used[param.name, wanted] = key
        of_one = list(_words_of(f"{study.path}: {table}{key}", param, value, wanted=wanted))
        if not _typed(param, params, typed):
            yield param.name, of_one


def _words_of(place: str, param: Any, value: Any, *, wanted: bool) -> Iterator[str]:
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise InputError(f"{place} must be true or false; found {value!r}")
        if value is wanted:
            yield _flag(param.opts)
        elif param.secondary_opts:
            yield _flag(param.secondary_opts)
        return
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, bool) or not all(
        isinstance(one, str | int | float) and not isinstance(one, bool) for one in listed
    ):
        raise InputError(f"{place} must be a text, a number or a list of them; found {value!r}")
    texts = [one if isinstance(one, str) else repr(one) for one in listed]
    several = getattr(param, "multiple", False) or param.nargs == -1
    for text in texts if several else [",".join(texts)]:
        if param.param_type_name == "argument":
            yield text
        elif text.startswith("-") and len(text) > 1:
            yield f"{_flag(param.opts)}={text}"
        else:
            yield from (_flag(param.opts), text)


def _names(params: Sequence[Any]) -> dict[str, Any]:
    """Every spelling of every parameter."""
    names = {}
    for param in params:
        names[param.name] = param
        if param.param_type_name != "argument":
            for flag in param.opts:
                if flag.startswith("--"):
                    names[_key(flag.lstrip("-"))] = param
    return names


def _typed(param: Any, params: Sequence[Any], typed: Sequence[str]) -> bool:
    """Whether a parameter was typed beside the file."""
    if param.param_type_name == "argument":
        return False  # all of them are, or none
    flags = {*param.opts, *param.secondary_opts}
    rivals = {one.name: one for one in params}.get(f"no_{param.name}")
    flags |= set(rivals.opts) if rivals is not None else set()
    return any(word.partition("=")[0] in flags for word in typed)


def _has_arguments(params: Sequence[Any], typed: Sequence[str]) -> bool:
    """Whether something was typed that is neither an option nor the value of one."""
    switches = {
        flag
        for param in params
        if getattr(param, "is_flag", False)
        for flag in (*param.opts, *param.secondary_opts)
    }
    valued = False
    for word in typed:
        if word == "--":
            return True
        if valued:
            valued = False
        elif word.startswith("-") and word != "-":
            valued = "=" not in word and word not in switches
        else:
            return True
    return False


def _flag(flags: Sequence[str]) -> str:
    return max(flags, key=len)


def _key(name: str) -> str:
    return name.replace("-", "_")


def study_of(
    command: str, params: Iterable[Any], given: Mapping[str, Any], lists: Container[str]
) -> str:
    """Write the options of a command as a study.

    Parameters
    ----------
    command
        Its name.
    params
        Its parameters, as :class:`inspect.Parameter`, with what typer knows of them.
    given
        Their values; those that are None, empty or the default were not given.
    lists
        Which of them are lists that commas part.

    Raises
    ------
    InputError
        If a value holds bytes that are not UTF-8, as names of files may.
    """
    top, systems = [f"command = {_toml(command)}"], []
    tables: dict[str, list[str]] = {name: [] for name in TABLES}
    for param in params:
        value = given.get(param.name)
        if value is None or value in ([], ()) or repr(value) == repr(param.default):
            continue
        if param.name in NOT_HELD:
            continue
        about = param.annotation.__metadata__[0]
        flags = [flag for flag in about.param_decls or () if flag.startswith("--")]
        plain = [flag.partition("/")[0] for flag in flags]
        name = max(plain, key=len).lstrip("-") if plain else param.name.replace("_", "-")
        if param.name in lists:
            value = [part for word in value for part in re.split(r",\s*", word)]
        if value is True and name.startswith("no-"):
            name, value = name[3:], False
        line = f"{name} = {_toml(value)}"
        if isinstance(about, ArgumentInfo):
            named = _by_name(value)
            systems += [f"{_toml_key(key)} = {_toml(file)}" for key, file in named.items()]
            top += [] if named else [line]
        elif name == "reference":
            top.append(line)
        else:
            tables["outputs" if about.rich_help_panel == OUTPUT else "options"].append(line)
    sections = [f"[{name}]\n" + "\n".join(lines) for name, lines in tables.items() if lines]
    listed = [f"[{SYSTEMS}]\n" + "\n".join(systems)] if systems else []
    return "\n\n".join(["\n".join(top), *listed, *sections]) + "\n"


def _by_name(value: Any) -> dict[str, str]:
    """Return generated sets by the names that they were typed with; nothing where one has none."""
    named = {}
    for word in value if isinstance(value, list | tuple) else ():
        name, equals, file = word.partition("=")
        if not (name and equals and file) or "/" in name or name in named:
            return {}
        named[name] = file
    return named


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"a study is UTF-8, which {text!r} is not; rename that file") from None
    if re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", text) or (
        re.fullmatch(r"-?[0-9]+\.[0-9]+", text) and repr(float(text)) == text
    ):
        return text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(f"{name}")
