#include "lua/dates/date.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const scenario_day_count_names[] = {"ACT/365F", "ACT/360", "ACT/ACT", "30/360", "30E/360", NULL};
const char *const scenario_roll_names[] = {"following", "modified_following", "preceding", "none", NULL};

enum { FIRST_YEAR = 1900, LAST_YEAR = 2199, UNIX_YEAR = 1970 };

typedef struct civil {
  int64_t year, month, day;
} civil;

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int64_t month_length(int64_t year, int64_t month) {
  static const int64_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : length[month - 1];
}

/* Days from January 1 of the year 1 until January 1 of a year. */
static int64_t days_before(int64_t year) {
  const int64_t y = year - 1;
  return 365 * y + y / 4 - y / 100 + y / 400;
}

static int64_t day_of(civil c) {
  int64_t day = days_before(c.year) - days_before(UNIX_YEAR) + c.day - 1;
  for (int64_t m = 1; m < c.month; m++) day += month_length(c.year, m);
  return day;
}

static civil civil_of(int64_t day) {
  civil c = {UNIX_YEAR + day / 366, 1, 1};
  while (c.year > FIRST_YEAR - 1 && day < day_of((civil){c.year, 1, 1})) c.year--;
  while (day >= day_of((civil){c.year + 1, 1, 1})) c.year++;
  int64_t left = day - day_of((civil){c.year, 1, 1});
  while (left >= month_length(c.year, c.month)) left -= month_length(c.year, c.month++);
  c.day = left + 1;
  return c;
}

static bool read_digits(const char *text, int count, int64_t *out) {
  *out = 0;
  for (int i = 0; i < count; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    *out = 10 * *out + (text[i] - '0');
  }
  return true;
}

bool scenario_date_read(const char *text, size_t size, int64_t *day) {
  civil c;
  if (size != SCENARIO_DATE_TEXT - 1 || text[4] != '-' || text[7] != '-') return false;
  if (!read_digits(text, 4, &c.year) || !read_digits(text + 5, 2, &c.month) || !read_digits(text + 8, 2, &c.day))
    return false;
  if (c.year < FIRST_YEAR || c.year > LAST_YEAR || c.month < 1 || c.month > 12) return false;
  if (c.day < 1 || c.day > month_length(c.year, c.month)) return false;
  *day = day_of(c);
  return true;
}

void scenario_date_write(int64_t day, char out[SCENARIO_DATE_TEXT]) {
  const civil c = civil_of(day);
  out[SCENARIO_DATE_TEXT - 1] = '\0';
  out[4] = out[7] = '-';
  int64_t year = c.year;
  for (int i = 3; i >= 0; i--, year /= 10) out[i] = (char)('0' + year % 10);
  for (int i = 0; i < 2; i++) {
    const int64_t part = i == 0 ? c.month : c.day;
    out[5 + 3 * i] = (char)('0' + part / 10);
    out[6 + 3 * i] = (char)('0' + part % 10);
  }
}

/* ---- day counts ---- */

static double actual(int64_t from, int64_t to) {
  const int64_t first = civil_of(from).year, last = civil_of(to).year;
  double sum = 0;
  for (int64_t year = first; year <= last; year++) {
    const int64_t begin = day_of((civil){year, 1, 1}), end = day_of((civil){year + 1, 1, 1});
    const int64_t a = from > begin ? from : begin, b = to < end ? to : end;
    sum += (double)(b - a) / (is_leap(year) ? 366 : 365);
  }
  return sum;
}

static double thirty(int64_t from, int64_t to, bool european) {
  const civil a = civil_of(from), b = civil_of(to);
  const int64_t first = a.day == 31 ? 30 : a.day, last = b.day == 31 && (european || first == 30) ? 30 : b.day;
  return (double)(360 * (b.year - a.year) + 30 * (b.month - a.month) + last - first) / 360;
}

double scenario_year_fraction(scenario_day_count count, int64_t from, int64_t to) {
  if (from > to) return -scenario_year_fraction(count, to, from);
  switch (count) {
  case SCENARIO_ACT_360: return (double)(to - from) / 360;
  case SCENARIO_ACT_ACT: return actual(from, to);
  case SCENARIO_30_360: return thirty(from, to, false);
  case SCENARIO_30E_360: return thirty(from, to, true);
  default: return (double)(to - from) / 365;
  }
}

/* ---- business days ---- */

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

void scenario_sort_days(int64_t *day, size_t count) { qsort(day, count, sizeof *day, compare); }

bool scenario_is_business_day(const scenario_holidays *holidays, int64_t day) {
  const int64_t weekday = ((day + 3) % 7 + 7) % 7; /* 0: Monday; 1970-01-01 was a Thursday */
  if (weekday >= 5) return false;
  return holidays->count == 0 || bsearch(&day, holidays->day, holidays->count, sizeof *holidays->day, compare) == NULL;
}

static int64_t next_day(const scenario_holidays *holidays, int64_t day, int64_t by) {
  while (!scenario_is_business_day(holidays, day)) day += by;
  return day;
}

int64_t scenario_roll_day(const scenario_holidays *holidays, scenario_roll roll, int64_t day) {
  if (roll == SCENARIO_NO_ROLL) return day;
  if (roll == SCENARIO_PRECEDING) return next_day(holidays, day, -1);
  const int64_t later = next_day(holidays, day, 1);
  if (roll == SCENARIO_MODIFIED_FOLLOWING && civil_of(later).month != civil_of(day).month)
    return next_day(holidays, day, -1);
  return later;
}

/* ---- periods ---- */

bool scenario_period_read(const char *text, size_t size, scenario_period *out) {
  const bool negative = size > 0 && *text == '-';
  const size_t digits = size - 1 - negative;
  if (size < 2 + (size_t)negative || digits > 4) return false;
  if (!read_digits(text + negative, (int)digits, &out->number)) return false;
  out->unit = text[size - 1];
  if (negative) out->number = -out->number;
  return out->unit != '\0' && strchr("DBWMY", out->unit) != NULL;
}

static int64_t add_months(int64_t day, int64_t months) {
  const civil c = civil_of(day);
  const int64_t all = 12 * c.year + c.month - 1 + months, year = all / 12, month = all % 12 + 1;
  if (all < 0 || year < FIRST_YEAR || year > LAST_YEAR) return INT64_MIN;
  const int64_t most = month_length(year, month);
  return day_of((civil){year, month, c.day < most ? c.day : most});
}

int64_t scenario_add_period(const scenario_holidays *holidays, int64_t day, scenario_period period, int64_t times) {
  const int64_t number = period.number * times, by = number < 0 ? -1 : 1;
  const int64_t first = day_of((civil){FIRST_YEAR, 1, 1}), last = day_of((civil){LAST_YEAR, 12, 31});
  if (number > 200000 || number < -200000) return INT64_MIN;
  if (period.unit == 'M' || period.unit == 'Y') return add_months(day, period.unit == 'Y' ? 12 * number : number);
  if (period.unit == 'B')
    for (int64_t left = number; left != 0; left -= by) {
      day = next_day(holidays, day + by, by);
      if (day < first || day > last) return INT64_MIN;
    }
  else
    day += period.unit == 'W' ? 7 * number : number;
  return day < first || day > last ? INT64_MIN : day;
}
