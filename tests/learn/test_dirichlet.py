from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from rhetorica.learn.dirichlet import (
    Restaurant,
    SymmetricPolya,
    log_polya,
    posterior_mean,
    sample_concentration,
    slice_positive,
    slice_sample,
)


def urn(draws: tuple[int, ...], alpha: list[float]) -> float:
    """The probability of draws one after the other: what Polya's formula sums up."""
    counts, total = list(alpha), 0.0
    for kind in draws:
        total += math.log(counts[kind] / sum(counts))
        counts[kind] += 1
    return total


@pytest.mark.parametrize("alpha", [[0.5, 0.5, 0.5], [0.1, 2.0, 1.0]])
def test_polya_is_the_urn(alpha: list[float]) -> None:
    for draws in product(range(3), repeat=4):
        counts = np.bincount(draws, minlength=3)
        assert float(log_polya(counts, alpha)) == pytest.approx(urn(draws, alpha))


def test_polya_of_all_sequences_sums_to_one() -> None:
    total = sum(
        math.exp(log_polya(np.bincount(draws, minlength=3), 0.3))
        for draws in product(range(3), repeat=5)
    )
    assert total == pytest.approx(1)


def test_posterior_mean_is_the_next_draw() -> None:
    counts, alpha = np.array([2.0, 0, 1]), 0.4
    for kind in range(3):
        more = counts.copy()
        more[kind] += 1
        step = math.exp(log_polya(more, alpha) - log_polya(counts, alpha))
        assert posterior_mean(counts, alpha)[kind] == pytest.approx(step)


def test_equal_counts_put_together_change_nothing() -> None:
    table = np.random.default_rng(0).integers(0, 4, (6, 5))
    for alpha in (0.01, 1.0, 20.0):
        wanted = pytest.approx(float(log_polya(table, alpha).sum()))
        assert SymmetricPolya(table)(alpha) == wanted
        assert SymmetricPolya.sparse(table[table > 0], table.sum(axis=1), 5)(alpha) == wanted


def test_slices_of_a_gamma_have_its_moments() -> None:
    rng, value, seen = np.random.default_rng(1), 1.0, []
    for _ in range(4000):
        value = slice_positive(lambda x: 2.0 * math.log(x) - 0.5 * x, value, rng)
        seen.append(value)
    assert np.mean(seen) == pytest.approx(6, rel=0.08)  # shape 3, rate 1/2
    assert np.var(seen) == pytest.approx(12, rel=0.2)


def test_a_slice_needs_a_possible_start() -> None:
    with pytest.raises(ValueError, match="-inf"):
        slice_sample(lambda x: -math.inf, 0.0, np.random.default_rng(0))


def test_concentration_is_drawn_from_its_posterior() -> None:
    rng = np.random.default_rng(2)
    table = np.array([[4, 0, 1], [0, 3, 0]])
    grid = np.exp(np.linspace(-12, 8, 4000))
    density = np.array([SymmetricPolya(table)(a) - a for a in grid]) + np.log(grid)
    weights = np.exp(density - density.max())
    weights /= weights.sum()
    alpha, seen = 1.0, []
    for _ in range(3000):
        alpha = sample_concentration(table, alpha, rng)
        seen.append(alpha)
    assert np.mean(np.log(seen)) == pytest.approx(float(weights @ np.log(grid)), abs=0.1)
    assert np.mean(seen) == pytest.approx(float(weights @ grid), rel=0.1)


Seating = tuple[tuple[str, tuple[int, ...]], ...]


def partitions(customers: list[int]) -> Iterator[list[list[int]]]:
    if not customers:
        yield []
        return
    first, *rest = customers
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for k, block in enumerate(smaller):
            yield [*smaller[:k], [first, *block], *smaller[k + 1 :]]


def crp(sizes: list[int], theta: float, rebate: float) -> float:
    """The probability of one partition, customer by customer (any order gives the same)."""
    chance, seated, tables = 1.0, 0, 0
    for size in sizes:
        chance *= (theta + rebate * tables) / (theta + seated)
        tables, seated = tables + 1, seated + 1
        for there in range(1, size):
            chance *= (there - rebate) / (theta + seated)
            seated += 1
    return chance


@pytest.mark.parametrize(("theta", "rebate"), [(1.0, 0.0), (0.5, 0.4)])
def test_seatings_have_the_restaurants_probabilities(theta: float, rebate: float) -> None:
    """Gibbs sweeps over a few customers visit seatings as often as enumeration says."""
    dishes, base = ["a", "a", "a", "b"], {"a": 0.7, "b": 0.3}
    exact: dict[Seating, float] = defaultdict(float)
    for blocks in partitions([0, 1, 2, 3]):
        if any(len({dishes[c] for c in block}) > 1 for block in blocks):
            continue
        chance = crp([len(block) for block in blocks], theta, rebate)
        for block in blocks:
            chance *= base[dishes[block[0]]]
        exact[key((dishes[block[0]], len(block)) for block in blocks)] += chance
    total = sum(exact.values())
    rng = np.random.default_rng(3)
    room: Restaurant[str] = Restaurant(concentration=theta, discount=rebate)
    for dish in dishes:
        room.add(dish, base[dish], rng)
    seen: Counter[Seating] = Counter()
    sweeps = 6000
    for _ in range(sweeps):
        for dish in dishes:
            room.remove(dish, rng)
            room.add(dish, base[dish], rng)
        seen[key((dish, there) for dish in room for there in room.seats(dish))] += 1
        assert room.customers == 4
        assert room.tables == sum(len(room.seats(dish)) for dish in room)
    for seating, chance in exact.items():
        assert seen[seating] / sweeps == pytest.approx(chance / total, abs=0.03)


def key(tables: Iterator[tuple[str, int]]) -> Seating:
    by_dish = defaultdict(list)
    for dish, there in tables:
        by_dish[dish].append(there)
    return tuple(sorted((dish, tuple(sorted(seats))) for dish, seats in by_dish.items()))


def test_log_seating_is_the_product_of_choices() -> None:
    rng = np.random.default_rng(4)
    room: Restaurant[int] = Restaurant(concentration=1.5, discount=0.3)
    for dish in rng.integers(0, 3, 12):
        room.add(int(dish), 1 / 3, rng)
    sizes = [there for dish in room for there in room.seats(dish)]
    assert room.log_seating() == pytest.approx(math.log(crp(sizes, 1.5, 0.3)))
    assert room.log_seating(0.7, 0.1) == pytest.approx(math.log(crp(sizes, 0.7, 0.1)))


def test_probabilities_of_dishes_sum_to_one() -> None:
    rng = np.random.default_rng(5)
    room: Restaurant[int] = Restaurant(concentration=0.8, discount=0.2)
    for dish in rng.integers(0, 3, 20):
        room.add(int(dish), 0.25, rng)
    assert sum(room.probability(dish, 0.25) for dish in range(4)) == pytest.approx(1)


def test_parameters_find_their_values_again() -> None:
    rng = np.random.default_rng(6)
    room: Restaurant[int] = Restaurant(concentration=20.0, discount=0.5)
    for customer in range(3000):
        # Every new table has a dish of its own: only who sits with whom matters.
        tables = list(room)
        open_new = (20.0 + 0.5 * room.tables) / (20.0 + room.customers)
        if rng.random() < open_new:
            room.add(customer, 1.0, rng)
        else:
            sizes = np.array([room.count(dish) - 0.5 for dish in tables])
            dish = tables[int(rng.choice(len(tables), p=sizes / sizes.sum()))]
            before = room.tables
            room._seats[dish][0] += 1
            room.customers += 1
            assert room.tables == before
    thetas, rebates = [], []
    for _ in range(150):
        room.sample_concentration(rng, shape=1.0, rate=0.01)
        room.sample_discount(rng)
        thetas.append(room.concentration)
        rebates.append(room.discount)
    assert np.mean(rebates[50:]) == pytest.approx(0.5, abs=0.06)
    assert 8 < np.mean(thetas[50:]) < 40


def test_an_empty_restaurant_knows_its_base_only() -> None:
    room: Restaurant[str] = Restaurant(concentration=2.0)
    assert room.probability("x", 0.1) == pytest.approx(0.1)
    assert room.log_seating() == 0
    assert "x" not in room
    with pytest.raises(ValueError, match="nobody has 'x'"):
        room.remove("x", np.random.default_rng(0))


@pytest.mark.parametrize(("theta", "rebate"), [(0.0, 0.0), (1.0, 1.0), (-0.5, 0.2)])
def test_impossible_parameters_are_refused(theta: float, rebate: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        Restaurant(concentration=theta, discount=rebate)
