#include "meter.h"

enum { TILE_SIZE = 256 };

struct _Meter
{
  ShumateMapSource parent;
  ShumateMapSource *source;
  GHashTable *waiting; /* tiles that have been requested and have not come, by address */
  GHashTable *failed;  /* positions whose tile failed, and whether an ancestor's part is drawn there */
  GHashTable *shown;   /* positions that the last frame showed */
  guint64 frames, appeared, at_once, failures;
  double area, waiting_area, blank_area;
};

G_DEFINE_TYPE (Meter, meter, SHUMATE_TYPE_MAP_SOURCE)

typedef struct
{
  Meter *meter;
  ShumateTile *tile;
  GTask *task;
} Fill;

static gint64
place_of (guint zoom, guint x, guint y)
{
  return (gint64) zoom << 56 | (gint64) y << 28 | x;
}

static gint64
place_of_tile (ShumateTile *tile)
{
  return place_of (shumate_tile_get_zoom_level (tile), shumate_tile_get_x (tile), shumate_tile_get_y (tile));
}

static void
filled (GObject *object, GAsyncResult *result, gpointer data)
{
  Fill *fill = data;
  GError *error = NULL;
  gboolean is_filled = shumate_map_source_fill_tile_finish (SHUMATE_MAP_SOURCE (object), result, &error);
  g_hash_table_remove (fill->meter->waiting, fill->tile);
  if (!is_filled && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      gint64 place = place_of_tile (fill->tile);
      gboolean has_part = shumate_tile_get_paintable (fill->tile) != NULL;
      g_hash_table_insert (fill->meter->failed, g_memdup2 (&place, sizeof place), GINT_TO_POINTER (has_part));
      fill->meter->failures++;
    }
  if (is_filled)
    g_task_return_boolean (fill->task, TRUE);
  else
    g_task_return_error (fill->task, error);
  g_object_unref (fill->task);
  g_object_unref (fill->tile);
  g_free (fill);
}

static void
fill_tile_async (ShumateMapSource *source, ShumateTile *tile, GCancellable *cancellable,
                 GAsyncReadyCallback callback, gpointer user_data)
{
  Fill *fill = g_new0 (Fill, 1);
  fill->meter = METER_SOURCE (source);
  fill->tile = g_object_ref (tile);
  fill->task = g_task_new (source, cancellable, callback, user_data);
  gint64 place = place_of_tile (tile);
  g_hash_table_remove (fill->meter->failed, &place);
  g_hash_table_add (fill->meter->waiting, tile);
  shumate_map_source_fill_tile_async (fill->meter->source, tile, cancellable, filled, fill);
}

static gboolean
fill_tile_finish (ShumateMapSource *source, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* The waiting tile at a position; NULL if what belongs there has come, from the source or the widget's memory. */
static ShumateTile *
waiting_tile (Meter *self, guint zoom, guint x, guint y)
{
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, self->waiting);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (shumate_tile_get_x (key) == x && shumate_tile_get_y (key) == y && shumate_tile_get_zoom_level (key) == zoom
        && shumate_tile_get_state (key) != SHUMATE_STATE_DONE)
      return key;
  return NULL;
}

static double
overlap (double a, double b, double from, double to)
{
  return MAX (MIN (b, to) - MAX (a, from), 0);
}

/* After the widget has requested the tiles of a frame. */
static void
look (GdkFrameClock *clock, gpointer data)
{
  GtkWidget *map = GTK_WIDGET (data);
  Meter *self = g_object_get_data (G_OBJECT (map), "meter");
  ShumateViewport *viewport = shumate_map_get_viewport (SHUMATE_MAP (map));
  double level = shumate_viewport_get_zoom_level (viewport);
  guint zoom = level;
  double scale = exp2 (level - zoom);
  double width = gtk_widget_get_width (map) / scale, height = gtk_widget_get_height (map) / scale;
  double left = shumate_map_source_get_x (SHUMATE_MAP_SOURCE (self), zoom,
                                          shumate_location_get_longitude (SHUMATE_LOCATION (viewport))) - width / 2;
  double top = shumate_map_source_get_y (SHUMATE_MAP_SOURCE (self), zoom,
                                         shumate_location_get_latitude (SHUMATE_LOCATION (viewport))) - height / 2;
  GHashTable *shown = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (gint64 y = floor (top / TILE_SIZE); y * TILE_SIZE < top + height; y++)
    for (gint64 x = floor (left / TILE_SIZE); x * TILE_SIZE < left + width; x++)
      {
        if (y < 0 || y >> zoom || x < 0 || x >> zoom)
          continue;
        double area = overlap (x * TILE_SIZE, (x + 1) * TILE_SIZE, left, left + width)
                      * overlap (y * TILE_SIZE, (y + 1) * TILE_SIZE, top, top + height);
        ShumateTile *tile = waiting_tile (self, zoom, x, y);
        gint64 place = place_of (zoom, x, y);
        gpointer has_part = NULL;
        gboolean is_failed = g_hash_table_lookup_extended (self->failed, &place, NULL, &has_part);
        self->area += area;
        if (tile || is_failed)
          self->waiting_area += area;
        if (tile ? shumate_tile_get_paintable (tile) == NULL : is_failed && !has_part)
          self->blank_area += area;
        if (!g_hash_table_contains (self->shown, &place))
          {
            self->appeared++;
            self->at_once += tile == NULL && !is_failed;
          }
        g_hash_table_add (shown, g_memdup2 (&place, sizeof place));
      }
  g_hash_table_unref (self->shown);
  self->shown = shown;
  self->frames++;
}

/* A tick callback makes a frame at each refresh; the widget's own come only if something changes. */
static gboolean
tick (GtkWidget *map, GdkFrameClock *clock, gpointer data)
{
  if (!g_object_get_data (G_OBJECT (map), "meter"))
    {
      g_object_set_data (G_OBJECT (map), "meter", data);
      g_signal_connect_object (clock, "after-paint", G_CALLBACK (look), map, 0);
    }
  return G_SOURCE_CONTINUE;
}

void
meter_watch (Meter *self, ShumateMap *map)
{
  gtk_widget_add_tick_callback (GTK_WIDGET (map), tick, g_object_ref (self), g_object_unref);
}

void
meter_reset (Meter *self)
{
  self->frames = self->appeared = self->at_once = self->failures = 0;
  self->area = self->waiting_area = self->blank_area = 0;
}

char *
meter_describe (Meter *self)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %.1f %.1f %.1f %" G_GUINT64_FORMAT, self->frames,
                          100 * self->waiting_area / MAX (self->area, 1), 100 * self->blank_area / MAX (self->area, 1),
                          100.0 * self->at_once / MAX (self->appeared, 1), self->failures);
}

Meter *
meter_new (ShumateMapSource *source, guint max_zoom)
{
  Meter *self = g_object_new (TYPE_METER, "id", "meter", "tile-size", TILE_SIZE, "max-zoom-level", max_zoom, NULL);
  self->source = source;
  return self;
}

static void
finalize (GObject *object)
{
  Meter *self = METER_SOURCE (object);
  g_object_unref (self->source);
  g_hash_table_unref (self->waiting);
  g_hash_table_unref (self->failed);
  g_hash_table_unref (self->shown);
  G_OBJECT_CLASS (meter_parent_class)->finalize (object);
}

static void
meter_class_init (MeterClass *class)
{
  G_OBJECT_CLASS (class)->finalize = finalize;
  SHUMATE_MAP_SOURCE_CLASS (class)->fill_tile_async = fill_tile_async;
  SHUMATE_MAP_SOURCE_CLASS (class)->fill_tile_finish = fill_tile_finish;
}

static void
meter_init (Meter *self)
{
  self->waiting = g_hash_table_new (NULL, NULL);
  self->failed = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->shown = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}
