// The first forest by id without a forest: who is above a vertex follows from the head table alone.
//
// A vertex with edges is below its first head if that has a smaller id (cc_plant). Where vertices are by degree, nearly
// all are two or three such steps below the first hubs, whose heads every multiprocessor has in its cache: the way up
// is shorter than a pass over a forest that was stored before. In a graph whose ways are long somebody else has to
// find the roots.
#pragma once
#include "kernels/rows/heads.cuh"

// Steps up, at most.
constexpr u32 STEPS_UP = 24;

// Vertices that a lane asks for before it waits for one.
constexpr u32 CLIMBERS = 4;

// The vertex above `at`, which has edges; `at` itself if it is a root.
DEVICE vid above_by_id(const Adjacency& a, vid at) {
    const vid first = head(a, at, 0);
    return first < at ? first : at;
}

// The root of `at`, whose parent is `above`; whose way ends at `giant` is known to be there. Sets `deep` if it is
// farther away.
DEVICE vid top(const Adjacency& a, vid at, vid above, vid giant, bool& deep) {
    u32 steps = 0;
    while (above != at && above != giant) {
        if (++steps > STEPS_UP) {
            deep = true;
            break;
        }
        at = above;
        above = above_by_id(a, at);
    }
    return above;
}
