/* Layout of a checkpoint file, shared by its writer and its reader:
 *
 *   /                 attributes: schema_version, step (int64); t, dt, t_end (f64); seed (uint64); kind, model, run,
 *                     version, backend, precision, isa (text); species, tables (int64: numbers of groups)
 *   /state/<name>     one array each, in the frame's order (creation order); attributes: global, offset (int64[rank])
 *   /species/<i>      attributes: name, first, count
 *   /tables/<i>       attributes: name, rows; rows that are not in tables.h5 yet are in the dataset tail
 *                     (f64[those rows][2 + columns]: step, exact below 2^53; time; the columns)
 *   /parameters       uint8: sim_value_write of the resolved parameters
 *   /scenario         uint8: the scenario's text; likewise /scenario_path
 *   /provenance       for readers of the file, not needed for a restart */
#ifndef SIM_IO_CHECKPOINT_H
#define SIM_IO_CHECKPOINT_H

enum { IO_CHECKPOINT_SCHEMA = 2, IO_CHECKPOINTS_KEPT = 3 };
#define IO_CHECKPOINT_NAME "ck_%012lld.h5"

#endif
