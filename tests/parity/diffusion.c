/* Fields on the GPU against the same scenario on the CPU: every scheme, boundary and rank, whole runs, statistics, and
 * restarts. */
#include "tests/parity/diffusion_sides.h"

#include "engine/log.h"

static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", "rodas3"};
static const char *const boundaries[] = {"periodic", "no_flux", "fixed"};

typedef struct shape {
  int n[3];
} shape;

/* Two fields of order 1 with rates of fields, place and time; drift, axes, decay and hyper-diffusion. */
static diffusion_parameters *scenario_of(int scheme, const int kind[3], shape s, bool single, bool drift, bool dealias,
                                         char *text, size_t capacity) {
  char n[64] = "", size[64] = "";
  const int rank = s.n[2] > 0 ? 3 : s.n[1] > 0 ? 2 : 1;
  for (int a = 0; a < rank; a++) {
    snprintf(n + strlen(n), sizeof n - strlen(n), "%d,", s.n[a]);
    snprintf(size + strlen(size), sizeof size - strlen(size), "%g,", 1.5 + a);
  }
  double v[3] = {0};
  for (int a = 0; a < rank; a++)
    if (drift && kind[a] == 0) v[a] = 0.3 + a;
  snprintf(text, capacity,
           "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, x = '%s', y = '%s', z = '%s' },\n"
           "fields = {{ name = 'u', D = 0.02, axes = {1, %d, %d}, decay = 0.1, drift = {%g, %g, %g},\n"
           "  initial = function(x, y, z) return math.cos(3*x + 2*y - z) end },\n"
           " { name = 'v', D = 0.01, hyper = 1e-5, noise = 0.1, initial = function(x, y) return x - 0.5*y end }},\n"
           "%s integrate = { scheme = '%s', dt = %g, t_end = %g, dealias = %s } }",
           single ? "single" : "double", n, size, boundaries[kind[0]], rank > 1 ? boundaries[kind[1]] : "as others",
           rank > 2 ? boundaries[kind[2]] : "as others", rank > 1 ? 2 : 1, rank > 2 ? 3 : 1, v[0], v[1], v[2],
           scheme > 0 ? "rates = function(u, v, x, y, z, t) return u - u^3 - v + x*z, 0.5*u*v - y + math.sin(t) end,\n"
                      : "",
           schemes[scheme], scheme == DIFFUSION_RODAS3 ? 2e-6 : 0.02, scheme == DIFFUSION_RODAS3 ? 1e-5 : 0.1,
           dealias && scheme > 0 ? "true" : "false");
  return parameters_of(text);
}

/* Five steps of four transforms. Rounding of each is below log2(n) u, the fields stay below 4 and their growth below
 * exp(0.5). 1e-12 and 2e-5 are some 30 times that. */
static double bound_of(bool single) { return single ? 2e-5 : 1e-12; }

/* Implicit steps are so short that fields change by less than 1/1000 (5e2 2e-6, with the highest waves of the noise).
 * The tolerances of the systems are as in diffusion_implicit.c, 60 of them in each of five steps, and fields of 2. */
static double bound_of_scheme(int scheme, bool single) {
  return bound_of(single) + (scheme == DIFFUSION_RODAS3 ? 600 * 1e-3 * (single ? 64 * 1.2e-7 : 1e-9) : 0);
}

static void compare(int scheme, const int kind[3], shape s, bool single, bool drift, bool dealias) {
  char text[2048];
  if (!is_mine()) return;
  compare_sides(scenario_of(scheme, kind, s, single, drift, dealias, text, sizeof text), NULL,
                bound_of_scheme(scheme, single));
}

static void test_boundaries(void **state) {
  (void)state;
  static const shape shapes[] = {{{33, 0, 0}}, {{12, 17, 0}}, {{10, 7, 9}}};
  for (int rank = 1; rank <= 3; rank++)
    for (int scheme = 0; scheme < DIFFUSION_SCHEMES; scheme++)
      for (int b = 0; b < (rank == 1 ? 3 : rank == 2 ? 9 : 27); b++)
        for (int single = 0; single < 2; single++)
          if (rank == 1 || (b + rank) % 2 == single)
            compare(scheme, (int[]){b % 3, b / 3 % 3, b / 9}, shapes[rank - 1], single, (b / 2 + scheme) % 2,
                    b % 4 == 1);
}

static void test_sizes(void **state) {
  (void)state;
  static const shape shapes[] = {{{1, 0, 0}},   {{2, 0, 0}}, {{3, 0, 0}},   {{121, 0, 0}}, {{509, 0, 0}},
                                 {{1, 5, 0}},   {{5, 1, 0}}, {{64, 48, 0}}, {{1, 1, 7}},   {{2, 2, 2}},
                                 {{32, 1, 16}}, {{1, 1, 1}}, {{17, 5, 2}},  {{40, 36, 24}}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int b = 0; b < 3; b++)
      compare(i % 2 ? DIFFUSION_ETDRK2 : DIFFUSION_STRANG, (int[]){b, (b + (int)i) % 3, b}, shapes[i], i % 3 == 0,
              false, false);
}

/* ---- derivatives and noise ---- */

/* Rates of derivatives along every axis, of fields that fluctuate. The logarithm and cosine in normal numbers differ by
 * some units in the last place: 1e-15 of a number below 7, over five steps. Derivatives multiply by wavenumbers up to
 * 40, and so do the bounds. */
static void test_terms(void **state) {
  (void)state;
  static const struct {
    const char *grid, *first, *second;
  } cases[] = {
      {"n = {33}, size = {2}", "u_x*u", "v_x"},
      {"n = {24, 17}, size = {2, 3}, y = 'no_flux'", "u*u_x - v_x", "u"},
      {"n = {12, 16}, size = {2, 3}, x = 'fixed'", "u*u_y", "v*v_y"},
      {"n = {10, 7, 9}, size = {2, 3, 2.5}", "u_x - u_z*v + u_y", "v_y"},
      {"n = {8, 1, 12}, size = {2, 3, 2.5}, x = 'no_flux'", "u_z + u_y", "v_z^2"},
  };
  static const char *const some[] = {"lie", "etd1", "etdrk2", "etdrk4"};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int s = 0; s < 4; s++) {
      char text[2048];
      const bool single = ((int)c + s) % 2;
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 12345678901, grid = { %s },\n"
               "fields = {{ name = 'u', D = 0.02, fluctuation = 0.1, initial = function(x, y, z) return\n"
               "  math.cos(math.pi*x + 2*math.pi/3*y) end }, { name = 'v', D = 0.01, noise = 0.1 }},\n"
               "rates = function(u, v, u_x, u_y, u_z, v_x, v_y, v_z, t) return %s + t, 0.5*(%s) end,\n"
               "integrate = { scheme = '%s', dt = 0.002, t_end = 0.01 } }",
               single ? "single" : "double", cases[c].grid, cases[c].first, cases[c].second, some[s]);
      compare_sides(parameters_of(text), NULL, bound_of(single));
    }
}

/* White noise by every scheme and form of tables: signed ones, walls, matrices, ensembles, a cut of the spectrum. The
 * first state is cut too. Bounds as above. */
static void test_noise(void **state) {
  (void)state;
  static const struct {
    const char *members, *grid, *more, *scheme, *dealias;
  } cases[] = {
      {"1", "n = {33}, size = {2}", "fluctuation = 0.1, drift = {0.3, 0, 0}", "strang", "false"},
      {"1", "n = {24, 18}, size = {2, 3}, boundary = 'fixed'", "fluctuation = 0.1, decay = 1", "lie", "true"},
      {"1", "n = {24, 18}, size = {2, 3}, x = 'no_flux'", "fluctuation = 0.1, tensor = {0, 0, 0}", "etdrk4", "0.5"},
      {"1", "n = {10, 7, 9}, size = {2, 3, 2.5}", "fluctuation = 0.1, tensor = {0.005, 0, 0}", "etd1", "true"},
      {"1", "n = {10, 7, 9}, size = {2, 3, 2.5}, y = 'fixed'", "fluctuation = 0.1, cross = {0, -0.01}", "etdrk2",
       "true"},
      {"1", "n = {24, 18}, size = {2, 3}", "fluctuation = 0.1, cross = {0, 0.01}, drift = {0.2, 0, 0}", "strang",
       "false"},
      {"5", "n = {24, 18}, size = {2, 3}, x = 'no_flux'", "fluctuation = 0.1, decay = 0.3", "etd1", "true"},
      {"5", "n = {24}, size = {2}", "fluctuation = 1e-3, conserved = true", "etdrk2", "0.5"},
      {"1", "n = {256, 256}, size = {2, 3}", "fluctuation = 0.1, decay = 0.3", "etdrk4", "true"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int single = 0; single < 2; single++) {
      char text[2048];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', seed = 7, members = %s, grid = { %s },\n"
               "fields = {{ name = 'u', D = 0.02, noise = 0.5, %s }, { name = 'v', D = 0.01,\n"
               "fluctuation = %d, noise = 0.1 }}, rates = function(u, v, t) return %g*(u - u^3) + t, 0.5*u*v end,\n"
               "integrate = { scheme = '%s', dt = 0.02, t_end = 0.1, dealias = %s } }",
               single ? "single" : "double", cases[c].members, cases[c].grid, cases[c].more, (int)c % 2,
               strstr(cases[c].more, "conserved") ? 0.01 : 1, cases[c].scheme, cases[c].dealias);
      compare_sides(parameters_of(text), NULL, bound_of(single));
    }
}

/* ---- resolution ---- */

static int warnings;
static void hear(void *context, sim_log_level level, const char *message) {
  (void)context;
  warnings += level == SIM_LOG_WARN && strstr(message, "does not resolve v") != NULL;
}

/* Walls between phases that are thinner than a cell, or not: the device warns once where the CPU does, in each form. */
static void test_resolution(void **state) {
  (void)state;
  static const struct {
    const char *n, *size, *precision, *scheme;
  } cases[] = {{"300", "1", "double", "etdrk4"},
               {"256, 256", "1, 1", "single", "lie"},
               {"256, 256", "1, 1", "single", "etdrk2"},
               {"20, 48, 30", "1, 1, 1", "double", "strang"},
               {"256, 256, 256", "1, 1, 1", "single", "strang"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int resolved = 0; resolved < 2; resolved++) {
      char text[1024];
      system_run s;
      double row[2 * DIFFUSION_STATISTICS];
      if (!is_mine()) continue;
      snprintf(text, sizeof text,
               "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s} }, fields = {{ name = 'v', D = "
               "%s, initial = function(x) return 0.1*math.sin(2*math.pi*x) end }}, rates = function(v) return v - v^3 "
               "end, integrate = { scheme = '%s', dt = 0.1, t_end = 8 } }",
               cases[c].precision, cases[c].n, cases[c].size, resolved ? "0.01" : "1e-7", cases[c].scheme);
      diffusion_parameters *p = parameters_of(text);
      warnings = 0;
      assert_true(sim_log_add(hear, NULL));
      begin(&s, p, &sim_backend_cuda, NULL);
      for (int i = 0; i <= 4; i++) {
        run_to(&s, 20 * i);
        must(diffusion_model.observe(s.self, &s.clock, 0, row), "observe");
      }
      sim_log_remove(hear, NULL);
      if (warnings != !resolved) fail_msg("%s: %d warnings", text, warnings);
      end(&s);
      release(p);
    }
}

/* ---- two passes ---- */

/* Makes three steps from a rough field, by a way or (NULL) by the way that a run takes, which has this name. Returns
 * the result on the host. */
static float *three_steps(const diffusion_way *way, const diffusion_parameters *p, const float *first, const char *name,
                          double *mean) {
  const diffusion_ops *ops = &diffusion_ops_cuda;
  const diffusion_method *method = &diffusion_methods[p->integrate.scheme];
  const bool strang = p->integrate.scheme == DIFFUSION_STRANG;
  const double h = diffusion_dt(&p->integrate);
  diffusion_work *work;
  diffusion_statistics statistics;
  must(diffusion_cuda_create(p, &sim_comm_alone, 1, way, &work), "create");
  if (strcmp(ops->name(work), name) != 0) fail_msg("%s: by %s, not %s", current, ops->name(work), name);
  const sim_buffer *real = ops->real(work);
  const size_t bytes = sim_buffer_bytes(real);
  float *out = malloc(bytes);
  must(sim_backend_cuda.copy(real->data, first, bytes), "copy");
  must(ops->load(work, 0), "load");
  for (int i = 0; i < 3; i++) {
    for (int stage = 0; stage < method->stages; stage++)
      must(ops->stage(work, stage,
                      &(diffusion_step_context){
                          .t = (i + method->at[stage]) * h, .h = h, .substeps = strang && i > 0 ? 2 : 1, .step = i}),
           "stage");
    must(ops->show(work, i * h, strang ? &(diffusion_step_context){.t = i * h, .h = h, .substeps = 1} : NULL), "show");
  }
  must(ops->measure(work, 0, 1, &statistics), "measure");
  *mean = statistics.mean;
  must(sim_backend_cuda.copy(out, real->data, bytes), "copy");
  ops->destroy(&work);
  return out;
}

/* Makes three steps by cuFFT and, twice, by the way `name`, from a rough field; frees p. */
static void compare_ways(diffusion_parameters *p, const char *name) {
  const grid_shape grid = diffusion_grid_of(p);
  const int64_t count = grid.n[0] * grid.n[1] * grid.n[2] * (int64_t)p->fields.count;
  float *first = malloc((size_t)count * sizeof *first);
  for (int64_t i = 0; i < count; i++) {
    const uint32_t word = (uint32_t)i * 2654435761u;
    first[i] = (float)((word ^ word >> 15) * 2246822519u >> 8) * 0x1p-23f - 1;
  }
  double means[3];
  float *by_cufft = three_steps(&diffusion_way_general, p, first, "cuFFT", &means[0]);
  float *fused = three_steps(NULL, p, first, name, &means[1]);
  float *again = three_steps(NULL, p, first, name, &means[2]);
  if (memcmp(fused, again, (size_t)count * sizeof *fused) != 0 || means[1] != means[2])
    fail_msg("%s: other bits the second time", current);
  for (int64_t i = 0; i < count; i++)
    if (!(fabsf(by_cufft[i] - fused[i]) <= 2e-5f))
      fail_msg("%s: number %lld: %.9g by cuFFT, %.9g by %s", current, (long long)i, (double)by_cufft[i],
               (double)fused[i], name);
  if (!(fabs(means[0] - means[1]) <= 1e-6)) fail_msg("%s: mean %.9g, %.9g", current, means[0], means[1]);
  free(first), free(by_cufft), free(fused), free(again);
  release(p);
}

/* The fused passes against cuFFT, which the cases below compare with the CPU: position and time in the rates, boxes and
 * axes of different lengths, all boundaries where there is one pass an axis. Fields stay below 2. fp32 transforms of
 * 2^24 to 2^26 numbers have relative errors of about 1e-6 in L2, and the greatest of so many errors is some six times
 * their mean: 2e-5 is twice that. */
static void compare_fused(size_t first_case, size_t end) {
  static const struct {
    int n[3], fields;
    const char *scheme, *dealias, *name;
    int kind[3];
  } cases[] = {{{256, 256, 256}, 1, "lie", "false", "two passes", {0}},
               {{512, 256, 256}, 2, "strang", "true", "two passes", {0}},
               {{256, 1024, 256}, 1, "lie", "false", "two passes", {0}},
               {{256, 512, 256}, 2, "strang", "true", "one pass an axis", {2, 1, 0}},
               {{1024, 256, 256}, 1, "lie", "false", "one pass an axis", {1, 0, 2}},
               {{256, 256, 256}, 1, "strang", "false", "one pass an axis", {1, 1, 1}},
               {{256, 256, 256}, 1, "lie", "true", "one pass an axis", {2, 2, 2}},
               {{256, 1024, 0}, 2, "lie", "false", "one pass an axis", {1, 2, 0}},
               {{512, 256, 0}, 1, "strang", "true", "one pass an axis", {0, 1, 0}}};
  for (size_t c = first_case; c < end; c++) {
    char text[2048];
    const int *n = cases[c].n, *kind = cases[c].kind;
    char sizes[64], sides[64];
    snprintf(sizes, sizeof sizes, n[2] ? "%d, %d, %d" : "%d, %d", n[0], n[1], n[2]);
    snprintf(sides, sizeof sides, n[2] ? "1.5, 2.5, 3.5" : "1.5, 2.5");
    const bool two = cases[c].fields == 2;
    if (!is_mine()) continue;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = 'single', grid = { n = {%s}, size = {%s},\n"
             "  x = '%s', y = '%s', z = '%s' },\n"
             "fields = {{ name = 'u', D = 1e-4, axes = {1, 2, %d}, decay = 0.1 } %s },\n"
             "rates = function(u, %s x, y, z, t) return u - u^3 + 0.1*x*z - y + math.sin(t) %s end,\n"
             "integrate = { scheme = '%s', dt = 0.02, t_end = 0.1, dealias = %s } }",
             sizes, sides, boundaries[kind[0]], boundaries[kind[1]], n[2] ? boundaries[kind[2]] : "as others",
             n[2] ? 3 : 1, two ? ", { name = 'v', D = 2e-4 }" : "", two ? "v," : "", two ? "- v, u*v - 0.1*v" : "",
             cases[c].scheme, cases[c].dealias);
    compare_ways(parameters_of(text), cases[c].name);
  }
}

static void test_two_passes(void **state) {
  (void)state;
  compare_fused(0, 3);
}
static void test_axes(void **state) {
  (void)state;
  compare_fused(3, 9);
}

/* The same for two passes a stage over two axes: every scheme, length of an axis and number of fields. Fields stay
 * below 3, and transforms are of fewer numbers. */
static void test_flat(void **state) {
  (void)state;
  static const struct {
    int n[2], fields;
    const char *scheme, *dealias;
  } cases[] = {{{256, 256}, 1, "lie", "true"},     {{512, 256}, 2, "strang", "false"},
               {{256, 1024}, 1, "etd1", "false"},  {{2048, 512}, 3, "etdrk2", "true"},
               {{4096, 256}, 2, "etdrk4", "true"}, {{256, 4096}, 4, "etdrk4", "false"}};
  static const char *const rates[] = {"u - u^3 + 0.1*x - y + math.sin(t)", "u*v - 0.1*v", "x - w*w*w", "u - v*q"};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048], fields[512] = "", inputs[64] = "", results[256] = "";
    if (!is_mine()) continue;
    for (int f = 0; f < cases[c].fields; f++) {
      const char name = "uvwq"[f];
      snprintf(fields + strlen(fields), sizeof fields - strlen(fields),
               "{ name = '%c', D = %g, axes = {1, %d, 1}, decay = 0.1, hyper = %g },", name, 1e-4 * (f + 1), f + 1,
               f == 1 ? 1e-9 : 0);
      snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), "%c,", name);
      snprintf(results + strlen(results), sizeof results - strlen(results), "%s%s", f ? "," : "", rates[f]);
    }
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = 'single', grid = { n = {%d, %d}, size = {1.5, 2.5} },\n"
             "fields = {%s}, rates = function(%s x, y, z, t) return %s end,\n"
             "integrate = { scheme = '%s', dt = 0.02, t_end = 0.1, dealias = %s } }",
             cases[c].n[0], cases[c].n[1], fields, inputs, results, cases[c].scheme, cases[c].dealias);
    compare_ways(parameters_of(text), "two passes a stage");
  }
}

/* Ensembles, whose rates, linear parts and starts depend on the member. With walls on the first axis another one is the
 * fast axis of transforms; with one cell there is no transform. A run that continues in the middle has the same bits.
 */
static void test_ensemble(void **state) {
  (void)state;
  static const struct {
    const char *grid, *scheme, *precision;
  } cases[] = {{"n = {128, 128}, size = {1, 1}", "etdrk2", "single"},
               {"n = {33}, size = {1}", "lie", "double"},
               {"n = {12, 17}, size = {1, 2}, x = 'no_flux'", "strang", "double"},
               {"n = {16, 10}, size = {1, 2}, boundary = 'fixed'", "etdrk4", "double"},
               {"n = {24, 9}, size = {1, 2}, y = 'no_flux'", "exact", "single"},
               {"n = {1, 1}, size = {1, 2}", "etd1", "double"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048];
    system_run cpu, gpu, again;
    const bool single = strcmp(cases[c].precision, "single") == 0;
    if (!is_mine()) continue;
    snprintf(
        text, sizeof text,
        "return sim.diffusion { precision = '%s', members = 7, grid = { %s }, fields = {\n"
        "{ name = 'u', D = 0.02, noise = 0.1, initial = function(x, y, member) return math.cos(3*x + member)*y end },\n"
        "{ name = 'v', D = 0.01, linear = function(k2, member) return -0.003*member*k2 end, initial = 0.5 }},\n"
        "%s integrate = { scheme = '%s', dt = 0.02, t_end = 0.1 } }",
        cases[c].precision, cases[c].grid,
        strcmp(cases[c].scheme, "exact") == 0
            ? ""
            : "rates = function(u, v, x, t, member) return u*(1 - u) + 0.1*member*v*x, 0.2*u*member - v + t end,",
        cases[c].scheme);
    diffusion_parameters *p = parameters_of(text);
    begin(&cpu, p, &sim_backend_cpu, NULL);
    begin(&gpu, p, &sim_backend_cuda, NULL);
    run_to(&cpu, 3), run_to(&gpu, 3);
    expect_near(&cpu, &gpu, p, bound_of(single));
    sim_array saved[SAVED_MAX];
    const sim_frame frame = saved_of(&gpu, saved);
    begin(&again, p, &sim_backend_cuda, &frame);
    forget(&frame);
    run_to(&cpu, INT64_MAX), run_to(&gpu, INT64_MAX), run_to(&again, INT64_MAX);
    expect_near(&cpu, &gpu, p, bound_of(single));
    expect_near(&gpu, &again, p, 0);
    end(&cpu), end(&gpu), end(&again);
    release(p);
  }
}

/* A run that is restored continues with the same bits, and outputs change none. */
static void test_restart(void **state) {
  (void)state;
  for (int i = 0; i < 2 * DIFFUSION_SCHEMES; i++) { /* every other one by two passes a stage, where there are rates */
    char text[2048];
    system_run one, two, three;
    if (!is_mine()) continue;
    const int scheme = i / 2, kind[3] = {i % 2 ? 0 : scheme % 3, 0, 1};
    diffusion_parameters *p = scenario_of(scheme, kind, i % 2 ? (shape){{512, 256}} : (shape){{24, 15, 8}},
                                          i % 2 || scheme % 2, false, false, text, sizeof text);
    begin(&one, p, &sim_backend_cuda, NULL);
    begin(&two, p, &sim_backend_cuda, NULL);
    run_to(&two, 3);
    sim_array saved[SAVED_MAX];
    const sim_frame frame = saved_of(&two, saved);
    begin(&three, p, &sim_backend_cuda, &frame);
    run_to(&one, INT64_MAX), run_to(&two, INT64_MAX), run_to(&three, INT64_MAX);
    look(&one), look(&two), look(&three);
    for (int f = 0; f < 2; f++) {
      void *a = on_host(&one, 1 + f), *b = on_host(&two, 1 + f), *c = on_host(&three, 1 + f);
      const size_t bytes = sim_array_bytes(&one.arrays[1 + f]);
      if (memcmp(a, b, bytes) != 0) fail_msg("%s: a look changes bits", text);
      if (memcmp(a, c, bytes) != 0) fail_msg("%s: a restart changes bits", text);
      free(a), free(b), free(c);
    }
    forget(&frame);
    end(&one), end(&two), end(&three);
    release(p);
  }
}

/* test_parity_diffusion [NAME [SHARE SHARES]]: one test alone, or every SHARES-th of its cases. */
int main(int argc, char **argv) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 1) return run_shared(argv[0]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_passes), cmocka_unit_test(test_flat),
                                     cmocka_unit_test(test_axes),       cmocka_unit_test(test_restart),
                                     cmocka_unit_test(test_ensemble),   cmocka_unit_test(test_terms),
                                     cmocka_unit_test(test_noise),      cmocka_unit_test(test_resolution),
                                     cmocka_unit_test(test_sizes),      cmocka_unit_test(test_boundaries)};
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
