/** What the guard counts, with the help text of each. */
export const GUARD_METRICS = {
  guard_offences_total: 'What was noted against addresses, by kind (logins, recipients, scans, loitering).',
  guard_bans_total: 'Networks that were shut out, by what for.',
} as const;
