import { AGENT_STOPPED, ON_REQUEST } from './agent-hold.ts';
import { noteDeparted } from './departed.ts';
import { command, type Stamp, type Write } from './engine/types.ts';
import { note } from './journal.ts';
import { removeRow } from './queue.ts';

/** What a person can do to rows: try now, keep back, let go what was held, never send, send by another way. */
export type Steering = 'retry' | 'hold' | 'release' | 'cancel' | 'reroute';

export interface Steer {
  ids: readonly number[] | 'all';
  what: Steering;
  tenant: number | null;
  accounts: readonly number[] | null;
  /** A token asks: it lets nothing go that a person stopped. */
  byToken?: boolean;
  /** Tenants whose rows stay as they are. */
  except?: readonly number[];
  /** Of all, those behind this one. */
  after?: number;
  /** Of all, those for this destination, or of the message with this trace id. */
  domain?: string;
  trace?: string;
  /** For `reroute`: null as the routes say, 0 direct, -1 the box's smarthost, else a route; and how it reads. */
  route?: { id: number | null; name: string };
}

export interface Steered {
  kind: 'changed' | 'none' | 'no-route';
  changed: number;
  last: number | undefined;
}

/** Rows of one commit. */
const SLICE = 500;

/** Does it to rows that are in the state for it: at most 500, so that 'all' is asked again with `after: last`, if any. */
export const steerQueue = command('steer-queue', async (tx, input: Steer, stamp): Promise<Steered> => {
  if (!(await routeIsThere(tx, input))) return { kind: 'no-route', changed: 0, last: undefined };
  const found = await chosen(tx, input);
  const stays = input.byToken === true && input.what === 'release';
  const rows = found.filter(({ held_because: why }) => !(stays && why?.startsWith(AGENT_STOPPED) === true));
  for (const row of rows) {
    const event = EVENTS[input.what];
    const way = input.route === undefined ? {} : { route: input.route.name };
    const { trace, tenant, account_id: account, recipient: to } = row;
    if (event !== undefined) await note(tx, trace, event, account, { to, ...way }, stamp, { tenant });
    await steerRow(tx, row, input, stamp);
  }
  const last = input.ids !== 'all' || found.length < SLICE ? undefined : found.at(-1)?.id;
  return { kind: rows.length > 0 ? 'changed' : 'none', changed: rows.length, last };
});

/** Held rows can be released, waiting ones tried or held, both cancelled or sent another way. */
const FROM_STATES = { retry: '[0]', hold: '[0]', release: '[1]', cancel: '[0,1]', reroute: '[0,1]' } as const;
const EVENTS = {
  retry: undefined,
  hold: 'held',
  release: 'released',
  cancel: 'cancelled',
  reroute: 'rerouted',
} as const;

interface Chosen extends Record<string, string | number | null> {
  id: number;
  trace: string;
  recipient: string;
  tenant: number;
  account_id: number | null;
  attempts: number;
  held_because: string | null;
}

function chosen(tx: Write, input: Steer): Promise<Chosen[]> {
  const { ids, what, tenant, accounts, except = [], after = 0, domain = null, trace = null } = input;
  const among = accounts === null ? null : JSON.stringify(accounts);
  if (ids !== 'all') {
    return tx.all<Chosen>(
      `SELECT q.id, s.trace, q.recipient, s.tenant, s.account_id, q.attempts, q.held_because FROM json_each(?1) i
         CROSS JOIN queue q ON q.id = i.value CROSS JOIN submission s ON s.id = q.submission_id
       WHERE q.state IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR s.tenant = ?3)
         AND (?4 IS NULL OR s.account_id IN (SELECT value FROM json_each(?4)))
         AND s.tenant NOT IN (SELECT value FROM json_each(?5))
       LIMIT ?6`,
      JSON.stringify(ids),
      FROM_STATES[what],
      tenant,
      among,
      JSON.stringify(except),
      SLICE,
    );
  }
  return tx.all<Chosen>(
    `SELECT q.id, s.trace, q.recipient, s.tenant, s.account_id, q.attempts, q.held_because FROM queue q JOIN submission s ON s.id = q.submission_id
     WHERE q.id > ?1 AND q.state IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR s.tenant = ?3)
       AND (?4 IS NULL OR s.account_id IN (SELECT value FROM json_each(?4)))
       AND s.tenant NOT IN (SELECT value FROM json_each(?5))
       AND (?6 IS NULL OR q.domain = ?6) AND (?7 IS NULL OR s.trace = ?7)
     ORDER BY q.id LIMIT ?8`,
    after,
    FROM_STATES[what],
    tenant,
    among,
    JSON.stringify(except),
    domain,
    trace,
    SLICE,
  );
}

async function routeIsThere(tx: Write, { route, tenant }: Steer): Promise<boolean> {
  if (route === undefined || route.id === null || route.id <= 0) return true;
  const found = await tx.get(
    'SELECT 1 AS there FROM outbound_route WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2)',
    route.id,
    tenant,
  );
  return found !== undefined;
}

async function steerRow(tx: Write, { id, attempts }: Chosen, { what, route }: Steer, stamp: Stamp): Promise<void> {
  switch (what) {
    case 'cancel':
      // On the wire at this moment, or taken by a server whose answer was lost: it may have left all the same.
      if (attempts > 0) await noteDeparted(tx, id, stamp.now);
      return removeRow(tx, id);
    case 'hold':
      await tx.run('UPDATE queue SET state = 1, held_because = ? WHERE id = ?', ON_REQUEST, id);
      return;
    case 'reroute':
      await tx.run('UPDATE queue SET route = ? WHERE id = ?', route?.id ?? null, id);
      await tx.run('UPDATE queue SET next_at = ? WHERE id = ? AND state = 0', stamp.now, id);
      return;
    case 'retry':
    case 'release':
      await tx.run('UPDATE queue SET state = 0, held_because = NULL, next_at = ? WHERE id = ?', stamp.now, id);
  }
}
