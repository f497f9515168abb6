/* NVRTC for the emulated device: compile.py makes a shared library of a text, and the library's bytes, after their
 * number, are the machine code that cudaLibraryLoadData takes. sim keeps them in its own cache, as it keeps machine
 * code.
 *
 * SIM_EMULATED_COMPILER: the command, compile.py with the compiler and its options, as CMake found them. */
#include "include/nvrtc.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

struct _nvrtcProgram {
  fs::path folder;
  std::string code, log;
};

namespace {
void write_file(const fs::path &path, const char *text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}
std::string read_file(const fs::path &path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}
} // namespace

#pragma GCC visibility push(default)
extern "C" {

nvrtcResult nvrtcCreateProgram(nvrtcProgram *out, const char *text, const char *, int count, const char *const *headers,
                               const char *const *names) {
  std::string folder = (fs::temp_directory_path() / "sim-emulated-XXXXXX").string();
  if (!mkdtemp(folder.data())) return NVRTC_ERROR_INVALID_INPUT;
  *out = new _nvrtcProgram{folder, "", ""};
  for (int k = 0; k < count; k++)
    if (strcmp(names[k], "math.h") != 0 && strcmp(names[k], "kernels/common/ptx.cuh") != 0) /* those of the host */
      write_file((*out)->folder / names[k], headers[k]);
  write_file((*out)->folder / "text.cu", text);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  std::error_code ignored;
  if (!getenv("SIM_EMULATED_KEEP")) fs::remove_all((*program)->folder, ignored);
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count, const char *const *options) {
  const std::string base = p->folder.string();
  std::string command = SIM_EMULATED_COMPILER " -D__CUDACC_RTC__ -I" + base + " -shared";
  for (int k = 0; k < count; k++)
    if (strncmp(options[k], "--define-macro", 14) == 0) command += " -D" + std::string(options[k] + 15);
  command += " " + base + "/text.cu -o " + base + "/text.so >" + base + "/log 2>&1";
  const int failed = system(command.c_str());
  p->log = read_file(p->folder / "log");
  if (failed) return NVRTC_ERROR_COMPILATION;
  const std::string library = read_file(p->folder / "text.so");
  const uint64_t bytes = library.size();
  p->code = std::string((const char *)&bytes, sizeof bytes) + library;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *bytes) { return *bytes = p->code.size(), NVRTC_SUCCESS; }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *out) {
  return memcpy(out, p->code.data(), p->code.size()), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *bytes) { return nvrtcGetCUBINSize(p, bytes); }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *out) { return nvrtcGetCUBIN(p, out); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *bytes) { return *bytes = p->log.size() + 1, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *out) {
  return memcpy(out, p->log.c_str(), p->log.size() + 1), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int *count) { return *count = 1, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetSupportedArchs(int *architectures) { return *architectures = 90, NVRTC_SUCCESS; }
const char *nvrtcGetErrorString(nvrtcResult) { return "the text does not compile"; }
nvrtcResult nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, NVRTC_SUCCESS; }

} // extern "C"
