import { textKey } from '../message/address.ts';
import type { Stamp, Write } from './engine/types.ts';
import type { Delivered } from './jmap-submission.ts';
import { bumpState } from './type-state.ts';

/** A line of the journal that may be about a message that was sent by JMAP. */
export interface Told {
  event: string;
  trace: string;
  detail: Readonly<Record<string, string | number | readonly string[]>>;
}

/** What a line changes: of single recipients, of all that still wait, of the whole. */
interface Effect {
  to?: readonly string[];
  delivered?: Delivered;
  reply?: string;
  undo?: 'final' | 'canceled';
  sendAt?: number;
}

/**
 * Brings a submission that came by JMAP up to what has just been written into the story of its message, in the same
 * commit. Nothing is looked up for lines that cannot be about one.
 */
export async function followSubmission(tx: Write, told: Told, stamp: Stamp): Promise<void> {
  const effect = effectOf(told);
  if (effect === undefined) return;
  const row = await tx.get<{ id: number; account: number }>(
    'SELECT id, account_id AS account FROM email_submission WHERE trace = ?',
    told.trace,
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

/** Answers whether anything changed. */
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
  // What is final stays: RFC 8621 7.
  const done = await tx.run(
    `UPDATE email_submission_recipient SET delivered = coalesce(?2, delivered), reply = ?3
     WHERE submission = ?1 AND delivered IN ('queued', 'unknown')
       AND (?4 IS NULL OR key IN (SELECT value FROM json_each(?4)))`,
    id,
    delivered ?? null,
    reply,
    to === undefined ? null : JSON.stringify(to.map(textKey)),
  );
  return changes + done.changes > 0;
}

/** What is said of a recipient until there is more to say. */
export const WAITS = '250 2.0.0 Waits in the queue';

function effectOf({ event, detail }: Told): Effect | undefined {
  const to = typeof detail['to'] === 'string' ? [detail['to']] : undefined;
  const said = (fallback: string): string => replyOf(detail, fallback);
  switch (event) {
    case 'scheduled':
      return { sendAt: Date.parse(text(detail['until'])) };
    case 'submitted': {
      const here = Array.isArray(detail['here']) ? (detail['here'] as readonly string[]) : [];
      return { undo: 'final', to: here, delivered: 'yes', reply: '250 2.1.5 In the mailbox of the recipient' };
    }
    case 'held':
      return { ...(to && { to }), reply: `250 2.0.0 Held: ${oneLine(text(detail['because']))}` };
    case 'released':
      return { ...(to && { to }), reply: WAITS };
    case 'deferred':
      return to && { to, delivered: 'queued', reply: said('4.0.0') };
    case 'delivered':
      return to && { to, delivered: 'unknown', reply: said('2.0.0') };
    case 'failed':
      return to && { to, delivered: 'no', reply: said('5.0.0') };
    case 'suppressed':
      return to && { to, delivered: 'no', reply: '550 5.7.1 The address is on the suppression list' };
    case 'cancelled': {
      const reply = '550 5.7.0 Canceled before it was sent';
      return to === undefined ? { undo: 'canceled', delivered: 'no', reply } : { to, delivered: 'no', reply };
    }
    case 'reported':
      return to && { to, reply: said('2.0.0'), ...(detail['action'] === 'delivered' && { delivered: 'yes' }) };
    default:
      return undefined;
  }
}

const BASIC: Readonly<Record<string, number>> = { '2': 250, '4': 451, '5': 554 };

/** Code, enhanced code and words; the first two are made up where nobody said them. RFC 8621 7. */
function replyOf(detail: Told['detail'], fallback: string): string {
  const said = text(detail['status']);
  const status = /^[245]\.\d{1,3}\.\d{1,3}$/.test(said) ? said : fallback;
  const code = Number(detail['code'] ?? 0);
  const words = oneLine(text(detail['text'])).replace(/^(?:[245]\d\d[ -])?(?:[245]\.\d{1,3}\.\d{1,3} )?/, '');
  return `${code >= 200 ? code : BASIC[status[0] ?? '']} ${status} ${words}`.trim();
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const oneLine = (value: string): string => value.replace(/[\r\n]+/g, ' ').slice(0, 1000);
