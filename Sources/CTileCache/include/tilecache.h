/**
 * tilecache.h: the C interface of TileCache, a cache that keeps the tiles a panning and zooming renderer needs ready in
 * memory, ahead of need, under one hard byte limit.
 *
 * A renderer makes a cache, adds its layers (each with a source of pixels written in C), makes a view for each
 * viewport, and for each frame calls tilecache_view_update() and tilecache_view_frame() and draws the placements.
 * Docs/C.md walks through it; Examples/CRenderer is a program.
 *
 * RULES
 *
 * Status. Functions that can fail return a tilecache_status: TILECACHE_OK, which is 0, or what went wrong, larger than
 * 0. tilecache_last_error() then says in a sentence what was expected and what was given. Out parameters are written on
 * success only. Every argument is checked, apart from what cannot be: a pointer that is not NULL has to point to what
 * its type says, and a handle must not be used after it was destroyed or released.
 *
 * Threads. All functions may be called from any thread at any time, also on the same handle, and also from callbacks
 * unless a callback's comment says otherwise. The call that destroys or releases a handle must be the last one on it.
 *
 * Handles. Caches, views, frames, leases, requests and recorders are opaque and may be given back in any order: what
 * one of them needs of another lives for as long as it has to. Giving NULL back does nothing. Layers are numbers.
 *
 * Callbacks. Each comes with a context pointer, which is handed to it, and a destroy function, which may be NULL. Destroy
 * is called once, with the context, when the library will use neither again, on whatever thread that happens; it is not
 * called where the function that took the callback failed. No lock of the library is held while a callback runs, unless
 * its comment says so. Callbacks must return: neither exceptions nor longjmp() may leave them.
 *
 * Structures. Most begin with struct_size, which the caller sets to sizeof the structure, for inputs and outputs alike;
 * the _init functions do it and fill in the defaults. Later versions only add fields at the end. A library that is newer
 * than the program takes the defaults for fields that the program does not have, and leaves them alone in outputs. One
 * that is older ignores fields at the end that it does not know where they are 0, refuses them with
 * TILECACHE_ERROR_UNSUPPORTED where they are not, and sets them to 0 in outputs. Array elements have no struct_size: who
 * passes an array passes the size of an element with it. tilecache_coordinate, tilecache_identity, tilecache_rectangle
 * and tilecache_tile never change.
 *
 * Units. Times are nanoseconds of the system's monotonic clock (CLOCK_MONOTONIC, tilecache_now()), durations are
 * nanoseconds, sizes of memory are bytes. World coordinates are pixels of the full resolution, x to the right and y
 * downwards. Numbers must be finite. Truth values are int32_t: 0 is false, everything else is true.
 */
#ifndef TILECACHE_H
#define TILECACHE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Stands before each function of the library: it is visible to other libraries whatever the compiler's flags
 * (-fvisibility) or pragmas hide. A program may define it before it includes this header.
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

/** The version that this header belongs to: major, minor, patch. */
#define TILECACHE_VERSION_MAJOR 0
#define TILECACHE_VERSION_MINOR 1
#define TILECACHE_VERSION_PATCH 0
/** The same as one number that grows from version to version. */
#define TILECACHE_VERSION_NUMBER \
    (TILECACHE_VERSION_MAJOR * 1000000 + TILECACHE_VERSION_MINOR * 1000 + TILECACHE_VERSION_PATCH)

/** The version of the library that runs, as text ("0.1.0"); never NULL, valid for good. */
TILECACHE_API const char *tilecache_version(void);

/** The version of the library that runs, to compare with TILECACHE_VERSION_NUMBER. */
TILECACHE_API int32_t tilecache_version_number(void);

/** What became of a call. */
typedef int32_t tilecache_status;
enum {
    /** It did what it says. */
    TILECACHE_OK = 0,
    /** An argument is NULL, not finite, out of its range, or not of this cache. */
    TILECACHE_ERROR_INVALID_ARGUMENT = 1,
    /** A setting of the cache, or of pinned tiles, is out of its range. */
    TILECACHE_ERROR_INVALID_CONFIGURATION = 2,
    /** The levels do not describe a world. */
    TILECACHE_ERROR_INVALID_PYRAMID = 3,
    /** A layer's tiles cannot be held: too large for the byte limit, or their size overflows. */
    TILECACHE_ERROR_INVALID_LAYER = 4,
    /** The system denied memory or addresses. */
    TILECACHE_ERROR_OUT_OF_MEMORY = 5,
    /** The cache has been shut down. */
    TILECACHE_ERROR_SHUT_DOWN = 6,
    /** A structure has fields set that this version does not know. */
    TILECACHE_ERROR_UNSUPPORTED = 7,
    /** The request has been completed before; the second answer was counted and ignored. */
    TILECACHE_ERROR_ALREADY_COMPLETED = 8,
    /** There is no room for the tile now; it will be asked for again if it is still needed. */
    TILECACHE_ERROR_NO_ROOM = 9,
    /** It had not ended within the time given. */
    TILECACHE_ERROR_TIMED_OUT = 10,
    /** The tile is not decoded now. */
    TILECACHE_ERROR_NOT_RESIDENT = 11,
    /** The limit that was asked for is too high; a lower one is in force. */
    TILECACHE_ERROR_LIMIT_CLAMPED = 12,
    /** An address names no tiles that can be opened (tilecache_sources.h). */
    TILECACHE_ERROR_INVALID_SOURCE = 13
};

/** A short text for a status, of any value ("invalid argument"); never NULL, valid for good. */
TILECACHE_API const char *tilecache_status_message(tilecache_status status);

/**
 * A sentence about the last call on this thread that failed: what was expected and what was given. Never NULL; empty
 * where none has failed. Valid until the next failing call on the same thread; calls that succeed leave it alone.
 */
TILECACHE_API const char *tilecache_last_error(void);

/** The system's monotonic clock, in nanoseconds: the clock of every time in this interface. */
TILECACHE_API int64_t tilecache_now(void);

/** Stands for the time of the call, wherever a time is taken. */
#define TILECACHE_TIME_NOW INT64_MIN

/* ------------------------------------------------------------------------------------------------- Handles, values */

/** One budget, one set of workers, any number of layers. */
typedef struct tilecache_cache tilecache_cache;
/** One viewport looking at some layers of a cache. */
typedef struct tilecache_view tilecache_view;
/** What to draw at one moment, its tiles held until it is released. */
typedef struct tilecache_frame tilecache_frame;
/** A hold on one tile. */
typedef struct tilecache_lease tilecache_lease;
/** One tile asked of a source that answers later. */
typedef struct tilecache_request tilecache_request;
/** Writes down where a view looked. */
typedef struct tilecache_recorder tilecache_recorder;
/** A layer of one cache: 0 for its first, then 1, and so on. */
typedef int32_t tilecache_layer;

/** Where a tile lies in its layer's pyramid. Columns of a wrapping world are those of the one copy. */
typedef struct tilecache_coordinate {
    /** From 0, the coarsest. */
    int64_t level;
    /** From 0, at the left. */
    int64_t column;
    /** From 0, at the top. */
    int64_t row;
} tilecache_coordinate;

/** A rectangle; the right and the bottom edge do not belong to it. */
typedef struct tilecache_rectangle {
    double min_x, min_y, max_x, max_y;
} tilecache_rectangle;

/** Names a tile's pixels: equal for as long as the pixels are the same, so that a texture is uploaded once. */
typedef struct tilecache_identity {
    tilecache_layer layer;
    /** Raised when an invalidation has brought newer pixels. */
    uint32_t generation;
    tilecache_coordinate tile;
} tilecache_identity;

/** How the pixels of a layer's tiles are laid out. */
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
    /** A payload of fixed size that only the renderer understands (a compressed texture). */
    TILECACHE_FORMAT_OPAQUE = 6
};

/** What alpha means. The cache hands it on and never changes pixels. */
typedef int32_t tilecache_alpha;
enum {
    /** Colours are stored as they are, alpha beside them. */
    TILECACHE_ALPHA_STRAIGHT = 0,
    /** Colours are stored multiplied by alpha. */
    TILECACHE_ALPHA_PREMULTIPLIED = 1,
    /** There is no alpha, or it is to be ignored. */
    TILECACHE_ALPHA_IGNORED = 2
};

/** A decoded tile that something holds: its bytes stay where they are, unchanged, for as long as that lasts. */
typedef struct tilecache_tile {
    tilecache_identity identity;
    /** The first byte of the first row. */
    const void *pixels;
    /** Bytes of all rows. */
    size_t byte_count;
    /** From one row to the next; all of them for opaque payloads. */
    size_t bytes_per_row;
    /** Pixels a row, border included. */
    int32_t width;
    /** Rows, border included. */
    int32_t height;
    tilecache_format format;
    /** Whether an invalidation came after these pixels; newer ones are on their way. */
    int32_t is_stale;
} tilecache_tile;

/* ----------------------------------------------------------------------------------------------------------- Cache */

/** How a cache is set up; tilecache_configuration_init() fills in the defaults. */
typedef struct tilecache_configuration {
    size_t struct_size;
    /** Bytes of everything: decoded and compressed tiles, loads in flight, tables. 1 to 2^46; 64 MiB by default. */
    int64_t byte_limit;
    /** The largest limit while the cache runs, byte_limit to 2^46; 0, the default, is four times byte_limit. Costs
     *  addresses, no memory. */
    int64_t maximum_byte_limit;
    /** Loads at the same time, 1 to 255; 4 by default. */
    int32_t workers;
    /** Workers reserved for tiles that are needed now, 0 to workers - 1: prefetches never take them. Default: 0. */
    int32_t reserved_workers;
    /** Whether cold tiles are kept compressed before they are given up; true by default. */
    int32_t uses_compressed_tier;
    /** Whether a view whose needed tiles do not fit the limit draws a coarser level; true by default. */
    int32_t fits_level_to_budget;
    /** The share of the limit that compressed tiles may take where decoded ones want it too, 0 to 1; -1, the default,
     *  moves it to where the traffic earns more. */
    double compressed_share;
    /** How eagerly tiles are fetched ahead, 0 (only what is needed) to 1 (whatever may be of use); 0.5 by default. */
    double effort;
    /** How long a load takes until some have been measured, in nanoseconds, 0 to an hour; 40 ms by default. */
    int64_t expected_load_latency;
    /** The first wait before a failed tile is tried again, in nanoseconds, 1 to a day, doubled with each failure;
     *  0.5 s by default. */
    int64_t retry_delay;
    /** How long a load may take, in nanoseconds, 1 ms or more, until it counts as stuck and another worker takes its
     *  worker's place; 10 s by default. The load goes on, and its tile is taken when it comes. */
    int64_t stuck_load_time;
    /** How long a tiles-ready callback may take, in nanoseconds, 0 or more, until it counts as slow; 0.1 s by default. */
    int64_t slow_callback_time;
} tilecache_configuration;

/**
 * Fills in the defaults.
 *
 * @param configuration where to.
 * @param struct_size sizeof(tilecache_configuration).
 * @return TILECACHE_ERROR_INVALID_ARGUMENT where the pointer is NULL or the size cannot be one.
 */
TILECACHE_API tilecache_status tilecache_configuration_init(tilecache_configuration *configuration, size_t struct_size);

/**
 * Makes a cache and its workers; nothing runs until a view is updated.
 *
 * @param configuration NULL for the defaults.
 * @param cache receives the handle, to be given back with tilecache_destroy().
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION where a setting is out of its range, TILECACHE_ERROR_OUT_OF_MEMORY where
 *         the system denies the addresses.
 */
TILECACHE_API tilecache_status tilecache_create(const tilecache_configuration *configuration, tilecache_cache **cache);

/**
 * Shuts the cache down without waiting and gives the handle back. Memory goes when its last view, frame, lease and
 * request has gone too. Sources are destroyed when no load uses them any more; call tilecache_shutdown() before to wait
 * for that.
 */
TILECACHE_API void tilecache_destroy(tilecache_cache *cache);

/**
 * Ends all work. Sources are told that nobody wants their tiles, no tiles-ready callback begins afterwards, frames and
 * leases that are still held stay valid. From a tiles-ready callback it does not wait.
 *
 * @param timeout how long to wait for loads and callbacks that are under way, in nanoseconds, 0 or more.
 * @return TILECACHE_ERROR_TIMED_OUT where they had not ended by then; the cache is shut down all the same.
 */
TILECACHE_API tilecache_status tilecache_shutdown(tilecache_cache *cache, int64_t timeout);

/**
 * Sets the limit, 1 byte or more. A lower one takes effect at once for everything that is not held; what is held goes
 * when it is released.
 *
 * @return TILECACHE_ERROR_LIMIT_CLAMPED if the limit is above the configuration's maximum_byte_limit, which is set then,
 *         or if the system denies memory for larger tables: the limit stays. tilecache_last_error() names it.
 */
TILECACHE_API tilecache_status tilecache_set_byte_limit(tilecache_cache *cache, int64_t bytes);

/** Reads the limit, in bytes: the one that was set, of which a part is in force while the system is short of memory
 *  (tilecache_statistics.byte_limit tells). */
TILECACHE_API tilecache_status tilecache_get_byte_limit(const tilecache_cache *cache, int64_t *bytes);

/**
 * Gives tiles up, coldest first, until no more than this many bytes are in use, 0 or more, and returns memory to the
 * system. Tiles that are held stay.
 */
TILECACHE_API tilecache_status tilecache_trim(tilecache_cache *cache, int64_t bytes);

/**
 * A byte limit for those who choose none: an eighth of the memory that the machine or the process's control group has,
 * 16 to 512 MiB. For tilecache_configuration.byte_limit.
 */
TILECACHE_API int64_t tilecache_automatic_byte_limit(void);

/** How short of memory the system is. */
typedef int32_t tilecache_pressure;
enum {
    /** Not at all. */
    TILECACHE_PRESSURE_NORMAL = 0,
    /** Memory should be given back where that is cheap: half of the limit is in force. */
    TILECACHE_PRESSURE_WARNING = 1,
    /** Soon something will be ended: a quarter of the limit is in force. */
    TILECACHE_PRESSURE_CRITICAL = 2
};

/**
 * Keeps a cache small while the system is short of memory. On Linux the process's control group and
 * /proc/pressure/memory are read once a second; on Apple systems the system tells. The coldest tiles go at once, what is
 * held when it is released; when the pressure is over, the limit comes back in steps. Off unless turned on.
 *
 * @param watches false ends it: the whole limit is back soon.
 * @return TILECACHE_ERROR_SHUT_DOWN where it is to begin after the end.
 */
TILECACHE_API tilecache_status tilecache_watch_memory_pressure(tilecache_cache *cache, int32_t watches);

/**
 * Says how short of memory the system is, for programs that learn of it in another way than
 * tilecache_watch_memory_pressure() does. To be called again, about once a second, for as long as the cache has not come
 * back to its limit.
 *
 * @param pressure a TILECACHE_PRESSURE; others are TILECACHE_ERROR_INVALID_ARGUMENT.
 */
TILECACHE_API tilecache_status tilecache_note_memory_pressure(tilecache_cache *cache, tilecache_pressure pressure);

/* --------------------------------------------------------------------------------------------------------- Sources */

/** The memory that a source writes one tile into. Rows are packed; opaque payloads have one row. */
typedef struct tilecache_pixels {
    /** sizeof(tilecache_pixels) of the library. A program that is newer than it looks here before it reads fields that
     *  came later. */
    size_t struct_size;
    /** Whose tile. */
    tilecache_layer layer;
    tilecache_format format;
    /** Which tile. */
    tilecache_coordinate tile;
    /** The cache's own memory; contents are undefined before, all of it is to be written. Good within the call only. */
    void *memory;
    /** Bytes of memory. */
    size_t byte_count;
    /** From one row to the next. */
    size_t bytes_per_row;
    /** Pixels a row, border included. */
    int32_t width;
    /** Rows, border included. */
    int32_t height;
    tilecache_alpha alpha;
    int32_t reserved;
    /** Written by a source that failed for now: nanoseconds until it may be asked again, 0 or more; no sooner than the
     *  cache's own back-off allows. 0 unless written. */
    int64_t retry_after;
    /** The library's own. */
    void *internal;
} tilecache_pixels;

/**
 * Hands over the encoded form (JPEG, WebP, anything) of pixels that are being written, to be kept as the tile's compressed
 * form: the source must have a decode function that makes exactly these pixels of it again. To be called from within the
 * function that writes the pixels, on its thread, with the very structure it was given. The bytes are copied, and dropped
 * again where the load does not end with pixels.
 *
 * @param encoded the bytes; NULL only where there are none.
 * @param byte_count how many.
 * @param is_kept receives whether they are kept for now: not where the source cannot decode, nothing is kept compressed,
 *        they are hardly smaller than the pixels or far larger than what compression makes of such tiles, there is no
 *        room, or some were handed over for this tile already. May be NULL.
 */
TILECACHE_API tilecache_status tilecache_pixels_keep_encoded(
    tilecache_pixels *pixels, const void *encoded, size_t byte_count, int32_t *is_kept);

/** What a source says of a tile. Other values count as TILECACHE_OUTCOME_FAILED. */
typedef int32_t tilecache_outcome;
enum {
    /** The pixels have been written. */
    TILECACHE_OUTCOME_PIXELS = 0,
    /** This tile does not exist; an ancestor is drawn, and nobody asks again until an invalidation. */
    TILECACHE_OUTCOME_ABSENT = 1,
    /** It failed for now and is asked again later. */
    TILECACHE_OUTCOME_FAILED = 2,
    /** It failed for good and is not asked again until an invalidation. */
    TILECACHE_OUTCOME_FAILED_PERMANENTLY = 3
};

/** Writes a tile's pixels, or says why not. */
typedef tilecache_outcome (*tilecache_write_function)(void *context, tilecache_pixels *pixels);

/**
 * Begins to fetch a tile. The request belongs to the source, which completes it once, from any thread and whenever it
 * likes, and then releases it.
 */
typedef void (*tilecache_request_function)(void *context, tilecache_request *request);

/**
 * Writes a tile's pixels anew from what was handed over with tilecache_pixels_keep_encoded(), checked against damage and
 * good within the call only. Anything but TILECACHE_OUTCOME_PIXELS says that it cannot: the tile is loaded again.
 */
typedef tilecache_outcome (*tilecache_decode_function)(
    void *context, const void *encoded, size_t byte_count, tilecache_pixels *pixels);

/** Called with the context that it was given with. */
typedef void (*tilecache_function)(void *context);

/** Where a layer's pixels come from: either a function that blocks or one that answers later. */
typedef struct tilecache_source {
    size_t struct_size;
    /** Handed to the functions. */
    void *context;
    /** Called when the source will not be used any more; may be NULL. */
    tilecache_function destroy;
    /** The simple way: returns when the pixels are there. Called on worker threads, several at a time; may block. NULL
     *  where `request` is given. */
    tilecache_write_function load;
    /** Returns soon and answers later. Called on worker threads, several at a time, for at most as many tiles at once as
     *  there are workers. NULL where `load` is given. */
    tilecache_request_function request;
    /** Decodes what the source has handed over of its own encoded bytes. Called on worker threads, several at a time. NULL,
     *  the default, for sources that hand none over. */
    tilecache_decode_function decode;
} tilecache_source;

/** Sets everything to nothing. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_source_init(tilecache_source *source, size_t struct_size);

/** What a request asks for. */
typedef struct tilecache_request_info {
    size_t struct_size;
    /** Whose tile. */
    tilecache_layer layer;
    /** Whether a view needed the tile when the request was made; else it is fetched ahead. */
    int32_t is_demand;
    /** Which tile. */
    tilecache_coordinate tile;
} tilecache_request_info;

/** Reads what a request asks for; `info->struct_size` is to be set. */
TILECACHE_API tilecache_status tilecache_request_get_info(
    const tilecache_request *request, tilecache_request_info *info);

/** Whether anybody still wants the tile; a source that fetches in steps may look between them. False for NULL. */
TILECACHE_API int32_t tilecache_request_is_wanted(const tilecache_request *request);

/**
 * Names a function that is called once when nobody wants the tile any more: at once, on this thread, where that is so
 * already, else on any thread, possibly while another one completes the request. The request still is to be completed,
 * best with tilecache_request_cancel(), and released. A second call replaces the function.
 *
 * @param function NULL for none; then context and destroy are ignored.
 * @param destroy called when the function has been called, has been replaced, or will never be called because the request
 *        has been completed or released.
 */
TILECACHE_API tilecache_status tilecache_request_on_cancel(
    tilecache_request *request, tilecache_function function, void *context, tilecache_function destroy);

/**
 * Completes a request with pixels that a function writes straight into the cache's memory, or with what it says instead.
 * The bytes are taken from the budget now, if they have not been.
 *
 * @param write called before this returns, and only where it returns TILECACHE_OK.
 * @return TILECACHE_ERROR_ALREADY_COMPLETED, or TILECACHE_ERROR_NO_ROOM where there is no room for the tile; the request
 *         is over then.
 */
TILECACHE_API tilecache_status tilecache_request_complete(
    tilecache_request *request, tilecache_write_function write, void *context);

/**
 * Completes a request with pixels that lie elsewhere; they are copied.
 *
 * @param pixels the first byte of the first row.
 * @param byte_count of all rows: bytes_per_row for each but the last, and for that at least a packed row.
 * @param bytes_per_row from one row to the next, at least a packed row; 0 where rows are packed.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT where the pixels are NULL or too few, and the request has failed for now;
 *         TILECACHE_ERROR_ALREADY_COMPLETED and TILECACHE_ERROR_NO_ROOM as tilecache_request_complete().
 */
TILECACHE_API tilecache_status tilecache_request_complete_copying(
    tilecache_request *request, const void *pixels, size_t byte_count, size_t bytes_per_row);

/** Completes a request: the tile does not exist. TILECACHE_ERROR_ALREADY_COMPLETED where it was completed before. */
TILECACHE_API tilecache_status tilecache_request_complete_absent(tilecache_request *request);

/**
 * Completes a request: it failed.
 *
 * @param is_permanent whether it is not to be asked again until an invalidation.
 * @param retry_after else nanoseconds until it may be asked again, 0 or more.
 * @return TILECACHE_ERROR_ALREADY_COMPLETED where it was completed before.
 */
TILECACHE_API tilecache_status tilecache_request_fail(
    tilecache_request *request, int32_t is_permanent, int64_t retry_after);

/** Completes a request: it was given up because nobody wanted it. TILECACHE_ERROR_ALREADY_COMPLETED as above. */
TILECACHE_API tilecache_status tilecache_request_cancel(tilecache_request *request);

/**
 * Says how many encoded bytes the source holds for a request in memory of its own, so that they count against the limit
 * until the request is completed. A later call replaces what an earlier one said.
 *
 * @param bytes 0 or more.
 * @return TILECACHE_ERROR_NO_ROOM where there is none for them: nothing is counted anew, and the source should hold no more
 *         than before. TILECACHE_ERROR_ALREADY_COMPLETED.
 */
TILECACHE_API tilecache_status tilecache_request_holds_encoded(tilecache_request *request, int64_t bytes);

/** Gives a request back. One that has not been completed counts as failed for now. */
TILECACHE_API void tilecache_request_release(tilecache_request *request);

/* ---------------------------------------------------------------------------------------------------------- Layers */

/** One resolution of a layer: a grid of equal tiles over the world. */
typedef struct tilecache_level {
    /** Of the level in its own pixels, 1 or more. */
    int64_t width, height;
    /** Of a tile, border not included, 1 to 2^30; there are at most 2^40 columns and rows. */
    int64_t tile_width, tile_height;
    /** World pixels a side that one pixel covers, larger than 0, smaller than that of the level before. */
    double world_pixels_per_pixel;
    /** Where the top left corner of tile (0, 0) lies in the world. */
    double origin_x, origin_y;
    /** Pixels around each tile that the source delivers and nobody draws, 0 to 2^20. */
    int64_t border;
} tilecache_level;

/** The levels of a layer and the world that they cover: the usual power-of-two pyramid, or a table. */
typedef struct tilecache_pyramid {
    size_t struct_size;
    /** In world pixels, larger than 0; whole numbers up to 2^40 without a table. */
    double world_width, world_height;
    /** Pixels a side of a tile, 1 to 2^30, where there is no table; 256 by default. */
    int64_t tile_size;
    /** Pixels around each tile that are not drawn, where there is no table, 0 to 2^20; 0 by default. */
    int64_t border;
    /** Whether the world repeats horizontally; false by default. */
    int32_t wraps_x;
    int32_t reserved;
    /** A table of levels, coarsest first, which is copied; NULL, the default, for powers of two: each level has twice the
     *  resolution of the one before, and one tile of level 0 covers the world. */
    const tilecache_level *levels;
    /** Levels in the table, 1 to 64. */
    size_t level_count;
    /** sizeof(tilecache_level); set by tilecache_pyramid_init(). */
    size_t level_size;
} tilecache_pyramid;

/** Fills in the defaults; the world's size is to be set. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_pyramid_init(tilecache_pyramid *pyramid, size_t struct_size);

/** How four pixels become one where the cache makes coarser levels itself; whole numbers are rounded to the nearest. */
typedef int32_t tilecache_downsampling;
enum {
    /** Numbers are averaged as they are stored, 16-bit ones without a sign. */
    TILECACHE_DOWNSAMPLING_LINEAR = 0,
    /** TILECACHE_FORMAT_GRAY16 holds numbers with a sign, as elevation may; other formats as before. */
    TILECACHE_DOWNSAMPLING_LINEAR_SIGNED = 1,
    /** Colours are sRGB and averaged as the light that they stand for (gamma). For 8 bits a channel only, and slower. */
    TILECACHE_DOWNSAMPLING_SRGB = 2
};

/** What a layer's tiles are like. */
typedef struct tilecache_layer_options {
    size_t struct_size;
    /** TILECACHE_FORMAT_RGBA8 by default. */
    tilecache_format format;
    /** TILECACHE_ALPHA_PREMULTIPLIED by default. */
    tilecache_alpha alpha;
    /** Bytes of a tile, 1 or more, where the format is TILECACHE_FORMAT_OPAQUE. */
    int64_t opaque_bytes_per_tile;
    /** Whether cold tiles may be kept compressed; true by default. */
    int32_t is_compressible;
    int32_t reserved;
    /** The part of the cache's limit that the layer's tiles never exceed, larger than 0, at most 1; 1 by default. */
    double share_maximum;
    /** Tiles of the layer are not given up for other layers while it has no more than this part of the limit, 0 to
     *  share_maximum; 0 by default. All layers' parts together are at most 1. */
    double share_guaranteed;
    /** How many of the pyramid's coarsest levels the source does not have, 0 or more and fewer than there are: the cache
     *  makes them of finer ones, and asks the source for no tile of them. 0 by default. A tile n levels above the source
     *  may cost 4^n loads, so the number bounds what one tile may cost. */
    int32_t synthesized_levels;
    /** How pixels are averaged for those levels; TILECACHE_DOWNSAMPLING_LINEAR by default. */
    tilecache_downsampling downsampling;
} tilecache_layer_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_layer_options_init(tilecache_layer_options *options, size_t struct_size);

/**
 * Adds a layer; it stays for as long as the cache does. A cache has at most 65,536 layers; one more is
 * TILECACHE_ERROR_INVALID_ARGUMENT.
 *
 * @param source copied; its context belongs to the layer from now on, unless this fails.
 * @param pyramid the levels and the world.
 * @param options NULL for the defaults.
 * @param layer receives the number.
 * @return TILECACHE_ERROR_INVALID_PYRAMID, TILECACHE_ERROR_INVALID_LAYER where a tile is larger than the limit or than can
 *         be addressed, TILECACHE_ERROR_OUT_OF_MEMORY, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_add_layer(
    tilecache_cache *cache,
    const tilecache_source *source,
    const tilecache_pyramid *pyramid,
    const tilecache_layer_options *options,
    tilecache_layer *layer);

/**
 * Says that tiles have changed at their source. Loads that began before never land; the old pixels go on being drawn,
 * marked stale, until new ones land.
 *
 * @param region in world pixels; NULL for all of the layer.
 * @param keeps_stale false drops the old pixels at once, except where they are held.
 */
TILECACHE_API tilecache_status tilecache_invalidate(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_rectangle *region, int32_t keeps_stale);

/**
 * Removes a layer: its loads are cancelled, its tiles evicted and its pins undone. Views show it no longer. Tiles that frames
 * hold stay valid until they are released. Its number is never used again. The release function of its source is called
 * when the last of its loads has ended.
 */
TILECACHE_API tilecache_status tilecache_remove_layer(tilecache_cache *cache, tilecache_layer layer);

/**
 * Pins tiles: they are loaded before all others and evicted only if the limit is lowered or memory is short; then they are
 * loaded again as soon as there is room. A tile that is pinned twice is pinned once.
 *
 * @param first_level the coarsest level, 0 or more.
 * @param last_level the finest level, not below the first; levels that the layer does not have are left out.
 * @param region in world pixels; NULL for the whole world.
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if all pinned tiles would take more than half of the limit, or the layer has
 *         none of the levels.
 */
TILECACHE_API tilecache_status tilecache_pin(
    tilecache_cache *cache,
    tilecache_layer layer,
    int64_t first_level,
    int64_t last_level,
    const tilecache_rectangle *region);

/** Unpins tiles, as named for tilecache_pin(); those that are not pinned are ignored. They stay until they are evicted. */
TILECACHE_API tilecache_status tilecache_unpin(
    tilecache_cache *cache,
    tilecache_layer layer,
    int64_t first_level,
    int64_t last_level,
    const tilecache_rectangle *region);

/**
 * Pins single tiles, as tilecache_pin() does.
 *
 * @return TILECACHE_ERROR_INVALID_CONFIGURATION if all pinned tiles would take more than half of the limit, or the layer has
 *         not all of the tiles.
 */
TILECACHE_API tilecache_status tilecache_pin_tiles(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/** Unpins single tiles. Those that are not pinned are ignored. */
TILECACHE_API tilecache_status tilecache_unpin_tiles(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/**
 * Loads tiles ahead of need, once: after what views need and before all guesses, whatever the effort. They are evicted like all
 * others. Tiles that are resident or absent, that have failed or do not exist, and those beyond a quarter of the limit or
 * 4,096 tiles, are ignored.
 */
TILECACHE_API tilecache_status tilecache_prefetch(
    tilecache_cache *cache, tilecache_layer layer, const tilecache_coordinate *tiles, size_t tile_count);

/** Whether a tile is resident, decoded or compressed; touches nothing. False for tiles that do not exist. */
TILECACHE_API tilecache_status tilecache_is_resident(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_coordinate tile, int32_t *is_resident);

/** Reads a tile that is lent for the time of the call. */
typedef void (*tilecache_read_function)(void *context, const void *pixels, size_t byte_count);

/**
 * Lends the pixels of a decoded tile without a view, rows packed. Counts as a use, not as a demand.
 *
 * @param read called before this returns, and only where it returns TILECACHE_OK.
 * @return TILECACHE_ERROR_NOT_RESIDENT where the tile is not decoded now.
 */
TILECACHE_API tilecache_status tilecache_read_tile(
    tilecache_cache *cache,
    tilecache_layer layer,
    tilecache_coordinate tile,
    tilecache_read_function read,
    void *context);

/* ----------------------------------------------------------------------------------------------------------- Views */

/** What a view looks at: a rectangle of the screen laid over the world. */
typedef struct tilecache_viewport {
    size_t struct_size;
    /** The world point at the middle of the screen; on a wrapping world in any copy. */
    double center_x, center_y;
    /** Of the screen, in screen pixels, larger than 0. */
    double width, height;
    /** Screen pixels per world pixel, larger than 0; 1 by default. */
    double scale;
    /** In radians, by which the screen is turned over the world, clockwise; 0 by default. */
    double rotation;
} tilecache_viewport;

/** Fills in the defaults; centre and size are to be set. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_viewport_init(tilecache_viewport *viewport, size_t struct_size);

/** How a view chooses levels, and what its frames may spend. */
typedef struct tilecache_view_options {
    size_t struct_size;
    /** Levels coarser than 1:1 that are accepted, in octaves, -8 to 8; 0 by default. 0.5 halves the tiles for pixels that
     *  are at most 1.41 times magnified. */
    double level_bias;
    /** How far, in octaves, the scale may pass a level's bound before the view leaves that level, 0 to 1; 0 by default. */
    double level_hysteresis;
    /** Tiles a frame may decompress on its caller's thread, 0 or more; 8 by default. */
    int64_t promotion_tiles;
    /** Nanoseconds a frame after which no further decompression begins, 0 or more; 2 ms by default. */
    int64_t promotion_nanoseconds;
} tilecache_view_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_view_options_init(tilecache_view_options *options, size_t struct_size);

/**
 * Makes a view of some layers.
 *
 * @param layers in the order of drawing, each once.
 * @param layer_count 1 or more.
 * @param options NULL for the defaults.
 * @param view receives the handle, to be given back with tilecache_view_destroy().
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for layers that are not the cache's, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_create(
    tilecache_cache *cache,
    const tilecache_layer *layers,
    size_t layer_count,
    const tilecache_view_options *options,
    tilecache_view **view);

/**
 * Sets the layers that a view shows. What was learned of those that stay is kept.
 *
 * @param layers in the order of drawing, each once; may be NULL if there are none.
 * @param layer_count 0 or more.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for layers that are not the cache's, TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_view_set_layers(
    tilecache_view *view, const tilecache_layer *layers, size_t layer_count);

/** Ends a view: what only it needed may go. Its frames stay valid. */
TILECACHE_API void tilecache_view_destroy(tilecache_view *view);

/** More about an update. */
typedef struct tilecache_update_options {
    size_t struct_size;
    /** When the viewport is there; TILECACHE_TIME_NOW by default. */
    int64_t time;
    /** Where the view will be, where the renderer knows (a fly-to, a fling); NULL by default. */
    const tilecache_viewport *destination;
    /** When it will be there; only looked at where there is a destination. */
    int64_t destination_time;
} tilecache_update_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_update_options_init(tilecache_update_options *options, size_t struct_size);

/**
 * Says where the viewport is now; waits for no load, no compression and nobody's copy.
 *
 * @param options NULL for now and no destination.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT for a viewport that cannot be drawn; the view keeps the one it had.
 */
TILECACHE_API tilecache_status tilecache_view_update(
    tilecache_view *view, const tilecache_viewport *viewport, const tilecache_update_options *options);

/** A tile that a renderer with perspective, a globe or a feedback buffer needs. */
typedef struct tilecache_needed_tile {
    tilecache_layer layer;
    /** How much it matters, larger is sooner; finite. */
    float importance;
    tilecache_coordinate tile;
} tilecache_needed_tile;

/**
 * Says which tiles are needed, in the place of a viewport.
 *
 * @param tiles those of other layers of the cache than the view's, and those that do not exist, are ignored; NULL where
 *        there is none.
 * @param tile_count how many, 0 to 2^20.
 * @param tile_size sizeof(tilecache_needed_tile).
 * @param time when, or TILECACHE_TIME_NOW.
 */
TILECACHE_API tilecache_status tilecache_view_update_needed(
    tilecache_view *view, const tilecache_needed_tile *tiles, size_t tile_count, size_t tile_size, int64_t time);

/**
 * Names a function that is called when sharper pixels than the last frame's have landed: once for many tiles, on a
 * thread of the library, one call at a time for each view, and never after the cache has been shut down.
 *
 * @param function NULL for none; then context and destroy are ignored.
 */
TILECACHE_API tilecache_status tilecache_view_set_tiles_ready(
    tilecache_view *view, tilecache_function function, void *context, tilecache_function destroy);

/** Sets how much each frame may spend on decompression; as tilecache_view_options. */
TILECACHE_API tilecache_status tilecache_view_set_promotion_budget(
    tilecache_view *view, int64_t promotion_tiles, int64_t promotion_nanoseconds);

/** Records every viewport of tilecache_view_update(); NULL ends it. The view holds the recorder meanwhile. */
TILECACHE_API tilecache_status tilecache_view_set_recorder(tilecache_view *view, tilecache_recorder *recorder);

/** Reads the bytes that the needed tiles would take where the limit is too small for them; 0 where they fit. */
TILECACHE_API tilecache_status tilecache_view_get_shortfall_bytes(const tilecache_view *view, int64_t *bytes);

/* ---------------------------------------------------------------------------------------------------------- Frames */

/** One tile, or a part of one, where it is to be drawn. */
typedef struct tilecache_placement {
    /** The tile, held until the frame is released. */
    tilecache_tile tile;
    /** What it covers, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
    /** The part of the tile to draw, in the tile's own pixels, border included. */
    tilecache_rectangle part;
    /** Whether this is the very tile that the screen needs; else a stand-in until that one is there. */
    int32_t is_exact;
    int32_t reserved;
} tilecache_placement;

/** Why a needed tile will not come. */
typedef int32_t tilecache_cause;
enum {
    /** The source says that the tile does not exist. */
    TILECACHE_CAUSE_ABSENT = 0,
    /** The tile failed for good; it is not asked for again until an invalidation. */
    TILECACHE_CAUSE_FAILED = 1
};

/** A part of the view that will not become sharp. */
typedef struct tilecache_unavailable_tile {
    tilecache_layer layer;
    tilecache_cause cause;
    tilecache_coordinate tile;
    /** What it would cover, in world pixels; on a wrapping world in the copy that is on screen. */
    tilecache_rectangle world;
} tilecache_unavailable_tile;

/** The numbers of a frame. */
typedef struct tilecache_frame_info {
    size_t struct_size;
    /** Placements. */
    size_t placement_count;
    /** Tiles that the frame before did not draw. */
    size_t appeared_count;
    /** Tiles that the frame before drew and this one does not. */
    size_t disappeared_count;
    /** Needed tiles that could not be drawn exactly; absent ones do not count. */
    size_t missing_tile_count;
    /** Needed tiles that will not come. */
    size_t unavailable_count;
} tilecache_frame_info;

/**
 * What to draw now, for the last update; waits for no load and nobody's copy. Empty after a shutdown.
 *
 * @param frame receives the handle, to be given back with tilecache_frame_release() soon: its tiles are held until then.
 */
TILECACHE_API tilecache_status tilecache_view_frame(tilecache_view *view, tilecache_frame **frame);

/** Gives a frame back; its placements and identities are gone. */
TILECACHE_API void tilecache_frame_release(tilecache_frame *frame);

/** Reads the numbers of a frame; `info->struct_size` is to be set. */
TILECACHE_API tilecache_status tilecache_frame_get_info(const tilecache_frame *frame, tilecache_frame_info *info);

/**
 * The placements, in the order of drawing: layers in their order, stand-ins where they stand in.
 *
 * @param placement_size sizeof(tilecache_placement): the distance from one element to the next.
 * @param placements receives the array, valid until the frame is released; NULL where it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_frame_get_placements(
    const tilecache_frame *frame, size_t placement_size, const tilecache_placement **placements, size_t *count);

/** Tiles that the frame before did not draw: upload them. The array is valid until the frame is released. */
TILECACHE_API tilecache_status tilecache_frame_get_appeared(
    const tilecache_frame *frame, const tilecache_identity **identities, size_t *count);

/** Tiles that the frame before drew and this one does not: their textures may go. Valid as above. */
TILECACHE_API tilecache_status tilecache_frame_get_disappeared(
    const tilecache_frame *frame, const tilecache_identity **identities, size_t *count);

/**
 * Needed tiles that will not come, layer by layer; fallbacks are drawn in their place, if any.
 *
 * @param tile_size sizeof(tilecache_unavailable_tile): the distance from one element to the next.
 * @param tiles receives the array, valid until the frame is released; NULL if it is empty.
 * @param count receives their number.
 */
TILECACHE_API tilecache_status tilecache_frame_get_unavailable(
    const tilecache_frame *frame, size_t tile_size, const tilecache_unavailable_tile **tiles, size_t *count);

/**
 * Holds the tile of one placement for longer than its frame.
 *
 * @param index of the placement, from 0.
 * @param lease receives the handle, to be given back with tilecache_lease_release().
 */
TILECACHE_API tilecache_status tilecache_frame_lease(
    const tilecache_frame *frame, size_t index, tilecache_lease **lease);

/** Reads which tile is held and where its pixels are: good until the lease is released. */
TILECACHE_API tilecache_status tilecache_lease_get_tile(const tilecache_lease *lease, tilecache_tile *tile);

/** Gives a lease back. */
TILECACHE_API void tilecache_lease_release(tilecache_lease *lease);

/* ------------------------------------------------------------------------------------------------------ Statistics */

/**
 * What a cache has done so far: counters that only grow, sizes as they are. A demand is a tile that a frame needs and the
 * frame before did not; each view's first frame is left out. Rates are 0 to 1, and NaN over nothing.
 */
typedef struct tilecache_statistics {
    size_t struct_size;
    /** Demands at the level of the frame before; of those hits decoded, hits compressed, late (the load was in flight) and
     *  missed (not even started). */
    int64_t pan_demands, pan_decoded_hits, pan_compressed_hits, pan_late, pan_missed;
    /** The same for demands at another level than the frame before. */
    int64_t zoom_demands, zoom_decoded_hits, zoom_compressed_hits, zoom_late, zoom_missed;
    /** Hits over demands. */
    double hit_rate;
    /** Loads never drawn, those on their way and still unseen included, over loads. */
    double waste;
    /** Decoded bytes over compressed bytes of all tiles that were compressed. */
    double compression_ratio;
    /** Loads that began, landed, found no such tile, failed, were given up, were overtaken by an invalidation. */
    int64_t loads_started, loads_finished, loads_absent, loads_failed, loads_cancelled, loads_outdated;
    /** Decoded bytes that landed. */
    int64_t loaded_bytes;
    /** Loads whose pixels left without having been drawn. */
    int64_t loads_unseen;
    /** Requests that were completed more than once. */
    int64_t second_answers;
    /** Loads that began before anybody needed the tile; of those drawn later, demanded while in flight, gone undrawn, given
     *  up while in flight. */
    int64_t prefetch_started, prefetch_useful, prefetch_late, prefetch_wasted, prefetch_cancelled;
    /** Tiles compressed, decompressed, found incompressible; compressed blocks that failed their checksum. */
    int64_t demotions, promotions, incompressible, damaged_blocks;
    /** Tiles that left: for room, because they would not become smaller, replaced by newer pixels, by an invalidation, by a
     *  trim or a lower limit, by damage. */
    int64_t removed_for_room, removed_incompressible, removed_replaced, removed_invalidated, removed_trimmed,
        removed_damaged;
    /** The limit in force; bytes in use; the most that were ever in use. */
    int64_t byte_limit, used_bytes, peak_bytes;
    /** Bytes in use now for decoded tiles (loads in flight included), compressed tiles, loads in flight, tables. */
    int64_t decoded_bytes, compressed_bytes, in_flight_bytes, bookkeeping_bytes;
    /** The most that these have been. */
    int64_t peak_decoded_bytes, peak_compressed_bytes, peak_in_flight_bytes;
    /** Tiles now: decoded, compressed, landed but not drawn yet, of those the prefetched ones. */
    int64_t decoded_tiles, compressed_tiles, unseen_tiles, unseen_prefetched_tiles;
    /** Loads in flight now. */
    int64_t loads_in_flight;
    /** How long a load takes, an exponential mean, in nanoseconds. */
    int64_t mean_load_nanoseconds;
    /** Encoded payloads that sources handed over and that landed; of those, the ones that could not be decoded again. */
    int64_t encoded_payloads, undecodable_payloads;
    /** Tiles of levels that the source does not have, made of finer ones (each is a load too); tiles that the source was
     *  asked for to make them, beside all other loads; of those, the ones that failed for good and left a hole. */
    int64_t synthesized_tiles, synthesis_loads, synthesis_holes;
    /** How long loads of needed tiles waited for a worker, from when a view first needed the tile, retries left out: how
     *  many, and in nanoseconds what half, 95 % and 99 % of them did not exceed (up to 6 % too long, -1 where there was
     *  none) and the longest. */
    int64_t demand_waits, demand_wait_p50, demand_wait_p95, demand_wait_p99, demand_wait_maximum;
    /** The same for prefetches, from the first of the plans in a row that wished for the tile. */
    int64_t prefetch_waits, prefetch_wait_p50, prefetch_wait_p95, prefetch_wait_p99, prefetch_wait_maximum;
    /** Loads in flight for longer than stuck_load_time; workers within a source's code for longer than that; how long the
     *  oldest load in flight has taken, in nanoseconds, 0 where there is none. */
    int64_t stuck_loads, blocked_workers, oldest_load_nanoseconds;
    /** Tiles-ready callbacks that took longer than slow_callback_time, running ones included; the longest, in
     *  nanoseconds. */
    int64_t slow_callbacks, longest_callback_nanoseconds;
    /** Viewports that could not be drawn and were ignored. */
    int64_t refused_viewports;
    /** Pinned tiles that are decoded now, and their bytes. */
    int64_t floor_tiles, floor_bytes;
    /** Loads that were refused memory; their tiles are tried again after a wait, and only if the memory can be had. */
    int64_t loads_refused;
    /** Loads of tiles that had failed or had been refused memory before. */
    int64_t loads_retried;
    /** Loads whose pixels have been drawn. */
    int64_t loads_drawn;
    /** Prefetches that ended without pixels; prefetches in flight whose tile nobody has needed yet. */
    int64_t prefetch_empty, prefetches_in_flight;
    /** The bytes of one screen's tiles if the limit is too small for them, the most of all views; else 0. */
    int64_t shortfall_bytes;
} tilecache_statistics;

/** Reads what a cache has done so far, all at one moment; `statistics->struct_size` is to be set. */
TILECACHE_API tilecache_status tilecache_get_statistics(const tilecache_cache *cache, tilecache_statistics *statistics);

/**
 * The statistics as one line for a log.
 *
 * @param text receives the line with a NUL at its end, cut where it does not fit; may be NULL where capacity is 0.
 * @param capacity bytes at text.
 * @param length receives the bytes of the whole line without the NUL; may be NULL.
 */
TILECACHE_API tilecache_status tilecache_describe_statistics(
    const tilecache_cache *cache, char *text, size_t capacity, size_t *length);

/* ------------------------------------------------------------------------------------------------------- Recording */

/**
 * Takes the text of a trace piece by piece, whole lines each time, not ended by a NUL. Called on the thread that records,
 * one call at a time, under the recorder's lock, since lines have an order: calls of recorders, and of
 * tilecache_view_update(), fail there with TILECACHE_ERROR_INVALID_ARGUMENT.
 */
typedef void (*tilecache_text_function)(void *context, const char *text, size_t byte_count);

/** What a trace says about itself, and where it goes: into memory unless a function or a file is named. */
typedef struct tilecache_recorder_options {
    size_t struct_size;
    /** The view's size in screen pixels; 0, the default, takes that of the first viewport. */
    double viewport_width, viewport_height;
    /** The world's size in world pixels, whole numbers; 0, the default, leaves it out. */
    double world_width, world_height;
    /** Pixels a side of a tile, 1 or more; 256 by default. */
    int64_t tile_size;
    /** Whether the world wraps horizontally; false by default. */
    int32_t wraps_x;
    /** A file or pipe to write to, which stays the caller's and open for as long as the recorder lives; -1, the default,
     *  for none. A pipe that nobody reads raises SIGPIPE, unless the program ignores it. */
    int32_t file_descriptor;
    /** Which of several views this is, UTF-8; copied; NULL, the default, leaves it out. */
    const char *view_name;
    /** A function to write to, instead of a file; NULL by default. */
    tilecache_text_function write;
    /** Handed to write. */
    void *context;
    /** Called with the context when write will not be called any more; may be NULL. */
    tilecache_function destroy;
} tilecache_recorder_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_recorder_options_init(tilecache_recorder_options *options, size_t struct_size);

/**
 * Makes a recorder. One that keeps samples in memory (40 bytes each) writes the column `rotation` only where a sample was
 * rotated; one that writes as it goes always has it.
 *
 * @param options NULL for the defaults.
 * @param recorder receives the handle, to be given back with tilecache_recorder_release().
 */
TILECACHE_API tilecache_status tilecache_recorder_create(
    const tilecache_recorder_options *options, tilecache_recorder **recorder);

/** Gives a recorder back; views that record with it go on. */
TILECACHE_API void tilecache_recorder_release(tilecache_recorder *recorder);

/**
 * Records where a view looks, for renderers that have no tilecache_view to do it.
 *
 * @param time on any clock that does not go back, in nanoseconds, or TILECACHE_TIME_NOW; the first becomes 0.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT where the viewport cannot be drawn or the time is not later than the last; it
 *         is counted and not recorded.
 */
TILECACHE_API tilecache_status tilecache_recorder_record(
    tilecache_recorder *recorder, const tilecache_viewport *viewport, int64_t time);

/** What became of the viewports that a recorder was given. */
typedef struct tilecache_recorder_counts {
    size_t struct_size;
    /** Samples in the trace. */
    int64_t recorded;
    /** Left out because they were not later than the one before. */
    int64_t out_of_order;
    /** Left out because they cannot be drawn. */
    int64_t undrawable;
    /** Samples in the trace whose view had another size than the header says. */
    int64_t resized;
    /** errno of the first write to the file descriptor that failed, after which nothing more is written; 0 for none. */
    int32_t write_error;
    int32_t reserved;
} tilecache_recorder_counts;

/** Reads the counts; `counts->struct_size` is to be set. */
TILECACHE_API tilecache_status tilecache_recorder_get_counts(
    const tilecache_recorder *recorder, tilecache_recorder_counts *counts);

/**
 * The trace so far as text: a header without samples in a recorder that writes as it goes. Parameters as
 * tilecache_describe_statistics(); the trace may have grown when it is asked for a second time.
 */
TILECACHE_API tilecache_status tilecache_recorder_get_text(
    const tilecache_recorder *recorder, char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
