#include "tilecache.h"
#include "tilecache_private.h"

#include <string.h>

#define TEXT(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *tilecache_version(void) {
    return VERSION_TEXT(TILECACHE_VERSION_MAJOR, TILECACHE_VERSION_MINOR, TILECACHE_VERSION_PATCH);
}

int32_t tilecache_version_number(void) { return TILECACHE_VERSION_NUMBER; }

const char *tilecache_status_message(tilecache_status status) {
    switch (status) {
    case TILECACHE_OK: return "no error";
    case TILECACHE_ERROR_INVALID_ARGUMENT: return "invalid argument";
    case TILECACHE_ERROR_INVALID_CONFIGURATION: return "invalid configuration";
    case TILECACHE_ERROR_INVALID_PYRAMID: return "invalid pyramid";
    case TILECACHE_ERROR_INVALID_LAYER: return "invalid layer";
    case TILECACHE_ERROR_OUT_OF_MEMORY: return "out of memory";
    case TILECACHE_ERROR_SHUT_DOWN: return "the cache has been shut down";
    case TILECACHE_ERROR_UNSUPPORTED: return "a structure has fields that this version does not know";
    case TILECACHE_ERROR_ALREADY_COMPLETED: return "the request has been completed before";
    case TILECACHE_ERROR_NO_ROOM: return "no room for the tile";
    case TILECACHE_ERROR_TIMED_OUT: return "timed out";
    case TILECACHE_ERROR_NOT_RESIDENT: return "the tile is not decoded now";
    case TILECACHE_ERROR_LIMIT_CLAMPED: return "the limit is too high and was clamped";
    case TILECACHE_ERROR_INVALID_SOURCE: return "no tiles can be opened there";
    case TILECACHE_ERROR_INVALID_STORE: return "no store can be opened there";
    case TILECACHE_ERROR_INVALID_PROFILE: return "no profile of this version, or damaged";
    default: return "unknown status";
    }
}

/* A fixed buffer for each thread: no allocation on the way of an error, nothing to free when a thread ends. */
static _Thread_local char last_error[512];

const char *tilecache_last_error(void) { return last_error; }

/* A text that is too long lacks its middle: long addresses come before or after what was expected. */
void ctilecache_set_last_error(const char *text, size_t byte_count) {
    static const char gap[] = " ... ";
    size_t head = byte_count, tail = byte_count, size;
    if (byte_count > sizeof last_error - 1) {
        head = (sizeof last_error - sizeof gap) / 2;
        tail = byte_count - head;
        /* Whole characters of UTF-8. */
        while (head > 0 && (text[head] & 0xC0) == 0x80) head--;
        while (tail < byte_count && (text[tail] & 0xC0) == 0x80) tail++;
    }
    memcpy(last_error, text, head);
    size = head;
    if (head < byte_count) {
        memcpy(last_error + size, gap, sizeof gap - 1);
        size += sizeof gap - 1;
        memcpy(last_error + size, text + tail, byte_count - tail);
        size += byte_count - tail;
    }
    last_error[size] = 0;
}

static _Thread_local int is_writing_trace;

int ctilecache_is_writing_trace(void) { return is_writing_trace; }

void ctilecache_set_writing_trace(int is_writing) { is_writing_trace = is_writing; }
