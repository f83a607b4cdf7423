import { tenantOf } from './account.ts';
import { authorsOf } from './authors.ts';
import { query, type Write } from './engine/types.ts';
import { mailboxNames } from './own-names.ts';

/** A message of a mailbox of this box, whose author was logged in, lies in another one; noted in the commit that delivers it. */
export async function noteWrittenHere(tx: Write, email: number, tenant: number): Promise<void> {
  await tx.run('INSERT INTO written_here (email_id, tenant) VALUES (?, ?)', email, tenant);
}

export async function forgetWrittenHere(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM written_here WHERE email_id = ?', email);
}

/** `copy`: what its mailbox put there in its own name. `sent`: a mailbox of the same organization sent it. */
export type WrittenHere = 'copy' | 'sent';

/**
 * Which of these messages of an account its own organization wrote; at most 500. That nothing was found out about a message
 * says nothing of who wrote it: others of this box send, strangers' old mail is imported, and checks may be off.
 */
export const writtenHere = query(
  'written-here',
  async (rx, input: { account: number; emails: readonly number[] }): Promise<Map<number, WrittenHere>> => {
    const { account, emails } = input;
    const found = new Map<number, WrittenHere>();
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
