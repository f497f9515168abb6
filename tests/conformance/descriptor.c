/* What every model owes at the level of its descriptor: descriptor MODEL [TRIALS [SCENARIO.lua]]. Without a scenario it
 * is the model's own example.
 *
 *   encode   the resolved parameters decode to the same parameters
 *   faults   faults at random places are all reported, each with its path
 *   memory   the plan covers what create, steps, tables and views take from the heap */
#include "cli/prepare.h"
#include "tests/sanitized.h"

#include <malloc.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *check = "";

static void quit(const char *what, const char *more) {
  fprintf(stderr, "FAILED: %s: %s%s%s\n", check, what, more ? ": " : "", more ? more : "");
  exit(1);
}
static void must(sim_status status, const char *what) {
  if (status != SIM_OK) quit(what, sim_error_last()->message);
}

/* ---- heap: the linker gives these the place of the C library's ---- */

static atomic_llong held, most_held; /* bytes */

static void count_bytes(long long bytes) {
  const long long now = atomic_fetch_add(&held, bytes) + bytes;
  long long most = atomic_load(&most_held);
  while (now > most && !atomic_compare_exchange_weak(&most_held, &most, now)) continue;
}
static void *count_block(void *block) {
  if (block) count_bytes((long long)malloc_usable_size(block));
  return block;
}

/* Large aligned blocks count with the size that was asked for. Their usable size has up to one more alignment, which is
 * never touched and so takes no memory. */
enum { LARGE = 1 << 22, LARGE_BLOCKS = 256 };
static struct large {
  void *_Atomic block;
  long long unused; /* usable bytes beyond the size that was asked for */
} large[LARGE_BLOCKS];
static void *count_aligned(void *block, size_t size) {
  if (!count_block(block) || size < LARGE) return block;
  for (int i = 0; i < LARGE_BLOCKS; i++) {
    void *none = NULL;
    if (!atomic_compare_exchange_strong(&large[i].block, &none, block)) continue;
    large[i].unused = (long long)(malloc_usable_size(block) - size);
    count_bytes(-large[i].unused);
    break;
  }
  return block;
}
static void forget_aligned(void *block) {
  for (int i = 0; block && i < LARGE_BLOCKS; i++)
    if (atomic_load(&large[i].block) == block) {
      count_bytes(large[i].unused);
      atomic_store(&large[i].block, NULL);
    }
}
#define WRAP(result, name, ...)                                                                                        \
  result __real_##name(__VA_ARGS__);                                                                                   \
  result __wrap_##name(__VA_ARGS__);                                                                                   \
  result __wrap_##name(__VA_ARGS__)
WRAP(void *, malloc, size_t size) { return count_block(__real_malloc(size)); }
WRAP(void *, calloc, size_t count, size_t size) { return count_block(__real_calloc(count, size)); }
WRAP(void *, aligned_alloc, size_t align, size_t size) {
  return count_aligned(__real_aligned_alloc(align, size), size);
}
WRAP(void, free, void *block) {
  if (block) count_bytes(-(long long)malloc_usable_size(block));
  forget_aligned(block);
  __real_free(block);
}
WRAP(void *, realloc, void *block, size_t size) {
  const long long before = block ? (long long)malloc_usable_size(block) : 0;
  void *out = __real_realloc(block, size);
  if (out) count_bytes((long long)malloc_usable_size(out) - before);
  return out;
}
WRAP(int, posix_memalign, void **out, size_t align, size_t size) {
  const int code = __real_posix_memalign(out, align, size);
  if (code == 0) (void)count_aligned(*out, size);
  return code;
}

/* ---- the example, decoded ---- */

static void prepare(const sim_model *model, const char *given, cli_job *job, cli_options *options) {
  char path[] = "/tmp/sim-conformance-XXXXXX";
  *options = (cli_options){
      .target = given ? given : path, .device = "cpu", .isa = sim_isa_best(), .threads = 2, .lua_seconds = 20};
  *job = (cli_job){.options = options};
  if (!given) {
    const int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file || fputs(model->example, file) < 0 || fclose(file) != 0) quit("cannot write a file", path);
  }
  const sim_status status = cli_prepare_scenario(job);
  if (!given) (void)unlink(path);
  must(status, "the scenario");
}

static sim_value *resolved(const cli_job *job) {
  sim_value *out = NULL;
  must(sim_value_read(job->blob.data, job->blob.size, &out), "sim_value_read");
  return out;
}

static void check_encode(const cli_job *job) {
  sim_value *value = resolved(job);
  sim_faults faults = {0};
  void *parameters = NULL;
  must(sim_model_decode(job->model, value, &parameters, &faults), "decode");
  if (faults.count > 0) quit("the resolved parameters have faults", faults.text.data);
  sim_value *again = sim_schema_encode(job->model->parameters, parameters);
  sim_bytes bytes = {0}, json = {0};
  sim_value_write(again, &bytes);
  sim_value_json(again, 0, &json);
  if (bytes.size != job->blob.size || memcmp(bytes.data, job->blob.data, bytes.size) != 0)
    quit("the resolved parameters decode to others", json.data);
  sim_bytes_free(&bytes);
  sim_bytes_free(&json);
  sim_value_free(&again);
  sim_value_free(&value);
  sim_model_parameters_free(job->model, &parameters);
}

/* ---- faults ---- */

enum { PLACES = 400, PLANTED = 40, PATH = 160 };

/* A value that can be replaced, or (table) a table to which a key can be added. */
typedef struct place {
  sim_entry *entry;
  sim_value *table;
  char path[PATH];
} place;
static place places[PLACES];
static int place_count;

/* A table that contains only named entries, or a list of such tables. Its contents have paths of their own. */
static bool is_walked(const sim_value *value) {
  if (value->kind != SIM_VALUE_TABLE || value->u.table.count == 0) return false;
  for (size_t i = 0; i < value->u.table.count; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    if (entry->value->kind == SIM_VALUE_FUNCTION && !entry->key) return false;
    if (!entry->key && entry->value->kind != SIM_VALUE_TABLE) return false;
  }
  return true;
}

static void find_places(sim_value *value, const char *path) {
  if (value->u.table.entries[0].key && place_count < PLACES) {
    places[place_count] = (place){.table = value};
    snprintf(places[place_count++].path, PATH, "%s%sno_such_key", path, *path ? "." : "");
  }
  for (size_t i = 0; i < value->u.table.count; i++) {
    sim_entry *entry = &value->u.table.entries[i];
    char below[PATH];
    const int size = entry->key ? snprintf(below, PATH, "%s%s%s", path, *path ? "." : "", entry->key)
                                : snprintf(below, PATH, "%s[%zu]", path, i + 1);
    if (size >= PATH || place_count == PLACES) continue;
    if (is_walked(entry->value)) {
      find_places(entry->value, below);
    } else if (entry->value->kind != SIM_VALUE_NIL) {
      places[place_count] = (place){.entry = entry};
      memcpy(places[place_count++].path, below, PATH);
    }
  }
}

static uint64_t state = 1;
static size_t draw(size_t count) { /* splitmix64 */
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (size_t)((z ^ z >> 31) % count);
}

static void check_faults(const cli_job *job, int trials) {
  for (int trial = 0; trial < trials; trial++) {
    sim_value *value = resolved(job);
    sim_faults faults = {.file = "scenario.lua"};
    void *parameters = NULL;
    place_count = 0;
    find_places(value, "");
    const size_t planted = 1 + draw((size_t)(place_count < PLANTED ? place_count : PLANTED));
    for (size_t k = 0; k < planted; k++) { /* the first `planted` of a random order; entries before tables that grow */
      const size_t other = k + draw((size_t)place_count - k);
      const place swapped = places[k];
      places[k] = places[other];
      places[other] = swapped;
    }
    for (size_t k = 0; k < planted; k++) {
      if (!places[k].entry) continue;
      sim_value_free(&places[k].entry->value);
      places[k].entry->value = sim_value_bad("a thread");
    }
    for (size_t k = 0; k < planted; k++)
      if (!places[k].entry) must(sim_value_add(places[k].table, "no_such_key", 0, sim_value_int(1)), "sim_value_add");
    must(sim_model_decode(job->model, value, &parameters, &faults), "decode");
    for (size_t k = 0; k < planted; k++) {
      char line[PATH + 8];
      snprintf(line, sizeof line, ": %s: ", places[k].path);
      if (!strstr(faults.text.data ? faults.text.data : "", line)) {
        fprintf(stderr, "%s", faults.text.data ? faults.text.data : "no faults\n");
        quit("a fault is not reported", places[k].path);
      }
    }
    if (faults.count != planted) {
      fprintf(stderr, "%zu planted, %zu reported:\n%s", planted, faults.count, faults.text.data);
      quit("faults that were not planted", NULL);
    }
    sim_faults_free(&faults);
    sim_value_free(&value);
    sim_model_parameters_free(job->model, &parameters);
  }
}

/* ---- memory ---- */

static bool has_function(const sim_value *value) {
  if (value->kind == SIM_VALUE_FUNCTION) return true;
  for (size_t i = 0; value->kind == SIM_VALUE_TABLE && i < value->u.table.count; i++)
    if (has_function(value->u.table.entries[i].value)) return true;
  return false;
}

/* To 5 % and 256 KiB, as in tests/nbody/memory.c: structs and names are small. Graphs of functions and their
 * derivatives are built in two workspaces of 657 KiB, which are freed, and one more for each kind of graph: 2 MiB. */
static void check_memory(cli_job *job) {
#if TEST_SANITIZED
  return; /* a sanitizer has its own malloc */
#endif
  const sim_model *model = job->model;
  double values[SIM_COLUMNS_MAX];
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame = {0};
  sim_clock clock = {0};
  sim_plan plan = {0};
  void *self = NULL;
  must(cli_prepare_device(job), "device");
  plan.space = job->setup.backend->space;
  must(model->plan(job->parameters, &job->setup, &plan), "plan");
  const double graphs = has_function(job->resolved) ? 2097152 : 0;
  const long long before = atomic_load(&held);
  atomic_store(&most_held, before);
  must(model->create(job->parameters, &job->setup, &clock, &self), "create");
  const sim_table *const *tables = sim_model_tables(model, job->parameters);
  for (int step = 0; step < 4; step++) {
    for (int t = 0; tables[t]; t++) must(model->observe(self, &clock, t, values), "observe");
    must(model->view(self, arrays, species, &frame), "view");
    if (clock.t < clock.t_end) must(model->step(self, &clock), "step");
  }
  model->destroy(&self);
  const double taken = (double)(atomic_load(&most_held) - before), planned = sim_plan_bytes(&plan, SIM_SPACE_HOST);
  printf("%s: memory: %.0f bytes taken, %.0f planned\n", model->name, taken, planned);
  if (taken > 1.05 * planned + 262144 + graphs) quit("more than the plan says", NULL);
  const long long left = atomic_load(&held) - before;
  if (left > 65536) quit("destroy leaves memory behind", NULL);
}

int main(int count, char **words) {
  const sim_model *model = count > 1 ? sim_model_find(words[1]) : NULL;
  const int trials = count > 2 ? atoi(words[2]) : 200;
  cli_job job;
  cli_options options;
  if (!model) quit("no such model", count > 1 ? words[1] : "descriptor MODEL [TRIALS [SCENARIO.lua]]");
  check = "scenario";
  prepare(model, count > 3 ? words[3] : NULL, &job, &options);
  check = "encode";
  check_encode(&job);
  check = "faults";
  check_faults(&job, trials);
  check = "memory";
  check_memory(&job);
  cli_prepare_free(&job);
  return 0;
}
