/* Converts a scenario's units, such as "km/s", "1e10 Msun" or "pc^3", to an SI value and a dimension. */
#include "engine/schema/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Astronomical constants: IAU 2012 B2 (au), IAU 2015 B2 and B3 (parsec, nominal solar and planetary values). Masses are
 * GM of these resolutions divided by G = 6.67430e-11 (CODATA 2018). The year is the Julian year. */
static const struct {
  const char *name;
  double si;
  sim_dimension dimension;
} units[] = {
    {"m", 1, {1, 0, 0}},
    {"cm", 1e-2, {1, 0, 0}},
    {"mm", 1e-3, {1, 0, 0}},
    {"um", 1e-6, {1, 0, 0}},
    {"km", 1e3, {1, 0, 0}},
    {"Rearth", 6.3781e6, {1, 0, 0}},
    {"Rsun", 6.957e8, {1, 0, 0}},
    {"au", 149597870700., {1, 0, 0}},
    {"AU", 149597870700., {1, 0, 0}},
    {"ly", 9460730472580800., {1, 0, 0}},
    {"pc", 3.0856775814913673e16, {1, 0, 0}},
    {"kpc", 3.0856775814913673e19, {1, 0, 0}},
    {"Mpc", 3.0856775814913673e22, {1, 0, 0}},
    {"Gpc", 3.0856775814913673e25, {1, 0, 0}},
    {"mg", 1e-6, {0, 1, 0}},
    {"g", 1e-3, {0, 1, 0}},
    {"kg", 1, {0, 1, 0}},
    {"Mearth", 3.986004e14 / 6.67430e-11, {0, 1, 0}},
    {"Mjup", 1.2668653e17 / 6.67430e-11, {0, 1, 0}},
    {"Msun", 1.3271244e20 / 6.67430e-11, {0, 1, 0}},
    {"us", 1e-6, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},
    {"s", 1, {0, 0, 1}},
    {"min", 60, {0, 0, 1}},
    {"h", 3600, {0, 0, 1}},
    {"day", 86400, {0, 0, 1}},
    {"yr", 31557600., {0, 0, 1}},
    {"kyr", 31557600e3, {0, 0, 1}},
    {"Myr", 31557600e6, {0, 0, 1}},
    {"Gyr", 31557600e9, {0, 0, 1}},
    {"Hz", 1, {0, 0, -1}},
    {"kHz", 1e3, {0, 0, -1}},
    {"N", 1, {1, 1, -2}},
    {"mN", 1e-3, {1, 1, -2}},
    {"kN", 1e3, {1, 1, -2}},
    {"Pa", 1, {-1, 1, -2}},
    {"mPa", 1e-3, {-1, 1, -2}},
    {"hPa", 1e2, {-1, 1, -2}},
    {"kPa", 1e3, {-1, 1, -2}},
    {"MPa", 1e6, {-1, 1, -2}},
    {"GPa", 1e9, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"mbar", 1e2, {-1, 1, -2}},
    {"J", 1, {2, 1, -2}},
    {"kJ", 1e3, {2, 1, -2}},
    {"W", 1, {2, 1, -3}},
    {"kW", 1e3, {2, 1, -3}},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

double sim_units_si(const sim_units *scale, sim_dimension dimension) {
  if (!scale->given) return 1;
  return pow(scale->length, dimension.length) * pow(scale->mass, dimension.mass) * pow(scale->time, dimension.time);
}

static sim_status unknown_unit(const char *name) {
  const char *names[UNIT_COUNT];
  char known[8 * UNIT_COUNT] = "";
  for (size_t i = 0; i < UNIT_COUNT; i++) {
    names[i] = units[i].name;
    snprintf(known + strlen(known), sizeof known - strlen(known), " %s", names[i]);
  }
  const char *nearest = sim_nearest(name, names, UNIT_COUNT);
  return nearest
             ? sim_fail(SIM_ERR_SCENARIO, "unknown unit '%s', nearest is '%s'", name, nearest)
             : sim_fail(SIM_ERR_SCENARIO, "unknown unit '%s': known are%s, and products such as kg/m/s^2", name, known);
}

/* Parses NAME or NAME^INTEGER at *text and multiplies it into *si and `exponents`, with exponent times `sign`. */
static sim_status factor(const char **text, int sign, double *si, int exponents[3]) {
  char name[16];
  size_t length = 0;
  while (isalpha((unsigned char)(*text)[length])) length++;
  if (length == 0) return sim_fail(SIM_ERR_SCENARIO, "expected the name of a unit at '%s'", *text);
  if (length >= sizeof name) length = sizeof name - 1;
  memcpy(name, *text, length);
  name[length] = '\0';
  *text += length;
  long power = 1;
  if (**text == '^') {
    char *end;
    power = strtol(*text + 1, &end, 10);
    if (end == *text + 1 || power < -9 || power > 9 || power == 0)
      return sim_fail(SIM_ERR_SCENARIO, "expected an exponent of -9 to 9 after '%s^'", name);
    *text = end;
  }
  power *= sign;
  for (size_t i = 0; i < UNIT_COUNT; i++) {
    if (strcmp(units[i].name, name) != 0) continue;
    *si *= pow(units[i].si, (double)power);
    exponents[0] += (int)power * units[i].dimension.length;
    exponents[1] += (int)power * units[i].dimension.mass;
    exponents[2] += (int)power * units[i].dimension.time;
    return SIM_OK;
  }
  return unknown_unit(name);
}

double sim_number_parse(const char *text, char **end) {
  const char *digits = text + strspn(text, " \t\n\v\f\r");
  digits += *digits == '+' || *digits == '-';
  if (digits[0] != '0' || (digits[1] != 'x' && digits[1] != 'X')) return strtod(text, end);
  *end = (char *)(uintptr_t)text;
  return 0;
}

sim_status sim_unit_parse(const char *text, double *si, sim_dimension *dimension) {
  int exponents[3] = {0, 0, 0}, sign = 1;
  char *end;
  *si = sim_number_parse(text, &end);
  if (end == text)
    *si = 1;
  else if (!isfinite(*si))
    return sim_fail(SIM_ERR_SCENARIO, "'%s': the number is not finite", text);
  text = end;
  while (*text == ' ') text++;
  for (bool more = true; more;) {
    SIM_TRY(factor(&text, sign, si, exponents));
    while (*text == ' ') text++;
    more = *text != '\0';
    if (more && isdigit((unsigned char)*text))
      return sim_fail(SIM_ERR_SCENARIO, "expected '^' before '%s', as in m^2", text);
    if (more && *text != '*' && *text != '/') /* "km s" may be a slip for "km/s" */
      return sim_fail(SIM_ERR_SCENARIO, "expected '*' or '/' before '%s', as in Pa*s or km/s", text);
    sign = *text == '/' ? -1 : 1;
    if (more) text++;
    while (*text == ' ') text++;
  }
  for (int i = 0; i < 3; i++)
    if (abs(exponents[i]) > 100) return sim_fail(SIM_ERR_SCENARIO, "a unit to the power %d", exponents[i]);
  *dimension = (sim_dimension){(signed char)exponents[0], (signed char)exponents[1], (signed char)exponents[2]};
  return SIM_OK;
}

sim_status sim_cadence_parse(const char *text, const sim_units *scale, sim_cadence *out) {
  *out = (sim_cadence){SIM_NEVER, 0};
  if (strcmp(text, "never") == 0) return SIM_OK;
  if (strcmp(text, "ends") == 0) {
    out->kind = SIM_ENDS;
    return SIM_OK;
  }
  static const char expected[] = "\"never\", \"ends\", \"every 0.5\", \"every 100 steps\" or \"every 5 min\"";
  char *end;
  if (strncmp(text, "every ", 6) != 0) return sim_fail(SIM_ERR_SCENARIO, "%s", expected);
  double interval = sim_number_parse(text + 6, &end);
  if (end == text + 6) return sim_fail(SIM_ERR_SCENARIO, "%s", expected);
  while (*end == ' ') end++;
  double si;
  sim_dimension dimension;
  out->kind = SIM_EVERY_WALL;
  if (!*end) {
    out->kind = SIM_EVERY_TIME;
  } else if (strcmp(end, "steps") == 0 || strcmp(end, "step") == 0) {
    out->kind = SIM_EVERY_STEPS;
    if (interval > 0 && interval != floor(interval)) return sim_fail(SIM_ERR_SCENARIO, "an integer number of steps");
  } else if (strcmp(end, "min") == 0) {
    interval *= 60;
  } else if (strcmp(end, "h") == 0) {
    interval *= 3600;
  } else if (strcmp(end, "s") != 0) {
    if (!isalpha((unsigned char)*end) || sim_unit_parse(end, &si, &dimension) != SIM_OK || dimension.length ||
        dimension.mass || dimension.time != 1)
      return sim_fail(SIM_ERR_SCENARIO, "%s", expected);
    if (!scale->given)
      return sim_fail(SIM_ERR_SCENARIO, "an interval without unit: this scenario has no `units` table");
    out->kind = SIM_EVERY_TIME;
    interval *= si / scale->time;
  }
  if (!(interval > 0) || !isnormal(interval))
    return sim_fail(SIM_ERR_SCENARIO, "an interval above 0, and finite, after \"every\"");
  out->interval = interval;
  return SIM_OK;
}
