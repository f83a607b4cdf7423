import { command, type Read, type Row, type Stamp, type Write } from './engine/types.ts';
import { note } from './journal.ts';

/** Why mail of an agent is held that had not left when a person stopped it. */
export const AGENT_STOPPED = 'its agent was stopped: a person lets it go, or takes it back';

/** Why a row of the queue is held that a person, or a program, wanted held. */
export const ON_REQUEST = 'held on request';
/** The same as {@link AGENT_STOPPED} of what had been held on request: let go, it is held so again. */
export const STOPPED_ON_REQUEST = `${AGENT_STOPPED}; before that it was ${ON_REQUEST}`;

/** Messages, and recipients, that one commit looks at. */
const SLICE = 500;

/**
 * How long a stop is known when all of it is held: whoever lets mail go in slices has to see one that came between two of
 * them. In ms, and longer than one request lasts.
 */
const SEEN_MS = 10 * 60_000;
/** Nothing was sent before this place; in place of an id stands since when. */
const ALL_HELD = 'UPDATE agent_hold SET at = 0, send = ? WHERE id = ?';

/** Whose mail is held: that of one agent of a tenant, or with null of all. */
export interface Stopped {
  tenant: number;
  credential: string | null;
}

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

interface Waiting extends Row {
  id: number;
  trace: string;
  account_id: number | null;
  recipient: string;
}

// One text for all of a tenant and one for a single agent, each led by its own index: with one for both, an agent that sent
// little would be found among all that its organization did.
const LAST_OF_ALL = `INSERT INTO agent_hold (tenant, credential, at, send) SELECT tenant, NULL, at, id + 1
   FROM agent_send INDEXED BY agent_send_tenant WHERE tenant = ?1 ORDER BY at DESC, id DESC LIMIT 1`;
const LAST_OF_ONE = `INSERT INTO agent_hold (tenant, credential, at, send) SELECT tenant, credential, at, id + 1
   FROM agent_send INDEXED BY agent_send_credential WHERE tenant = ?1 AND credential = ?2 ORDER BY at DESC, id DESC LIMIT 1`;
const BEFORE_OF_ALL = `SELECT id, at, trace FROM agent_send INDEXED BY agent_send_tenant
   WHERE tenant = ?1 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4 + 0`;
const BEFORE_OF_ONE = `SELECT id, at, trace FROM agent_send INDEXED BY agent_send_credential
   WHERE tenant = ?1 AND credential = ?5 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4 + 0`;

/**
 * Holds what agents of a tenant sent, and what has not left: what waits for its time, and what is in the queue. From this
 * commit on nothing of it leaves; the rows that say so are written slice after slice, the first one here
 * ({@link holdMore}). Answers how many that has.
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

/** Holds the next slice of what agents of a tenant (null: of any) sent that were stopped. */
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

/** Its chore: what a crash left undone is done by the next round. */
export const holdRest = command('hold-rest', async (tx, _input: undefined, stamp): Promise<boolean> => {
  await tx.run('DELETE FROM agent_hold WHERE at = 0 AND send < ?', stamp.now - SEEN_MS);
  return (await holdMore.run(tx, { tenant: null }, stamp)).more;
});

/** Whether a message is one that is still to be held: its row does not say so yet. */
export async function isToBeHeld(rx: Read, trace: string): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS yes FROM agent_hold h CROSS JOIN agent_send g ON g.trace = ?
     WHERE h.at > 0 AND g.tenant = h.tenant AND (h.credential IS NULL OR g.credential = h.credential)
       AND (g.at, g.id) < (h.at, h.send) LIMIT 1`,
    trace,
  );
  return row !== undefined;
}

/** Holds a row of the queue whose turn came before {@link holdMore} had come to it. */
export async function holdToBeHeld(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const row = await tx.get<Waiting & { tenant: number }>(
    `SELECT q.id, s.trace, s.tenant, s.account_id, q.recipient FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.id = ? AND q.state = 0`,
    id,
  );
  if (row !== undefined && (await isToBeHeld(tx, row.trace))) await holdRow(tx, row.tenant, row, stamp);
}

/** The same of a message that waits as a whole. */
export async function holdWhole(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account }: { id: number; trace: string; account_id: number | null },
  stamp: Stamp,
): Promise<void> {
  await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', AGENT_STOPPED, id);
  await note(tx, trace, 'held', account, { because: AGENT_STOPPED, outbox: id }, stamp, { tenant });
}

/** A window of messages, the newest first: the others have left, or wait for long. */
async function holdSlice(tx: Write, hold: Hold, stamp: Stamp): Promise<number> {
  const { id, tenant, credential } = hold;
  const place = [tenant, hold.at, hold.send, SLICE] as const;
  const window =
    credential === null
      ? await tx.all<SentMail>(BEFORE_OF_ALL, ...place)
      : await tx.all<SentMail>(BEFORE_OF_ONE, ...place, credential);
  const traces = JSON.stringify(window.map(({ trace }) => trace));
  const whole = await stillWhole(tx, traces);
  for (const one of whole) await holdWhole(tx, tenant, one, stamp);
  const found = await stillQueued(tx, traces);
  const queued = found.slice(0, SLICE);
  for (const one of queued) await holdRow(tx, tenant, one, stamp);
  const last = window.at(-1);
  if (found.length > SLICE) return whole.length + SLICE; // the same window has more
  if (last === undefined || window.length < SLICE) await tx.run(ALL_HELD, stamp.now, id);
  else await tx.run('UPDATE agent_hold SET at = ?, send = ? WHERE id = ?', last.at, last.id, id);
  return whole.length + queued.length;
}

/** What a person has to decide about anyway stays as it is; what is held for another reason must not leave when that ends. */
function stillWhole(tx: Write, traces: string): Promise<Waiting[]> {
  return tx.all<Waiting>(
    `SELECT s.id, s.trace, s.account_id, '' AS recipient FROM json_each(?1) j
       CROSS JOIN submission s ON s.trace = j.value JOIN scheduled d ON d.submission_id = s.id
     WHERE d.held_because IS NOT ?2
       AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.id = s.id AND a.state = 'pending')`,
    traces,
    AGENT_STOPPED,
  );
}

/** One more than a slice where there are more: mostly there is a row for each message, and the window ends with the slice. */
function stillQueued(tx: Write, traces: string): Promise<Waiting[]> {
  return tx.all<Waiting>(
    `SELECT q.id, s.trace, s.account_id, q.recipient FROM json_each(?1) j
       CROSS JOIN submission s ON s.trace = j.value JOIN queue q ON q.submission_id = s.id
     WHERE q.held_because IS NOT ?2 AND q.held_because IS NOT ?3 LIMIT ?4 + 0`,
    traces,
    AGENT_STOPPED,
    STOPPED_ON_REQUEST,
    SLICE + 1,
  );
}

async function holdRow(
  tx: Write,
  tenant: number,
  { id, trace, account_id: account, recipient: to }: Waiting,
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    'UPDATE queue SET state = 1, held_because = iif(state = 1 AND held_because = ?, ?, ?) WHERE id = ?',
    ON_REQUEST,
    STOPPED_ON_REQUEST,
    AGENT_STOPPED,
    id,
  );
  await note(tx, trace, 'held', account, { to, because: AGENT_STOPPED }, stamp, { tenant });
}
