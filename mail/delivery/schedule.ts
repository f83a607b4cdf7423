import type { MessageIndex } from '../message/index-types.ts';
import { addBlob } from '../store/blob.ts';
import { command, query, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { addRows, addSubmission, dropSubmission, type NewQueueRow } from '../store/queue.ts';
import { type Delivery, deliverTo, sendOn } from './deliver.ts';
import type { Onward } from './forward.ts';
import type { Outgoing } from './submit.ts';

/** Keeps a message until its time. Recipients on this box wait too. */
export async function schedule(tx: Write, mail: Outgoing, dueAt: number, stamp: Stamp): Promise<void> {
  const blob = await addBlob(tx, newBlob(mail));
  const to = [...mail.here.map((delivery) => delivery.to), ...mail.elsewhere.map((row) => row.recipient)];
  const detail = { from: mail.sender, to, size: mail.index.size, until: new Date(dueAt).toISOString() };
  await note(tx, mail.trace, 'scheduled', mail.account, detail, stamp);
  const id = await addSubmission(tx, { ...mail, blob, size: mail.index.size }, stamp);
  await tx.run(
    'INSERT INTO scheduled (submission_id, due_at, here, elsewhere, onward, hold) VALUES (?, ?, ?, ?, ?, ?)',
    id,
    dueAt,
    JSON.stringify(mail.here),
    JSON.stringify(mail.elsewhere),
    JSON.stringify(mail.onward ?? []),
    mail.hold,
  );
}

export interface DueMessage {
  id: number;
  blob: number;
  size: number;
}

/** Messages whose time has come, and when the next one's does (ms UTC). */
export const dueMessages = query(
  'due-messages',
  async (rx, input: { now: number }): Promise<{ due: DueMessage[]; next: number | undefined }> => {
    const due = await rx.all<{ id: number; blob: number; size: number }>(
      `SELECT s.id, s.blob_id AS blob, s.size FROM scheduled d JOIN submission s ON s.id = d.submission_id
       WHERE d.due_at <= ? ORDER BY d.due_at LIMIT 50`,
      input.now,
    );
    const next = await rx.get<{ at: number | null }>(
      'SELECT min(due_at) AS at FROM scheduled WHERE due_at > ?',
      input.now,
    );
    return { due, next: next?.at ?? undefined };
  },
);

/** Lets a message go whose time has come. Answers whether anything was queued; none when it was cancelled meanwhile. */
export const sendScheduled = command(
  'send-scheduled',
  async (tx, input: { id: number; index: MessageIndex }, stamp): Promise<{ queued: boolean }> => {
    const row = await tx.get<{ here: string; elsewhere: string; onward: string; hold: string | null }>(
      'DELETE FROM scheduled WHERE submission_id = ? RETURNING here, elsewhere, onward, hold',
      input.id,
    );
    const submission = await tx.get<{
      trace: string;
      blob_id: number;
      tenant: number;
      account_id: number | null;
      sender: string;
      eight_bit: number;
    }>('SELECT trace, blob_id, tenant, account_id, sender, eight_bit FROM submission WHERE id = ?', input.id);
    if (row === undefined || submission === undefined) return { queued: false };
    const here = JSON.parse(row.here) as Delivery[];
    const elsewhere = JSON.parse(row.elsewhere) as NewQueueRow[];
    const { trace, tenant, account_id: account, sender } = submission;
    for (const delivery of here) await deliverTo(tx, delivery, submission.blob_id, input.index, stamp);
    const to = [...here.map((one) => one.to), ...elsewhere.map((one) => one.recipient)];
    const local = here.map((one) => one.to);
    const detail = { from: sender, to, size: input.index.size, ...(local.length > 0 && { here: local }) };
    await note(tx, trace, 'submitted', account, detail, stamp, { tenant, messageId: input.index.messageId });
    await addRows(tx, { submission: input.id, trace, account }, elsewhere, row.hold, stamp);
    const onward = JSON.parse(row.onward) as Onward[];
    const mail = { trace, eightBit: submission.eight_bit === 1, hold: row.hold, index: input.index };
    for (const one of onward) await sendOn(tx, mail, one, submission.blob_id, stamp);
    if (elsewhere.length === 0) await dropSubmission(tx, input.id);
    return { queued: elsewhere.length + onward.length > 0 };
  },
);

/** Takes back what has not left yet. */
export async function unschedule(tx: Write, trace: string, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<{ id: number; account_id: number | null }>(
    'SELECT s.id, s.account_id FROM submission s JOIN scheduled d ON d.submission_id = s.id WHERE s.trace = ?',
    trace,
  );
  if (row === undefined) return false;
  await tx.run('DELETE FROM scheduled WHERE submission_id = ?', row.id);
  await note(tx, trace, 'cancelled', row.account_id, {}, stamp);
  await dropSubmission(tx, row.id);
  return true;
}
