/* Reads a whole scenario file, which is untrusted, and checks that it is text. */
#include "lua/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sim_status fail_errno(const char *path, int error) {
  switch (error) {
  case EACCES:
  case EPERM: return sim_fail(SIM_ERR_PERMISSION, "%s: %s", path, strerror(error));
  case EMFILE:
  case ENFILE:
  case EIO: return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
  case ENOMEM: return sim_no_memory("%s", path);
  default: return sim_fail(SIM_ERR_NO_INPUT, "%s: %s", path, strerror(error));
  }
}

static const char *kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

size_t scenario_bom(const char *text, size_t size) { return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; }

int scenario_compare_text(const char *a, size_t a_size, const char *b, size_t b_size) {
  int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
  return order ? order : (a_size > b_size) - (a_size < b_size);
}

static sim_status check_text(const char *path, const char *text, size_t size) {
  if (size == 0) return sim_fail(SIM_ERR_SCENARIO, "%s: the file is empty", path);
  if (size >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
    return sim_fail(SIM_ERR_SCENARIO, "%s: is UTF-16 text, save it as UTF-8", path);
  if (text[0] == '\x1B')
    return sim_fail(SIM_ERR_SCENARIO, "%s: is compiled Lua (bytecode), a scenario is plain text", path);
  const char *nul = memchr(text, 0, size);
  if (!nul) return SIM_OK;
  int line = 1;
  for (const char *p = text; p < nul; p++) line += *p == '\n';
  return sim_fail(SIM_ERR_SCENARIO, "%s:%d: a NUL byte, a scenario is plain text", path, line);
}

static sim_status read_open(const char *path, int fd, char **text, size_t *size) {
  struct stat stat;
  if (fstat(fd, &stat) != 0) return fail_errno(path, errno);
  if (!S_ISREG(stat.st_mode))
    return sim_fail(SIM_ERR_NO_INPUT, "%s: is %s, not a scenario file", path, kind_of(stat.st_mode));
  size_t capacity = (stat.st_size > 0 && stat.st_size <= SCENARIO_FILE_MAX ? (size_t)stat.st_size : 4096) + 1;
  size_t length = 0;
  char *data = NULL;
  for (;;) {
    if (stat.st_size > SCENARIO_FILE_MAX || length > SCENARIO_FILE_MAX) {
      free(data);
      return sim_fail(SIM_ERR_SCENARIO, "%s: the file is larger than %d MiB", path, SCENARIO_FILE_MAX >> 20);
    }
    if (!data || length + 1 >= capacity) {
      if (data) capacity *= 2;
      char *grown = realloc(data, capacity);
      if (!grown) {
        free(data);
        return sim_no_memory("%zu bytes of %s", capacity, path);
      }
      data = grown;
    }
    ssize_t got = read(fd, data + length, capacity - length - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      free(data);
      return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
    }
    if (got == 0) break;
    length += (size_t)got;
  }
  data[length] = 0;
  *text = data;
  *size = length;
  return SIM_OK;
}

sim_status scenario_read_text(const char *path, char **text, size_t *size) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return fail_errno(path, errno);
  sim_status status = read_open(path, fd, text, size);
  close(fd);
  return status == SIM_OK ? check_text(path, *text, *size) : status;
}
