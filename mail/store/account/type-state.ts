import { query, type Read, type Stamp, type Write } from '../engine/types.ts';

/** JMAP data types with a state. RFC 8620 1.6.2. */
export const STATE_TYPES = [
  'Mailbox',
  'Thread',
  'Email',
  'EmailDelivery',
  'Identity',
  'EmailSubmission',
  'VacationResponse',
  'Quota',
] as const;

export type StateType = (typeof STATE_TYPES)[number];

/** Types whose state is derived from message and mailbox rows; the others have a row in `type_state`. */
type RowType = 'Mailbox' | 'Thread' | 'Email' | 'EmailDelivery' | 'Quota';

/**
 * Records a change of a type without rows to derive it from, and wakes watchers of the account. Returns its
 * mod-sequence.
 */
export async function bumpState(tx: Write, account: number, type: Exclude<StateType, RowType>): Promise<number> {
  const modseq = await tx.nextModseq(account);
  await tx.run(
    `INSERT INTO type_state (account_id, type, modseq) VALUES (?, ?, ?)
     ON CONFLICT (account_id, type) DO UPDATE SET modseq = excluded.modseq`,
    account,
    type,
    modseq,
  );
  tx.touched(account);
  return modseq;
}

/** Records a tombstone. `modseq` is when the object was hidden, which may be long before its row is deleted. */
export async function recordTombstone(
  tx: Write,
  account: number,
  type: StateType,
  was: { id: number; thread: number | null; created: number },
  modseq: number,
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO tombstone (account_id, type, modseq, object_id, thread_id, created_modseq, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    account,
    type,
    modseq,
    was.id,
    was.thread,
    was.created,
    stamp.now,
  );
}

/** The state of one type as a mod-sequence, at least 1. */
export async function stateOf(rx: Read, account: number, type: StateType): Promise<number> {
  const row = await rx.get<{ modseq: number | null }>(
    sqlOf(type),
    ...(ROW_SQL[type] === undefined ? [account, type] : [account]),
  );
  return row?.modseq ?? 1;
}

/** {@link stateOf} as a query. */
export const typeState = query('type-state', (rx, { account, type }: { account: number; type: StateType }) =>
  stateOf(rx, account, type),
);

/** States of all types, for push and /changes. */
export const jmapStates = query(
  'jmap-states',
  async (rx, input: { account: number }): Promise<Record<StateType, number>> => {
    const states: Partial<Record<StateType, number>> = {};
    for (const type of STATE_TYPES) states[type] = await stateOf(rx, input.account, type);
    return states as Record<StateType, number>;
  },
);

// A thread has no row: its state is that of its messages. A deleted mailbox changed its messages before they are purged
// one by one. The floor preserves the state when the last tombstone is purged.
// Only changed emails are in an index: of the others, the newest has the last mod-sequence.
const EMAIL_SQL = `SELECT max(modseq) AS modseq FROM (
  SELECT max(modseq) AS modseq FROM email WHERE account_id = ?1 AND modseq <> created_modseq
  UNION ALL SELECT max(created_modseq) FROM (SELECT created_modseq FROM email
    WHERE id > ?1 * 4294967296 AND id < (?1 + 1) * 4294967296 ORDER BY id DESC LIMIT 1) newest
  UNION ALL SELECT max(modseq) FROM tombstone WHERE account_id = ?1 AND type = 'Email'
  UNION ALL SELECT max(modseq) FROM mailbox WHERE account_id = ?1 AND parent_id = -1
  UNION ALL SELECT floor FROM type_state WHERE account_id = ?1 AND type = 'Email')`;

// The row of a deleted mailbox stays as its own tombstone.
const MAILBOX_SQL = 'SELECT max(max(modseq, counts_modseq)) AS modseq FROM mailbox WHERE account_id = ?1';

// RFC 8621 1.5: changes only when a message is added. Ids of an account are contiguous and ascending.
const DELIVERY_SQL = `SELECT created_modseq AS modseq FROM email WHERE id > ?1 * 4294967296 AND id < (?1 + 1) * 4294967296
  ORDER BY id DESC LIMIT 1`;

// Usage changes with the messages; a changed limit becomes visible with the next message.
const ROW_SQL: Partial<Record<StateType, string>> = {
  Email: EMAIL_SQL,
  Thread: EMAIL_SQL,
  EmailDelivery: DELIVERY_SQL,
  Quota: EMAIL_SQL,
  Mailbox: MAILBOX_SQL,
};

function sqlOf(type: StateType): string {
  return ROW_SQL[type] ?? 'SELECT modseq FROM type_state WHERE account_id = ? AND type = ?';
}
