CREATE TABLE settings (
  name  TEXT PRIMARY KEY,               -- cluster; keep, in nanoseconds
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE leases (
  datacenter TEXT PRIMARY KEY,
  writer     TEXT NOT NULL,             -- the process that stores events
  observer   TEXT NOT NULL,             -- its user@host
  recorder   INTEGER NOT NULL,          -- 1: electop record, which takes precedence
  renewed    INTEGER NOT NULL           -- its latest heartbeat; the lease ends 10 s later
) WITHOUT ROWID;

CREATE TABLE elections (
  id         INTEGER PRIMARY KEY,
  datacenter TEXT NOT NULL,
  key        TEXT NOT NULL,             -- '' for events of the connection
  name       TEXT NOT NULL,
  found      INTEGER NOT NULL,          -- when the key was first observed
  deleted    INTEGER,                   -- when the key was deleted; NULL while it exists
  term       INTEGER,                   -- ID of the latest term
  UNIQUE (key, datacenter)
);
CREATE INDEX elections_by_name ON elections (name);

CREATE TABLE observations (
  id         INTEGER PRIMARY KEY,
  observer   TEXT NOT NULL,
  datacenter TEXT NOT NULL,
  patterns   TEXT NOT NULL,             -- one pattern per line
  started    INTEGER NOT NULL,
  seen       INTEGER NOT NULL,          -- the latest heartbeat
  ended      INTEGER,                   -- NULL until the observation ends, or if the process was killed
  ending     TEXT,                      -- stopped, connection_lost, suspended, clock_set, patterns_changed
  dropped    INTEGER NOT NULL DEFAULT 0, -- events that were not stored
  newest     INTEGER NOT NULL DEFAULT 0 -- the highest index of the store that was read
);
CREATE INDEX observations_by_end ON observations (seen);

CREATE TABLE checkpoints (
  id         INTEGER PRIMARY KEY,
  datacenter TEXT NOT NULL,
  at         INTEGER NOT NULL,
  event      INTEGER NOT NULL,          -- the latest event that the board contains
  board      BLOB NOT NULL
);
CREATE INDEX checkpoints_by_time ON checkpoints (datacenter, at);

-- AUTOINCREMENT: retention can delete all rows, but cursors, checkpoints and elections still refer to their IDs.

CREATE TABLE terms (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  election     INTEGER NOT NULL REFERENCES elections (id),
  create_index INTEGER NOT NULL,
  number       INTEGER NOT NULL,        -- LockIndex
  session      TEXT NOT NULL,
  leader       TEXT NOT NULL,
  node         TEXT NOT NULL,
  started      INTEGER NOT NULL,
  start_known  INTEGER NOT NULL,
  not_before   INTEGER,                 -- set if the beginning was not observed: the term began after this time
  ended        INTEGER,                 -- NULL until the term ends
  seen_until   INTEGER,                 -- set if the end was not observed: the term lasted at least until this time
  vacancy      INTEGER,                 -- duration of the vacancy after the term; NULL if its start or end was not observed
  cause        TEXT,
  alive_until  INTEGER,                 -- the last certain sign of life of the leader
  explanation  INTEGER                  -- ID of the event with the evidence for the cause
);
CREATE INDEX terms_by_election ON terms (election, started);
CREATE INDEX terms_by_start ON terms (started);
CREATE INDEX terms_by_end ON terms (ended) WHERE ended IS NOT NULL;
CREATE INDEX terms_by_cause ON terms (cause, started) WHERE cause IS NOT NULL;

CREATE TABLE types (                    -- of events
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

CREATE TABLE events (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  time         INTEGER NOT NULL,
  type         INTEGER NOT NULL REFERENCES types (id),
  election     INTEGER NOT NULL REFERENCES elections (id),
  term_id      INTEGER,
  create_index INTEGER,                 -- NULL if this and the next four columns equal those of the term; the event of its beginning always has a leader
  term         INTEGER,
  leader       TEXT,
  session      TEXT,
  node         TEXT,
  modify_index INTEGER NOT NULL,
  evidence     TEXT,
  by           TEXT,                    -- user@host of the operator who ended the term with electop
  gap          INTEGER,                 -- 1 if the event happened at an unknown time between seen_until and time
  seen_until   INTEGER,
  restored     INTEGER,                 -- 1 if Consul's data was restored or lost
  vacancy      INTEGER,
  held         INTEGER,
  held_known   INTEGER,
  cause        TEXT,
  guess        INTEGER,
  lock_delay_until INTEGER,             -- an estimate
  alive_until  INTEGER,                 -- the last certain sign of life of the leader whose term ended
  count        INTEGER,
  holders      INTEGER,
  slots        INTEGER,
  error        TEXT
);
CREATE INDEX events_by_time ON events (time);
CREATE INDEX events_by_election ON events (election, time);
CREATE INDEX events_by_type ON events (type, time);
CREATE INDEX events_by_cause ON events (cause, time) WHERE cause IS NOT NULL;

CREATE TABLE actions (
  id           INTEGER PRIMARY KEY,
  time         INTEGER NOT NULL,
  by           TEXT NOT NULL,           -- user@host
  action       TEXT NOT NULL,           -- release, destroy
  datacenter   TEXT NOT NULL,
  key          TEXT NOT NULL,           -- '' for the destroy of a session that was selected by its ID
  session      TEXT NOT NULL,
  create_index INTEGER NOT NULL,
  term         INTEGER NOT NULL,
  leader       TEXT NOT NULL,
  node         TEXT NOT NULL,
  result       TEXT NOT NULL,           -- done, failed, unconfirmed
  detail       TEXT NOT NULL
);
CREATE INDEX actions_by_time ON actions (time);

CREATE VIEW event_log AS
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', v.time / 1e9, 'unixepoch') AS time, y.name AS type, e.name AS election,
         ifnull(v.leader, t.leader) AS leader, ifnull(v.term, t.number) AS term, v.cause, v.evidence,
         ifnull(v.node, t.node) AS node, ifnull(v.session, t.session) AS session, e.key, e.datacenter, v.id
  FROM events v JOIN types y ON y.id = v.type JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id;

CREATE VIEW term_log AS
  SELECT e.name AS election, t.leader, t.node, t.number AS term,
         strftime('%Y-%m-%dT%H:%M:%fZ', t.started / 1e9, 'unixepoch') AS started, t.start_known,
         strftime('%Y-%m-%dT%H:%M:%fZ', t.ended / 1e9, 'unixepoch') AS ended,
         (ifnull(t.seen_until, t.ended) - t.started) / 1e9 AS held_seconds, t.vacancy / 1e9 AS vacancy_seconds,
         (t.vacancy + t.ended - t.alive_until) / 1e9 AS outage_max_seconds,
         t.cause, x.evidence, x.by, e.key, e.datacenter, t.id
  FROM terms t JOIN elections e ON e.id = t.election LEFT JOIN events x ON x.id = t.explanation;
