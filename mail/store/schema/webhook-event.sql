-- Webhooks: listeners, and the events that await delivery to them.

CREATE TABLE listener (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number of the listener
  tenant INTEGER NOT NULL,               -- organization that listens
  account_id INTEGER UNIQUE,         -- account whose incoming mail it reports; null: outgoing mail of the tenant
  events TEXT NOT NULL,                  -- JSON list of journal events
  off_at INTEGER,                        -- time of disabling, events are still recorded; null: enabled
  due_at INTEGER                         -- time at which the first event is due; null: none pending
) STRICT;
CREATE INDEX listener_tenant ON listener (tenant) WHERE account_id IS NULL;
CREATE INDEX listener_due ON listener (due_at) WHERE due_at IS NOT NULL AND off_at IS NULL;

-- Events for a listener, written in the commit of the event itself.
CREATE TABLE webhook_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- number by which receivers detect repeats, never reused
  listener_id INTEGER NOT NULL,          -- the listener
  event TEXT NOT NULL,                   -- journal event
  account_id INTEGER,                    -- account that it concerns
  email_id INTEGER,                      -- message that arrived; null: outgoing mail
  trace TEXT NOT NULL,                   -- trace id of an outgoing message; '' for an incoming one
  detail TEXT NOT NULL,                  -- JSON of the journal line
  at INTEGER NOT NULL,                   -- time of the event
  copy_of INTEGER,                       -- event that this one repeats on request; null: none
  attempts INTEGER NOT NULL DEFAULT 0,   -- number of attempts
  next_at INTEGER NOT NULL,              -- time of the next attempt
  state INTEGER NOT NULL DEFAULT 0 -- 0 in order, 1 retried separately, 2 delivered, 3 given up
) STRICT;
CREATE INDEX webhook_event_state ON webhook_event (listener_id, state, id);
CREATE INDEX webhook_event_retry ON webhook_event (listener_id, next_at) WHERE state = 1;
CREATE INDEX webhook_event_email ON webhook_event (email_id) WHERE email_id IS NOT NULL;

-- Triggers set due_at of a listener to its first event in order or the earliest one retried separately. The worker
-- reads only listeners that are due.
CREATE TRIGGER webhook_event_added AFTER INSERT ON webhook_event WHEN new.state < 2 BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM webhook_event WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM webhook_event WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = new.listener_id;
END;
CREATE TRIGGER webhook_event_rescheduled AFTER UPDATE OF state, next_at ON webhook_event BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM webhook_event WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM webhook_event WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = new.listener_id;
END;
CREATE TRIGGER webhook_event_deleted AFTER DELETE ON webhook_event WHEN old.state < 2 BEGIN
  UPDATE listener SET due_at = nullif(min(
    coalesce((SELECT next_at FROM webhook_event WHERE listener_id = listener.id AND state = 0 ORDER BY id LIMIT 1), 9223372036854775807),
    coalesce((SELECT min(next_at) FROM webhook_event WHERE listener_id = listener.id AND state = 1), 9223372036854775807)), 9223372036854775807)
  WHERE id = old.listener_id;
END;
