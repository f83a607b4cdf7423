import type { MailPolicy } from '../policy/mail-policy.ts';
import { query } from './engine/types.ts';
import { policyOf } from './mail-policy.ts';

/** What a verdict for one account is made with. */
export interface RecipientFacts {
  tenant: number;
  policy: MailPolicy;
}

/** Undefined for an account that is gone. */
export const recipientFacts = query(
  'recipient-facts',
  async (rx, input: { account: number }): Promise<RecipientFacts | undefined> => {
    const row = await rx.get<{ tenant: number }>('SELECT tenant FROM account WHERE id = ?', input.account);
    return row && { tenant: row.tenant, policy: await policyOf(rx, row.tenant) };
  },
);
