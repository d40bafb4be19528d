#include "tile-cache-source.h"

enum { TILE_SIZE = 256 };

struct _TileCacheSource
{
  ShumateMapSource parent;
  guint max_zoom;
  tilecache_cache *cache;
  tilecache_layer layer;
  tilecache_view *view;
  tilecache_viewport shown; /* in pixels of the finest zoom level */
};

G_DEFINE_TYPE (TileCacheSource, tile_cache_source, SHUMATE_TYPE_MAP_SOURCE)

static void
check (tilecache_status status, const char *what)
{
  if (status != TILECACHE_OK)
    g_error ("%s: %s: %s", what, tilecache_status_message (status), tilecache_last_error ());
}

/* ------------------------------------------------------------------------------------------------------ Textures */

/* Wraps leased pixels, without a copy. They count in the cache's limit as long as the texture exists. The format is that of
 * the layer's default options: RGBA8, premultiplied. */
static GdkTexture *
texture_of (const tilecache_tile *tile, tilecache_lease *lease)
{
  GBytes *bytes = g_bytes_new_with_free_func (tile->pixels, tile->byte_count,
                                              (GDestroyNotify) tilecache_lease_release, lease);
  GdkTexture *texture = gdk_memory_texture_new (tile->width, tile->height, GDK_MEMORY_R8G8B8A8_PREMULTIPLIED,
                                                bytes, tile->bytes_per_row);
  g_bytes_unref (bytes);
  return texture;
}

static void
show_exact (ShumateTile *tile, tilecache_lease *lease)
{
  tilecache_tile pixels;
  check (tilecache_lease_get_tile (lease, &pixels), "lease");
  g_autoptr (GdkTexture) texture = texture_of (&pixels, lease);
  shumate_tile_set_paintable (tile, GDK_PAINTABLE (texture));
}

/* Until the tile is there, the widget draws the part of an ancestor that covers it. */
static void
show_ancestor (TileCacheSource *self, ShumateTile *tile, tilecache_coordinate coordinate)
{
  tilecache_placement placement;
  tilecache_lease *lease;
  if (tilecache_get_placement (self->cache, self->layer, coordinate, sizeof placement, &placement, &lease) != TILECACHE_OK)
    return;
  g_autoptr (GdkTexture) texture = texture_of (&placement.tile, lease);
  double scale = TILE_SIZE / (placement.part.max_x - placement.part.min_x);
  graphene_rect_t whole = GRAPHENE_RECT_INIT (-placement.part.min_x * scale, -placement.part.min_y * scale,
                                              placement.tile.width * scale, placement.tile.height * scale);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, TILE_SIZE, TILE_SIZE));
  gtk_snapshot_append_texture (snapshot, texture, &whole);
  gtk_snapshot_pop (snapshot);
  g_autoptr (GdkPaintable) part =
    gtk_snapshot_free_to_paintable (snapshot, &GRAPHENE_SIZE_INIT (TILE_SIZE, TILE_SIZE));
  shumate_tile_set_paintable (tile, part);
}

/* --------------------------------------------------------------------------------------------------------- Tiles */

/* A pending request of the widget. */
typedef struct
{
  GTask *task; /* its data is the ShumateTile */
  tilecache_fetch *fetch;
  gulong cancelled;
  tilecache_fetch_state state;
  tilecache_lease *lease;
} Wait;

static void
wait_free (Wait *wait)
{
  g_cancellable_disconnect (g_task_get_cancellable (wait->task), wait->cancelled);
  g_clear_pointer (&wait->lease, tilecache_lease_release);
  tilecache_fetch_release (wait->fetch); /* cancels it if it is pending */
  g_object_unref (wait->task);
  g_free (wait);
}

/* On the main thread: the end of a fetch. */
static gboolean
finish (gpointer data)
{
  Wait *wait = data;
  if (!g_task_return_error_if_cancelled (wait->task))
    {
      ShumateTile *tile = g_task_get_task_data (wait->task);
      if (wait->state == TILECACHE_FETCH_READY)
        show_exact (tile, g_steal_pointer (&wait->lease));
      if (wait->state == TILECACHE_FETCH_READY || wait->state == TILECACHE_FETCH_ABSENT)
        {
          shumate_tile_set_state (tile, SHUMATE_STATE_DONE);
          g_task_return_boolean (wait->task, TRUE);
        }
      else
        g_task_return_new_error (wait->task, G_IO_ERROR, G_IO_ERROR_FAILED, "the tile cannot be loaded");
    }
  wait_free (wait);
  return G_SOURCE_REMOVE;
}

/* On a thread of the cache, at the end of the fetch. */
static void
ended (void *context, tilecache_fetch_state state, tilecache_lease *lease)
{
  Wait *wait = context;
  wait->state = state;
  wait->lease = lease;
  g_idle_add_full (G_PRIORITY_DEFAULT, finish, wait, NULL);
}

/* On the main thread: the widget has cancelled its request. */
static void
cancelled (GCancellable *cancellable, Wait *wait)
{
  int32_t is_cancelled = FALSE;
  tilecache_fetch_cancel (wait->fetch, &is_cancelled);
  /* Otherwise `ended` has begun, and `finish` comes. The handler cannot disconnect itself: later. */
  if (is_cancelled)
    g_idle_add_full (G_PRIORITY_DEFAULT, finish, wait, NULL);
}

/* The widget requests the tiles on screen and a ring around them, which is not drawn yet. */
static tilecache_fetch_rank
rank_of (TileCacheSource *self, tilecache_coordinate tile)
{
  double side = ldexp (TILE_SIZE, self->max_zoom - tile.level), world = ldexp (TILE_SIZE, self->max_zoom);
  double x = fabs (remainder ((tile.column + 0.5) * side - self->shown.center_x, world));
  double y = fabs ((tile.row + 0.5) * side - self->shown.center_y);
  double width = self->shown.width / self->shown.scale, height = self->shown.height / self->shown.scale;
  return x < (width + side) / 2 && y < (height + side) / 2 ? TILECACHE_RANK_VISIBLE : TILECACHE_RANK_MARGIN;
}

static void
fill_tile_async (ShumateMapSource *source, ShumateTile *tile, GCancellable *cancellable,
                 GAsyncReadyCallback callback, gpointer user_data)
{
  TileCacheSource *self = TILE_CACHE_SOURCE (source);
  GTask *task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_task_data (task, g_object_ref (tile), g_object_unref);
  tilecache_coordinate coordinate = { shumate_tile_get_zoom_level (tile), shumate_tile_get_x (tile),
                                      shumate_tile_get_y (tile) };
  Wait *wait = g_new0 (Wait, 1);
  wait->task = task;
  tilecache_fetch_state state;
  tilecache_lease *lease;
  tilecache_status status = tilecache_fetch_tile (self->cache, self->layer, coordinate, rank_of (self, coordinate),
                                                  ended, wait, NULL, &state, &lease, &wait->fetch);
  if (status == TILECACHE_OK && state == TILECACHE_FETCH_LATE)
    {
      shumate_tile_set_state (tile, SHUMATE_STATE_LOADING);
      show_ancestor (self, tile, coordinate);
      if (cancellable)
        wait->cancelled = g_signal_connect (cancellable, "cancelled", G_CALLBACK (cancelled), wait);
      return;
    }
  /* Ready, absent or refused at once. */
  wait->state = status == TILECACHE_OK ? state : TILECACHE_FETCH_FAILED;
  wait->lease = status == TILECACHE_OK ? lease : NULL;
  shumate_tile_set_fade_in (tile, FALSE);
  finish (wait);
}

static gboolean
fill_tile_finish (ShumateMapSource *source, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* ------------------------------------------------------------------------------------------------------ Viewport */

/* Before each frame of the map. */
static gboolean
tick (GtkWidget *map, GdkFrameClock *clock, gpointer data)
{
  TileCacheSource *self = data;
  ShumateViewport *viewport = shumate_map_get_viewport (SHUMATE_MAP (map));
  double latitude = shumate_location_get_latitude (SHUMATE_LOCATION (viewport));
  double longitude = shumate_location_get_longitude (SHUMATE_LOCATION (viewport));
  ShumateMapSource *source = SHUMATE_MAP_SOURCE (self);
  self->shown.center_x = shumate_map_source_get_x (source, self->max_zoom, longitude);
  self->shown.center_y = shumate_map_source_get_y (source, self->max_zoom, latitude);
  self->shown.width = MAX (gtk_widget_get_width (map), 1);
  self->shown.height = MAX (gtk_widget_get_height (map), 1);
  self->shown.scale = exp2 (shumate_viewport_get_zoom_level (viewport) - self->max_zoom);
  self->shown.rotation = -shumate_viewport_get_rotation (viewport);
  tilecache_update_options options;
  check (tilecache_update_options_init (&options, sizeof options), "update options");
  options.time = gdk_frame_clock_get_frame_time (clock) * 1000;
  check (tilecache_view_update (self->view, &self->shown, &options), "update");
  return G_SOURCE_CONTINUE;
}

void
tile_cache_source_follow (TileCacheSource *self, ShumateMap *map)
{
  gtk_widget_add_tick_callback (GTK_WIDGET (map), tick, g_object_ref (self), g_object_unref);
}

/* -------------------------------------------------------------------------------------------------------- Object */

TileCacheSource *
tile_cache_source_new (const tilecache_configuration *configuration, const tilecache_source *source, guint max_zoom)
{
  TileCacheSource *self = g_object_new (TYPE_TILE_CACHE_SOURCE, "id", "tilecache", "tile-size", TILE_SIZE,
                                        "max-zoom-level", max_zoom, NULL);
  self->max_zoom = max_zoom;
  check (tilecache_create (configuration, &self->cache), "cache");
  tilecache_pyramid pyramid;
  check (tilecache_pyramid_init (&pyramid, sizeof pyramid), "pyramid");
  pyramid.world_width = pyramid.world_height = ldexp (TILE_SIZE, max_zoom);
  pyramid.tile_size = TILE_SIZE;
  pyramid.wraps_x = TRUE;
  check (tilecache_add_layer (self->cache, source, &pyramid, NULL, &self->layer), "layer");
  tilecache_view_options options;
  check (tilecache_view_options_init (&options, sizeof options), "view options");
  options.level_bias = 0.999; /* between two zoom levels, the widget draws the coarser one */
  check (tilecache_view_create (self->cache, &self->layer, 1, &options, &self->view), "view");
  return self;
}

char *
tile_cache_source_describe (TileCacheSource *self)
{
  char text[2048];
  check (tilecache_describe_statistics (self->cache, text, sizeof text, NULL), "statistics");
  return g_strdup (text);
}

static void
finalize (GObject *object)
{
  TileCacheSource *self = TILE_CACHE_SOURCE (object);
  tilecache_view_destroy (self->view);
  tilecache_destroy (self->cache);
  G_OBJECT_CLASS (tile_cache_source_parent_class)->finalize (object);
}

static void
tile_cache_source_class_init (TileCacheSourceClass *class)
{
  G_OBJECT_CLASS (class)->finalize = finalize;
  SHUMATE_MAP_SOURCE_CLASS (class)->fill_tile_async = fill_tile_async;
  SHUMATE_MAP_SOURCE_CLASS (class)->fill_tile_finish = fill_tile_finish;
}

static void
tile_cache_source_init (TileCacheSource *self)
{
  check (tilecache_viewport_init (&self->shown, sizeof self->shown), "viewport");
}
