import { command, type Read, type Row, type Stamp, type Write } from '../../store/engine/types.ts';
import { recordJournalEvent } from '../../store/journal/journal.ts';
import { AGENT_STOPPED, BY_TOKEN, ON_REQUEST } from '../../store/queue/queue-change.ts';

/** {@link AGENT_STOPPED} for mail that had been held on request: released, it is held on request again. */
export const STOPPED_ON_REQUEST = `${AGENT_STOPPED}; before that it was ${ON_REQUEST}`;

/** Messages, and recipients, per commit. */
const SLICE = 500;

/**
 * Time that a hold is remembered after all mail is held, in ms: a release in slices must see a hold that began between two
 * of them. Longer than one request lasts.
 */
const REMEMBERED_MS = 10 * 60_000;
/** Marks a hold as complete; `send` then is the time of completion instead of an id. */
const COMPLETE_HOLD = 'UPDATE agent_hold SET at = 0, send = ? WHERE id = ?';

interface Hold extends Row {
  id: number;
  tenant: number;
  credential: string | null;
  at: number;
  send: number;
}

interface SentMail extends Row {
  id: number;
  at: number;
  trace: string;
}

interface UnsentMail extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
}

// Two statements with an index each: one statement for both would find an agent's few messages among all of its
// organization.
const LAST_OF_ALL = `INSERT INTO agent_hold (tenant, credential, at, send) SELECT tenant, NULL, at, id + 1
   FROM agent_send INDEXED BY agent_send_tenant WHERE tenant = ?1 ORDER BY at DESC, id DESC LIMIT 1`;
const LAST_OF_ONE = `INSERT INTO agent_hold (tenant, credential, at, send) SELECT tenant, credential, at, id + 1
   FROM agent_send INDEXED BY agent_send_credential WHERE tenant = ?1 AND credential = ?2 ORDER BY at DESC, id DESC LIMIT 1`;
const BEFORE_OF_ALL = `SELECT id, at, trace FROM agent_send INDEXED BY agent_send_tenant
   WHERE tenant = ?1 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4 + 0`;
const BEFORE_OF_ONE = `SELECT id, at, trace FROM agent_send INDEXED BY agent_send_credential
   WHERE tenant = ?1 AND credential = ?5 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4 + 0`;

/**
 * Holds unsent mail of agents of a tenant, scheduled and queued. From this commit on nothing of it leaves; the rows are
 * updated in slices, the first one here ({@link holdMore}). Returns the number held in this slice.
 */
export async function holdAgentMail(
  tx: Write,
  tenant: number,
  agents: readonly (string | null)[],
  stamp: Stamp,
): Promise<number> {
  for (const credential of agents) {
    if (credential === null) await tx.run(LAST_OF_ALL, tenant);
    else await tx.run(LAST_OF_ONE, tenant, credential);
  }
  return (await holdMore.run(tx, { tenant }, stamp)).held;
}

/** Holds the next slice of mail of frozen agents of a tenant (null: of any tenant). */
export const holdMore = command(
  'hold-more',
  async (tx, { tenant }: { tenant: number | null }, stamp): Promise<{ held: number; more: boolean }> => {
    const hold = await tx.get<Hold>(
      `SELECT id, tenant, credential, at, send FROM agent_hold WHERE at > 0 AND (?1 IS NULL OR tenant = ?1) ORDER BY id LIMIT 1`,
      tenant,
    );
    if (hold === undefined) return { held: 0, more: false };
    return { held: await holdSlice(tx, hold, stamp), more: true };
  },
);

/** Continues holds that a crash interrupted; a retention job. */
export const continueHolds = command('hold-rest', async (tx, _input: undefined, stamp): Promise<boolean> => {
  await tx.run('DELETE FROM agent_hold WHERE at = 0 AND send < ?', stamp.now - REMEMBERED_MS);
  return (await holdMore.run(tx, { tenant: null }, stamp)).more;
});

/** Tests if a message is still to be held: its row does not show it yet. */
export async function isHoldPending(rx: Read, trace: string): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS yes FROM agent_hold h CROSS JOIN agent_send g ON g.trace = ?
     WHERE h.at > 0 AND g.tenant = h.tenant AND (h.credential IS NULL OR g.credential = h.credential)
       AND (g.at, g.id) < (h.at, h.send) LIMIT 1`,
    trace,
  );
  return row !== undefined;
}

/** Holds a queue row that was due before {@link holdMore} came to it. */
export async function holdIfPending(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const row = await tx.get<UnsentMail & { tenant: number }>(
    `SELECT q.id, s.trace, s.tenant, s.account_id, q.recipient FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.id = ? AND q.state = 0`,
    id,
  );
  if (row !== undefined && (await isHoldPending(tx, row.trace))) await holdRow(tx, row.tenant, row, stamp);
}

/** Holds a scheduled message as a whole. */
export async function holdScheduled(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account }: { id: number; trace: string; account_id: number | null },
  stamp: Stamp,
): Promise<void> {
  await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', AGENT_STOPPED, id);
  await recordJournalEvent(tx, trace, 'held', account, { because: AGENT_STOPPED, outbox: id }, stamp, { tenant });
}

/** Holds a window of messages, the newest first: older ones have mostly left. */
async function holdSlice(tx: Write, hold: Hold, stamp: Stamp): Promise<number> {
  const { id, tenant, credential } = hold;
  const place = [tenant, hold.at, hold.send, SLICE] as const;
  const window =
    credential === null
      ? await tx.all<SentMail>(BEFORE_OF_ALL, ...place)
      : await tx.all<SentMail>(BEFORE_OF_ONE, ...place, credential);
  const traces = JSON.stringify(window.map(({ trace }) => trace));
  const whole = await unheldScheduled(tx, traces);
  for (const one of whole) await holdScheduled(tx, tenant, one, stamp);
  const found = await unheldQueued(tx, traces);
  const queued = found.slice(0, SLICE);
  for (const one of queued) await holdRow(tx, tenant, one, stamp);
  const last = window.at(-1);
  if (found.length > SLICE) return whole.length + SLICE; // the same window has more
  if (last === undefined || window.length < SLICE) await tx.run(COMPLETE_HOLD, stamp.now, id);
  else await tx.run('UPDATE agent_hold SET at = ?, send = ? WHERE id = ?', last.at, last.id, id);
  return whole.length + queued.length;
}

/** Leaves pending approvals alone; mail held for another reason must not leave when that ends. */
function unheldScheduled(tx: Write, traces: string): Promise<UnsentMail[]> {
  return tx.all<UnsentMail>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient FROM json_each(?1, '$') j
       CROSS JOIN submission s ON s.trace = j.value JOIN scheduled d ON d.submission_id = s.id
     WHERE d.hold_reason IS NOT ?2
       AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.id = s.id AND a.state = 'pending')`,
    traces,
    AGENT_STOPPED,
  );
}

/** Reads one row more than a slice to see if there are more: mostly there is one row a message. */
function unheldQueued(tx: Write, traces: string): Promise<UnsentMail[]> {
  return tx.all<UnsentMail>(
    `SELECT q.id, s.trace, s.account_id, q.recipient FROM json_each(?1, '$') j
       CROSS JOIN submission s ON s.trace = j.value JOIN queue q ON q.submission_id = s.id
     WHERE q.hold_reason IS NOT ?2 AND q.hold_reason IS NOT ?3 LIMIT ?4 + 0`,
    traces,
    AGENT_STOPPED,
    STOPPED_ON_REQUEST,
    SLICE + 1,
  );
}

async function holdRow(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account, recipient: to }: UnsentMail,
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    'UPDATE queue SET state = 1, hold_reason = iif(state = 1 AND hold_reason IN (?, ?), ?, ?) WHERE id = ?',
    ON_REQUEST,
    BY_TOKEN,
    STOPPED_ON_REQUEST,
    AGENT_STOPPED,
    id,
  );
  await recordJournalEvent(tx, trace, 'held', account, { to, because: AGENT_STOPPED }, stamp, { tenant });
}
