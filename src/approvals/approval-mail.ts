import type { AppContext } from '../core/app-context.ts';
import { rowId } from '../core/ids.ts';
import type { MessagePreview } from '../core/text-tasks.ts';
import { type OutboxItem, findOutboxItem } from '../../mail/delivery/outbox-items.ts';
import { accountInfo } from '../../mail/store/account/account.ts';
import { agentSendOf } from '../../mail/agents/gate/send-log.ts';
import type { ReadMail } from '../../mail/agents/taint/taint.ts';
import { readMailPreview } from '../reading/mail-preview.ts';
import { revealInvisible } from '../untrusted/invisible.ts';
import { tokenName, heldOctets } from './queries.ts';

/** A message with its approval request. */
export interface ApprovalMail {
  item: OutboxItem & { approval: NonNullable<OutboxItem['approval']> };
  /** Name of the token or mailbox. */
  requestedBy: string;
  /** Newest outsiders' mail that the agent had read. */
  hadRead: readonly ReadMail[];
  /** The message as it leaves, with hidden characters shown; undefined if no longer held. */
  message: (MessagePreview & { /** Octets of the whole message. */ size: number }) | undefined;
}

type ApprovalContext = Pick<AppContext, 'store' | 'texts' | 'clock'>;

/** A message and the person who may decide for these accounts (null: all). */
interface ApprovalScope {
  tenant: number;
  accounts: readonly number[] | null;
  id: number;
}

/** Message of an organization with its text; undefined if there is none. */
export async function approvalMail(context: ApprovalContext, scope: ApprovalScope): Promise<ApprovalMail | undefined> {
  const found = await approvalRequest(context, scope);
  if (found === undefined) return undefined;
  const octets = await context.store.read(heldOctets, { id: scope.id });
  const message = octets && { ...withVisibleText(await readMailPreview(context, octets)), size: octets.size };
  return { ...found, message };
}

/** The same without the text. */
export async function approvalRequest(
  context: Pick<AppContext, 'store' | 'clock'>,
  { tenant, accounts, id }: ApprovalScope,
): Promise<Omit<ApprovalMail, 'message'> | undefined> {
  const item = await context.store.read(findOutboxItem, { id, now: context.clock() });
  const mine = accounts === null || (item?.account != null && accounts.includes(item.account));
  if (item?.tenant !== tenant || !mine || item.approval === null) return undefined;
  const { approval, trace } = item;
  const sending = await context.store.read(agentSendOf, { tenant, trace });
  return {
    item: { ...itemWithVisibleText(item), approval: approvalWithVisibleText(approval) },
    requestedBy: await requesterOf(context, tenant, approval.credential),
    hadRead: sending?.readMail ?? [],
  };
}

function itemWithVisibleText<T extends OutboxItem>(item: T): T {
  return {
    ...item,
    sender: revealInvisible(item.sender),
    recipients: item.recipients.map((one) => revealInvisible(one)),
  };
}

function approvalWithVisibleText(approval: ApprovalMail['item']['approval']): ApprovalMail['item']['approval'] {
  const reasons = approval.reasons.map((one) => ({ ...one, text: revealInvisible(one.text) }));
  return { ...approval, subject: revealInvisible(approval.subject), reasons };
}

function withVisibleText(message: MessagePreview): MessagePreview {
  const { from, to, cc, subject, text, attachments } = message;
  return {
    ...message,
    from: revealInvisible(from),
    to: revealInvisible(to),
    cc: revealInvisible(cc),
    subject: revealInvisible(subject),
    text: revealInvisible(text, { lines: true }),
    attachments: attachments.map((one) => ({
      filename: revealInvisible(one.filename),
      contentType: revealInvisible(one.contentType),
    })),
  };
}

/** Display name of the requester; its id if it is deleted. */
export async function requesterOf(
  { store }: Pick<AppContext, 'store'>,
  tenant: number,
  credential: string,
): Promise<string> {
  const token = rowId('token', credential);
  const mailbox = rowId('mailbox', credential);
  const name =
    token === undefined
      ? mailbox && (await store.read(accountInfo, { tenant, id: mailbox }))?.address
      : await store.read(tokenName, { organization: tenant, id: token });
  return revealInvisible(typeof name === 'string' && name !== '' ? name : credential);
}
