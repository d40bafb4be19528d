/**
 * Layers of a TileCache whose tiles come from files and servers, and stores that keep tiles, by address.
 *
 * For programs that link libtilecache_sources (pkg-config: tilecache-sources). It contains all functions of tilecache.h
 * and replaces libtilecache: in a program that links both, the functions of either refuse the handles of the other with
 * TILECACHE_ERROR_INVALID_ARGUMENT, and tilecache_last_error() may not say why. The rules of tilecache.h apply here, too.
 * Docs/Sources.md describes the sources, Docs/Stores.md the stores.
 */
#ifndef TILECACHE_SOURCES_H
#define TILECACHE_SOURCES_H

#include <tilecache.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opening of tiles by their address, on a thread of the library. */
typedef struct tilecache_opening tilecache_opening;

/** How the tiles of an address are read. tilecache_source_layer_options_init() fills in the defaults. */
typedef struct tilecache_source_layer_options {
    size_t struct_size;
    /** TILECACHE_FORMAT_RGBA8, _BGRA8 or _GRAY8. Default: TILECACHE_FORMAT_RGBA8. */
    tilecache_format format;
    /** Default: TILECACHE_ALPHA_PREMULTIPLIED. */
    tilecache_alpha alpha;
    /** Whether a tile's own bytes may be kept as its compressed form if they are smaller. Default: true. */
    int32_t keeps_encoded;
    /** Whether the world repeats horizontally. Default: false. */
    int32_t wraps_x;
    /** Pixels a side of a tile, 16 to 4096. Default: 0, as the source declares or most of some of its tiles have; 256 for
     *  images, and for servers with {z}, {x} and {y} that have none of the tiles asked for. */
    int64_t tile_size;
    /** Zooms of a server with {z}, {x} and {y}, 0 to 30; the first is level 0. Ignored for other sources. Default: 0
     *  and 9. */
    int32_t minimum_zoom, maximum_zoom;
    /** Header lines of each request to a server, "Name: value", UTF-8, separated by \n; copied. Default: NULL, none. */
    const char *headers;
    /** Stores that keep tiles beyond the life of the cache, nearest first, at most 32; see tilecache_store_open(). What
     *  identifies the data in them is the address, and of files also size and time. Default: NULL, none. */
    tilecache_store *const *stores;
    /** Number of stores. Default: 0. */
    size_t store_count;
    /** As tilecache_layer_options.profile. Default: NULL, nothing. */
    const tilecache_profile *profile;
    /** Part of the earth that a server with {z}, {x} and {y} has tiles of, in degrees; nothing beside it is requested.
     *  Ignored for other sources, which know theirs. Default: all 0, all of it. */
    double west, south, east, north;
} tilecache_source_layer_options;

/** Fills in the defaults. Errors as tilecache_configuration_init(). */
TILECACHE_API tilecache_status tilecache_source_layer_options_init(
    tilecache_source_layer_options *options, size_t struct_size);

/**
 * Opens tiles by their address and adds them as a layer with their own pyramid.
 *
 * Blocks while files are opened, and for about a minute if a server does not answer; an image is decoded and cut before
 * this returns. tilecache_open_source_layer() does the same on another thread.
 *
 * @param address UTF-8: mbtiles:FILE (rows from the top: mbtiles:FILE#rows=top), pmtiles:FILE or pmtiles:URL, tiff:FILE
 *        or tiff:URL (each with #page=2, #series=2, #band=4,3,2, #range=MIN,MAX or #synthesized=3, joined by &, which
 *        choose what is drawn of it), iiif:URL, wmts:URL, xyz:DIR, tms:DIR, zyx:DIR (each of the three with @2x before the
 *        colon), dzi:FILE, image:FILE, gpkg:FILE, sqlitedb:FILE, zoomify:DIR or zoomify:URL, iiif:DIR, tilejson:URL or
 *        tilejson:FILE, file:TEMPLATE, tc:DIR, mp:DIR, arcgis:DIR, quadkey:DIR, or the address of a server with {z}, {x} and
 *        {y} or {q}.
 * @param options NULL for the defaults.
 * @param layer receives the number, for all functions of tilecache.h.
 * @return TILECACHE_ERROR_INVALID_SOURCE if the address has no such form, or cannot be opened with this format, tile
 *         size, zooms or header lines; tilecache_last_error() says what was expected. TILECACHE_ERROR_INVALID_ARGUMENT
 *         for unknown formats and alphas, and headers that are not UTF-8. Others as tilecache_add_layer().
 */
TILECACHE_API tilecache_status tilecache_add_source_layer(
    tilecache_cache *cache,
    const char *address,
    const tilecache_source_layer_options *options,
    tilecache_layer *layer);

/**
 * Receives the end of an opening.
 *
 * @param status TILECACHE_OK, or the error that tilecache_add_source_layer() would have returned; tilecache_last_error()
 *        then describes it during this call. TILECACHE_ERROR_SHUT_DOWN if the cache was shut down or destroyed.
 * @param layer number of the new layer, for all functions of tilecache.h; -1 after an error.
 */
typedef void (*tilecache_opening_function)(void *context, tilecache_status status, tilecache_layer layer);

/**
 * Opens tiles by their address on a thread of the library, and adds them as a layer with their own pyramid.
 *
 * As tilecache_add_source_layer(), for programs whose own thread must not wait. `address` and `options` are read before
 * this returns. Each opening has a thread of its own. tilecache_shutdown() and tilecache_destroy() end openings without
 * waiting for them: the function is called soon afterwards. An opening keeps the memory of a destroyed cache until then.
 *
 * @param function called once, on the opening's thread, perhaps before this returns, unless the opening is cancelled. It
 *        may use and release the opening, and may use the cache unless the cache is destroyed.
 * @param destroy called with context when function has been called or never will be.
 * @param opening receives the handle before function may be called, so that function can read it there. To be released
 *        with tilecache_opening_release() once function was called, or to cancel the opening.
 * @return What can be told without opening anything: TILECACHE_ERROR_INVALID_SOURCE for an address without a known form,
 *         and TILECACHE_ERROR_INVALID_ARGUMENT, as tilecache_add_source_layer(). TILECACHE_ERROR_SHUT_DOWN.
 */
TILECACHE_API tilecache_status tilecache_open_source_layer(
    tilecache_cache *cache,
    const char *address,
    const tilecache_source_layer_options *options,
    tilecache_opening_function function,
    void *context,
    tilecache_function destroy,
    tilecache_opening **opening);

/**
 * Cancels an opening that has not ended. Its thread stops waiting for servers and cutting an image, and closes what it
 * has opened. Does not wait for that thread.
 *
 * @param is_cancelled receives whether the opening was cancelled: then its function is not called, and no layer is
 *        added. False if the opening has ended, or was cancelled before. One that has ended may still add its layer and
 *        call its function, on its own thread, after this returns. May be NULL.
 */
TILECACHE_API tilecache_status tilecache_opening_cancel(tilecache_opening *opening, int32_t *is_cancelled);

/** Cancels an opening as tilecache_opening_cancel(), and releases the handle. An opening that has ended calls its
 *  function all the same, perhaps after this returns: the context is in use until its destroy is called. */
TILECACHE_API void tilecache_opening_release(tilecache_opening *opening);

/**
 * Adds a layer with the source of another layer. That layer may be in another cache. Nothing is opened again.
 *
 * The source stays open until the last of its layers is removed or destroyed with its cache. Its counts and its last
 * failure are those of all its layers.
 *
 * @param owner cache of the layer `shared`, which tilecache_add_source_layer() or this function has added.
 * @param options NULL for the defaults. Only stores, store_count and profile count: the source has the others.
 * @param layer receives the number, for all functions of tilecache.h.
 * @return TILECACHE_ERROR_INVALID_ARGUMENT if `shared` is no such layer. Others as tilecache_add_layer().
 */
TILECACHE_API tilecache_status tilecache_share_source_layer(
    tilecache_cache *cache,
    const tilecache_cache *owner,
    tilecache_layer shared,
    const tilecache_source_layer_options *options,
    tilecache_layer *layer);

/** Extent of a layer of tilecache_add_source_layer(), and the counts of its source. */
typedef struct tilecache_source_layer_info {
    size_t struct_size;
    /** World size in world pixels, which are those of the finest level. */
    double world_width, world_height;
    /** Part of the world that is known to have tiles; all of it if nothing is known. */
    tilecache_rectangle contents;
    /** Number of levels. */
    int64_t level_count;
    /** Requests of tiles, of which one that has failed or was put off is requested again; those of tiles that do not
     *  exist. */
    int64_t loads, absent;
    /** Failures. For a server, each failed attempt counts. */
    int64_t failures;
} tilecache_source_layer_info;

/** Reads the extent and the counts of a layer of tilecache_add_source_layer(). Set `info->struct_size` first. */
TILECACHE_API tilecache_status tilecache_source_layer_get_info(
    const tilecache_cache *cache, tilecache_layer layer, tilecache_source_layer_info *info);

/**
 * Describes the last failure of such a layer's source: which tile, and what was expected. Empty if none has failed.
 *
 * Parameters as tilecache_describe_statistics().
 */
TILECACHE_API tilecache_status tilecache_source_layer_describe_failure(
    const tilecache_cache *cache, tilecache_layer layer, char *text, size_t capacity, size_t *length);

/**
 * Describes what is wrong with such a layer's source: metadata that contradict its tiles, or that no tile has come two
 * seconds after the first was requested, and why. Empty if nothing is known. It may change while the source is used.
 *
 * Parameters as tilecache_describe_statistics().
 */
TILECACHE_API tilecache_status tilecache_source_layer_describe_warning(
    const tilecache_cache *cache, tilecache_layer layer, char *text, size_t capacity, size_t *length);

/**
 * Opens a store, for tilecache_layer_options.stores.
 *
 * Blocks while files are opened or created. Servers are connected to on first use. The store stays open until
 * tilecache_store_close().
 *
 * @param address UTF-8. disk:FOLDER or disk:FOLDER?limit=BYTES is a folder that one store at a time uses; it is created
 *        in an existing one. The limit of all files is 4 MiB to 32 TiB, a whole number of bytes or of KiB, MiB, GiB or
 *        TiB (512MiB). Default: 1 GiB. A folder with a ? in its name needs a limit.
 *        memcached:HOST:PORT,HOST:PORT are servers that processes share, up to 100, in the same order for all. The
 *        default port is 11211.
 * @param store receives the handle, to be released with tilecache_store_close().
 * @return TILECACHE_ERROR_INVALID_STORE if the address has no such form or cannot be opened; tilecache_last_error()
 *        says what was expected.
 */
TILECACHE_API tilecache_status tilecache_store_open(const char *address, tilecache_store **store);

#ifdef __cplusplus
}
#endif

#endif
