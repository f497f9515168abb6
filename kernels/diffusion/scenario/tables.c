/* Tables of a run, whose columns are named after its fields, and their form in `sim describe`. */
#include "kernels/diffusion/observe.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns of the tables of a run, and their names. */
struct diffusion_table_columns {
  char names[DIFFUSION_FIELDS][DIFFUSION_STATISTICS][96], extra[6][SIM_COLUMNS_MAX][96], bins[SIM_COLUMNS_MAX][32];
  sim_field fields[(int)DIFFUSION_FIELDS * DIFFUSION_STATISTICS + 1], more[7][SIM_COLUMNS_MAX + 1],
      binned[6][SIM_COLUMNS_MAX + 1];
};

static const char *drawn_doc(const diffusion_parameters *p, int number) {
  const int component = number - (int)(p->derived.count + p->observe.count);
  if (number < (int)p->derived.count) return "derived field";
  return component < 0 ? "function of observe" : component == DIFFUSION_PRESSURE ? "pressure" : "component of the curl";
}

static void name_columns(diffusion_parameters *p) {
  static const char *const kinds[DIFFUSION_STATISTICS] = {"mean", "variance", "min", "max", "mass"};
  static const char *const docs[DIFFUSION_STATISTICS] = {"mean over the grid", "variance over the grid",
                                                         "minimum over the grid", "maximum over the grid",
                                                         "integral over the box"};
  static const sim_display displays[DIFFUSION_STATISTICS] = {
      [0] = SIM_DISPLAY_BAND, [2] = SIM_DISPLAY_BAND, [3] = SIM_DISPLAY_BAND};
  sim_field *column = p->columns->fields;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const char *name = diffusion_field_of(p, f)->name;
    p->state[f] =
        (sim_field){.name = name, .type = SIM_REAL, .doc = "field", .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT};
    for (int k = 0; k < DIFFUSION_STATISTICS; k++, column++) {
      snprintf(p->columns->names[f][k], sizeof p->columns->names[f][k], "%s_%s", name, kinds[k]);
      *column = (sim_field){.name = p->columns->names[f][k], .type = SIM_REAL, .doc = docs[k], .display = displays[k]};
    }
  }
  column->name = NULL;
  int drawn[DIFFUSION_DRAWN];
  for (int i = 0, count = diffusion_drawn(p, drawn); i < count; i++)
    p->state[p->fields.count + (size_t)i] = (sim_field){.name = diffusion_drawn_name(p, drawn[i]),
                                                        .type = SIM_REAL,
                                                        .doc = drawn_doc(p, drawn[i]),
                                                        .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT};
}

static void add_table(diffusion_parameters *p, int *count, diffusion_tables_kind kind, const char *name,
                      const char *doc, const sim_field *columns) {
  p->table[*count] = (sim_table){.name = name, .doc = doc, .columns = columns};
  p->kinds[*count] = (int)kind;
  p->tables[*count] = &p->table[*count];
  p->tables[++*count] = NULL;
}

/* Adds columns u_0, u_1, ... of each of `fields` fields and drawn fields, from number `first` on. */
static void numbered(diffusion_parameters *p, int which, int named, int fields, int64_t each, int64_t first,
                     const char *doc, sim_display display) {
  sim_field *column = p->columns->more[which];
  for (int f = 0; f < fields; f++)
    for (int64_t i = 0; i < each; i++, column++) {
      char *name = p->columns->extra[named][column - p->columns->more[which]];
      snprintf(name, sizeof p->columns->extra[named][0], "%s_%lld", p->state[f].name, (long long)(first + i));
      *column = (sim_field){.name = name, .type = SIM_REAL, .doc = doc, .display = display};
    }
  column->name = NULL;
}

static void over_members(diffusion_parameters *p) {
  static const char *const kinds[DIFFUSION_OVER_MEMBERS] = {"mean", "mean_variance", "variance", "variance_variance"};
  static const char *const docs[DIFFUSION_OVER_MEMBERS] = {
      "mean over members of their means over the grid", "variance over members of their means over the grid",
      "mean over members of their variances over the grid", "variance over members of their variances over the grid"};
  sim_field *column = p->columns->more[3];
  for (int f = 0; f < (int)p->fields.count; f++)
    for (int k = 0; k < DIFFUSION_OVER_MEMBERS; k++, column++) {
      char *name = p->columns->extra[2][column - p->columns->more[3]];
      snprintf(name, sizeof p->columns->extra[2][0], "%s_%s", diffusion_field_of(p, f)->name, kinds[k]);
      *column = (sim_field){.name = name, .type = SIM_REAL, .doc = docs[k]};
    }
  column->name = NULL;
}

/* Names, columns and docs of the budget tables of the solenoidal vector, [quantity][content, transfer, dissipation]. */
static const char *const vector_tables[2][3] = {{"enstrophy", "enstrophy_transfer", "enstrophy_dissipation"},
                                                {"helicity", "helicity_transfer", "helicity_dissipation"}};
static const char *const vector_docs[2][3] = {
    {"half the mean square of the curl, in the bin", "what the rates add to the enstrophy of the bin in a unit of time",
     "what linear terms take off the enstrophy of the bin in a unit of time"},
    {"mean of the vector times its curl, in the bin", "what the rates add to the helicity of the bin in a unit of time",
     "what linear terms take off the helicity of the bin in a unit of time"}};

static void vector_budgets(diffusion_parameters *p, int *count) {
  for (int q = 0; q < 2; q++) {
    const int64_t bins = q == 0 ? p->enstrophy : p->helicity;
    for (int i = 0; i < 3 && bins > 0; i++) {
      sim_field *columns = p->columns->binned[3 * q + i];
      for (int64_t b = 0; b < bins; b++) {
        snprintf(p->columns->bins[b], sizeof p->columns->bins[b], "bin_%lld", (long long)b);
        columns[b] = (sim_field){
            .name = p->columns->bins[b], .type = SIM_REAL, .doc = vector_docs[q][i], .display = SIM_DISPLAY_PROFILE};
      }
      columns[bins].name = NULL;
      add_table(p, count, (diffusion_tables_kind)(DIFFUSION_VECTOR_BUDGETS + 3 * q + i), vector_tables[q][i],
                vector_docs[q][i], columns);
    }
  }
}

static void structure_table(diffusion_parameters *p, int *count) {
  sim_field *column = p->columns->more[6];
  const int kinds = p->grid.n.rows > 1 ? 2 : 1; /* one axis has no columns `across` */
  for (int k = 0; k < kinds && p->structure.given; k++)
    for (int64_t i = 0; i < p->structure.separations; i++, column++) {
      char *name = p->columns->extra[5][column - p->columns->more[6]];
      snprintf(name, sizeof p->columns->extra[5][0], "%s_%lld", k == 0 ? "along" : "across", 1LL << i);
      *column = (sim_field){.name = name,
                            .type = SIM_REAL,
                            .doc = k == 0 ? "moment of increments over so many cells, of the component along them"
                                          : "moment of increments over so many cells, of the components across them"};
    }
  column->name = NULL;
  if (p->structure.given)
    add_table(p, count, DIFFUSION_STRUCTURE, "structure", "structure functions of the velocity", p->columns->more[6]);
}

static const sim_field forcing_columns[] = {
    {.name = "energy", .type = SIM_REAL, .doc = "half the mean square of the forced fields"},
    {.name = "input",
     .type = SIM_REAL,
     .doc = "power: what the forcing adds to the energy in a unit of time",
     .display = SIM_DISPLAY_NUMBER},
    {.name = "work", .type = SIM_REAL, .doc = "what the forcing has added since the start, power times the time"},
    {0}};

static const sim_field lyapunov_columns[] = {
    {.name = "interval",
     .type = SIM_REAL,
     .doc = "exponent of the last interval between two resets of the distance; NaN before"},
    {.name = "exponent",
     .type = SIM_REAL,
     .doc = "mean of all intervals since `start`: the largest Lyapunov exponent; NaN before"},
    {.name = "error",
     .type = SIM_REAL,
     .doc = "standard error of that mean, from the means of blocks of intervals and what neighbours have in common; "
            "NaN: fewer than 8 intervals"},
    {.name = "intervals", .type = SIM_REAL, .doc = "intervals since `start`", .display = SIM_DISPLAY_NUMBER},
    {0}};

static const sim_field implicit_columns[] = {
    {.name = "systems", .type = SIM_REAL, .doc = "systems of equations solved since the start, four a step"},
    {.name = "iterations", .type = SIM_REAL, .doc = "iterations of all these systems"},
    {.name = "most", .type = SIM_REAL, .doc = "most iterations of one system", .display = SIM_DISPLAY_NUMBER},
    {0}};

void diffusion_release(void *parameters) {
  diffusion_parameters *p = parameters;
  free(p->columns);
  p->columns = NULL;
}

sim_status diffusion_name_tables(diffusion_parameters *p) {
  static const char *const docs[] = {"integral over the box", "mean over the grid", "least of the grid",
                                     "greatest of the grid"};
  int count = 0, drawn[DIFFUSION_DRAWN];
  const int fields = (int)p->fields.count;
  if (!p->columns && !(p->columns = calloc(1, sizeof *p->columns))) return sim_no_memory("the tables");
  name_columns(p);
  add_table(p, &count, DIFFUSION_FIELD_TABLE, "fields", "statistics of each field", p->columns->fields);
  for (size_t i = 0; i < p->observe.count; i++)
    p->columns->more[2][i] = (sim_field){.name = p->observe.items[i].name,
                                         .type = SIM_REAL,
                                         .doc = docs[p->observe.items[i].reduce],
                                         .flags = SIM_REPORTED,
                                         .display = SIM_DISPLAY_ALONE};
  if (p->observe.count > 0)
    add_table(p, &count, DIFFUSION_FUNCTIONS, "observe", "functions of the scenario", p->columns->more[2]);
  numbered(p, 0, 0, fields, p->spectrum, 0, "power of the wavenumbers about so many times the least one",
           SIM_DISPLAY_SPECTRUM);
  if (p->spectrum > 0) add_table(p, &count, DIFFUSION_SPECTRA, "spectrum", "power by |k|", p->columns->more[0]);
  numbered(p, 1, 1, fields + diffusion_drawn(p, drawn), (int64_t)p->probes.rows, 1,
           "value at the point: of the cell that holds it", SIM_DISPLAY_LINE);
  if (p->probes.rows > 0) add_table(p, &count, DIFFUSION_PROBES, "probes", "fields at points", p->columns->more[1]);
  if (p->members > 1) {
    over_members(p);
    add_table(p, &count, DIFFUSION_ENSEMBLE, "ensemble", "statistics over members", p->columns->more[3]);
  }
  numbered(p, 4, 3, fields, p->transfer, 0, "half of what the rates add to the power of the bin in a unit of time",
           SIM_DISPLAY_PROFILE);
  numbered(p, 5, 4, fields, p->transfer, 0, "half of what linear terms take off the power of the bin in a unit of time",
           SIM_DISPLAY_PROFILE);
  if (p->transfer > 0) {
    add_table(p, &count, DIFFUSION_TRANSFER, "transfer", "transfer by |k|", p->columns->more[4]);
    add_table(p, &count, DIFFUSION_DISSIPATION, "dissipation", "dissipation by |k|", p->columns->more[5]);
  }
  vector_budgets(p, &count);
  structure_table(p, &count);
  if (p->forcing.given)
    add_table(p, &count, DIFFUSION_FORCING_TABLE, "forcing", "energy of the forced fields", forcing_columns);
  if (p->lyapunov.given)
    add_table(p, &count, DIFFUSION_LYAPUNOV_TABLE, "lyapunov", "largest Lyapunov exponent", lyapunov_columns);
  if (diffusion_implicit(p))
    add_table(p, &count, DIFFUSION_IMPLICIT_TABLE, "implicit", "equations of implicit steps", implicit_columns);
  return SIM_OK;
}

const sim_table *const *diffusion_tables_of(const void *parameters) {
  const diffusion_parameters *p = parameters;
  return p->tables;
}

/* ---- described ---- */

#define COLUMN(text, words)                                                                                            \
  { .name = text, .type = SIM_REAL, .doc = words }

static const sim_field described_fields[] = {
    COLUMN("FIELD_mean", "mean over the grid"),    COLUMN("FIELD_variance", "variance over the grid"),
    COLUMN("FIELD_min", "minimum over the grid"),  COLUMN("FIELD_max", "maximum over the grid"),
    COLUMN("FIELD_mass", "integral over the box"), {0}};
static const sim_field described_functions[] = {
    COLUMN("NAME", "the function NAME of `observe`: its integral, mean, min or max"), {0}};
static const sim_field described_spectra[] = {
    COLUMN("FIELD_BIN", "power of the wavenumbers near BIN = 0, 1, 2, ... times the smallest one"), {0}};
static const sim_field described_probes[] = {COLUMN("FIELD_POINT", "value in the cell that contains POINT = 1, 2, ..."),
                                             {0}};
static const sim_field described_ensemble[] = {
    COLUMN("FIELD_mean", "mean over members of their means over the grid"),
    COLUMN("FIELD_mean_variance", "variance over members of their means over the grid"),
    COLUMN("FIELD_variance", "mean over members of their variances over the grid"),
    COLUMN("FIELD_variance_variance", "variance over members of their variances over the grid"),
    {0}};
static const sim_field described_transfer[] = {
    COLUMN("FIELD_BIN", "half of what the rates add to the power of BIN = 0, 1, 2, ... in a unit of time"), {0}};
static const sim_field described_dissipation[] = {
    COLUMN("FIELD_BIN", "half of what linear terms take off the power of BIN = 0, 1, 2, ... in a unit of time"), {0}};
static const sim_field described_bins[] = {COLUMN("bin_BIN", "value of BIN = 0, 1, 2, ..."), {0}};
static const sim_field described_structure[] = {
    COLUMN("along_CELLS", "moment of increments over CELLS = 1, 2, 4, ... cells, of the component along them"),
    COLUMN("across_CELLS", "the same of the components across them"),
    {0}};
static const sim_table described[] = {
    {"fields", "statistics of each field, always", described_fields},
    {"observe", "functions of the scenario; with observe", described_functions},
    {"spectrum", "power by |k|; with spectrum", described_spectra},
    {"probes", "fields at points; with probes", described_probes},
    {"ensemble", "statistics over members; with members", described_ensemble},
    {"transfer", "transfer by |k|; with transfer", described_transfer},
    {"dissipation", "dissipation by |k|; with transfer", described_dissipation},
    {"forcing", "energy of the forced fields; with forcing", forcing_columns},
    {"lyapunov", "largest Lyapunov exponent; with lyapunov", lyapunov_columns},
    {"enstrophy", "half the mean square of the curl; with enstrophy", described_bins},
    {"enstrophy_transfer", "what rates add; with enstrophy", described_bins},
    {"enstrophy_dissipation", "what linear terms take off; with enstrophy", described_bins},
    {"helicity", "mean of vector times curl; with helicity", described_bins},
    {"helicity_transfer", "what rates add; with helicity", described_bins},
    {"helicity_dissipation", "what linear terms take off; with helicity", described_bins},
    {"structure", "structure functions; with structure", described_structure},
    {"implicit", "equations of implicit steps; with rodas3", implicit_columns}};
const sim_table *const diffusion_described[] = {
    &described[0],  &described[1],  &described[2],  &described[3],  &described[4],  &described[5],
    &described[6],  &described[7],  &described[8],  &described[9],  &described[10], &described[11],
    &described[12], &described[13], &described[14], &described[15], &described[16], NULL};
