// An order of the vertices that has nothing to do with their ids.
#pragma once
#include "kernels/base/platform.cuh"

// A hash of v; different for any two ids of 32 bits.
DEVICE u32 chance(vid v) {
    u32 h = (u32)v;
#if ID_BITS == 64
    h ^= (u32)(v >> 32) * 0x9e3779b1u;
#endif
    h = (h ^ (h >> 16)) * 0x7feb352du;
    return (h ^ (h >> 15)) * 0x846ca68bu;
}
