import type { EmailRow } from '../../mail/store/email-rows.ts';
import type { Call } from '../operations/operation.ts';

/**
 * Writes down that an agent is about to be shown messages of one mailbox, be it only a subject; a caller that is no token
 * is no agent. To be awaited before the answer leaves: what an agent sends afterwards is judged by it.
 */
export async function noteExposure(
  { agents, caller }: Call,
  known: readonly { readonly row: Pick<EmailRow, 'id'> }[],
): Promise<void> {
  const { token } = caller;
  const [first] = known;
  if (token === undefined || first === undefined) return;
  const account = accountOf(first.row.id);
  await agents.shownToToken(
    token.id,
    account,
    known.map(({ row }) => row.id),
  );
}

/** {@link noteExposure} of text that an outsider may have written and that lies in no mailbox. */
export async function noteOutsidersText({ agents, caller: { token } }: Call): Promise<void> {
  if (token !== undefined) await agents.shownTextToToken(token.id);
}

/** Messages of which only the row is at hand. */
export function rowsOf(emails: readonly number[]): { row: { id: number } }[] {
  return emails.map((id) => ({ row: { id } }));
}

/** Rows of one account lie together: mail/store/message.ts. */
const ACCOUNT_SPAN = 2 ** 32;

/** The account of a message. */
export function accountOf(email: number): number {
  return Math.floor(email / ACCOUNT_SPAN);
}
