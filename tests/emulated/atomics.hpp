// Atomics (relaxed, as in CUDA), fences, sleeping and the clock. The overloads are those of CUDA, no more.
#pragma once

namespace simt {

template <class T, class Change>
SIMT_INLINE T atomic_update(T* address, const char* file, int line, Change change) {
    hook(file, line);
    simt_atomic_store(address);
    T seen = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &seen, change(seen), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    simt_atomic_load(address);
    return seen;
}

}  // namespace simt

#define SIMT_FETCH(name, builtin, type)                                    \
    SIMT_INLINE type name(type* address, type value, SIMT_PLACE) {         \
        ::simt::hook(file, line);                                          \
        simt_atomic_store(address);                                        \
        const type old = builtin(address, value, __ATOMIC_RELAXED);        \
        simt_atomic_load(address);                                         \
        return old;                                                        \
    }
#define SIMT_FETCH_3(name, builtin)                                        \
    SIMT_FETCH(name, builtin, int)                                         \
    SIMT_FETCH(name, builtin, unsigned)                                    \
    SIMT_FETCH(name, builtin, unsigned long long)
SIMT_FETCH_3(atomicAdd, __atomic_fetch_add)
SIMT_FETCH(atomicSub, __atomic_fetch_sub, int)
SIMT_FETCH(atomicSub, __atomic_fetch_sub, unsigned)
SIMT_FETCH_3(atomicAnd, __atomic_fetch_and)
SIMT_FETCH_3(atomicOr, __atomic_fetch_or)
SIMT_FETCH_3(atomicXor, __atomic_fetch_xor)
SIMT_FETCH_3(atomicExch, __atomic_exchange_n)
#undef SIMT_FETCH_3
#undef SIMT_FETCH

#define SIMT_EXTREME(name, type, better)                                                                      \
    SIMT_INLINE type name(type* address, type value, SIMT_PLACE) {                                            \
        return ::simt::atomic_update(address, file, line, [=](type old) { return value better old ? value : old; }); \
    }
#define SIMT_EXTREME_4(name, better)           \
    SIMT_EXTREME(name, int, better)            \
    SIMT_EXTREME(name, unsigned, better)       \
    SIMT_EXTREME(name, long long, better)      \
    SIMT_EXTREME(name, unsigned long long, better)
SIMT_EXTREME_4(atomicMin, <)
SIMT_EXTREME_4(atomicMax, >)
#undef SIMT_EXTREME_4
#undef SIMT_EXTREME

SIMT_INLINE unsigned atomicInc(unsigned* address, unsigned limit, SIMT_PLACE) {
    return ::simt::atomic_update(address, file, line, [=](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
SIMT_INLINE unsigned atomicDec(unsigned* address, unsigned limit, SIMT_PLACE) {
    return ::simt::atomic_update(address, file, line,
                                 [=](unsigned old) { return old == 0u || old > limit ? limit : old - 1u; });
}

#define SIMT_CAS(type)                                                                                           \
    SIMT_INLINE type atomicCAS(type* address, type expected, type desired, SIMT_PLACE) {                         \
        ::simt::hook(file, line);                                                                                \
        simt_atomic_store(address);                                                                              \
        __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);     \
        simt_atomic_load(address);                                                                               \
        return expected;                                                                                         \
    }
SIMT_CAS(int)
SIMT_CAS(unsigned)
SIMT_CAS(unsigned long long)
SIMT_CAS(unsigned short)
#undef SIMT_CAS

SIMT_INLINE void __threadfence() { simt_fence(); }
SIMT_INLINE void __threadfence_block() { simt_fence(); }
SIMT_INLINE void __threadfence_system() { simt_fence(); }
SIMT_INLINE void __nanosleep(unsigned, SIMT_PLACE) { simt_yield(file, line); }
SIMT_INLINE long long clock64() { return simt_clock(); }
