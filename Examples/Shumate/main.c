/* A map whose tiles come from a TileCache, or with --url from the widget's own network source.
 *
 *   map [--effort E] [--workers N] [--delay MS]     tiles painted here, each after a delay
 *   map --url http://127.0.0.1:PORT/{z}/{x}/{y}     the widget's own source and memory
 *   map --serve [--delay MS]                        serves the same tiles; prints its port
 *
 * SIGUSR1 starts the figures anew; SIGTERM prints them and ends the program. */
#include <glib-unix.h>
#include <libsoup/soup.h>

#include "meter.h"
#include "painter.h"
#include "tile-cache-source.h"

static double effort = 0.5;
static int workers = 4, delay = 300;
static char *url;
static gboolean serves;
static const GOptionEntry entries[] = {
  { "effort", 0, 0, G_OPTION_ARG_DOUBLE, &effort, "How much is prefetched, 0 to 1 (0.5)", "E" },
  { "workers", 0, 0, G_OPTION_ARG_INT, &workers, "Loads at the same time (4)", "N" },
  { "delay", 0, 0, G_OPTION_ARG_INT, &delay, "Time of a load in milliseconds (300)", "MS" },
  { "url", 0, 0, G_OPTION_ARG_STRING, &url, "Use the widget's own source", "URL" },
  { "serve", 0, 0, G_OPTION_ARG_NONE, &serves, "Serve tiles", NULL },
  { NULL }
};

/* ------------------------------------------------------------------------------------------------- The same tiles */

/* On a worker's thread of the cache. */
static tilecache_outcome
load (void *context, tilecache_pixels *pixels)
{
  gint64 end = g_get_monotonic_time () + delay * 1000;
  paint_tile (pixels->tile.level, pixels->tile.column, pixels->tile.row, pixels->memory);
  g_usleep (MAX (end - g_get_monotonic_time (), 0));
  return TILECACHE_OUTCOME_PIXELS;
}

static gboolean
answer (gpointer message)
{
  soup_server_message_unpause (message);
  return G_SOURCE_REMOVE;
}

static void
serve (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  int zoom, x, y;
  if (sscanf (path, "/%d/%d/%d", &zoom, &x, &y) != 3)
    {
      soup_server_message_set_status (message, SOUP_STATUS_NOT_FOUND, NULL);
      return;
    }
  gint64 start = g_get_monotonic_time ();
  guint8 *pixels = g_malloc (4 * TILE_SIZE * TILE_SIZE);
  paint_tile (zoom, x, y, pixels);
  g_autoptr (GBytes) bytes = g_bytes_new_take (pixels, 4 * TILE_SIZE * TILE_SIZE);
  g_autoptr (GdkTexture) texture =
    gdk_memory_texture_new (TILE_SIZE, TILE_SIZE, GDK_MEMORY_R8G8B8A8_PREMULTIPLIED, bytes, 4 * TILE_SIZE);
  g_autoptr (GBytes) png = gdk_texture_save_to_png_bytes (texture);
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (message, "image/png", SOUP_MEMORY_COPY, g_bytes_get_data (png, NULL),
                                    g_bytes_get_size (png));
  soup_server_message_pause (message);
  g_timeout_add_full (G_PRIORITY_HIGH, MAX (delay - (g_get_monotonic_time () - start) / 1000, 0), answer,
                      g_object_ref (message), g_object_unref);
}

static int
run_server (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SoupServer) server = soup_server_new (NULL, NULL);
  soup_server_add_handler (server, "/", serve, NULL, NULL);
  if (!soup_server_listen_local (server, 0, SOUP_SERVER_LISTEN_IPV4_ONLY, &error))
    g_error ("server: %s", error->message);
  GSList *addresses = soup_server_get_uris (server);
  g_print ("%d\n", g_uri_get_port (addresses->data));
  fflush (stdout);
  g_slist_free_full (addresses, (GDestroyNotify) g_uri_unref);
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
  return 0;
}

/* --------------------------------------------------------------------------------------------------------- The map */

static Meter *meter;
static TileCacheSource *tiles;
static GMainLoop *loop;

static gboolean
restart (gpointer data)
{
  meter_reset (meter);
  return G_SOURCE_CONTINUE;
}

static gboolean
end (gpointer data)
{
  g_autofree char *figures = meter_describe (meter);
  g_print ("%s\n", figures);
  if (tiles)
    {
      g_autofree char *statistics = tile_cache_source_describe (tiles);
      g_printerr ("%s\n", statistics);
    }
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static ShumateMapSource *
make_source (void)
{
  if (url)
    {
      ShumateDataSource *network = SHUMATE_DATA_SOURCE (shumate_tile_downloader_new (url));
      return SHUMATE_MAP_SOURCE (shumate_raster_renderer_new_full ("own", "own", NULL, NULL, 0, MAX_ZOOM, TILE_SIZE,
                                                                   SHUMATE_MAP_PROJECTION_MERCATOR, network));
    }
  tilecache_configuration configuration;
  tilecache_source source;
  tilecache_configuration_init (&configuration, sizeof configuration);
  tilecache_source_init (&source, sizeof source);
  configuration.byte_limit = 48 << 20;
  configuration.effort = effort;
  configuration.workers = workers;
  configuration.expected_load_latency = delay * G_GINT64_CONSTANT (1000000);
  source.load = load;
  tiles = tile_cache_source_new (&configuration, &source, MAX_ZOOM);
  return SHUMATE_MAP_SOURCE (tiles);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error))
    {
      g_printerr ("map: %s\n", error->message);
      return 2;
    }
  const char *problem = argc > 1                       ? "no arguments but flags were expected"
                        : !(effort >= 0 && effort <= 1) ? "--effort: 0 to 1 was expected"
                        : workers < 1 || workers > 255  ? "--workers: 1 to 255 was expected"
                        : delay < 0 || delay > 60000    ? "--delay: 0 to 60000 was expected"
                                                        : NULL;
  if (problem)
    {
      g_printerr ("map: %s\n", problem);
      return 2;
    }
  if (serves)
    return run_server ();

  gtk_init ();
  GtkWidget *window = gtk_window_new ();
  gtk_window_set_title (GTK_WINDOW (window), "TileCache in libshumate");
  gtk_window_set_default_size (GTK_WINDOW (window), 1024, 768);
  ShumateMap *map = shumate_map_new ();
  ShumateViewport *viewport = shumate_map_get_viewport (map);
  meter = meter_new (make_source (), MAX_ZOOM);
  shumate_viewport_set_reference_map_source (viewport, SHUMATE_MAP_SOURCE (meter));
  shumate_viewport_set_max_zoom_level (viewport, MAX_ZOOM);
  shumate_map_add_layer (map, SHUMATE_LAYER (shumate_map_layer_new (SHUMATE_MAP_SOURCE (meter), viewport)));
  shumate_viewport_set_zoom_level (viewport, 12);
  shumate_map_center_on (map, 48.1, 11.6);
  if (tiles)
    tile_cache_source_follow (tiles, map);
  meter_watch (meter, map);
  gtk_window_set_child (GTK_WINDOW (window), GTK_WIDGET (map));
  gtk_window_present (GTK_WINDOW (window));

  loop = g_main_loop_new (NULL, FALSE);
  g_unix_signal_add (SIGUSR1, restart, NULL);
  g_unix_signal_add (SIGTERM, end, NULL);
  g_signal_connect_swapped (window, "close-request", G_CALLBACK (end), NULL);
  g_main_loop_run (loop);
  return 0;
}
