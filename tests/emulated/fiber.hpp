// Switch from one stack to another: a context is a stack pointer, everything else lies on the stack it points to.
//
// On x86-64 the switch is written by hand (six registers, about 3 ns; ucontext makes two system calls and takes nine
// times as long). Elsewhere, or with -DSIMT_UCONTEXT, ucontext does it.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define SIMT_UCONTEXT
#endif

#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif

namespace simt {

#ifdef SIMT_UCONTEXT

struct Context {
    ucontext_t state;
};

inline void make_context(Context& context, void* stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = stack;
    context.state.uc_stack.ss_size = bytes;
    context.state.uc_link = nullptr;
    makecontext(&context.state, entry, 0);
}

inline void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

#else

struct Context {
    void* stack_pointer = nullptr;
};

extern "C" void simt_switch_stack(void** save, void* load);

inline void make_context(Context& context, void* stack, std::size_t bytes, void (*entry)()) {
    // A function is entered with its return address at 16k + 8: here a null one, which ends a debugger's back trace.
    void** top = reinterpret_cast<void**>(static_cast<char*>(stack) + bytes);
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(entry);
    for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
    context.stack_pointer = top;
}

inline void switch_context(Context& from, Context& to) { simt_switch_stack(&from.stack_pointer, to.stack_pointer); }

#endif

}  // namespace simt
