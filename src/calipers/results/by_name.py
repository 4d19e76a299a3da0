"""Results whose parts are looked up by name, as in a dict.

A misspelt name is a ``KeyError`` that asks for the nearest one. A result has its parts in the order
of its tables, and going through it gives these parts; going through one of them gives its keys.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import ClassVar, Generic, TypeVar, overload

from calipers.errors import unknown_key

Part = TypeVar("Part", covariant=True)
Other = TypeVar("Other")


class Named(Generic[Part]):
    """A collection of named parts: ``result["a"]``, ``"a" in result``, ``result.get("a")``."""

    _noun: ClassVar[str]
    """What messages call a part."""

    @property
    def _parts(self) -> Mapping[str, Part]:
        """The parts by their names, in order."""
        raise NotImplementedError

    @property
    def _what(self) -> str:
        """What a part is called in messages, where that depends on whose it is."""
        return self._noun

    def __getitem__(self, name: str) -> Part:
        try:
            return self._parts[name]
        except (KeyError, TypeError):
            raise unknown_key(self._what, name, self._parts) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._parts

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())

    def __len__(self) -> int:
        return len(self._parts)

    def __bool__(self) -> bool:
        return True  # a result is one even if it has no parts

    def keys(self) -> KeysView[str]:
        """Return the names of the parts."""
        return self._parts.keys()

    @overload
    def get(self, name: str) -> Part | None: ...
    @overload
    def get(self, name: str, default: Other) -> Part | Other: ...
    def get(self, name: str, default: Other | None = None) -> Part | Other | None:
        """Return the part of a name; the default, or None, where there is none."""
        return self._parts[name] if name in self else default


class ByName(Named[Part]):
    """The same with all reading methods of a dict, including ``dict(result)``."""

    def values(self) -> ValuesView[Part]:
        """Return the parts."""
        return self._parts.values()

    def items(self) -> ItemsView[str, Part]:
        """Return the parts with their names."""
        return self._parts.items()


class ByKey(ByName[Part]):
    """A collection looked up by key, whose iteration yields the parts."""

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]  # as a mapping
        return iter(self._parts)
