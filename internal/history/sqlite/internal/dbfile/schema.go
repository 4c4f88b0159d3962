package dbfile

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID is "elec" in ASCII. It identifies the files of electop (PRAGMA application_id).
const applicationID = 0x656c6563

// migrations change the schema step by step: the step at index n changes version n to n+1. Never change a released
// step.
func migrations() []string { return []string{schemaV1} }

// Times are nanoseconds since 1970 UTC, and durations are nanoseconds, so that a file contains exactly the observed
// values. NULL means "does not apply".
const schemaV1 = `
CREATE TABLE elections (
  id         INTEGER PRIMARY KEY,
  datacenter TEXT NOT NULL,
  ident      TEXT NOT NULL,             -- the key; with the CreateIndex if the key is not UTF-8
  key        TEXT NOT NULL,             -- '' for events about the connection
  name       TEXT NOT NULL,
  UNIQUE (datacenter, ident)
);
CREATE INDEX elections_by_key ON elections (key);
CREATE INDEX elections_by_name ON elections (name);

-- Times at which Consul's data was lost or restored. Indexes can repeat after such a time.
-- The epoch of an event is the number of restores before it.
CREATE TABLE restores (
  election INTEGER NOT NULL REFERENCES elections (id),
  at       INTEGER NOT NULL,
  PRIMARY KEY (election, at)
) WITHOUT ROWID;

CREATE TABLE observations (
  id         INTEGER PRIMARY KEY,
  observer   TEXT NOT NULL,             -- user@host, process
  datacenter TEXT NOT NULL,
  patterns   TEXT NOT NULL,             -- one pattern per line
  started    INTEGER NOT NULL,
  seen       INTEGER NOT NULL,          -- the latest heartbeat
  ended      INTEGER,                   -- NULL until the observation ends, or if the process was killed
  ending     TEXT,                      -- stopped, connection_lost, suspended, patterns_changed
  dropped    INTEGER NOT NULL DEFAULT 0 -- events that were not stored
);
CREATE INDEX observations_by_end ON observations (seen);

CREATE TABLE terms (
  id           INTEGER PRIMARY KEY,
  election     INTEGER NOT NULL REFERENCES elections (id),
  epoch        INTEGER NOT NULL,
  create_index INTEGER NOT NULL,
  number       INTEGER NOT NULL,        -- LockIndex
  first_index  INTEGER NOT NULL,        -- ModifyIndex when the hold was first and last observed
  last_index   INTEGER NOT NULL,
  session      TEXT NOT NULL,
  leader       TEXT NOT NULL,
  node         TEXT NOT NULL,
  relabeled    INTEGER NOT NULL DEFAULT 0, -- the holder changed its label during the term
  started      INTEGER NOT NULL,
  start_known  INTEGER NOT NULL,
  ended        INTEGER,                 -- NULL until the term ends
  seen_until   INTEGER,                 -- set if the end was not observed: the term lasted at least until this time
  vacancy      INTEGER,                 -- duration of the vacancy after the term; NULL if its start or end was not observed
  explained    INTEGER,                 -- when the cause became known
  cause        TEXT,
  guess        INTEGER NOT NULL DEFAULT 0,
  evidence     TEXT,
  by           TEXT,                    -- user@host of the operator who ended the term with electop
  lock_delay_until INTEGER              -- an estimate
);
CREATE INDEX terms_by_election ON terms (election, started);
CREATE INDEX terms_by_start ON terms (started);
CREATE INDEX terms_by_number ON terms (election, create_index, number);
CREATE INDEX terms_open ON terms (election) WHERE ended IS NULL;

CREATE TABLE events (
  id           INTEGER PRIMARY KEY,
  time         INTEGER NOT NULL,
  type         TEXT NOT NULL,
  election     INTEGER NOT NULL REFERENCES elections (id),
  term_id      INTEGER REFERENCES terms (id),
  observation  INTEGER REFERENCES observations (id),
  epoch        INTEGER NOT NULL,
  create_index INTEGER NOT NULL,
  modify_index INTEGER NOT NULL,
  term         INTEGER NOT NULL,
  leader       TEXT,                    -- leader, session, node and evidence are NULL if they equal those of the term
  session      TEXT,
  node         TEXT,
  evidence     TEXT,
  initial      INTEGER,
  gap          INTEGER,                 -- 1 if the event happened at an unknown time before time
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
CREATE INDEX events_by_type ON events (type, time) WHERE type NOT IN ('elected', 'vacated', 'explained');
CREATE INDEX events_by_cause ON events (cause, time) WHERE cause IS NOT NULL;
CREATE INDEX events_of_state ON events (election, time)
  WHERE type IN ('deleted', 'unreadable', 'readable', 'entered', 'left');
CREATE UNIQUE INDEX events_elected ON events (term_id) WHERE type = 'elected';
CREATE UNIQUE INDEX events_vacated ON events (term_id) WHERE type = 'vacated';
CREATE UNIQUE INDEX events_explained ON events (term_id, cause) WHERE type = 'explained';
CREATE UNIQUE INDEX events_of_write ON events (election, epoch, create_index, modify_index, type)
  WHERE type IN ('updated', 'overwritten', 'missed');
CREATE INDEX events_of_slots ON events (election, session, time) WHERE type IN ('entered', 'left');
CREATE INDEX events_missed ON events (time, election, count) WHERE type = 'missed';
CREATE UNIQUE INDEX events_of_deletion ON events (election, epoch, create_index) WHERE type = 'deleted';

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
CREATE INDEX actions_by_session ON actions (session);

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

// StateTypes is the condition of the index events_of_state. SQLite uses the index only for queries that contain this
// condition.
const StateTypes = `('deleted', 'unreadable', 'readable', 'entered', 'left')`

// migrate changes the file to the latest version. Its transaction locks the file, so only one process migrates it.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	if version, err := schemaVersion(ctx, db, len(steps)); err != nil || version == len(steps) {
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
	version, err := schemaVersion(ctx, tx, len(steps))
	if err != nil {
		return err
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("cannot migrate from schema version %d: %w", version, err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps))
	if _, err = tx.ExecContext(ctx, mark); err == nil {
		err = tx.Commit()
	}
	return err
}

// querier is the common interface of a database and a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// versionQuery is one statement, so that it reads a consistent state even if another process creates the file at the
// same time.
const versionQuery = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
	FROM pragma_application_id, pragma_user_version`

// schemaVersion reads the version of the file, or 0 for an empty file. newest is the latest version that this program
// supports.
func schemaVersion(ctx context.Context, db querier, newest int) (version int, err error) {
	return readVersion(db.QueryRowContext(ctx, versionQuery), newest)
}

func readVersion(row *sql.Row, newest int) (version int, err error) {
	var app, objects int
	if err := row.Scan(&app, &version, &objects); err != nil {
		return 0, err
	}
	switch {
	case app == 0 && version == 0 && objects == 0:
		return 0, nil
	case app != applicationID:
		return 0, ErrForeign
	case version > newest:
		return 0, fmt.Errorf("%w: the file has version %d, but this electop supports only versions up to %d", ErrNewer, version, newest)
	}
	return version, nil
}
