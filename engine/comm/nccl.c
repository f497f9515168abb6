#include "engine/comm/nccl.h"

#include <dlfcn.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                                                   \
  X(GetVersion)                                                                                                        \
  X(GetErrorString)                                                                                                    \
  X(GetUniqueId)                                                                                                       \
  X(CommInitRank)                                                                                                      \
  X(CommAbort)                                                                                                         \
  X(GroupStart)                                                                                                        \
  X(GroupEnd)                                                                                                          \
  X(Send)                                                                                                              \
  X(Recv)

sim_status sim_nccl_load(const sim_nccl **out) {
  static sim_nccl nccl;
  static const sim_nccl *loaded;
  const char *path = getenv("SIM_NCCL"), *missing = NULL;
  *out = loaded;
  if (loaded) return SIM_OK;
  if (!path || !*path) path = "libnccl.so.2";
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return sim_fail(SIM_ERR_NO_DEVICE, "%.200s is not found", path);
#define FIND(name)                                                                                                     \
  if (!missing && !(*(void **)&nccl.name = dlsym(library, "nccl" #name))) missing = "nccl" #name;
  FUNCTIONS(FIND)
  if (missing) {
    (void)dlclose(library);
    return sim_fail(SIM_ERR_NO_DEVICE, "%.200s lacks %s", path, missing);
  }
  if (nccl.GetVersion(&nccl.version) != 0) return sim_fail(SIM_ERR_NO_DEVICE, "%.200s tells no version", path);
  *out = loaded = &nccl;
  return SIM_OK;
}
