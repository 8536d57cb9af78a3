-- The places of the event; the free ones are indexed.
SET client_min_messages = warning;
DROP TABLE IF EXISTS places;
CREATE TABLE places (id integer PRIMARY KEY, hold uuid, held_until timestamptz);
INSERT INTO places (id) SELECT generate_series(1, 500000);
CREATE INDEX free_places ON places (id) WHERE hold IS NULL;
VACUUM ANALYZE places;
CHECKPOINT;
