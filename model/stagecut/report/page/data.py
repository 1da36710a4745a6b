"""What a page tells about a plan, gathered once; each part is ``None`` where it is not known."""

from dataclasses import dataclass

from stagecut.costs import LayerProfile
from stagecut.costs.memory import stage_bytes
from stagecut.errors import ProblemError, UnsupportedError
from stagecut.evaluate import Evaluation, evaluate
from stagecut.front import ParetoFront
from stagecut.plan import Plan
from stagecut.problem import StageProblem
from stagecut.result import Result


@dataclass(frozen=True, slots=True)
class PageData:
    """What sections are made from.

    Parameters
    ----------
    problem, plan, costs
        The problem, a valid plan of it, and what the referee says it costs.
    name
        Name of the problem.
    proof
        Outcome of a search on this problem; its plan may be another one.
    front
        The front of total and bottleneck.
    profile
        The layer profile behind the problem.
    """

    problem: StageProblem
    plan: Plan
    costs: Evaluation
    name: str
    proof: Result | None = None
    front: ParetoFront | None = None
    profile: LayerProfile | None = None

    @property
    def stage_memory(self) -> tuple[float, ...] | None:
        """Bytes on each device of every stage, where a profile tells."""
        if self.profile is None:
            return None
        last = self.plan.num_stages - 1
        return tuple(
            stage_bytes(self.profile, stage, last - s, self.problem.num_microbatches)
            for s, stage in enumerate(self.plan.stages)
        )


def gather(
    problem: StageProblem,
    plan: Plan | Result,
    *,
    name: str,
    proof: Result | None,
    front: ParetoFront | None,
    profile: LayerProfile | None,
) -> PageData:
    """Check and price a plan, and put together what is known about it.

    Raises
    ------
    ProblemError
        If an argument is of another kind than asked for.
    UnsupportedError
        If ``plan`` is a result without a plan.
    PlanError
        If the plan is not valid.
    """
    _refuse_other("problem", problem, StageProblem)
    for argument, value, kind in (
        ("proof", proof, Result), ("front", front, ParetoFront), ("profile", profile, LayerProfile),
    ):  # fmt: skip
        _refuse_other(argument, value, kind, type(None))
    _refuse_other("plan", plan, Plan, Result)
    if isinstance(plan, Result):
        proof = plan if proof is None else proof
        if plan.plan is None:
            raise UnsupportedError(
                f"the result is {plan.status} and has no plan to report; "
                "stagecut.explain_infeasibility(problem) says what leaves none"
            )
        plan = plan.plan
    costs = evaluate(problem, plan)
    if profile is not None and len(profile.layers) != problem.num_layers:
        raise ProblemError(
            f"profile must have the problem's {problem.num_layers} layers, got "
            f"{len(profile.layers)}; give the profile that the problem was made from"
        )
    return PageData(problem, plan, costs, name, proof, front, profile)


def _refuse_other(argument: str, value: object, *kinds: type) -> None:
    """Raise unless an argument is of one of some kinds."""
    if not isinstance(value, kinds):
        names = ["None" if kind is type(None) else kind.__name__ for kind in kinds]
        raise ProblemError(
            f"{argument} must be a {' or '.join(names)}, got {type(value).__name__}"
        )  # fmt: skip
