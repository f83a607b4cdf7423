import { command, lookup, type Read, type Row, type Stamp, type Write } from '../../store/engine/types.ts';
import type { ReadMail } from '../taint/taint.ts';

const DAY_MS = 24 * 3_600_000;
/** Retention of decisions. */
const RETENTION_MS = 30 * DAY_MS;
const SLICE = 200;

/** Mail that an agent submitted, with the decision. */
export interface AgentSend {
  trace: string;
  tenant: number;
  /** Null if no mailbox sent it. */
  account: number | null;
  reader: string;
  credential: string;
  outcome: 'taken' | 'scheduled' | 'held';
  /** Reasons of the gate. */
  reasons: readonly { code: string; text: string; recipients?: readonly string[] }[];
  /** Newest messages that had been read. */
  readMail: readonly ReadMail[];
  /** Row of the answered thread. */
  thread: number | null;
  /** Number of messages that it counts as. */
  weight: number;
  /** Number of new recipients. */
  fresh: number;
  size: number;
}

/** Records a decision in its own commit. */
export async function recordAgentSend(tx: Write, send: AgentSend, { now }: Stamp): Promise<void> {
  await tx.run(
    `INSERT INTO agent_send (trace, tenant, account_id, reader, credential, outcome, reasons, untrusted_reads, thread_id, weight,
       new_recipients, size, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    send.trace,
    send.tenant,
    send.account,
    send.reader,
    send.credential,
    send.outcome,
    JSON.stringify(send.reasons),
    JSON.stringify(send.readMail),
    send.thread,
    send.weight,
    send.fresh,
    send.size,
    now,
  );
}

/** Usage of one reader in a window. */
export interface AgentUse {
  messages: number;
  fresh: number;
  bytes: number;
}

/** Usage of one reader since a time. */
export async function agentUse(rx: Read, reader: string, since: number): Promise<AgentUse> {
  const row = await rx.get<AgentUse & Row>(
    `SELECT coalesce(sum(weight), 0) AS messages, coalesce(sum(new_recipients), 0) AS fresh, coalesce(sum(size), 0) AS bytes
       FROM agent_send WHERE reader = ? AND at > ?`,
    reader,
    since,
  );
  return row ?? { messages: 0, fresh: 0, bytes: 0 };
}

/**
 * Time (ms UTC) at which a reader's usage since `since` reached an amount: when that leaves the window, as much budget is
 * free again. Undefined if it used less.
 */
export async function usageReachedAt(
  rx: Read,
  { reader, since, what, amount }: { reader: string; since: number; what: keyof AgentUse; amount: number },
): Promise<number | undefined> {
  const row = await rx.get<{ at: number }>(
    `SELECT spent.at FROM (SELECT at, sum(CASE ? WHEN 'messages' THEN weight WHEN 'fresh' THEN new_recipients ELSE size END)
       OVER (ORDER BY at, id) AS amount FROM agent_send WHERE reader = ? AND at > ?) AS spent
     WHERE spent.amount >= ? ORDER BY spent.at LIMIT 1`,
    what,
    reader,
    since,
    amount,
  );
  return row?.at;
}

/** Time of the nth newest answer of agents in a thread, ms UTC; undefined if there are fewer. */
export async function nthAnswerIn(
  rx: Read,
  { account, thread, nth }: { account: number; thread: number; nth: number },
): Promise<number | undefined> {
  const row = await rx.get<{ at: number }>(
    `SELECT at FROM agent_send WHERE account_id = ? AND thread_id = ? AND outcome <> 'held'
     ORDER BY at DESC LIMIT 1 OFFSET ?`,
    account,
    thread,
    nth - 1,
  );
  return row?.at;
}

/** Number of agents' answers in a thread since a time. */
export async function answersIn(
  rx: Read,
  { account, thread, since }: { account: number; thread: number; since: number },
): Promise<number> {
  const row = await rx.get<{ answers: number }>(
    `SELECT count(*) AS answers FROM agent_send
     WHERE account_id = ? AND thread_id = ? AND at > ? AND outcome <> 'held'`,
    account,
    thread,
    since,
  );
  return row?.answers ?? 0;
}

interface SendRow extends Row {
  trace: string;
  tenant: number;
  account_id: number | null;
  reader: string;
  credential: string;
  outcome: AgentSend['outcome'];
  reasons: string;
  untrusted_reads: string;
  thread_id: number | null;
  weight: number;
  new_recipients: number;
  size: number;
  at: number;
}

/** Decision about a message of a tenant; undefined if no agent sent it, or it was purged. */
export const agentSendOf = lookup(
  'agent-send-of',
  async (
    rx,
    { tenant, trace }: { tenant: number; trace: string },
  ): Promise<(AgentSend & { at: number }) | undefined> => {
    const row = await rx.get<SendRow>('SELECT * FROM agent_send WHERE trace = ? AND tenant = ?', trace, tenant);
    return row === undefined ? undefined : sendOf(row);
  },
);

function sendOf({
  account_id: account,
  thread_id: thread,
  reasons,
  untrusted_reads: read,
  new_recipients: fresh,
  ...row
}: SendRow): AgentSend & { at: number } {
  return {
    ...row,
    account,
    thread,
    reasons: JSON.parse(reasons) as AgentSend['reasons'],
    readMail: JSON.parse(read) as ReadMail[],
    fresh,
  };
}

/** Purges a slice of old decisions of mail that has left: freezing an agent must find all mail that has not. */
export const purgeAgentSends = command(
  'purge-agent-sends',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM agent_send WHERE id IN (SELECT g.id FROM agent_send g WHERE g.at <= ?
         AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.trace = g.trace) LIMIT ?)`,
      now - RETENTION_MS,
      SLICE,
    );
    return changes === SLICE;
  },
);
