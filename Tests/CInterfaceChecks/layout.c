/* The layout of every structure on 64-bit systems. These numbers are the ABI: they may grow at the end of a structure
 * that has a struct_size, and never change otherwise. */
#include <tilecache.h>

#if UINTPTR_MAX == UINT64_MAX
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#define FIELD(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)

SIZE(tilecache_coordinate, 24);
FIELD(tilecache_coordinate, column, 8);
FIELD(tilecache_coordinate, row, 16);
SIZE(tilecache_rectangle, 32);
FIELD(tilecache_rectangle, max_x, 16);
SIZE(tilecache_identity, 32);
FIELD(tilecache_identity, generation, 4);
FIELD(tilecache_identity, tile, 8);
SIZE(tilecache_tile, 72);
FIELD(tilecache_tile, pixels, 32);
FIELD(tilecache_tile, byte_count, 40);
FIELD(tilecache_tile, bytes_per_row, 48);
FIELD(tilecache_tile, width, 56);
FIELD(tilecache_tile, height, 60);
FIELD(tilecache_tile, format, 64);
FIELD(tilecache_tile, is_stale, 68);

SIZE(tilecache_configuration, 88);
FIELD(tilecache_configuration, byte_limit, 8);
FIELD(tilecache_configuration, maximum_byte_limit, 16);
FIELD(tilecache_configuration, workers, 24);
FIELD(tilecache_configuration, reserved_workers, 28);
FIELD(tilecache_configuration, uses_compressed_tier, 32);
FIELD(tilecache_configuration, fits_level_to_budget, 36);
FIELD(tilecache_configuration, compressed_share, 40);
FIELD(tilecache_configuration, effort, 48);
FIELD(tilecache_configuration, expected_load_latency, 56);
FIELD(tilecache_configuration, retry_delay, 64);
FIELD(tilecache_configuration, stuck_load_time, 72);
FIELD(tilecache_configuration, slow_callback_time, 80);

SIZE(tilecache_pixels, 96);
FIELD(tilecache_pixels, layer, 8);
FIELD(tilecache_pixels, format, 12);
FIELD(tilecache_pixels, tile, 16);
FIELD(tilecache_pixels, memory, 40);
FIELD(tilecache_pixels, byte_count, 48);
FIELD(tilecache_pixels, bytes_per_row, 56);
FIELD(tilecache_pixels, width, 64);
FIELD(tilecache_pixels, height, 68);
FIELD(tilecache_pixels, alpha, 72);
FIELD(tilecache_pixels, retry_after, 80);
FIELD(tilecache_pixels, internal, 88);

SIZE(tilecache_source, 48);
FIELD(tilecache_source, context, 8);
FIELD(tilecache_source, destroy, 16);
FIELD(tilecache_source, load, 24);
FIELD(tilecache_source, request, 32);
FIELD(tilecache_source, decode, 40);
SIZE(tilecache_request_info, 40);
FIELD(tilecache_request_info, layer, 8);
FIELD(tilecache_request_info, is_demand, 12);
FIELD(tilecache_request_info, tile, 16);

SIZE(tilecache_level, 64);
FIELD(tilecache_level, tile_width, 16);
FIELD(tilecache_level, world_pixels_per_pixel, 32);
FIELD(tilecache_level, origin_x, 40);
FIELD(tilecache_level, border, 56);
SIZE(tilecache_pyramid, 72);
FIELD(tilecache_pyramid, world_width, 8);
FIELD(tilecache_pyramid, tile_size, 24);
FIELD(tilecache_pyramid, border, 32);
FIELD(tilecache_pyramid, wraps_x, 40);
FIELD(tilecache_pyramid, levels, 48);
FIELD(tilecache_pyramid, level_count, 56);
FIELD(tilecache_pyramid, level_size, 64);
SIZE(tilecache_layer_options, 56);
FIELD(tilecache_layer_options, format, 8);
FIELD(tilecache_layer_options, alpha, 12);
FIELD(tilecache_layer_options, share_maximum, 32);
FIELD(tilecache_layer_options, share_guaranteed, 40);
FIELD(tilecache_layer_options, synthesized_levels, 48);
FIELD(tilecache_layer_options, downsampling, 52);
FIELD(tilecache_layer_options, opaque_bytes_per_tile, 16);
FIELD(tilecache_layer_options, is_compressible, 24);

SIZE(tilecache_viewport, 56);
FIELD(tilecache_viewport, center_x, 8);
FIELD(tilecache_viewport, width, 24);
FIELD(tilecache_viewport, scale, 40);
FIELD(tilecache_viewport, rotation, 48);
SIZE(tilecache_view_options, 40);
FIELD(tilecache_view_options, level_bias, 8);
FIELD(tilecache_view_options, level_hysteresis, 16);
FIELD(tilecache_view_options, promotion_tiles, 24);
FIELD(tilecache_view_options, promotion_nanoseconds, 32);
SIZE(tilecache_update_options, 32);
FIELD(tilecache_update_options, time, 8);
FIELD(tilecache_update_options, destination, 16);
FIELD(tilecache_update_options, destination_time, 24);
SIZE(tilecache_needed_tile, 32);
FIELD(tilecache_needed_tile, importance, 4);
FIELD(tilecache_needed_tile, tile, 8);

SIZE(tilecache_placement, 144);
FIELD(tilecache_placement, world, 72);
FIELD(tilecache_placement, part, 104);
FIELD(tilecache_placement, is_exact, 136);
SIZE(tilecache_frame_info, 48);
FIELD(tilecache_frame_info, placement_count, 8);
FIELD(tilecache_frame_info, appeared_count, 16);
FIELD(tilecache_frame_info, disappeared_count, 24);
FIELD(tilecache_frame_info, missing_tile_count, 32);
FIELD(tilecache_frame_info, unavailable_count, 40);
SIZE(tilecache_unavailable_tile, 64);
FIELD(tilecache_unavailable_tile, cause, 4);
FIELD(tilecache_unavailable_tile, tile, 8);
FIELD(tilecache_unavailable_tile, world, 32);

SIZE(tilecache_recorder_options, 88);
FIELD(tilecache_recorder_options, viewport_width, 8);
FIELD(tilecache_recorder_options, world_width, 24);
FIELD(tilecache_recorder_options, tile_size, 40);
FIELD(tilecache_recorder_options, wraps_x, 48);
FIELD(tilecache_recorder_options, file_descriptor, 52);
FIELD(tilecache_recorder_options, view_name, 56);
FIELD(tilecache_recorder_options, write, 64);
FIELD(tilecache_recorder_options, context, 72);
FIELD(tilecache_recorder_options, destroy, 80);
SIZE(tilecache_recorder_counts, 48);
FIELD(tilecache_recorder_counts, recorded, 8);
FIELD(tilecache_recorder_counts, out_of_order, 16);
FIELD(tilecache_recorder_counts, undrawable, 24);
FIELD(tilecache_recorder_counts, resized, 32);
FIELD(tilecache_recorder_counts, write_error, 40);

SIZE(tilecache_statistics, 664);
FIELD(tilecache_statistics, pan_demands, 8);
FIELD(tilecache_statistics, pan_decoded_hits, 16);
FIELD(tilecache_statistics, pan_compressed_hits, 24);
FIELD(tilecache_statistics, pan_late, 32);
FIELD(tilecache_statistics, pan_missed, 40);
FIELD(tilecache_statistics, zoom_demands, 48);
FIELD(tilecache_statistics, zoom_decoded_hits, 56);
FIELD(tilecache_statistics, zoom_compressed_hits, 64);
FIELD(tilecache_statistics, zoom_late, 72);
FIELD(tilecache_statistics, zoom_missed, 80);
FIELD(tilecache_statistics, hit_rate, 88);
FIELD(tilecache_statistics, waste, 96);
FIELD(tilecache_statistics, compression_ratio, 104);
FIELD(tilecache_statistics, loads_started, 112);
FIELD(tilecache_statistics, loads_finished, 120);
FIELD(tilecache_statistics, loads_absent, 128);
FIELD(tilecache_statistics, loads_failed, 136);
FIELD(tilecache_statistics, loads_cancelled, 144);
FIELD(tilecache_statistics, loads_outdated, 152);
FIELD(tilecache_statistics, loaded_bytes, 160);
FIELD(tilecache_statistics, loads_unseen, 168);
FIELD(tilecache_statistics, second_answers, 176);
FIELD(tilecache_statistics, prefetch_started, 184);
FIELD(tilecache_statistics, prefetch_useful, 192);
FIELD(tilecache_statistics, prefetch_late, 200);
FIELD(tilecache_statistics, prefetch_wasted, 208);
FIELD(tilecache_statistics, prefetch_cancelled, 216);
FIELD(tilecache_statistics, demotions, 224);
FIELD(tilecache_statistics, promotions, 232);
FIELD(tilecache_statistics, incompressible, 240);
FIELD(tilecache_statistics, damaged_blocks, 248);
FIELD(tilecache_statistics, removed_for_room, 256);
FIELD(tilecache_statistics, removed_incompressible, 264);
FIELD(tilecache_statistics, removed_replaced, 272);
FIELD(tilecache_statistics, removed_invalidated, 280);
FIELD(tilecache_statistics, removed_trimmed, 288);
FIELD(tilecache_statistics, removed_damaged, 296);
FIELD(tilecache_statistics, byte_limit, 304);
FIELD(tilecache_statistics, used_bytes, 312);
FIELD(tilecache_statistics, peak_bytes, 320);
FIELD(tilecache_statistics, decoded_bytes, 328);
FIELD(tilecache_statistics, compressed_bytes, 336);
FIELD(tilecache_statistics, in_flight_bytes, 344);
FIELD(tilecache_statistics, bookkeeping_bytes, 352);
FIELD(tilecache_statistics, peak_decoded_bytes, 360);
FIELD(tilecache_statistics, peak_compressed_bytes, 368);
FIELD(tilecache_statistics, peak_in_flight_bytes, 376);
FIELD(tilecache_statistics, decoded_tiles, 384);
FIELD(tilecache_statistics, compressed_tiles, 392);
FIELD(tilecache_statistics, unseen_tiles, 400);
FIELD(tilecache_statistics, unseen_prefetched_tiles, 408);
FIELD(tilecache_statistics, loads_in_flight, 416);
FIELD(tilecache_statistics, mean_load_nanoseconds, 424);
FIELD(tilecache_statistics, encoded_payloads, 432);
FIELD(tilecache_statistics, undecodable_payloads, 440);
FIELD(tilecache_statistics, synthesized_tiles, 448);
FIELD(tilecache_statistics, synthesis_loads, 456);
FIELD(tilecache_statistics, synthesis_holes, 464);
FIELD(tilecache_statistics, demand_waits, 472);
FIELD(tilecache_statistics, demand_wait_p50, 480);
FIELD(tilecache_statistics, demand_wait_p95, 488);
FIELD(tilecache_statistics, demand_wait_p99, 496);
FIELD(tilecache_statistics, demand_wait_maximum, 504);
FIELD(tilecache_statistics, prefetch_waits, 512);
FIELD(tilecache_statistics, prefetch_wait_p50, 520);
FIELD(tilecache_statistics, prefetch_wait_p95, 528);
FIELD(tilecache_statistics, prefetch_wait_p99, 536);
FIELD(tilecache_statistics, prefetch_wait_maximum, 544);
FIELD(tilecache_statistics, stuck_loads, 552);
FIELD(tilecache_statistics, blocked_workers, 560);
FIELD(tilecache_statistics, oldest_load_nanoseconds, 568);
FIELD(tilecache_statistics, slow_callbacks, 576);
FIELD(tilecache_statistics, longest_callback_nanoseconds, 584);
FIELD(tilecache_statistics, refused_viewports, 592);
FIELD(tilecache_statistics, pinned_tiles, 600);
FIELD(tilecache_statistics, pinned_bytes, 608);
FIELD(tilecache_statistics, loads_refused, 616);
FIELD(tilecache_statistics, loads_retried, 624);
FIELD(tilecache_statistics, loads_drawn, 632);
FIELD(tilecache_statistics, prefetch_empty, 640);
FIELD(tilecache_statistics, prefetches_in_flight, 648);
FIELD(tilecache_statistics, shortfall_bytes, 656);

#ifndef CHECKS_CORE_ONLY
#include <tilecache_sources.h>

SIZE(tilecache_source_layer_options, 48);
FIELD(tilecache_source_layer_options, tile_size, 24);
FIELD(tilecache_source_layer_options, minimum_zoom, 32);
FIELD(tilecache_source_layer_options, headers, 40);
SIZE(tilecache_source_layer_info, 88);
FIELD(tilecache_source_layer_info, contents, 24);
FIELD(tilecache_source_layer_info, level_count, 56);
FIELD(tilecache_source_layer_info, failures, 80);
#endif
#endif

/* What only reads takes its handle as const. */
#define TAKES(function, ...) _Static_assert(_Generic(&function, tilecache_status (*)(__VA_ARGS__): 1, default: 0), #function)
TAKES(tilecache_get_byte_limit, const tilecache_cache *, int64_t *);
TAKES(tilecache_is_resident, const tilecache_cache *, tilecache_layer, tilecache_coordinate, int32_t *);
TAKES(tilecache_get_statistics, const tilecache_cache *, tilecache_statistics *);
TAKES(tilecache_describe_statistics, const tilecache_cache *, char *, size_t, size_t *);
TAKES(tilecache_view_get_shortfall_bytes, const tilecache_view *, int64_t *);
TAKES(tilecache_frame_get_info, const tilecache_frame *, tilecache_frame_info *);
TAKES(tilecache_frame_get_placements, const tilecache_frame *, size_t, const tilecache_placement **, size_t *);
TAKES(tilecache_frame_get_appeared, const tilecache_frame *, const tilecache_identity **, size_t *);
TAKES(tilecache_frame_get_disappeared, const tilecache_frame *, const tilecache_identity **, size_t *);
TAKES(tilecache_frame_get_unavailable, const tilecache_frame *, size_t, const tilecache_unavailable_tile **, size_t *);
TAKES(tilecache_frame_lease, const tilecache_frame *, size_t, tilecache_lease **);
TAKES(tilecache_lease_get_tile, const tilecache_lease *, tilecache_tile *);
TAKES(tilecache_request_get_info, const tilecache_request *, tilecache_request_info *);
TAKES(tilecache_recorder_get_counts, const tilecache_recorder *, tilecache_recorder_counts *);
TAKES(tilecache_recorder_get_text, const tilecache_recorder *, char *, size_t, size_t *);
