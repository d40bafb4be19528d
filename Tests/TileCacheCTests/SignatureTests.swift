import CTileCache
import CTileSources
import Testing
import TileCacheC
import TileSourcesC

/// A function of the header and the function behind it must be of one type: where they are not, this does not compile.
@Suite struct SignatureTests {
    private func same<each Argument, Result>(
        _ declared: (repeat each Argument) -> Result,
        _ defined: (repeat each Argument) -> Result
    ) {}

    @Test func declarationsAndDefinitionsAgree() {
        same(tilecache_configuration_init, tileCacheConfigurationInit)
        same(tilecache_create, tileCacheCreate)
        same(tilecache_destroy, tileCacheDestroy)
        same(tilecache_shutdown, tileCacheShutdown)
        same(tilecache_set_byte_limit, tileCacheSetByteLimit)
        same(tilecache_get_byte_limit, tileCacheGetByteLimit)
        same(tilecache_trim, tileCacheTrim)
        same(tilecache_automatic_byte_limit, tileCacheAutomaticByteLimit)
        same(tilecache_watch_memory_pressure, tileCacheWatchMemoryPressure)
        same(tilecache_note_memory_pressure, tileCacheNoteMemoryPressure)
        same(tilecache_now, tileCacheNow)
        same(tilecache_frame_release, tileCacheFrameRelease)
        same(tilecache_frame_get_info, tileCacheFrameGetInfo)
        same(tilecache_frame_get_placements, tileCacheFrameGetPlacements)
        same(tilecache_frame_get_appeared, tileCacheFrameGetAppeared)
        same(tilecache_frame_get_disappeared, tileCacheFrameGetDisappeared)
        same(tilecache_frame_get_unavailable, tileCacheFrameGetUnavailable)
        same(tilecache_frame_lease, tileCacheFrameLease)
        same(tilecache_lease_get_tile, tileCacheLeaseGetTile)
        same(tilecache_lease_release, tileCacheLeaseRelease)
        same(tilecache_pyramid_init, tileCachePyramidInit)
        same(tilecache_layer_options_init, tileCacheLayerOptionsInit)
        same(tilecache_add_layer, tileCacheAddLayer)
        same(tilecache_invalidate, tileCacheInvalidate)
        same(tilecache_add_floor, tileCacheAddFloor)
        same(tilecache_remove_floors, tileCacheRemoveFloors)
        same(tilecache_is_resident, tileCacheIsResident)
        same(tilecache_read_tile, tileCacheReadTile)
        same(tilecache_recorder_options_init, tileCacheRecorderOptionsInit)
        same(tilecache_recorder_create, tileCacheRecorderCreate)
        same(tilecache_recorder_release, tileCacheRecorderRelease)
        same(tilecache_recorder_record, tileCacheRecorderRecord)
        same(tilecache_recorder_get_counts, tileCacheRecorderGetCounts)
        same(tilecache_recorder_get_text, tileCacheRecorderGetText)
        same(tilecache_source_init, tileCacheSourceInit)
        same(tilecache_request_get_info, tileCacheRequestGetInfo)
        same(tilecache_request_is_wanted, tileCacheRequestIsWanted)
        same(tilecache_request_on_cancel, tileCacheRequestOnCancel)
        same(tilecache_request_complete, tileCacheRequestComplete)
        same(tilecache_request_complete_copying, tileCacheRequestCompleteCopying)
        same(tilecache_request_complete_absent, tileCacheRequestCompleteAbsent)
        same(tilecache_request_fail, tileCacheRequestFail)
        same(tilecache_request_cancel, tileCacheRequestCancel)
        same(tilecache_request_holds_encoded, tileCacheRequestHoldsEncoded)
        same(tilecache_pixels_keep_encoded, tileCachePixelsKeepEncoded)
        same(tilecache_request_release, tileCacheRequestRelease)
        same(tilecache_get_statistics, tileCacheGetStatistics)
        same(tilecache_describe_statistics, tileCacheDescribeStatistics)
        same(tilecache_viewport_init, tileCacheViewportInit)
        same(tilecache_view_options_init, tileCacheViewOptionsInit)
        same(tilecache_update_options_init, tileCacheUpdateOptionsInit)
        same(tilecache_view_create, tileCacheViewCreate)
        same(tilecache_view_destroy, tileCacheViewDestroy)
        same(tilecache_view_update, tileCacheViewUpdate)
        same(tilecache_view_update_needed, tileCacheViewUpdateNeeded)
        same(tilecache_view_set_tiles_ready, tileCacheViewSetTilesReady)
        same(tilecache_view_set_promotion_budget, tileCacheViewSetPromotionBudget)
        same(tilecache_view_set_recorder, tileCacheViewSetRecorder)
        same(tilecache_view_get_shortfall_bytes, tileCacheViewGetShortfallBytes)
        same(tilecache_view_frame, tileCacheViewFrame)
        same(tilecache_source_layer_options_init, tileCacheSourceLayerOptionsInit)
        same(tilecache_add_source_layer, tileCacheAddSourceLayer)
        same(tilecache_source_layer_get_info, tileCacheSourceLayerGetInfo)
        same(tilecache_source_layer_describe_failure, tileCacheSourceLayerDescribeFailure)
    }
}
