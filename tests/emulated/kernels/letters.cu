// A test entry: which of the letters [i * LETTER_WORDS, ...) have come, of meeting `number` (peers/meeting.cuh).
#include "algorithms/bfs/gpu/peers/meeting.cuh"

KERNEL void letters_come(const u64* letters, u64 count, u64 number, u32* come) {
    for (u64 i = thread_id(); i < count; i += thread_count()) come[i] = has_come(letters + i * LETTER_WORDS, number);
}
ENTRY(letters_come)
