"""Public peak figures of accelerators, each with its source.

Figures are dense (without structured sparsity), bandwidths are bytes per second of one device in
one direction (data sheets print the sum of both for NVLink), and a gigabyte is 1e9 bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stagecut.costs.collectives import Link
from stagecut.errors import ProblemError

INTRA_HOST_LATENCY = 3e-6
"""Seconds to start a message within a host: an assumption, no data sheet states it."""

INTER_HOST_LATENCY = 6e-6
"""Seconds to start a message between hosts: an assumption, no data sheet states it."""


@dataclass(frozen=True, slots=True)
class Device:
    """An accelerator and the links of the server that it is usually sold in.

    Parameters
    ----------
    name
        Name with memory size.
    peak_flops
        FLOP/s for each precision, dense.
    memory_bytes
        Device memory.
    memory_bandwidth
        Bytes per second.
    intra_host, inter_host
        Share of one device in the links within a host and between hosts.
    devices_per_host
        Devices in the usual server.
    source
        Where the figures are printed.
    """

    name: str
    peak_flops: Mapping[str, float]
    memory_bytes: float
    memory_bandwidth: float
    intra_host: Link
    inter_host: Link
    devices_per_host: int
    source: str

    def flops(self, precision: str) -> float:
        """Return peak FLOP/s at a precision.

        Raises
        ------
        ProblemError
            If no figure is known for that precision.
        """
        if precision not in self.peak_flops:
            raise ProblemError(
                f"precision must be one of {', '.join(self.peak_flops)} on {self.name}, "
                f"got {precision!r}"
            )
        return self.peak_flops[precision]


def _device(
    name: str,
    teraflops: dict[str, float],
    memory: tuple[float, float],
    links: tuple[float, float],
    source: str,
) -> Device:
    """Memory in GB and GB/s, links within and between hosts in GB/s."""
    return Device(
        name=name,
        peak_flops=MappingProxyType({key: value * 1e12 for key, value in teraflops.items()}),
        memory_bytes=memory[0] * 1e9,
        memory_bandwidth=memory[1] * 1e9,
        intra_host=Link(links[0] * 1e9, INTRA_HOST_LATENCY),
        inter_host=Link(links[1] * 1e9, INTER_HOST_LATENCY),
        devices_per_host=8,
        source=source,
    )


_V100 = {"fp32": 15.7, "fp16": 125.0}
_A100 = {"fp32": 19.5, "tf32": 156.0, "fp16": 312.0, "bf16": 312.0}
_H100 = {"fp32": 67.0, "tf32": 494.5, "fp16": 989.5, "bf16": 989.5, "fp8": 1979.0}

_DEVICES = (
    _device(
        "V100-16GB",
        _V100,
        (16, 900),
        (150, 6.25),
        "NVIDIA V100 data sheet (SXM2); DGX-1 data sheet: 4 x 100 Gb/s InfiniBand for 8 devices",
    ),
    _device(
        "V100-32GB",
        _V100,
        (32, 900),
        (150, 6.25),
        "NVIDIA V100 data sheet (SXM2); DGX-1 data sheet: 4 x 100 Gb/s InfiniBand for 8 devices",
    ),
    _device(
        "A100-40GB",
        _A100,
        (40, 1555),
        (300, 25),
        "NVIDIA A100 data sheet (SXM4); DGX A100 data sheet: 8 x 200 Gb/s InfiniBand for 8 devices",
    ),
    _device(
        "A100-80GB",
        _A100,
        (80, 2039),
        (300, 25),
        "NVIDIA A100 data sheet (SXM4); DGX A100 data sheet: 8 x 200 Gb/s InfiniBand for 8 devices",
    ),
    _device(
        "H100-80GB",
        _H100,
        (80, 3350),
        (450, 50),
        "NVIDIA H100 data sheet (SXM5, halved where printed with sparsity); DGX H100 data sheet: "
        "8 x 400 Gb/s InfiniBand for 8 devices",
    ),
    _device(
        "H200-141GB",
        _H100,
        (141, 4800),
        (450, 50),
        "NVIDIA H200 data sheet (SXM5, halved where printed with sparsity); DGX H200 data sheet: "
        "8 x 400 Gb/s InfiniBand for 8 devices",
    ),
)

DEVICES: Mapping[str, Device] = MappingProxyType({device.name: device for device in _DEVICES})
"""Known devices by name."""


def device(name: str) -> Device:
    """Return a known device.

    ========== ======================== ====== ========= ============= =============
    name       FLOP/s (fp16 dense)      memory memory    within a host between hosts
    ========== ======================== ====== ========= ============= =============
    V100-16GB  125e12                   16 GB  900 GB/s  150 GB/s      6.25 GB/s
    V100-32GB  125e12                   32 GB  900 GB/s  150 GB/s      6.25 GB/s
    A100-40GB  312e12                   40 GB  1555 GB/s 300 GB/s      25 GB/s
    A100-80GB  312e12                   80 GB  2039 GB/s 300 GB/s      25 GB/s
    H100-80GB  989.5e12                 80 GB  3350 GB/s 450 GB/s      50 GB/s
    H200-141GB 989.5e12                 141 GB 4800 GB/s 450 GB/s      50 GB/s
    ========== ======================== ====== ========= ============= =============

    Sources: NVIDIA's data sheets of each device in its SXM form (compute, memory, NVLink halved to
    one direction) and of the DGX server with it (InfiniBand ports shared by 8 devices); the field
    ``source`` names them. Latencies are assumptions.

    Parameters
    ----------
    name
        A name of the table, or one without the memory size for the largest memory
        (``"A100"`` = ``"A100-80GB"``); upper or lower case.

    Raises
    ------
    ProblemError
        If the device is not known.

    Examples
    --------
    >>> device("a100").flops("bf16")
    312000000000000.0
    """
    found = [known for known in _DEVICES if str(name).upper() in (known.name, _family(known))]
    if not found:
        raise ProblemError(f"device must be one of {', '.join(DEVICES)}, got {name!r}")
    return max(found, key=lambda known: known.memory_bytes)


def _family(known: Device) -> str:
    return known.name.partition("-")[0]
