/** Metrics of the SMTP server with their help texts. Label values come from small fixed sets. */
export const metrics = {
  smtp_connections_total: 'Connections accepted, by service.',
  smtp_connections_refused_total: 'Connections over a limit, by service and reason.',
  smtp_sessions: 'Open sessions.',
  smtp_replies_total: 'Replies, by service and class of code (2, 3, 4, 5).',
  smtp_messages_total: 'Messages read to their end, by service and outcome.',
  smtp_message_octets_total: 'Octets of accepted messages, by service.',
  smtp_recipients_refused_total: 'Recipients refused, by service and reason.',
  smtp_logins_total: 'Login attempts, by outcome.',
  smtp_handshakes_total: 'TLS handshakes, by outcome.',
  smtp_timeouts_total: 'Sessions ended by a timeout, by the event they waited for.',
} as const;
