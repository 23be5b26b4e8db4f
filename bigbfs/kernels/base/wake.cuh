// Links between GPUs that nobody has used for a while sleep: those of an H200 after 50 ms (nvidia-smi nvlink
// -gLowPwrInfo), and to wake them takes 0.1 ms (docs/notebook/several-gpus-whole.md).
#pragma once
#include "kernels/base/part.cuh"

// Words of 64 bits in a line.
constexpr u64 LINE = 16;

// Lane i of all that call it stores one word in every 16 into the memory of every other GPU, `words` of 64 bits at
// `at`, for whose contents nobody asks. From many blocks, since a store to a link that sleeps holds up those behind it.
DEVICE void wake_links(const Part& part, const u64* bases, u64 at, u64 words, u64 i) {
    if (i * LINE >= words) return;
    for (u64 r = 0; r < part.size; ++r) {
        if (r != part.rank) relaxed_store((u64*)(bases[r] + at) + i * LINE, (u64)0);
    }
}
