"""OpenCL devices."""

from __future__ import annotations

import dataclasses
import os

from lugpu import _core


@dataclasses.dataclass(frozen=True)
class Device:
    """What a driver says of its device; sizes in bytes."""

    index: int
    platform: str
    platform_version: str
    name: str
    driver_version: str
    device_version: str
    type: str  # "cpu", "gpu", "accelerator" or "other"
    compute_units: int
    clock_mhz: int
    global_memory: int
    max_allocation: int
    local_memory: int
    max_work_group: int
    double_precision: bool
    images: bool


def devices() -> list[Device]:
    """Every OpenCL device of this machine; empty where there is none.

    >>> import lugpu
    >>> [device.index for device in lugpu.devices()][:1]
    [0]
    """
    return [Device(**facts) for facts in _core.devices()]


def device_text(device: int | str | Device | None) -> str:
    """A device as the library and the program take it: an index, part of a name, or empty."""
    if device is None:
        return os.environ.get("LUGPU_DEVICE", "")
    return str(device.index if isinstance(device, Device) else device)
