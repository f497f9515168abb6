/* Parameters of the paths that are written to a file: their table, and the rules between them. */
#include "kernels/option/result/paths.h"

#include "kernels/option/scenario/grid.h"

#include <math.h>

static const sim_field fields[] = {
    {SIM_FIELD(option_path_output, count), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 1e9,
     .doc = "number of paths: the first ones of the run"},
    {SIM_FIELD(option_path_output, every), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_STEPS_MAX, .initial = "0",
     .doc = "steps from one time that is written to the next; 0: 1, or dates"},
    {SIM_FIELD(option_path_output, dates), .type = SIM_NUMBERS, .flags = SIM_OR_FILE,
     .doc = "in place of every: times that are written, ascending; each becomes the end of a step"},
    {0}};
const sim_schema option_path_output_schema = {
    .doc = "paths that are written to a file", .fields = fields, .size = sizeof(option_path_output)};

void option_check_path_keys(const option_parameters *p, sim_faults *faults) {
  const option_path_output *o = &p->paths;
  if (!o->given) return;
  if (o->dates.rows > 0 && o->every > 0) sim_faults_add(faults, 0, "paths", "expected either dates or every, got both");
  for (size_t k = 0; k < o->dates.rows; k++) {
    const double t = o->dates.data[k], before = k > 0 ? o->dates.data[k - 1] : 0;
    if (t - before > 2 * OPTION_SAME_DATE * p->maturity && t <= p->maturity * (1 + OPTION_SAME_DATE)) continue;
    sim_faults_add(faults, 0, "paths.dates", "expected ascending times after 0, at most maturity = %.9g, got %.9g",
                   p->maturity, t);
    break;
  }
}

void option_check_path_output(const option_parameters *p, sim_faults *faults) {
  const option_path_output *o = &p->paths;
  const double bytes = option_path_numbers(p), most = 0x1p32;
  if (!o->given) return;
  if (o->every > p->steps)
    sim_faults_add(faults, 0, "paths.every", "expected at most steps = %lld, got %lld", (long long)p->steps,
                   (long long)o->every);
  if ((double)o->count > p->sampling.paths)
    sim_faults_add(faults, 0, "paths.count", "expected at most sampling.paths = %.0f, got %lld", p->sampling.paths,
                   (long long)o->count);
  if (bytes > most)
    sim_faults_add(faults, 0, "paths", "expected at most 4 GiB of numbers, got %.3g GiB: fewer paths, or every = %lld",
                   bytes / 0x1p30, (long long)(ceil(bytes / most) * fmax((double)o->every, 1)));
}
