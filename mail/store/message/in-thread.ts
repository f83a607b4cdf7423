/**
 * SQL: the email `e` is in the thread `t.value`. Searches twice: the first email of most threads has the number of the
 * thread, and the index `email_thread` has all others. Most emails are alone in their thread, and write no index page.
 * The two halves have no condition in common: PostgreSQL would take it out, and read the whole index.
 */
export const IN_THREAD = `(e.id = t.value AND e.thread_id = e.id OR e.thread_id = t.value AND e.thread_id <> e.id)`;

/** {@link IN_THREAD} for the thread ?1. */
export const IN_THREAD_1 = `(e.id = ?1 AND e.thread_id = e.id OR e.thread_id = ?1 AND e.thread_id <> e.id)`;
