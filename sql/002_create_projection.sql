-- The projection: what the journal says, in rows. All of it can be deleted and made anew.

-- The newest life step of an event.
CREATE TABLE event_steps (
    event INTEGER NOT NULL PRIMARY KEY REFERENCES events (id),
    step  TEXT    NOT NULL CHECK (step IN ('drafted', 'published', 'paused', 'closed', 'cancelled')),
    lsn   INTEGER NOT NULL CHECK (lsn > 0)
) STRICT;

-- An order has the LSN of its ORDER record, which is also the order people page through.
CREATE TABLE orders (
    lsn            INTEGER NOT NULL PRIMARY KEY CHECK (lsn > 0),
    id             BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    event          INTEGER NOT NULL REFERENCES events (id),
    state          TEXT    NOT NULL CHECK (state IN ('confirmed', 'cancelled')),
    payment_method TEXT    NOT NULL,
    total          INTEGER NOT NULL CHECK (total >= 0),
    currency       TEXT    NOT NULL,
    created_at_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE order_holds (
    order_lsn INTEGER NOT NULL REFERENCES orders (lsn),
    number    INTEGER NOT NULL,
    event     INTEGER NOT NULL REFERENCES events (id),
    ref       INTEGER NOT NULL,  -- HoldRef's 64 bits
    PRIMARY KEY (order_lsn, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
    order_lsn INTEGER NOT NULL REFERENCES orders (lsn),
    number    INTEGER NOT NULL,
    id        BLOB    NOT NULL CHECK (length(id) = 16),
    event     INTEGER NOT NULL REFERENCES events (id),
    seat      INTEGER NOT NULL CHECK (seat >= 0),
    seat_name TEXT    NOT NULL,  -- empty: a general place
    section   TEXT    NOT NULL,
    price     INTEGER NOT NULL CHECK (price >= 0),
    live      INTEGER NOT NULL CHECK (live IN (0, 1)),  -- 0: the order was cancelled
    PRIMARY KEY (order_lsn, number)
) STRICT, WITHOUT ROWID;

-- The second line of "no seat has two owners"; the first is the inventory.
CREATE UNIQUE INDEX tickets_owner ON tickets (event, seat) WHERE live = 1;

-- What happened to an order, one row a record.
CREATE TABLE history (
    lsn       INTEGER NOT NULL PRIMARY KEY CHECK (lsn > 0),
    order_lsn INTEGER NOT NULL REFERENCES orders (lsn),
    at_ms     INTEGER NOT NULL,
    what      TEXT    NOT NULL CHECK (what IN ('confirmed', 'cancelled'))
) STRICT;
CREATE INDEX history_order ON history (order_lsn);
