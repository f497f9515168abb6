-- expect: 65 option_calendar_period.lua:3: calendar.date: expected a period such as "3M" (D, B: business days, W, M, Y), got 3 months
local c = sim.calendar { today = "2026-03-02" }
local t = c.date("2026-03-02", "3 months")
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
