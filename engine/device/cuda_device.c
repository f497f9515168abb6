/* Lists the GPUs, which of them this build can use, and why it cannot use the others. */
#include "engine/device/cuda_parts.h"

#include <ctype.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- architectures of this build: "75-real,80,90a-real,120-virtual" ---- */

static const char compiled[] = SIM_CUDA_ARCHITECTURES;

typedef struct architecture {
  int number;  /* 10 major + minor; 0: not a number ("all"), which may run anywhere */
  char suffix; /* 'a': this architecture only; 'f': its family; 0: none */
  bool code, ptx;
} architecture;

/* Parses the next entry of the list; false at the end. */
static bool next_architecture(const char **at, architecture *out) {
  if (!**at) return false;
  size_t length = strcspn(*at, ",");
  char *end;
  out->number = (int)strtol(*at, &end, 10);
  out->suffix = *end == 'a' || *end == 'f' ? *end : '\0';
  const char *dash = memchr(*at, '-', length);
  out->code = !dash || strncmp(dash, "-real", 5) == 0;
  out->ptx = !dash || strncmp(dash, "-virtual", 8) == 0;
  *at += length + ((*at)[length] == ',');
  return true;
}

static bool compiled_for(int major, int minor) {
  const char *at = compiled;
  architecture a;
  while (next_architecture(&at, &a)) {
    int here = 10 * major + minor;
    if (!a.number || a.number == here) return true;
    if (a.suffix == 'a') continue;
    bool same = a.number / 10 == major && a.number % 10 <= minor; /* machine code runs on later minor versions */
    if (same && (a.code || a.suffix == 'f')) return true;
    if (a.ptx && !a.suffix && a.number <= here) return true; /* the driver compiles PTX */
  }
  return false;
}

static void compiled_text(char *out, size_t capacity) {
  const char *at = compiled, *comma = "";
  architecture a;
  size_t used = 0;
  int last = 0;
  out[0] = '\0';
  bool newer = false;
  while (next_architecture(&at, &a)) {
    newer |= a.ptx && !a.suffix;
    if (a.number != last && used < capacity)
      used += (size_t)snprintf(out + used, capacity - used, "%s%d.%d", comma, a.number / 10, a.number % 10);
    last = a.number;
    comma = ", ";
  }
  if (newer && used < capacity) snprintf(out + used, capacity - used, " and newer");
}

/* ---- one device ---- */

static int attribute(int device, enum cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) (void)cudaGetLastError();
  return value;
}

/* Whether a device cannot be used; then writes the reason. */
static bool refused(int device, char *out, size_t capacity) {
  int major = attribute(device, cudaDevAttrComputeCapabilityMajor);
  int minor = attribute(device, cudaDevAttrComputeCapabilityMinor);
  if (!compiled_for(major, minor)) {
    char list[256];
    compiled_text(list, sizeof list);
    snprintf(out, capacity, "architecture not compiled in: compute capability %d.%d, this build has %s", major, minor,
             list);
    return true;
  }
  if (attribute(device, cudaDevAttrComputeMode) == cudaComputeModeProhibited) {
    snprintf(out, capacity, "its compute mode prohibits use");
    return true;
  }
  return false;
}

static void uuid_text(const cudaUUID_t *uuid, char out[48]) {
  const unsigned char *b = (const unsigned char *)uuid->bytes;
  snprintf(out, 48, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
           b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* Writes "580.65.06 (CUDA 13.0)". */
static void driver_text(char *out, size_t capacity) {
  int version = 0;
  (void)cudaDriverGetVersion(&version);
  char release[64] = "";
  FILE *file = fopen("/proc/driver/nvidia/version", "re");
  char line[256];
  if (file && fgets(line, sizeof line, file)) {
    for (const char *word = strtok(line, " \t\n"); word && !*release; word = strtok(NULL, " \t\n"))
      if (isdigit((unsigned char)*word) && strchr(word, '.')) snprintf(release, sizeof release, "%s ", word);
  }
  if (file) fclose(file);
  snprintf(out, capacity, "%s(CUDA %d.%d)", release, version / 1000, version % 1000 / 10);
}

void sim_cuda_about(int device, char *out, size_t capacity) {
  struct cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    (void)cudaGetLastError();
    snprintf(out, capacity, "GPU %d", device);
    return;
  }
  char driver[128];
  driver_text(driver, sizeof driver);
  snprintf(out, capacity, "%s (GPU %d), compute capability %d.%d, driver %s", properties.name, device, properties.major,
           properties.minor, driver);
}

/* Writes the free memory. This makes a context that remains, so it is for programs that end soon. */
static void memory_text(int device, char *out, size_t capacity) {
  size_t here, total;
  cudaError_t error = cudaSetDevice(device);
  if (!error) error = cudaMemGetInfo(&here, &total);
  if (error) {
    snprintf(out, capacity, "not usable: %s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
    (void)cudaGetLastError();
  } else {
    double gib = (double)(1 << 30);
    snprintf(out, capacity, "%.1f of %.1f GiB free", (double)here / gib, (double)total / gib);
  }
}

static int device_count(void) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count < SIM_CUDA_DEVICES_MAX ? count : SIM_CUDA_DEVICES_MAX;
}

/* Writes ", peers 1 3": the GPUs whose memory this one can read and write; ", no peers" if there are other GPUs. */
static void peers_text(int device, char *out, size_t capacity) {
  const int count = device_count();
  size_t used = 0;
  out[0] = '\0';
  for (int other = 0; other < count && used < capacity; other++) {
    int can = 0;
    if (other == device || cudaDeviceCanAccessPeer(&can, device, other) != cudaSuccess || !can) continue;
    used += (size_t)snprintf(out + used, capacity - used, "%s %d", used ? "" : ", peers", other);
  }
  (void)cudaGetLastError();
  if (count > 1 && used == 0) snprintf(out, capacity, ", no peers");
}

bool sim_cuda_list(int device, char *out, size_t capacity) {
  struct cudaDeviceProp properties;
  if (device >= device_count()) return false;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    snprintf(out, capacity, "GPU %d: not usable: %s", device, cudaGetErrorString(cudaGetLastError()));
    return true;
  }
  char uuid[48], about[320], state[256], reason[256], peers[256];
  uuid_text(&properties.uuid, uuid);
  sim_cuda_about(device, about, sizeof about);
  if (refused(device, reason, sizeof reason))
    snprintf(state, sizeof state, "not usable: %.240s", reason);
  else
    memory_text(device, state, sizeof state);
  peers_text(device, peers, sizeof peers);
  snprintf(out, capacity, "%s, %s, %s%s", about, uuid, state, peers);
  return true;
}

/* ---- all devices ---- */

static void no_device(char *out, size_t capacity) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (!visible)
    snprintf(out, capacity, "no NVIDIA GPU");
  else if (!*visible)
    snprintf(out, capacity, "CUDA_VISIBLE_DEVICES is empty, so that no GPU can be seen");
  else
    snprintf(out, capacity, "no GPU can be seen with CUDA_VISIBLE_DEVICES=%.64s", visible);
}

static void look_for_devices(char *out, size_t capacity) {
  int driver = 0, runtime = 0, count = 0;
  out[0] = '\0';
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  cudaError_t error = driver ? cudaGetDeviceCount(&count) : cudaErrorInsufficientDriver;
  (void)cudaGetLastError();
  if (!driver) {
    snprintf(out, capacity, "no NVIDIA driver");
  } else if (error == cudaErrorInsufficientDriver || error == cudaErrorCompatNotSupportedOnDevice) {
    snprintf(out, capacity, "the NVIDIA driver is too old: it is for CUDA %d.%d, this build needs CUDA %d.%d",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  } else if (error == cudaErrorNoDevice || (!error && !count)) {
    no_device(out, capacity);
  } else if (error) {
    snprintf(out, capacity, "%s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
  } else {
    for (int i = 0; i < device_count(); i++)
      if (!refused(i, out, capacity)) {
        out[0] = '\0';
        return;
      }
  }
}

const char *sim_cuda_unavailable(void) {
  static char reason[512];
  static bool looked;
  if (!looked) look_for_devices(reason, sizeof reason);
  looked = true;
  return *reason ? reason : NULL;
}

bool sim_cuda_identity(int number, char *out, size_t capacity) {
  char why[512], uuid[48];
  for (int i = 0; i < device_count(); i++) {
    struct cudaDeviceProp properties;
    if (refused(i, why, sizeof why) || number-- > 0) continue;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    uuid_text(&properties.uuid, uuid);
    snprintf(out, capacity, "%s", uuid);
    return true;
  }
  return false;
}

/* Whether a UUID begins with `which`, with or without "GPU-" or "MIG-". */
static bool begins(const char *uuid, const char *which) {
  const char *hex = uuid + 4;
  if (strncasecmp(which, "GPU-", 4) == 0 || strncasecmp(which, "MIG-", 4) == 0) which += 4;
  return strncasecmp(hex, which, strlen(which)) == 0;
}

static sim_status find_uuid(const char *which, int *device) {
  int found = 0;
  for (int i = 0; i < device_count(); i++) {
    struct cudaDeviceProp properties;
    char uuid[48];
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
      (void)cudaGetLastError();
      continue;
    }
    uuid_text(&properties.uuid, uuid);
    if (!begins(uuid, which)) continue;
    *device = i;
    found++;
  }
  if (found == 1) return SIM_OK;
  return sim_fail(SIM_ERR_NO_DEVICE, found ? "several GPUs have a UUID that begins with '%s'" : "no GPU with UUID '%s'",
                  which);
}

sim_status sim_cuda_find(const char *which, int devices[SIM_CUDA_DEVICES_MAX], int *count) {
  const char *reason = sim_cuda_unavailable();
  char why[512];
  int present = device_count(), device = -1;
  *count = 0;
  if (!which) {
    if (reason) return sim_fail(SIM_ERR_NO_DEVICE, "%s", reason);
    for (int i = 0; i < present; i++)
      if (!refused(i, why, sizeof why)) devices[(*count)++] = i;
    return SIM_OK;
  }
  if (!present) return sim_fail(SIM_ERR_NO_DEVICE, "%s", reason ? reason : "no NVIDIA GPU");
  if (which[strspn(which, "0123456789")])
    SIM_TRY(find_uuid(which, &device));
  else
    device = strlen(which) < 6 ? atoi(which) : present;
  if (device >= present)
    return sim_fail(SIM_ERR_NO_DEVICE,
                    present == 1 ? "no GPU %s: there is GPU 0 alone" : "no GPU %s: there are 0 to %d", which,
                    present - 1);
  if (refused(device, why, sizeof why)) return sim_fail(SIM_ERR_NO_DEVICE, "GPU %d: %s", device, why);
  devices[(*count)++] = device;
  return SIM_OK;
}

/* ---- limits ---- */

/* Lanes of a multiprocessor: multiply-adds per clock in 32 and 64 bits (CUDA C++ Programming Guide, arithmetic
 * instructions). */
static void lanes(int major, int minor, double *fp32, double *fp64) {
  bool data_centre = (major == 8 || major == 9 || major == 10) && minor == 0;
  *fp32 = major < 8 || (major == 8 && minor == 0) ? 64 : 128;
  *fp64 = !data_centre ? 2 : major == 8 ? 32 : 64;
}

void sim_cuda_limits(int device, double limits[SIM_LIMITS]) {
  double fp32, fp64, multiprocessors = attribute(device, cudaDevAttrMultiProcessorCount);
  double clock = 1e3 * attribute(device, cudaDevAttrClockRate); /* the attribute is in kHz */
  lanes(attribute(device, cudaDevAttrComputeCapabilityMajor), attribute(device, cudaDevAttrComputeCapabilityMinor),
        &fp32, &fp64);
  limits[SIM_LIMIT_FP32] = multiprocessors * fp32 * clock;
  limits[SIM_LIMIT_FP64] = multiprocessors * fp64 * clock;
  /* two transfers a clock; the width is in bits */
  limits[SIM_LIMIT_BYTES] =
      2e3 * attribute(device, cudaDevAttrMemoryClockRate) * attribute(device, cudaDevAttrGlobalMemoryBusWidth) / 8;
}
