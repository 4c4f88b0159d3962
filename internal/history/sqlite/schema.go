package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	// applicationID is "elct" in ASCII. It identifies the files of electop (PRAGMA application_id).
	applicationID = 0x656c6374
	// olderID identifies files whose tables this version does not read.
	olderID = 0x656c6563
	// version is the version of the schema (PRAGMA user_version).
	version = 1
)

// schema is documented in docs/history.md. Times are nanoseconds since 1970 UTC, and durations are nanoseconds, so that a
// file contains exactly the observed values. NULL means "does not apply".
const schema = `
CREATE TABLE settings (
  name  TEXT PRIMARY KEY,               -- cluster, keep
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE leases (
  datacenter TEXT PRIMARY KEY,
  writer     TEXT NOT NULL,             -- the process that stores events
  observer   TEXT NOT NULL,             -- its user@host
  until      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE elections (
  id         INTEGER PRIMARY KEY,
  datacenter TEXT NOT NULL,
  ident      TEXT NOT NULL,             -- the key; with the CreateIndex if the key is not UTF-8
  key        TEXT NOT NULL,             -- '' for events of the connection
  name       TEXT NOT NULL,
  found      INTEGER NOT NULL,          -- when the key was first observed
  deleted    INTEGER,                   -- when the key was deleted; NULL while it exists
  UNIQUE (ident, datacenter)
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
  ending     TEXT,                      -- stopped, connection_lost, suspended, clock_set, patterns_changed, taken_over
  dropped    INTEGER NOT NULL DEFAULT 0 -- events that were not stored
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

CREATE TABLE terms (
  id           INTEGER PRIMARY KEY,
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
  guess        INTEGER NOT NULL DEFAULT 0,
  evidence     TEXT,
  by           TEXT,                    -- user@host of the operator who ended the term with electop
  lock_delay_until INTEGER              -- an estimate
);
CREATE INDEX terms_by_election ON terms (election, started, ended, seen_until, vacancy, cause); -- contains what statistics need
CREATE INDEX terms_by_start ON terms (started);
CREATE INDEX terms_by_end ON terms (ended) WHERE ended IS NOT NULL;
CREATE INDEX terms_by_cause ON terms (cause, started) WHERE cause IS NOT NULL;
CREATE INDEX terms_open ON terms (election) WHERE ended IS NULL;

CREATE TABLE events (
  id           INTEGER PRIMARY KEY,
  time         INTEGER NOT NULL,
  type         TEXT NOT NULL,
  election     INTEGER NOT NULL REFERENCES elections (id),
  term_id      INTEGER,
  create_index INTEGER NOT NULL,
  modify_index INTEGER NOT NULL,
  term         INTEGER NOT NULL,
  leader       TEXT,                    -- leader, session, node and evidence are NULL if they equal those of the term
  session      TEXT,
  node         TEXT,
  evidence     TEXT,
  by           TEXT,
  gap          INTEGER,                 -- 1 if the event happened at an unknown time between seen_until and time
  seen_until   INTEGER,
  restored     INTEGER,                 -- 1 if Consul's data was restored or lost
  vacancy      INTEGER,
  held         INTEGER,
  held_known   INTEGER,
  cause        TEXT,
  guess        INTEGER,
  lock_delay_until INTEGER,
  count        INTEGER,
  prefix       TEXT,
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
  action       TEXT NOT NULL,           -- release, destroy, set_flags, delete_key
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
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', v.time / 1e9, 'unixepoch') AS time, v.type, e.name AS election,
         ifnull(v.leader, t.leader) AS leader, v.term, v.cause,
         CASE v.type WHEN 'explained' THEN ifnull(v.evidence, t.evidence) END AS evidence,
         ifnull(v.node, t.node) AS node, ifnull(v.session, t.session) AS session, e.key, e.datacenter, v.id
  FROM events v JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id;

CREATE VIEW term_log AS
  SELECT e.name AS election, t.leader, t.node, t.number AS term,
         strftime('%Y-%m-%dT%H:%M:%fZ', t.started / 1e9, 'unixepoch') AS started, t.start_known,
         strftime('%Y-%m-%dT%H:%M:%fZ', t.ended / 1e9, 'unixepoch') AS ended,
         (ifnull(t.seen_until, t.ended) - t.started) / 1e9 AS held_seconds, t.vacancy / 1e9 AS vacancy_seconds,
         t.cause, t.evidence, t.by, e.key, e.datacenter, t.id
  FROM terms t JOIN elections e ON e.id = t.election;
`

// create creates the tables, unless they exist. Its transaction locks the file, so only one process creates them.
func create(ctx context.Context, db *sql.DB) error {
	if exists, err := checkSchema(ctx, db); err != nil || exists {
		return err
	}
	if _, err := db.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil { // SQLite requires this before the first table
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after Commit
	if exists, err := checkSchema(ctx, tx); err != nil || exists {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, version)); err != nil {
		return err
	}
	return tx.Commit()
}

// checkSchema reports whether the file has tables. It fails if this version of electop cannot use them. It reads one
// consistent state, even if another process creates the file at the same time.
func checkSchema(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (exists bool, err error) {
	var app, user, objects int
	err = db.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&app, &user, &objects)
	switch {
	case err != nil:
		return false, err
	case app == 0 && user == 0 && objects == 0:
		return false, nil
	case app == olderID:
		return true, ErrOlder
	case app != applicationID:
		return true, ErrForeign
	case user > version:
		return true, fmt.Errorf("%w: the file has version %d, but this electop supports only versions up to %d", ErrNewer, user, version)
	}
	return true, nil
}
