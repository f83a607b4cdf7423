-- What one sender has waiting for one destination. Looks go over senders and lanes, never over rows: they cost the same
-- whatever waits, and nobody's many rows stand before the few of another.
CREATE TABLE queue_lane (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner INTEGER NOT NULL,                -- whose turn it takes: the account, or minus the tenant where there is none
  tenant INTEGER NOT NULL,
  domain TEXT NOT NULL,                  -- destination, A-labels
  next_at INTEGER,                       -- when the first of its rows is due; null: all are held
  UNIQUE (owner, domain)
) STRICT;
CREATE INDEX queue_lane_owner ON queue_lane (owner, next_at);
CREATE INDEX queue_lane_next ON queue_lane (next_at);

ALTER TABLE queue ADD COLUMN lane_id INTEGER NOT NULL DEFAULT 0;
-- Null: as the routes say. 0 direct, -1 the box's smarthost, else an outbound_route.
ALTER TABLE queue ADD COLUMN route INTEGER;

-- The queue is what has not left yet, and no more: it can be walked over once.
INSERT INTO queue_lane (owner, tenant, domain, next_at)
  SELECT coalesce(s.account_id, -s.tenant), s.tenant, q.domain, min(CASE WHEN q.state = 0 THEN q.next_at END)
  FROM queue q JOIN submission s ON s.id = q.submission_id GROUP BY 1, 3;
UPDATE queue SET lane_id = (
  SELECT l.id FROM submission s JOIN queue_lane l ON l.owner = coalesce(s.account_id, -s.tenant)
  WHERE s.id = queue.submission_id AND l.domain = queue.domain);
DROP INDEX queue_due;
CREATE INDEX queue_lane_rows ON queue (lane_id, state, next_at);

-- A lane follows its rows, whoever writes them.
CREATE TRIGGER queue_added AFTER INSERT ON queue WHEN new.state = 0 BEGIN
  UPDATE queue_lane SET next_at = new.next_at WHERE id = new.lane_id AND (next_at IS NULL OR next_at > new.next_at);
END;
CREATE TRIGGER queue_moved AFTER UPDATE OF state, next_at ON queue BEGIN
  UPDATE queue_lane SET next_at = (SELECT min(next_at) FROM queue WHERE lane_id = new.lane_id AND state = 0)
  WHERE id = new.lane_id;
END;
CREATE TRIGGER queue_left AFTER DELETE ON queue BEGIN
  UPDATE queue_lane SET next_at = (SELECT min(next_at) FROM queue WHERE lane_id = old.lane_id AND state = 0)
  WHERE id = old.lane_id;
  DELETE FROM queue_lane WHERE id = old.lane_id AND NOT EXISTS (SELECT 1 FROM queue WHERE lane_id = old.lane_id);
END;

-- Ways out other than the receiver's own mail servers.
CREATE TABLE outbound_route (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE,              -- random; the sealed password is bound to it
  tenant INTEGER NOT NULL,
  receiver TEXT NOT NULL,                -- domain that is written to, A-labels; '': all
  sender TEXT NOT NULL,                  -- domain of the envelope sender; '': all. One of the two at most is set
  use TEXT NOT NULL,                     -- always, failover, never (direct only: no host)
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  tls TEXT NOT NULL,                     -- implicit, starttls
  certificate TEXT NOT NULL,             -- verified, any
  username TEXT NOT NULL,
  password BLOB,                         -- sealed; null: no login
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, receiver, sender)
) STRICT;
