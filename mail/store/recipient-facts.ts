import type { MailPolicy } from '../policy/mail-policy.ts';
import { query } from './engine/types.ts';
import { policyOf } from './mail-policy.ts';

const MOST_DOMAINS = 200;
const MOST_WRITTEN = 400;

/** What a verdict for one account is made with. */
export interface RecipientFacts {
  tenant: number;
  policy: MailPolicy;
  /** Domains of its tenant. */
  own: readonly string[];
  /** Domains that it has written to. */
  written: readonly string[];
  /** It has said of some mail that it is junk, and of some that it is not: its words can be compared. */
  taught: boolean;
}

/** Undefined for an account that is gone. */
export const recipientFacts = query(
  'recipient-facts',
  async (rx, input: { account: number }): Promise<RecipientFacts | undefined> => {
    const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
    if (row === undefined) return undefined;
    const own = await rx.all<{ name: string }>(
      'SELECT name FROM domain WHERE tenant = ? AND state = 1 LIMIT ? + 0',
      row.tenant,
      MOST_DOMAINS,
    );
    const written = await rx.all<{ key: string }>(
      'SELECT key FROM correspondent WHERE account_id = ? LIMIT ? + 0',
      input.account,
      MOST_WRITTEN,
    );
    const memory = 'SELECT 1 AS taught FROM word_memory WHERE account_id = ? AND junk > 0 AND good > 0';
    return {
      tenant: row.tenant,
      taught: (await rx.get(memory, input.account)) !== undefined,
      policy: await policyOf(rx, row.tenant),
      own: own.map(({ name }) => name),
      written: [...new Set(written.map(({ key }) => key.slice(key.lastIndexOf('@') + 1)))],
    };
  },
);
