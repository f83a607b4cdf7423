/** Metrics of the guard, with their help texts. */
export const GUARD_METRICS = {
  guard_offences_total: 'Offences counted, by kind (logins, recipients, scans, loitering).',
  guard_bans_total: 'Networks banned, by kind of offence.',
} as const;
