-- A writer creates these temporary objects. They derive the elections and the terms from the events that it inserts into the view reported. For the frequent
-- events, no trigger inserts a SELECT, because SQLite would first copy the rows into a table, and none has a statement that inserts only for other types,
-- because SQLite would open the indexes of the table: such rows are inserted into a view with a condition.

-- An event. The columns are those in Go, with 0 and '' for what does not apply, or NULL.
CREATE TEMP VIEW reported (datacenter, key, name, time, type, create_index, modify_index, term, leader, session, node, evidence, by, gap,
  seen_until, restored, vacancy_known, vacancy, held_known, held, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28;
CREATE TEMP TRIGGER store_reported INSTEAD OF INSERT ON reported BEGIN
  INSERT INTO present VALUES (NEW.datacenter, NEW.key, NEW.name, NEW.time, NEW.type);
  INSERT INTO of_election VALUES ((SELECT id FROM elections WHERE key = NEW.key AND datacenter = NEW.datacenter), NEW.time, NEW.type, NEW.create_index,
    NEW.modify_index, NEW.term, NEW.leader, NEW.session, NEW.node, nullif(NEW.evidence, ''), nullif(NEW.by, ''), nullif(NEW.gap, 0), nullif(NEW.seen_until, 0),
    nullif(NEW.restored, 0), iif(NEW.vacancy_known, NEW.vacancy, NULL), iif(NEW.type = 'vacated', NEW.held, NULL), nullif(NEW.held_known, 0),
    nullif(NEW.cause, ''), nullif(NEW.guess, 0), nullif(NEW.lock_delay_until, 0), nullif(NEW.alive_until, 0), nullif(NEW.count, 0),
    iif(NEW.type IN ('entered', 'left'), NEW.holders, NULL), iif(NEW.type IN ('entered', 'left'), NEW.slots, NULL), nullif(NEW.error, ''));
END;

-- An event that another process may have stored. The board of a process that read less often does not contain all changes of a key before its deletion. An
-- index identifies a change only until Consul's data is restored, the number of a term only until a write without the lock.
CREATE TEMP VIEW compared AS SELECT * FROM reported;
CREATE TEMP TRIGGER store_compared INSTEAD OF INSERT ON compared WHEN NOT EXISTS (
  SELECT 1 FROM events v JOIN elections e ON e.id = v.election LEFT JOIN terms t ON t.id = v.term_id
  WHERE e.key = NEW.key AND e.datacenter = NEW.datacenter AND v.time > ifnull(nullif(NEW.seen_until, 0), NEW.time) - 60000000000
    AND v.type = (SELECT id FROM types WHERE name = NEW.type) AND ifnull(v.create_index, t.create_index) = NEW.create_index AND ifnull(v.restored, 0) = NEW.restored
    AND CASE WHEN NEW.type = 'deleted' THEN 1 WHEN NEW.type IN ('elected', 'vacated') THEN ifnull(v.term, t.number) = NEW.term
      ELSE v.modify_index = NEW.modify_index END -- of the latest read
    AND (NEW.type = 'deleted' OR ifnull(v.session, t.session) = NEW.session)
    AND NOT EXISTS (SELECT 1 FROM events x WHERE x.election = v.election AND x.time > v.time AND x.time <= NEW.time
      AND (x.restored OR x.type = (SELECT id FROM types WHERE name = 'overwritten')))
) BEGIN
  INSERT INTO reported VALUES (NEW.datacenter, NEW.key, NEW.name, NEW.time, NEW.type, NEW.create_index, NEW.modify_index, NEW.term, NEW.leader, NEW.session, NEW.node, NEW.evidence,
    NEW.by, NEW.gap, NEW.seen_until, NEW.restored, NEW.vacancy_known, NEW.vacancy, NEW.held_known, NEW.held, NEW.cause, NEW.guess, NEW.lock_delay_until,
    NEW.alive_until, NEW.count, NEW.holders, NEW.slots, NEW.error);
END;

-- The election exists, unless the event reports its deletion. A cause can become known after that.
CREATE TEMP VIEW present (datacenter, key, name, time, type) AS SELECT 1, 2, 3, 4, 5;
CREATE TEMP TRIGGER store_present INSTEAD OF INSERT ON present WHEN NOT EXISTS (SELECT 1 FROM elections
  WHERE key = NEW.key AND datacenter = NEW.datacenter AND (NEW.type = 'explained' OR (deleted IS NULL) = (NEW.type <> 'deleted'))) BEGIN
  INSERT INTO elections (datacenter, key, name, found, deleted) VALUES (NEW.datacenter, NEW.key, NEW.name, NEW.time, iif(NEW.type = 'deleted', NEW.time, NULL))
    ON CONFLICT (key, datacenter) DO UPDATE SET deleted = excluded.deleted;
END;

-- An event of a known election, with NULL for what does not apply.
CREATE TEMP VIEW of_election (election, time, type, create_index, modify_index, term, leader, session, node, evidence, by, gap, seen_until, restored,
  vacancy, held, held_known, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25;
CREATE TEMP TRIGGER store_of_election INSTEAD OF INSERT ON of_election BEGIN
  UPDATE terms SET vacancy = NEW.vacancy WHERE NEW.type = 'elected' AND NEW.vacancy IS NOT NULL AND vacancy IS NULL AND ended IS NOT NULL
    AND id = (SELECT term FROM elections WHERE id = NEW.election);
  INSERT INTO begun VALUES (NEW.type, NEW.election, NEW.create_index, NEW.term, NEW.session, NEW.leader, NEW.node, NEW.time - ifnull(NEW.held, 0),
    iif(NEW.type = 'elected', NEW.gap IS NULL, NEW.held_known IS 1), iif(NEW.type = 'elected', NEW.seen_until, NULL));
  -- The label and the node can become known or change during the term.
  UPDATE terms SET leader = coalesce(nullif(NEW.leader, ''), leader), node = coalesce(nullif(NEW.node, ''), node)
    WHERE (NEW.type IN ('updated', 'overwritten') OR NEW.type = 'vacated') AND ended IS NULL AND session = NEW.session
      AND (NEW.leader NOT IN ('', leader) OR NEW.node NOT IN ('', node)) AND id = (SELECT term FROM elections WHERE id = NEW.election);
  UPDATE terms SET ended = max(started, NEW.time), seen_until = iif(NEW.type = 'deleted', started, NEW.seen_until)
    WHERE NEW.type IN ('vacated', 'deleted') AND ended IS NULL AND id = (SELECT term FROM elections WHERE id = NEW.election);

  INSERT INTO of_term VALUES (CASE
      WHEN NEW.type IN ('elected', 'vacated') THEN (SELECT term FROM elections WHERE id = NEW.election)
      WHEN NEW.type = 'deleted' THEN (SELECT t.id FROM elections e JOIN terms t ON t.id = e.term
        WHERE e.id = NEW.election AND t.ended > NEW.time - 3600000000000) -- retention keeps it
      WHEN NEW.type = 'explained' THEN (SELECT id FROM terms WHERE election = NEW.election AND session = NEW.session AND create_index = NEW.create_index
        AND NEW.term IN (number, 0) ORDER BY ended IS NULL, started DESC, id DESC LIMIT 1) END,
    NEW.election, NEW.time, NEW.type, NEW.create_index, NEW.modify_index, NEW.term, NEW.leader, NEW.session, NEW.node, NEW.evidence, NEW.by, NEW.gap,
    NEW.seen_until, NEW.restored, NEW.vacancy, NEW.held, NEW.held_known, NEW.cause, NEW.guess, NEW.lock_delay_until, NEW.alive_until, NEW.count,
    NEW.holders, NEW.slots, NEW.error);
END;

-- A term begins, or a term ends whose beginning was dropped.
CREATE TEMP VIEW begun (type, election, create_index, number, session, leader, node, started, start_known, not_before)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
CREATE TEMP TRIGGER store_begun INSTEAD OF INSERT ON begun WHEN NEW.type = 'elected' OR NEW.type = 'vacated' AND NEW.session <> '' AND NOT EXISTS (
  SELECT 1 FROM elections e JOIN terms t ON t.id = e.term WHERE e.id = NEW.election AND t.session = NEW.session
    AND (t.ended IS NULL OR t.create_index = NEW.create_index AND t.number = NEW.number)) BEGIN
  INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known, not_before)
    VALUES (NEW.election, NEW.create_index, NEW.number, NEW.session, NEW.leader, NEW.node, NEW.started, NEW.start_known, NEW.not_before);
END;

-- An event with its term, unless it explains a term that is only counted as missed, or is not more certain than the known cause: another process explained
-- the same end. An operator's own action is certain.
CREATE TEMP VIEW of_term (term_id, election, time, type, create_index, modify_index, term, leader, session, node, evidence, by, gap, seen_until, restored,
  vacancy, held, held_known, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26;
CREATE TEMP TRIGGER store_of_term INSTEAD OF INSERT ON of_term WHEN NEW.type <> 'explained' OR (SELECT t.cause IS NULL
    OR (NEW.cause LIKE 'operator%', NEW.by IS NOT NULL, NEW.cause <> 'unknown', NEW.guess IS NULL, NEW.evidence LIKE '%, drain of %' OR NEW.evidence LIKE '%, fix of %')
      > (t.cause LIKE 'operator%', x.by IS NOT NULL, t.cause <> 'unknown', x.guess IS NULL, x.evidence LIKE '%, drain of %' OR x.evidence LIKE '%, fix of %')
  FROM terms t LEFT JOIN events x ON x.id = t.explanation WHERE t.id = NEW.term_id) BEGIN
  INSERT INTO events (time, type, election, term_id, create_index, term, leader, session, node, modify_index, evidence, by, gap, seen_until, restored,
      vacancy, held, held_known, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
    VALUES (NEW.time, (SELECT id FROM types WHERE name = NEW.type), NEW.election, NEW.term_id,
      iif(NEW.term_id, nullif(NEW.create_index, (SELECT create_index FROM terms WHERE id = NEW.term_id)), NEW.create_index),
      iif(NEW.term_id, nullif(NEW.term, (SELECT number FROM terms WHERE id = NEW.term_id)), NEW.term),
      iif(NEW.term_id AND NEW.type <> 'elected', nullif(NEW.leader, (SELECT leader FROM terms WHERE id = NEW.term_id)), NEW.leader),
      iif(NEW.term_id, nullif(NEW.session, (SELECT session FROM terms WHERE id = NEW.term_id)), NEW.session),
      iif(NEW.term_id, nullif(NEW.node, (SELECT node FROM terms WHERE id = NEW.term_id)), NEW.node),
      NEW.modify_index, NEW.evidence, NEW.by, NEW.gap, NEW.seen_until, NEW.restored, NEW.vacancy, NEW.held, NEW.held_known, NEW.cause,
      NEW.guess, NEW.lock_delay_until, NEW.alive_until, NEW.count, NEW.holders, NEW.slots, NEW.error);
END;

-- The operators' actions that can have ended a term, with what they explain. A write times out after 15 s, and a change is observed within 30 s. A release names
-- its term, so it can have ended the term at any time in a gap. A destroy names only its session, which may have lost another key earlier in the gap.
CREATE TEMP VIEW attribution AS
  SELECT a.id AS action, x.id AS explanation, e.datacenter, e.key, e.name, max(a.time, x.time) AS time, t.create_index,
    x.modify_index, t.number, t.leader, t.session, t.node, a.by, iif(a.action = 'destroy', x.lock_delay_until, NULL) AS lock_delay_until,
    iif(a.action = 'release' AND a.detail NOT LIKE 'fix of %', ifnull(t.seen_until, t.ended), iif(t.cause = 'session_expired_or_destroyed', x.alive_until, NULL)) AS alive_until, iif(a.action = 'destroy', 'operator_destroy', 'operator_release') AS cause,
    iif(a.action = 'destroy', 'the session was destroyed with electop', 'released with electop') || iif(a.by = '', '', ' by ' || a.by)
      || iif(a.detail LIKE 'drain of %' OR a.detail LIKE 'fix of %', ', ' || substr(a.detail, 1, instr(a.detail || ';', ';') - 1), '') AS evidence
  FROM actions a JOIN terms t ON t.ended >= a.time - 60000000000 AND ifnull(t.seen_until, t.ended) <= a.time + 60000000000 AND t.session = a.session
    AND a.time BETWEEN iif(a.action = 'release', ifnull(t.seen_until, t.ended), t.ended) - 60000000000 AND t.ended + 60000000000 AND a.create_index IN (0, t.create_index) AND a.term IN (0, t.number)
    JOIN elections e ON e.id = t.election AND a.key IN ('', e.key) JOIN events x ON x.id = t.explanation AND x.term_id = t.id
  WHERE a.result = 'done' AND (x.guess = 1 OR t.cause = 'unknown' OR a.action = 'release' AND t.cause = 'released'
    OR a.action = 'destroy' AND t.cause IN ('session_destroyed', 'session_expired_or_destroyed', 'key_deleted')
    OR (a.detail LIKE 'drain of %' OR a.detail LIKE 'fix of %') AND t.cause LIKE 'operator%' AND x.evidence NOT LIKE '%, drain of %' AND x.evidence NOT LIKE '%, fix of %'); -- the observer does not know it

CREATE TEMP TRIGGER explain_by_action AFTER INSERT ON actions BEGIN
  INSERT INTO reported (type, datacenter, key, name, time, create_index, modify_index, term, leader, session, node, by, lock_delay_until, alive_until, cause, evidence)
    SELECT 'explained', datacenter, key, name, time, create_index, modify_index, number, leader, session, node, by, lock_delay_until, alive_until, cause, evidence
    FROM attribution WHERE action = NEW.id;
END;

CREATE TEMP TRIGGER explain_term AFTER INSERT ON events WHEN NEW.cause IS NOT NULL BEGIN
  UPDATE terms SET cause = NEW.cause, alive_until = NEW.alive_until, explanation = NEW.id WHERE id = NEW.term_id;
  INSERT INTO reported (type, datacenter, key, name, time, create_index, modify_index, term, leader, session, node, by, lock_delay_until, alive_until, cause, evidence)
    SELECT 'explained', datacenter, key, name, time, create_index, modify_index, number, leader, session, node, by, lock_delay_until, alive_until, cause, evidence
    FROM attribution WHERE explanation = NEW.id ORDER BY action DESC LIMIT 1;
END;

-- The end of the previous term was dropped if it has none.
CREATE TEMP TRIGGER begin_term AFTER INSERT ON terms BEGIN
  UPDATE terms SET ended = max(started, NEW.started), seen_until = started
    WHERE ended IS NULL AND id = (SELECT term FROM elections WHERE id = NEW.election);
  UPDATE elections SET term = NEW.id WHERE id = NEW.election;
END;

-- A part of a snapshot, and the elections in the file that it does not contain: found is 0. session is '' if there is no current term.
-- Another current term in the file lasted at least until its key was last watched.
CREATE TEMP TABLE snapshot (
  watched, key TEXT PRIMARY KEY, name, found, semaphore, create_index, number, session, leader, node, started, start_known, not_before
) WITHOUT ROWID;
