"""Which devices torch can use."""

from __future__ import annotations

from typing import Any

import torch

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Devices


def devices(argument: dict[str, Any], channel: Channel) -> None:
    """Send the names of the CUDA devices that work; asks CUDA, so only in a fresh process."""
    channel.phase("look for devices")
    names = []
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            torch.zeros(1, device=f"cuda:{index}")
            names.append(torch.cuda.get_device_name(index))
    channel.send(Devices(tuple(names)))
