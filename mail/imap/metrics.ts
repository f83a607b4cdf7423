/** What the IMAP door counts, with the help text for whoever shows it. */
export const IMAP_METRICS = {
  imap_connections_total: 'IMAP connections accepted, by kind of listener',
  imap_connections_refused_total: 'IMAP connections refused, by reason',
  imap_sessions: 'IMAP connections open now',
  imap_logins_total: 'IMAP login attempts, by outcome',
  imap_commands_total: 'IMAP commands answered, by command and answer',
  imap_commands_delayed_total: 'IMAP commands that waited because their account gave too many',
  imap_faults_total: 'IMAP commands that failed for a reason of our own',
  imap_sessions_dropped_total: 'IMAP connections that we ended, by reason',
} as const;

export type ImapMetric = keyof typeof IMAP_METRICS;
