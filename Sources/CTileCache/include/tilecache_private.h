/* What the library's own parts share; not installed. */
#ifndef TILECACHE_PRIVATE_H
#define TILECACHE_PRIVATE_H

#include <stddef.h>

/* Keeps a sentence for tilecache_last_error() on this thread, cut to what fits. */
__attribute__((visibility("hidden"))) void ctilecache_set_last_error(const char *text, size_t byte_count);

/* Whether this thread is inside of a trace's write function, where the recorder's lock is held. */
__attribute__((visibility("hidden"))) int ctilecache_is_writing_trace(void);
__attribute__((visibility("hidden"))) void ctilecache_set_writing_trace(int is_writing);

#endif
