// A test entry: links are woken, by all threads of the launch (kernels/base/wake.cuh).
#include "kernels/base/wake.cuh"

KERNEL void wake(Part part, const u64* bases, u64 at, u64 words) { wake_links(part, bases, at, words, thread_id()); }
ENTRY(wake)
