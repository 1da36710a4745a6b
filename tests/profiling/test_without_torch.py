"""What measuring says where PyTorch is not installed, and what spreads do in a profile."""

import sys

import numpy as np
import pytest

import stagecut as sc
from stagecut.costs import Cluster, Layer, LayerProfile, Link, stage_problem


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(sc.UnsupportedError, match=r"pip install 'stagecut\[torch\]'"):
        sc.profile_torch([], None)


def profile(*spreads):
    layers = [
        Layer(f"block.{k}", "decoder", {1: 1.0, 2: 0.6}, {1: 2.0, 2: 1.2}, spread_seconds=spread)
        for k, spread in enumerate(spreads)
    ]
    return LayerProfile("blocks", "by hand", layers, Cluster(1, 2, 8e9, Link(1), Link(1)), 2, 4)


def test_spreads_add_up_and_shrink_with_the_replicas():
    problem = stage_problem(profile({1: 0.1, 2: 0.05}, {1: 0.2, 2: 0.07}))
    # [0, 1] on one device; on two, as two replicas or as one group.
    np.testing.assert_allclose(problem.cost_spread[0, 1], [[0.3, 0.0], [0.15, 0.12]])
    again = stage_problem(profile({1: 0.1, 2: 0.05}, {1: 0.2, 2: 0.07}), cost_spread=None)
    assert again.cost_spread is None


def test_one_unknown_spread_leaves_all_unknown():
    assert stage_problem(profile({1: 0.1, 2: 0.05}, None)).cost_spread is None


def test_a_spread_is_kept_in_files_and_checked(tmp_path):
    written = profile({1: 0.1, 2: 0.05}, None)
    sc.save_profile(written, tmp_path / "profile.json")
    assert sc.load_profile(tmp_path / "profile.json") == written
    with pytest.raises(sc.ProblemError, match="forward_seconds and spread_seconds must name the"):
        profile({1: 0.1})
    with pytest.raises(sc.ProblemError, match=r"spread_seconds\[1\] must be seconds >= 0, got -1"):
        profile({1: -1.0, 2: 0.0})
