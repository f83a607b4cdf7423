/** Every metric of the SMTP door with its help text; label values are from small fixed sets. */
export const metrics = {
  smtp_connections_total: 'Connections taken, by door.',
  smtp_connections_refused_total: 'Connections over a limit, by door and reason.',
  smtp_sessions: 'Sessions open now.',
  smtp_replies_total: 'Replies, by door and class of code (2, 3, 4, 5).',
  smtp_messages_total: 'Messages read to their end, by door and outcome.',
  smtp_message_octets_total: 'Octets of accepted messages, by door.',
  smtp_recipients_refused_total: 'Recipients refused, by door and reason.',
  smtp_logins_total: 'Login attempts, by outcome.',
  smtp_handshakes_total: 'TLS handshakes, by outcome.',
  smtp_timeouts_total: 'Sessions ended for being too slow, by what they were slow at.',
} as const;
