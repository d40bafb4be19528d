// The system's libjpeg-turbo; nothing of it is copied here.
#ifndef TILECACHE_CTILEJPEG_SHIM_H
#define TILECACHE_CTILEJPEG_SHIM_H
#include <stdio.h>

#include <jpeglib.h>
#endif
