import {
  onRuleChange,
  type RuleUndoRequest,
  type RuleUndoResult,
  undoRules,
} from '../../mail/agents/undo/rule-changes.ts';
import { command, lookup, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import {
  requestConfirmation,
  needsConfirmation,
  type ForwardConfirmation,
  takeConfirmationHit,
} from './confirmation-commands.ts';

/** Forwards followed in the loop check. */
const MAX_CHAIN = 32;
/** Forwards of one organization. */
export const MAX_FORWARDS = 1000;

export interface NewForwarder {
  organization: number;
  domain: number;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
  /** Confirmation request to the destination, if one is required. */
  confirmation: ForwardConfirmation | null;
  /** The agent that creates it; null or undefined: a person. */
  by?: string | null;
}

export type SetForwarderResult =
  | { kind: 'set'; id: number; createdAt: number }
  /** Mail would loop; `path` lists the address keys, with the source first and last. */
  | { kind: 'loop'; path: string[] }
  /** The organization has reached its limit. */
  | { kind: 'full' }
  /** The policy changed meanwhile: confirmation is required but no request was composed. */
  | { kind: 'asks' }
  /** Daily confirmation limit reached for this destination. */
  | { kind: 'limited'; waitMs: number }
  | { kind: 'missing' };

/**
 * Creates a forward, or changes whether it keeps a copy. The loop check runs in the same transaction, so that two
 * concurrent forwards cannot create a loop.
 */
export const setForwarder = command(
  'set-forwarder',
  async (tx, input: NewForwarder, stamp): Promise<SetForwarderResult> => {
    const domain = await tx.get(
      'SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?',
      input.domain,
      input.organization,
    );
    if (domain === undefined) return { kind: 'missing' };
    const path = await findLoop(tx, input);
    if (path !== undefined) return { kind: 'loop', path };
    const known = await knownForwarder(tx, input);
    if (known === undefined && (await isFull(tx, input.organization))) return { kind: 'full' };
    const pending = await isPending(tx, input, known);
    if (pending && input.confirmation === null) return { kind: 'asks' };
    const waitMs =
      pending && input.confirmation !== null ? await takeConfirmationHit(tx, input.confirmation, stamp) : 0;
    if (waitMs > 0) return { kind: 'limited', waitMs };
    const before = (await storedForwarder(tx, input)) ?? null;
    const row = await writeForwarder(tx, input, pending, stamp);
    const about = { tenant: input.organization, by: input.by, what: 'forwarder' } as const;
    await onRuleChange(tx, about, { before, after: (await storedForwarder(tx, input)) ?? null }, stamp);
    if (pending && input.confirmation !== null) await requestConfirmation(tx, row.id, input.confirmation, stamp);
    return { kind: 'set', id: row.id, createdAt: row.created_at };
  },
);

interface KnownForwarder {
  id: number;
  pending: number;
}

function knownForwarder(rx: Read, input: NewForwarder): Promise<KnownForwarder | undefined> {
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
  return (row?.n ?? 0) >= MAX_FORWARDS;
}

/** An active forward stays active: the policy applies to new ones. */
async function isPending(
  rx: Read,
  { organization, destinationKey }: NewForwarder,
  known?: KnownForwarder,
): Promise<boolean> {
  if (known?.pending === 0) return false;
  return needsConfirmation(rx, { organization, domain: destinationKey.slice(destinationKey.lastIndexOf('@') + 1) });
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
         set_by = iif(excluded.set_by IS NULL, NULL, forwarder.set_by)
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
 * Finds a path from the destination back to the source over forwards of verified domains or of the organization. Plus
 * tags are ignored: mail to a+x@ is forwarded like mail to a@.
 */
async function findLoop(
  rx: Read,
  { organization, sourceKey, destinationKey }: ForwarderKey,
): Promise<string[] | undefined> {
  const home = withoutTag(sourceKey);
  const open: string[][] = [[sourceKey, destinationKey]];
  const seen = new Set<string>();
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const at = withoutTag(path.at(-1) ?? '');
    if (at === home) return path;
    if (seen.has(at) || path.length > MAX_CHAIN) continue;
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
    await onRuleChange(tx, { tenant: organization, by, what: 'forwarder' }, { before, after: null }, stamp);
    return { kind: 'removed' };
  },
);

/** Forward row as recorded for undo, without the confirmation link. */
export interface ForwarderRow extends Record<string, number | string | null> {
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

type ForwarderKey = Pick<NewForwarder, 'organization' | 'sourceKey' | 'destinationKey'>;

function storedForwarder(
  rx: Read,
  { organization, sourceKey, destinationKey }: ForwarderKey,
): Promise<ForwarderRow | undefined> {
  return rx.get<ForwarderRow>(
    `SELECT ${COLUMNS} FROM forwarder WHERE organization_id = ? AND source_key = ? AND destination_key = ?`,
    organization,
    sourceKey,
    destinationKey,
  );
}

/** Undoes an agent's changes to forwards, unless somebody changed them since. */
export const undoForwarders = command('undo-forwarders', (tx, input: RuleUndoRequest): Promise<RuleUndoResult> =>
  undoRules<ForwarderRow>(tx, input, 'forwarder', ({ before, after }) => undoForwarder(tx, before, after)),
);

/** Restores one forward. A confirmed one stays confirmed; an unconfirmed one is not restored. */
async function undoForwarder(tx: Write, before: ForwarderRow | null, after: ForwarderRow | null): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const which = {
    organization: about.organization_id,
    sourceKey: about.source_key,
    destinationKey: about.destination_key,
  };
  const now = await storedForwarder(tx, which);
  if (now?.keep_local !== after?.keep_local) return false;
  // Setting the same forward again changes its owner; rows recorded before set_by existed have none.
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

/** Deletes the forwards of the address of a deleted mailbox. Returns them. */
export function takeForwarders(tx: Write, organization: number, sourceKey: string): Promise<ForwarderRow[]> {
  return tx.all<ForwarderRow>(
    `DELETE FROM forwarder WHERE organization_id = ? AND source_key = ? RETURNING ${COLUMNS}`,
    organization,
    sourceKey,
  );
}

/** Restores a forward of a restored mailbox in its domain. False: it exists again, or {@link restore} says why. */
export async function restoreForwarder(tx: Write, row: ForwarderRow, domain: number): Promise<boolean> {
  const { organization_id: organization, source_key: sourceKey, destination_key: destinationKey } = row;
  const which = { organization, sourceKey, destinationKey };
  if ((await storedForwarder(tx, which)) !== undefined) return false;
  return restore(tx, which, { ...row, domain_id: domain });
}

/** Restores a deleted, confirmed forward, unless it would loop, exceed the limit, or its domain was deleted. */
async function restore(tx: Write, which: ForwarderKey, row: ForwarderRow): Promise<boolean> {
  const domain = await tx.get(
    'SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?',
    row.domain_id,
    row.organization_id,
  );
  if (domain === undefined || row.pending === 1) return false;
  if ((await isFull(tx, row.organization_id)) || (await findLoop(tx, which)) !== undefined) return false;
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
  /** Project of the mailbox at the source, else of its domain. */
  project: number | null;
  source: string;
  sourceKey: string;
  destination: string;
  destinationKey: string;
  keepLocal: boolean;
  /** Mailbox of the same organization at the source address. */
  mailbox: number | null;
  createdAt: number;
  /** Not confirmed by the destination yet: nothing is forwarded. */
  pending: boolean;
}

export const listForwarders = lookup(
  'list-forwarders',
  async (rx, input: { organization: number }): Promise<Forwarder[]> => {
    const rows = await rx.all<Omit<Forwarder, 'keepLocal' | 'pending'> & { keepLocal: number; pending: number }>(
      `SELECT f.id, f.organization_id AS organization, f.domain_id AS domain, coalesce(m.project_id, s.project_id) AS project,
         f.source, f.source_key AS "sourceKey", f.destination, f.destination_key AS "destinationKey",
         f.keep_local AS "keepLocal", a.account_id AS mailbox, f.created_at AS "createdAt", f.pending
       FROM forwarder f
       LEFT JOIN domain_setup s ON s.domain_id = f.domain_id
       LEFT JOIN address a ON a.key = f.source_key AND a.domain_id = f.domain_id
       LEFT JOIN mailbox_setup m ON m.account_id = a.account_id
       WHERE f.organization_id = ? ORDER BY f.id`,
      input.organization,
    );
    return rows.map((row) => ({ ...row, keepLocal: row.keepLocal === 1, pending: row.pending === 1 }));
  },
);
