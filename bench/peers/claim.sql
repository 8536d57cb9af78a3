-- One place for five minutes; one that another session is taking is passed over.
UPDATE places SET hold = gen_random_uuid(), held_until = now() + interval '300 s'
WHERE id = (SELECT id FROM places WHERE hold IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, hold, held_until;
