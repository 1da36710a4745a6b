"""Where cost tables come from: measured layer profiles and analytic models."""

from stagecut.costs.architecture import TransformerSpec
from stagecut.costs.blocks import LatentAttention, MixtureOfExperts
from stagecut.costs.collectives import Link
from stagecut.costs.devices import DEVICES, Device, device
from stagecut.costs.memory import max_successors, stage_bytes
from stagecut.costs.pooled import pooled
from stagecut.costs.profile import Cluster, Layer, LayerProfile
from stagecut.costs.tables import stage_problem
from stagecut.costs.transfers import transfer_seconds
from stagecut.costs.transformer import transformer_profile

__all__ = [
    "DEVICES",
    "Cluster",
    "Device",
    "LatentAttention",
    "Layer",
    "LayerProfile",
    "Link",
    "MixtureOfExperts",
    "TransformerSpec",
    "device",
    "max_successors",
    "pooled",
    "stage_bytes",
    "stage_problem",
    "transfer_seconds",
    "transformer_profile",
]
