import { textKey } from '../../message/address.ts';
import type { Stamp, Write } from '../engine/types.ts';
import { bumpState } from '../account/type-state.ts';

export type DeliveredState = 'queued' | 'yes' | 'no' | 'unknown';

/** A journal line about a message sent by JMAP. */
export interface DeliveryUpdate {
  event: string;
  trace: string;
  detail: Readonly<Record<string, string | number | readonly string[]>>;
}

/** Change of the delivery status: of single recipients, of all pending ones, of the submission. */
interface Effect {
  to?: readonly string[];
  delivered?: DeliveredState;
  reply?: string;
  undo?: 'final' | 'canceled';
  sendAt?: number;
}

/**
 * Updates the EmailSubmission of a message after a journal line, in the same commit. Lines that cannot concern one cost
 * no lookup.
 */
export async function followSubmission(tx: Write, update: DeliveryUpdate, stamp: Stamp): Promise<void> {
  const effect = effectOf(update);
  if (effect === undefined) return;
  const row = await tx.get<{ id: number; account: number }>(
    'SELECT id, account_id AS account FROM email_submission WHERE trace = ?',
    update.trace,
  );
  if (row === undefined || !(await apply(tx, row.id, effect))) return;
  const modseq = await bumpState(tx, row.account, 'EmailSubmission');
  await tx.run(
    `UPDATE email_submission SET modseq = ?1, ended_at = CASE WHEN undo <> 'pending' AND NOT EXISTS
       (SELECT 1 FROM email_submission_recipient WHERE submission = ?2 AND delivered = 'queued')
       THEN coalesce(ended_at, ?3) END WHERE id = ?2`,
    modseq,
    row.id,
    stamp.now,
  );
}

/** Returns whether anything changed. */
async function apply(tx: Write, id: number, effect: Effect): Promise<boolean> {
  const { to, delivered, reply, undo, sendAt } = effect;
  let changes = 0;
  if (undo !== undefined || sendAt !== undefined) {
    const done = await tx.run(
      'UPDATE email_submission SET undo = coalesce(?, undo), send_at = coalesce(?, send_at) WHERE id = ?',
      undo ?? null,
      sendAt ?? null,
      id,
    );
    changes += done.changes;
  }
  if (reply === undefined) return changes > 0;
  // A final delivery status never changes: RFC 8621 7.
  const done = await tx.run(
    `UPDATE email_submission_recipient SET delivered = coalesce(?2, delivered), reply = ?3
     WHERE submission = ?1 AND delivered IN ('queued', 'unknown')
       AND (?4 IS NULL OR key IN (SELECT value FROM json_each(?4, '$')))`,
    id,
    delivered ?? null,
    reply,
    to === undefined ? null : JSON.stringify(to.map(textKey)),
  );
  return changes + done.changes > 0;
}

/** Delivery status of a pending recipient. */
export const WAITS = '250 2.0.0 Waits in the queue';
const DELIVERED_HERE = '250 2.1.5 In the mailbox of the recipient';
const SUPPRESSED = '550 5.7.1 The address is on the suppression list';
const CANCELED = '550 5.7.0 Canceled before it was sent';
const HELD = '250 2.0.0 Held: ';
const OWN_REPLIES: ReadonlySet<string> = new Set([WAITS, DELIVERED_HERE, SUPPRESSED, CANCELED]);

/** Tests if a delivery status has the text of this server, not of another one. */
export function isOwnReply({ reply, delivered }: { reply: string; delivered: DeliveredState }): boolean {
  // Another server answers a queued message with 4xx only.
  return OWN_REPLIES.has(reply) || (delivered === 'queued' && reply.startsWith(HELD));
}

function effectOf({ event, detail }: DeliveryUpdate): Effect | undefined {
  const to = typeof detail['to'] === 'string' ? [detail['to']] : undefined;
  const said = (fallback: string): string => replyOf(detail, fallback);
  switch (event) {
    case 'scheduled':
      return { sendAt: Date.parse(text(detail['until'])) };
    case 'submitted': {
      const here = Array.isArray(detail['here']) ? (detail['here'] as readonly string[]) : [];
      return { undo: 'final', to: here, delivered: 'yes', reply: DELIVERED_HERE };
    }
    case 'held':
      return { ...(to && { to }), reply: `${HELD}${oneLine(text(detail['because']))}` };
    case 'released':
      return { ...(to && { to }), reply: WAITS };
    case 'deferred':
      return to && { to, delivered: 'queued', reply: said('4.0.0') };
    case 'delivered':
      return to && { to, delivered: 'unknown', reply: said('2.0.0') };
    case 'failed':
      return to && { to, delivered: 'no', reply: said('5.0.0') };
    case 'suppressed':
      return to && { to, delivered: 'no', reply: SUPPRESSED };
    case 'cancelled': {
      const ended = { delivered: 'no', reply: CANCELED } as const;
      return to === undefined ? { undo: 'canceled', ...ended } : { to, ...ended };
    }
    case 'reported':
      return to && { to, reply: said('2.0.0'), ...(detail['action'] === 'delivered' && { delivered: 'yes' }) };
    default:
      return undefined;
  }
}

const BASIC: Readonly<Record<string, number>> = { '2': 250, '4': 451, '5': 554 };

/** SMTP reply: code, enhanced code and text; defaults stand for a missing code. RFC 8621 7. */
function replyOf(detail: DeliveryUpdate['detail'], fallback: string): string {
  const said = text(detail['status']);
  const status = /^[245]\.\d{1,3}\.\d{1,3}$/.test(said) ? said : fallback;
  const code = Number(detail['code'] ?? 0);
  const words = oneLine(text(detail['text'])).replace(/^(?:[245]\d\d[ -])?(?:[245]\.\d{1,3}\.\d{1,3} )?/, '');
  return `${code >= 200 ? code : BASIC[status[0] ?? '']} ${status} ${words}`.trim();
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const oneLine = (value: string): string => value.replace(/[\r\n]+/g, ' ').slice(0, 1000);
