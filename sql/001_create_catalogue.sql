-- The catalogue: what organizers made. This file is its home; the journal only names events by id.
-- Times are milliseconds since 1970 UTC, money is minor units, a boolean is 0 or 1.

-- One row. applied_lsn and applied_chain move in the same transaction as the rows they stand for.
CREATE TABLE meta (
    id            INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    store_id      BLOB    NOT NULL CHECK (length(store_id) = 16),
    applied_lsn   INTEGER NOT NULL DEFAULT 0 CHECK (applied_lsn >= 0),
    applied_chain INTEGER NOT NULL DEFAULT 0 CHECK (applied_chain BETWEEN 0 AND 4294967295)
) STRICT;

-- Events are never deleted, so ids are dense from 1 and never used again.
CREATE TABLE events (
    id                   INTEGER NOT NULL PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    slug                 TEXT    NOT NULL UNIQUE,
    name                 TEXT    NOT NULL,
    venue                TEXT    NOT NULL,
    time_zone            TEXT    NOT NULL,
    starts_at_ms         INTEGER,
    starts_offset_min    INTEGER,
    opens_at_ms          INTEGER,
    opens_offset_min     INTEGER,
    closes_at_ms         INTEGER,
    closes_offset_min    INTEGER,
    currency             TEXT    NOT NULL,
    publish              INTEGER NOT NULL CHECK (publish IN (0, 1)),
    hold_ttl_ms          INTEGER NOT NULL CHECK (hold_ttl_ms > 0),
    hold_max_life_ms     INTEGER NOT NULL CHECK (hold_max_life_ms > 0),
    max_extensions       INTEGER NOT NULL CHECK (max_extensions BETWEEN 0 AND 4294967295),
    max_per_order        INTEGER NOT NULL CHECK (max_per_order BETWEEN 1 AND 4294967295),
    max_per_user         INTEGER CHECK (max_per_user BETWEEN 0 AND 4294967295),
    orphan_rule          TEXT    NOT NULL CHECK (orphan_rule IN ('off', 'lenient', 'strict')),
    guest                INTEGER NOT NULL CHECK (guest IN (0, 1)),
    honour_open_holds    INTEGER NOT NULL CHECK (honour_open_holds IN (0, 1)),
    payment_none         INTEGER NOT NULL CHECK (payment_none IN (0, 1)),
    payment_wallet       INTEGER NOT NULL CHECK (payment_wallet IN (0, 1)),
    payment_external     INTEGER NOT NULL CHECK (payment_external IN (0, 1)),
    created_at_ms        INTEGER NOT NULL,
    layout               BLOB    NOT NULL,  -- domain/layout_codec.hpp
    CHECK ((starts_at_ms IS NULL) = (starts_offset_min IS NULL)),
    CHECK ((opens_at_ms IS NULL) = (opens_offset_min IS NULL)),
    CHECK ((closes_at_ms IS NULL) = (closes_offset_min IS NULL))
) STRICT;

-- Sections and categories repeat what the layout says, for people who query; the layout is read.
CREATE TABLE sections (
    event    INTEGER NOT NULL REFERENCES events (id),
    number   INTEGER NOT NULL,
    id       TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    general  INTEGER NOT NULL CHECK (general IN (0, 1)),
    capacity INTEGER NOT NULL CHECK (capacity >= 0),
    category INTEGER NOT NULL,
    PRIMARY KEY (event, number),
    UNIQUE (event, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE categories (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    key    TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    price  INTEGER NOT NULL CHECK (price >= 0),
    PRIMARY KEY (event, number),
    UNIQUE (event, key)
) STRICT, WITHOUT ROWID;
