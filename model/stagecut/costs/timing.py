"""Seconds of one layer on a tensor-parallel group: a roofline, and the alpha-beta model.

Symbols: ``t`` devices in the group. Sources: Williams, Waterman and Patterson, "Roofline", 2009;
Shoeybi et al., "Megatron-LM", 2019, section 3, for what is reduced; Thakur et al., 2005, for how
long that takes.
"""

from dataclasses import dataclass

from stagecut.costs.collectives import Link
from stagecut.costs.devices import Device
from stagecut.costs.work import LayerWork, Recompute


@dataclass(frozen=True, slots=True)
class LayerTiming:
    """Times of layers on one kind of device.

    Parameters
    ----------
    device
        The device.
    precision
        Precision of the matrix products, one that the device has a figure for.
    efficiency
        Share of the peak FLOP/s that matrix products reach, in (0, 1].
    recompute
        What the backward pass does again.
    devices_per_host
        Largest group inside one host; a larger one pays the link between hosts.
    """

    device: Device
    precision: str
    efficiency: float
    recompute: Recompute
    devices_per_host: int

    def forward_seconds(self, work: LayerWork, degree: int) -> float:
        """Return the time of the forward pass on ``degree`` devices."""
        return (
            self._local_seconds(work.flops, work.moved_bytes, degree)
            + self._reductions(work, work.forward_reductions, degree)
            + self._exchanges(work, degree)
        )

    def backward_seconds(self, work: LayerWork, degree: int) -> float:
        """Return the time of the backward pass: twice the products, and what is done again."""
        again = work.kind in ("decoder", "mtp")
        flops = 2 * work.flops
        seconds = self._reductions(work, work.backward_reductions, degree) + self._exchanges(
            work, degree
        )
        if again and self.recompute == "full":
            seconds += self.forward_seconds(work, degree)
        if again and self.recompute == "selective":
            flops += work.attention_flops
        return seconds + self._local_seconds(flops, 2 * work.moved_bytes, degree)

    def _local_seconds(self, flops: float, moved_bytes: float, degree: int) -> float:
        """Return the longer of computing and moving, each shared evenly by the group."""
        compute = flops / (self.device.flops(self.precision) * self.efficiency)
        memory = moved_bytes / self.device.memory_bandwidth
        return max(compute, memory) / degree

    def _link(self, degree: int) -> Link:
        within = degree <= self.devices_per_host
        return self.device.intra_host if within else self.device.inter_host

    def _reductions(self, work: LayerWork, count: int, degree: int) -> float:
        return count * self._link(degree).all_reduce_seconds(work.reduction_bytes, degree)

    def _exchanges(self, work: LayerWork, degree: int) -> float:
        """Experts are spread over the group, which holds ``1 / t`` of the tokens on each device."""
        share = work.exchange_bytes / degree
        return work.exchanges * self._link(degree).all_to_all_seconds(share, degree)
