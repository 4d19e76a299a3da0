"""Two standard errors and their correlation ──► the region where both scores are to be sought."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, inf, log, radians, sin, sqrt


@dataclass(frozen=True)
class Extent:
    """An ellipse about a point.

    Attributes
    ----------
    width, height
        Whole lengths of its longer and its shorter axis.
    angle
        Degrees from the x-axis to the longer one, counter-clockwise, in (-90, 90].
    """

    width: float
    height: float
    angle: float

    @property
    def reach(self) -> tuple[float, float]:
        """How far it goes from its middle, to the right and upwards."""
        a, b, turn = self.width / 2, self.height / 2, radians(self.angle)
        return hypot(a * cos(turn), b * sin(turn)), hypot(a * sin(turn), b * cos(turn))


def error_ellipse(
    x_error: float | None, y_error: float | None, correlation: float | None, *, level: float
) -> Extent | None:
    """Give the ellipse that holds the share `level` of a normal distribution of two errors.

    Its half axes are sqrt(-2·ln(1 - level)) times the roots of the eigenvalues of the covariance
    [[sx², r·sx·sy], [r·sx·sy, sy²]]: 2.45 standard errors at 95 %. Le Bronnec et al., ACL 2024,
    figure 1, draw two, which hold 86 %.

    Parameters
    ----------
    x_error, y_error
        Standard errors.
    correlation
        Of the two errors, in [-1, 1].
    level
        In (0, 1).

    Returns
    -------
    Extent or None
        None where an error or the correlation is unknown.
    """
    if x_error is None or y_error is None or correlation is None:
        return None
    if not all(abs(value) < inf for value in (x_error, y_error, correlation)):
        return None
    r = min(1.0, max(-1.0, correlation))
    a, b, c = x_error**2, r * x_error * y_error, y_error**2
    middle, half = (a + c) / 2, hypot((a - c) / 2, b)
    radius = sqrt(-2 * log(1 - level))
    longer, shorter = sqrt(middle + half), sqrt(max(0.0, middle - half))
    return Extent(2 * radius * longer, 2 * radius * shorter, degrees(atan2(2 * b, a - c)) / 2)
