/* State of the child process for all files of this folder: frames to the parent, errors with their lines, and calls
 * under the limits of time and instructions. */
#include "lua/internal.h"

#include "engine/confine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_all(int fd, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t done = write(fd, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) _exit(1);
    at += done;
    size -= (size_t)done;
  }
}

void scenario_child_add(sim_bytes *frames, enum scenario_frame kind, const void *data, size_t size) {
  unsigned char head[9] = {(unsigned char)kind};
  uint64_t length = size;
  memcpy(head + 1, &length, sizeof length);
  sim_bytes_add(frames, head, sizeof head);
  sim_bytes_add(frames, data, size);
}

void scenario_child_write(const scenario_child *child, const sim_bytes *frames) {
  write_all(child->pipe, frames->data, frames->size);
}

void scenario_child_send(const scenario_child *child, enum scenario_frame kind, const void *data, size_t size) {
  unsigned char head[9] = {(unsigned char)kind};
  uint64_t length = size;
  memcpy(head + 1, &length, sizeof length);
  write_all(child->pipe, head, sizeof head);
  write_all(child->pipe, data, size);
}

noreturn void scenario_child_fail(const scenario_child *child, sim_status status, const char *format, ...) {
  char text[2048];
  text[0] = (char)status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + 1, sizeof text - 1, format, arguments);
  va_end(arguments);
  scenario_child_send(child, SCENARIO_FRAME_ERROR, text, 1 + strlen(text + 1));
  _exit(0);
}

scenario_child *scenario_child_of(lua_State *L) { return *(scenario_child **)lua_getextraspace(L); }

int scenario_child_line(lua_State *L) {
  lua_Debug at;
  for (int level = 0; level < 32 && lua_getstack(L, level, &at); level++)
    if (lua_getinfo(L, "l", &at) && at.currentline > 0) return at.currentline;
  return 0;
}

/* Writes the position to put in front of a message: "\1:12" or "\1". */
static const char *place(lua_State *L, char out[32]) {
  int line = L ? scenario_child_line(L) : 0;
  if (line > 0)
    snprintf(out, 32, SCENARIO_AT_FILE ":%d", line);
  else
    strcpy(out, SCENARIO_AT_FILE);
  return out;
}

noreturn void scenario_child_fail_memory(const scenario_child *child, bool over) {
  char at[32];
  place(child->L, at);
  if (!over) scenario_child_fail(child, SIM_ERR_NO_MEMORY, "%s: out of memory for the script", at);
  scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script used more than %zu MiB of memory", at,
                      child->options->memory >> 20);
}

void scenario_account(scenario_child *child, size_t bytes) {
  child->values++;
  child->bytes += bytes;
  if (child->values > SCENARIO_VALUES_MAX)
    scenario_child_fail(child, SIM_ERR_SCENARIO,
                        SCENARIO_AT_RETURN ": the scenario holds more than %d values, use sim.each or a file",
                        SCENARIO_VALUES_MAX);
  if (child->bytes > SCENARIO_BYTES_MAX)
    scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_RETURN ": the scenario holds more than %d MiB, use a file",
                        SCENARIO_BYTES_MAX >> 20);
}

/* Checks the instructions, and sometimes the time, as only here the line can be named; the timer also covers code
 * without hooks. */
static void count(lua_State *L, lua_Debug *unused) {
  (void)unused;
  scenario_child *child = scenario_child_of(L);
  child->instructions += SCENARIO_HOOK_STEP;
  char at[32];
  bool look = child->instructions % (100 * SCENARIO_HOOK_STEP) == 0;
  if (look && sim_confined_seconds() - child->begun > child->options->seconds)
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script used more than %g s of processor time", place(L, at),
                        child->options->seconds);
  if (child->instructions > SCENARIO_INSTRUCTIONS)
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script ran more than %d million instructions", place(L, at),
                        SCENARIO_INSTRUCTIONS / 1000000);
}

/* Appends the lines from which the failed function was called to the message at the top: "... (called from line 12,
 * 30)". A tail call, return h(x), removes its caller's frame: then only the definition of the called function is
 * known. */
static void add_calls(lua_State *L) {
  enum { LINES_MOST = 3, LEVELS_MOST = 64 };
  lua_Debug at;
  int lines[LINES_MOST], count = 0, last = scenario_child_line(L);
  bool lost = false; /* the outermost function was entered by a tail call */
  for (int level = 0; level < LEVELS_MOST && count < LINES_MOST && lua_getstack(L, level, &at); level++) {
    if (!lua_getinfo(L, "lt", &at) || at.currentline <= 0) continue;
    lost = at.istailcall;
    if (at.currentline != last) last = lines[count++] = at.currentline;
  }
  const scenario_trace *trace = scenario_child_of(L)->trace;
  lost = lost && trace && trace->line > 0;
  for (int i = 0; i < count; i++) {
    lua_pushfstring(L, i == 0 ? " (called from line %d" : ", %d", lines[i]);
    lua_concat(L, 2);
  }
  if (lost) {
    lua_pushfstring(L, "%s the function at line %d", count > 0 ? "," : " (called from", trace->line);
    lua_concat(L, 2);
  }
  if (count > 0 || lost) {
    lua_pushliteral(L, ")");
    lua_concat(L, 2);
  }
}

/* Adds the position to an error, and a text if it has none. Runs no code of the script: neither __tostring nor
 * __index. */
static int on_error(lua_State *L) {
  char at[32];
  place(L, at);
  int type = lua_type(L, 1);
  if (type != LUA_TSTRING && type != LUA_TNUMBER) {
    const char *article = type == LUA_TNIL ? "" : "a ";
    lua_pushfstring(L, "%s: the script's error object is %s%s", at, article, lua_typename(L, type));
  } else {
    const char *text = lua_tostring(L, 1);
    if (text[0] == SCENARIO_AT_FILE[0])
      lua_pushvalue(L, 1);
    else
      lua_pushfstring(L, "%s: %s", at, text);
  }
  add_calls(L);
  return 1;
}

int scenario_child_call(scenario_child *child, int arguments) {
  lua_State *L = child->L;
  int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, on_error);
  lua_insert(L, handler);
  lua_sethook(L, count, LUA_MASKCOUNT, SCENARIO_HOOK_STEP);
  int status = lua_pcall(L, arguments, LUA_MULTRET, handler);
  lua_sethook(L, NULL, 0, 0);
  lua_remove(L, handler);
  if (status == LUA_ERRMEM) scenario_child_fail_memory(child, true);
  return status;
}
