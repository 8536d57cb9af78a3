-- wrk script of bench/http_claims.sh and bench/peers: the same claim again and again, one general-admission place.
-- No response() function: with one, wrk runs Lua for every answer and becomes the bottleneck. A
-- claim is answered 201 or with a problem, so requests without a refused status are durable claims.

wrk.method = "POST"
wrk.path = "/v1/events/" .. (os.getenv("EVENT") or "bench") .. "/holds"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"section":"GA","quantity":1}'

-- PIPELINE: as many claims are sent together.
local together = tonumber(os.getenv("PIPELINE") or "1")
if together > 1 then
  local batch
  function init() batch = string.rep(wrk.format(), together) end
  function request() return batch end
end

-- DELAY_MS: each connection rests so long on average between two claims, for a load below the peak.
local rest = os.getenv("DELAY_MS") and assert(tonumber(os.getenv("DELAY_MS")), "DELAY_MS is no number")
if rest then
  -- Rounded here, since wrk would round down.
  function delay() return math.floor(2 * rest * math.random() + 0.5) end
end

function done(summary, latency, requests)
  local seconds = summary.duration / 1e6
  local errors = summary.errors
  local claims = summary.requests - errors.status
  io.write(string.format(
    '{"seconds":%.3f,"claims":%d,"claims_per_s":%.0f,"refused":%d,"socket_errors":%d,' ..
    '"p50_us":%d,"p99_us":%d,"p999_us":%d,"max_us":%d}\n',
    seconds, claims, claims / seconds, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
