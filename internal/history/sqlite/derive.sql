-- A writer creates these temporary objects. They derive the elections and the terms from what it stores.

-- An event, as the observer reported it.
CREATE TEMP VIEW incoming (datacenter, key, name, time, type, create_index, modify_index, term, leader, session, node, evidence, by, gap,
  seen_until, restored, vacancy, held, held_known, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27;

-- The columns of an event in Go, with 0 and '' for what does not apply.
CREATE TEMP VIEW reported (datacenter, key, name, time, type, create_index, modify_index, term, leader, session, node, evidence, by, gap,
  seen_until, restored, vacancy_known, vacancy, held_known, held, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
  AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28;

CREATE TEMP TRIGGER store_reported INSTEAD OF INSERT ON reported BEGIN
  INSERT INTO incoming VALUES (NEW.datacenter, NEW.key, NEW.name, NEW.time, NEW.type, NEW.create_index, NEW.modify_index, NEW.term, NEW.leader,
    NEW.session, NEW.node, nullif(NEW.evidence, ''), nullif(NEW.by, ''), nullif(NEW.gap, 0), nullif(NEW.seen_until, 0), nullif(NEW.restored, 0),
    iif(NEW.vacancy_known, NEW.vacancy, NULL), iif(NEW.type = 'vacated', NEW.held, NULL), nullif(NEW.held_known, 0), nullif(NEW.cause, ''),
    nullif(NEW.guess, 0), nullif(NEW.lock_delay_until, 0), nullif(NEW.alive_until, 0), nullif(NEW.count, 0),
    iif(NEW.type IN ('entered', 'left'), NEW.holders, NULL), iif(NEW.type IN ('entered', 'left'), NEW.slots, NULL), nullif(NEW.error, ''));
END;

-- A term begins. The view saves the opening of the indexes of terms for other events.
CREATE TEMP VIEW begun (election, create_index, number, session, leader, node, started, start_known, not_before) AS SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9;
CREATE TEMP TRIGGER store_begun INSTEAD OF INSERT ON begun BEGIN
  INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known, not_before)
    VALUES (NEW.election, NEW.create_index, NEW.number, NEW.session, NEW.leader, NEW.node, NEW.started, NEW.start_known, NEW.not_before);
END;

CREATE TEMP TRIGGER store_event INSTEAD OF INSERT ON incoming BEGIN
  INSERT OR IGNORE INTO types (name) VALUES (NEW.type);
  INSERT INTO elections (datacenter, key, name, found, deleted)
    VALUES (NEW.datacenter, NEW.key, NEW.name, NEW.time, iif(NEW.type = 'deleted', NEW.time, NULL))
    ON CONFLICT (key, datacenter) DO UPDATE SET deleted = excluded.deleted
    WHERE (deleted IS NULL) <> (excluded.deleted IS NULL) AND NEW.type <> 'explained'; -- the cause can become known after the deletion

  -- A term ends whose beginning was dropped.
  INSERT INTO begun (election, create_index, number, session, leader, node, started, start_known)
    SELECT id, NEW.create_index, NEW.term, NEW.session, NEW.leader, NEW.node, NEW.time - NEW.held, NEW.held_known IS 1
    FROM elections e WHERE NEW.type = 'vacated' AND NEW.session <> '' AND key = NEW.key AND datacenter = NEW.datacenter
      AND NOT EXISTS (SELECT 1 FROM terms WHERE id = e.term AND ended IS NULL AND session = NEW.session);

  UPDATE terms SET vacancy = NEW.vacancy WHERE NEW.type = 'elected' AND NEW.vacancy IS NOT NULL AND vacancy IS NULL AND ended IS NOT NULL
    AND id = (SELECT term FROM elections WHERE key = NEW.key AND datacenter = NEW.datacenter);
  INSERT INTO begun (election, create_index, number, session, leader, node, started, start_known, not_before)
    SELECT id, NEW.create_index, NEW.term, NEW.session, NEW.leader, NEW.node, NEW.time, NEW.gap IS NULL, NEW.seen_until
    FROM elections WHERE NEW.type = 'elected' AND key = NEW.key AND datacenter = NEW.datacenter;

  -- The label and the node can become known or change during the term. The event of its beginning keeps the label.
  UPDATE events SET leader = (SELECT leader FROM terms WHERE id = events.term_id)
    WHERE NEW.type IN ('updated', 'overwritten') AND leader IS NULL AND term_id IS NOT NULL AND (election, time) = (SELECT t.election, t.started
      FROM elections e JOIN terms t ON t.id = e.term WHERE e.key = NEW.key AND e.datacenter = NEW.datacenter AND NEW.leader NOT IN ('', t.leader));
  UPDATE terms SET leader = coalesce(nullif(NEW.leader, ''), leader), node = coalesce(nullif(NEW.node, ''), node)
    WHERE NEW.type IN ('updated', 'overwritten', 'vacated') AND ended IS NULL AND session = NEW.session
      AND (NEW.leader NOT IN ('', leader) OR NEW.node NOT IN ('', node)) AND id = (SELECT term FROM elections WHERE key = NEW.key AND datacenter = NEW.datacenter);
  UPDATE terms SET ended = max(started, NEW.time), seen_until = iif(NEW.type = 'deleted', started, NEW.seen_until)
    WHERE NEW.type IN ('vacated', 'deleted') AND ended IS NULL
      AND id = (SELECT term FROM elections WHERE key = NEW.key AND datacenter = NEW.datacenter);

  -- The event, unless it explains a term that is only counted as missed, or is not more certain than the known cause: another process explained the
  -- same end. An operator's own action is certain.
  INSERT INTO events (time, type, election, term_id, create_index, term, leader, session, node, modify_index, evidence, by, gap, seen_until, restored,
      vacancy, held, held_known, cause, guess, lock_delay_until, alive_until, count, holders, slots, error)
    SELECT NEW.time, (SELECT id FROM types WHERE name = NEW.type), e.id, t.id, nullif(NEW.create_index, t.create_index), nullif(NEW.term, t.number),
      nullif(NEW.leader, t.leader), nullif(NEW.session, t.session), nullif(NEW.node, t.node),
      NEW.modify_index, NEW.evidence, NEW.by, NEW.gap, NEW.seen_until, NEW.restored, NEW.vacancy, NEW.held, NEW.held_known, NEW.cause,
      NEW.guess, NEW.lock_delay_until, NEW.alive_until, NEW.count, NEW.holders, NEW.slots, NEW.error
    FROM elections e LEFT JOIN terms t ON t.id = CASE
      WHEN NEW.type IN ('elected', 'vacated') THEN e.term
      WHEN NEW.type = 'deleted' THEN (SELECT id FROM terms WHERE id = e.term AND ended > NEW.time - 3600000000000) -- retention keeps it
      WHEN NEW.type = 'explained' THEN (SELECT id FROM terms WHERE election = e.id AND session = NEW.session AND create_index = NEW.create_index
        AND NEW.term IN (number, 0) ORDER BY started DESC, id DESC LIMIT 1) END
    LEFT JOIN events x ON x.id = t.explanation
    WHERE e.key = NEW.key AND e.datacenter = NEW.datacenter AND NOT (NEW.type = 'explained' AND (t.id IS NULL OR t.cause IS NOT NULL
      AND (NEW.cause LIKE 'operator%', NEW.by IS NOT NULL, NEW.cause <> 'unknown', NEW.guess IS NULL, NEW.evidence LIKE '%, drain of %')
        <= (t.cause LIKE 'operator%', x.by IS NOT NULL, t.cause <> 'unknown', x.guess IS NULL, x.evidence LIKE '%, drain of %')));
END;

-- The operators' actions that can have ended a term, with what they explain. A write times out after 15 s, and a change is observed within 30 s.
CREATE TEMP VIEW attribution AS
  SELECT a.id AS action, x.id AS explanation, e.datacenter, e.key, e.name, max(a.time, x.time) AS time, t.create_index,
    x.modify_index, t.number, t.leader, t.session, t.node, a.by, iif(a.action = 'destroy', x.lock_delay_until, NULL) AS lock_delay_until,
    iif(a.action = 'release', ifnull(t.seen_until, t.ended), iif(t.cause = 'session_expired_or_destroyed', x.alive_until, NULL)) AS alive_until, iif(a.action = 'destroy', 'operator_destroy', 'operator_release') AS cause,
    iif(a.action = 'destroy', 'the session was destroyed with electop', 'released with electop') || iif(a.by = '', '', ' by ' || a.by)
      || iif(a.detail LIKE 'drain of %', ', ' || a.detail, '') AS evidence
  FROM actions a JOIN terms t ON t.ended BETWEEN a.time - 60000000000 AND a.time + 60000000000 AND t.session = a.session
    AND a.time BETWEEN t.ended - 60000000000 AND t.ended + 60000000000 AND a.create_index IN (0, t.create_index) AND a.term IN (0, t.number)
    JOIN elections e ON e.id = t.election AND a.key IN ('', e.key) JOIN events x ON x.id = t.explanation AND x.term_id = t.id
  WHERE a.result = 'done' AND (x.guess = 1 OR t.cause = 'unknown' OR a.action = 'release' AND t.cause = 'released'
    OR a.action = 'destroy' AND t.cause IN ('session_destroyed', 'session_expired_or_destroyed', 'key_deleted')
    OR a.detail LIKE 'drain of %' AND t.cause LIKE 'operator%' AND x.evidence NOT LIKE '%, drain of %'); -- the observer does not know it

CREATE TEMP TRIGGER explain_by_action AFTER INSERT ON actions BEGIN
  INSERT INTO incoming (type, datacenter, key, name, time, create_index, modify_index, term, leader, session, node, by, lock_delay_until, alive_until, cause, evidence)
    SELECT 'explained', datacenter, key, name, time, create_index, modify_index, number, leader, session, node, by, lock_delay_until, alive_until, cause, evidence
    FROM attribution WHERE action = NEW.id;
END;

CREATE TEMP TRIGGER explain_term AFTER INSERT ON events WHEN NEW.cause IS NOT NULL BEGIN
  UPDATE terms SET cause = NEW.cause, alive_until = NEW.alive_until, explanation = NEW.id WHERE id = NEW.term_id;
  INSERT INTO incoming (type, datacenter, key, name, time, create_index, modify_index, term, leader, session, node, by, lock_delay_until, alive_until, cause, evidence)
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
