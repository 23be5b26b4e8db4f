// The machine that runs a launch: every CUDA thread a fiber, fibers switched inside one system thread.
//
// A Machine is one system thread with its queue of ready fibers. All blocks of a launch share one machine, except under
// the thread sanitizer, where every block has its own. A fiber leaves the processor when it waits (barrier, warp
// operation), when its time slice ends (fuel) or when it is done, and switches straight to the next ready one.
#pragma once

#include <atomic>
#include <cstring>
#include <vector>

#include "fiber.hpp"
#include "interface.hpp"

namespace simt {

struct Block;
struct Machine;

struct Place {
    const char* file = nullptr;
    int line = 0;
    bool operator==(const Place& other) const;
};

enum class State { ready, waiting, done };

struct Fiber {
    Self self;
    Context context;
    Block* block;
    State state;
    bool slow;            // under a seed: seldom chosen, so that others get far ahead of it
    Place place;          // where it waits, or where it was last seen
    // The warp operation or barrier it waits in, and what it gets out of it.
    Op op;
    u32 mask;
    u64 value;
    u32 source;
    int width;
    u64 result;
    int predicate;
    // The sanitizers' view of the fiber.
    char* stack;
    std::size_t stack_bytes;
    void* fake_stack;
    void* tsan;
    unsigned warp_syncs;
    char clocks[2];
    bool fenced;
    const volatile void* last_atomic;
};

struct Warp {
    Fiber* lanes[32];
    u32 present;  // lanes that exist and have not returned from the kernel
    u32 waiting;  // lanes that wait in a warp operation
};

struct Block {
    Index3 index;
    std::vector<Fiber*> fibers;
    std::vector<Warp> warps;
    unsigned live;
    unsigned arrived;     // threads that wait at the barrier
    Fiber* first;         // the first of them
    char* dynamic_shared;
    char* saved_shared;   // its __shared__ arrays while another block has the processor
    unsigned barriers;    // passed so far
    char clocks[2];       // addresses for the thread sanitizer: barriers take turns, or a late riser would see too much
};

struct Launch {
    const Entry* entry;
    Index3 grid;
    Index3 block_size;
    u64 dynamic_bytes;
    void** arguments;
    Options options;
    char* message;
    std::size_t message_bytes;
    std::atomic<bool> failed;
    std::atomic<u64> progress;  // times that a thread of any block left a barrier or the kernel
    u64 deadline;         // nanoseconds of the steady clock
    char start_clock, end_clock;
    std::vector<char*> garbage;  // dynamic shared arrays, freed when nothing of the launch runs any more
};

struct Machine {
    Launch* launch;
    Fiber main;           // the system thread's own stack
    Fiber* running;
    std::vector<Fiber*> ready;  // a ring
    std::size_t head, count;
    std::vector<Block*> blocks; // alive
    Block* loaded;        // whose __shared__ arrays are in place
    bool swaps;           // several blocks share the arrays
    bool block_done;
    u64 random;
    u64 idle;             // switches since a thread of this machine last left a barrier or the kernel
    u64 progress;         // of the launch, when this machine last spun up to the limit
    u64 switches;
};

// The machine of this system thread. Never inlined: a fiber may wake up in another thread than it fell asleep in.
Machine& current();

void made_progress(Machine& m);
u64 now();
u64 next_random(Machine& m);
void push_ready(Machine& m, Fiber* fiber);
void reschedule();           // leave the processor; returns when somebody made this fiber ready again
void report(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
void describe_waiting(Machine& m, char* out, std::size_t bytes, bool spinning);
const char* op_name(Op op);
u64 block_number(const Launch& launch, const Index3& block);
unsigned thread_number(const Fiber& fiber);
void leave_barrier(Block& block);  // after an arrival or a return: lets all go if all are there
void check_warp_exit(Fiber& fiber);

Fiber* take_fiber();
void give_fiber(Fiber* fiber);
void forget_fiber(Fiber* fiber);   // its stack holds a kernel that will never return
void switch_fiber(Fiber& from, Fiber& to);

void let_others_run(u64 idle);  // what a launch spins for may be done by another device, which needs a core
void watch(Launch* launch);  // null: the launch is over

// memcpy and memset that no sanitizer looks into: they pass over the redzones between a kernel's shared arrays. Where
// none is there to look they are the C library's: blocks whose threads take turns are copied at every switch.
[[maybe_unused]] static inline void copy_bytes(char* to, const char* from, std::size_t bytes) {
#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
    std::size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        *reinterpret_cast<volatile u64*>(to + i) = *reinterpret_cast<const volatile u64*>(from + i);
    for (; i < bytes; ++i) reinterpret_cast<volatile char*>(to)[i] = from[i];
#else
    std::memcpy(to, from, bytes);
#endif
}
[[maybe_unused]] static inline void poison(char* at, std::size_t bytes) {
#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
    for (std::size_t i = 0; i < bytes; ++i) reinterpret_cast<volatile char*>(at)[i] = static_cast<char>(0xcb);
#else
    std::memset(at, 0xcb, bytes);
#endif
}

}  // namespace simt
