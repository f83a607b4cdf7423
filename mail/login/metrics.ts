/** What logins count, with the help text of each. */
export const LOGIN_METRICS = {
  login_attempts_total: 'Logins by door, mechanism and outcome',
  login_derivations_total: 'Key derivations done to check passwords',
} as const;
