/* Files of a run: openPMD snapshots, tables, checkpoints, and their readers. No HDF5 type appears here. */
#ifndef SIM_IO_IO_H
#define SIM_IO_IO_H

#include "engine/model.h"
#include "engine/run/sink.h"

/* Call once before any other function of io: disables HDF5's messages and plugins. */
sim_status io_init(void) SIM_MUST_CHECK;
const char *io_library_versions(void); /* "HDF5 1.10.8" */

/* Origin of the files of a run, written into each of them. All pointers are borrowed. */
typedef struct io_provenance {
  const char *scenario_path;
  const char *scenario_text;
  size_t scenario_size;
  char scenario_sha256[65]; /* filled by io_provenance_finish */
  const char *parameters_json;
  const void *parameters_blob; /* sim_value_write of the resolved parameters */
  size_t parameters_blob_size;
  const char *model, *title, *author;
  const char *command_line; /* argv, quoted for a shell */
  const char *version, *git_revision, *compiler, *libraries, *device, *backend, *precision, *isa;
  uint64_t seed;
  char start_time[32];         /* "2026-01-31 12:34:56 +0000" */
  char parent_checkpoint[256]; /* "" for a new run */
  char run[33];                /* random name of the run: 32 hex digits, the same in all its checkpoints; or "" */
  const char *remark;          /* goals that a finished run has missed; NULL: none, or not known yet */
  const sim_units *units;
} io_provenance;
void io_provenance_finish(io_provenance *provenance);

/* The output folder and its lock. */
typedef struct io_folder io_folder;
typedef enum io_folder_mode {
  IO_FOLDER_NEW, /* SIM_ERR_CANT_CREATE unless the folder is empty */
  /* as NEW, but also allows a run of this program that died before its first checkpoint; then call io_folder_clear */
  IO_FOLDER_AGAIN,
  IO_FOLDER_FORCE, /* any content; call io_folder_clear once the new run is certain to begin */
  IO_FOLDER_RESUME /* must contain a run: SIM_ERR_NO_INPUT */
} io_folder_mode;
/* Sets the name of the batch job, "Slurm job 12", and its number of restarts, for the locks of this process. */
void io_lock_job(const char *job, int restart);
/* Creates a random name of a run. */
void io_run_name(char out[33]);
typedef enum io_run_id { IO_RUN_ID_GOOD, IO_RUN_ID_MISSING, IO_RUN_ID_DAMAGED } io_run_id;
/* Reads the run's name from run.id in a folder; "" if the file is absent or damaged. */
io_run_id io_folder_run(const char *folder, char out[33]);
/* Creates DIR, snap/ and ckpt/, and takes the lock; SIM_ERR_CANT_CREATE names the process that holds it. The lock of a
 * process that has died on this machine, or gives no sign of life on another one, is taken over and a line logged
 * (io/lock.h). */
sim_status io_folder_open(const char *path, io_folder_mode mode, io_folder **out) SIM_MUST_CHECK;
void io_folder_close(io_folder **folder);
/* SIM_ERR_CANT_CREATE if a folder that this process has open belongs to another run by now (io/lock.h). Called before
 * each file is written into a folder, and from time to time during the run. */
sim_status io_folder_check(void) SIM_MUST_CHECK;
/* Whether a live run holds the lock of a folder; takes no lock. */
bool io_folder_held(const char *folder);
/* Marks the lock of a process of this machine as ended if that process has died, so that a run on another machine can
 * take it at once; otherwise does nothing. */
void io_folder_end_of(const char *folder, long process);
/* Removes the files of an earlier run of this program, and nothing else. */
sim_status io_folder_clear(io_folder *folder) SIM_MUST_CHECK;
/* For a run that did not begin: closes the folder, and removes what io_folder_open created. */
void io_folder_abandon(io_folder **folder);
const char *io_folder_path(const io_folder *folder);
/* Writes a small file atomically: temporary name, fsync, rename. */
sim_status io_folder_write(io_folder *folder, const char *name, const void *data, size_t size) SIM_MUST_CHECK;
/* Overwrites a file of the same length in place, which needs no space on a full disk. Returns false if it failed. */
bool io_folder_overwrite(io_folder *folder, const char *name, const void *data, size_t size);
/* Opens run.log or run.jsonl for appending; -1 (with a warning) if it is no regular file. */
int io_folder_append(io_folder *folder, const char *name);

/* Sets the ranks of the run, borrowed. Without this call rank 0 writes all files alone. */
void io_folder_ranks(io_folder *folder, const sim_comm *comm);

/* Sinks. `tables`: the tables of the run. Sinks borrow provenance and folder. */
typedef struct io_tables io_tables;
sim_status io_snapshot_sink(io_folder *folder, const io_provenance *provenance, sim_cadence cadence,
                            sim_sink *out) SIM_MUST_CHECK;
/* Sink of a slice, in slices/NAME; borrows the slice too. */
sim_status io_slice_sink(io_folder *folder, const io_provenance *provenance, const sim_slice *slice,
                         sim_sink *out) SIM_MUST_CHECK;
sim_status io_table_sink(io_folder *folder, const io_provenance *provenance, const sim_table *const *tables,
                         sim_cadence cadence, sim_sink *out) SIM_MUST_CHECK;
/* On ranks above 0: a sink of snapshots or checkpoints that takes part in writing rank 0's large files (io/hosts.h). */
void io_hosts_sink(const sim_comm *comm, sim_sink_kind kind, sim_cadence cadence, sim_sink *out);
/* Makes the next flush write tables.h5 again, because its provenance has changed. */
void io_table_renew(sim_sink *table_sink);
/* Sink of checkpoints. `table_sink` NULL: no tables. Stores the row counts of tables with the state, and the rows that
 * are not durable yet. Its first file removes the checkpoints of steps after provenance->parent_checkpoint, if that is
 * given: they belong to an abandoned continuation. */
sim_status io_checkpoint_sink(io_folder *folder, const io_provenance *provenance, const sim_sink *table_sink,
                              sim_cadence cadence, sim_sink *out) SIM_MUST_CHECK;
/* Reads every table back, cut to the checkpoint's row counts, and adds the rows that only the checkpoint holds. Call
 * once before the run continues. */
struct io_checkpoint;
sim_status io_table_resume(sim_sink *table_sink, const struct io_checkpoint *checkpoint) SIM_MUST_CHECK;

/* Writes a dataset of a model to NAME.h5, with dimension scales as HDF5 and netCDF-4 have them; the file is durable on
 * return. SIM_ERR_IO, SIM_ERR_NO_MEMORY. */
sim_status io_dataset_write(io_folder *folder, const io_provenance *provenance,
                            const sim_dataset *dataset) SIM_MUST_CHECK;

/* Calls `each` for every column of the last row of every table in DIR/tables.h5. SIM_ERR_NO_INPUT: no such file. */
typedef void io_last_value(void *context, const char *table, const char *column, double value);
sim_status io_table_last(const char *folder, io_last_value *each, void *context) SIM_MUST_CHECK;

/* A checkpoint in memory. */
typedef struct io_checkpoint {
  char path[4096];
  sim_frame frame; /* owns its arrays, their fields and data; no rows */
  char model[64], precision[16], isa[16], backend[16];
  char run[33]; /* name of the run as in the provenance; "" in files of versions without run names */
  uint64_t seed;
  sim_value *parameters; /* resolved */
  char *scenario_text, *scenario_path;
  size_t scenario_size;
  struct {
    char name[64];
    int64_t rows; /* rows up to the checkpoint; the last ones, which tables.h5 did not hold yet, are in `tail` */
    double *tail; /* [tail_rows][tail_width]: step, time, columns */
    int64_t tail_rows, tail_width;
  } tables[SIM_TABLES_MAX];
  size_t table_count;
  void *owner;
} io_checkpoint;

/* Reads one file. SIM_ERR_INCOMPATIBLE with the reason if it cannot be used. Lack of memory is never taken for damage:
 * it gives SIM_ERR_NO_MEMORY, also in io_checkpoint_newest. */
sim_status io_checkpoint_read(const char *path, io_checkpoint *out) SIM_MUST_CHECK;
/* SIM_ERR_INCOMPATIBLE if the checkpoint belongs to another run than the folder. */
sim_status io_checkpoint_check_run(const char *folder, const io_checkpoint *checkpoint) SIM_MUST_CHECK;
/* Finds the newest good checkpoint of the folder's run; warns of each bad one and of each from another run.
 * SIM_ERR_NO_INPUT: there is no checkpoint file; SIM_ERR_INCOMPATIBLE: none can be used. */
sim_status io_checkpoint_newest(const char *folder, io_checkpoint *out) SIM_MUST_CHECK;
void io_checkpoint_free(io_checkpoint *checkpoint);

/* Removes the checkpoints of steps after `step`; those that cannot be removed are warned of. Call when no checkpoint is
 * being written. */
void io_checkpoint_disown(const io_folder *folder, int64_t step);

/* What status.json says about the files of a run; checkpoint_step -1 or digest "": not known. */
typedef struct io_expected {
  int64_t checkpoint_step; /* step of the newest checkpoint */
  int64_t step;            /* step of the state with this digest */
  const char *digest;
  bool done; /* the run has ended with this step, so all its last files must exist */
} io_expected;
typedef struct io_verified {
  size_t files, faults;
  bool complete; /* the files that must exist at the end are known, and were looked for */
} io_verified;
typedef void io_fault(void *context, const char *message);
/* Reads every checkpoint, snapshot, slice, table and index of a folder completely, and compares each with its seal and
 * with the name of the run; calls `each` with one line per fault. Reads checkpoints as a restart does. Takes no lock;
 * files of a run in progress are checked as they are. SIM_ERR_NO_MEMORY. */
sim_status io_verify(const char *folder, const io_expected *expected, io_fault *each, void *context,
                     io_verified *count) SIM_MUST_CHECK;

/* Reads the particles of an openPMD snapshot (last iteration in the file), or of a CSV file with the column names mass,
 * x, y, z, vx, vy, vz in any order. Is a sim_particle_reader. */
sim_status io_read_particles(const char *path, const char *species, const sim_units *units,
                             sim_particles *out) SIM_MUST_CHECK;
/* Counts the particles without reading them. Is a sim_particle_counter. */
sim_status io_count_particles(const char *path, const char *species, int64_t *count) SIM_MUST_CHECK;

/* Reads a text file of rows of `columns` finite numbers, separated by commas or blanks: (*rows)[*count][columns], which
 * the caller frees. Skips a first line that begins with a letter (names), empty lines, and lines that begin with '#'.
 * SIM_ERR_NO_INPUT, SIM_ERR_IO, SIM_ERR_SCENARIO with path and line, SIM_ERR_NO_MEMORY. */
sim_status io_read_rows(const char *path, size_t columns, double **rows, size_t *count) SIM_MUST_CHECK;

/* Reads a PNG image, or a dataset of an HDF5 file. Is a sim_grid_reader. */
sim_status io_read_grid(const sim_grid_source *source, double *values) SIM_MUST_CHECK;

#endif
