/* Runs a Lua program that starts other programs and reads HDF5 files: `twins_host SCRIPT.lua ARGUMENTS`. Beside Lua's
 * own libraries the script has the table `host`. There is no test framework: the script's result is the exit status. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hdf5.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* host.clock() -> seconds. */
static int host_clock(lua_State *L) {
  lua_pushnumber(L, seconds());
  return 1;
}

/* host.run({PROGRAM, ARGUMENT, ...}, LIMIT) -> exit code (128 + signal; -1: longer than LIMIT seconds), output,
 * seconds. */
static int host_run(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const double limit = luaL_checknumber(L, 2), start = seconds();
  const int count = (int)lua_rawlen(L, 1);
  char **words = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *words, 0);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 1); /* stays on the stack, so that the text is not collected */
    luaL_checkstack(L, 4, NULL);
    words[i] = (char *)(uintptr_t)luaL_checkstring(L, -1);
  }
  words[count] = NULL;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return luaL_error(L, "pipe: %s", strerror(errno));
  const pid_t child = fork();
  if (child < 0) return luaL_error(L, "fork: %s", strerror(errno));
  if (child == 0) {
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    execv(words[0], words);
    _exit(127);
  }
  close(ends[1]);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  bool late = false;
  for (;;) {
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    const double left = limit - (seconds() - start);
    if (left <= 0) {
      late = true;
      kill(-child, SIGKILL);
      break;
    }
    if (poll(&wait, 1, (int)(left * 1000) + 1) <= 0) continue;
    char piece[4096];
    const ssize_t got = read(ends[0], piece, sizeof piece);
    if (got <= 0) break;
    luaL_addlstring(&text, piece, (size_t)got);
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  luaL_pushresult(&text);
  lua_pushinteger(L, late ? -1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  lua_insert(L, -2);
  lua_pushnumber(L, seconds() - start);
  return 3;
}

/* host.list(FOLDER) -> names, sorted by Lua where order matters; an absent folder is empty. */
static int host_list(lua_State *L) {
  lua_newtable(L);
  DIR *folder = opendir(luaL_checkstring(L, 1));
  if (folder == NULL) return 1;
  lua_Integer count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    lua_pushstring(L, entry->d_name);
    lua_rawseti(L, -2, ++count);
  }
  closedir(folder);
  return 1;
}

/* host.make(FOLDER): creates the folder unless it exists. */
static int host_make(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) return luaL_error(L, "%s: %s", path, strerror(errno));
  return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}
/* host.remove(FOLDER): removes the folder with everything in it. */
static int host_remove(lua_State *L) {
  nftw(luaL_checkstring(L, 1), remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return 0;
}

static int host_erfc(lua_State *L) {
  lua_pushnumber(L, erfc(luaL_checknumber(L, 1)));
  return 1;
}

/* Pushes the numbers of a dataset, or of one member of its records, as a list. */
static bool push_numbers(lua_State *L, hid_t dataset, const char *member, hsize_t count) {
  double *values = malloc((count > 0 ? count : 1) * sizeof *values);
  hid_t type = H5T_NATIVE_DOUBLE;
  if (member != NULL) {
    type = H5Tcreate(H5T_COMPOUND, sizeof(double));
    H5Tinsert(type, member, 0, H5T_NATIVE_DOUBLE);
  }
  const bool good =
      values != NULL && (count == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  if (member != NULL) H5Tclose(type);
  if (good) {
    lua_createtable(L, (int)count, 0);
    for (hsize_t i = 0; i < count; i++) {
      lua_pushnumber(L, values[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  }
  free(values);
  return good;
}

static void push_dataset(lua_State *L, hid_t dataset) {
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  const hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
  const H5T_class_t class = H5Tget_class(type);
  if (class == H5T_COMPOUND) {
    lua_newtable(L);
    for (unsigned m = 0; m < (unsigned)H5Tget_nmembers(type); m++) {
      char *name = H5Tget_member_name(type, m);
      if (push_numbers(L, dataset, name, count)) lua_setfield(L, -2, name);
      H5free_memory(name);
    }
  } else if ((class != H5T_FLOAT && class != H5T_INTEGER) || !push_numbers(L, dataset, NULL, count)) {
    lua_pushnil(L);
  }
  H5Tclose(type);
  H5Sclose(space);
}

/* Pushes the values of a group with `value` and `shape`: as many equal numbers. */
static bool push_constant(lua_State *L, hid_t group) {
  if (H5Aexists(group, "value") <= 0 || H5Aexists(group, "shape") <= 0) return false;
  double value = NAN;
  uint64_t shape[8] = {0};
  const hid_t a = H5Aopen(group, "value", H5P_DEFAULT), b = H5Aopen(group, "shape", H5P_DEFAULT);
  H5Aread(a, H5T_NATIVE_DOUBLE, &value);
  H5Aread(b, H5T_NATIVE_UINT64, shape);
  H5Aclose(a);
  H5Aclose(b);
  lua_createtable(L, (int)shape[0], 0);
  for (uint64_t i = 0; i < shape[0]; i++) {
    lua_pushnumber(L, value);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return true;
}

static herr_t visit(hid_t file, const char *name, const H5L_info_t *info, void *context) {
  (void)info;
  lua_State *L = context;
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) return 0;
  const H5I_type_t type = H5Iget_type(object);
  if (type == H5I_DATASET) {
    push_dataset(L, object);
    lua_setfield(L, -2, name);
  } else if (type == H5I_GROUP && push_constant(L, object)) {
    lua_setfield(L, -2, name);
  }
  H5Oclose(object);
  return 0;
}

/* host.read(FILE) -> a table by path: each dataset as a list of its numbers, or for records a list for each member;
 * nil: no such file. */
static int host_read(lua_State *L) {
  const hid_t file = H5Fopen(luaL_checkstring(L, 1), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return 0;
  lua_newtable(L);
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, L);
  H5Fclose(file);
  return 1;
}

int main(int count, char **words) {
  static const luaL_Reg functions[] = {
      {"clock", host_clock},   {"run", host_run},   {"list", host_list}, {"make", host_make},
      {"remove", host_remove}, {"erfc", host_erfc}, {"read", host_read}, {NULL, NULL}};
  if (count < 2) {
    fprintf(stderr, "usage: %s SCRIPT.lua ARGUMENTS\n", words[0]);
    return 64;
  }
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_newlib(L, functions);
  lua_setglobal(L, "host");
  lua_newtable(L);
  for (int i = 2; i < count; i++) {
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  int code = 70;
  if (luaL_dofile(L, words[1]) != LUA_OK)
    fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
  else
    code = (int)lua_tointeger(L, -1);
  lua_close(L);
  return code;
}
