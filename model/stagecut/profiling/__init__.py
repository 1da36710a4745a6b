"""Layer profiles by measurement: run a model's blocks and time them."""

from stagecut.profiling.torch_blocks import profile_torch

__all__ = ["profile_torch"]
