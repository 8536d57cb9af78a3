-- The share of free places, in percent, under which a section has no orphan rule any more.
ALTER TABLE events ADD COLUMN orphan_endgame_pct INTEGER NOT NULL DEFAULT 10
    CHECK (orphan_endgame_pct BETWEEN 0 AND 100);
