import { query, type Stamp, type Write } from './engine/types.ts';
import { noteHappening } from './listener.ts';

/** What can happen to a message, in the order in which it can. */
export type JournalEvent =
  | 'received'
  | 'forwarded'
  | 'kept'
  | 'scheduled'
  | 'submitted'
  | 'held'
  | 'released'
  | 'cancelled'
  | 'deferred'
  | 'delivered'
  | 'failed'
  | 'bounced'
  | 'complained'
  | 'suppressed';

/** What a line belongs to beside an account. */
export interface About {
  /** Whose line it is when no account says it. */
  tenant?: number;
  /** Its Message-ID with angle brackets, '' when it has none. */
  messageId?: string;
}

/** Writes one line of a message's story, and has those told who listen. Part of the transaction that it tells of. */
export async function note(
  tx: Write,
  trace: string,
  event: JournalEvent,
  account: number | null,
  detail: Record<string, string | number | readonly string[]>,
  stamp: Stamp,
  { tenant, messageId = '' }: About = {},
): Promise<void> {
  const whole = messageId === '' ? detail : { ...detail, id: messageId };
  await tx.run(
    'INSERT INTO journal (at, trace, event, account_id, detail) VALUES (?, ?, ?, ?, ?)',
    stamp.now,
    trace,
    event,
    account,
    JSON.stringify(whole),
  );
  await noteHappening(tx, { event, trace, account, tenant, detail: whole }, stamp);
}

export interface JournalLine {
  at: number;
  event: JournalEvent;
  account: number | null;
  detail: Record<string, unknown>;
}

/** The story of one message, oldest first. */
export const journalOf = query('journal-of', async (rx, input: { trace: string }): Promise<JournalLine[]> => {
  const rows = await rx.all<{ at: number; event: JournalEvent; account_id: number | null; detail: string }>(
    'SELECT at, event, account_id, detail FROM journal WHERE trace = ? ORDER BY id',
    input.trace,
  );
  return rows.map((row) => ({
    at: row.at,
    event: row.event,
    account: row.account_id,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  }));
});
