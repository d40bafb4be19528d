/**
 * C interface of TileCache, a predictive tile cache with one hard byte limit.
 *
 * It keeps the tiles that a panning and zooming renderer needs ready in memory, ahead of need. A renderer creates a
 * cache, adds its layers (each with a source of pixels written in C) and creates a view for each viewport. For each
 * frame it calls tilecache_view_update() and tilecache_view_frame() and draws the placements. Docs/C.md is the guide;
 * Examples/CRenderer is a complete program.
 *
 * RULES
 *
 * Status. A function that can fail returns a tilecache_status: TILECACHE_OK, which is 0, or an error, which is larger
 * than 0. tilecache_last_error() then describes what was expected and what was given. Out parameters are written on
 * success only. Every argument is checked, with two exceptions: a pointer that is not NULL must point to an object of
 * its type, and a handle must not be used after it was destroyed or released.
 *
 * Threads. Any function may be called from any thread at any time, also on the same handle, and also from callbacks
 * unless a callback's comment says otherwise. The call that destroys or releases a handle must be the last one on it.
 *
 * Processes. A child of fork() has none of the library's threads. If the parent has created a cache, the child cannot
 * create one: TILECACHE_ERROR_INVALID_CONFIGURATION. It must not use the parent's. fork() followed by exec is safe.
 *
 * Handles. Caches, views, frames, leases, requests, fetches, recorders, stores and profiles are opaque and may be
 * released in any order: each keeps alive what it needs of the others. Releasing NULL does nothing. Layers are numbers.
 *
 * Callbacks. Each is passed with a context pointer, which it receives, and a destroy function, which may be NULL. The
 * library calls destroy once, with the context, on any thread, when it will use neither again; it does not if the
 * function that took the callback failed. No lock of the library is held while a callback runs, unless its comment says
 * so. Callbacks must return: neither exceptions nor longjmp() may leave them.
 *
 * Structures. Most begin with struct_size, which the caller sets to sizeof the structure, for inputs and outputs alike;
 * the _init functions set it and fill in the defaults. Later versions only add fields at the end. A library newer than
 * the program uses the defaults for fields that the program does not have, and does not write them in outputs. A
 * library older than the program ignores unknown fields at the end if they are 0, refuses them with
 * TILECACHE_ERROR_UNSUPPORTED if they are not, and sets them to 0 in outputs. Array elements have no struct_size: a
 * function that takes an array takes the size of an element, too. tilecache_coordinate, tilecache_identity,
 * tilecache_rectangle and tilecache_tile never change.
 *
 * Units. Times are nanoseconds of the system's monotonic clock (CLOCK_MONOTONIC, tilecache_now()). Durations are
 * nanoseconds. Sizes of memory are bytes. World coordinates are pixels of the full resolution, x to the right and y
 * downwards. Numbers must be finite. Booleans are int32_t: 0 is false, every other value is true.
 */
#ifndef TILECACHE_H
#define TILECACHE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Makes a function visible to other libraries, whatever -fvisibility or pragmas hide.
 *
 * Precedes each function. A program may define it before it includes this header.
 */
#ifndef TILECACHE_API
#if defined(__GNUC__)
#define TILECACHE_API __attribute__((visibility("default")))
#else
#define TILECACHE_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ Version, errors */

/** Version of this header: major, minor, patch. */
#define TILECACHE_VERSION_MAJOR 0
#define TILECACHE_VERSION_MINOR 1
#define TILECACHE_VERSION_PATCH 0
/** Version of this header as one number, which increases with each version. */
#define TILECACHE_VERSION_NUMBER \
    (TILECACHE_VERSION_MAJOR * 1000000 + TILECACHE_VERSION_MINOR * 1000 + TILECACHE_VERSION_PATCH)

/** Version of the library at run time, as text ("0.1.0"). Never NULL, valid for ever. */
TILECACHE_API const char *tilecache_version(void);

/** Version of the library at run time, comparable with TILECACHE_VERSION_NUMBER. */
TILECACHE_API int32_t tilecache_version_number(void);

/** Result of a call. */
typedef int32_t tilecache_status;
enum {
    /** Success. */
    TILECACHE_OK = 0,
    /** An argument is NULL, not finite, out of its range, or of another cache. */
    TILECACHE_ERROR_INVALID_ARGUMENT = 1,
    /** A setting of the cache, of texture slots or of pinned tiles is out of its range. */
    TILECACHE_ERROR_INVALID_CONFIGURATION = 2,
    /** The levels do not form a valid pyramid. */
    TILECACHE_ERROR_INVALID_PYRAMID = 3,
    /** A layer's tiles are too large for the byte limit, or one of its options is out of its range. */
    TILECACHE_ERROR_INVALID_LAYER = 4,
    /** The system denied memory or addresses. */
    TILECACHE_ERROR_OUT_OF_MEMORY = 5,
    /** The cache has been shut down. */
    TILECACHE_ERROR_SHUT_DOWN = 6,
    /** A structure has fields set that this version does not support. */
    TILECACHE_ERROR_UNSUPPORTED = 7,
    /** The request was already completed; this completion was counted and ignored. */
    TILECACHE_ERROR_ALREADY_COMPLETED = 8,
    /** There is no room for the tile now. It is requested again if it is still needed. */
    TILECACHE_ERROR_NO_ROOM = 9,
    /** The operation had not ended when the timeout expired. */
    TILECACHE_ERROR_TIMED_OUT = 10,
    /** The tile is not decoded now. */
    TILECACHE_ERROR_NOT_RESIDENT = 11,
    /** The requested limit is too high; a lower one is in force. */
    TILECACHE_ERROR_LIMIT_CLAMPED = 12,
    /** An address names no tiles that can be opened (tilecache_sources.h). */
    TILECACHE_ERROR_INVALID_SOURCE = 13,
    /** An address names no store that can be opened (tilecache_sources.h). */
    TILECACHE_ERROR_INVALID_STORE = 14,
    /** Bytes are not a profile of this version, or are damaged. */
    TILECACHE_ERROR_INVALID_PROFILE = 15
};

/** Short text for a status of any value ("invalid argument"). Never NULL, valid for ever. */
TILECACHE_API const char *tilecache_status_message(tilecache_status status);

/**
 * Describes the last failed call on this thread: what was expected and what was given.
 *
 * Never NULL; empty if no call has failed. Valid until the next failed call on the same thread. Successful calls do not
 * change it. UTF-8 of up to 511 bytes; longer texts are shortened in the middle.
 */
TILECACHE_API const char *tilecache_last_error(void);

/** Reads the system's monotonic clock, in nanoseconds: the clock of every time in this interface. */
TILECACHE_API int64_t tilecache_now(void);

/** The time of the call, for any parameter that is a time. */
#define TILECACHE_TIME_NOW INT64_MIN

/* ------------------------------------------------------------------------------------------------- Handles, values */

/** A tile cache: one byte limit, one set of workers, any number of layers. */
typedef struct tilecache_cache tilecache_cache;
/** A viewport over some layers of a cache. */
typedef struct tilecache_view tilecache_view;
/** The tiles to draw at one moment, leased until the frame is released. */
typedef struct tilecache_frame tilecache_frame;
/** A lease of one tile. */
typedef struct tilecache_lease tilecache_lease;
/** A request for one tile, made to an asynchronous source. */
typedef struct tilecache_request tilecache_request;
/** Texture slots of one view: which tile is in which slot. */
typedef struct tilecache_texture_slots tilecache_texture_slots;
/** What a renderer with texture slots uploads and draws at one moment; its tiles are leased until it is released. */
typedef struct tilecache_texture_frame tilecache_texture_frame;
/** A host's request for one tile, made to a cache. */
typedef struct tilecache_fetch tilecache_fetch;
/** Records the viewports of a view. */
typedef struct tilecache_recorder tilecache_recorder;
/** A tier below memory that keeps tiles beyond the life of a cache; tilecache_sources.h opens it. */
typedef struct tilecache_store tilecache_store;
/** What was learned for prefetching in earlier sessions. */
typedef struct tilecache_profile tilecache_profile;
/** A layer of one cache: 0 for its first, then 1, and so on. */
typedef int32_t tilecache_layer;

/** Position of a tile in its layer's pyramid. Columns of a wrapping world are those of the one copy. */
typedef struct tilecache_coordinate {
    /** From 0, the coarsest. */
    int64_t level;
    /** From 0, at the left. */
    int64_t column;
    /** From 0, at the top. */
    int64_t row;
} tilecache_coordinate;

/** A rectangle, without its right and bottom edges. */
typedef struct tilecache_rectangle {
    double min_x, min_y, max_x, max_y;
} tilecache_rectangle;

/** Identifies a tile's pixels. Equal as long as the pixels are the same, so that a texture is uploaded once. */
typedef struct tilecache_identity {
    tilecache_layer layer;
    /** Incremented when an invalidation has brought newer pixels. */
    uint32_t generation;
    tilecache_coordinate tile;
} tilecache_identity;

/** Pixel format of a layer's tiles. */
typedef int32_t tilecache_format;
enum {
    /** Four bytes a pixel: red, green, blue, alpha. */
    TILECACHE_FORMAT_RGBA8 = 0,
    /** Four bytes a pixel: blue, green, red, alpha. */
    TILECACHE_FORMAT_BGRA8 = 1,
    /** One byte a pixel. */
    TILECACHE_FORMAT_GRAY8 = 2,
    /** Two bytes a pixel: one little-endian 16-bit number. */
    TILECACHE_FORMAT_GRAY16 = 3,
    /** Eight bytes a pixel: four little-endian 16-bit channels, integers or half floats. */
    TILECACHE_FORMAT_RGBA16 = 4,
    /** Four bytes a pixel: one little-endian 32-bit float. */
    TILECACHE_FORMAT_FLOAT32 = 5,
    /** A payload of fixed size that only the renderer interprets (a compressed texture). */
    TILECACHE_FORMAT_OPAQUE = 6
};

/** Meaning of alpha. The cache reports it and never changes pixels. */
typedef int32_t tilecache_alpha;
enum {
    /** Colours are not multiplied by alpha. */
    TILECACHE_ALPHA_STRAIGHT = 0,
    /** Colours are multiplied by alpha. */
    TILECACHE_ALPHA_PREMULTIPLIED = 1,
    /** There is no alpha, or it is to be ignored. */
    TILECACHE_ALPHA_IGNORED = 2
};

/** A leased decoded tile: its bytes neither move nor change until the lease ends. */
typedef struct tilecache_tile {
    tilecache_identity identity;
    /** The first byte of the first row. */
    const void *pixels;
    /** Bytes of all rows. */
    size_t byte_count;
    /** Bytes from one row to the next; all bytes for opaque payloads, which are one row, whatever width and height. */
    size_t bytes_per_row;
    /** Pixels a row, border included. */
    int32_t width;
    /** Rows, border included. */
    int32_t height;
    tilecache_format format;
    /** Whether an invalidation came after these pixels; newer ones are being loaded. */
    int32_t is_stale;
} tilecache_tile;

/* ----------------------------------------------------------------------------------------------------------- Cache */

/** Settings of a cache. tilecache_configuration_init() fills in the defaults. */
typedef struct tilecache_configuration {
    size_t struct_size;
    /** Byte limit for everything: decoded and compressed tiles, loads in flight, tables. 1 to 2^46. Default: 64 MiB. */
    int64_t byte_limit;
    /** Largest limit that can be set later, byte_limit to 2^46. Reserves addresses, not memory. Default: 0, four times
     *  byte_limit. */
    int64_t maximum_byte_limit;
    /** Threads that call sources, decode and compress, 1 to 255. Default: 4. A blocking source has at most as many loads
     *  at a time. */
    int32_t workers;
    /** Ignored. */
    int32_t reserved;
    /** Whether cold tiles are kept compressed before they are evicted. Default: true. */
    int32_t uses_compressed_tier;
    /** Whether a view draws a coarser level if its needed tiles exceed the limit, alone or with those of other views.
     *  Default: true. */
    int32_t fits_level_to_budget;
    /** Fraction of the limit for the compressed tier if both tiers compete, 0 to 1. Default: -1, adapts to the
     *  traffic. */
    double compressed_share;
    /** How much is prefetched, 0 (nothing) to 1 (every tile that may be used). Default: 0.5. */
    double effort;
    /** Expected duration of a load until some have been measured, in nanoseconds, 0 to an hour. Default: 40 ms. */
    int64_t expected_load_latency;
    /** Back-off after a tile's first failure, in nanoseconds, 1 to a minute. Doubles with each failure, up to a
     *  minute. Default: 0.5 s. */
    int64_t retry_delay;
    /** Duration after which a load counts as stuck, in nanoseconds, 1 ms or more. Another worker then replaces its
     *  worker; if it is a request, another request takes its place. The load continues, and its tile is accepted when it
     *  arrives. After a tenth of that time a worker is replaced, if all are taken and another layer misses tiles and has
     *  neither a worker nor a request in flight. Default: 10 s. */
    int64_t stuck_load_time;
    /** Duration after which a tiles-ready callback counts as slow, in nanoseconds, 0 or more. Default: 0.1 s. */
    int64_t slow_callback_time;
} tilecache_configuration;

/**
 * Fills in the defaults.
 *
 * @param configuration receives the defaults.
 * @param struct_size sizeof(tilecache_configuration).
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the pointer is NULL, or the size is less than that of a size_t or more
 *         than 4,096.
 */
TILECACHE_API tilecache_status tilecache_configuration_init(tilecache_configuration *configuration, size_t struct_size);

/**
 * Creates a cache and its workers. Nothing is loaded until a view is updated.
 *
 * @param configuration NULL for the defaults.
 * @param cache receives the handle, to be released with tilecache_destroy().
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if a setting is out of its range, TILECACHE_ERROR_OUT_OF_MEMORY if the
 *        system denies the addresses.
 */
TILECACHE_API tilecache_status tilecache_create(const tilecache_configuration *configuration, tilecache_cache **cache);

/**
 * Shuts a cache down without waiting and releases the handle.
 *
 * Memory is freed once the last view, frame, lease, fetch and request is released, too. A source is destroyed once no
 * load uses it; to wait for that, call tilecache_shutdown() first. Tiles that wait for their turn to be stored are not
 * stored: tilecache_shutdown() with a timeout stores them.
 */
TILECACHE_API void tilecache_destroy(tilecache_cache *cache);

/**
 * Ends all work of a cache.
 *
 * With a timeout above 0, first gives the layers' stores the tiles that wait for their turn, until the timeout. Then
 * cancels requests. No tiles-ready callback begins afterwards. Pending fetches end with TILECACHE_FETCH_REMOVED, some
 * perhaps after this has returned. Frames and leases stay valid. Does not wait if called from a function that it would
 * wait for: a tiles-ready callback, a fetch's function, a source's load, request or decode, a function passed to
 * tilecache_request_complete() or one that the cache calls for tilecache_request_on_cancel().
 *
 * @param timeout how long to wait for running loads and callbacks, in nanoseconds, 0 or more.
 * @return TILECACHE_ERROR_TIMED_OUT if they had not ended by then; the cache is shut down all the same.
 */
TILECACHE_API tilecache_status tilecache_shutdown(tilecache_cache *cache, int64_t timeout);

/**
 * Sets the byte limit, 1 byte or more.
 *
 * A lower limit evicts tiles at once, leased ones when they are released.
 *
 * @return TILECACHE_ERROR_LIMIT_CLAMPED if the limit is above the configuration's maximum_byte_limit, which is set
 *        instead. If that was not set and the system denied the addresses for it, the configuration's byte_limit is.
 *        tilecache_last_error() names the limit. TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_set_byte_limit(tilecache_cache *cache, int64_t bytes);

/**
 * Reads the byte limit that was set. Only a part of it is in force under memory pressure
 * (tilecache_statistics.byte_limit).
 */
TILECACHE_API tilecache_status tilecache_get_byte_limit(const tilecache_cache *cache, int64_t *bytes);

/**
 * Evicts tiles, coldest first, until at most this many bytes are in use, and returns memory to the system.
 *
 * Leased and pinned tiles stay. `bytes` is 0 or more.
 */
TILECACHE_API tilecache_status tilecache_trim(tilecache_cache *cache, int64_t bytes);

/**
 * Suggests a byte limit for the machine, 16 to 512 MiB, for tilecache_configuration.byte_limit.
 *
 * An eighth of the memory of the machine or of the process's control group.
 */
TILECACHE_API int64_t tilecache_automatic_byte_limit(void);

/** Memory pressure of the system. */
typedef int32_t tilecache_pressure;
enum {
    /** No pressure. */
    TILECACHE_PRESSURE_NORMAL = 0,
    /** Release memory that is cheap to release: half of the limit is in force. */
    TILECACHE_PRESSURE_WARNING = 1,
    /** Processes may soon be killed: a quarter of the limit is in force. */
    TILECACHE_PRESSURE_CRITICAL = 2
};

/**
 * Watches memory pressure and lowers the limit in force while memory is short. Default: off.
 *
 * On Linux, reads the process's control group and /proc/pressure/memory once a second; on Apple systems, receives the
 * system's notifications. Evicts the coldest tiles at once and leased ones when they are released. When the pressure
 * ends, the limit returns in steps.
 *
 * @param watches false stops watching; the limit then returns in the same steps.
 * @return TILECACHE_ERROR_SHUT_DOWN if watching is to start after the shutdown.
 */
TILECACHE_API tilecache_status tilecache_watch_memory_pressure(tilecache_cache *cache, int32_t watches);

/**
 * Reports memory pressure that the program detected by other means than tilecache_watch_memory_pressure().
 *
 * One call is enough, such as in a handler of the system's warnings: a report expires. A warning halves the limit in
 * force, critical pressure quarters it. Five seconds after the last report of pressure the limit begins to grow back by
 * half of its size at a time, five seconds apart: it is whole again 10 seconds after a warning and 20 seconds after
 * critical pressure. While the pressure lasts, call it again at least every four seconds. TILECACHE_PRESSURE_NORMAL is
 * not needed, and does not end a report before its time.
 *
 * @param pressure a TILECACHE_PRESSURE; other values return TILECACHE_ERROR_INVALID_ARGUMENT.
 */
TILECACHE_API tilecache_status tilecache_note_memory_pressure(tilecache_cache *cache, tilecache_pressure pressure);

/* --------------------------------------------------------------------------------------------------------- Sources */

/** Memory that a source writes one tile to. Rows are packed; an opaque payload is one row, whatever its height. */
typedef struct tilecache_pixels {
    /** sizeof(tilecache_pixels) of the library. A newer program checks it before it reads fields added later. */
    size_t struct_size;
    /** Layer of the tile. */
    tilecache_layer layer;
    tilecache_format format;
    /** Position of the tile. */
    tilecache_coordinate tile;
    /** The cache's memory, all of which is to be written; initially undefined. Valid during the call only. */
    void *memory;
    /** Bytes of memory. */
    size_t byte_count;
    /** Bytes from one row to the next; all bytes for opaque payloads, which are one row, whatever width and height. */
    size_t bytes_per_row;
    /** Pixels a row, border included. */
    int32_t width;
    /** Rows, border included. */
    int32_t height;
    tilecache_alpha alpha;
    int32_t reserved;
    /** Written by a source that failed temporarily: nanoseconds until the next attempt, 0 or more. The cache's own
     *  back-off is a lower bound. Default: 0. */
    int64_t retry_after;
    /** Private to the library. */
    void *internal;
} tilecache_pixels;

/**
 * Passes the encoded form (JPEG, WebP, any) of the pixels being written, to be kept as the compressed tile.
 *
 * The source must have a decode function that reproduces exactly these pixels. Call it from within the function that
 * writes the pixels, on its thread, with the same structure. The bytes are copied. The copy is dropped if the load does
 * not end with pixels.
 *
 * @param encoded the bytes; NULL only if byte_count is 0.
 * @param byte_count number of bytes.
 * @param is_kept receives whether they are kept for now. They are not if the source cannot decode, nothing is kept
 *        compressed, they are hardly smaller than the pixels or far larger than compressed tiles usually are, there is
 *        no room, or this tile has some already. May be NULL.
 */
TILECACHE_API tilecache_status tilecache_pixels_keep_encoded(
    tilecache_pixels *pixels, const void *encoded, size_t byte_count, int32_t *is_kept);

/** Outcome of a load. Other values count as TILECACHE_OUTCOME_FAILED. */
typedef int32_t tilecache_outcome;
enum {
    /** The pixels have been written. */
    TILECACHE_OUTCOME_PIXELS = 0,
    /** This tile does not exist. An ancestor is drawn. Not requested again until an invalidation. */
    TILECACHE_OUTCOME_ABSENT = 1,
    /** The load failed temporarily and is retried later. */
    TILECACHE_OUTCOME_FAILED = 2,
    /** The load failed permanently and is not retried until an invalidation. */
    TILECACHE_OUTCOME_FAILED_PERMANENTLY = 3,
    /** The tile of tilecache_pixels_get_cached() is still valid; nothing was written. Counts as
     *  TILECACHE_OUTCOME_FAILED if there is none. */
    TILECACHE_OUTCOME_UNCHANGED = 4,
    /** The source could not try, for example because its server allows no further request now. It is called again after
     *  retry_after, at least 50 ms. Neither counted as a failure nor followed by the cache's own back-off. */
    TILECACHE_OUTCOME_POSTPONED = 5
};

/** A time that is never reached, for tilecache_freshness.expires. */
#define TILECACHE_NEVER INT64_MAX
/** For tilecache_freshness.expires: the tile is drawn but must not be stored, as after no-store of HTTP. Stored ones
 *  are removed. The other fields have no meaning then: in memory the tile is valid until it is evicted. */
#define TILECACHE_NOT_STORED INT64_MIN
/** Bytes of a validator's array: up to 512 of text, ended by a NUL. */
#define TILECACHE_VALIDATOR_SIZE 520

/**
 * Freshness of a tile in memory or in a store, and validators by which its server confirms it.
 *
 * Before `expires` the tile is drawn without the source. Then, until `usable_until`, it is drawn while the source is
 * asked again. After that the source is asked first. A tile that is past this and has no validator is not stored, and
 * stored ones are removed. Times are seconds since 1970, UTC.
 */
typedef struct tilecache_freshness {
    size_t struct_size;
    /** When the tile was loaded or last confirmed. Default: the time of tilecache_freshness_init(). */
    int64_t stored;
    /** When it stops being fresh, or TILECACHE_NOT_STORED. Default: TILECACHE_NEVER. */
    int64_t expires;
    /** When it must not be drawn any more before the source has confirmed it. Default: 0, `expires`. */
    int64_t usable_until;
    /** ETag and Last-Modified as the server sent them, UTF-8. Default: empty, none. */
    char entity_tag[TILECACHE_VALIDATOR_SIZE], last_modified[TILECACHE_VALIDATOR_SIZE];
} tilecache_freshness;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_freshness_init(tilecache_freshness *freshness, size_t struct_size);

/**
 * Reads the validators of the tile, in memory or in a store, that is to be confirmed, if there is one.
 *
 * If the tile is still valid, the source sets its new freshness and returns TILECACHE_OUTCOME_UNCHANGED. If the tile is
 * not in memory, the cache then reads it from its store on the same thread, which may take up to 2 s. Call this from
 * within the function that writes the pixels, on its thread. Set `cached->struct_size` first.
 *
 * @param cached receives the freshness of the stored tile if there is one.
 * @param is_cached receives whether there is one.
 */
TILECACHE_API tilecache_status tilecache_pixels_get_cached(
    const tilecache_pixels *pixels, tilecache_freshness *cached, int32_t *is_cached);

/**
 * Sets until when the tile is valid, in memory and in the layer's stores. Once it has expired and a view needs it, it is
 * drawn as stale and loaded again. Default: for ever.
 *
 * Also for tiles that are absent or unchanged. Call it from within the function that writes the pixels, on its thread.
 *
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if a validator is longer than 512 bytes or not UTF-8.
 */
TILECACHE_API tilecache_status tilecache_pixels_set_freshness(
    tilecache_pixels *pixels, const tilecache_freshness *freshness);

/** Writes a tile's pixels, or returns why it could not. */
typedef tilecache_outcome (*tilecache_write_function)(void *context, tilecache_pixels *pixels);

/**
 * Starts to fetch a tile asynchronously.
 *
 * The source owns the request: it completes it once, from any thread at any time, and then releases it.
 */
typedef void (*tilecache_request_function)(void *context, tilecache_request *request);

/**
 * Decodes a tile from the bytes passed to tilecache_pixels_keep_encoded().
 *
 * The bytes are verified against damage and valid during the call only. On any result but TILECACHE_OUTCOME_PIXELS the
 * tile is loaded again.
 */
typedef tilecache_outcome (*tilecache_decode_function)(
    void *context, const void *encoded, size_t byte_count, tilecache_pixels *pixels);

/** A callback that receives its context. */
typedef void (*tilecache_function)(void *context);

/**
 * Source of a layer's pixels: either a function that blocks or one that completes later.
 *
 * On Linux with glibc, worker threads run under SCHED_BATCH, and threads and processes that they start inherit it.
 */
typedef struct tilecache_source {
    size_t struct_size;
    /** Passed to the functions. */
    void *context;
    /** Called when the source will not be used again and all of its requests are released; may be NULL. */
    tilecache_function destroy;
    /** Synchronous load: returns when the pixels are written. Called on worker threads, several at a time; may block.
     *  NULL if `request` is set. */
    tilecache_write_function load;
    /** Asynchronous load: returns soon and completes later. Called on worker threads, several at a time. A worker goes on
     *  with other work once the function has returned: `requests` bounds the tiles that are requested at a time. NULL if
     *  `load` is set. */
    tilecache_request_function request;
    /** Decodes encoded bytes that the source has passed. Called on worker threads, several at a time. Default: NULL,
     *  the source passes none. */
    tilecache_decode_function decode;
    /** Requests that the source can use at a time, 1 to 255. Those that are stuck do not count, up to as many again.
     *  Default: 0, as many as make its loads faster, 4 to 64. Not for `load`, whose calls occupy workers. */
    int32_t requests;
    /** Ignored. */
    int32_t reserved;
} tilecache_source;

/** Sets all fields but struct_size to zero. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_source_init(tilecache_source *source, size_t struct_size);

/** Describes a request. */
typedef struct tilecache_request_info {
    size_t struct_size;
    /** Layer of the tile. */
    tilecache_layer layer;
    /** Whether a view or a host wanted the tile when the request was made; otherwise it is prefetched. */
    int32_t is_demand;
    /** Position of the tile. */
    tilecache_coordinate tile;
} tilecache_request_info;

/** Reads what a request is for. Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_request_get_info(
    const tilecache_request *request, tilecache_request_info *info);

/** Whether the tile is still wanted. A source that fetches in steps may check between them. False for NULL. */
TILECACHE_API int32_t tilecache_request_is_wanted(const tilecache_request *request);

/**
 * Sets a function called once when the tile is no longer wanted.
 *
 * If it already is not, the function is called at once, on this thread; otherwise on any thread, possibly while another
 * thread completes the request. The request still must be completed, preferably with tilecache_request_cancel(), and
 * released. A second call replaces the function.
 *
 * @param function NULL for none; context and destroy are then ignored.
 * @param destroy called when the function has been called, has been replaced, or will never be called because the
 *        request was completed or released.
 */
TILECACHE_API tilecache_status tilecache_request_on_cancel(
    tilecache_request *request, tilecache_function function, void *context, tilecache_function destroy);

/**
 * Completes a request with pixels that a function writes directly into the cache's memory, or with its other outcome.
 *
 * Reserves the tile's bytes now, unless they are reserved already.
 *
 * @param write called before this returns, and only if it returns TILECACHE_OK.
 * @return TILECACHE_ERROR_ALREADY_COMPLETED, or TILECACHE_ERROR_NO_ROOM if there is no room for the tile, or if it was
 *        invalidated or its layer removed after the request; the request is then completed.
 */
TILECACHE_API tilecache_status tilecache_request_complete(
    tilecache_request *request, tilecache_write_function write, void *context);

/**
 * Completes a request with pixels that are copied.
 *
 * @param pixels the first byte of the first row.
 * @param byte_count bytes of all rows: bytes_per_row for each but the last, and at least a packed row for the last.
 * @param bytes_per_row bytes from one row to the next, at least a packed row; 0 if rows are packed.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the pixels are NULL or too few, and the request has failed temporarily;
 *        TILECACHE_ERROR_ALREADY_COMPLETED and TILECACHE_ERROR_NO_ROOM as tilecache_request_complete().
 */
TILECACHE_API tilecache_status tilecache_request_complete_copying(
    tilecache_request *request, const void *pixels, size_t byte_count, size_t bytes_per_row);

/** Completes a request as absent: the tile does not exist. May return TILECACHE_ERROR_ALREADY_COMPLETED. */
TILECACHE_API tilecache_status tilecache_request_complete_absent(tilecache_request *request);

/**
 * Completes a request as failed.
 *
 * @param is_permanent whether the tile is not to be requested again until an invalidation.
 * @param retry_after otherwise nanoseconds until the next attempt, 0 or more.
 * @return TILECACHE_ERROR_ALREADY_COMPLETED if it was completed before.
 */
TILECACHE_API tilecache_status tilecache_request_fail(
    tilecache_request *request, int32_t is_permanent, int64_t retry_after);

/**
 * Completes a request as put off, because the source could not try: its server allows no further request now.
 *
 * Neither counted as a failure nor followed by the cache's own back-off.
 *
 * @param retry_after nanoseconds until the next attempt, 0 or more; at least 50 ms and at most a day are waited.
 * @return TILECACHE_ERROR_ALREADY_COMPLETED if it was completed before.
 */
TILECACHE_API tilecache_status tilecache_request_postpone(tilecache_request *request, int64_t retry_after);

/**
 * Completes a request as cancelled, because the tile is no longer wanted.
 *
 * If it still is, the request counts as failed, and is retried after a wait.
 *
 * @return TILECACHE_ERROR_ALREADY_COMPLETED if it was completed before.
 */
TILECACHE_API tilecache_status tilecache_request_cancel(tilecache_request *request);

/**
 * Reports the encoded bytes that the source holds for a request in its own memory.
 *
 * They count against the limit until the request is completed. A later call replaces the value of an earlier one.
 *
 * @param bytes 0 or more.
 * @return TILECACHE_ERROR_NO_ROOM if they do not fit: the count is unchanged, and the source should hold no more than
 *        before. TILECACHE_ERROR_ALREADY_COMPLETED.
 */
TILECACHE_API tilecache_status tilecache_request_holds_encoded(tilecache_request *request, int64_t bytes);

/** Reads the validators of the tile that is to be confirmed, as tilecache_pixels_get_cached(). */
TILECACHE_API tilecache_status tilecache_request_get_cached(
    const tilecache_request *request, tilecache_freshness *cached, int32_t *is_cached);

/**
 * Sets until when the tile is valid, for a later completion of the request.
 *
 * Applies to completions with pixels and as absent.
 * A function passed to tilecache_request_complete() may replace it with tilecache_pixels_set_freshness(); it returns
 * TILECACHE_OUTCOME_UNCHANGED for a tile that is still valid.
 *
 * @return TILECACHE_ERROR_INVALID_ARGUMENT as tilecache_pixels_set_freshness(); TILECACHE_ERROR_ALREADY_COMPLETED.
 */
TILECACHE_API tilecache_status tilecache_request_set_freshness(
    tilecache_request *request, const tilecache_freshness *freshness);

/** Releases a request. If it has not been completed, it has failed temporarily when this returns. */
TILECACHE_API void tilecache_request_release(tilecache_request *request);

/* ---------------------------------------------------------------------------------------------------------- Layers */

/** One resolution of a layer: a grid of equal tiles over the world. */
typedef struct tilecache_level {
    /** Size of the level in its own pixels, 1 or more. */
    int64_t width, height;
    /** Size of a tile without its border, 1 to 2^30; there are at most 2^40 columns and rows. */
    int64_t tile_width, tile_height;
    /** World pixels a side that one pixel covers, larger than 0, smaller than in the level before. 0: from the sizes of
     *  the levels, of which the last is the world's: a whole number if rounding of both sides, down or up, explains it,
     *  as 2 for 8191 of 16383; otherwise the quotient of the longer sides. */
    double world_pixels_per_pixel;
    /** World coordinates of the top left corner of tile (0, 0). */
    double origin_x, origin_y;
    /** Pixels around each tile that the source delivers and that are not drawn, 0 to 2^20. */
    int64_t border;
} tilecache_level;

/** The levels of a layer and the world that they cover: powers of two, or a table. */
typedef struct tilecache_pyramid {
    size_t struct_size;
    /** World size in world pixels, larger than 0; whole numbers up to 2^40 without a table. */
    double world_width, world_height;
    /** Pixels a side of a tile, 1 to 2^30, if there is no table. Default: 256. */
    int64_t tile_size;
    /** Pixels around each tile that are not drawn, 0 to 2^20, if there is no table. Default: 0. */
    int64_t border;
    /** Whether the world repeats horizontally. Default: false. */
    int32_t wraps_x;
    int32_t reserved;
    /** A table of levels, coarsest first, which is copied. Default: NULL, powers of two: each level has twice the
     *  resolution of the one before, and one tile of level 0 covers the world. */
    const tilecache_level *levels;
    /** Number of levels in the table, 1 to 64. */
    size_t level_count;
    /** sizeof(tilecache_level); set by tilecache_pyramid_init(). */
    size_t level_size;
    /** Part of the world that has tiles, in world pixels. Nothing beside it is needed, loaded or missing: bounds that are
     *  too small hide tiles. Default: all 0, the whole world. */
    tilecache_rectangle contents;
} tilecache_pyramid;

/** Fills in the defaults; the world's size remains to be set. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_pyramid_init(tilecache_pyramid *pyramid, size_t struct_size);

/** How the cache averages four pixels to one for coarser levels. Integers are rounded to the nearest. */
typedef int32_t tilecache_downsampling;
enum {
    /** Values are averaged as stored, 16-bit ones as unsigned: half floats are not supported. */
    TILECACHE_DOWNSAMPLING_LINEAR = 0,
    /** TILECACHE_FORMAT_GRAY16 holds signed values, such as elevation; other formats as
     *  TILECACHE_DOWNSAMPLING_LINEAR. */
    TILECACHE_DOWNSAMPLING_LINEAR_SIGNED = 1,
    /** Colours are sRGB and averaged as linear light. For 8 bits a channel only, and slower. */
    TILECACHE_DOWNSAMPLING_SRGB = 2
};

/** Properties of a layer's tiles. */
typedef struct tilecache_layer_options {
    size_t struct_size;
    /** Default: TILECACHE_FORMAT_RGBA8. */
    tilecache_format format;
    /** Default: TILECACHE_ALPHA_PREMULTIPLIED. */
    tilecache_alpha alpha;
    /** Bytes of a tile, 1 or more, if the format is TILECACHE_FORMAT_OPAQUE. */
    int64_t opaque_bytes_per_tile;
    /** Whether cold tiles may be kept compressed. Default: true. */
    int32_t is_compressible;
    int32_t reserved;
    /** Fraction of the cache's limit that the layer's tiles never exceed, larger than 0, at most 1. Default: 1. */
    double share_maximum;
    /** Ignored. */
    double reserved_share;
    /** Number of the pyramid's coarsest levels that the source does not have, 0 or more and fewer than all. The cache
     *  makes their tiles of finer ones and never requests them. A tile n levels above the source may cost 4^n loads.
     *  Each level must be the half of the next one, with tiles of the same size, whose sides 2^n divides, and without a
     *  border; opaque payloads cannot be halved. Default: 0. */
    int32_t synthesized_levels;
    /** How pixels are averaged for those levels. Default: TILECACHE_DOWNSAMPLING_LINEAR. */
    tilecache_downsampling downsampling;
    /** Stores, nearest first, up to 32; the layer retains them. They are searched before the source is asked, and its
     *  tiles are written to them. Several layers and caches may share a store. Default: NULL, none. */
    tilecache_store *const *stores;
    /** Number of stores. Default: 0. */
    size_t store_count;
    /** What identifies the layer's data in the stores, UTF-8; copied. For example path, size and modification time of a
     *  file. Different data must have different names, or their tiles are exchanged. At least one that is not empty if
     *  there are stores. Default: NULL. */
    const char *const *data_set;
    /** Number of texts in data_set, 0 to 1024. Default: 0. */
    size_t data_set_count;
    /** What was learned of this layer in earlier sessions; copied. Each view that begins to show the layer starts with
     *  it. It takes about 0.25 MB of the limit, and 0.3 to 0.4 MB more for each view; a view goes without if its part
     *  is more than a sixteenth of the limit, and from when its tables have to make room. Default: NULL, nothing. */
    const tilecache_profile *profile;
} tilecache_layer_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_layer_options_init(tilecache_layer_options *options, size_t struct_size);

/**
 * Adds a layer. A cache has at most 65,536 at a time; one more returns TILECACHE_ERROR_INVALID_ARGUMENT, or
 * TILECACHE_ERROR_INVALID_LAYER while removed ones still have loads or decoders under way.
 *
 * @param source copied; the layer owns its context from now on, unless this fails.
 * @param pyramid the levels and the world.
 * @param options NULL for the defaults.
 * @param layer receives the number.
 * @return TILECACHE_ERROR_INVALID_PYRAMID, TILECACHE_ERROR_INVALID_LAYER if a tile is larger than the limit or than can
 *        be addressed, if a share, synthesized_levels or store_count is out of its range, if downsampling does not fit
 *        the format, if there are stores and no data_set, or if the limit has no room for tables or the stores' memory,
 *        TILECACHE_ERROR_OUT_OF_MEMORY, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_add_layer(
    tilecache_cache *cache,
    const tilecache_source *source,
    const tilecache_pyramid *pyramid,
    const tilecache_layer_options *options,
    tilecache_layer *layer);

/** The world of a layer, and how many levels it has. */
typedef struct tilecache_layer_info {
    size_t struct_size;
    /** World size in world pixels. */
    double world_width, world_height;
    /** Part of the world that has tiles, in world pixels; all of it if nothing else is known. */
    tilecache_rectangle contents;
    /** Number of levels, 1 to 64. Level 0 is the coarsest. */
    int64_t level_count;
    /** Whether the world repeats horizontally. */
    int32_t wraps_x;
    int32_t reserved;
} tilecache_layer_info;

/**
 * Reads the world of a layer, whoever has added it. Set `info->struct_size` first.
 *
 * The whole world is in a viewport with the world's middle as its centre and a scale of the smaller quotient of screen
 * and world size.
 */
TILECACHE_API tilecache_status tilecache_get_layer_info(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_layer_info *info);

/**
 * Size, resolution and tiles of one level of a layer.
 *
 * With `side_x = tile_width * world_pixels_per_pixel`, and the same of `tile_height` for y, the tile (column, row) shows
 * the world from `origin_x + column * side_x` to `origin_x + (column + 1) * side_x`, cut at the edges of the world. The
 * last column and row reach to the world's edge if less than one of their pixels would be missing there.
 */
typedef struct tilecache_level_info {
    size_t struct_size;
    /** Size of the level in its own pixels. */
    int64_t width, height;
    /** Size of a tile in pixels, without its border. */
    int64_t tile_width, tile_height;
    /** Pixels around each tile that are not drawn. */
    int64_t border;
    /** Number of columns and rows; the last ones may be cut. */
    int64_t columns, rows;
    /** World pixels a side that one pixel covers; 1 at full resolution. At a scale, a view without bias and hysteresis
     *  draws the coarsest level whose product of this and the scale is 1 or less; the finest, if there is none. */
    double world_pixels_per_pixel;
    /** World coordinates of the top left corner of tile (0, 0). */
    double origin_x, origin_y;
} tilecache_level_info;

/**
 * Reads one level of a layer, whoever has added it. Set `info->struct_size` first.
 *
 * @param level from 0, the coarsest.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the level is not below tilecache_layer_info.level_count.
 */
TILECACHE_API tilecache_status tilecache_get_level_info(
    const tilecache_cache *cache, tilecache_layer layer, int64_t level, tilecache_level_info *info);

/**
 * Invalidates tiles that have changed at their source.
 *
 * Pixels of loads that began earlier are discarded. The old pixels are drawn, marked stale, until new ones arrive.
 *
 * @param region in world pixels; NULL for all of the layer.
 * @param keeps_stale false removes the old pixels at once, except those of leased tiles.
 */
TILECACHE_API tilecache_status tilecache_invalidate(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_rectangle *region, int32_t keeps_stale);

/**
 * Removes a layer: cancels its loads, evicts its tiles, undoes its pins and takes it out of all views.
 *
 * Tiles that frames hold stay valid until they are released. The layer's number is never reused. The destroy function
 * of its source is called when the last of its loads has ended.
 */
TILECACHE_API tilecache_status tilecache_remove_layer(tilecache_cache *cache, tilecache_layer layer);

/**
 * Pins tiles: they are loaded before all others and not evicted to make room.
 *
 * They are evicted only if the limit is lowered or memory is short, and then loaded again as soon as there is room.
 * Pinning a tile twice has no further effect.
 *
 * @param first_level the coarsest level, 0 or more.
 * @param last_level the finest level, not below the first; levels that the layer does not have are ignored.
 * @param region in world pixels; NULL for the whole world.
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if all pinned tiles would take more than half of the limit, those of
 *        the layer more than its maximum share, or the layer has none of the levels.
 */
TILECACHE_API tilecache_status tilecache_pin(
    tilecache_cache *cache,
    tilecache_layer layer,
    int64_t first_level,
    int64_t last_level,
    const tilecache_rectangle *region);

/**
 * Unpins tiles, as named for tilecache_pin(); tiles that are not pinned are ignored. They stay until they are evicted.
 */
TILECACHE_API tilecache_status tilecache_unpin(
    tilecache_cache *cache,
    tilecache_layer layer,
    int64_t first_level,
    int64_t last_level,
    const tilecache_rectangle *region);

/**
 * Pins single tiles, as tilecache_pin() does.
 *
 * @param tile_count number of tiles, 0 to 2^34; 0 has no effect, and tiles may be NULL.
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if all pinned tiles would take more than half of the limit, those of
 *        the layer more than its maximum share, or the layer does not have all of the tiles.
 */
TILECACHE_API tilecache_status tilecache_pin_tiles(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/** Unpins single tiles, as named for tilecache_pin_tiles(); tiles that are not pinned are ignored. */
TILECACHE_API tilecache_status tilecache_unpin_tiles(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/**
 * Prefetches tiles once, under any effort and allowance; they wait for the allowance's ceilings.
 *
 * They come after needed tiles, margins and declared destinations, and before all predicted tiles that are not urgent.
 *
 * They are evicted like all others. Ignored are tiles that are resident, absent, failed or nonexistent, and those
 * beyond a quarter of the limit or 4,096 tiles.
 *
 * @param tile_count as for tilecache_pin_tiles().
 */
TILECACHE_API tilecache_status tilecache_prefetch(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/** What a layer may load ahead of need. */
typedef int32_t tilecache_prefetch_kind;
enum {
    /** Tiles whose expected use exceeds their price, within ceilings. */
    TILECACHE_PREFETCH_PRICED = 0,
    /** Only tiles that a store on this machine is known to have, so that no request leaves it. */
    TILECACHE_PREFETCH_RESIDENT = 1,
    /** Nothing. */
    TILECACHE_PREFETCH_NEVER = 2
};

/** What a layer may load ahead of need. The fields behind kind are for TILECACHE_PREFETCH_PRICED; -1 leaves one out. */
typedef struct tilecache_prefetch_allowance {
    size_t struct_size;
    /** Default: TILECACHE_PREFETCH_PRICED. */
    tilecache_prefetch_kind kind;
    int32_t reserved;
    /** The effort as the price of a load that is never drawn, in misses, 0 or more. Overrides effort. Default:
     *  -1, effort says it. */
    double price;
    /** Effort, 0 (only needed tiles) to 1 (everything). Default: -1, the cache's. */
    double effort;
    /** Maximum prefetches that ask the source within any 60 seconds, 0 or more. A synthesized tile counts as the tiles
     *  that it may be made of. Default: -1, no maximum. */
    int64_t requests_per_minute;
    /** The same in decoded bytes. Default: -1, no maximum. */
    int64_t bytes_per_minute;
} tilecache_prefetch_allowance;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_prefetch_allowance_init(
    tilecache_prefetch_allowance *allowance, size_t struct_size);

/**
 * Replaces what a layer may load ahead of need, at any time. Loads in flight continue.
 *
 * Tiles that views need are loaded at once under any allowance. Those of tilecache_prefetch() are too, except that they
 * wait for the ceilings.
 *
 * @param allowance NULL for the defaults, under which a new layer is.
 * @return TILECACHE_ERROR_INVALID_LAYER for a field out of range, TILECACHE_ERROR_INVALID_ARGUMENT for an unknown kind
 *        or bytes below -1.
 */
TILECACHE_API tilecache_status tilecache_set_prefetch_allowance(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_prefetch_allowance *allowance);

/** Prefetches of one layer since it was added; counters, which only grow. */
typedef struct tilecache_prefetch_counts {
    size_t struct_size;
    /** Prefetches that began, from the source or a store, and their decoded bytes. */
    int64_t started, bytes;
    /** Requests of these to the source. A synthesized tile counts as the tiles that it may be made of. */
    int64_t requests;
    /** Prefetches that were drawn later, and their decoded bytes. */
    int64_t drawn, drawn_bytes;
    /** Prefetches that a view needed while they were in flight. */
    int64_t late;
    /** How often a ceiling delayed a prefetch whose turn had come. One that waits for long counts many times. */
    int64_t held_back;
} tilecache_prefetch_counts;

/** Reads the counts of a layer; set struct_size before. */
TILECACHE_API tilecache_status tilecache_get_prefetch_counts(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_prefetch_counts *counts);

/** Whether a tile is resident, decoded or compressed. Does not count as a use. False for tiles that do not exist. */
TILECACHE_API tilecache_status tilecache_is_resident(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_coordinate tile, int32_t *is_resident);

/** Reads a tile that is valid during the call. */
typedef void (*tilecache_read_function)(void *context, const void *pixels, size_t byte_count);

/**
 * Reads the pixels of a decoded tile without a view, rows packed. Counts as a use, not as a demand.
 *
 * @param read called before this returns, and only if it returns TILECACHE_OK.
 * @return TILECACHE_ERROR_NOT_RESIDENT if the tile is not decoded now.
 */
TILECACHE_API tilecache_status tilecache_read_tile(
    tilecache_cache *cache,
    tilecache_layer layer,
    tilecache_coordinate tile,
    tilecache_read_function read,
    void *context);

/* ----------------------------------------------------------------------------------------------------------- Views */

/** A viewport: a rectangle of the screen over the world. */
typedef struct tilecache_viewport {
    size_t struct_size;
    /** World point at the middle of the screen; on a wrapping world in any copy. */
    double center_x, center_y;
    /** Size of the screen in screen pixels, larger than 0. */
    double width, height;
    /** Screen pixels per world pixel, larger than 0. Default: 1. */
    double scale;
    /** Clockwise rotation of the screen over the world, in radians. Default: 0. */
    double rotation;
} tilecache_viewport;

/** Fills in the defaults; centre and size remain to be set. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_viewport_init(tilecache_viewport *viewport, size_t struct_size);

/**
 * Converts a world point to its position on the screen, which may be outside of it.
 *
 * With `dx = world_x - center_x`, `dy = world_y - center_y` and the rotation r, x is
 * `width / 2 + (dx * cos r + dy * sin r) * scale` and y is `height / 2 + (dy * cos r - dx * sin r) * scale`.
 *
 * @param world_x, world_y in world pixels; on a wrapping world, in the copy whose position is wanted.
 * @param x, y receive screen pixels from the top left corner of the screen.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a viewport that cannot be drawn, and for a point or a result that is not
 *         finite.
 */
TILECACHE_API tilecache_status tilecache_viewport_get_screen_point(
    const tilecache_viewport *viewport, double world_x, double world_y, double *x, double *y);

/**
 * Converts a position on the screen to the world point there, the inverse of tilecache_viewport_get_screen_point().
 *
 * With `dx = (x - width / 2) / scale`, `dy = (y - height / 2) / scale` and the rotation r, world_x is
 * `center_x + dx * cos r - dy * sin r` and world_y is `center_y + dx * sin r + dy * cos r`.
 *
 * @param x, y screen pixels from the top left corner of the screen; may be outside of it.
 * @param world_x, world_y receive world pixels; on a wrapping world, of the copy that is drawn there.
 * @return As tilecache_viewport_get_screen_point().
 */
TILECACHE_API tilecache_status tilecache_viewport_get_world_point(
    const tilecache_viewport *viewport, double x, double y, double *world_x, double *world_y);

/** How a view chooses levels, and the decompression budget of its frames. */
typedef struct tilecache_view_options {
    size_t struct_size;
    /** Coarser levels than 1:1 to accept, in octaves, -8 to 8. 0.5 halves the tiles, for pixels magnified at most 1.41
     *  times. Default: 0. */
    double level_bias;
    /** How far the scale may pass a level's bound before the view leaves that level, in octaves, 0 to 1. Default: 0. */
    double level_hysteresis;
    /** Tiles that a frame may decompress on its caller's thread, 0 or more. Default: 8. */
    int64_t promotion_tiles;
    /** Nanoseconds of a frame after which no further decompression begins, 0 or more. Default: 2 ms. */
    int64_t promotion_nanoseconds;
} tilecache_view_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_view_options_init(tilecache_view_options *options, size_t struct_size);

/**
 * Creates a view of some layers.
 *
 * @param layers in the order of drawing, each once.
 * @param layer_count 1 or more.
 * @param options NULL for the defaults.
 * @param view receives the handle, to be released with tilecache_view_destroy().
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for layers of another cache, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_create(
    tilecache_cache *cache,
    const tilecache_layer *layers,
    size_t layer_count,
    const tilecache_view_options *options,
    tilecache_view **view);

/**
 * Sets the layers that a view shows. Layers that stay keep what was learned of them.
 *
 * @param layers in the order of drawing, each once; may be NULL if there are none.
 * @param layer_count 0 or more.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for layers of another cache, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_set_layers(
    tilecache_view *view, const tilecache_layer *layers, size_t layer_count);

/** Destroys a view. Tiles that only it needed may be evicted. Its frames stay valid. */
TILECACHE_API void tilecache_view_destroy(tilecache_view *view);

/** Options of an update. */
typedef struct tilecache_update_options {
    size_t struct_size;
    /** Time of the viewport; need not increase. Default: TILECACHE_TIME_NOW. */
    int64_t time;
    /** Viewport that the view is moving to, if the renderer can tell (a fly-to, a fling). Default: NULL. */
    const tilecache_viewport *destination;
    /** Time of arrival there. A destination whose time has come is ignored. Default: 0, which has. */
    int64_t destination_time;
} tilecache_update_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_update_options_init(tilecache_update_options *options, size_t struct_size);

/**
 * Updates a view to its current viewport. Never waits for a load, a compression or a copy.
 *
 * @param options NULL for the current time and no destination.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a viewport that cannot be drawn; it is counted, and the view keeps its
 *        last one. TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_update(
    tilecache_view *view, const tilecache_viewport *viewport, const tilecache_update_options *options);

/** A tile needed by a renderer with perspective, a globe or a feedback buffer. */
typedef struct tilecache_needed_tile {
    tilecache_layer layer;
    /** Importance; of a layer's tiles, larger is loaded sooner. Finite. */
    float importance;
    tilecache_coordinate tile;
} tilecache_needed_tile;

/**
 * Updates a view to the tiles that are needed, instead of a viewport.
 *
 * @param tiles the tiles; those of layers that the view does not show, and those that do not exist, are ignored. NULL
 *        if there are none.
 * @param tile_count number of tiles, 0 to 2^20.
 * @param tile_size sizeof(tilecache_needed_tile).
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a layer that the cache does not have, such as one that was removed, or an
 *         importance that is not finite; the view keeps its last tiles. TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_update_needed(
    tilecache_view *view, const tilecache_needed_tile *tiles, size_t tile_count, size_t tile_size);

/**
 * Sets a function called when another frame would be better than the last one: draw again.
 *
 * Needed tiles are ready, or fallbacks for blank areas. Or tiles of the last frame that are not needed take the room of
 * missing ones, and the next frame leaves them out. Or missing tiles need no room any more, as after a permanent
 * failure, and the next frame may have fallbacks again.
 *
 * Called once for many tiles, on a thread of the library, one call at a time for each view, and never after shutdown.
 * When a call replaces the function, or the view is destroyed, a call on the library's thread may still be under way or
 * about to begin: the old destroy function follows it.
 *
 * @param function NULL for none; context and destroy are then ignored.
 */
TILECACHE_API tilecache_status tilecache_view_set_tiles_ready(
    tilecache_view *view, tilecache_function function, void *context, tilecache_function destroy);

/** Sets the decompression budget of each frame, as tilecache_view_options. */
TILECACHE_API tilecache_status tilecache_view_set_promotion_budget(
    tilecache_view *view, int64_t promotion_tiles, int64_t promotion_nanoseconds);

/** Records every viewport of tilecache_view_update(); NULL stops. The view keeps the recorder alive meanwhile. */
TILECACHE_API tilecache_status tilecache_view_set_recorder(tilecache_view *view, tilecache_recorder *recorder);

/**
 * Sets the rings of further tiles around what shows, loaded too. Default: 0.
 *
 * Around the upright rectangle that bounds the viewport, which is larger than a rotated viewport.
 * Loaded after the needed tiles of all views and before all predicted tiles that are not urgent, under any effort and
 * allowance. Neither demands nor prefetches in the statistics; loads that are never drawn count as waste. None for layers of
 * tilecache_view_update_needed().
 *
 * @param rings 0 to 8.
 */
TILECACHE_API tilecache_status tilecache_view_set_margin(tilecache_view *view, int64_t rings);

/**
 * Reads the bytes that the needed tiles would take if they exceed the limit, alone or with those of other views; 0 if
 * they fit. Resident pinned tiles take their part of the limit, and do not count as needed.
 *
 * Coarsest levels and the renderer's own lists always fit beside other views: if these exceed the limit together, tiles
 * wait.
 *
 * Without the configuration's fits_level_to_budget the tiles under a viewport are not compared with the limit: 0, unless
 * there is no room to list all of them.
 */
TILECACHE_API tilecache_status tilecache_view_get_shortfall_bytes(const tilecache_view *view, int64_t *bytes);

/**
 * Makes the levels of a view coarser than its options say, by octaves, 0 to 8. Default: 0.
 *
 * For a limit of the renderer's own, such as texture slots. Does not apply to tilecache_view_update_needed().
 */
TILECACHE_API tilecache_status tilecache_view_set_level_bias(tilecache_view *view, double octaves);

/** Reads the octaves by which the view's levels are coarser than its options say. */
TILECACHE_API tilecache_status tilecache_view_get_level_bias(const tilecache_view *view, double *octaves);

/**
 * Makes the levels of one layer coarser, by octaves, 0 to 8. The larger of this and tilecache_view_set_level_bias()
 * applies. Default: 0.
 *
 * For texture slots of some layers only (tilecache_texture_slots_set_layers()), so that they do not make the others
 * coarser. Ends when the view does not show the layer any more.
 *
 * @param layer ignored if the view does not show it.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a layer of another cache or one that was removed, and other octaves.
 */
TILECACHE_API tilecache_status tilecache_view_set_layer_level_bias(
    tilecache_view *view, tilecache_layer layer, double octaves);

/**
 * Reads the octaves of one layer's own bias; 0 for a layer that the view does not show.
 *
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a layer of another cache or one that was removed.
 */
TILECACHE_API tilecache_status tilecache_view_get_layer_level_bias(
    const tilecache_view *view, tilecache_layer layer, double *octaves);

/* ---------------------------------------------------------------------------------------------------------- Frames */

/** A tile, or a part of one, and where to draw it. */
typedef struct tilecache_placement {
    /** The tile, leased until the frame is released. */
    tilecache_tile tile;
    /** World rectangle that it covers, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
    /** Part of the tile to draw, in the tile's own pixels, border included. */
    tilecache_rectangle part;
    /** Whether this is the exact tile that the screen needs; otherwise it is a fallback. */
    int32_t is_exact;
    /** Whether its layer is drawn at a coarser level than the view asks for, since the tiles of that level have no room. */
    int32_t is_coarsened;
} tilecache_placement;

/** Reason why a needed tile is unavailable. */
typedef int32_t tilecache_cause;
enum {
    /** The source reported that the tile does not exist. */
    TILECACHE_CAUSE_ABSENT = 0,
    /** The tile failed permanently; it is not requested again until an invalidation. */
    TILECACHE_CAUSE_FAILED = 1
};

/** A needed tile that will not be loaded. */
typedef struct tilecache_unavailable_tile {
    tilecache_layer layer;
    tilecache_cause cause;
    tilecache_coordinate tile;
    /** World rectangle that it would cover, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
} tilecache_unavailable_tile;

/** A needed tile that is on its way: being loaded or decompressed, or waiting for its turn or its next attempt. */
typedef struct tilecache_late_tile {
    tilecache_layer layer;
    /** Whether its load is in flight. */
    int32_t is_loading;
    tilecache_coordinate tile;
    /** World rectangle that it will cover, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
    /** When it was first missed. For a tile that was drawn and removed since: when its load began, or now. */
    int64_t since;
} tilecache_late_tile;

/** Counts of a frame. */
typedef struct tilecache_frame_info {
    size_t struct_size;
    /** Number of placements. */
    size_t placement_count;
    /** Tiles that the previous frame did not draw. */
    size_t appeared_count;
    /** Tiles that only the previous frame drew. */
    size_t disappeared_count;
    /** Needed tiles that could not be drawn exactly; absent ones do not count. */
    size_t missing_tile_count;
    /** Needed tiles that are unavailable. */
    size_t unavailable_count;
    /** Needed tiles that are neither drawn exactly nor unavailable. */
    size_t late_count;
    /** Layers that are drawn at a coarser level than the viewport's scale asks for, since the tiles of that level have no
     *  room. The placements tell which; see tilecache_view_get_shortfall_bytes(). */
    size_t coarsened_layer_count;
    /** Tiles on screen that are neither drawn nor loaded, since there are too many. They are not missing. Of the coarsest
     *  level at most 1024 tiles are needed, or as many as the screen takes at half of their size if these are more: those
     *  around its middle. A pyramid's `contents` avoids it. Tiles for which there is no memory count too. */
    size_t left_out_tile_count;
    /** Shares of the layers' area on the screen, 0 to 1, whose sum is 1: drawn from exact tiles, from coarser or finer
     *  ones in place of missing tiles, not at all. What is absent at the source counts as sharp. NaN if nothing is on the
     *  screen, or after tilecache_view_update_needed(). */
    double sharp, fallback, blank;
    /** Mean number of levels by which a pixel is drawn too coarse; a blank one counts as the number of levels. NaN as the
     *  shares. */
    double deficit;
} tilecache_frame_info;

/**
 * Composes the frame for the last update. Never waits for a load or a copy. Empty after a shutdown.
 *
 * @param frame receives the handle. Release it soon with tilecache_frame_release(): its tiles are leased until then.
 */
TILECACHE_API tilecache_status tilecache_view_frame(tilecache_view *view, tilecache_frame **frame);

/** Releases a frame; its placements and identities become invalid. */
TILECACHE_API void tilecache_frame_release(tilecache_frame *frame);

/** Reads the counts of a frame. Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_frame_get_info(const tilecache_frame *frame, tilecache_frame_info *info);

/**
 * Lists the placements in the order of drawing: by layer, fallbacks in the place of the tiles they replace.
 *
 * @param placement_size sizeof(tilecache_placement): the distance from one element to the next.
 * @param placements receives the array, valid until the frame is released; NULL if it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_frame_get_placements(
    const tilecache_frame *frame, size_t placement_size, const tilecache_placement **placements, size_t *count);

/** Lists tiles that the previous frame did not draw: upload them. The array is valid until the frame is released. */
TILECACHE_API tilecache_status tilecache_frame_get_appeared(
    const tilecache_frame *frame, const tilecache_identity **identities, size_t *count);

/** Lists tiles that only the previous frame drew: their textures may be freed. Valid until the frame is released. */
TILECACHE_API tilecache_status tilecache_frame_get_disappeared(
    const tilecache_frame *frame, const tilecache_identity **identities, size_t *count);

/**
 * Lists needed tiles that are unavailable, by layer. Fallbacks, if any, are drawn in their place.
 *
 * @param tile_size sizeof(tilecache_unavailable_tile): the distance from one element to the next.
 * @param tiles receives the array, valid until the frame is released; NULL if it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_frame_get_unavailable(
    const tilecache_frame *frame, size_t tile_size, const tilecache_unavailable_tile **tiles, size_t *count);

/**
 * Lists needed tiles that are late, by layer. Fallbacks, if any, are drawn in their place.
 *
 * @param tile_size sizeof(tilecache_late_tile): the distance from one element to the next.
 * @param tiles receives the array, valid until the frame is released; NULL if it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_frame_get_late(
    const tilecache_frame *frame, size_t tile_size, const tilecache_late_tile **tiles, size_t *count);

/**
 * Leases the tile of one placement for longer than its frame.
 *
 * @param index of the placement, from 0.
 * @param lease receives the handle, to be released with tilecache_lease_release().
 */
TILECACHE_API tilecache_status tilecache_frame_lease(
    const tilecache_frame *frame, size_t index, tilecache_lease **lease);

/** Reads the leased tile; its pixels are valid until the lease is released. */
TILECACHE_API tilecache_status tilecache_lease_get_tile(const tilecache_lease *lease, tilecache_tile *tile);

/**
 * Place of a leased tile in memory: a slot of a range of equal slots.
 *
 * The cache has one range for each slot size. Its start and the stride are multiples of a page of the system, and it
 * does not move while a tile in it is leased or a layer of its tile size exists. A renderer may wrap it once (Metal's
 * bytesNoCopy), or wrap the single slot of a leased tile. Only slots of leased tiles may be read: the pages of the
 * others come and go. A driver that pins the pages of all it wraps would commit them beyond the byte limit, and keep old
 * pages of slots that were decommitted since: there, wrap single slots while they are leased, or copy.
 */
typedef struct tilecache_tile_memory {
    size_t struct_size;
    /** Start of the range. */
    const void *range;
    /** Bytes of the range, most of them addresses without memory. */
    size_t range_byte_count;
    /** Bytes from one slot to the next, at least those of a tile. */
    size_t slot_stride;
    /** Index of the tile's slot; its pixels are at range + slot_index * slot_stride. */
    size_t slot_index;
} tilecache_tile_memory;

/** Reads where the leased tile is in memory. Set `memory->struct_size` first. */
TILECACHE_API tilecache_status tilecache_lease_get_memory(const tilecache_lease *lease, tilecache_tile_memory *memory);

/** Releases a lease. */
TILECACHE_API void tilecache_lease_release(tilecache_lease *lease);

/* --------------------------------------------------------------------------------------------------- Texture slots */

/** Settings of texture slots. tilecache_texture_options_init() fills in the defaults. */
typedef struct tilecache_texture_options {
    size_t struct_size;
    /** Maximum number of slots, 1 to 65,536. Default: 128. */
    int32_t slot_limit;
    /** Pixel format of the slots. Tiles of other formats, and larger ones, are left out. Default:
     *  TILECACHE_FORMAT_RGBA8. */
    tilecache_format format;
    /** Pixels of a slot with the tiles' border, 1 to 65,536 each. Default: 256. */
    int32_t width, height;
    /** Bytes of a tile, 1 or more, if the format is TILECACHE_FORMAT_OPAQUE. */
    int64_t opaque_bytes_per_tile;
    /** Maximum bytes of a frame's uploads, at least those of a slot. Default: 4 MiB. */
    int64_t upload_bytes;
    /** Maximum time of a frame's uploads in nanoseconds, 1 or more. Bounds the bytes by the speed reported with
     *  tilecache_texture_slots_note_uploads(). A frame that needs an upload always has one. Default: 2 ms. */
    int64_t upload_nanoseconds;
    /** Whether tiles keep their slots until others cover their area. If level 0 is one tile, it keeps its slot, and
     *  areas with uploaded tiles then never show a hole; with several tiles, areas off screen may lose theirs. Pin the
     *  coarsest level, so that the cache always has it. Default: false. */
    int32_t never_shows_holes;
    int32_t reserved;
} tilecache_texture_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_texture_options_init(tilecache_texture_options *options, size_t struct_size);

/**
 * Creates empty texture slots: the layers of an array texture, or the cells of an atlas. One for each view and format,
 * or several for different layers (tilecache_texture_slots_set_layers()).
 *
 * @param options NULL for the defaults.
 * @param slots receives the handle, to be released with tilecache_texture_slots_release().
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if an option is out of its range, TILECACHE_ERROR_INVALID_ARGUMENT for
 *        an unknown format or opaque payloads without their bytes.
 */
TILECACHE_API tilecache_status tilecache_texture_slots_create(
    const tilecache_texture_options *options, tilecache_texture_slots **slots);

/** Releases texture slots. Their frames stay valid. */
TILECACHE_API void tilecache_texture_slots_release(tilecache_texture_slots *slots);

/**
 * Sets the layers whose tiles get slots. Default: all with the slots' pixel format.
 *
 * For a view whose layers have tiles of different sizes: slots for each size, so that small tiles do not take large
 * slots, nor one size's lack of slots makes the others coarser. The renderer then sets the bias of these layers only
 * (tilecache_view_set_layer_level_bias()) and draws the placements of all slots in the order of the view's layers.
 * Slots of layers that are left out are emptied.
 *
 * @param cache the layers' cache; NULL for all layers again.
 * @param layers each once; may be NULL if there are none.
 * @param layer_count 0 or more.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for layers of another cache.
 */
TILECACHE_API tilecache_status tilecache_texture_slots_set_layers(
    tilecache_texture_slots *slots, const tilecache_cache *cache, const tilecache_layer *layers, size_t layer_count);

/**
 * Decides the uploads and placements of a frame.
 *
 * The renderer copies the uploads, draws the placements, in this order and in one queue, and sets the view's level bias.
 * Tiles without a slot yet are replaced by fallbacks with one. A tile on screen never loses its slot.
 *
 * @param frame the frame to draw; may be released afterwards.
 * @param view its view, for tiles to upload ahead; NULL uploads none ahead.
 * @param result receives the handle, to be released with tilecache_texture_frame_release().
 */
TILECACHE_API tilecache_status tilecache_texture_slots_update(
    tilecache_texture_slots *slots,
    const tilecache_frame *frame,
    tilecache_view *view,
    tilecache_texture_frame **result);

/**
 * Reports how long the uploads of a frame took, by which upload_nanoseconds becomes a number of bytes.
 *
 * @param bytes 0 or more.
 * @param nanoseconds 0 or more.
 */
TILECACHE_API tilecache_status tilecache_texture_slots_note_uploads(
    tilecache_texture_slots *slots, int64_t bytes, int64_t nanoseconds);

/**
 * Changes the maximum number of slots, 1 to 65,536.
 *
 * With the next frame, a lower limit empties the slots beyond it, except those of tiles on screen:
 * tilecache_texture_frame_info.slot_count says which slots still exist.
 */
TILECACHE_API tilecache_status tilecache_texture_slots_set_limit(tilecache_texture_slots *slots, int32_t slot_limit);

/** Changes the budget of each frame. Fewer bytes than those of a slot, and fewer nanoseconds than 1, are raised to it. */
TILECACHE_API tilecache_status tilecache_texture_slots_set_budget(
    tilecache_texture_slots *slots, int64_t upload_bytes, int64_t upload_nanoseconds);

/**
 * Empties the slots of a layer that is to be removed, or whose old pixels must not be drawn any more.
 *
 * @param cache the layer's cache; NULL empties all slots, for a renderer that has lost its textures.
 * @param layer ignored without a cache. Call this before tilecache_remove_layer().
 * @param region in world pixels; NULL for all of the layer.
 */
TILECACHE_API tilecache_status tilecache_texture_slots_remove(
    tilecache_texture_slots *slots,
    const tilecache_cache *cache,
    tilecache_layer layer,
    const tilecache_rectangle *region);

/** Counts of texture slots since their creation, and the slots in use now. */
typedef struct tilecache_texture_statistics {
    size_t struct_size;
    /** Frames; uploads and their bytes; the maximum of a frame. */
    int64_t frames, uploads, uploaded_bytes, peak_uploads, peak_uploaded_bytes;
    /** Uploads of tiles that were not on screen and their bytes; those of them that were drawn later. */
    int64_t ahead_uploads, ahead_bytes, ahead_drawn;
    /** Frames in which a needed tile was ready and waited for an upload. */
    int64_t waiting_frames;
    /** Tiles that lost their slot to another, or beyond a lowered limit; changes of the level bias; slots that hold tiles
     *  now. */
    int64_t evictions, bias_changes, used_slots;
} tilecache_texture_statistics;

/** Reads the statistics of texture slots. Set `statistics->struct_size` first. */
TILECACHE_API tilecache_status tilecache_texture_slots_get_statistics(
    const tilecache_texture_slots *slots, tilecache_texture_statistics *statistics);

/** A tile to copy into a slot before the placements of the same frame are drawn. */
typedef struct tilecache_texture_upload {
    /** The tile, leased until the texture frame is released. It belongs at the slot's top left corner. */
    tilecache_tile tile;
    /** Index of the slot: a layer of an array texture, or a cell of an atlas. */
    int32_t slot;
    /** Whether the tile is not on screen yet. */
    int32_t is_ahead;
} tilecache_texture_upload;

/** A part of a slot, and where to draw it. */
typedef struct tilecache_texture_placement {
    /** The pixels in the slot. */
    tilecache_identity identity;
    /** World rectangle that it covers, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
    /** Part of the slot to draw, in pixels from its top left corner. */
    tilecache_rectangle part;
    /** Index of the slot. */
    int32_t slot;
    /** Whether this is the tile that the screen needs; otherwise it is a fallback. Its older pixels count as exact. */
    int32_t is_exact;
} tilecache_texture_placement;

/** Counts of a texture frame, and what follows for the next one. */
typedef struct tilecache_texture_frame_info {
    size_t struct_size;
    size_t upload_count, placement_count;
    /** Slots that must exist: slots with a larger index hold nothing. */
    int32_t slot_count;
    /** Slots with which the view would need no bias, wherever it is. */
    int32_t needed_slots;
    /** Octaves for tilecache_view_set_level_bias(); the largest, if the view has slots for several formats. Of slots for
     *  some layers only, octaves for tilecache_view_set_layer_level_bias() of each. Larger than 0 if the view's tiles can
     *  exceed the slots. */
    double level_bias;
    /** Needed tiles that are ready in the cache and wait for an upload. */
    int32_t waiting_tile_count;
    /** Needed tiles of which a part is not drawn at all. */
    int32_t hole_count;
} tilecache_texture_frame_info;

/** Reads the counts of a texture frame. Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_texture_frame_get_info(
    const tilecache_texture_frame *frame, tilecache_texture_frame_info *info);

/**
 * Lists the uploads, the most valuable first.
 *
 * @param upload_size sizeof(tilecache_texture_upload): the distance from one element to the next.
 * @param uploads receives the array, valid until the texture frame is released; NULL if it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_texture_frame_get_uploads(
    const tilecache_texture_frame *frame, size_t upload_size, const tilecache_texture_upload **uploads, size_t *count);

/** Lists the placements by layer; parameters as tilecache_texture_frame_get_uploads(). */
TILECACHE_API tilecache_status tilecache_texture_frame_get_placements(
    const tilecache_texture_frame *frame,
    size_t placement_size,
    const tilecache_texture_placement **placements,
    size_t *count);

/** Leases the tile of one upload for longer than its frame, for a copy on another thread. */
TILECACHE_API tilecache_status tilecache_texture_frame_lease(
    const tilecache_texture_frame *frame, size_t index, tilecache_lease **lease);

/** Releases a texture frame; its uploads and placements become invalid. */
TILECACHE_API void tilecache_texture_frame_release(tilecache_texture_frame *frame);

/* --------------------------------------------------------------------------------------------------------- Fetches */

/** State of a host's request for one tile. */
typedef int32_t tilecache_fetch_state;
enum {
    /** The tile is on its way: the callback comes. */
    TILECACHE_FETCH_LATE = 0,
    /** Its current pixels are leased. */
    TILECACHE_FETCH_READY = 1,
    /** It does not exist, in the pyramid or at the source. */
    TILECACHE_FETCH_ABSENT = 2,
    /** It failed permanently; it is not loaded again until an invalidation. */
    TILECACHE_FETCH_FAILED = 3,
    /** The layer was removed, or the cache was shut down. */
    TILECACHE_FETCH_REMOVED = 4
};

/** Rank of a fetched tile among the loads. */
typedef int32_t tilecache_fetch_rank;
enum {
    /** The tile is visible: it ranks as a needed tile of a view. */
    TILECACHE_RANK_VISIBLE = 0,
    /** The tile is beside the visible ones: after needed tiles, before predicted ones that are not urgent. */
    TILECACHE_RANK_MARGIN = 1
};

/**
 * Receives the end of a fetch. Any state but TILECACHE_FETCH_LATE.
 *
 * @param lease the tile if it is ready, to be released with tilecache_lease_release(); otherwise NULL.
 */
typedef void (*tilecache_fetch_function)(void *context, tilecache_fetch_state state, tilecache_lease *lease);

/**
 * Fetches one tile, for renderers that address tiles themselves, such as map widgets.
 *
 * The state may be known at once, for example if the tile is in memory; function is then never called. Otherwise the
 * tile is late: it is like a needed tile of a view until function is called, once, on a thread of the library, one call
 * at a time for each cache, perhaps before this returns. A temporary failure is retried and ends nothing. The removal
 * of the layer and the shutdown of the cache end it with TILECACHE_FETCH_REMOVED, which may come after
 * tilecache_shutdown() has returned.
 *
 * A compressed tile is decompressed on the calling thread, if there is a slot for it. Pixels from before an invalidation
 * do not end a fetch; tilecache_get_placement() has them meanwhile. Pixels handed over count as drawn. Fetches are
 * neither demands nor prefetches in the statistics.
 *
 * @param destroy called with context when function has been called or never will be.
 * @param state receives the state now.
 * @param lease receives the tile if it is ready; otherwise NULL.
 * @param fetch receives the handle if the tile is late, to be released with tilecache_fetch_release(); otherwise NULL.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the layer is unknown or was removed before, TILECACHE_ERROR_NO_ROOM if
 *        4,096 fetches are pending or the limit has no room for one, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_fetch_tile(
    tilecache_cache *cache,
    tilecache_layer layer,
    tilecache_coordinate tile,
    tilecache_fetch_rank rank,
    tilecache_fetch_function function,
    void *context,
    tilecache_function destroy,
    tilecache_fetch_state *state,
    tilecache_lease **lease,
    tilecache_fetch **fetch);

/** Describes a fetch of a late tile. */
typedef struct tilecache_fetch_info {
    size_t struct_size;
    /** When it was made. */
    int64_t since;
    /** Whether it is pending and the tile's load is in flight. */
    int32_t is_loading;
    int32_t reserved;
} tilecache_fetch_info;

/** Reads what a fetch waits for. Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_fetch_get_info(const tilecache_fetch *fetch, tilecache_fetch_info *info);

/**
 * Cancels a fetch: its function does not begin afterwards. Does not wait for a call that has begun.
 *
 * @param is_cancelled receives whether that kept the function from being called: false if the call has begun, on
 *        whatever thread, or if the fetch was cancelled before. May be NULL.
 */
TILECACHE_API tilecache_status tilecache_fetch_cancel(tilecache_fetch *fetch, int32_t *is_cancelled);

/** Cancels a fetch, if it has not ended, and releases the handle. */
TILECACHE_API void tilecache_fetch_release(tilecache_fetch *fetch);

/**
 * Leases the best that can be drawn for a tile now: its own pixels, also stale ones, or an ancestor's part.
 *
 * `placement->part` of the tile's pixels shows `placement->world`, which is the wanted tile's rectangle unless the
 * ancestor covers only a part of it. Neither a use nor a demand.
 *
 * @param placement_size sizeof(tilecache_placement).
 * @param placement receives what to draw, valid until the lease is released.
 * @param lease receives the handle, to be released with tilecache_lease_release().
 * @return TILECACHE_ERROR_NOT_RESIDENT if nothing is decoded.
 */
TILECACHE_API tilecache_status tilecache_get_placement(
    tilecache_cache *cache,
    tilecache_layer layer,
    tilecache_coordinate tile,
    size_t placement_size,
    tilecache_placement *placement,
    tilecache_lease **lease);

/* -------------------------------------------------------------------------------------------------------- Profiles */

/**
 * Creates a profile from the bytes of tilecache_profile_get_bytes().
 *
 * Read them from a file at the start of a program and set the profile in tilecache_layer_options. Docs/Profiles.md says
 * what a profile contains and where it applies.
 *
 * @param bytes copied; NULL if byte_count is 0.
 * @param byte_count 0 for an empty profile.
 * @param profile receives the handle, to be released with tilecache_profile_release().
 * @return TILECACHE_ERROR_INVALID_PROFILE if the bytes are not a profile of this version, or damaged;
 *        tilecache_last_error() names the field and what was expected.
 */
TILECACHE_API tilecache_status tilecache_profile_create(
    const void *bytes, size_t byte_count, tilecache_profile **profile);

/** Releases a profile; layers that were given it keep their copies. */
TILECACHE_API void tilecache_profile_release(tilecache_profile *profile);

/**
 * Reads a profile as bytes, to be saved.
 *
 * @param bytes receives all of them; may be NULL if capacity is 0.
 * @param capacity bytes at `bytes`. 300,000 suffice for any profile.
 * @param byte_count receives their number; may be NULL.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if capacity is neither 0 nor sufficient; nothing is written then.
 */
TILECACHE_API tilecache_status tilecache_profile_get_bytes(
    const tilecache_profile *profile, void *bytes, size_t capacity, size_t *byte_count);

/** What a profile contains. */
typedef struct tilecache_profile_info {
    size_t struct_size;
    /** Number of sessions merged, 0 to 2^48. */
    int64_t sessions;
    /** Whether it knows which places were viewed. */
    int32_t has_places;
    int32_t reserved;
} tilecache_profile_info;

/** Reads what a profile contains. Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_profile_get_info(
    const tilecache_profile *profile, tilecache_profile_info *info);

/**
 * Adds what was learned in other sessions. The order does not matter, apart from rounding.
 *
 * A session must be added once only. Counts stop at a maximum. Beyond 65,535 sessions, those of places
 * are rounded.
 */
TILECACHE_API tilecache_status tilecache_profile_merge(tilecache_profile *profile, const tilecache_profile *other);

/** Removes which places were viewed; probabilities remain. */
TILECACHE_API tilecache_status tilecache_profile_remove_places(tilecache_profile *profile);

/**
 * Reads what was learned of a layer in this session so far, without the profile of its options.
 *
 * Contains only what was learned in existing views: call it before they are destroyed. Takes a few milliseconds.
 *
 * @param profile receives the handle, to be released with tilecache_profile_release(), or NULL if no view shows the
 *        layer.
 */
TILECACHE_API tilecache_status tilecache_get_learned_profile(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_profile **profile);

/* ------------------------------------------------------------------------------------------------------ Statistics */

/**
 * Statistics of a cache: counters, which only grow, and current sizes.
 *
 * A demand is a tile that a frame needs and the previous frame did not; each view's first frame is left out, and so are
 * tiles known to be absent. Rates are 0 to 1, and NaN if the denominator is 0.
 */
typedef struct tilecache_statistics {
    size_t struct_size;
    /** Pan demands, at the level of the previous frame. Of those: decoded hits, compressed hits, late (the load was in
     *  flight), missed (not started). */
    int64_t pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed;
    /** Zoom demands, at another level than the previous frame's, in the same way. */
    int64_t zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed;
    /** Hits over demands. */
    double hit_rate;
    /** Loads never drawn over all loads. Loads in flight and tiles not drawn yet are included. */
    double waste;
    /** Decoded bytes over compressed bytes of all tiles that were compressed. */
    double compression_ratio;
    /** Loads that started, finished with pixels, were absent, failed, were cancelled, were outdated by an
     *  invalidation. */
    int64_t loads_started, loads_finished, loads_absent, loads_failed, loads_cancelled, loads_outdated;
    /** Decoded bytes of finished loads. */
    int64_t loaded_bytes;
    /** Loads that will never be drawn: outdated, refused or cancelled ones, and those whose pixels were removed before
     *  they were drawn. */
    int64_t loads_unseen;
    /** Requests that were completed more than once. */
    int64_t second_answers;
    /** Prefetches: loads that started before the tile was needed. Of those: drawn later, demanded while in flight,
     *  removed undrawn, cancelled while in flight. */
    int64_t prefetch_started, prefetch_useful, prefetch_late, prefetch_wasted, prefetch_cancelled;
    /** Tiles compressed, decompressed, found incompressible; compressed blocks with a wrong checksum. */
    int64_t demotions, promotions, incompressible, damaged_blocks;
    /** Tiles removed, by cause: to make room, incompressible, replaced by newer pixels or absent, an invalidation, a
     *  trim, a lower limit or memory pressure, damage or an undecodable payload. */
    int64_t removed_for_room, removed_incompressible, removed_replaced, removed_invalidated, removed_trimmed,
        removed_damaged;
    /** Limit in force, bytes in use, and peak of the bytes in use. */
    int64_t byte_limit, used_bytes, peak_bytes;
    /** Bytes in use now for decoded tiles (loads in flight included), compressed tiles, loads in flight, tables. */
    int64_t decoded_bytes, compressed_bytes, in_flight_bytes, bookkeeping_bytes;
    /** Peaks of decoded tiles (without loads in flight), of compressed tiles, and of the slots of loads in flight. */
    int64_t peak_decoded_bytes, peak_compressed_bytes, peak_in_flight_bytes;
    /** Tiles now: decoded, compressed, loaded but not drawn yet, and the prefetched ones of the latter. */
    int64_t decoded_tiles, compressed_tiles, unseen_tiles, unseen_prefetched_tiles;
    /** Loads in flight now, without revalidations. */
    int64_t loads_in_flight;
    /** Mean duration of a load, exponentially weighted, in nanoseconds. */
    int64_t mean_load_nanoseconds;
    /** Encoded payloads that sources passed and that were kept; of those, payloads that could not be decoded. */
    int64_t encoded_payloads, undecodable_payloads;
    /** Synthesized tiles of levels that the source does not have; each is a load too. Further loads from the source to
     *  make them. Of those, permanent failures, which leave a hole. */
    int64_t synthesized_tiles, synthesis_loads, synthesis_holes;
    /** Waits of demand loads for a worker, from the first need of the tile, without retries. Count, percentiles 50, 95
     *  and 99 (up to 6 % too long, -1 if there are none) and maximum, in nanoseconds. */
    int64_t demand_waits, demand_wait_p50, demand_wait_p95, demand_wait_p99, demand_wait_maximum;
    /** The same for prefetches, from the first of the consecutive plans that contain the tile. */
    int64_t prefetch_waits, prefetch_wait_p50, prefetch_wait_p95, prefetch_wait_p99, prefetch_wait_maximum;
    /** Loads in flight for longer than stuck_load_time. Workers blocked in a source's code for longer than that. Age of
     *  the oldest load in flight, in nanoseconds, 0 if there is none. */
    int64_t stuck_loads, blocked_workers, oldest_load_nanoseconds;
    /** Tiles-ready callbacks that took longer than slow_callback_time, running ones included; the longest, in
     *  nanoseconds. */
    int64_t slow_callbacks, longest_callback_nanoseconds;
    /** Viewports that could not be drawn and were ignored. */
    int64_t refused_viewports;
    /** Pinned tiles that are decoded now, and their bytes. */
    int64_t pinned_tiles, pinned_bytes;
    /** Loads that were refused memory. Their tiles are retried after a wait, and only if memory is available. */
    int64_t loads_refused;
    /** Retried loads: their tiles had failed or had been refused memory. */
    int64_t loads_retried;
    /** Loads whose pixels have been drawn. */
    int64_t loads_drawn;
    /** Prefetches that ended without pixels; prefetches in flight whose tile has not been needed yet. */
    int64_t prefetch_empty, prefetches_in_flight;
    /** Bytes of one screen's tiles if they have no room, the maximum of all views; otherwise 0. */
    int64_t shortfall_bytes;
    /** Stores that layers have named so far; tilecache_get_store_counts() reads the look-ups in each. */
    int64_t store_count;
    /** Loads that their source put off, TILECACHE_OUTCOME_POSTPONED or tilecache_request_postpone(). */
    int64_t loads_postponed;
    /** Part of bookkeeping_bytes for stores: buffers, filters, connections, and tiles on their way to them. Stores are
     *  asked to keep to an eighth of the limit in force. */
    int64_t store_bytes;
    /** Loads of expired tiles that a view needed, which loads_started and the other counts of loads do not contain. Of
     *  those: tiles that are still valid, tiles with new pixels or absent ones, and revalidations without an answer
     *  (failed, put off, refused memory, cancelled, outdated). Those in flight now. */
    int64_t revalidations_started, revalidations_unchanged, revalidations_changed, revalidations_unanswered,
        revalidations_in_flight;
} tilecache_statistics;

/** Statistics of one view since its creation: counters, which only grow. Rates and shares as in tilecache_statistics. */
typedef struct tilecache_view_statistics {
    size_t struct_size;
    /** The view's part of the demands of tilecache_statistics. */
    int64_t pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed;
    int64_t zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed;
    /** Hits over demands. */
    double hit_rate;
    /** Frames; of those, busy ones, that moved or lacked a tile (the first one counts only if it lacked one), and those
     *  that lacked a needed tile. */
    int64_t frames, busy_frames, incomplete_frames;
    /** Screen pixels of the busy frames, for each layer: drawn sharply, drawn from fallbacks, not drawn, as in
     *  tilecache_frame_info. Differences of two readings give the shares of the time in between. */
    double sharp_pixels, fallback_pixels, blank_pixels;
    /** Those pixels times the levels by which they were drawn too coarse. */
    double deficit_pixels;
    /** Shares of those pixels and the mean deficit; the figures of `cachebench replay`, which counts the same frames. */
    double sharp, fallback, blank, deficit;
} tilecache_view_statistics;

/** Reads the statistics of a view. Set `statistics->struct_size` first. */
TILECACHE_API tilecache_status tilecache_view_get_statistics(
    const tilecache_view *view, tilecache_view_statistics *statistics);

/** Statistics of one layer since it was added: counters, which only grow, and current sizes. */
typedef struct tilecache_layer_statistics {
    size_t struct_size;
    /** The layer's part of the demands of tilecache_statistics. */
    int64_t pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed;
    int64_t zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed;
    /** Hits over demands; NaN if there are none. */
    double hit_rate;
    /** The layer's part of the loads of tilecache_statistics. */
    int64_t loads_started, loads_finished, loads_absent, loads_failed, loads_postponed, loads_cancelled, loads_outdated,
        loads_refused, loads_retried, loads_drawn, loads_unseen;
    /** Decoded bytes of finished loads. */
    int64_t loaded_bytes;
    /** Bytes in use now for decoded tiles (loads in flight included) and for compressed tiles. */
    int64_t decoded_bytes, compressed_bytes;
} tilecache_layer_statistics;

/**
 * Reads the statistics of a layer. Set `statistics->struct_size` first. tilecache_get_prefetch_counts() has its
 * prefetches.
 */
TILECACHE_API tilecache_status tilecache_get_layer_statistics(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_layer_statistics *statistics);

/** Reads the statistics of a cache, all at one moment. Set `statistics->struct_size` first. */
TILECACHE_API tilecache_status tilecache_get_statistics(const tilecache_cache *cache, tilecache_statistics *statistics);

/**
 * Formats the statistics as one line for a log.
 *
 * @param text receives the line in UTF-8, ended by a NUL; whole characters only, if it does not fit. May be NULL if
 *        capacity is 0.
 * @param capacity bytes at text.
 * @param length receives the bytes of the whole line without the NUL; may be NULL.
 */
TILECACHE_API tilecache_status tilecache_describe_statistics(
    const tilecache_cache *cache, char *text, size_t capacity, size_t *length);

/* ---------------------------------------------------------------------------------------------------------- Stores */

/**
 * Writes what a store has buffered, closes it and releases the handle.
 *
 * Returns when the files are written; servers are waited for a bounded time. May be called while layers use the store:
 * their look-ups are misses from then on, and their writes are refused. A later tilecache_store_open() may open the
 * same address. NULL does nothing.
 */
TILECACHE_API void tilecache_store_close(tilecache_store *store);

/** Counts of a store since it was opened, by all caches, and its present sizes. */
typedef struct tilecache_store_statistics {
    size_t struct_size;
    /** Look-ups that found a usable entry. */
    int64_t hits;
    /** Look-ups that did not, the sum of all causes. */
    int64_t misses;
    /** Entries written; entries evicted to make room. */
    int64_t writes, evictions;
    /** Entries dropped because the buffer was full or there was no room. */
    int64_t dropped;
    /** Entries refused: too large, of an old generation, or the store is read-only, failing or closed. */
    int64_t refused;
    /** Operations that failed: I/O errors, a full disk. */
    int64_t failures;
    /** Bytes of entries read and written. */
    int64_t bytes_read, bytes_written;
    /** Bytes of all files now; -1 if the store has none of its own. */
    int64_t disk_bytes;
    /** Upper bound of the store's memory now, in bytes. The limit of a cache that uses the store includes it. */
    int64_t memory_bytes;
} tilecache_store_statistics;

/** Reads the statistics of a store. Set `statistics->struct_size` first. */
TILECACHE_API tilecache_status tilecache_store_get_statistics(
    const tilecache_store *store, tilecache_store_statistics *statistics);

/** Look-ups and writes of one cache in one store, for all layers. The counters only grow. */
typedef struct tilecache_store_counts {
    size_t struct_size;
    /** Look-ups that found the tile, or that it does not exist. */
    int64_t hits;
    /** Hits that were out of date: drawn while the source was asked again. */
    int64_t stale_hits;
    /** Look-ups that found nothing usable. */
    int64_t misses;
    /** Tiles that the store was known not to have, without a look-up. */
    int64_t absences;
    /** Tiles for which the store was not asked, because it has been slower than the source. */
    int64_t skipped;
    /** Tiles that the store took; were not written because the store or the cache was behind; were refused. */
    int64_t writes, dropped, refused;
    /** Sum of the waits for look-ups, in nanoseconds. */
    int64_t wait_nanoseconds;
} tilecache_store_counts;

/**
 * Reads a cache's counts of one store. Set `counts->struct_size` first.
 *
 * @param index of the store, from 0, in the order in which the cache's layers first named them.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the index is not below tilecache_statistics.store_count.
 */
TILECACHE_API tilecache_status tilecache_get_store_counts(
    const tilecache_cache *cache, size_t index, tilecache_store_counts *counts);

/* ------------------------------------------------------------------------------------------------------- Recording */

/**
 * Receives the text of a trace in pieces of whole lines, not ended by a NUL.
 *
 * Called on the recording thread, one call at a time, under the recorder's lock, since lines have an order.
 * tilecache_view_update() of any view, and the functions that take a recorder of any kind, fail there with
 * TILECACHE_ERROR_INVALID_ARGUMENT; tilecache_recorder_release() does not.
 */
typedef void (*tilecache_text_function)(void *context, const char *text, size_t byte_count);

/** Header and destination of a trace. Default: into memory. */
typedef struct tilecache_recorder_options {
    size_t struct_size;
    /** View size in screen pixels, at most a million each. Default: 0, that of the first viewport. */
    double viewport_width, viewport_height;
    /** World size in world pixels, whole numbers up to 2^40. Default: 0, left out. */
    double world_width, world_height;
    /** Pixels a side of a tile, 1 to 65,536. Default: 256. */
    int64_t tile_size;
    /** Whether the world wraps horizontally. Default: false. */
    int32_t wraps_x;
    /** A file or pipe to write to. It remains the caller's and must stay open as long as the recorder exists. A pipe
     *  without a reader raises SIGPIPE, unless the program ignores it. Default: -1, none. */
    int32_t file_descriptor;
    /** Name of the view if there are several, UTF-8; copied. Default: NULL, left out. */
    const char *view_name;
    /** A function to write to, instead of a file. Default: NULL. */
    tilecache_text_function write;
    /** Passed to write. */
    void *context;
    /** Called with the context when write will not be called again; may be NULL. */
    tilecache_function destroy;
} tilecache_recorder_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_recorder_options_init(tilecache_recorder_options *options, size_t struct_size);

/**
 * Creates a recorder.
 *
 * If it keeps samples in memory (40 bytes each), it writes the column `rotation` only if a sample was rotated; if it
 * writes as it goes, always.
 *
 * @param options NULL for the defaults.
 * @param recorder receives the handle, to be released with tilecache_recorder_release().
 */
TILECACHE_API tilecache_status tilecache_recorder_create(
    const tilecache_recorder_options *options, tilecache_recorder **recorder);

/** Releases a recorder; views that use it continue to record. */
TILECACHE_API void tilecache_recorder_release(tilecache_recorder *recorder);

/**
 * Records a viewport, for renderers without a tilecache_view.
 *
 * @param time on any clock that does not go back, in nanoseconds, or TILECACHE_TIME_NOW; the first becomes 0.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if the viewport cannot be drawn or the time is not later than the last; the
 *        viewport is then counted and not recorded.
 */
TILECACHE_API tilecache_status tilecache_recorder_record(
    tilecache_recorder *recorder, const tilecache_viewport *viewport, int64_t time);

/** Counts of the viewports that a recorder received. */
typedef struct tilecache_recorder_counts {
    size_t struct_size;
    /** Samples in the trace. */
    int64_t recorded;
    /** Viewports left out because they were not later than the one before. */
    int64_t out_of_order;
    /** Viewports left out because they cannot be drawn. */
    int64_t undrawable;
    /** Samples in the trace whose view size differs from the header's. */
    int64_t resized;
    /** errno of the first failed write to the file descriptor, after which nothing is written; 0 for none. */
    int32_t write_error;
    int32_t reserved;
} tilecache_recorder_counts;

/** Reads the counts; `counts->struct_size` is to be set. */
TILECACHE_API tilecache_status tilecache_recorder_get_counts(
    const tilecache_recorder *recorder, tilecache_recorder_counts *counts);

/**
 * Reads the trace so far as text; only the header if the recorder writes as it goes.
 *
 * Parameters as tilecache_describe_statistics(). The trace may have grown by the next call.
 */
TILECACHE_API tilecache_status tilecache_recorder_get_text(
    const tilecache_recorder *recorder, char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
