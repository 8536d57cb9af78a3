-- Tickets end one by one, or move to another place; the ticket keeps its id and its price.

-- LSN of the record that refunded the ticket alone; null: none did. A refunded ticket is not live.
ALTER TABLE tickets ADD COLUMN refunded_lsn INTEGER
    CHECK (refunded_lsn IS NULL OR (refunded_lsn > 0 AND live = 0));

-- SQLite cannot change a CHECK, so the table is made anew.
CREATE TABLE history_of_orders (
    lsn       INTEGER NOT NULL PRIMARY KEY CHECK (lsn > 0),
    order_lsn INTEGER NOT NULL REFERENCES orders (lsn),
    at_ms     INTEGER NOT NULL,
    what      TEXT    NOT NULL CHECK (what IN ('confirmed', 'cancelled', 'refunded', 'reseated'))
) STRICT;
INSERT INTO history_of_orders SELECT lsn, order_lsn, at_ms, what FROM history;
DROP TABLE history;
ALTER TABLE history_of_orders RENAME TO history;
CREATE INDEX history_order ON history (order_lsn);
