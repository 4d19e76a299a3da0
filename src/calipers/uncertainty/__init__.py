"""How sure each number is: intervals, tests, noise floors, advice on sizes, rankings."""
