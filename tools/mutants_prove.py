"""The bugs that tools/mutants.py plants into the proof of the rows (see mutant_list.py)."""

from __future__ import annotations

from mutant import Mutant

PROOF = (
    Mutant(
        "proof: the last lane's id is not compared with the first of the next slot",
        "kernels/proof/rows.cuh",
        "c.lane == WIDTH - 1 ? left : own",
        "own",
    ),
    Mutant(
        "proof: what was read before is forgotten with each load",
        "kernels/proof/rows.cuh",
        "vid left = before;",
        "vid left = j ? before : 0;",
    ),
    Mutant("proof: an id equal to n passes", "kernels/proof/rows.cuh", "largest >= a.n", "largest > a.n"),
    Mutant("proof: a row that nobody counts", "kernels/proof/rows.cuh", "broken || found != ids ||", "broken ||"),
    Mutant(
        "proof: a row one id too long for a thread belongs to nobody",
        "kernels/proof/rows.cuh",
        "__ballot_sync(ALL_LANES, ids > THREAD_IDS && ids <= BLOCK_IDS)",
        "__ballot_sync(ALL_LANES, ids > THREAD_IDS + 1 && ids <= BLOCK_IDS)",
    ),
    Mutant("proof: one bit too many", "kernels/proof/rows.cuh", "c.byte(j) < LAST_LIMIT", "c.byte(j) < 2 * LAST_LIMIT"),
    Mutant(
        "proof: a sum that leaves the range of ids",
        "kernels/proof/rows.cuh",
        "right &= before <= c.ids[j];",
        "right &= before <= c.ids[j] || c.has(j);",
    ),
    Mutant(
        "proof: a row that ends inside a value",
        "kernels/proof/rows.cuh",
        "right &= !(last && c.byte(j) & 0x80);",
        "(void)last;",
    ),
    Mutant(
        "proof: blocks in any order",
        "kernels/proof/rows.cuh",
        "broken |= first_id(a, chunk(a, c + 1, hub)) < largest;",
        "broken |= first_id(a, chunk(a, c + 1, hub)) >= a.n;",
    ),
)
