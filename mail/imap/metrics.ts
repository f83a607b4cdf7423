/** Metrics of the IMAP server, with their help texts. */
export const IMAP_METRICS = {
  imap_connections_total: 'IMAP connections accepted, by kind of listener',
  imap_connections_refused_total: 'IMAP connections refused, by reason',
  imap_sessions: 'IMAP connections open now',
  imap_logins_total: 'IMAP login attempts, by outcome',
  imap_commands_total: 'IMAP commands completed, by command and answer',
  imap_commands_delayed_total: 'IMAP commands delayed by the rate limit of their account',
  imap_faults_total: 'IMAP commands that failed with an internal error',
  imap_sessions_dropped_total: 'IMAP connections closed by the server, by reason',
} as const;

export type ImapMetric = keyof typeof IMAP_METRICS;
