#include "io/hdf5/h5.h"
#include "io/sha256.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

sim_status io_init(void) {
  /* no messages; no plugins, as filters and drivers from the environment would run code that nobody asked for */
  if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 || H5PLset_loading_state(0) < 0)
    return sim_fail(SIM_ERR_INTERNAL, "cannot start HDF5");
  return SIM_OK;
}

const char *io_library_versions(void) {
  static char text[64];
  unsigned major = 0, minor = 0, release = 0;
  (void)H5get_libversion(&major, &minor, &release);
  snprintf(text, sizeof text, "HDF5 %u.%u.%u", major, minor, release);
  return text;
}

void io_now(char out[32]) {
  time_t now = time(NULL);
  struct tm parts;
  strftime(out, 32, "%Y-%m-%d %H:%M:%S %z", localtime_r(&now, &parts));
}

void io_provenance_finish(io_provenance *provenance) {
  io_sha256(provenance->scenario_text, provenance->scenario_size, provenance->scenario_sha256);
  if (provenance->start_time[0] == '\0') io_now(provenance->start_time);
}

sim_status io_provenance_write(hid_t parent, const io_provenance *provenance) {
  const struct {
    const char *name, *text;
  } texts[] = {
      {"model", provenance->model},
      {"title", provenance->title},
      {"author", provenance->author},
      {"command_line", provenance->command_line},
      {"version", provenance->version},
      {"git_revision", provenance->git_revision},
      {"compiler", provenance->compiler},
      {"libraries", provenance->libraries},
      {"device", provenance->device},
      {"precision", provenance->precision},
      {"isa", provenance->isa},
      {"start_time", provenance->start_time},
      {"parent_checkpoint", provenance->parent_checkpoint},
      {"run", provenance->run},
      {"remark", provenance->remark},
      {"scenario_path", provenance->scenario_path},
      {"scenario_sha256", provenance->scenario_sha256},
  };
  const char *json = provenance->parameters_json ? provenance->parameters_json : "";
  hid_t group;
  sim_status status;
  SIM_TRY(io_h5_group(parent, "provenance", &group));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    SIM_TRY_GOTO(status, io_h5_attr_text(group, texts[i].name, texts[i].text), done);
  SIM_TRY_GOTO(status, io_h5_attr_u64(group, "seed", provenance->seed), done);
  SIM_TRY_GOTO(status, io_h5_text(group, "scenario", provenance->scenario_text, provenance->scenario_size), done);
  SIM_TRY_GOTO(status, io_h5_text(group, "parameters", json, strlen(json)), done);
done:
  H5Gclose(group);
  return status;
}
