import type { MailPolicy } from '../../policy/mail-policy.ts';
import { query } from '../engine/types.ts';
import { policyOf } from './mail-policy.ts';

const MAX_DOMAINS = 200;
const MAX_CONTACTED_DOMAINS = 400;

/** Facts about a recipient account for the filter. */
export interface RecipientFacts {
  tenant: number;
  policy: MailPolicy;
  /** Domains of its tenant. */
  own: readonly string[];
  /** Domains to which it has sent mail. */
  written: readonly string[];
  /** It has trained junk and good samples, so word statistics apply. */
  taught: boolean;
}

/** Facts of an account; undefined if it was deleted. */
export const recipientFacts = query(
  'recipient-facts',
  async (rx, input: { account: number }): Promise<RecipientFacts | undefined> => {
    const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
    if (row === undefined) return undefined;
    const own = await rx.all<{ name: string }>(
      'SELECT name FROM domain WHERE tenant = ? AND state = 1 LIMIT ? + 0',
      row.tenant,
      MAX_DOMAINS,
    );
    const written = await rx.all<{ key: string }>(
      'SELECT key FROM correspondent WHERE account_id = ? LIMIT ? + 0',
      input.account,
      MAX_CONTACTED_DOMAINS,
    );
    const memory = 'SELECT 1 AS taught FROM word_corpus WHERE account_id = ? AND junk > 0 AND good > 0';
    return {
      tenant: row.tenant,
      taught: (await rx.get(memory, input.account)) !== undefined,
      policy: await policyOf(rx, row.tenant),
      own: own.map(({ name }) => name),
      written: [...new Set(written.map(({ key }) => key.slice(key.lastIndexOf('@') + 1)))],
    };
  },
);
