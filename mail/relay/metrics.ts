/** Metrics of the relay with their help texts. */
export const RELAY_METRICS = {
  relay_attempts_total: 'Attempts to deliver to one recipient, by outcome (delivered, failed, deferred)',
  relay_queued_seconds: 'From queueing a recipient to its end, by outcome (delivered, failed)',
  relay_sessions_total: 'Connections to other servers, by result (tls, clear, none)',
  relay_tls_results_total: 'Connections to other servers as TLS-RPT counts them, by policy and result',
  relay_sts_fetches_total: 'MTA-STS policies asked for, by result (fetched, or what failed)',
  relay_smarthost_sessions_total: 'Connections to smarthosts, by result (open, none)',
  relay_reports_total: 'Delivery reports composed, by kind (failure, delay, success)',
  relay_connections: 'Connections to other servers that are open or being opened',
  relay_waiting: 'Due recipients held in memory and not yet tried',
} as const;
