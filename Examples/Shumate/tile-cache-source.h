/* A ShumateMapSource whose tiles come from a TileCache. */
#ifndef TILE_CACHE_SOURCE_H
#define TILE_CACHE_SOURCE_H

#include <shumate/shumate.h>
#include <tilecache.h>

G_BEGIN_DECLS

#define TYPE_TILE_CACHE_SOURCE (tile_cache_source_get_type ())
G_DECLARE_FINAL_TYPE (TileCacheSource, tile_cache_source, TILE_CACHE, SOURCE, ShumateMapSource)

/* Settings of the cache; what to load tiles with; the finest zoom level. Tiles have four bytes a pixel: red, green, blue,
 * alpha, the colours multiplied by alpha. */
TileCacheSource *tile_cache_source_new (const tilecache_configuration *configuration,
                                        const tilecache_source        *source,
                                        guint                          max_zoom);

/* Updates the cache's view with the map's viewport at each frame, for prediction. Call it once for the map. */
void tile_cache_source_follow (TileCacheSource *self, ShumateMap *map);

/* The cache's statistics as one line, to be freed. */
char *tile_cache_source_describe (TileCacheSource *self);

G_END_DECLS

#endif
