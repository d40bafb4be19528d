int tilecache_kernels_anchor(void) { return 0; }
