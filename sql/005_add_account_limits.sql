-- What each account may have of an event besides max_per_user. NULL: no such limit.
ALTER TABLE events ADD COLUMN max_open_holds_per_user INTEGER
    CHECK (max_open_holds_per_user BETWEEN 1 AND 4294967295);
-- Places times seconds.
ALTER TABLE events ADD COLUMN hold_seconds_budget INTEGER
    CHECK (hold_seconds_budget BETWEEN 1 AND 4294967295);
ALTER TABLE events ADD COLUMN rehold_cooldown_s INTEGER NOT NULL DEFAULT 0
    CHECK (rehold_cooldown_s BETWEEN 0 AND 4294967295);
