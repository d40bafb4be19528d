/* Measures what a map widget shows: a map source that takes each tile from another one and records when it comes. */
#ifndef METER_H
#define METER_H

#include <shumate/shumate.h>

G_BEGIN_DECLS

#define TYPE_METER (meter_get_type ())
G_DECLARE_FINAL_TYPE (Meter, meter, METER, SOURCE, ShumateMapSource)

Meter *meter_new (ShumateMapSource *source, guint max_zoom);
/* Measures each of the map's frames. */
void meter_watch (Meter *self, ShumateMap *map);
void meter_reset (Meter *self);
/* Frames; percent of the area that is not sharp and that is blank; percent of tiles that are there when they appear;
 * number of tiles that failed. Blank is what the present zoom level does not cover: after a change of the zoom level the
 * widget may still draw the old one there. */
char *meter_describe (Meter *self);

G_END_DECLS

#endif
