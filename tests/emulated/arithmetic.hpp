// Integer intrinsics, min and max, and loads and stores with a cache hint.
#pragma once

SIMT_INLINE int __popc(unsigned value) { return __builtin_popcount(value); }
SIMT_INLINE int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
SIMT_INLINE int __ffs(int value) { return __builtin_ffs(value); }
SIMT_INLINE int __ffsll(long long value) { return __builtin_ffsll(value); }
SIMT_INLINE int __clz(int value) { return value ? __builtin_clz(static_cast<unsigned>(value)) : 32; }
SIMT_INLINE int __clzll(long long value) {
    return value ? __builtin_clzll(static_cast<unsigned long long>(value)) : 64;
}

SIMT_INLINE unsigned __brev(unsigned value) {
    value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
    value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
    value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(value);
}
SIMT_INLINE unsigned long long __brevll(unsigned long long value) {
    const unsigned long long low = __brev(static_cast<unsigned>(value));
    return low << 32 | __brev(static_cast<unsigned>(value >> 32));
}

// Position of the offset-th set bit counted from `base`, upwards (offset > 0) or downwards; ~0u where there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (offset == 0) return mask >> base & 1u ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step)
        if (mask >> bit & 1u && --left == 0) return static_cast<unsigned>(bit);
    return ~0u;
}

SIMT_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
    unsigned result = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned choice = selector >> 4 * k & 15u;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (choice & 7u)) & 255u;
        if (choice & 8u) byte = byte & 128u ? 255u : 0u;
        result |= byte << 8 * k;
    }
    return result;
}

SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31u) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31u));
}
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

// The overloads of CUDA's math functions: mixed signs go to the unsigned type, other mixtures are ambiguous.
#define SIMT_MIN_MAX(result, first, second)                                                                      \
    SIMT_INLINE result min(first a, second b) {                                                                  \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
    }                                                                                                            \
    SIMT_INLINE result max(first a, second b) {                                                                  \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b) : static_cast<result>(a); \
    }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned, unsigned, unsigned)
SIMT_MIN_MAX(unsigned, int, unsigned)
SIMT_MIN_MAX(unsigned, unsigned, int)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, long long)
SIMT_MIN_MAX(float, float, float)
SIMT_MIN_MAX(double, double, double)
#undef SIMT_MIN_MAX

// Loads: a hint to the cache is nothing here, but each is a place where the thread may be preempted. __ldcg, __ldcv and
// their stores go to where other blocks see them and are used for that: relaxed atomics to the thread sanitizer. __ldg
// and __ldcs promise that nobody writes, so they stay plain and a write beside them is a race.
#define SIMT_PLAIN_LOAD(name)                                            \
    template <class T>                                                   \
    SIMT_INLINE T name(const T* address, SIMT_PLACE) {                   \
        ::simt::hook(file, line);                                        \
        return *address;                                                 \
    }
SIMT_PLAIN_LOAD(__ldg)
SIMT_PLAIN_LOAD(__ldcs)
SIMT_PLAIN_LOAD(__ldca)
SIMT_PLAIN_LOAD(__ldlu)
#undef SIMT_PLAIN_LOAD

namespace simt {

template <class T>
SIMT_INLINE T load_relaxed(const T* address, const char* file, int line) {
    hook(file, line);
    if constexpr (sizeof(T) <= 8) {
        T value;
        __atomic_load(const_cast<T*>(address), &value, __ATOMIC_RELAXED);
        simt_atomic_load(address);
        return value;
    } else {
        return *address;
    }
}

template <class T>
SIMT_INLINE void store_relaxed(T* address, T value, const char* file, int line) {
    hook(file, line);
    if constexpr (sizeof(T) <= 8) {
        simt_atomic_store(address);
        __atomic_store(address, &value, __ATOMIC_RELAXED);
    } else {
        *address = value;
    }
}

}  // namespace simt

template <class T>
SIMT_INLINE T __ldcg(const T* address, SIMT_PLACE) { return ::simt::load_relaxed(address, file, line); }
template <class T>
SIMT_INLINE T __ldcv(const T* address, SIMT_PLACE) { return ::simt::load_relaxed(address, file, line); }
template <class T>
SIMT_INLINE void __stcg(T* address, T value, SIMT_PLACE) { ::simt::store_relaxed(address, value, file, line); }
template <class T>
SIMT_INLINE void __stwt(T* address, T value, SIMT_PLACE) { ::simt::store_relaxed(address, value, file, line); }
template <class T>
SIMT_INLINE void __stcs(T* address, T value, SIMT_PLACE) {
    ::simt::hook(file, line);
    *address = value;
}
