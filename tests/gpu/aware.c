/* Preloaded: MPI reports that it takes pointers to GPU memory, since the stand-in's memory is the host's. */
int MPIX_Query_cuda_support(void);
__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void) { return 1; }
