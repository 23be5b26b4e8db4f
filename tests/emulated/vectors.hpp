// dim3 and the built-in vector types, with CUDA's alignment (a misaligned vector load is an error there as here).
#pragma once

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

#define SIMT_VECTOR(type, base, bytes2, bytes4)                                                   \
    struct alignas(bytes2) type##2 { base x, y; };                                                \
    struct alignas(bytes4) type##4 { base x, y, z, w; };                                          \
    SIMT_INLINE type##2 make_##type##2(base x, base y) { return {x, y}; }                         \
    SIMT_INLINE type##4 make_##type##4(base x, base y, base z, base w) { return {x, y, z, w}; }

SIMT_VECTOR(char, signed char, 2, 4)
SIMT_VECTOR(uchar, unsigned char, 2, 4)
SIMT_VECTOR(short, short, 4, 8)
SIMT_VECTOR(ushort, unsigned short, 4, 8)
SIMT_VECTOR(int, int, 8, 16)
SIMT_VECTOR(uint, unsigned int, 8, 16)
SIMT_VECTOR(float, float, 8, 16)
SIMT_VECTOR(longlong, long long, 16, 16)
SIMT_VECTOR(ulonglong, unsigned long long, 16, 16)
#undef SIMT_VECTOR

struct uint3 {
    unsigned x, y, z;
};
