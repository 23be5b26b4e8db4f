// How the warps of a launch share the words of a bitmap, 32 vertices each: turn after turn, each warp one of a turn.
//
// In turn k warp w of W takes word (w + 2 k) mod W of those that are due. Were it w each time, of several GPUs to which
// words are dealt in pairs (part.cuh) half the warps would get all own words, or a quarter of them. Several turns are
// looked through before the first is worked on: a lane waits for all its answers at once.
#pragma once
#include "kernels/base/platform.cuh"

// Turns that are looked through at once.
constexpr u32 AT_ONCE = 4;

struct Turns {
    u64 begin;  // the first word of the present turn
    u32 warps;
    u32 place;

    METHOD Turns() : begin(0), warps((u32)(thread_count() / WARP)), place((u32)(thread_id() / WARP)) {}

    // The own word `ahead` turns after the present one, at most AT_ONCE; there are four warps at least.
    METHOD u64 word(u32 ahead) const {
        u32 there = place + 2 * ahead;
        if (there >= warps) there -= warps;
        if (there >= warps) there -= warps;
        return begin + (u64)ahead * warps + there;
    }

    // AT_ONCE turns are over.
    METHOD void go_on() {
        place += 2 * AT_ONCE;
        if (place >= warps) place -= warps;
        if (place >= warps) place -= warps;
        begin += (u64)AT_ONCE * warps;
    }
};
