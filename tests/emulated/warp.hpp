// Barriers of a block and the _sync functions of a warp.
#pragma once

SIMT_INLINE void __syncthreads(SIMT_PLACE) { simt_barrier(::simt::Op::barrier, 0, file, line); }
SIMT_INLINE int __syncthreads_count(int predicate, SIMT_PLACE) {
    return simt_barrier(::simt::Op::barrier_count, predicate, file, line);
}
SIMT_INLINE int __syncthreads_and(int predicate, SIMT_PLACE) {
    return simt_barrier(::simt::Op::barrier_and, predicate, file, line);
}
SIMT_INLINE int __syncthreads_or(int predicate, SIMT_PLACE) {
    return simt_barrier(::simt::Op::barrier_or, predicate, file, line);
}

// Only the caller itself: a valid answer in CUDA too, where convergence is promised by nothing but the _sync functions.
SIMT_INLINE unsigned __activemask() { return 1u << ::simt::self->lane; }

SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, SIMT_PLACE) {
    simt_warp(::simt::Op::warp_sync, mask, 0, 0, 32, nullptr, file, line);
}
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<unsigned>(simt_warp(::simt::Op::ballot, mask, predicate != 0, 0, 32, nullptr, file, line));
}
SIMT_INLINE int __any_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<int>(simt_warp(::simt::Op::any, mask, predicate != 0, 0, 32, nullptr, file, line));
}
SIMT_INLINE int __all_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<int>(simt_warp(::simt::Op::all, mask, predicate != 0, 0, 32, nullptr, file, line));
}

namespace simt {

template <class T>
SIMT_INLINE T exchange(Op op, unsigned mask, T value, unsigned source, int width, const char* file, int line) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = simt_warp(op, mask, bits, source, width, nullptr, file, line);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace simt

#define SIMT_SHUFFLE(name, op, type, source)                                                         \
    SIMT_INLINE type name(unsigned mask, type value, source from, int width = 32, SIMT_PLACE) {      \
        return ::simt::exchange(::simt::Op::op, mask, value, static_cast<unsigned>(from), width, file, line); \
    }
#define SIMT_SHUFFLES(type)                                      \
    SIMT_SHUFFLE(__shfl_sync, shuffle, type, int)                \
    SIMT_SHUFFLE(__shfl_up_sync, shuffle_up, type, unsigned)     \
    SIMT_SHUFFLE(__shfl_down_sync, shuffle_down, type, unsigned) \
    SIMT_SHUFFLE(__shfl_xor_sync, shuffle_xor, type, int)
SIMT_SHUFFLES(int)
SIMT_SHUFFLES(unsigned)
SIMT_SHUFFLES(long)
SIMT_SHUFFLES(unsigned long)
SIMT_SHUFFLES(long long)
SIMT_SHUFFLES(unsigned long long)
SIMT_SHUFFLES(float)
SIMT_SHUFFLES(double)
#undef SIMT_SHUFFLES
#undef SIMT_SHUFFLE

template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value, SIMT_PLACE) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    ::simt::u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return static_cast<unsigned>(simt_warp(::simt::Op::match_any, mask, bits, 0, 32, nullptr, file, line));
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate, SIMT_PLACE) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    ::simt::u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return static_cast<unsigned>(simt_warp(::simt::Op::match_all, mask, bits, 0, 32, predicate, file, line));
}

#define SIMT_REDUCE(name, op, type)                                                                          \
    SIMT_INLINE type name(unsigned mask, type value, SIMT_PLACE) {                                           \
        const auto bits = static_cast<::simt::u64>(static_cast<long long>(value));                           \
        return static_cast<type>(simt_warp(::simt::Op::op, mask, bits, 0, 32, nullptr, file, line));         \
    }
SIMT_REDUCE(__reduce_add_sync, add, unsigned)
SIMT_REDUCE(__reduce_add_sync, add, int)
SIMT_REDUCE(__reduce_min_sync, min_unsigned, unsigned)
SIMT_REDUCE(__reduce_min_sync, min_signed, int)
SIMT_REDUCE(__reduce_max_sync, max_unsigned, unsigned)
SIMT_REDUCE(__reduce_max_sync, max_signed, int)
SIMT_REDUCE(__reduce_and_sync, bit_and, unsigned)
SIMT_REDUCE(__reduce_or_sync, bit_or, unsigned)
SIMT_REDUCE(__reduce_xor_sync, bit_xor, unsigned)
#undef SIMT_REDUCE
