/* Days of the Gregorian calendar, fractions of years between them, and business days. */
#ifndef LUA_DATES_DATE_H
#define LUA_DATES_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCENARIO_DATE_TEXT = 11 }; /* bytes of "2026-03-01" */

/* A day is a number, counted from 1970-01-01. Reads YYYY-MM-DD of the years 1900 to 2199; false if it is not such a
 * date. */
bool scenario_date_read(const char *text, size_t size, int64_t *day);
void scenario_date_write(int64_t day, char out[SCENARIO_DATE_TEXT]);

/* Day counts with the names and definitions of the 2006 ISDA Definitions, section 4.16. */
typedef enum scenario_day_count {
  SCENARIO_ACT_365F, /* days/365 */
  SCENARIO_ACT_360,  /* days/360 */
  SCENARIO_ACT_ACT,  /* days in leap years/366 + days in other years/365 */
  SCENARIO_30_360, /* (f), Bond Basis: months of 30 days; day 31 counts as 30, at the end only if the first day is 30 */
  SCENARIO_30E_360,   /* (g), Eurobond Basis: months of 30 days; a day 31 is 30 */
  SCENARIO_DAY_COUNTS /* number of day counts */
} scenario_day_count;
extern const char *const scenario_day_count_names[SCENARIO_DAY_COUNTS + 1];
/* Years from one day to another; negative if `to` is earlier. */
double scenario_year_fraction(scenario_day_count count, int64_t from, int64_t to);

typedef enum scenario_roll {
  SCENARIO_FOLLOWING,          /* the next business day */
  SCENARIO_MODIFIED_FOLLOWING, /* the next one if it is in the same month, else the one before */
  SCENARIO_PRECEDING,          /* the business day before */
  SCENARIO_NO_ROLL,            /* the day itself */
  SCENARIO_ROLLS
} scenario_roll;
extern const char *const scenario_roll_names[SCENARIO_ROLLS + 1];

/* Sorts days in ascending order. */
void scenario_sort_days(int64_t *day, size_t count);
/* Holidays of a calendar. Saturdays, Sundays and holidays are not business days. */
typedef struct scenario_holidays {
  size_t count;
  const int64_t *day; /* [count], ascending; borrowed */
} scenario_holidays;
bool scenario_is_business_day(const scenario_holidays *holidays, int64_t day);
int64_t scenario_roll_day(const scenario_holidays *holidays, scenario_roll roll, int64_t day);

/* A period: a number of days, business days ("5B"), weeks, months or years. Months and years keep the day of the month,
 * or use the last day of a shorter month. */
typedef struct scenario_period {
  int64_t number;
  char unit; /* D, B, W, M or Y */
} scenario_period;
/* Reads a period such as "3M"; false if it is not one. The number may be negative, and has at most 4 digits. */
bool scenario_period_read(const char *text, size_t size, scenario_period *out);
/* The day `times` periods after `day`, not rolled; INT64_MIN if it is outside of 1900 to 2199. */
int64_t scenario_add_period(const scenario_holidays *holidays, int64_t day, scenario_period period, int64_t times);

#endif
