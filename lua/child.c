/* The process that runs a script: limits of the system, Lua with a counting allocator and a budget of instructions.
 * A limit that is passed ends the process at once, so that no pcall, handler or finaliser can go on. */
#include "lua/internal.h"

#include "engine/confine.h"

#include <lauxlib.h>

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* "\1:12" or "\1". */
static const char *place(lua_State *L, char out[32]) {
  int line = L ? scenario_child_line(L) : 0;
  if (line > 0)
    snprintf(out, 32, SCENARIO_AT_FILE ":%d", line);
  else
    strcpy(out, SCENARIO_AT_FILE);
  return out;
}

static noreturn void fail_memory(const scenario_child *child, bool over) {
  char at[32];
  place(child->L, at);
  if (!over) scenario_child_fail(child, SIM_ERR_NO_MEMORY, "%s: out of memory for the script", at);
  scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script used more than %zu MiB of memory", at,
                      child->options->memory >> 20);
}

/* Refuses once, whereupon Lua collects its garbage and asks again. */
static void *allocate(void *context, void *block, size_t old, size_t size) {
  scenario_child *child = context;
  if (!block) old = 0; /* then it is the kind of object */
  if (size == 0) {
    free(block);
    child->used -= old;
    return NULL;
  }
  if (size > old) {
    size_t most = child->options->memory;
    bool over = size - old > most - child->used;
    void *grown = over ? NULL : realloc(block, size);
    if (!grown && (child->refused || size > most)) fail_memory(child, over);
    child->refused = !grown;
    if (grown) child->used += size - old;
    return grown;
  }
  void *shrunk = realloc(block, size);
  child->used -= old - size;
  return shrunk ? shrunk : block;
}

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Looks at the time too, where it can still name the line; the timer is for what no hook sees. */
static void count(lua_State *L, lua_Debug *unused) {
  (void)unused;
  scenario_child *child = scenario_child_of(L);
  child->instructions += SCENARIO_HOOK_STEP;
  char at[32];
  bool look = child->instructions % (100 * SCENARIO_HOOK_STEP) == 0;
  if (look && processor_seconds() > child->options->seconds)
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script used more than %g s of processor time", place(L, at),
                        child->options->seconds);
  if (child->instructions > SCENARIO_INSTRUCTIONS)
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s: the script ran more than %d million instructions", place(L, at),
                        SCENARIO_INSTRUCTIONS / 1000000);
}

static int panic(lua_State *L) {
  scenario_child_fail(scenario_child_of(L), SIM_ERR_NO_MEMORY,
                      SCENARIO_AT_FILE ": out of memory for the start of the script");
}

/* Adds the lines from which the function that failed was called to the text on the top: "... (called from line
 * 12, 30)". A tail call, return h(x), has removed its caller's frame: of the compiled function only its place is known.
 */
static void add_calls(lua_State *L) {
  enum { LINES_MOST = 3, LEVELS_MOST = 64 };
  lua_Debug at;
  int lines[LINES_MOST], count = 0, last = scenario_child_line(L);
  bool lost = false; /* the outermost function is the one that a tail call has entered */
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

/* Gives an error its place, and text to one that has none. Runs no code of the script: no __tostring, no __index. */
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

/* "sim.nbody { ... } or sim.diffusion { ... }" */
static void list_models(const scenario_options *options, char *out, size_t capacity) {
  size_t used = 0;
  out[0] = 0;
  for (const char *const *model = options->models; *model && used < capacity; model++)
    used += (size_t)snprintf(out + used, capacity - used, "%ssim.%s { ... }", used ? " or " : "", *model);
}

static void check_results(scenario_child *child, int first, int results) {
  lua_State *L = child->L;
  char models[256];
  list_models(child->options, models, sizeof models);
  const char *what = lua_typename(L, lua_type(L, first)), *tag = NULL;
  if (results == 0)
    scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_FILE ": returns nothing, expected return %s", models);
  if (results > 1)
    scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_RETURN ": returns %d values, expected one: %s", results,
                        models);
  if (lua_istable(L, first)) {
    tag = scenario_language_tag(L, first);
    if (!tag)
      scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_RETURN ": returns a plain table, expected %s", models);
    for (const char *const *model = child->options->models; *model; model++)
      if (strcmp(tag, *model) == 0) return;
    scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_RETURN ": returns sim.%s, expected %s", tag, models);
  }
  scenario_child_fail(child, SIM_ERR_SCENARIO, SCENARIO_AT_RETURN ": returns %s%s, expected %s",
                      lua_isnil(L, first) ? "" : "a ", what, models);
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
  if (status == LUA_ERRMEM) fail_memory(child, true);
  return status;
}

/* Lua's own messages are about the text as it stands; then the same text with its checks is loaded. */
static int load_text(scenario_child *child, const char *text, size_t size) {
  lua_State *L = child->L;
  char *guarded;
  size_t guarded_size;
  int status = luaL_loadbufferx(L, text, size, "=" SCENARIO_AT_FILE, "t");
  if (status != LUA_OK) return status;
  if (!scenario_guard_text(text, size, &guarded, &guarded_size))
    scenario_child_fail(child, SIM_ERR_NO_MEMORY, SCENARIO_AT_FILE ": out of memory for the script");
  if (!guarded) return LUA_OK;
  lua_pop(L, 1);
  status = luaL_loadbufferx(L, guarded, guarded_size, "=" SCENARIO_AT_FILE, "t");
  free(guarded);
  return status;
}

static void run_script(scenario_child *child, const char *text, size_t size) {
  lua_State *L = child->L;
  size_t skip = scenario_bom(text, size);
  int base = lua_gettop(L);
  scenario_sandbox_push(L);
  scenario_language_push(L);
  lua_setfield(L, -2, "sim");
  scenario_sandbox_seal(L, "");
  int status = load_text(child, text + skip, size - skip);
  if (status == LUA_OK) {
    lua_pushvalue(L, base + 1);
    lua_setupvalue(L, -2, 1); /* _ENV */
    status = scenario_child_call(child, 0);
  }
  if (status == LUA_ERRMEM) fail_memory(child, true);
  if (status != LUA_OK) {
    const char *reason = lua_tostring(L, -1);
    if (!reason) reason = "error in the handling of an error";
    if (strcmp(reason, "C stack overflow") == 0) reason = "the text is nested too deep";
    bool placed = reason[0] == SCENARIO_AT_FILE[0];
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s%s", placed ? "" : SCENARIO_AT_FILE ": ", reason);
  }
  check_results(child, base + 2, lua_gettop(L) - base - 1);
}

static void send_value(const scenario_child *child, enum scenario_frame kind, sim_value *value) {
  sim_bytes bytes = {0};
  sim_value_write(value, &bytes);
  sim_value_free(&value);
  if (bytes.failed) fail_memory(child, false);
  scenario_child_send(child, kind, bytes.data, bytes.size);
  sim_bytes_free(&bytes);
}

noreturn void scenario_child_run(const char *text, size_t size, const scenario_options *options, int pipe) {
  scenario_child child = {.options = options, .pipe = pipe};
  setlocale(LC_ALL, "C");
  sim_confine(&(sim_confinement){.seconds = options->seconds, .memory = options->memory, .keep = {pipe, pipe}});
  size_t sets = 0;
  while (options->sets && options->sets[sets]) sets++;
  child.taken = calloc(sets + 1, sizeof *child.taken);
  child.params = sim_value_table(NULL);
  lua_State *L = lua_newstate(allocate, &child);
  if (!child.taken || !child.params || !L) fail_memory(&child, false);
  child.L = L;
  *(scenario_child **)lua_getextraspace(L) = &child;
  lua_atpanic(L, panic);
  run_script(&child, text, size);
  scenario_language_check_sets(&child);
  sim_value *value = scenario_tree(&child, -1);
  if (!value) fail_memory(&child, false);
  scenario_trace_all(&child);
  lua_close(L); /* makes room for the text of the tree */
  child.L = NULL;
  send_value(&child, SCENARIO_FRAME_PARAMS, child.params);
  send_value(&child, SCENARIO_FRAME_VALUE, value);
  _exit(0);
}
