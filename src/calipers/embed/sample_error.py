"""What an embedder says of a sample that it cannot read: which one, and what is wrong with it."""

from __future__ import annotations

from calipers.errors import InputError


class SampleError(InputError):
    """A sample that an embedder cannot read.

    The embedder counts samples from the first that it was given; whoever gave it a part of a set
    puts the number right.

    Parameters
    ----------
    row
        Which sample, counted from 0.
    problem
        What is wrong with it.
    where
        What to call the set; nothing where it has no name.
    """

    def __init__(self, row: int, problem: str, where: str = "") -> None:
        super().__init__(row, problem, where)  # pickled by these on the way out of a process
        self.row, self.problem, self.where = row, problem, where

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}sample {self.row + 1:,}: {self.problem}"

    def behind(self, rows: int, where: str = "") -> SampleError:
        """The same, where so many samples stand before those that the embedder was given."""
        return SampleError(self.row + rows, self.problem, where)
