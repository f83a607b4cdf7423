/**
 * Number of ids reserved for the emails of one account, so that its rows are contiguous; safe up to 2,097,151 accounts.
 */
export const ACCOUNT_SPAN = 2 ** 32;

/**
 * SQL: the email `e` is of the account ?2, which its id says. No index has the account: without statistics PostgreSQL would
 * compare the column in all emails first.
 */
export const OF_ACCOUNT_2 = `+e.id > ?2 * 4294967296 AND +e.id < (?2 + 1) * 4294967296`;
