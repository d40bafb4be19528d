// filled in by the kernels
