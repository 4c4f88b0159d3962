-- Deletes a step of what is older than a checkpoint, at most ?4 rows of each table.
-- ?1: time of the checkpoint, or 0 if there is nothing to delete, ?2: its ID, ?3: its latest event.

-- Terms that ended shortly before the checkpoint remain: the events after it may refer to them.
DELETE FROM terms WHERE id IN (SELECT id FROM terms WHERE ended < ?1 - 3600000000000 ORDER BY ended LIMIT ?4);
DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id <= ?3 ORDER BY id LIMIT ?4);
DELETE FROM observations WHERE id IN (SELECT id FROM observations WHERE seen < ?1 ORDER BY seen LIMIT ?4);
DELETE FROM checkpoints WHERE id IN (SELECT id FROM checkpoints WHERE id < ?2 LIMIT ?4);
DELETE FROM actions WHERE id IN (SELECT id FROM actions WHERE time < ?1 ORDER BY time LIMIT ?4);
DELETE FROM elections WHERE id IN (SELECT id FROM elections e WHERE deleted < ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE election = e.id)
  AND NOT EXISTS (SELECT 1 FROM terms WHERE election = e.id) LIMIT ?4);

-- More actions do not fit into a result.
DELETE FROM actions WHERE id <= (SELECT max(id) FROM actions) - 100000;

-- The file contains nothing about the time before the checkpoint.
UPDATE observations SET started = ?1 WHERE started < ?1 AND seen >= ?1;
UPDATE elections SET found = ?1 WHERE found < ?1;

-- What is known about a datacenter without an observation is older than the limit.
DELETE FROM terms WHERE ?1 > 0 AND started < ?1 AND election IN (SELECT id FROM elections WHERE datacenter NOT IN (SELECT datacenter FROM observations));
UPDATE elections SET deleted = ?1 - 1 WHERE ?1 > 0 AND deleted IS NULL AND datacenter NOT IN (SELECT datacenter FROM observations);
