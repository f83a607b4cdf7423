import { recordSentCopy } from './sent-copies.ts';
import { command, type Stamp, type Write } from '../engine/types.ts';
import { recordJournalEvent } from '../journal/journal.ts';
import { PAUSED } from '../limit/paused-sender.ts';
import { removeRow } from './queue.ts';

/** Hold reason of queued mail whose agent a person stopped. */
export const AGENT_STOPPED = 'its agent was stopped: a person lets it go, or takes it back';
/** Hold reason of queued mail that a person held: only a person releases or cancels it. */
export const ON_REQUEST = 'held on request';
/** Hold reason of queued mail that a token held. */
export const BY_TOKEN = 'held by a token';
/** Beginnings of hold reasons that a token must not overrule: decisions of people and of the server about a sender. */
const NOT_FOR_TOKENS = [AGENT_STOPPED, ON_REQUEST, PAUSED];

/** Actions on queue rows: retry now, hold, release, cancel, reroute. */
export type Steering = 'retry' | 'hold' | 'release' | 'cancel' | 'reroute';

export interface Steer {
  ids: readonly number[] | 'all';
  what: Steering;
  tenant: number | null;
  accounts: readonly number[] | null;
  /** A token requests it: what a person held stays held. */
  byToken?: boolean;
  /** Tenants whose rows are excluded. */
  except?: readonly number[];
  /** For all: rows after this id. */
  after?: number;
  /** For all: rows for this destination, or of the message with this trace id. */
  domain?: string;
  trace?: string;
  /** For `reroute`: null by the routes, 0 direct, -1 the server's smarthost, else a route; with its display name. */
  route?: { id: number | null; name: string };
}

export interface Steered {
  kind: 'changed' | 'none' | 'no-route';
  changed: number;
  last: number | undefined;
}

/** Maximum rows of one commit. */
const SLICE = 500;

/** Changes rows in a suitable state, at most 500: 'all' is repeated with `after: last`, if any. */
export const changeQueue = command('change-queue', async (tx, input: Steer, stamp): Promise<Steered> => {
  if (!(await routeIsThere(tx, input))) return { kind: 'no-route', changed: 0, last: undefined };
  const found = await chosen(tx, input);
  const rows = found.filter(({ hold_reason: why }) => mayChange(input, why));
  for (const row of rows) {
    const event = EVENTS[input.what];
    const way = input.route === undefined ? {} : { route: input.route.name };
    const { trace, tenant, account_id: account, recipient: to } = row;
    if (event !== undefined) await recordJournalEvent(tx, trace, event, account, { to, ...way }, stamp, { tenant });
    await steerRow(tx, row, input, stamp);
  }
  const last = input.ids !== 'all' || found.length < SLICE ? undefined : found.at(-1)?.id;
  return { kind: rows.length > 0 ? 'changed' : 'none', changed: rows.length, last };
});

function mayChange({ byToken = false, what }: Steer, why: string | null): boolean {
  if (!byToken || why === null) return true;
  if (what === 'cancel') return why !== ON_REQUEST;
  return what !== 'release' || !NOT_FOR_TOKENS.some((reason) => why.startsWith(reason));
}

/** Held rows can be released, pending ones retried or held, both cancelled or rerouted. */
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
  hold_reason: string | null;
}

function chosen(tx: Write, input: Steer): Promise<Chosen[]> {
  const { ids, what, tenant, accounts, except = [], after = 0, domain = null, trace = null } = input;
  const among = accounts === null ? null : JSON.stringify(accounts);
  if (ids !== 'all') {
    return tx.all<Chosen>(
      `SELECT q.id, s.trace, q.recipient, s.tenant, s.account_id, q.attempts, q.hold_reason FROM json_each(?1) i
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
    `SELECT q.id, s.trace, q.recipient, s.tenant, s.account_id, q.attempts, q.hold_reason FROM queue q JOIN submission s ON s.id = q.submission_id
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

async function steerRow(
  tx: Write,
  { id, attempts }: Chosen,
  { what, route, byToken }: Steer,
  stamp: Stamp,
): Promise<void> {
  switch (what) {
    case 'cancel':
      // An attempt is running, or its reply was lost: it may have been sent nevertheless.
      if (attempts > 0) await recordSentCopy(tx, id, stamp.now);
      return removeRow(tx, id);
    case 'hold':
      await tx.run('UPDATE queue SET state = 1, hold_reason = ? WHERE id = ?', byToken ? BY_TOKEN : ON_REQUEST, id);
      return;
    case 'reroute':
      await tx.run('UPDATE queue SET route = ? WHERE id = ?', route?.id ?? null, id);
      await tx.run('UPDATE queue SET next_at = ? WHERE id = ? AND state = 0', stamp.now, id);
      return;
    case 'retry':
    case 'release':
      await tx.run('UPDATE queue SET state = 0, hold_reason = NULL, next_at = ? WHERE id = ?', stamp.now, id);
  }
}
