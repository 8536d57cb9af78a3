-- Hashes of the request with an Idempotency-Key that made the event: scope, request. NULL: no key.
ALTER TABLE events ADD COLUMN made_by BLOB CHECK (made_by IS NULL OR length(made_by) = 32);
