import { namedRecipients } from '../../mail/delivery/outgoing.ts';
import { reschedule, unschedule } from '../../mail/delivery/schedule.ts';
import type { Stopped, Submission } from '../../mail/delivery/submit.ts';
import { watchBack, watchedOf } from '../../mail/delivery/watch.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { note } from '../../mail/store/journal.ts';
import type { Source } from './outbound.ts';
import { type FirstState, sentByTrace, type SentEmail } from './sent-queries.ts';
import { followUp } from './origin-commands.ts';
import { reasonsOf, submitOnce, type Waiting } from './submit-once-commands.ts';

/** A message with what is written down of it. */
export interface SendRequest extends Submission {
  organization: number;
  /** Public id of the key or token. */
  credential: string;
  messageId: string;
  subject: string;
  tags: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string | number | boolean>>;
  sha256: string;
  /** Recipients who were asked for and get nothing. */
  leftOut: readonly { address: string; reason: string }[];
  /** Of recipients whom nobody named, by their addresses. */
  sources: Readonly<Record<string, Source>>;
  /** Nothing is taken that a person would have to let go. */
  failIfHeld: boolean;
  /** Rows of messages in the mailbox that sends: what it answers, what it hands on, and the draft that it was. */
  answers: number | null;
  forwards: number | null;
  draft: number | null;
}

export type SendOutcome =
  | { kind: 'sent'; sent: SentEmail; queued: boolean }
  | { kind: 'repeated'; sent: SentEmail }
  /** Its organization was frozen while the request was under way. */
  | { kind: 'frozen' }
  /** The draft that it was is not there any more as it was. */
  | { kind: 'draft-changed' }
  /** A person would have to let it go, and that was not wanted. */
  | { kind: 'needs-approval'; reasons: string[] }
  | Exclude<Stopped, { kind: 'repeated' }>;

/** Takes what a program sends, in one commit: the message, its record, and what keeps it from being sent twice. */
export const sendEmail = command('send-email', async (tx, request: SendRequest, stamp): Promise<SendOutcome> => {
  if (await isFrozen(tx, request.organization)) return { kind: 'frozen' };
  const done = await submitOnce(tx, request, stamp);
  if (done.kind === 'taken' || done.kind === 'waits') {
    await countSuppressed(tx, request, stamp);
    await followUp(tx, request, done, stamp);
    const sent = await record(tx, request, done.kind === 'waits' ? done : null, stamp);
    return { kind: 'sent', sent, queued: done.kind === 'taken' && done.queued };
  }
  if (done.kind !== 'repeated') return done;
  const sent = await sentByTrace(tx, done.trace);
  if (sent === undefined) throw new Error(`the message ${done.trace} was sent before and has no record`);
  return { kind: 'repeated', sent };
});

/** A list that names many who want no more mail is an old or a bought one. */
async function countSuppressed(tx: Write, request: SendRequest, stamp: Stamp): Promise<void> {
  const watched = watchedOf(request, request.budgets);
  if (watched === undefined || request.leftOut.length === 0) return;
  const back = { ...watched, sent_by: watched.sender, trace: request.trace };
  await watchBack(tx, back, { suppressed: request.leftOut.length }, stamp);
}

/** Asked in the commit: a freeze holds what is queued by then, so whatever came behind it would go out. */
async function isFrozen(tx: Write, organization: number): Promise<boolean> {
  const row = await tx.get('SELECT 1 AS frozen FROM organization WHERE id = ? AND frozen_at IS NOT NULL', organization);
  return row !== undefined;
}

async function record(
  tx: Write,
  request: SendRequest,
  waits: (Waiting & { submission: number }) | null,
  stamp: Stamp,
): Promise<SentEmail> {
  const { trace, messageId, sender, subject, tags, metadata, sha256, leftOut, sendAt } = request;
  for (const { address, reason } of leftOut) {
    await note(tx, trace, 'suppressed', request.account, { to: address, because: reason }, stamp, {
      tenant: request.tenant,
    });
  }
  await tx.run(FORGET, stamp.now - KEPT_MS);
  const recipients = recipientsOf(request, waits);
  const heldBecause = waits?.heldBecause ?? null;
  const reasons = waits === null ? [] : reasonsOf(waits);
  const { id } = await tx.run(
    `INSERT INTO sent_email (organization_id, credential, trace, message_id, sender, recipients, subject, tags, metadata,
       sha256, created_at, scheduled_at, held_because, reasons, outbox_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    request.organization,
    request.credential,
    trace,
    messageId,
    sender,
    JSON.stringify(recipients),
    subject,
    JSON.stringify(tags),
    JSON.stringify(metadata),
    sha256,
    stamp.now,
    sendAt,
    heldBecause,
    JSON.stringify(reasons),
    waits?.submission ?? null,
  );
  const facts = {
    trace,
    messageId,
    sender,
    recipients,
    subject,
    sha256,
    heldBecause,
    reasons,
    outbox: waits?.submission ?? null,
  };
  const times = { createdAt: stamp.now, scheduledAt: sendAt, cancelledAt: null };
  return { id, ...facts, ...times, tags: { ...tags }, metadata: { ...metadata } };
}

/** As long as the engine keeps the story. */
const KEPT_MS = 90 * 24 * 3_600_000;
// Two for one that comes: so it never grows, and no commit has much to do.
const FORGET = `DELETE FROM sent_email WHERE id IN
  (SELECT id FROM sent_email WHERE created_at < ? ORDER BY created_at LIMIT 2)`;

/** How it stands with everybody in the moment when a message is taken. */
export function recipientsOf(
  request: Pick<SendRequest, 'here' | 'local' | 'elsewhere' | 'hold' | 'leftOut' | 'sources'> & Submission,
  waits: { heldBecause: string | null } | null,
): SentEmail['recipients'] {
  const elsewhere = new Set(request.elsewhere.map((row) => row.recipient));
  const state = (address: string): FirstState => {
    if (waits !== null) return waits.heldBecause === null ? 'scheduled' : 'held';
    if (!elsewhere.has(address)) return 'delivered';
    return request.hold === null ? 'queued' : 'held';
  };
  const sourceOf = (address: string): { source?: Source } => {
    const source = request.sources[address];
    return source === undefined ? {} : { source };
  };
  return [
    ...namedRecipients(request).map((address) => ({ address, state: state(address), ...sourceOf(address) })),
    ...request.leftOut.map(({ address }) => ({ address, state: 'suppressed' as const, ...sourceOf(address) })),
  ];
}

export type Steered = { kind: 'done' | 'missing' | 'gone' };

/** Takes back what waits; `gone`: it has left already, or was cancelled before. */
export const cancelSent = command(
  'cancel-sent',
  async (tx, input: { organization: number; id: number }, stamp): Promise<Steered> => {
    const trace = await traceOf(tx, input);
    if (trace === undefined) return { kind: 'missing' };
    if (!(await unschedule(tx, trace, stamp))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET cancelled_at = ? WHERE id = ?', stamp.now, input.id);
    return { kind: 'done' };
  },
);

/** Gives what waits another time, ms UTC. */
export const moveSent = command(
  'move-sent',
  async (tx, input: { organization: number; id: number; sendAt: number }, stamp): Promise<Steered> => {
    const trace = await traceOf(tx, input);
    if (trace === undefined) return { kind: 'missing' };
    if (!(await reschedule(tx, trace, input.sendAt, stamp))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET scheduled_at = ? WHERE id = ?', input.sendAt, input.id);
    return { kind: 'done' };
  },
);

async function traceOf(
  tx: Write,
  { organization, id }: { organization: number; id: number },
): Promise<string | undefined> {
  const row = await tx.get<{ trace: string }>(
    'SELECT trace FROM sent_email WHERE id = ? AND organization_id = ?',
    id,
    organization,
  );
  return row?.trace;
}

/** Takes back what waits as a whole, be it of a program or of a mailbox. `by`: who does, as people know them. */
export const withdrawWaiting = command(
  'withdraw-waiting',
  async (tx, { trace, by }: { trace: string; by: string }, stamp): Promise<{ kind: 'withdrawn' | 'gone' }> => {
    if (!(await unschedule(tx, trace, stamp, by))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET cancelled_at = ? WHERE trace = ?', stamp.now, trace);
    return { kind: 'withdrawn' };
  },
);
