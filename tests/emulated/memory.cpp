// "Device" memory: guarded on both sides and filled with poison.
//
// Under the address sanitizer malloc's own redzones are the guards. Elsewhere each allocation has 128 bytes of a pattern
// on both sides, which are checked after every launch: that finds stores past an end, not loads.
#include <sys/types.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "interface.hpp"

namespace {

constexpr unsigned char POISON = 0xcb, GUARD = 0xa7;
#if defined(SIMT_ASAN)
constexpr std::size_t MARGIN = 0;
#else
constexpr std::size_t MARGIN = 256;
#endif

std::mutex lock;
std::map<unsigned char*, std::size_t> allocations;

bool intact(const unsigned char* begin) {
    return MARGIN == 0 || (begin[0] == GUARD && std::memcmp(begin, begin + 1, MARGIN - 1) == 0);
}

}  // namespace

extern "C" {

void* simt_malloc(std::size_t bytes) {
    void* base = nullptr;
    if (posix_memalign(&base, 256, bytes + 2 * MARGIN + (bytes + MARGIN == 0)) != 0) return nullptr;
    auto* memory = static_cast<unsigned char*>(base) + MARGIN;
    std::memset(memory - MARGIN, GUARD, MARGIN);
    std::memset(memory, POISON, bytes);
    std::memset(memory + bytes, GUARD, MARGIN);
    const std::lock_guard guard(lock);
    allocations[memory] = bytes;
    return memory;
}

void simt_free(void* address) {
    auto* memory = static_cast<unsigned char*>(address);
    {
        const std::lock_guard guard(lock);
        allocations.erase(memory);
    }
    std::free(memory - MARGIN);
}

// Number of the damaged side (1: before, 2: behind) of some allocation, whose address and size are stored; else 0.
int simt_check_guards(void** address, std::size_t* bytes) {
    const std::lock_guard guard(lock);
    for (const auto& [memory, size] : allocations) {
        const int side = !intact(memory - MARGIN) ? 1 : !intact(memory + size) ? 2 : 0;
        if (side == 0) continue;
        std::memset(memory - MARGIN, GUARD, MARGIN);
        std::memset(memory + size, GUARD, MARGIN);
        *address = memory;
        *bytes = size;
        return side;
    }
    return 0;
}
}
