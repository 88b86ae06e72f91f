"""Counts under Dirichlet priors: Polya probabilities, restaurants, and their hyper-parameters.

What collapsed Gibbs samplers share. A *row* of counts is what was drawn from one unknown
multinomial; with the multinomial integrated out under a Dirichlet prior, the draws have a Polya
(Dirichlet-multinomial) probability that depends on the counts only. A `Restaurant` is the same for
a Dirichlet or Pitman-Yor process, where the kinds are without number and may have a base
distribution that is itself learned (the Chinese restaurant: Teh 2006). Concentrations are drawn by
slice sampling (Neal 2003), which needs no tuning and no derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Dish = TypeVar("Dish", bound=Hashable)

_SMALLEST, _LARGEST = 1e-8, 1e8


def _log_gamma(values: ArrayLike) -> Any:
    from scipy.special import gammaln

    return gammaln(values)


def log_polya(counts: ArrayLike, alpha: ArrayLike) -> Floats:
    """Return the log probability of the draws behind each row of counts, in their order.

    ``counts`` is (..., kinds); ``alpha`` one number (a symmetric prior) or one for each kind.

    >>> float(np.exp(log_polya([2, 0], 1.0)).round(3))  # 1/2, then 2/3
    0.333
    """
    table = np.asarray(counts, np.float64)
    prior = np.broadcast_to(np.asarray(alpha, np.float64), table.shape)
    rows = _log_gamma(prior.sum(axis=-1)) - _log_gamma(table.sum(axis=-1) + prior.sum(axis=-1))
    return np.asarray(rows + (_log_gamma(table + prior) - _log_gamma(prior)).sum(axis=-1))


def posterior_mean(counts: ArrayLike, alpha: ArrayLike) -> Floats:
    """Return each row's expected multinomial: what the next draw will be.

    >>> posterior_mean([[3, 0], [0, 0]], 0.5).tolist()
    [[0.875, 0.125], [0.5, 0.5]]
    """
    table = np.asarray(counts, np.float64) + np.asarray(alpha, np.float64)
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


class SymmetricPolya:
    """The log probability of a table of counts as a function of its symmetric prior.

    Equal counts are put together once, so that trying a value costs as many logarithms as there
    are different counts, not as there are cells.

    >>> table = [[2, 0], [1, 1]]
    >>> likelihood = SymmetricPolya(table)
    >>> bool(np.isclose(likelihood(0.7), log_polya(table, 0.7).sum()))
    True
    """

    def __init__(self, counts: ArrayLike) -> None:
        table = np.asarray(counts)
        table = table.reshape(-1, table.shape[-1])
        self._put_together(table, table.sum(axis=1), table.shape[-1])

    @classmethod
    def sparse(cls, cells: ArrayLike, rows: ArrayLike, kinds: int) -> SymmetricPolya:
        """Make it of the counts that are not 0, in any order, and of the sums of the rows."""
        made = cls.__new__(cls)
        made._put_together(np.asarray(cells), np.asarray(rows), kinds)
        return made

    def _put_together(self, cells: NDArray[Any], rows: NDArray[Any], kinds: int) -> None:
        self.kinds = kinds
        values, self._cell_times = np.unique(cells, return_counts=True)
        sums, self._row_times = np.unique(rows, return_counts=True)
        self._cells, self._rows = values.astype(np.float64), sums.astype(np.float64)

    def __call__(self, alpha: float) -> float:
        """Return the log probability if every kind has this prior count."""
        total = alpha * self.kinds
        rows = _log_gamma(total) - _log_gamma(self._rows + total)
        cells = _log_gamma(self._cells + alpha) - _log_gamma(alpha)
        return float(self._row_times @ rows + self._cell_times @ cells)


def slice_sample(
    log_density: Callable[[float], float],
    start: float,
    rng: np.random.Generator,
    *,
    width: float = 1.0,
    steps: int = 1,
) -> float:
    """Move a number by slice sampling (Neal 2003, stepping out and shrinking).

    Leaves the distribution with this (unnormalised) log density as it is. The density at ``start``
    must not be zero.

    >>> rng, point, points = np.random.default_rng(0), 0.0, []
    >>> for _ in range(2000):
    ...     point = slice_sample(lambda x: -0.5 * (x - 3) ** 2, point, rng)
    ...     points.append(point)
    >>> float(np.mean(points).round(1)), float(np.std(points).round(1))
    (3.0, 1.0)
    """
    point, density = float(start), log_density(start)
    if not math.isfinite(density):
        raise ValueError(f"the log density at the start is {density}: expected a number")
    for _ in range(steps):
        level = density - rng.exponential()
        low = point - width * rng.random()
        high = low + width
        while log_density(low) > level:
            low -= width
        while log_density(high) > level:
            high += width
        while True:
            tried = low + (high - low) * rng.random()
            found = log_density(tried)
            if found > level or low == high:
                break
            if tried < point:
                low = tried
            else:
                high = tried
        point, density = tried, found
    return point


def slice_positive(
    log_density: Callable[[float], float],
    start: float,
    rng: np.random.Generator,
    *,
    steps: int = 1,
) -> float:
    """Move a positive number by slice sampling of its logarithm.

    ``log_density`` is of the number itself; the change of variable is accounted for. Values stay
    between 1e-8 and 1e8.
    """

    def of_log(place: float) -> float:
        if not math.log(_SMALLEST) < place < math.log(_LARGEST):
            return -math.inf
        return log_density(math.exp(place)) + place

    inside = min(max(start, _SMALLEST * 1.01), _LARGEST * 0.99)
    return math.exp(slice_sample(of_log, math.log(inside), rng, steps=steps))


def log_gamma_prior(value: float, shape: float = 1.0, rate: float = 1.0) -> float:
    """Return the log density of a Gamma distribution, without its constant."""
    return (shape - 1.0) * math.log(value) - rate * value


def sample_concentration(
    counts: ArrayLike | Callable[[float], float],
    alpha: float,
    rng: np.random.Generator,
    *,
    shape: float = 1.0,
    rate: float = 1.0,
    steps: int = 1,
) -> float:
    """Draw a symmetric prior anew, given the counts of all rows and a Gamma prior over it.

    ``alpha`` is its present value. Instead of counts there may be a function that gives the log
    likelihood of a value (a `SymmetricPolya`, or a sum of several).

    >>> rng = np.random.default_rng(0)
    >>> table = rng.multinomial(50, rng.dirichlet([0.1] * 20, 200))  # drawn with 0.1
    >>> round(sample_concentration(table, 1.0, rng, steps=20), 1)
    0.1
    """
    likelihood = counts if callable(counts) else SymmetricPolya(counts)

    def log_density(value: float) -> float:
        return likelihood(value) + log_gamma_prior(value, shape, rate)

    return slice_positive(log_density, alpha, rng, steps=steps)


class Restaurant(Generic[Dish]):
    """A Chinese restaurant: customers at tables, one dish a table.

    The next customer sits at a table with probability proportional to its customers less the
    ``discount`` (0 for a Dirichlet process), and opens a new one in proportion to
    ``concentration + discount * tables``; a new table's dish comes from the base distribution. In
    a hierarchy the base is another restaurant: when `add` says that a table was opened, its dish
    becomes a customer there, and when `remove` says that one was closed, leaves there.

    >>> room = Restaurant(concentration=1.0)
    >>> rng = np.random.default_rng(0)
    >>> room.add("tea", base=0.5, rng=rng), room.probability("tea", base=0.5)
    (True, 0.75)
    """

    __slots__ = ("_seats", "concentration", "customers", "discount", "tables")

    def __init__(self, *, concentration: float, discount: float = 0.0) -> None:
        if not 0.0 <= discount < 1.0:
            raise ValueError(f"discount is {discount}: expected at least 0 and less than 1")
        if concentration <= -discount:
            raise ValueError(f"concentration is {concentration}: expected more than {-discount}")
        self.concentration, self.discount = concentration, discount
        self.customers = self.tables = 0
        self._seats: dict[Dish, list[int]] = {}

    def __contains__(self, dish: object) -> bool:
        """Tell whether anyone has this dish."""
        return dish in self._seats

    def __iter__(self) -> Iterator[Dish]:
        """Iterate over the dishes that are on tables."""
        return iter(self._seats)

    def seats(self, dish: Dish) -> tuple[int, ...]:
        """Return the number of customers at each of the dish's tables."""
        return tuple(self._seats.get(dish, ()))

    def count(self, dish: Dish) -> int:
        """Return how many customers have this dish."""
        return sum(self._seats.get(dish, ()))

    def probability(self, dish: Dish, base: float) -> float:
        """Return the probability that the next customer gets this dish.

        ``base`` is the dish's probability by the base distribution.
        """
        seats = self._seats.get(dish, ())
        old = sum(seats) - self.discount * len(seats)
        new = (self.concentration + self.discount * self.tables) * base
        return (old + new) / (self.concentration + self.customers)

    def add(self, dish: Dish, base: float, rng: np.random.Generator) -> bool:
        """Seat a customer who has this dish; tell whether that opened a table."""
        seats = self._seats.setdefault(dish, [])
        self.customers += 1
        if seats:
            new = (self.concentration + self.discount * self.tables) * base
            aim = rng.random() * (new + sum(seats) - self.discount * len(seats))
            for table, there in enumerate(seats):
                aim -= there - self.discount
                if aim < 0:
                    seats[table] += 1
                    return False
        seats.append(1)
        self.tables += 1
        return True

    def remove(self, dish: Dish, rng: np.random.Generator) -> bool:
        """Let one of the dish's customers go, each as likely; tell whether a table closed."""
        seats = self._seats.get(dish)
        if not seats:
            raise ValueError(f"nobody has {dish!r}")
        self.customers -= 1
        aim = int(rng.integers(sum(seats)))
        table = 0
        while aim >= seats[table]:
            aim -= seats[table]
            table += 1
        seats[table] -= 1
        if seats[table]:
            return False
        del seats[table]
        self.tables -= 1
        if not seats:
            del self._seats[dish]
        return True

    def reseat(self, dish: Dish, seats: Sequence[int]) -> None:
        """Put the customers of a dish at tables of these sizes, whatever they were before."""
        before = self._seats.pop(dish, [])
        self.customers += sum(seats) - sum(before)
        self.tables += len(seats) - len(before)
        if seats:
            self._seats[dish] = list(seats)

    def draw(self, rng: np.random.Generator) -> Dish | None:
        """Choose the dish of the next customer, seating nobody; None: that of a new table."""
        aim = rng.random() * (self.concentration + self.customers)
        for dish, seats in self._seats.items():
            aim -= sum(seats) - self.discount * len(seats)
            if aim < 0:
                return dish
        return None

    def log_seating(
        self, concentration: float | None = None, discount: float | None = None
    ) -> float:
        """Return the log probability of who sits with whom (dishes apart), for these parameters."""
        theta = self.concentration if concentration is None else concentration
        rebate = self.discount if discount is None else discount
        if theta <= -rebate:
            return -math.inf
        opened = np.arange(1, self.tables)
        total = float(np.log(theta + rebate * opened).sum())
        total -= float(np.log(theta + np.arange(1, self.customers)).sum())
        sizes = np.array([there for seats in self._seats.values() for there in seats], np.float64)
        return total + float((_log_gamma(sizes - rebate) - _log_gamma(1.0 - rebate)).sum())

    def sample_concentration(
        self, rng: np.random.Generator, *, shape: float = 1.0, rate: float = 1.0
    ) -> None:
        """Draw the concentration anew, given the seating and a Gamma prior."""

        def log_density(value: float) -> float:
            return self.log_seating(value) + log_gamma_prior(value, shape, rate)

        self.concentration = slice_positive(log_density, max(self.concentration, 1e-6), rng)

    def sample_discount(self, rng: np.random.Generator) -> None:
        """Draw the discount anew, given the seating and a uniform prior."""

        def log_density(value: float) -> float:
            return self.log_seating(discount=value) if 0.0 <= value < 1.0 else -math.inf

        self.discount = slice_sample(log_density, self.discount, rng, width=0.2)


class Franchise(Generic[Dish]):
    """Restaurants, lowest first, each with the next as its base; ``base`` is that of the last.

    >>> levels = [Restaurant(concentration=1.0), Restaurant(concentration=1.0)]
    >>> chain = Franchise(levels, lambda dish: 0.5)
    >>> rng = np.random.default_rng(0)
    >>> chain.add("tea", rng), chain.probability("tea")
    (0.5, 0.875)
    """

    __slots__ = ("base", "levels")

    def __init__(self, levels: Sequence[Restaurant[Dish]], base: Callable[[Dish], float]) -> None:
        self.levels, self.base = levels, base

    def probability(self, dish: Dish) -> float:
        """Return the probability that the next customer of the lowest gets this dish."""
        return self._probabilities(dish)[0]

    def _probabilities(self, dish: Dish) -> list[float]:
        """Return it for each level, the base last."""
        found = [self.base(dish)]
        for level in reversed(self.levels):
            found.append(level.probability(dish, found[-1]))
        return found[::-1]

    def add(self, dish: Dish, rng: np.random.Generator) -> float:
        """Seat a customer; return what `probability` was.

        Each new table sends a customer to the next level.
        """
        found = self._probabilities(dish)
        for level, base in zip(self.levels, found[1:], strict=True):
            if not level.add(dish, base, rng):
                break
        return found[0]

    def remove(self, dish: Dish, rng: np.random.Generator) -> None:
        """Let a customer go; each table that closes takes one from the next level."""
        for level in self.levels:
            if not level.remove(dish, rng):
                break

    def draw(self, rng: np.random.Generator, fresh: Callable[[], Dish]) -> Dish:
        """Choose the dish of the next customer; ``fresh`` draws one from the base."""
        for level in self.levels:
            if (dish := level.draw(rng)) is not None:
                return dish
        return fresh()


def closing_odds(customers: int, tables: int) -> Floats:
    """Return how likely a customer who leaves sat alone: ``odds[c, t]`` for c at t tables.

    For those who have one dish in a Dirichlet process, whatever its concentration and base: the
    ratio of Stirling numbers S(c - 1, t - 1) / S(c, t), where only counts of customers and tables
    are kept (Chen, Du & Buntine 2011).

    >>> closing_odds(3, 3)[3, 1:].round(3).tolist()  # all together, two and one, all alone
    [0.0, 0.333, 1.0]
    """
    logs = np.full((customers + 1, tables + 1), -np.inf)
    logs[0, 0] = 0.0
    odds = np.zeros_like(logs)
    with np.errstate(divide="ignore", invalid="ignore"):
        for count in range(1, customers + 1):
            joined = logs[count - 1] + np.log(count - 1.0)
            logs[count, 1:] = np.logaddexp(logs[count - 1, :-1], joined[1:])
            odds[count, 1:] = np.exp(logs[count - 1, :-1] - logs[count, 1:])
    return np.nan_to_num(odds)
