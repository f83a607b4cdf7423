import type { ReadDepth } from '../../mail/agents/hooks.ts';
import type { EmailRow } from '../../mail/store/message/email-rows.ts';
import type { Call } from '../core/operation.ts';
import { ACCOUNT_SPAN } from '../../mail/store/search/account-span.ts';

/**
 * Records that a token is about to see the content of messages, beyond a list line. Await before sending the response:
 * a message may be a canary, and later mail of the agent is compared with what it read.
 */
export async function recordRead(
  { agents, caller }: Call,
  known: readonly { readonly row: Pick<EmailRow, 'id'> }[],
  tool: string,
  depth: ReadDepth = 'read',
): Promise<void> {
  const [first] = known;
  if (caller.token === undefined || first === undefined) return;
  const emails = known.map(({ row }) => row.id);
  const account = accountOfEmail(first.row.id);
  await agents.onRead({ token: caller.token.id }, { account, emails, depth }, accessPath(caller.way, tool));
}

/** Names the endpoint and tool of an access, for notices to people. */
export function accessPath(way: Call['caller']['way'], tool: string): string {
  return `${way === 'mcp-session' ? 'mcp' : way} ${tool}`;
}

/**
 * Records that an agent is about to see messages of one mailbox, even if only a subject. Callers without a token are no
 * agents. Await before sending the response: later messages of the agent are checked against its taint.
 */
export async function recordTaint(
  { agents, caller }: Call,
  known: readonly { readonly row: Pick<EmailRow, 'id'> }[],
): Promise<void> {
  const { token } = caller;
  const [first] = known;
  if (token === undefined || first === undefined) return;
  const account = accountOfEmail(first.row.id);
  const emails = known.map(({ row }) => row.id);
  await agents.onRead({ token: token.id }, { account, emails, depth: 'listed' }, '');
}

/** {@link recordTaint} for untrusted text outside of mailboxes. */
export async function recordUntrustedText({ agents, caller: { token } }: Call): Promise<void> {
  if (token !== undefined) await agents.onTextRead({ token: token.id });
}

/** Wraps row ids for {@link recordTaint}. */
export function taintRows(emails: readonly number[]): { row: { id: number } }[] {
  return emails.map((id) => ({ row: { id } }));
}

/** Returns the account of a message row. */
export function accountOfEmail(email: number): number {
  return Math.floor(email / ACCOUNT_SPAN);
}
