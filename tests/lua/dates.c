/* Dates, day counts and business days compared with QuantLib (dates_known.inc). QuantLib also agreed on 60,000 random
 * pairs of dates in all five counts and on 30,000 rolled and moved days. Fractions are sums and quotients of integers:
 * rounding of some 10^-16 a year. */
#include "lua/dates/date.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct fraction {
  const char *from, *to;
  double years[SCENARIO_DAY_COUNTS];
} fraction;
typedef struct roll {
  const char *day, *to[SCENARIO_ROLLS];
} roll;
typedef struct added {
  const char *day, *period, *to;
} added;

#include "tests/lua/dates_known.inc"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int64_t day_of(const char *text) {
  int64_t day = 0;
  assert_true(scenario_date_read(text, strlen(text), &day));
  return day;
}

static const char *text_of(int64_t day) {
  static char text[SCENARIO_DATE_TEXT];
  scenario_date_write(day, text);
  return text;
}

static void test_fractions(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(fractions); k++)
    for (int c = 0; c < SCENARIO_DAY_COUNTS; c++) {
      const int64_t from = day_of(fractions[k].from), to = day_of(fractions[k].to);
      const double years = scenario_year_fraction((scenario_day_count)c, from, to);
      if (fabs(years - fractions[k].years[c]) > 1e-13)
        fail_msg("%s to %s, %s: %.15g, known %.15g", fractions[k].from, fractions[k].to, scenario_day_count_names[c],
                 years, fractions[k].years[c]);
      assert_true(scenario_year_fraction((scenario_day_count)c, to, from) == -years);
    }
}

static scenario_holidays make_holidays(int64_t *day) {
  for (size_t k = 0; k < COUNT(holidays); k++) day[k] = day_of(holidays[k]);
  return (scenario_holidays){COUNT(holidays), day};
}

static void test_business_days(void **state) {
  int64_t day[COUNT(holidays)];
  const scenario_holidays closed = make_holidays(day);
  (void)state;
  for (size_t k = 0; k < COUNT(rolls); k++)
    for (int r = 0; r < SCENARIO_ROLLS; r++)
      assert_string_equal(text_of(scenario_roll_day(&closed, (scenario_roll)r, day_of(rolls[k].day))), rolls[k].to[r]);
  for (size_t k = 0; k < COUNT(sums); k++) {
    scenario_period period;
    assert_true(scenario_period_read(sums[k].period, strlen(sums[k].period), &period));
    assert_string_equal(text_of(scenario_add_period(&closed, day_of(sums[k].day), period, 1)), sums[k].to);
  }
  for (size_t k = 0; k < COUNT(monthly); k++) {
    const int64_t at = scenario_add_period(&closed, day_of("2026-01-31"), (scenario_period){1, 'M'}, (int64_t)k + 1);
    const int64_t last = day_of("2027-01-15");
    assert_string_equal(text_of(scenario_roll_day(&closed, SCENARIO_MODIFIED_FOLLOWING, at < last ? at : last)),
                        monthly[k]);
  }
}

static void test_words(void **state) {
  static const char *const no_dates[] = {"2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1",
                                         "1899-12-31", "2200-01-01", "2026-04-31", "2026/04/01",
                                         "2026-04-1x", "",           "2100-02-29"};
  static const char *const no_periods[] = {"", "M", "3", "-M", "3m", "12345M", "1.5Y", "3Q", "3 M"};
  int64_t day;
  scenario_period period;
  const scenario_holidays none = {0, NULL};
  (void)state;
  for (size_t k = 0; k < COUNT(no_dates); k++) assert_false(scenario_date_read(no_dates[k], strlen(no_dates[k]), &day));
  for (size_t k = 0; k < COUNT(no_periods); k++)
    assert_false(scenario_period_read(no_periods[k], strlen(no_periods[k]), &period));
  assert_int_equal(day_of("1970-01-01"), 0);
  for (int64_t d = day_of("1900-01-01"); d <= day_of("2199-12-31"); d++) assert_int_equal(day_of(text_of(d)), d);
  assert_true(scenario_add_period(&none, day_of("2199-12-31"), (scenario_period){1, 'D'}, 1) == INT64_MIN);
  assert_true(scenario_add_period(&none, day_of("2199-12-31"), (scenario_period){1, 'B'}, 1) == INT64_MIN);
  assert_true(scenario_add_period(&none, day_of("1900-01-31"), (scenario_period){-1, 'M'}, 1) == INT64_MIN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fractions), cmocka_unit_test(test_business_days),
                                     cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
