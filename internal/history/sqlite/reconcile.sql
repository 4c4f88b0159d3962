-- Makes the elections and the current terms of a datacenter equal to those of a snapshot.
-- ?1: datacenter, ?2: time of the snapshot.

UPDATE elections SET deleted = NULL WHERE deleted IS NOT NULL AND datacenter = ?1 AND key IN (SELECT key FROM snapshot);
INSERT OR IGNORE INTO elections (datacenter, key, name, found)
  SELECT ?1, key, name, ?2 FROM snapshot WHERE NOT semaphore;

UPDATE events SET leader = t.leader
  FROM snapshot s JOIN elections e ON e.key = s.key AND e.datacenter = ?1 JOIN terms t ON t.id = e.term
  WHERE (s.leader NOT IN ('', t.leader) OR s.start_known AND s.started <> t.started) AND t.ended IS NULL AND events.election = e.id AND events.time = t.started AND events.term_id = t.id AND events.leader IS NULL;
UPDATE terms SET leader = coalesce(nullif(s.leader, ''), terms.leader), node = coalesce(nullif(s.node, ''), terms.node),
    started = iif(s.start_known, s.started, terms.started), start_known = terms.start_known OR s.start_known
  FROM snapshot s JOIN elections e ON e.key = s.key AND e.datacenter = ?1
  WHERE terms.id = e.term AND terms.ended IS NULL
    AND (s.leader NOT IN ('', terms.leader) OR s.node NOT IN ('', terms.node) OR s.start_known AND s.started <> terms.started);

INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known, not_before)
  SELECT e.id, s.create_index, s.number, s.session, s.leader, s.node, s.started, s.start_known, s.not_before
  FROM snapshot s JOIN elections e ON e.key = s.key AND e.datacenter = ?1 LEFT JOIN terms t ON t.id = e.term
  WHERE s.session <> '' AND (t.id IS NULL OR t.ended IS NOT NULL);

UPDATE elections SET deleted = ?2 WHERE datacenter = ?1 AND deleted IS NULL AND key <> '' AND key NOT IN (SELECT key FROM snapshot);

DELETE FROM snapshot;
