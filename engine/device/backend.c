/* The list of all kinds of device, and the choice of one for a run. */
#include "engine/device/backend.h"

#include "engine/device/cuda.h"
#include "engine/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SIM_HAS_CUDA
static const char *cuda_unavailable(void) { return "not compiled in: this build has no CUDA backend"; }

const sim_backend sim_backend_cuda = {
    .name = "cuda", .kind = SIM_BACKEND_CUDA, .space = SIM_SPACE_DEVICE, .unavailable = cuda_unavailable};
#endif

const sim_backend *const sim_backends[] = {&sim_backend_cuda, &sim_backend_cpu, NULL};

/* Whether this machine has an NVIDIA GPU and its driver, or WSL's, which the user has not hidden from programs. */
static bool gpu_is_there(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (!*visible || strcmp(visible, "-1") == 0)) return false;
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

static sim_status select_any(const sim_backend **out) {
  for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
    const char *reason = (*backend)->unavailable();
    if (!reason && (*backend)->open && (*backend)->open(NULL) != SIM_OK) reason = sim_error_last()->message;
    if (!reason) {
      *out = *backend;
      return SIM_OK;
    }
    if (gpu_is_there()) sim_log(SIM_LOG_INFO, "the GPU is not used: %s", reason);
  }
  return sim_fail(SIM_ERR_NO_DEVICE, "no usable device");
}

/* Whether the text is a device number, or a UUID or its beginning. */
static bool is_device_name(const char *text) {
  if (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0)
    return text[4] && !text[4 + strspn(text + 4, "0123456789abcdefABCDEF-")];
  return *text && !text[strspn(text, "0123456789")];
}

sim_status sim_backend_select(const char *device, const sim_backend **out) {
  if (strcmp(device, "auto") == 0) return select_any(out);
  size_t length = strcspn(device, ":");
  const char *which = device[length] ? device + length + 1 : NULL;
  for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
    if (strlen((*backend)->name) != length || strncmp(device, (*backend)->name, length) != 0) continue;
    if (which && (*backend)->kind == SIM_BACKEND_CPU)
      return sim_fail(SIM_ERR_USAGE, "--device %s: the CPU has no device number", device);
    if (which && !is_device_name(which))
      return sim_fail(SIM_ERR_USAGE, "--device '%s': expected a device number or a UUID (GPU-...) after ':'", device);
    const char *reason = (*backend)->unavailable();
    if (reason) return sim_fail(SIM_ERR_NO_DEVICE, "device '%s' is not usable: %s", device, reason);
    if ((*backend)->open && (*backend)->open(which) != SIM_OK)
      return sim_fail_context("device '%s' is not usable", device);
    *out = *backend;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_USAGE, "--device '%s': expected auto, cpu or cuda[:n]", device);
}
