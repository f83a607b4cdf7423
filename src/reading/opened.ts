import type { EmailRow } from '../../mail/store/email-rows.ts';
import type { Call } from '../operations/operation.ts';
import { accountOf } from './exposure.ts';

/**
 * A token is about to be shown what messages of one mailbox say, beyond their lines in a list. To be awaited before the
 * answer leaves: one of them may be there for nobody to open, and what it sends afterwards is compared with them.
 */
export async function noteOpened(
  { agents, caller }: Call,
  known: readonly { readonly row: Pick<EmailRow, 'id'> }[],
  tool: string,
): Promise<void> {
  const [first] = known;
  if (caller.token === undefined || first === undefined) return;
  const emails = known.map(({ row }) => row.id);
  const account = accountOf(first.row.id);
  await agents.handedToToken(caller.token.id, account, emails);
  const who = (): Promise<string> => Promise.resolve(caller.actor);
  await agents.canaries.opened(who, { account, emails, door: doorOf(caller.way, tool) });
}

/** How people are told where it happened. */
export function doorOf(way: Call['caller']['way'], tool: string): string {
  return `${way === 'mcp-session' ? 'mcp' : way} ${tool}`;
}
