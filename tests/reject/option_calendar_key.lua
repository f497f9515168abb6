-- expect: 65 option_calendar_key.lua:2: sim.calendar: unknown key day_count
local c = sim.calendar { today = "2026-03-02", day_count = "ACT/360" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
