// Barriers and warp operations: who waits for whom, what each gets, and the reports of those who wait in vain.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine.hpp"

#if defined(SIMT_TSAN)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace simt {

namespace {

constexpr u64 NOBODY = 0xdeadbeefdeadbeefull;  // what a shuffle from a lane outside the mask gives

constexpr const char* NAMES[] = {
    "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
    "__syncwarp", "__ballot_sync", "__any_sync", "__all_sync",
    "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__match_any_sync", "__match_all_sync",
    "__reduce_add_sync", "__reduce_min_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_max_sync",
    "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync",
};
static_assert(sizeof NAMES / sizeof *NAMES == static_cast<std::size_t>(Op::operations));

bool is_barrier(Op op) { return op <= Op::barrier_or; }

void happens_before([[maybe_unused]] char* clock) {
#if defined(SIMT_TSAN)
    __tsan_release(clock);
#endif
}
void happens_after([[maybe_unused]] char* clock) {
#if defined(SIMT_TSAN)
    __tsan_acquire(clock);
#endif
}

// After its own arrival completed an operation: go on, or under a seed let anybody go first.
void completed(Machine& m, Fiber* fiber) {
    fiber->state = State::ready;
    if (m.launch->options.seed == 0) return;
    push_ready(m, fiber);
    reschedule();
}

void release_barrier(Machine& m, Block& block, const Fiber* last) {
    unsigned set = 0;
    for (const Fiber* fiber : block.fibers) set += fiber->state == State::waiting && fiber->value != 0;
    for (Fiber* fiber : block.fibers) {
        if (fiber->state != State::waiting) continue;
        switch (fiber->op) {
            case Op::barrier_count: fiber->result = set; break;
            case Op::barrier_and: fiber->result = set == block.live; break;
            case Op::barrier_or: fiber->result = set != 0; break;
            default: fiber->result = 0;
        }
        if (fiber != last) push_ready(m, fiber);
    }
    block.arrived = 0;
    ++block.barriers;
    made_progress(m);
}

// Lane that a shuffle reads, the own one where the segment ends.
unsigned source_lane(const Fiber& fiber) {
    const unsigned lane = fiber.self.lane, width = static_cast<unsigned>(fiber.width), first = lane & ~(width - 1);
    switch (fiber.op) {
        case Op::shuffle: return first + (fiber.source & (width - 1));
        case Op::shuffle_up: return lane - first >= fiber.source ? lane - fiber.source : lane;
        case Op::shuffle_down: return lane - first + fiber.source < width ? lane + fiber.source : lane;
        default: return (lane ^ fiber.source) < first + width ? lane ^ fiber.source : lane;
    }
}

u64 reduce(const Warp& warp, u32 mask, Op op) {
    u64 total = 0;
    bool any = false;
    for (u32 left = mask; left != 0; left &= left - 1) {
        const u64 value = warp.lanes[__builtin_ctz(left)]->value;
        const auto sign = [](u64 bits) { return static_cast<int>(bits); };
        const auto bare = [](u64 bits) { return static_cast<u32>(bits); };
        if (!any) total = value;
        else switch (op) {
            case Op::add: total += value; break;
            case Op::min_unsigned: total = std::min(bare(total), bare(value)); break;
            case Op::max_unsigned: total = std::max(bare(total), bare(value)); break;
            case Op::min_signed: total = static_cast<u64>(std::min(sign(total), sign(value))); break;
            case Op::max_signed: total = static_cast<u64>(std::max(sign(total), sign(value))); break;
            case Op::bit_and: total &= value; break;
            case Op::bit_or: total |= value; break;
            default: total ^= value;
        }
        any = true;
    }
    return total;
}

u32 equal_lanes(const Warp& warp, u32 mask, u64 value) {
    u32 equal = 0;
    for (u32 left = mask; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        equal |= u32{warp.lanes[lane]->value == value} << lane;
    }
    return equal;
}

u32 voters(const Warp& warp, u32 mask) { return mask & ~equal_lanes(warp, mask, 0); }

// What every lane of the mask gets.
u64 result_of_all(const Warp& warp, u32 mask, Op op) {
    switch (op) {
        case Op::warp_sync: return 0;
        case Op::ballot: return voters(warp, mask);
        case Op::any: return voters(warp, mask) != 0;
        case Op::all: return voters(warp, mask) == mask;
        default: return reduce(warp, mask, op);
    }
}

bool is_own(Op op) { return op >= Op::shuffle && op <= Op::match_all; }

// What a lane gets of an operation that gives each its own.
u64 result_of(const Warp& warp, Fiber& fiber) {
    const u32 mask = fiber.mask;
    switch (fiber.op) {
        case Op::shuffle: case Op::shuffle_up: case Op::shuffle_down: case Op::shuffle_xor: {
            const unsigned from = source_lane(fiber);
            return mask >> from & 1u ? warp.lanes[from]->value : NOBODY;
        }
        case Op::match_any: return equal_lanes(warp, mask, fiber.value);
        default:
            fiber.predicate = equal_lanes(warp, mask, fiber.value) == mask;
            return fiber.predicate ? mask : 0;
    }
}

void check_arrival(const Warp& warp, const Fiber& fiber, const char* file, int line) {
    const char* name = op_name(fiber.op);
    if (!(fiber.mask >> fiber.self.lane & 1u))
        simt_fail(file, line, "%s: mask 0x%08x does not name the calling lane %u", name, fiber.mask, fiber.self.lane);
    if (fiber.mask & ~warp.present)
        simt_fail(file, line, "%s: mask 0x%08x names lanes 0x%08x, which have returned from the kernel or never existed",
                  name, fiber.mask, fiber.mask & ~warp.present);
    const int width = fiber.width;
    if (width < 1 || width > 32 || (width & (width - 1)))
        simt_fail(file, line, "%s: width %d is no power of two up to 32", name, width);
    // Of the lanes in the mask one is enough: they have met each other, and wait for the same.
    const u32 met = warp.waiting & fiber.mask;
    for (u32 left = (warp.waiting & ~fiber.mask) | (met & -met); left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const Fiber& other = *warp.lanes[lane];
        const bool meets = (other.mask >> fiber.self.lane & 1u) || (fiber.mask >> lane & 1u);
        if (meets && (other.op != fiber.op || other.mask != fiber.mask || !(other.place == fiber.place)))
            simt_fail(file, line, "divergent %s with mask 0x%08x: lane %u waits for this lane in %s with mask 0x%08x at %s:%d",
                      name, fiber.mask, lane, op_name(other.op), other.mask, other.place.file, other.place.line);
    }
}

}  // namespace

bool Place::operator==(const Place& other) const {
    return line == other.line && (file == other.file || (file && other.file && std::strcmp(file, other.file) == 0));
}

const char* op_name(Op op) { return NAMES[static_cast<int>(op)]; }

unsigned thread_number(const Fiber& fiber) {
    const Index3 thread = fiber.self.thread, size = fiber.self.block_size;
    return (thread.z * size.y + thread.y) * size.x + thread.x;
}

void leave_barrier(Block& block) {
    if (block.arrived != 0 && block.arrived == block.live) release_barrier(current(), block, nullptr);
}

void check_warp_exit(Fiber& fiber) {
    const unsigned number = thread_number(fiber);
    Warp& warp = fiber.block->warps[number / 32];
    warp.present &= ~(1u << fiber.self.lane);
    for (u32 left = warp.waiting; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const Fiber& other = *warp.lanes[lane];
        if (other.mask >> fiber.self.lane & 1u)
            simt_fail(other.place.file, other.place.line,
                      "the thread returned from the kernel, but lane %u waits for it in %s with mask 0x%08x", lane,
                      op_name(other.op), other.mask);
    }
}

void describe_waiting(Machine& m, char* out, std::size_t bytes, bool spinning) {
    struct Group {
        const Fiber* example;
        unsigned count;
    };
    std::vector<Group> groups;
    const auto same = [](const Fiber& a, const Fiber& b) {
        if (a.block != b.block || a.state != b.state || !(a.place == b.place)) return false;
        return a.state != State::waiting || (a.op == b.op && (is_barrier(a.op) || a.mask == b.mask));
    };
    for (const Block* block : m.blocks)
        for (const Fiber* fiber : block->fibers) {
            if (fiber->state == State::done || (fiber->state == State::ready && !spinning)) continue;
            auto group = std::find_if(groups.begin(), groups.end(), [&](auto& g) { return same(*g.example, *fiber); });
            if (group == groups.end()) groups.push_back({fiber, 1});
            else ++group->count;
        }
    std::size_t used = 0;
    out[0] = 0;
    for (const auto& [fiber, count] : groups) {
        if (used + 256 > bytes) break;
        char what[64] = "run or spin";
        if (fiber->state == State::waiting && is_barrier(fiber->op))
            std::snprintf(what, sizeof what, "wait at %s", op_name(fiber->op));
        else if (fiber->state == State::waiting)
            std::snprintf(what, sizeof what, "wait at %s(0x%08x)", op_name(fiber->op), fiber->mask);
        used += static_cast<std::size_t>(std::snprintf(
            out + used, 256, " %u thread(s) of block %llu (thread %u first) %s, %.128s:%d;", count,
            block_number(*m.launch, fiber->self.block), thread_number(*fiber), what,
            fiber->place.file ? fiber->place.file : "(start)", fiber->place.line));
    }
}

}  // namespace simt

using namespace simt;

extern "C" {

int simt_barrier(Op op, int predicate, const char* file, int line) {
    Machine& m = current();
    Fiber& fiber = *m.running;
    Block& block = *fiber.block;
    fiber.op = op;
    fiber.place = {file, line};
    fiber.value = predicate != 0;
    if (block.arrived != 0 && (block.first->op != op || !(block.first->place == fiber.place)))
        simt_fail(file, line, "divergent %s: thread %u waits in %s at %s:%d", op_name(op), thread_number(*block.first),
                  op_name(block.first->op), block.first->place.file, block.first->place.line);
    if (block.arrived == 0) block.first = &fiber;
    ++block.arrived;
    fiber.state = State::waiting;
    char* clock = &block.clocks[block.barriers % 2];
    happens_before(clock);
    if (block.arrived == block.live) {
        release_barrier(m, block, &fiber);
        completed(m, &fiber);
    } else {
        reschedule();
    }
    happens_after(clock);
    return static_cast<int>(fiber.result);
}

u64 simt_warp(Op op, u32 mask, u64 value, u32 source, int width, int* predicate, const char* file, int line) {
    Machine& m = current();
    Fiber& fiber = *m.running;
    Warp& warp = fiber.block->warps[thread_number(fiber) / 32];
    fiber.op = op;
    fiber.place = {file, line};
    fiber.mask = mask;
    fiber.value = value;
    fiber.source = source;
    fiber.width = width;
    check_arrival(warp, fiber, file, line);
    Fiber& leader = *warp.lanes[__builtin_ctz(mask)];
    char* clock = &leader.clocks[leader.warp_syncs % 2];
    if (op == Op::warp_sync) happens_before(clock);
    warp.waiting |= 1u << fiber.self.lane;
    fiber.state = State::waiting;
    if ((warp.waiting & mask) == mask) {
        const u64 common = is_own(op) ? 0 : result_of_all(warp, mask, op);
        for (u32 left = mask; left != 0; left &= left - 1) {
            Fiber& lane = *warp.lanes[__builtin_ctz(left)];
            lane.result = is_own(op) ? result_of(warp, lane) : common;
        }
        warp.waiting &= ~mask;
        if (op == Op::warp_sync) ++leader.warp_syncs;
        for (u32 left = mask; left != 0; left &= left - 1)
            if (warp.lanes[__builtin_ctz(left)] != &fiber) push_ready(m, warp.lanes[__builtin_ctz(left)]);
        completed(m, &fiber);
    } else {
        reschedule();
    }
    if (op == Op::warp_sync) happens_after(clock);
    if (predicate != nullptr) *predicate = fiber.predicate;
    return fiber.result;
}
}
