"""Minimise smooth functions of many numbers by L-BFGS, as all likelihoods here are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, float], None]
"""Hears the number of steps so far, and the last value."""


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    iterations: int,
    memory: int = 7,
    tolerance: float = 1e-7,
    progress: Progress | None = None,
) -> Floats:
    """Return where a function, given with its gradient, is least.

    It stops after so many ``iterations``, or when a step gains less than ``tolerance`` of the
    value. ``memory`` is the number of earlier steps that the curvature is estimated from.

    >>> minimise(lambda x: (float((x - 3) @ (x - 3)), 2 * (x - 3)), np.zeros(2), iterations=9)
    array([3., 3.])
    """
    from scipy.optimize import minimize

    step = 0
    last = 0.0

    def keep(point: Floats) -> tuple[float, Floats]:
        nonlocal last
        last, slope = objective(point)
        return last, slope

    def report(_: Floats) -> None:
        nonlocal step
        step += 1
        if progress:
            progress(step, last)

    found = minimize(
        keep,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": iterations, "maxcor": memory, "ftol": tolerance},
    )
    return np.asarray(found.x)
