/* The scenario language: runs Lua 5.4 in a child process, from text to a plain typed tree. */
#ifndef SIM_LUA_SCENARIO_H
#define SIM_LUA_SCENARIO_H

#include "engine/schema/schema.h"
#include "engine/schema/value.h"

typedef struct scenario_options {
  const char *const *constructors; /* names of the sim.NAME functions that tag a table, NULL-terminated */
  const char *const *models;       /* names of the models that a scenario may return, NULL-terminated */
  const char *const *sets;         /* "name=value" of each --set, NULL-terminated */
  double seconds;                  /* limit of the script's processor time */
  size_t memory;                   /* limit of Lua's memory in bytes */
} scenario_options;

typedef struct scenario {
  char *path; /* path as given, owned */
  char *text; /* content of the whole file, owned */
  size_t size;
  sim_value *value;  /* the model's table; its tag is the model's name, and lines are set */
  sim_value *params; /* table of name -> resolved value of each sim.param */
} scenario;

/* Loads a scenario. SIM_ERR_NO_INPUT, SIM_ERR_PERMISSION, SIM_ERR_USAGE (a --set without a sim.param),
 * SIM_ERR_SCENARIO with "file:line: reason", SIM_ERR_NO_MEMORY. Release `out` with scenario_free in any case. */
sim_status scenario_load(const char *path, const scenario_options *options, scenario *out) SIM_MUST_CHECK;
void scenario_free(scenario *loaded);
/* Prepares processes in which later calls of scenario_load with the same options but sets run their scripts, at a third
 * of the time: for a program that loads many scenarios, before it starts threads or opens a device. The names in
 * `options` must stay. Without processes or memory for that scenario_load works as before. */
void scenario_prepare(const scenario_options *options);

const char *scenario_library_version(void); /* "Lua 5.4.4" */

#endif
