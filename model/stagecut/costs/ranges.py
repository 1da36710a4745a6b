"""Sums over ranges of layers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def range_sums(
    values: Sequence[float] | npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the sums over ``i..j``, shape ``(K, K)``; 0 below the diagonal.

    Each row is summed from its own start, so that equal ranges have equal sums.

    Examples
    --------
    >>> range_sums([1.0, 2.0, 4.0])
    array([[1., 3., 7.],
           [0., 2., 6.],
           [0., 0., 4.]])
    """
    array = np.asarray(values, dtype=np.float64)
    sums = np.zeros((len(array), len(array)))
    for i in range(len(array)):
        sums[i, i:] = np.cumsum(array[i:])
    return sums
