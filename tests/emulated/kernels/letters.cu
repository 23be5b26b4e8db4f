// A test entry, one warp: which of the letters [i * LETTER_WORDS, ...) have come, of meeting `number`, and what is in
// them (peers/meeting.cuh).
#include "algorithms/bfs/gpu/peers/meeting.cuh"

KERNEL void letters_come(const u64* letters, u64 count, u64 number, u32* come, u64* values) {
    for (u64 i = 0; i < count; ++i) {
        u64 word;
        const bool all = is_there(letters + i * LETTER_WORDS, LETTER_FIELDS, number, word);
        const u64 value = field_of(word);
        if (lane_id() == 0) come[i] = all;
        if (all && lane_id() < LETTER_FIELDS) values[i * LETTER_FIELDS + lane_id()] = value;
    }
}
ENTRY(letters_come)

// A test entry, one warp: leaves the values in a letter.
KERNEL void letters_leave(u64* letter, const u64* values, u64 number) {
    leave(letter, LETTER_FIELDS, lane_id() < LETTER_FIELDS ? values[lane_id()] : 0, number);
}
ENTRY(letters_leave)
