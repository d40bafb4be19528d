// 64 lanes of 32 bits, each a chain of (lane ^ word) x odd and a shift: every step can be undone, so a change in one
// word of a lane is never lost. The lanes are independent, which is what lets it run at the speed of memory.
#include <string.h>

#include "CTileKernels.h"
#include "dispatch.h"
#include "rows.h"

// Vectors as the compiler makes them for whatever the target has.
typedef uint32_t words __attribute__((vector_size(32)));

enum { vectors = 8, block = vectors * 32 };

TK_INLINE void mix_block(words lanes[vectors], const uint8_t *bytes) {
    for (int k = 0; k < vectors; k++) {
        words w;
        memcpy(&w, bytes + 32 * k, 32);
        w = (lanes[k] ^ w) * 0x9e3779b1u;
        lanes[k] = w ^ (w >> 15);
    }
}

TK_INLINE uint64_t checksum(const uint8_t *bytes, size_t count, uint64_t seed) {
    words lanes[vectors];
    for (int k = 0; k < vectors; k++) {
        for (int i = 0; i < 8; i++) lanes[k][i] = 0x85ebca77u * (uint32_t)(8 * k + i + 1);
    }
    size_t at = 0;
    for (; at + block <= count; at += block) mix_block(lanes, bytes + at);
    if (at < count) {
        uint8_t last[block] = {0};
        memcpy(last, bytes + at, count - at);
        mix_block(lanes, last);
    }
    uint64_t hash = (seed ^ count) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    for (int k = 0; k < vectors; k++) {
        for (int i = 0; i < 8; i += 2) {
            hash = (hash ^ ((uint64_t)lanes[k][i] | (uint64_t)lanes[k][i + 1] << 32)) * 0xc2b2ae3d27d4eb4fu;
            hash ^= hash >> 29;
        }
    }
    return hash;
}

static uint64_t checksum_portable(const uint8_t *bytes, size_t count, uint64_t seed) {
    return checksum(bytes, count, seed);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t checksum_avx2(const uint8_t *bytes, size_t count, uint64_t seed) {
    return checksum(bytes, count, seed);
}
#endif

uint64_t tk_checksum(tk_path path, const uint8_t *bytes, size_t count, uint64_t seed) {
#if defined(__x86_64__)
    if (tk_use_avx2(path)) return checksum_avx2(bytes, count, seed);
#endif
    (void)path;
    return checksum_portable(bytes, count, seed);
}
