/* The inside of io_folder. It works with descriptors, so that a swapped symbolic link cannot redirect writes. */
#ifndef SIM_IO_FOLDER_H
#define SIM_IO_FOLDER_H

#include "io/file.h"
#include "io/io.h"
#include "io/later.h"
#include "io/lock.h"

struct io_folder {
  char path[4096], snap_path[4104], ckpt_path[4104];
  int root, snap, ckpt;            /* descriptors; -1: none */
  bool made, snap_made, ckpt_made; /* set if io_folder_open created the folder */
  io_lock lock;
  io_later *later;      /* makes files durable */
  const sim_comm *comm; /* NULL: one rank */
};

/* Opens slices/NAME and creates it if absent; removes stale temporary files in it. path[capacity]: its path, for
 * messages. */
sim_status io_folder_slice(io_folder *folder, const char *name, char *path, size_t capacity, int *fd) SIM_MUST_CHECK;

/* Returns the step in a file name PREFIX<digits>.h5; -1 for any other name. */
int64_t io_name_step(const char *name, const char *prefix);
/* Whether it is the file of a dataset that some model gives (sim_model.dataset). */
bool io_name_is_dataset(const char *name);
/* Lists the steps of these files, latest first; the caller frees *out. `path` is for messages. */
sim_status io_list_steps(int folder, const char *path, const char *prefix, int64_t **out, size_t *count) SIM_MUST_CHECK;

#endif
