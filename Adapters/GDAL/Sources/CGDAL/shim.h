// The system's GDAL, 3.0 or newer.
#ifndef TILECACHE_CGDAL_SHIM_H
#define TILECACHE_CGDAL_SHIM_H
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>

// Errors of what follows are asked for by the thread that made them, not printed. The program's own handler stays.

// Opens a raster for reading; NULL if no driver can.
static inline GDALDatasetH tile_gdal_open(const char *name) {
    GDALAllRegister();
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
    GDALDatasetH dataset = GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_READONLY, NULL, NULL, NULL);
    CPLPopErrorHandler();
    return dataset;
}

// Reads a part of a band as numbers of a type; 1 on success.
static inline int tile_gdal_read(GDALRasterBandH band, int x, int y, int width, int height, void *target,
                                 GDALDataType type, int pixel_bytes, int row_bytes) {
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
    CPLErr status =
        GDALRasterIOEx(band, GF_Read, x, y, width, height, target, width, height, type, pixel_bytes, row_bytes, NULL);
    CPLPopErrorHandler();
    return status == CE_None;
}

// The least and the largest number of a band, by what the file states or by some of its pixels; 1 on success.
static inline int tile_gdal_range(GDALRasterBandH band, double *least, double *largest) {
    CPLPushErrorHandler(CPLQuietErrorHandler);
    double mean, deviation;
    CPLErr status = GDALGetRasterStatistics(band, TRUE, FALSE, least, largest, &mean, &deviation);
    double ends[2];
    if (status != CE_None) {
        status = GDALComputeRasterMinMax(band, TRUE, ends) == CE_None ? CE_None : CE_Failure;
        *least = ends[0];
        *largest = ends[1];
    }
    CPLPopErrorHandler();
    return status == CE_None;
}
#endif
