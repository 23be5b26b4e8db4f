"""Rules by which small graphs see every phase of a search over several GPUs: costs that no device has."""

from __future__ import annotations

from dataclasses import replace

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from emulated.peers import Peers

UPWARDS = Tuning(costs=Costs(0, 0, 10**6, 0), defer_from_mapped=0, defer_from_vram=0, thin_to=0)
TURNS = Tuning(costs=Costs(300, 10, 30, 100), slots=5, thin_to=2)
RULES = {
    "auto": Peers(2, head_groups=2),
    "bottom-up": Peers(3, mapped=True, hot_bytes=900, tuning=UPWARDS),
    "turns": Peers(
        4,
        "ranges",
        head_groups=0,
        capacity=5,
        tuning=Tuning(costs=Costs(300, 10, 10, 100), slots=5, defer_from_vram=2, wide=0, thin_to=0),
    ),
    "top-down": Peers(5, "ranges", mapped=True, hot_bytes=500, bottom_up=False, capacity=64),
    "marks": Peers(
        3, head_groups=0, tuning=Tuning(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=10**9, slots=3, thin_to=0)
    ),
    "marks and bits": Peers(
        4,
        "ranges",
        mapped=True,
        head_groups=2,
        tuning=Tuning(costs=Costs(0, 60, 10**6, 0, 0, 9, 9), wide=10**9, thin_to=0),
    ),
    "whole": Peers(3, head_groups=2, whole=True),
    "whole, bottom-up": Peers(2, together=16, whole=True, tuning=replace(UPWARDS, alike=10**9)),
    "whole, marks": Peers(
        3,
        together=16,
        head_groups=0,
        whole=True,
        tuning=Tuning(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=10**9, slots=3, thin_to=0, alike=10**9),
    ),
    "whole, marks and bits": Peers(
        2,
        together=16,
        head_groups=2,
        whole=True,
        tuning=Tuning(costs=Costs(0, 60, 10**6, 0, 0, 9, 9), wide=10**9, thin_to=0, alike=10**9),
    ),
    "whole, mixed": Peers(
        3,
        together=16,
        head_groups=1,
        whole=True,
        tuning=Tuning(costs=Costs(0, 0, 10**6, 1000, 0, 10**6, 0, 1), wide=10**9, thin_to=0, alike=10**9),
    ),
    "whole, turns": Peers(4, head_groups=0, whole=True, tuning=TURNS),
    "whole, alike": Peers(3, together=4, whole=True, tuning=UPWARDS),
    "whole, alike in turn": Peers(2, together=16, head_groups=0, whole=True, tuning=replace(TURNS, alike=2)),
    "in order": Peers(
        2, mapped=True, hot_bytes=4000, bottom_up=False, head_groups=4, tuning=Tuning(sort_from=3, thin_to=0)
    ),
}
