// Preemption at every load and store: the kernels of the preempting build are compiled with -fsanitize=thread but not
// linked with the sanitizer. What the compiler calls before each access is here, and only ends a time slice now and then.
#include "interface.hpp"

namespace {

inline void hook() {
    if (__builtin_expect(--simt::fuel < 0, 0)) simt_yield(nullptr, 0);
}

}  // namespace

#define ACCESS(name) \
    void name(void*) { hook(); }
#define ACCESSES(size)                \
    ACCESS(__tsan_read##size)         \
    ACCESS(__tsan_write##size)        \
    ACCESS(__tsan_unaligned_read##size) \
    ACCESS(__tsan_unaligned_write##size) \
    ACCESS(__tsan_volatile_read##size)  \
    ACCESS(__tsan_volatile_write##size)

// Atomics have their hook in atomics.hpp, which knows file and line: here is just the operation.
#define ATOMICS(bits, type)                                                                                    \
    type __tsan_atomic##bits##_load(const volatile type* a, int) { return __atomic_load_n(a, __ATOMIC_RELAXED); } \
    void __tsan_atomic##bits##_store(volatile type* a, type v, int) { __atomic_store_n(a, v, __ATOMIC_RELAXED); } \
    type __tsan_atomic##bits##_exchange(volatile type* a, type v, int) {                                       \
        return __atomic_exchange_n(a, v, __ATOMIC_RELAXED);                                                    \
    }                                                                                                          \
    type __tsan_atomic##bits##_fetch_add(volatile type* a, type v, int) {                                      \
        return __atomic_fetch_add(a, v, __ATOMIC_RELAXED);                                                     \
    }                                                                                                          \
    type __tsan_atomic##bits##_fetch_sub(volatile type* a, type v, int) {                                      \
        return __atomic_fetch_sub(a, v, __ATOMIC_RELAXED);                                                     \
    }                                                                                                          \
    type __tsan_atomic##bits##_fetch_and(volatile type* a, type v, int) {                                      \
        return __atomic_fetch_and(a, v, __ATOMIC_RELAXED);                                                     \
    }                                                                                                          \
    type __tsan_atomic##bits##_fetch_or(volatile type* a, type v, int) {                                       \
        return __atomic_fetch_or(a, v, __ATOMIC_RELAXED);                                                      \
    }                                                                                                          \
    type __tsan_atomic##bits##_fetch_xor(volatile type* a, type v, int) {                                      \
        return __atomic_fetch_xor(a, v, __ATOMIC_RELAXED);                                                     \
    }                                                                                                          \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type* a, type* e, type v, int, int) {           \
        return __atomic_compare_exchange_n(a, e, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                \
    }                                                                                                          \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type* a, type* e, type v, int, int) {             \
        return __atomic_compare_exchange_n(a, e, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                \
    }

extern "C" {

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void*, unsigned long) { hook(); }
void __tsan_write_range(void*, unsigned long) { hook(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long long)
}
