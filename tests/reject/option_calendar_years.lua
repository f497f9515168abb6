-- expect: 65 option_calendar_years.lua:3: calendar.date: the dates leave the years 1900 to 2199
local c = sim.calendar { today = "2026-03-02" }
local t = c.date("2026-03-02", "999Y")
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
