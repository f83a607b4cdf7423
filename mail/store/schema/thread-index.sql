-- The first message of a thread has the number of the thread, so that only the others need an entry in an index.
DROP INDEX email_thread;
CREATE INDEX email_thread ON email (thread_id, received_at) WHERE thread_id <> id;
