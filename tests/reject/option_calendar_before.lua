-- expect: 65 option_calendar_before.lua:3: calendar.time: 2026-02-27 lies before today, 2026-03-02
local c = sim.calendar { today = "2026-03-02" }
local t = c.time "2026-02-27"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
