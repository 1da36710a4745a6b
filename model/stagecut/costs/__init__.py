"""Where cost tables come from: measured layer profiles and analytic models."""

from stagecut.costs.collectives import Link
from stagecut.costs.profile import Cluster, Layer, LayerProfile
from stagecut.costs.tables import max_successors, stage_problem

__all__ = ["Cluster", "Layer", "LayerProfile", "Link", "max_successors", "stage_problem"]
