/** Metrics of logins, with their help texts. */
export const LOGIN_METRICS = {
  login_attempts_total: 'Logins by protocol, mechanism and outcome',
  login_derivations_total: 'Key derivations for password checks',
} as const;
