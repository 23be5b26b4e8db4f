// Fibers: stacks with a guard page, kept for reuse, and the switch with what the sanitizers want to be told about it.
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "machine.hpp"

#if defined(SIMT_ASAN)
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** old_bottom, std::size_t* old_size);
void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
}
#elif defined(SIMT_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

#ifndef SIMT_UCONTEXT
asm(R"(
    .text
    .globl simt_switch_stack
    .hidden simt_switch_stack
    .type simt_switch_stack, @function
simt_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size simt_switch_stack, . - simt_switch_stack
)");
#endif

namespace simt {

namespace {

#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
constexpr std::size_t STACK = 256 << 10;
#else
constexpr std::size_t STACK = 64 << 10;
#endif

std::mutex pool_lock;
std::vector<Fiber*> pool;

void arrive([[maybe_unused]] Fiber& fiber) {
#if defined(SIMT_ASAN)
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fiber.fake_stack, &bottom, &bytes);
    Fiber& main = current().main;
    if (main.stack == nullptr) {  // the first switch of a launch leaves the system thread's own stack
        main.stack = static_cast<char*>(const_cast<void*>(bottom));
        main.stack_bytes = bytes;
    }
#endif
}

// The body of every fiber: one kernel thread after another, for the life of the process.
void run_kernels() {
    arrive(*current().running);
    for (;;) {
        Machine& m = current();
        Fiber& fiber = *m.running;
#if defined(SIMT_TSAN)
        __tsan_acquire(&m.launch->start_clock);
#endif
        m.launch->entry->invoke(m.launch->arguments);
#if defined(SIMT_TSAN)
        __tsan_release(&m.launch->end_clock);
#endif
        Block& block = *fiber.block;
        made_progress(m);
        check_warp_exit(fiber);
        fiber.state = State::done;
        --block.live;
        if (block.live == 0) m.block_done = true;
        else leave_barrier(block);
        reschedule();
    }
}

void give_stack(Fiber& fiber) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, STACK + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
        std::perror("simt: no memory for a fiber's stack");
        std::abort();
    }
    fiber.stack = static_cast<char*>(memory) + page;
    fiber.stack_bytes = STACK;
}

}  // namespace

Fiber* take_fiber() {
    Fiber* fiber = nullptr;
    {
        const std::lock_guard guard(pool_lock);
        if (!pool.empty()) {
            fiber = pool.back();
            pool.pop_back();
        }
    }
    if (fiber == nullptr) {
        fiber = new Fiber{};
        give_stack(*fiber);
        make_context(fiber->context, fiber->stack, fiber->stack_bytes, run_kernels);
#if defined(SIMT_TSAN)
        fiber->tsan = __tsan_create_fiber(0);
#endif
    }
    return fiber;
}

void give_fiber(Fiber* fiber) {
    const std::lock_guard guard(pool_lock);
    pool.push_back(fiber);
}

void forget_fiber(Fiber* fiber) {
#if defined(SIMT_ASAN)
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
    fiber->fake_stack = nullptr;
#elif defined(SIMT_TSAN)
    // What the thread did comes before whatever follows the launch.
    __tsan_switch_to_fiber(fiber->tsan, 1);
    __tsan_release(&current().launch->end_clock);
    __tsan_switch_to_fiber(current().main.tsan, 1);
    __tsan_destroy_fiber(fiber->tsan);
    fiber->tsan = __tsan_create_fiber(0);
#endif
    make_context(fiber->context, fiber->stack, fiber->stack_bytes, run_kernels);
    give_fiber(fiber);
}

void let_others_run(u64 idle) {
    if (idle < 1024) {
        sched_yield();
    } else {
        const timespec pause = {0, 50'000};
        nanosleep(&pause, nullptr);
    }
}

void switch_fiber(Fiber& from, Fiber& to) {
    self = &to.self;
#if defined(SIMT_ASAN)
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#elif defined(SIMT_TSAN)
    __tsan_switch_to_fiber(to.tsan, 1);  // 1: the switch orders nothing between the two
#endif
    switch_context(from.context, to.context);
    arrive(from);
}

}  // namespace simt

#if defined(SIMT_TSAN)
extern "C" {

void simt_fence() {
    simt::Fiber& fiber = *simt::current().running;
    if (fiber.last_atomic != nullptr) __tsan_acquire(const_cast<void*>(fiber.last_atomic));
    fiber.fenced = true;
}

void simt_atomic_load(const volatile void* address) { simt::current().running->last_atomic = address; }

void simt_atomic_store(const volatile void* address) {
    simt::Fiber& fiber = *simt::current().running;
    if (fiber.fenced) __tsan_release(const_cast<void*>(address));
    fiber.fenced = false;
}
}
#endif
