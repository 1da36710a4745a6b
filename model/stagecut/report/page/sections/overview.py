"""What stands at the top of the page: the problem in one line, and the figures that matter most."""

from stagecut.report.page.data import PageData
from stagecut.report.page.parts import Fact
from stagecut.report.page.sections.proof import verdict
from stagecut.report.page.units import seconds_text

OBJECTIVES = {
    "training": "time of one training step",
    "bottleneck": "time between two micro-batches",
    "latency": "time of one micro-batch",
    "stages_times_bottleneck": "stages times bottleneck",
}
"""What each objective means to a reader."""


def problem_words(data: PageData) -> str:
    """Return what the problem is, in one line."""
    problem = data.problem
    pools = ""
    if problem.pools is not None:
        pools = " (" + ", ".join(f"{count} {name}" for name, count in problem.pools.items()) + ")"
    return (
        f"{problem.num_layers} layers on {problem.num_devices} devices{pools}, "
        f"{problem.num_microbatches} micro-batches"
    )


def headline(data: PageData) -> tuple[Fact, ...]:
    """Return the figures at the top."""
    problem, plan, costs = data.problem, data.plan, data.costs
    objective = OBJECTIVES[problem.objective]
    if problem.robustness:
        objective += f", worst case of {problem.robustness} slow stages"
    return (
        Fact("Objective", seconds_text(costs.objective), objective),
        Fact("Bottleneck", seconds_text(costs.bottleneck), "the slowest step, per micro-batch"),
        Fact("Total", seconds_text(costs.total), "one micro-batch through all stages"),
        Fact("Stages", str(plan.num_stages), _devices(data)),
        verdict(data),
    )


def _devices(data: PageData) -> str:
    used, there = data.plan.num_devices, data.problem.num_devices
    return f"on all {there} devices" if used == there else f"on {used} of {there} devices"
