"""Rows of dates_known.inc, by QuantLib (pip install QuantLib): python3 dates.py > dates_known.inc"""

import calendar
import datetime
import random

import QuantLib as ql

random.seed(5)
COUNTS = [
    ql.Actual365Fixed(),
    ql.Actual360(),
    ql.ActualActual(ql.ActualActual.ISDA),
    ql.Thirty360(ql.Thirty360.BondBasis),
    ql.Thirty360(ql.Thirty360.EurobondBasis),
]
ROLLS = [ql.Following, ql.ModifiedFollowing, ql.Preceding, ql.Unadjusted]
HOLIDAYS = ["2026-01-01", "2026-04-03", "2026-04-06", "2026-05-01", "2026-07-31", "2026-12-25", "2027-01-01"]


def date(text):
    y, m, d = map(int, text.split("-"))
    return ql.Date(d, m, y)


def end_of_month(year, month):
    return datetime.date(year, month, calendar.monthrange(year, month)[1]).isoformat()


pairs = [("2026-03-01", "2027-03-01"), ("2023-11-01", "2024-05-01"), ("2024-02-29", "2025-02-28")]
pairs += [(end_of_month(2023, m), end_of_month(2024, m + 1)) for m in (1, 2, 3)]
pairs += [("2026-01-30", "2026-03-31"), ("2026-01-29", "2026-03-31"), ("1999-12-31", "2101-07-15")]
days = ql.BespokeCalendar("days")
days.addWeekend(ql.Saturday)
days.addWeekend(ql.Sunday)
for holiday in HOLIDAYS:
    days.addHoliday(date(holiday))

print("/* Written by dates.py: QuantLib", ql.__version__, "*/")
print("static const fraction fractions[] = {")
for a, b in pairs:
    print(f'    {{"{a}", "{b}", {{' + ", ".join(repr(c.yearFraction(date(a), date(b))) for c in COUNTS) + "}},")
print("};")
print("static const char *const holidays[] = {" + ", ".join(f'"{h}"' for h in HOLIDAYS) + "};")
print("static const roll rolls[] = {")
for a in ["2026-01-31", "2026-02-28", "2026-04-03", "2026-05-01", "2026-05-31", "2026-07-31", "2026-12-24", "2027-01-02"]:
    print(f'    {{"{a}", {{' + ", ".join(f'"{days.adjust(date(a), r).ISO()}"' for r in ROLLS) + "}},")
print("};")
print("static const added sums[] = {")
for a, n, unit in [("2026-01-31", 1, "M"), ("2024-02-29", 1, "Y"), ("2026-10-31", -8, "M"), ("2026-04-02", 1, "B"),
                   ("2026-04-07", -2, "B"), ("2026-12-24", 5, "B"), ("2026-02-25", 2, "W"), ("2026-02-25", 10, "D")]:
    period = ql.Period(n, {"D": ql.Days, "W": ql.Weeks, "M": ql.Months, "Y": ql.Years}.get(unit, ql.Days))
    out = days.advance(date(a), n, ql.Days) if unit == "B" else date(a) + period
    print(f'    {{"{a}", "{n}{unit}", "{out.ISO()}"}},')
print("};")
schedule = ql.Schedule(date("2026-01-31"), date("2027-01-15"), ql.Period("1M"), days, ql.ModifiedFollowing,
                       ql.ModifiedFollowing, ql.DateGeneration.Forward, False)
print("/* Monthly from 2026-01-31 to 2027-01-15, modified following, without the first date. */")
print("static const char *const monthly[] = {" + ", ".join(f'"{d.ISO()}"' for d in list(schedule)[1:]) + "};")
