"""The proof: how far the plan is known to be from the best."""

from stagecut.report.page.data import PageData
from stagecut.report.page.parts import Fact, Section, Table
from stagecut.report.page.units import seconds_text, share_text
from stagecut.result import Result

SAME = 1e-9
"""Relative difference up to which two objectives are one."""


def plan_gap(data: PageData) -> float | None:
    """Return how far the plan may at most be from the best, as a share of its objective."""
    if data.proof is None or data.proof.bound is None:
        return None
    objective, bound = data.costs.objective, data.proof.bound
    if objective <= bound * (1 + SAME):
        return 0.0
    return (objective - bound) / objective


def verdict(data: PageData) -> Fact:
    """Return in a word what is proven about the plan."""
    gap = plan_gap(data)
    if gap is None:
        remark = "no search came with this plan" if data.proof is None else "no bound is known"
        return Fact("Proof", "not proven", remark, "warn")
    if gap == 0:
        return Fact("Proof", "optimal", "no plan is better", "good")
    if _best_known(data):
        return Fact("Proof", "within a gap", f"at most {share_text(gap)} from the best", "warn")
    return Fact("Proof", "not the best", f"{_over(data)} over the best plan found", "warn")


def proof_section(data: PageData) -> Section:
    """Show who searched, how long, and what came out."""
    if data.proof is None:
        return Section(
            "proof", "Proof of optimality",
            "Not proven: the page was made from a plan alone, which does not say how it was found. "
            "That the plan is valid, and what it costs, was checked anew.",
        )  # fmt: skip
    return Section(
        "proof", "Proof of optimality", _lead(data),
        tables=(_table(data, data.proof),),
    )  # fmt: skip


def _lead(data: PageData) -> str:
    gap = plan_gap(data)
    if gap is None:
        return "Not proven: the search ended without a bound under the best objective."
    if gap == 0:
        return (
            "No plan of this problem has a smaller objective: the proven bound equals the plan's."
        )
    if _best_known(data):
        return (f"The search was stopped: no plan is more than {share_text(gap)} better than this "
                "one.")  # fmt: skip
    return f"The search found a better plan: this one costs {_over(data)} more than it."


def _best_known(data: PageData) -> bool:
    """Whether the search found nothing better than the plan."""
    assert data.proof is not None
    best = data.proof.objective
    return best is None or data.costs.objective <= best * (1 + SAME)


def _over(data: PageData) -> str:
    assert data.proof is not None
    best = data.proof.objective
    if best is None or best <= 0:
        return "an unknown share"
    return share_text(data.costs.objective / best - 1)


def _table(data: PageData, proof: Result) -> Table:
    gap, figures = plan_gap(data), proof.statistics
    engine = "dynamic programme" if proof.solver == "dp" else proof.solver
    rows = {
        "status of the search": str(proof.status),
        "solver": engine,
        "formulation": proof.formulation,
        "strategy": proof.strategy,
        "stopped by": None if proof.limit is None else f"{proof.limit} limit",
        "objective of this plan": f"{data.costs.objective:.9g} s",
        "objective of the best plan found": _known(proof.objective, "{:.9g} s"),
        "proven bound": _known(proof.bound, "{:.9g} s"),
        "gap of this plan": None if gap is None else share_text(gap),
        "time": None if figures.wall_seconds is None else seconds_text(figures.wall_seconds),
        "branch-and-bound nodes": _known(figures.nodes, "{:,}"),
        "LPs and MILPs solved": _known(figures.models, "{:,}"),
        "largest model": _size(proof),
        "passes of the dynamic programme": _known(figures.passes, "{:,}"),
    }
    told = tuple((name, value) for name, value in rows.items() if value is not None)
    return Table("The search", ("what", "value"), told, frozenset({0, 1}))


def _known(value: float | None, form: str) -> str | None:
    return None if value is None else form.format(value)


def _size(proof: Result) -> str | None:
    rows, columns = proof.statistics.rows, proof.statistics.columns
    return None if rows is None or columns is None else f"{rows:,} rows, {columns:,} columns"
