"""A solved example, and pages made from it."""

import pytest

import stagecut as sc


@pytest.fixture(scope="session")
def example():
    """The problem, its layer profile and the proven best plan of a packaged example."""
    problem = sc.load_example("gpt3-2.6b")
    return problem, sc.load_profile(sc.examples.example_path("gpt3-2.6b")), sc.solve(problem)
