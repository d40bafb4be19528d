/* Declarations shared by the library's own parts; not installed. */
#ifndef TILECACHE_PRIVATE_H
#define TILECACHE_PRIVATE_H

#include <stddef.h>

/* Stores the text of tilecache_last_error() for this thread, without its middle if it does not fit. */
__attribute__((visibility("hidden"))) void ctilecache_set_last_error(const char *text, size_t byte_count);

/* Whether this thread is in a trace's write function, with the recorder's lock held. */
__attribute__((visibility("hidden"))) int ctilecache_is_writing_trace(void);
__attribute__((visibility("hidden"))) void ctilecache_set_writing_trace(int is_writing);

#endif
