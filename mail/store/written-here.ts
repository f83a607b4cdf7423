import type { Write } from './engine/types.ts';

/** A message of a mailbox of this box, whose author was logged in, lies in another one; noted in the commit that delivers it. */
export async function noteWrittenHere(tx: Write, email: number, tenant: number): Promise<void> {
  await tx.run('INSERT INTO written_here (email_id, tenant) VALUES (?, ?)', email, tenant);
}

export async function forgetWrittenHere(tx: Write, email: number): Promise<void> {
  await tx.run('DELETE FROM written_here WHERE email_id = ?', email);
}
