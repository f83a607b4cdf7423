import { command, query, type Read, type Row, type Stamp, type Write } from './engine/types.ts';
import type { ReadMail } from './exposure.ts';

const DAY_MS = 24 * 3_600_000;
/** As long as people ask why something was held. */
const KEEP_MS = 30 * DAY_MS;
const SLICE = 200;

/** Something that an agent sent, or asked to send, with what was decided. */
export interface AgentSend {
  trace: string;
  tenant: number;
  /** Null: it sent as no mailbox. */
  account: number | null;
  reader: string;
  credential: string;
  outcome: 'taken' | 'scheduled' | 'held';
  /** As the gate gave them. */
  reasons: readonly { code: string; text: string; recipients?: readonly string[] }[];
  /** The newest that had been read. */
  exposure: readonly ReadMail[];
  /** Row of the thread that it answers. */
  thread: number | null;
  /** Messages that it counts for. */
  weight: number;
  /** Recipients that were never written to before. */
  fresh: number;
  size: number;
}

/** Remembers a decision in its own commit. */
export async function keepAgentSend(tx: Write, send: AgentSend, { now }: Stamp): Promise<void> {
  await tx.run(
    `INSERT INTO agent_send (trace, tenant, account_id, reader, credential, outcome, reasons, exposure, thread_id, weight,
       fresh, size, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    send.trace,
    send.tenant,
    send.account,
    send.reader,
    send.credential,
    send.outcome,
    JSON.stringify(send.reasons),
    JSON.stringify(send.exposure),
    send.thread,
    send.weight,
    send.fresh,
    send.size,
    now,
  );
}

/** What was sent in some time. */
export interface AgentUse {
  messages: number;
  fresh: number;
  bytes: number;
}

/** What one reader sent, or asked to send, since a time. */
export async function agentUse(rx: Read, reader: string, since: number): Promise<AgentUse> {
  const row = await rx.get<AgentUse & Row>(
    `SELECT coalesce(sum(weight), 0) AS messages, coalesce(sum(fresh), 0) AS fresh, coalesce(sum(size), 0) AS bytes
       FROM agent_send WHERE reader = ? AND at > ?`,
    reader,
    since,
  );
  return row ?? { messages: 0, fresh: 0, bytes: 0 };
}

/**
 * When one reader had sent so much of one kind, counted from a time on, ms UTC: what it sent until then makes room for as
 * much when it is over. Undefined: it sent less.
 */
export async function agentSpentBy(
  rx: Read,
  { reader, since, what, amount }: { reader: string; since: number; what: keyof AgentUse; amount: number },
): Promise<number | undefined> {
  const row = await rx.get<{ at: number }>(
    `SELECT spent.at FROM (SELECT at, sum(CASE ? WHEN 'messages' THEN weight WHEN 'fresh' THEN fresh ELSE size END)
       OVER (ORDER BY at, id) AS amount FROM agent_send WHERE reader = ? AND at > ?) AS spent
     WHERE spent.amount >= ? ORDER BY spent.at LIMIT 1`,
    what,
    reader,
    since,
    amount,
  );
  return row?.at;
}

/** When the nth newest answer of agents in a thread was given, ms UTC; undefined: there are fewer. */
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

/** How often agents answered in a thread since a time. */
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
  exposure: string;
  thread_id: number | null;
  weight: number;
  fresh: number;
  size: number;
  at: number;
}

/** The decision about a message of a tenant; undefined when no agent sent it, or it is long ago. */
export const agentSendOf = query(
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
  exposure,
  ...row
}: SendRow): AgentSend & { at: number } {
  return {
    ...row,
    account,
    thread,
    reasons: JSON.parse(reasons) as AgentSend['reasons'],
    exposure: JSON.parse(exposure) as ReadMail[],
  };
}

/** Forgets a slice of what is long ago and has left: an agent that is stopped must find all that has not. */
export const forgetAgentSends = command(
  'forget-agent-sends',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM agent_send WHERE id IN (SELECT g.id FROM agent_send g WHERE g.at <= ?
         AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.trace = g.trace) LIMIT ?)`,
      now - KEEP_MS,
      SLICE,
    );
    return changes === SLICE;
  },
);
