-- expect: 65 option_calendar_count.lua:2: sim.calendar: count: expected ACT/365F, ACT/360, ACT/ACT, 30/360 or 30E/360
local c = sim.calendar { today = "2026-03-02", count = "ACT/365" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
