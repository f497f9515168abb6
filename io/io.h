/* Files of a run: openPMD snapshots, tables, checkpoints, and their readers. No HDF5 type appears here. */
#ifndef SIM_IO_IO_H
#define SIM_IO_IO_H

#include "engine/model.h"
#include "engine/run/sink.h"

/* Once, before any other call: HDF5's own messages off, plugins off. */
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
  const char *command_line; /* argv, quoted */
  const char *version, *git_revision, *compiler, *libraries, *device, *backend, *precision, *isa;
  uint64_t seed;
  char start_time[32];         /* "2026-01-31 12:34:56 +0000" */
  char parent_checkpoint[256]; /* "" for a fresh start */
  char run[33];                /* the run's name: 32 random hex digits, the same in all of its checkpoints; or "" */
  const char *remark;          /* goals that a finished run has missed; NULL: none, or not known yet */
  const sim_units *units;
} io_provenance;
void io_provenance_finish(io_provenance *provenance);

/* The output folder and its lock. */
typedef struct io_folder io_folder;
typedef enum io_folder_mode {
  IO_FOLDER_NEW,   /* SIM_ERR_CANT_CREATE where it holds anything */
  IO_FOLDER_AGAIN, /* as NEW, or a run of ours that died before its first checkpoint; then io_folder_clear, as for FORCE
                    */
  IO_FOLDER_FORCE, /* may hold anything; io_folder_clear is called when the new run is sure to begin */
  IO_FOLDER_RESUME /* must hold a run: SIM_ERR_NO_INPUT */
} io_folder_mode;
/* Sets the batch job named in the locks of this process, "Slurm job 12", and the number of its restarts. */
void io_lock_job(const char *job, int restart);
/* Makes a new random name of a run. */
void io_run_name(char out[33]);
typedef enum io_run_id { IO_RUN_ID_GOOD, IO_RUN_ID_MISSING, IO_RUN_ID_DAMAGED } io_run_id;
/* The name that run.id in a folder has; "" where it is missing or damaged. */
io_run_id io_folder_run(const char *folder, char out[33]);
/* Creates DIR (and snap/, ckpt/), takes the lock: SIM_ERR_CANT_CREATE names the process that has it. One whose holder
 * died, on this machine or on one that gives no sign of life, is taken over with a line in the log (io/lock.h). */
sim_status io_folder_open(const char *path, io_folder_mode mode, io_folder **out) SIM_MUST_CHECK;
void io_folder_close(io_folder **folder);
/* SIM_ERR_CANT_CREATE where a folder that this process has open is another run's by now (io/lock.h). Every file that is
 * written into one asks; a run asks now and then too. */
sim_status io_folder_check(void) SIM_MUST_CHECK;
/* Whether a living run holds the lock of a folder; takes no lock. */
bool io_folder_held(const char *folder);
/* Removes our own files of an earlier run, nothing else. */
sim_status io_folder_clear(io_folder *folder) SIM_MUST_CHECK;
/* For a run that never began: closes the folder, and removes what io_folder_open made of it. */
void io_folder_abandon(io_folder **folder);
const char *io_folder_path(const io_folder *folder);
/* Writes a small file whole: temporary name, fsync, rename. */
sim_status io_folder_write(io_folder *folder, const char *name, const void *data, size_t size) SIM_MUST_CHECK;
/* In place, without new space where the file is there and as long: for a full disk. False: not written. */
bool io_folder_overwrite(io_folder *folder, const char *name, const void *data, size_t size);
/* run.log, run.jsonl: a descriptor opened for appending, or -1 (with a warning) where that is no regular file. */
int io_folder_append(io_folder *folder, const char *name);

/* Sinks. `tables` lists the model's; both borrow provenance and folder. */
typedef struct io_tables io_tables;
sim_status io_snapshot_sink(io_folder *folder, const io_provenance *provenance, sim_cadence cadence,
                            sim_sink *out) SIM_MUST_CHECK;
/* Of the part of each field that a slice keeps, in slices/NAME; it borrows the slice too. */
sim_status io_slice_sink(io_folder *folder, const io_provenance *provenance, const sim_slice *slice,
                         sim_sink *out) SIM_MUST_CHECK;
sim_status io_table_sink(io_folder *folder, const io_provenance *provenance, const sim_table *const *tables,
                         sim_cadence cadence, sim_sink *out) SIM_MUST_CHECK;
/* The next flush writes the file again: its provenance says more. */
void io_table_renew(sim_sink *table_sink);
/* `table_sink` NULL: no tables. Writes its row counts beside the state, and the rows that are not durable yet. Its
 * first file makes those of steps behind provenance->parent_checkpoint, if any, a future that was given up: they go. */
sim_status io_checkpoint_sink(io_folder *folder, const io_provenance *provenance, const sim_sink *table_sink,
                              sim_cadence cadence, sim_sink *out) SIM_MUST_CHECK;
/* Reads every table back, cut to the row counts of the checkpoint, with the rows that only the checkpoint holds. Call
 * it once before the run continues. */
struct io_checkpoint;
sim_status io_table_resume(sim_sink *table_sink, const struct io_checkpoint *checkpoint) SIM_MUST_CHECK;

/* Calls `each` for every column of the last row of every table in DIR/tables.h5. SIM_ERR_NO_INPUT: there is none. */
typedef void io_last_value(void *context, const char *table, const char *column, double value);
sim_status io_table_last(const char *folder, io_last_value *each, void *context) SIM_MUST_CHECK;

/* A checkpoint in memory. */
typedef struct io_checkpoint {
  char path[4096];
  sim_frame frame; /* owns its arrays, their fields and data; rows empty */
  char model[64], precision[16], isa[16], backend[16];
  char run[33]; /* as in the provenance; "" in those of versions that gave none */
  uint64_t seed;
  sim_value *parameters; /* resolved */
  char *scenario_text, *scenario_path;
  size_t scenario_size;
  struct {
    char name[64];
    int64_t rows; /* up to the checkpoint; the last of them, which tables.h5 lacked, are in `tail` */
    double *tail; /* [tail_rows][tail_width]: step, time, columns */
    int64_t tail_rows, tail_width;
  } tables[SIM_TABLES_MAX];
  size_t table_count;
  void *owner;
} io_checkpoint;

/* One file: SIM_ERR_INCOMPATIBLE with the reason where it cannot be used. Too little memory is never taken for
 * damage: SIM_ERR_NO_MEMORY, from io_checkpoint_newest too. */
sim_status io_checkpoint_read(const char *path, io_checkpoint *out) SIM_MUST_CHECK;
/* SIM_ERR_INCOMPATIBLE where it is of another run than the folder. */
sim_status io_checkpoint_check_run(const char *folder, const io_checkpoint *checkpoint) SIM_MUST_CHECK;
/* Newest good one of the folder's run, found by scanning; each bad one, and each of another run, is a loud line in the
 * log. SIM_ERR_NO_INPUT where there is no checkpoint file at all, SIM_ERR_INCOMPATIBLE where all are bad. */
sim_status io_checkpoint_newest(const char *folder, io_checkpoint *out) SIM_MUST_CHECK;
void io_checkpoint_free(io_checkpoint *checkpoint);

/* Particles of an openPMD snapshot (last iteration in the file) or of a CSV file with a header line naming columns
 * mass, x, y, z, vx, vy, vz in any order. A sim_particle_reader. */
sim_status io_read_particles(const char *path, const char *species, const sim_units *units,
                             sim_particles *out) SIM_MUST_CHECK;
/* Counts the particles without reading them. */
sim_status io_count_particles(const char *path, const char *species, int64_t *count) SIM_MUST_CHECK;

/* A PNG image, or a dataset of an HDF5 file. A sim_grid_reader. */
sim_status io_read_grid(const sim_grid_source *source, double *values) SIM_MUST_CHECK;

#endif
