"""Newton's method for convex functions whose curvature is known, with few computations of it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from cwtool.data.rows import Floats

STEPS = 100  # at most; 3 to 10 are usual
SHORTER = 20  # attempts to shorten a step
STALE = 0.1  # share of the expected slope that may be left before the curvature is computed anew


class Convex(ABC):
    """A convex function. Slopes and directions are those at the point of the last `look`."""

    @abstractmethod
    def look(self, x: Floats) -> float:
        """The value of the function at x; slopes and directions are at this point from now on."""

    @abstractmethod
    def bend(self) -> None:
        """Compute the Hessian at the current point, which `direction` uses from now on."""

    @abstractmethod
    def direction(self) -> Floats:
        """The Newton step with the Hessian that `bend` computed last."""

    @abstractmethod
    def slope(self, d: Floats) -> float:
        """The derivative along d."""

    def shorter(self, slope: float, expected: float) -> float:
        """The share of a step that does not go beyond the minimum along it. The slope along the
        step is -`expected` at its beginning and `slope` at its end, where the function was
        evaluated last. By default the share is that of a secant step."""
        return min(0.5, max(0.1, expected / (expected + max(slope, 0.0))))


def minimize(
    function: Convex, x: Floats, tol: float, steps: int = STEPS, *, rough: bool = False
) -> Floats:
    """A point whose value is above the least one by about `tol` times the value, from x on.

    A step along d is expected to lower the value by s/2, where -s is the slope along d, and to end
    where the slope is 0. It is shortened while it leads upwards. The curvature is computed anew
    only after a step that does not end as expected, because a look at the rows costs much less. At
    the end, the point that was looked at last is the one returned. `rough`: a rough curvature is
    there already, with which the search can begin but not end.
    """
    value = function.look(x)
    if not rough:
        function.bend()
    for _ in range(steps):
        d = function.direction()
        expected = -function.slope(d)
        if rough and not expected > tol * value:
            function.bend()
            rough, d = False, function.direction()
            expected = -function.slope(d)
        if not expected > tol * value:
            break
        length = 1.0
        for _ in range(SHORTER):
            there = x + length * d
            found = function.look(there)
            slope = function.slope(d)
            if found <= value and slope <= expected / 2:
                break
            length *= function.shorter(slope, expected)
        if not found <= value:
            function.look(x)
            break
        x, value = there, found
        if length < 1 or abs(slope) > STALE * expected:
            function.bend()
            rough = False
    return x
