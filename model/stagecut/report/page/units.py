"""Numbers as people read them: a unit that fits, and no more digits than tell something."""

from collections.abc import Iterable

TIME_UNITS = ((3600.0, "h", 2.0), (60.0, "min", 10.0), (1.0, "s", 1.0), (1e-3, "ms", 1.0),
              (1e-6, "µs", 1.0), (1e-9, "ns", 0.0))  # fmt: skip
"""Seconds in a unit, its name, and from how many of it on it is used."""

BYTE_UNITS = ((1e12, "TB", 1.0), (1e9, "GB", 1.0), (1e6, "MB", 1.0), (1e3, "kB", 1.0),
              (1.0, "B", 0.0))  # fmt: skip


def seconds_text(seconds: float) -> str:
    """Return a time with its unit.

    Examples
    --------
    >>> seconds_text(50.167182), seconds_text(0.0489022), seconds_text(2.5e-7), seconds_text(0)
    ('50.17 s', '48.90 ms', '250 ns', '0 s')
    """
    if seconds == 0:
        return "0 s"
    scale, unit = time_unit([seconds])
    return f"{number_text(seconds / scale)} {unit}"


def bytes_text(count: float) -> str:
    """Return bytes with their unit, thousands in steps of 1000.

    Examples
    --------
    >>> bytes_text(16e9), bytes_text(0)
    ('16 GB', '0 B')
    """
    scale, unit = _unit(BYTE_UNITS, [count])
    return f"{number_text(count / scale)} {unit}"


def number_text(value: float) -> str:
    """Return a number with four digits that count, whole numbers without a point.

    Examples
    --------
    >>> number_text(48.90221), number_text(50), number_text(123456.7)
    ('48.90', '50', '123,457')
    """
    if abs(value - round(value)) <= 1e-9 * abs(value) or abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:#.4g}"


def share_text(share: float) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> share_text(0.1234), share_text(1e-6), share_text(0.0)
    ('12.3%', 'less than 0.01%', '0%')
    """
    percent = share * 100
    if percent == 0:
        return "0%"
    if 0 < percent < 0.01:
        return "less than 0.01%"
    return f"{percent:.1f}%" if abs(percent) >= 1 else f"{percent:.2f}%"


def time_unit(values: Iterable[float]) -> tuple[float, str]:
    """Return the seconds in the unit that fits the largest of some times, and its name.

    Examples
    --------
    >>> time_unit([0.004, 0.05])
    (0.001, 'ms')
    """
    return _unit(TIME_UNITS, values)


def byte_unit(values: Iterable[float]) -> tuple[float, str]:
    """Return the bytes in the unit that fits the largest of some values, and its name.

    Examples
    --------
    >>> byte_unit([2e9, 16e9])
    (1000000000.0, 'GB')
    """
    return _unit(BYTE_UNITS, values)


def _unit(
    units: tuple[tuple[float, str, float], ...], values: Iterable[float]
) -> tuple[float, str]:
    largest = max((abs(value) for value in values), default=0.0)
    for scale, unit, least in units:
        if largest >= least * scale * (1 - 1e-12):
            return scale, unit
    raise AssertionError("the smallest unit takes every value")
