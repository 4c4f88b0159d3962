-- Makes elections and current terms of a datacenter equal to those in the table snapshot.
-- ?1: datacenter, ?2: time of the snapshot, ?3: 1 if the file contains elections that exist: others have no current
-- terms. The unary + makes SQLite search the elections for the few rows of the snapshot.

INSERT INTO elections (datacenter, key, name, found) SELECT ?1, key, name, ?2 FROM snapshot WHERE found AND NOT semaphore
  ON CONFLICT (key, datacenter) DO NOTHING;
UPDATE elections SET deleted = iif(s.found, NULL, ?2) FROM snapshot s
  WHERE elections.key = +s.key AND elections.datacenter = ?1 AND (deleted IS NULL) <> s.found;
UPDATE terms SET ended = max(terms.started, ?2), seen_until = max(terms.started, min(?2, s.watched))
  FROM snapshot s JOIN elections e ON e.key = +s.key AND e.datacenter = ?1
  WHERE ?3 AND terms.id = e.term AND terms.ended IS NULL AND (s.session IS NOT terms.session OR s.create_index <> terms.create_index
    OR s.number NOT IN (terms.number, 0)); -- a write without the lock sets the number to 0

UPDATE terms SET leader = coalesce(nullif(s.leader, ''), terms.leader), node = coalesce(nullif(s.node, ''), terms.node),
    started = iif(s.start_known, s.started, terms.started), start_known = terms.start_known OR s.start_known
  FROM snapshot s JOIN elections e ON e.key = +s.key AND e.datacenter = ?1
  WHERE ?3 AND terms.id = e.term AND terms.ended IS NULL
    AND (s.leader NOT IN ('', terms.leader) OR s.node NOT IN ('', terms.node) OR s.start_known AND s.started <> terms.started);

INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known, not_before)
  SELECT e.id, s.create_index, s.number, s.session, s.leader, s.node, s.started, s.start_known, nullif(s.not_before, 0)
  FROM snapshot s CROSS JOIN elections e ON e.key = s.key AND e.datacenter = ?1 LEFT JOIN terms t ON t.id = e.term
  WHERE s.session <> '' AND (t.id IS NULL OR t.ended IS NOT NULL);

DELETE FROM snapshot;
