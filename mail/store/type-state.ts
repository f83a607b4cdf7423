import { query, type Read, type Stamp, type Write } from './engine/types.ts';

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

/** Types whose last change stands in the rows of messages and mailboxes; the others have a row of their own. */
type RowType = 'Mailbox' | 'Thread' | 'Email' | 'EmailDelivery' | 'Quota';

/** Notes a change of a type that has no rows to ask, and wakes those who watch the account. Answers its mod-sequence. */
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

/** Remembers what was destroyed: `modseq` is when it was hidden, which may be long before its row goes. */
export async function bury(
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

/** {@link stateOf}, for a method that goes by one type. */
export const typeState = query('type-state', (rx, { account, type }: { account: number; type: StateType }) =>
  stateOf(rx, account, type),
);

/** States of all types, for those who are told of changes. */
export const jmapStates = query(
  'jmap-states',
  async (rx, input: { account: number }): Promise<Record<StateType, number>> => {
    const states: Partial<Record<StateType, number>> = {};
    for (const type of STATE_TYPES) states[type] = await stateOf(rx, input.account, type);
    return states as Record<StateType, number>;
  },
);

// A thread has no row: it changes with the messages that it consists of, and so has their state. A mailbox that is gone
// took its messages along before they leave it one by one. The floor keeps the state when the last tombstone goes.
const EMAIL_SQL = `SELECT max(modseq) AS modseq FROM (SELECT max(modseq) AS modseq FROM email WHERE account_id = ?1
  UNION ALL SELECT max(modseq) FROM tombstone WHERE account_id = ?1 AND type = 'Email'
  UNION ALL SELECT max(modseq) FROM mailbox WHERE account_id = ?1 AND parent_id = -1
  UNION ALL SELECT floor FROM type_state WHERE account_id = ?1 AND type = 'Email')`;

// The row of a mailbox that is gone stays: it is its own tombstone.
const MAILBOX_SQL = 'SELECT max(max(modseq, counts_modseq)) AS modseq FROM mailbox WHERE account_id = ?1';

// RFC 8621 1.5: moves when a message is added and at nothing else. Ids of an account lie together and grow.
const DELIVERY_SQL = `SELECT created_modseq AS modseq FROM email WHERE id > ?1 * 4294967296 AND id < (?1 + 1) * 4294967296
  ORDER BY id DESC LIMIT 1`;

// What is used changes with the messages; a limit that an owner changes is seen at the next of these.
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
