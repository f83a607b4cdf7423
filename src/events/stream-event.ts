import type { z } from 'zod';
import type { JournalEvent } from '../../mail/store/journal/journal.ts';
import type { JournalTailLine } from '../../mail/store/journal/journal-tail.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { publicMessageId, publicThreadId } from '../core/message-ids.ts';
import { publicId } from '../core/ids.ts';
import { isoOf } from '../core/schemas.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';
import { sentOfTrace } from '../trace/queries.ts';
import type { ApprovalEvent, MailEvent, SendEvent, SendState } from './event-schemas.ts';
import { lookup } from '../../mail/store/engine/types.ts';
import type { ApprovalState } from '../../mail/agents/approval/approval-row.ts';
import type { Trust } from '../../mail/policy/trust.ts';

interface ArrivedEmail {
  threadId: number;
  /** ms UTC. */
  receivedAt: number;
  trust: Trust | null;
}

/** The facts of an arrived message; undefined: deleted. */
const arrivedEmail = lookup(
  'arrived-email',
  async (rx, { account, email }: { account: number; email: number }): Promise<ArrivedEmail | undefined> => {
    const row = await rx.get<{ thread_id: number; received_at: number; trust: string | null }>(
      `SELECT e.thread_id, e.received_at, j.trust FROM email e LEFT JOIN filter_result j ON j.email_id = e.id
       WHERE e.id = ? AND +e.account_id = ? AND EXISTS (SELECT 1 FROM entry WHERE email_id = e.id)`,
      email,
      account,
    );
    if (row === undefined) return undefined;
    const { thread_id: threadId, received_at: receivedAt, trust } = row;
    return { threadId, receivedAt, trust: trust === null ? null : (JSON.parse(trust) as Trust) };
  },
);

/** State and times (ms UTC) of an approval request and its decision; undefined: there is none. */
const approvalTimes = lookup('approval-times', (rx, { id }: { id: number }) =>
  rx.get<{ state: ApprovalState; requested: number; decided: number | null }>(
    'SELECT state, created_at AS requested, decided_at AS decided FROM approval WHERE id = ?',
    id,
  ),
);

/** A journal line as an event for programs. */
export type StreamEvent =
  | { event: 'mail'; data: z.output<typeof MailEvent> }
  | { event: 'send'; data: z.output<typeof SendEvent> }
  | { event: 'approval'; data: z.output<typeof ApprovalEvent> };

const SEND_STATE_BY_EVENT: Partial<Record<JournalEvent, SendState>> = {
  scheduled: 'scheduled',
  held: 'held',
  released: 'released',
  cancelled: 'cancelled',
  submitted: 'sent',
  suppressed: 'suppressed',
  deferred: 'deferred',
  delivered: 'delivered',
  failed: 'bounced',
  complained: 'complained',
};

/** Cached events by journal line: one lookup serves all streams. */
const events = new WeakMap<JournalTailLine, Promise<StreamEvent | undefined>>();

/** The event of a journal line; undefined: not reported to programs, or the message was deleted. */
export function streamEventOf(store: MailStore, line: JournalTailLine): Promise<StreamEvent | undefined> {
  const cached = events.get(line);
  if (cached !== undefined) return cached;
  const found = readEvent(store, line);
  events.set(line, found);
  // Do not cache failures.
  found.catch(() => events.delete(line));
  return found;
}

/** True for the delivery of a message to a mailbox. */
export function isArrival({ event, email, account }: JournalTailLine): boolean {
  return (event === 'received' || event === 'kept') && email !== null && account !== null;
}

async function readEvent(store: MailStore, line: JournalTailLine): Promise<StreamEvent | undefined> {
  if (isArrival(line)) return mailEvent(store, line);
  const state = SEND_STATE_BY_EVENT[line.event];
  if (state === undefined) return undefined;
  const { tenant, account, trace } = line;
  const sent = await store.read(sentOfTrace, { organization: tenant ?? 0, trace });
  const about = {
    emailId: sent === undefined ? null : publicId('sent', sent.id),
    trace,
    mailboxId: account === null ? null : publicId('mailbox', account),
    at: isoOf(line.at),
  };
  const outboxId = line.outbox === null ? null : publicId('outbox', line.outbox);
  const decision = outboxId === null ? undefined : await approvalDecision(store, line);
  if (outboxId !== null && decision !== undefined) {
    return { event: 'approval', data: { ...about, outboxId, state: decision } };
  }
  const { status: enhancedCode, code: smtpCode } = line;
  // Automatic replies go to addresses that an outsider chose: report only plain ones.
  const [recipients, delivered] = [line.to.filter(isPlainAddress), line.here.filter(isPlainAddress)];
  return { event: 'send', data: { ...about, outboxId, state, recipients, delivered, enhancedCode, smtpCode } };
}

async function mailEvent(store: MailStore, line: JournalTailLine): Promise<StreamEvent | undefined> {
  const { account, email, folder } = line;
  if (account === null || email === null) return undefined;
  const found = await store.read(arrivedEmail, { account, email });
  if (found === undefined) return undefined;
  const { threadId, receivedAt, trust } = found;
  return {
    event: 'mail',
    data: {
      mailboxId: publicId('mailbox', account),
      messageId: publicMessageId(email),
      threadId: publicThreadId(threadId),
      receivedAt: isoOf(receivedAt),
      junk: folder === 'junk',
      trust: trust === null ? null : { ...trust, flags: [...trust.flags] },
    },
  };
}

/** The approval state that changed in the commit of the line; undefined: none. */
async function approvalDecision(
  store: MailStore,
  { outbox, event, at }: JournalTailLine,
): Promise<z.output<typeof ApprovalEvent>['state'] | undefined> {
  const approval = await store.read(approvalTimes, { id: outbox ?? 0 });
  if (event === 'held' && approval?.requested === at) return 'pending';
  if ((event === 'released' || event === 'cancelled') && approval?.decided === at) return approval.state;
  return undefined;
}
