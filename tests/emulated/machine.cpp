// Scheduling: which fiber runs next, blocks coming and going, deadlocks, livelocks, and the launch itself.
#include "machine.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#if defined(SIMT_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace simt {

thread_local Self* self;
thread_local int fuel;

namespace {

thread_local Machine* machine __attribute__((tls_model("initial-exec")));

constexpr int LONG_SLICE = 1024;      // hooks between two switches when no seed asks for preemption
constexpr u64 WAITS_FOR_OTHERS = 1ull << 60;  // spin limit of one that waits for kernels of other devices
constexpr unsigned MAX_PARALLEL = 48; // blocks on system threads of their own at a time
std::mutex launch_lock;

std::size_t shared_bytes(const Launch& launch) {
    return static_cast<std::size_t>(launch.entry->shared_end - launch.entry->shared_begin);
}

void refuel(Machine& m) {
    const Options& options = m.launch->options;
    fuel = options.seed == 0 ? LONG_SLICE : static_cast<int>(next_random(m) % (2 * options.preempt_every));
}

Fiber* next_ready(Machine& m) {
    const std::size_t ring = m.ready.size();
    if (m.launch->options.seed != 0) {
        for (int tries = 0; tries < 8; ++tries) {
            const std::size_t pick = (m.head + next_random(m) % m.count) % ring;
            std::swap(m.ready[m.head], m.ready[pick]);
            if (!m.ready[m.head]->slow || next_random(m) % 16 == 0) break;
        }
    }
    Fiber* fiber = m.ready[m.head];
    if (++m.head == ring) m.head = 0;
    --m.count;
    return fiber;
}

void load_block(Machine& m, Block* block) {
    if (!m.swaps || block == nullptr || m.loaded == block) return;
    const Entry& entry = *m.launch->entry;
    if (m.loaded != nullptr) copy_bytes(m.loaded->saved_shared, entry.shared_begin, shared_bytes(*m.launch));
    copy_bytes(entry.shared_begin, block->saved_shared, shared_bytes(*m.launch));
    m.loaded = block;
}

void switch_to(Machine& m, Fiber& to) {
    Fiber& from = *m.running;
    if (&from == &to) return;
    load_block(m, to.block);
    m.running = &to;
    switch_fiber(from, to);
}

// Whether the launch is over for the running fiber: it failed elsewhere, spins in vain or takes too long.
bool over(Machine& m) {
    const Options& options = m.launch->options;
    char waiting[1024];
    const u64 progress = m.launch->progress.load(std::memory_order_relaxed);
    if (m.idle > options.spin_limit && progress != m.progress) {
        m.idle = 0;  // blocks on other system threads go on, however slowly: waiting for them is no livelock
        m.progress = progress;
    }
    if (m.idle > options.spin_limit) {
        describe_waiting(m, waiting, sizeof waiting, true);
        report(nullptr, 0, "livelock: no thread left a barrier or the kernel during %llu switches:%s",
               options.spin_limit, waiting);
    }
    if (m.switches % 1024 == 0 && now() > m.launch->deadline) {
        describe_waiting(m, waiting, sizeof waiting, true);
        report(nullptr, 0, "the launch ran for more than %g s:%s", options.seconds, waiting);
    }
    return m.launch->failed;
}

Block* start_block(Machine& m, u64 number) {
    Launch& launch = *m.launch;
    auto* block = new Block{};
    block->index = {static_cast<unsigned>(number % launch.grid.x),
                    static_cast<unsigned>(number / launch.grid.x % launch.grid.y),
                    static_cast<unsigned>(number / launch.grid.x / launch.grid.y)};
    const Index3 size = launch.block_size;
    const unsigned threads = size.x * size.y * size.z;
    block->live = threads;
    block->warps.resize((threads + 31) / 32);
    block->dynamic_shared = static_cast<char*>(std::malloc(launch.dynamic_bytes ? launch.dynamic_bytes : 1));
    poison(block->dynamic_shared, launch.dynamic_bytes);
#if !defined(SIMT_TSAN)
    if (m.swaps) {
        block->saved_shared = static_cast<char*>(std::malloc(shared_bytes(launch)));
        poison(block->saved_shared, shared_bytes(launch));
    } else {
        poison(launch.entry->shared_begin, shared_bytes(launch));
    }
#endif
    constexpr unsigned SHARES[] = {0, 32, 4};  // evenly drawn threads keep step: most races need somebody to lag behind
    const unsigned slow_one_in = launch.options.seed == 0 ? 0 : SHARES[launch.options.seed % 3];
    for (unsigned t = 0; t < threads; ++t) {
        Fiber* fiber = take_fiber();
        fiber->self = {{t % size.x, t / size.x % size.y, t / size.x / size.y}, block->index, size,
                       launch.grid, t % 32, block->dynamic_shared};
        fiber->block = block;
        fiber->state = State::ready;
        fiber->slow = slow_one_in != 0 && next_random(m) % slow_one_in == 0;
        fiber->place = {};
        fiber->fenced = false;
        fiber->last_atomic = nullptr;
        Warp& warp = block->warps[t / 32];
        warp.lanes[t % 32] = fiber;
        warp.present |= 1u << t % 32;
        block->fibers.push_back(fiber);
    }
    m.blocks.push_back(block);
    return block;
}

void end_block(Machine& m, Block* block) {
    for (Fiber* fiber : block->fibers) fiber->state == State::done ? give_fiber(fiber) : forget_fiber(fiber);
    {
        const std::lock_guard guard(launch_lock);
        m.launch->garbage.push_back(block->dynamic_shared);
    }
    std::free(block->saved_shared);
    if (m.loaded == block) m.loaded = nullptr;
    m.blocks.erase(std::find(m.blocks.begin(), m.blocks.end(), block));
    delete block;
}

// Lets the fibers run until a block is done, nobody is ready or the launch has failed.
void run_ready(Machine& m) {
    m.block_done = false;
    if (m.count == 0) return;
    refuel(m);
    switch_to(m, *next_ready(m));
}

void run_blocks(Launch& launch, const std::vector<u64>& numbers, std::size_t resident) {
    Machine m{};
    m.launch = &launch;
    m.random = launch.options.seed * 0x9e3779b97f4a7c15ull + numbers.front() + 1;
    m.running = &m.main;
    m.ready.resize(resident * launch.block_size.x * launch.block_size.y * launch.block_size.z);
    m.swaps = resident > 1 && shared_bytes(launch) > 0;
#if defined(SIMT_TSAN)
    m.main.tsan = __tsan_get_current_fiber();
    launch.entry->touch();
#endif
    machine = &m;
    std::size_t started = 0;
    while (!launch.failed && (started < numbers.size() || !m.blocks.empty())) {
        while (started < numbers.size() && m.blocks.size() < resident) {
            for (Fiber* fiber : start_block(m, numbers[started])->fibers) push_ready(m, fiber);
            ++started;
        }
#if defined(SIMT_TSAN)
        __tsan_release(&launch.start_clock);  // the system thread has made the blocks' shared arrays
#endif
        run_ready(m);
        if (launch.failed) break;
        if (!m.block_done) {
            char waiting[1024];
            describe_waiting(m, waiting, sizeof waiting, false);
            report(nullptr, 0, "deadlock: every thread that has not returned waits:%s", waiting);
        }
        for (std::size_t b = m.blocks.size(); b-- > 0;)
            if (m.blocks[b]->live == 0) end_block(m, m.blocks[b]);
    }
    while (!m.blocks.empty()) end_block(m, m.blocks.back());
    machine = nullptr;
}

struct Task {
    Launch* launch;
    u64 number;
};

[[maybe_unused]] void* run_one_block(void* argument) {
    const Task& task = *static_cast<Task*>(argument);
    run_blocks(*task.launch, {task.number}, 1);
    return nullptr;
}

// Every block on a system thread of its own. All of a wave are created before the first can end, so that creating and
// joining them orders no block before another of its wave.
[[maybe_unused]] void run_parallel(Launch& launch, const std::vector<u64>& numbers) {
    const std::size_t wave = launch.options.resident == 0 ? numbers.size() : MAX_PARALLEL;
    for (std::size_t begin = 0; begin < numbers.size() && !launch.failed; begin += wave) {
        const std::size_t end = std::min(begin + wave, numbers.size());
        std::vector<Task> tasks;
        std::vector<pthread_t> threads(end - begin);
        for (std::size_t i = begin; i < end; ++i) tasks.push_back({&launch, numbers[i]});
        for (std::size_t i = 0; i < tasks.size(); ++i)
            if (pthread_create(&threads[i], nullptr, run_one_block, &tasks[i]) != 0) std::abort();
        for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    }
}

}  // namespace

u64 now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<u64>(time.tv_sec) * 1'000'000'000ull + static_cast<u64>(time.tv_nsec);
}

void made_progress(Machine& m) {
    m.idle = 0;
    m.launch->progress.fetch_add(1, std::memory_order_relaxed);
}

u64 next_random(Machine& m) {  // xorshift64*
    m.random ^= m.random >> 12;
    m.random ^= m.random << 25;
    m.random ^= m.random >> 27;
    return m.random * 0x2545f4914f6cdd1dull >> 16;
}

void push_ready(Machine& m, Fiber* fiber) {
    fiber->state = State::ready;
    const std::size_t at = m.head + m.count, ring = m.ready.size();
    m.ready[at < ring ? at : at - ring] = fiber;
    ++m.count;
}

void reschedule() {
    Machine& m = current();
    ++m.switches;
    if (m.block_done || m.count == 0 || over(m)) {
        switch_to(m, m.main);
    } else {
        refuel(m);
        switch_to(m, *next_ready(m));
    }
}

void report(const char* file, int line, const char* format, ...) {
    Machine& m = current();
    Launch& launch = *m.launch;
    const std::lock_guard guard(launch_lock);
    if (launch.failed) return;
    char what[1536];
    va_list values;
    va_start(values, format);
    std::vsnprintf(what, sizeof what, format, values);
    va_end(values);
    char where[512] = "";
    if (file != nullptr)
        std::snprintf(where, sizeof where, ", %s:%d, block %llu, thread %u", file, line,
                      block_number(launch, m.running->self.block), thread_number(*m.running));
    std::snprintf(launch.message, launch.message_bytes, "kernel %s%s: %s", launch.entry->name, where, what);
    launch.failed = true;
}

[[gnu::noinline]] Machine& current() { return *machine; }

u64 block_number(const Launch& launch, const Index3& block) {
    return (static_cast<u64>(block.z) * launch.grid.y + block.y) * launch.grid.x + block.x;
}

}  // namespace simt

using namespace simt;

extern "C" {

long long simt_clock() { return static_cast<long long>(now()); }

void simt_yield(const char* file, int line) {
    Machine& m = current();
    if (file != nullptr) m.running->place = {file, line};
    if (++m.idle % 64 == 0 && m.launch->options.spin_limit >= WAITS_FOR_OTHERS) let_others_run(m.idle);
    push_ready(m, m.running);
    reschedule();
}

#if defined(SIMT_TSAN)
void simt_hook(const char* file, int line) {
    if (--fuel < 0) simt_yield(file, line);
}
#endif

void simt_fail(const char* file, int line, const char* format, ...) {
    char what[1024];
    va_list values;
    va_start(values, format);
    std::vsnprintf(what, sizeof what, format, values);
    va_end(values);
    report(file, line, "%s", what);
    Machine& m = current();
    switch_to(m, m.main);
    std::abort();
}

int simt_launch(const Entry* entry, const unsigned* grid, const unsigned* block, u64 dynamic_bytes, void** arguments,
                const Options* options, char* message, std::size_t message_bytes) {
    Launch launch{};
    launch.entry = entry;
    launch.grid = {grid[0], grid[1], grid[2]};
    launch.block_size = {block[0], block[1], block[2]};
    launch.dynamic_bytes = dynamic_bytes;
    launch.arguments = arguments;
    launch.options = *options;
    launch.message = message;
    launch.message_bytes = message_bytes;
    launch.deadline = now() + static_cast<u64>(options->seconds * 1e9);
    std::vector<u64> numbers(static_cast<u64>(grid[0]) * grid[1] * grid[2]);
    for (u64 b = 0; b < numbers.size(); ++b) numbers[b] = b;
#if defined(SIMT_TSAN)
    __tsan_release(&launch.start_clock);
    run_parallel(launch, numbers);
    __tsan_acquire(&launch.end_clock);
#else
    if (options->seed != 0) {
        u64 state = options->seed;
        for (u64 b = numbers.size(); b > 1; --b) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(numbers[b - 1], numbers[(state >> 33) % b]);
        }
    }
    const std::size_t resident = options->resident == 0 ? numbers.size() : options->resident;
    watch(&launch);
    run_blocks(launch, numbers, std::min<std::size_t>(resident, numbers.size()));
    watch(nullptr);
#endif
    for (char* array : launch.garbage) std::free(array);
    return launch.failed;
}
}
