-- The classic claim in Redis: each seat is a key that expires; all seats of a claim or none.
-- KEYS: seats. ARGV: hold, seconds. 1: claimed, 0: one of them is taken.
for _, seat in ipairs(KEYS) do
  if redis.call('EXISTS', seat) == 1 then return 0 end
end
for _, seat in ipairs(KEYS) do
  redis.call('SETNX', seat, ARGV[1])
  redis.call('EXPIRE', seat, ARGV[2])
end
return 1
