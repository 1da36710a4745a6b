"""Measured profiles of small PyTorch models: bytes counted by hand, state left as it was."""

import time

import numpy as np
import pytest

import stagecut as sc
from stagecut.costs import Cluster, Link, stage_problem

torch = pytest.importorskip("torch")
nn = torch.nn

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("default")]

TWO = Cluster(1, 2, 8e9, Link(1e9), Link(1e9))


class Residual(nn.Module):
    """A decoder layer without attention, with dropout."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden):
        return hidden + self.drop(self.down(nn.functional.gelu(self.up(self.norm(hidden)))))


def transformer(width=32, layers=3, vocabulary=50):
    torch.manual_seed(0)
    encoder = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
    return nn.Sequential(
        nn.Embedding(vocabulary, width),
        encoder,
        *(Residual(width) for _ in range(layers)),
        nn.Linear(width, vocabulary),
    )


TOKENS = torch.arange(4 * 16).reshape(4, 16) % 50


def test_a_small_transformer_becomes_a_profile_that_plans(tmp_path):
    model = transformer()
    kinds = ["embedding", *["decoder"] * 4, "head"]
    profile = sc.profile_torch(
        model, TOKENS, cluster=TWO, num_microbatches=8, kinds=kinds, repeats=5
    )
    assert [layer.name for layer in profile.layers] == ["0", "1", "2", "3", "4", "5"]
    assert [layer.kind for layer in profile.layers] == kinds
    assert (profile.micro_batch, profile.degrees) == (4, (1,))
    for layer in profile.layers:
        assert layer.forward_seconds[1] > 0
        assert layer.backward_seconds[1] > 0
        assert layer.spread_seconds[1] >= 0
    held = sum(layer.parameter_bytes for layer in profile.layers)
    assert held == 4 * sum(parameter.numel() for parameter in model.parameters())
    # Adam in 32 bits: 16 bytes for a parameter of 4.
    assert profile.state_factor == 4
    # 4 sequences of 16 tokens of 32 numbers of 4 bytes; the head sends nothing on.
    assert [layer.boundary_bytes for layer in profile.layers] == [8192.0] * 5 + [0]
    sc.save_profile(profile, tmp_path / "profile.json")
    assert sc.load_profile(tmp_path / "profile.json") == profile
    problem = sc.load_problem(tmp_path / "profile.json", robustness=1)
    result = sc.solve(problem)
    assert result.status is sc.Status.OPTIMAL
    plain = problem.replace(robustness=0)
    assert sc.stress(plain, result.plan, seed=1) is not None


def test_saved_bytes_by_hand():
    # 8 x 4 numbers of 4 bytes. The linear layer keeps its input; the sigmoid its output, which is
    # the next layer's input; the last layer its input, and its output is left out too.
    model = nn.Sequential(nn.Linear(4, 6), nn.Sigmoid(), nn.Linear(6, 2))
    first, second, third = sc.profile_torch(model, torch.ones(8, 4)).layers
    assert first.activation_bytes == 8 * 4 * 4
    assert second.activation_bytes == 8 * 6 * 4
    assert third.activation_bytes == 8 * 6 * 4
    assert first.parameter_bytes == 4 * (4 * 6 + 6)
    # Exp keeps its result within the block; the sum after it keeps nothing more.
    inner = sc.profile_torch([Twice()], torch.ones(8, 4)).layers[0]
    assert inner.activation_bytes == 3 * 8 * 4 * 4


def test_saved_bytes_of_the_blocks_are_those_of_the_whole():
    model = transformer()
    held = []
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda one: held.append(one) or one, lambda x: x
    )
    with hooks:
        model(TOKENS)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in held}
    whole = sum(size for address, size in storages.items() if address not in own)
    blocks = sum(
        layer.activation_bytes for layer in sc.profile_torch(model, TOKENS, repeats=1).layers
    )
    # Inputs of sums are held by a stage that begins there, and not saved inside one.
    assert whole <= blocks <= 1.1 * whole


class Twice(nn.Module):
    """Keeps two inner results (of exp, and of tanh); the sine keeps tanh's, which counts once."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, value):
        return (value * self.scale).exp().tanh().sin()


def test_the_model_is_left_as_it_was():
    model = transformer()
    model.insert(2, nn.BatchNorm1d(16))
    model[3].eval()
    loss = model(TOKENS).sum()
    loss.backward()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    modes = [child.training for child in model.modules()]
    random = torch.random.get_rng_state()
    tokens = TOKENS.clone()
    sc.profile_torch(model, TOKENS, repeats=2)
    after = model.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())
    pairs = zip(model.parameters(), gradients, strict=True)
    assert all(torch.equal(parameter.grad, gradient) for parameter, gradient in pairs)
    assert [child.training for child in model.modules()] == modes
    assert torch.equal(torch.random.get_rng_state(), random)
    assert torch.equal(TOKENS, tokens)


def test_blocks_that_overwrite_their_input_and_pass_several_tensors():
    class Pair(nn.Module):
        def forward(self, left, right):
            return left + right, right

    model = {"act": nn.ReLU(inplace=True), "lin": nn.Linear(4, 4)}
    sample = -torch.ones(2, 4)
    profile = sc.profile_torch(model, sample)
    assert [layer.name for layer in profile.layers] == ["act", "lin"]
    assert profile.layers[0].backward_seconds[1] == 0
    assert torch.equal(sample, -torch.ones(2, 4))
    chain = nn.ModuleList([Pair(), Pair()])
    both = sc.profile_torch(chain, (torch.ones(2, 4), torch.ones(2, 4)))
    assert both.layers[0].boundary_bytes == 2 * 2 * 4 * 4


class Wait(torch.autograd.Function):
    """Hands the value on, 20 ms forward and 10 ms backward."""

    @staticmethod
    def forward(ctx, value):
        time.sleep(0.02)
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.01)
        return gradient


class Waiting(nn.Linear):
    """Waits, and longer in its first runs and in each fifth one."""

    calls = 0

    def forward(self, value):
        self.calls += 1
        if self.calls <= 3 or self.calls % 5 == 0:
            time.sleep(0.3)
        return Wait.apply(super().forward(value))


def test_times_are_medians_with_a_spread():
    model = Waiting(2, 2)
    layer = sc.profile_torch([model], torch.ones(1, 2), warmup=2, repeats=10).layers[0]
    assert model.calls == 1 + 2 + 10
    assert 0.02 <= layer.forward_seconds[1] < 0.15
    assert 0.01 <= layer.backward_seconds[1] < 0.15
    # Two of the ten runs waited for 0.3 s more: the ninth tenth of them is such a run.
    assert 0.2 < layer.spread_seconds[1] < 0.6


def test_inference_takes_no_gradients():
    model = transformer()
    with torch.no_grad():
        trained = sc.profile_torch(model, TOKENS, repeats=2)
    assert trained.layers[1].backward_seconds[1] > 0
    profile = sc.profile_torch(model, TOKENS, schedule="inference", repeats=2)
    assert profile.state_factor == 1
    for layer in profile.layers:
        assert (layer.backward_seconds[1], layer.activation_bytes) == (0, 0)


def test_without_a_cluster_the_device_itself():
    profile = sc.profile_torch([nn.Linear(4, 4)], torch.ones(2, 4), tensor_parallel_degree=2)
    assert (profile.cluster.num_devices, profile.degrees) == (1, (2,))
    assert profile.cluster.memory_bytes > 1e8
    assert profile.layers[0].parameter_bytes == 2 * 4 * 20
    half = sc.profile_torch([nn.Linear(4, 4).bfloat16()], torch.ones(2, 4).bfloat16())
    assert half.state_factor == 8


@pytest.mark.parametrize(
    ("model", "sample", "options", "words"),
    [
        ([], torch.ones(2), {}, "model must hold at least one block, got none"),
        (nn.Linear(2, 2), torch.ones(2), {}, "model must be an nn.Sequential, .* got Linear"),
        ([1], torch.ones(2), {}, r"model\['0'\] must be a module, got int"),
        ([nn.ReLU()], [1.0], {}, "sample must be a tensor or a tuple of tensors, got float"),
        ([nn.ReLU()], (), {}, "sample must be a tensor .* got none"),
        ([nn.ReLU()], torch.tensor(1.0), {}, "sample must have samples in its first dimension"),
        ([nn.ReLU()], torch.ones(2), {"repeats": 0}, "repeats must be an integer of at least 1"),
        ([nn.ReLU()], torch.ones(2), {"warmup": -1}, "warmup must be an integer"),
        ([nn.ReLU()], torch.ones(2), {"kinds": []}, r"kinds must name one kind per block \(1\)"),
        ([nn.ReLU()], torch.ones(2), {"kinds": ["x"]}, "kind must be one of"),
        ([nn.ReLU()], torch.ones(2), {"schedule": "x"}, "schedule must be one of"),
        (
            [nn.Linear(2, 3), nn.Linear(2, 3)],
            torch.ones(4, 2),
            {},
            r"model\['1'\] fails on the output of the block before it: mat1 and mat2",
        ),
        (
            [nn.LSTM(2, 3)],
            torch.ones(4, 2),
            {},
            r"model\['0'\] must return a tensor or a tuple of tensors, got Tensor, tuple",
        ),
    ],
)
def test_bad_arguments_are_named_in_one_line(model, sample, options, words):
    with pytest.raises(sc.ProblemError, match=words) as caught:
        sc.profile_torch(model, sample, **options)
    assert "\n" not in str(caught.value)


def test_spreads_become_the_problems_cost_spread():
    model = [nn.Linear(64, 64) for _ in range(3)]
    profile = sc.profile_torch(model, torch.ones(8, 64), cluster=TWO, repeats=5)
    problem = stage_problem(profile)
    spreads = [layer.spread_seconds[1] for layer in profile.layers]
    np.testing.assert_allclose(problem.cost_spread[0, 2, 0, 0], sum(spreads))
    np.testing.assert_allclose(problem.cost_spread[0, 2, 1, 0], sum(spreads) / 2)
