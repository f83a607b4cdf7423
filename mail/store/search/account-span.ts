/** Number of ids reserved for the emails of one account. */
export const ACCOUNT_SPAN = 2 ** 32;
