"""Run every decoder test on both backends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rhetorica.kernels import BACKENDS, Backend, numba_works, using


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The backend that kernels run on."""
    name: Backend = request.param
    if name == "numba" and not numba_works():
        pytest.skip("numba is not installed")
    with using(name):
        yield name
