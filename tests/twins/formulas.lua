-- Closed forms of option prices, and integrals of functions of time. Sources: Black and Scholes 1973; Merton 1976; Margrabe
-- 1978; Kemna and Vorst 1990 (geometric mean); Reiner and Rubinstein 1991 (barriers); Goldman, Sosin and Gatto 1979 (lookbacks);
-- Kunitomo and Ikeda 1992 (two barriers).
local scenario = require "scenario"
local F = {}

local function step(x) return x >= 0 and 1 or 0 end
local function curve(points)
  return function(t)
    if t < points[1][1] then return points[1][2] end
    for i = 1, #points - 1 do
      local a, b = points[i], points[i + 1]
      if t < b[1] then return points.between == "flat" and a[2] or a[2] + (b[2] - a[2]) * (t - a[1]) / (b[1] - a[1]) end
    end
    return points[#points][2]
  end
end
local sim = {
  curve = curve,
  max = math.max, min = math.min, step = step,
  lt = function(a, b) return a < b end, gt = function(a, b) return a > b end,
  where = function(c, a, b) if c then return a end return b end,
}

-- The value of a key that is a number or a function's text, as a Lua function.
function F.value(v)
  if type(v) == "number" then return function() return v end end
  return assert(load("return " .. v.words, "=value", "t", { math = math, sim = sim }))()
end

-- Integral over 0 ... t by Gauss and Legendre's five points in 64 pieces between breaks.
local nodes = { 0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640, -0.9061798459386640 }
local weights = { 0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891, 0.2369268850561891 }
function F.integral(f, from, to, breaks)
  local ends = { from }
  for _, b in ipairs(breaks or {}) do if b > from and b < to then ends[#ends + 1] = b end end
  ends[#ends + 1] = to
  local sum = 0
  for k = 1, #ends - 1 do
    local h = (ends[k + 1] - ends[k]) / 64
    for j = 0, 63 do
      local middle = ends[k] + (j + 0.5) * h
      for i = 1, 5 do sum = sum + weights[i] * h / 2 * f(middle + nodes[i] * h / 2) end
    end
  end
  return sum
end

function F.N(x) return 0.5 * host.erfc(-x / math.sqrt(2)) end
local N = F.N

-- Heston's call, by one integral (A. Lewis 2001) of the characteristic function (H. Albrecher, P. Mayer, W. Schoutens and
-- J. Tistaert 2007): the trapezoidal rule errs by e^(-pi/h) for poles at i/2 and step h = 0.1.
local function times(a, b) return { a[1] * b[1] - a[2] * b[2], a[1] * b[2] + a[2] * b[1] } end
local function over(a, b) local n = b[1] ^ 2 + b[2] ^ 2; return times(a, { b[1] / n, -b[2] / n }) end
local function plus(a, b, factor) return { a[1] + (factor or 1) * b[1], a[2] + (factor or 1) * b[2] } end
local function exponential(a) local r = math.exp(a[1]); return { r * math.cos(a[2]), r * math.sin(a[2]) } end
local function logarithm(a) return { 0.5 * math.log(a[1] ^ 2 + a[2] ^ 2), math.atan(a[2], a[1]) } end
local function root(a)
  local l = logarithm(a)
  return exponential { l[1] / 2, l[2] / 2 }
end
function F.heston(h, T, forward, strike, discount)
  local sum, step, s2 = 0, 0.1, h.sigma ^ 2
  for n = 0, 4000 do
    local u = n * step
    -- z = u - i/2: z^2 + i z = u^2 + 1/4, and i z = 1/2 + i u
    local xi = { h.kappa - h.sigma * h.rho / 2, -h.sigma * h.rho * u }
    local d = root(plus(times(xi, xi), { s2 * (u * u + 0.25), 0 }))
    local less, gone = plus(xi, d, -1), exponential { -d[1] * T, -d[2] * T }
    local g = over(less, plus(xi, d))
    local grown = plus({ 1, 0 }, times(g, gone), -1)
    local by_v = over(times(less, plus({ 1, 0 }, gone, -1)), grown)
    local rest = plus({ less[1] * T, less[2] * T }, logarithm(over(grown, plus({ 1, 0 }, g, -1))), -2)
    local k = math.log(forward / strike)
    local phi = exponential { (h.kappa * h.theta * rest[1] + h.v * by_v[1]) / s2, (h.kappa * h.theta * rest[2] + h.v * by_v[2]) / s2 + u * k }
    sum = sum + (n == 0 and 0.5 or 1) * phi[1] / (u * u + 0.25)
  end
  return discount * (forward - math.sqrt(forward * strike) / math.pi * sum * step)
end

-- Discounted, from the forward and the variance of the logarithm.
function F.black(put, forward, variance, strike, discount)
  local sign = put and -1 or 1
  if strike <= 0 then return put and 0 or discount * (forward - strike) end
  if variance <= 0 then return discount * math.max(sign * (forward - strike), 0) end
  local s = math.sqrt(variance)
  local d1 = math.log(forward / strike) / s + s / 2
  return discount * sign * (forward * N(sign * d1) - strike * N(sign * (d1 - s)))
end
function F.digital(put, forward, variance, strike, discount)
  if strike <= 0 then return put and 0 or discount end
  if variance <= 0 then return ((forward > strike) ~= put) and discount or 0 end
  local s = math.sqrt(variance)
  return discount * N((put and -1 or 1) * (math.log(forward / strike) / s - s / 2))
end

-- `price`(forward, variance) with Merton's jumps until `maturity`.
function F.merton(jumps, maturity, forward, variance, price)
  local lambda, m, d = jumps.rate * maturity, jumps.mean or 0, jumps.deviation or 0
  local k = math.exp(m + d * d / 2) - 1
  local sum, p = 0, math.exp(-lambda)
  for n = 0, 200 do
    if p > 0 then sum = sum + p * price(forward * math.exp(-lambda * k + n * (m + d * d / 2)), variance + n * d * d) end
    p = p * lambda / (n + 1)
    if n > lambda and p < 1e-18 then break end
  end
  return sum
end

-- Mean of payoff(last price) on the paths with low < S < high (either may be absent); constant volatility and rates.
-- The law of the last logarithm under two barriers is a series of images; the payoff is integrated over it. kink: a price
-- where the payoff bends, or nil.
local function surviving(payoff, kink, spot, rate, dividend, vol, maturity, low, high)
  if low and spot <= low or high and spot >= high then return 0 end
  local mu, v = rate - dividend - vol * vol / 2, vol * vol * maturity
  local s = math.sqrt(v)
  local a, b = low and math.log(low / spot) or nil, high and math.log(high / spot) or nil
  local function gauss(x, mean) return math.exp(-(x - mean) ^ 2 / (2 * v)) / math.sqrt(2 * math.pi * v) end
  local function density(x)
    local m = mu * maturity
    local function image(shift, reflect)
      -- Girsanov: the free density of an image at y = shift (or reflected in `reflect`), times exp of the drift's part.
      local y = reflect and 2 * reflect - x + shift or x + shift
      return math.exp(-y * y / (2 * v)) / math.sqrt(2 * math.pi * v)
    end
    local drift = math.exp(mu / (vol * vol) * x - mu * mu * maturity / (2 * vol * vol))
    if a and b then
      local sum = 0
      for n = -30, 30 do sum = sum + image(2 * n * (b - a)) - image(2 * n * (b - a), a) end
      return drift * sum
    end
    local wall = a or b
    if wall then return drift * (image(0) - image(0, wall)) end
    return gauss(x, m)
  end
  local from, to = mu * maturity - 10 * s, mu * maturity + 10 * s
  if a then from = math.max(from, a) end
  if b then to = math.min(to, b) end
  if from >= to then return 0 end
  return F.integral(function(x) return payoff(spot * math.exp(x)) * density(x) end, from, to, { kink and math.log(kink / spot) })
end
-- Price of a call or put that lives while low < S < high.
function F.knock_out(put, spot, strike, rate, dividend, vol, maturity, low, high)
  return math.exp(-rate * maturity) * surviving(function(S) return math.max((put and -1 or 1) * (S - strike), 0) end,
    strike > 0 and strike or nil, spot, rate, dividend, vol, maturity, low, high)
end
-- Probability that low < S < high until maturity.
function F.alive(spot, rate, dividend, vol, maturity, low, high)
  return surviving(function() return 1 end, nil, spot, rate, dividend, vol, maturity, low, high)
end

-- P(highest logarithm of the path until maturity <= x), x >= 0.
local function under(x, mu, vol, maturity)
  local s = vol * math.sqrt(maturity)
  return N((x - mu * maturity) / s) - math.exp(2 * mu * x / (vol * vol)) * N((-x - mu * maturity) / s)
end
-- E[highest price], E[lowest price] of all times, undiscounted.
function F.extremes(spot, rate, dividend, vol, maturity)
  local mu = rate - dividend - vol * vol / 2
  local top = math.abs(mu) * maturity + 10 * vol * math.sqrt(maturity)
  local high = spot + F.integral(function(x) return spot * math.exp(x) * (1 - under(x, mu, vol, maturity)) end, 0, top)
  local low = spot - F.integral(function(x) return spot * math.exp(-x) * (1 - under(x, -mu, vol, maturity)) end, 0, top)
  return high, low
end

F.is_number = function(v) return type(v) == "number" end
F.scenario = scenario
return F
