import type { z } from 'zod';
import { jmapId } from '../../mail/jmap/ids.ts';
import type { JournalEvent } from '../../mail/store/journal.ts';
import type { TailLine } from '../../mail/store/journal-tail.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { publicId } from '../ids.ts';
import { isoOf } from '../operations/schemas.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';
import { sentOfTrace } from '../trace/queries.ts';
import { approvalTimes, arrivedEmail } from './queries.ts';
import type { ApprovalEvent, MailEvent, SendEvent, SendState } from './shapes.ts';

/** A line of the journal as programs are told of it. */
export type Happening =
  | { event: 'mail'; data: z.output<typeof MailEvent> }
  | { event: 'send'; data: z.output<typeof SendEvent> }
  | { event: 'approval'; data: z.output<typeof ApprovalEvent> };

const STATES: Partial<Record<JournalEvent, SendState>> = {
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

/** One look-up serves everybody who is told of a line. */
const known = new WeakMap<TailLine, Promise<Happening | undefined>>();

/** What a line tells; undefined: nothing that programs are told, or a message that has gone again. */
export function happeningOf(store: MailStore, line: TailLine): Promise<Happening | undefined> {
  const before = known.get(line);
  if (before !== undefined) return before;
  const found = look(store, line);
  known.set(line, found);
  // Trouble is not for ever.
  found.catch(() => known.delete(line));
  return found;
}

/** Whether a line is of a message that came into a mailbox. */
export function isArrival({ event, email, account }: TailLine): boolean {
  return (event === 'received' || event === 'kept') && email !== null && account !== null;
}

async function look(store: MailStore, line: TailLine): Promise<Happening | undefined> {
  if (isArrival(line)) return mailThatCame(store, line);
  const state = STATES[line.event];
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
  const decision = outboxId === null ? undefined : await decisionIn(store, line);
  if (outboxId !== null && decision !== undefined) {
    return { event: 'approval', data: { ...about, outboxId, state: decision } };
  }
  const { status: enhancedCode, code: smtpCode } = line;
  // Who answers mail by itself writes to whatever address a stranger made up.
  const [recipients, delivered] = [line.to.filter(isPlainAddress), line.here.filter(isPlainAddress)];
  return { event: 'send', data: { ...about, outboxId, state, recipients, delivered, enhancedCode, smtpCode } };
}

async function mailThatCame(store: MailStore, line: TailLine): Promise<Happening | undefined> {
  const { account, email, folder } = line;
  if (account === null || email === null) return undefined;
  const found = await store.read(arrivedEmail, { account, email });
  if (found === undefined) return undefined;
  const { threadId, receivedAt, trust } = found;
  return {
    event: 'mail',
    data: {
      mailboxId: publicId('mailbox', account),
      messageId: jmapId('email', email),
      threadId: jmapId('thread', threadId),
      receivedAt: isoOf(receivedAt),
      junk: folder === 'junk',
      trust: trust === null ? null : { ...trust, flags: [...trust.flags] },
    },
  };
}

/** What a person was asked or decided in the very commit that wrote a line. */
async function decisionIn(
  store: MailStore,
  { outbox, event, at }: TailLine,
): Promise<z.output<typeof ApprovalEvent>['state'] | undefined> {
  const asked = await store.read(approvalTimes, { id: outbox ?? 0 });
  if (event === 'held' && asked?.asked === at) return 'pending';
  if ((event === 'released' || event === 'cancelled') && asked?.decided === at) return asked.state;
  return undefined;
}
