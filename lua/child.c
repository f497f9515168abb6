/* The process that runs a script: its Lua state with a counting allocator, the script, and the results that it sends to
 * the parent. A script that exceeds a limit ends the process at once, so that no pcall, handler or finaliser can
 * continue. */
#include "lua/internal.h"

#include "engine/confine.h"

#include <lauxlib.h>

#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Allocator of Lua. It refuses a request once, whereupon Lua collects garbage and asks again. */
static void *allocate(void *context, void *block, size_t old, size_t size) {
  scenario_child *child = context;
  if (!block) old = 0; /* in this case `old` is a kind of object */
  if (size == 0) {
    free(block);
    child->used -= old;
    return NULL;
  }
  if (size > old) {
    size_t most = child->options->memory;
    bool over = size - old > most - child->used;
    void *grown = over ? NULL : realloc(block, size);
    if (!grown && (child->refused || size > most)) scenario_child_fail_memory(child, over);
    child->refused = !grown;
    if (grown) child->used += size - old;
    return grown;
  }
  void *shrunk = realloc(block, size);
  child->used -= old - size;
  return shrunk ? shrunk : block;
}

static int panic(lua_State *L) {
  scenario_child_fail(scenario_child_of(L), SIM_ERR_NO_MEMORY,
                      SCENARIO_AT_FILE ": out of memory at the start of the script");
}

/* Writes the models that may be returned: "sim.nbody { ... } or sim.diffusion { ... }". */
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

/* Loads the original text first, for Lua's own error messages, and then the text with checks inserted. */
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
  int base = lua_gettop(L) - 1; /* below the sandbox */
  int status = load_text(child, text + skip, size - skip);
  if (status == LUA_OK) {
    lua_pushvalue(L, base + 1);
    lua_setupvalue(L, -2, 1); /* sets _ENV */
    status = scenario_child_call(child, 0);
  }
  if (status == LUA_ERRMEM) scenario_child_fail_memory(child, true);
  if (status != LUA_OK) {
    const char *reason = lua_tostring(L, -1);
    if (!reason) reason = "error in the handling of an error";
    if (strcmp(reason, "C stack overflow") == 0) reason = "the text is nested too deep";
    bool placed = reason[0] == SCENARIO_AT_FILE[0];
    scenario_child_fail(child, SIM_ERR_SCENARIO, "%s%s", placed ? "" : SCENARIO_AT_FILE ": ", reason);
  }
  check_results(child, base + 2, lua_gettop(L) - base - 1);
}

static void add_value(const scenario_child *child, enum scenario_frame kind, sim_value *value, sim_bytes *frames) {
  sim_bytes bytes = {0};
  sim_value_write(value, &bytes);
  sim_value_free(&value);
  if (!bytes.failed) scenario_child_add(frames, kind, bytes.data, bytes.size);
  if (bytes.failed || frames->failed) scenario_child_fail_memory(child, false);
  sim_bytes_free(&bytes);
}

static void confine(const scenario_options *options, int pipe) {
  setlocale(LC_ALL, "C");
  sim_confine(&(sim_confinement){.seconds = options->seconds, .memory = options->memory, .keep = {pipe, pipe}});
}

/* Makes the Lua state with the sandbox: the only value on its stack. */
static void prepare(scenario_child *child, const scenario_options *options, int pipe) {
  *child = (scenario_child){.options = options, .pipe = pipe};
  child->params = sim_value_table(NULL);
  lua_State *L = lua_newstate(allocate, child);
  if (!child->params || !L) scenario_child_fail_memory(child, false);
  child->L = L;
  *(scenario_child **)lua_getextraspace(L) = child;
  lua_atpanic(L, panic);
  scenario_sandbox_push(L);
  scenario_language_push(L);
  lua_setfield(L, -2, "sim");
  scenario_sandbox_seal(L, "");
}

/* Runs the script and sends its results; returns where the process goes on, which it tells. goes_on NULL: never. */
static void run_and_send(scenario_child *child, const char *text, size_t size, bool (*goes_on)(void)) {
  size_t sets = 0;
  sim_bytes frames = {0};
  child->begun = sim_confined_seconds();
  while (child->options->sets && child->options->sets[sets]) sets++;
  child->taken = calloc(sets + 1, sizeof *child->taken);
  if (!child->taken) scenario_child_fail_memory(child, false);
  run_script(child, text, size);
  scenario_language_check_sets(child);
  sim_value *value = scenario_tree(child, -1);
  if (!value) scenario_child_fail_memory(child, false);
  scenario_trace_all(child);
  lua_close(child->L); /* frees memory, which the text of the tree needs */
  child->L = NULL;
  add_value(child, SCENARIO_FRAME_PARAMS, child->params, &frames);
  const bool more = goes_on != NULL && goes_on();
  if (more) scenario_child_add(&frames, SCENARIO_FRAME_MORE, "", 0);
  add_value(child, SCENARIO_FRAME_VALUE, value, &frames);
  scenario_child_write(child, &frames);
  if (!more) _exit(0);
  sim_bytes_free(&frames);
  sim_expr_builder_free(&child->fold);
  free(child->functions);
  free(child->taken);
}

noreturn void scenario_child_run(const char *text, size_t size, const scenario_options *options, int pipe) {
  scenario_child child;
  confine(options, pipe);
  prepare(&child, options, pipe);
  run_and_send(&child, text, size, NULL);
  _exit(0);
}

/* Reads size bytes; ends the process where the program has ended. */
static void read_all(int fd, void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(fd, (char *)data + done, size - done);
    if (got == 0 || (got < 0 && errno != EINTR)) _exit(0);
    if (got > 0) done += (size_t)got;
  }
}

/* Whether the process runs one more script: what is left of its limits is enough for any script, and memory that
 * earlier ones have not given back cannot add up. */
static bool goes_on(void) {
  static int scripts;
  const struct mallinfo2 heap = mallinfo2();
  return ++scripts < 1000 && sim_confined_seconds() < 1 && heap.arena + heap.hblkhd < (size_t)64 << 20;
}

/* Reads a script with its sets, runs it and sends its results. */
static void serve_one(scenario_child *child, scenario_options *own, int socket) {
  uint64_t sizes[2]; /* of the text, and of the sets with a zero byte after each */
  read_all(socket, sizes, sizeof sizes);
  char *text = malloc(sizes[0] + 1), *words = malloc(sizes[1] + 1);
  if (!text || !words) scenario_child_fail_memory(child, false);
  read_all(socket, text, sizes[0]);
  read_all(socket, words, sizes[1]);
  size_t count = 0;
  for (size_t i = 0; i < sizes[1]; i++) count += words[i] == '\0';
  const char **sets = calloc(count + 1, sizeof *sets), *at = words;
  if (!sets) scenario_child_fail_memory(child, false);
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1) sets[i] = at;
  own->sets = sets;
  run_and_send(child, text, sizes[0], goes_on);
  own->sets = NULL;
  free(sets);
  free(words);
  free(text);
}

noreturn void scenario_child_wait(const scenario_options *options, int socket) {
  scenario_child child;
  scenario_options own = *options;
  confine(&own, socket);
  for (;;) {
    prepare(&child, &own, socket);
    sim_confine_again(own.seconds);
    serve_one(&child, &own, socket);
  }
}
