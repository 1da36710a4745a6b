"""What every test may ask for: published profiles, and how many random examples to draw."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

settings.register_profile(
    "default",
    max_examples=int(os.environ.get("STAGECUT_EXAMPLES", "100")),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with published profiles and reference answers, beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder of published profiles beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def midsize_count() -> int:
    """How many mid-size problems to solve with both engines; the full set is 200."""
    return int(os.environ.get("STAGECUT_MIDSIZE", "8"))
