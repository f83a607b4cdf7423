import { noteRuleChange, type RulesToUndo, type RulesUndone, undoRules } from '../../mail/store/agent-rule-change.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { askDestination, asksWord, type Confirmation, takeLetter } from './confirmation-commands.ts';

/** More forwards after one another than anybody means. */
const LONGEST_CHAIN = 32;
/** Of one organization. */
export const MOST_FORWARDS = 1000;

export interface NewForwarder {
  organization: number;
  domain: number;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
  /** What asks the destination, where it is to be asked. */
  confirmation: Confirmation | null;
  /** The agent that sets it; null or left out: a person. */
  by?: string | null;
}

export type SetForwarder =
  | { kind: 'set'; id: number; createdAt: number }
  /** Mail would come back; the keys on its way, the source first and last. */
  | { kind: 'loop'; path: string[] }
  /** The organization has as many as it may. */
  | { kind: 'full' }
  /** Its policy has just changed: the destination has to be asked, and nothing was prepared for that. */
  | { kind: 'asks' }
  /** The destination had its letters for today. */
  | { kind: 'limited'; waitMs: number }
  | { kind: 'missing' };

/**
 * Sets a forward, or changes whether it keeps a copy. The check for loops is in the same transaction, so that two
 * forwards set at once cannot close a circle.
 */
export const setForwarder = command('set-forwarder', async (tx, input: NewForwarder, stamp): Promise<SetForwarder> => {
  const domain = await tx.get(
    'SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?',
    input.domain,
    input.organization,
  );
  if (domain === undefined) return { kind: 'missing' };
  const path = await wayBack(tx, input);
  if (path !== undefined) return { kind: 'loop', path };
  const known = await knownForwarder(tx, input);
  if (known === undefined && (await isFull(tx, input.organization))) return { kind: 'full' };
  const pending = await isPending(tx, input, known);
  if (pending && input.confirmation === null) return { kind: 'asks' };
  const waitMs = pending && input.confirmation !== null ? await takeLetter(tx, input.confirmation, stamp) : 0;
  if (waitMs > 0) return { kind: 'limited', waitMs };
  const before = (await storedForwarder(tx, input)) ?? null;
  const row = await writeForwarder(tx, input, pending, stamp);
  const about = { tenant: input.organization, by: input.by, what: 'forwarder' } as const;
  await noteRuleChange(tx, about, { before, after: (await storedForwarder(tx, input)) ?? null }, stamp);
  if (pending && input.confirmation !== null) await askDestination(tx, row.id, input.confirmation, stamp);
  return { kind: 'set', id: row.id, createdAt: row.created_at };
});

interface Known {
  id: number;
  pending: number;
}

function knownForwarder(rx: Read, input: NewForwarder): Promise<Known | undefined> {
  return rx.get<{ id: number; pending: number }>(
    'SELECT id, pending FROM forwarder WHERE organization_id = ? AND source_key = ? AND destination_key = ?',
    input.organization,
    input.sourceKey,
    input.destinationKey,
  );
}

async function isFull(rx: Read, organization: number): Promise<boolean> {
  const row = await rx.get<{ n: number }>(
    'SELECT count(*) AS n FROM forwarder WHERE organization_id = ?',
    organization,
  );
  return (row?.n ?? 0) >= MOST_FORWARDS;
}

/** What was active stays so: a policy speaks of what is set from then on. */
async function isPending(rx: Read, { organization, destinationKey }: NewForwarder, known?: Known): Promise<boolean> {
  if (known?.pending === 0) return false;
  return asksWord(rx, { organization, domain: destinationKey.slice(destinationKey.lastIndexOf('@') + 1) });
}

async function writeForwarder(
  tx: Write,
  input: NewForwarder,
  pending: boolean,
  stamp: Stamp,
): Promise<{ id: number; created_at: number }> {
  const row = await tx.get<{ id: number; created_at: number }>(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, pending, created_at, set_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, source_key, destination_key)
       DO UPDATE SET keep_local = excluded.keep_local, pending = excluded.pending,
         set_by = iif(excluded.set_by IS NULL, NULL, set_by)
     RETURNING id, created_at`,
    input.organization,
    input.domain,
    input.source,
    input.sourceKey,
    input.destination,
    input.destinationKey,
    Number(input.keepLocal),
    Number(pending),
    stamp.now,
    input.by ?? null,
  );
  if (row === undefined) throw new Error('a forwarder was written and has no row');
  return row;
}

/**
 * The way from the destination back to the source over forwards that work on this box or are the organization's own. Plus tags do not
 * hide it: mail to a+x@ is forwarded as mail to a@.
 */
async function wayBack(rx: Read, { organization, sourceKey, destinationKey }: Which): Promise<string[] | undefined> {
  const home = withoutTag(sourceKey);
  const open: string[][] = [[sourceKey, destinationKey]];
  const seen = new Set<string>();
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const at = withoutTag(path.at(-1) ?? '');
    if (at === home) return path;
    if (seen.has(at) || path.length > LONGEST_CHAIN) continue;
    seen.add(at);
    const next = await rx.all<{ destination_key: string }>(
      `SELECT f.destination_key FROM forwarder f JOIN domain d ON d.id = f.domain_id
       WHERE f.source_key = ? AND (d.state = 1 OR f.organization_id = ?) LIMIT 100`,
      at,
      organization,
    );
    for (const { destination_key } of next) open.push([...path, destination_key]);
  }
  return undefined;
}

function withoutTag(key: string): string {
  const at = key.lastIndexOf('@');
  const plus = key.indexOf('+');
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : key;
}

export const removeForwarder = command(
  'remove-forwarder',
  async (
    tx,
    { organization, id, by }: { organization: number; id: number; by: string | null },
    stamp,
  ): Promise<{ kind: 'removed' | 'missing' }> => {
    const before = await tx.get<ForwarderRow>(
      `DELETE FROM forwarder WHERE id = ? AND organization_id = ? RETURNING ${COLUMNS}`,
      id,
      organization,
    );
    if (before === undefined) return { kind: 'missing' };
    await noteRuleChange(tx, { tenant: organization, by, what: 'forwarder' }, { before, after: null }, stamp);
    return { kind: 'removed' };
  },
);

/** What is written down of a forward: all but who may confirm it. */
interface ForwarderRow extends Record<string, number | string | null> {
  id: number;
  organization_id: number;
  domain_id: number;
  source: string;
  source_key: string;
  destination: string;
  destination_key: string;
  keep_local: number;
  pending: number;
  created_at: number;
  set_by: string | null;
}

const COLUMNS =
  'id, organization_id, domain_id, source, source_key, destination, destination_key, keep_local, pending, created_at, set_by';

type Which = Pick<NewForwarder, 'organization' | 'sourceKey' | 'destinationKey'>;

function storedForwarder(
  rx: Read,
  { organization, sourceKey, destinationKey }: Which,
): Promise<ForwarderRow | undefined> {
  return rx.get<ForwarderRow>(
    `SELECT ${COLUMNS} FROM forwarder WHERE organization_id = ? AND source_key = ? AND destination_key = ?`,
    organization,
    sourceKey,
    destinationKey,
  );
}

/** Undoes what an agent did to forwards of an organization, where nobody has changed them since. */
export const undoForwarders = command('undo-forwarders', (tx, input: RulesToUndo): Promise<RulesUndone> =>
  undoRules<ForwarderRow>(tx, input, 'forwarder', ({ before, after }) => putBack(tx, before, after)),
);

/** A destination that had confirmed a forward need not do it again; one that had not is asked when it is set again. */
async function putBack(tx: Write, before: ForwarderRow | null, after: ForwarderRow | null): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const which = {
    organization: about.organization_id,
    sourceKey: about.source_key,
    destinationKey: about.destination_key,
  };
  const now = await storedForwarder(tx, which);
  if (now?.keep_local !== after?.keep_local) return false;
  // Who says the same again makes it theirs; what is from before that was written down says nothing of it.
  if ((now?.set_by ?? null) !== (after?.set_by ?? null)) return false;
  if (before === null) {
    await tx.run('DELETE FROM forwarder WHERE id = ?', now?.id ?? 0);
    return true;
  }
  if (now !== undefined) {
    await tx.run('UPDATE forwarder SET keep_local = ? WHERE id = ?', before.keep_local, now.id);
    return true;
  }
  return restore(tx, which, before);
}

/** Not where mail would come back by now, there are as many as there may be, or the domain is gone. */
async function restore(tx: Write, which: Which, row: ForwarderRow): Promise<boolean> {
  const domain = await tx.get(
    'SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?',
    row.domain_id,
    row.organization_id,
  );
  if (domain === undefined || row.pending === 1) return false;
  if ((await isFull(tx, row.organization_id)) || (await wayBack(tx, which)) !== undefined) return false;
  await tx.run(
    `INSERT INTO forwarder (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organization_id,
    row.domain_id,
    row.source,
    row.source_key,
    row.destination,
    row.destination_key,
    row.keep_local,
    row.pending,
    row.created_at,
    row.set_by ?? null,
  );
  return true;
}

export interface Forwarder {
  id: number;
  organization: number;
  domain: number;
  /** Of the mailbox at the source, else of its domain. */
  project: number | null;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
  /** A mailbox of the same organization stands at the source. */
  mailbox: number | null;
  createdAt: number;
  /** Its destination has not confirmed it yet: nothing goes on. */
  pending: boolean;
}

export const listForwarders = query(
  'list-forwarders',
  async (rx, input: { organization: number }): Promise<Forwarder[]> => {
    const rows = await rx.all<{
      id: number;
      organization_id: number;
      domain_id: number;
      project_id: number | null;
      source: string;
      source_key: string;
      destination: string;
      destination_key: string;
      keep_local: number;
      account_id: number | null;
      created_at: number;
      pending: number;
    }>(
      `SELECT f.*, coalesce(m.project_id, s.project_id) AS project_id, a.account_id FROM forwarder f
       LEFT JOIN domain_setup s ON s.domain_id = f.domain_id
       LEFT JOIN address a ON a.key = f.source_key AND a.domain_id = f.domain_id
       LEFT JOIN mailbox_setup m ON m.account_id = a.account_id
       WHERE f.organization_id = ? ORDER BY f.id`,
      input.organization,
    );
    return rows.map((row) => ({
      id: row.id,
      organization: row.organization_id,
      domain: row.domain_id,
      project: row.project_id,
      source: row.source,
      sourceKey: row.source_key,
      destination: row.destination,
      destinationKey: row.destination_key,
      keepLocal: row.keep_local === 1,
      mailbox: row.account_id,
      createdAt: row.created_at,
      pending: row.pending === 1,
    }));
  },
);
