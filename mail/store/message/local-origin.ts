import { tenantOf } from '../account/account.ts';
import { authorsOf } from './authors.ts';
import { query, type Write } from '../engine/types.ts';
import { mailboxNames } from '../address/own-names.ts';

/** Records that a mailbox of this server sent the message, in the commit that delivers it. */
export async function recordLocalOrigin(tx: Write, email: number, tenant: number): Promise<void> {
  await tx.send('INSERT INTO local_origin (email_id, tenant) VALUES (?, ?)', email, tenant);
}

export async function purgeLocalOrigin(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM local_origin WHERE email_id = ?', email);
  await tx.run('DELETE FROM tainted_content WHERE content = ?', `email/${email}`);
}

/** `copy`: stored by the mailbox under its own name. `sent`: sent by a mailbox of the same organization. */
export type LocalOrigin = 'copy' | 'sent';

/**
 * Those of at most 500 messages of an account that its own organization wrote. A missing filter result proves nothing:
 * other organizations send locally, old mail is imported, and checks may be disabled.
 */
export const localOrigin = query(
  'local-origin',
  async (rx, input: { account: number; emails: readonly number[] }): Promise<Map<number, LocalOrigin>> => {
    const { account, emails } = input;
    const found = new Map<number, LocalOrigin>();
    if (emails.length === 0) return found;
    const all = await authorsOf(rx, account, emails);
    const copies = all.filter(({ ownCopy }) => ownCopy);
    const [tenant, names] = [
      await tenantOf.run(rx, { account }),
      await mailboxNames(
        rx,
        account,
        copies.map(({ author }) => author),
      ),
    ];
    for (const { email, author } of copies) if (names.has(author)) found.set(email, 'copy');
    for (const { email, writtenBy } of all) if (writtenBy !== null && writtenBy === tenant) found.set(email, 'sent');
    return found;
  },
);
