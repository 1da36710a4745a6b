"""Epigraph rows over the cuts of a network, in sparse form.

A plan is a path. A cut that every path crosses once gives a row ``t >= sum of c_a x_a`` over the
columns that cross it. For a family of cuts ``q = 0..Q-1`` in which a column crosses the consecutive
cuts ``first_a..last_a``, carry variables ``u_q`` state all rows with two nonzeros a column.
"""

from collections.abc import Sequence

import pulp

from stagecut.candidates import Float, Int
from stagecut.formulations.common import Terms, expression


def add_carry_rows(
    model: pulp.LpProblem,
    columns: Sequence[pulp.LpVariable],
    costs: Float,
    first: Int,
    last: Int,
    num_cuts: int,
    name: str = "",
) -> list[pulp.LpVariable]:
    """Add ``u_q - u_(q-1) = sum of c_a x_a with first_a = q - sum of c_a x_a with last_a = q - 1``.

    Parameters
    ----------
    model
        The PuLP problem.
    columns
        Binary variables ``x_a``.
    costs, first, last
        Shape ``(len(columns),)``: ``c_a`` in units of the model's scale, and the cuts crossed;
        columns of cost 0 take no nonzeros.
    num_cuts
        ``Q``.
    name
        Goes before the index in the names of rows and variables.

    Returns
    -------
    list of LpVariable
        ``u_q``, each equal to the sum of ``c_a x_a`` over the columns that cross cut ``q``.
    """
    carried = [model.add_variable(f"u_{name}{cut}", 0) for cut in range(num_cuts)]
    rows: list[Terms] = [[(u, 1.0)] for u in carried]
    for previous, row in zip(carried, rows[1:], strict=False):
        row.append((previous, -1.0))
    crossings = zip(columns, costs.tolist(), first.tolist(), last.tolist(), strict=True)
    for x, cost, start, end in crossings:
        if cost:
            rows[start].append((x, -cost))
            if end + 1 < num_cuts:
                rows[end + 1].append((x, cost))
    for cut, row in enumerate(rows):
        model.addConstraint(expression(row) == 0.0, f"carry_{name}{cut}")
    return carried


def add_epigraph_rows(
    model: pulp.LpProblem,
    carried: Sequence[pulp.LpVariable],
    bottleneck: pulp.LpVariable,
    name: str = "",
) -> None:
    """Add ``bottleneck >= u_q`` for each cut ``q``."""
    for cut, u in enumerate(carried):
        row = expression([(bottleneck, 1.0), (u, -1.0)])
        model.addConstraint(row >= 0.0, f"epigraph_{name}{cut}")
