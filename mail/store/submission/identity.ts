import { addressKey, parseAddress, withoutDetail } from '../../message/address.ts';
import { command, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { type ChangesAfter, LAST_ROW, type ObjectChange, type ObjectChanges } from '../account/object-change.ts';
import { tombstoneFloor } from '../account/tombstone.ts';
import { bumpState, recordTombstone, stateOf } from '../account/type-state.ts';

/** An address as given by a client. RFC 8621 4.1.2.3. */
export interface ClientAddress {
  name: string | null;
  email: string;
}

/** Editable properties of an identity. */
export interface IdentityValues {
  name: string;
  replyTo: readonly ClientAddress[] | null;
  bcc: readonly ClientAddress[] | null;
  textSignature: string;
  htmlSignature: string;
}

/** An identity of an account. RFC 8621 6. */
export interface StoredIdentity extends IdentityValues {
  id: number;
  email: string;
  /** Created for an address of the account and deleted with it. */
  own: boolean;
}

/** Maximum identities of one account, and addresses that are read. */
export const MAX_IDENTITIES = 200;
const MOST_ADDRESSES = 2000;

interface IdentityRow extends Record<string, string | number | null> {
  id: number;
  key: string;
  email: string;
  own: number;
  name: string;
  reply_to: string | null;
  bcc: string | null;
  text_signature: string;
  html_signature: string;
  created_modseq: number;
}

function rowsOf(rx: Read, account: number): Promise<IdentityRow[]> {
  return rx.all<IdentityRow>(
    `SELECT id, key, email, own, name, reply_to, bcc, text_signature, html_signature, created_modseq
     FROM identity WHERE account_id = ? ORDER BY own DESC, id`,
    account,
  );
}

/** All identities of an account with their state. Not `aligned`: addresses changed since {@link alignIdentities}. */
export const identitiesOf = query(
  'identities-of',
  async (
    rx,
    { account }: { account: number },
  ): Promise<{ identities: StoredIdentity[]; state: number; aligned: boolean }> => {
    const rows = await rowsOf(rx, account);
    const { missing, stale } = await drift(rx, account, rows);
    const state = await stateOf(rx, account, 'Identity');
    return { identities: rows.map(toIdentity), state, aligned: missing.length + stale.length === 0 };
  },
);

function toIdentity(row: IdentityRow): StoredIdentity {
  return {
    id: row.id,
    email: row.email,
    own: row.own === 1,
    name: row.name,
    replyTo: addresses(row.reply_to),
    bcc: addresses(row.bcc),
    textSignature: row.text_signature,
    htmlSignature: row.html_signature,
  };
}

function addresses(json: string | null): ClientAddress[] | null {
  return json === null ? null : (JSON.parse(json) as ClientAddress[]);
}

/** Creates an identity for each address of the account that has none, and deletes those of former addresses. */
export const alignIdentities = command(
  'align-identities',
  async (tx, { account }: { account: number }, stamp): Promise<void> => {
    const { missing, stale } = await drift(tx, account, await rowsOf(tx, account));
    for (const { key, email } of missing) {
      const values = { name: '', replyTo: null, bcc: null, textSignature: '', htmlSignature: '' };
      await insert(tx, account, { key, email, own: 1 }, values);
    }
    for (const row of stale) await remove(tx, account, row, stamp);
  },
);

/** Addresses without an identity, and identities without an address. */
async function drift(
  rx: Read,
  account: number,
  rows: readonly IdentityRow[],
): Promise<{ missing: { key: string; email: string }[]; stale: IdentityRow[] }> {
  const own = await rx.all<{ key: string; kind: string; written: string }>(
    `SELECT d.key, d.kind, a.address AS written FROM own_address d JOIN account a ON a.id = d.account_id
     WHERE d.account_id = ? ORDER BY d.kind = 'mailbox' DESC, d.key LIMIT ?`,
    account,
    MOST_ADDRESSES,
  );
  const keys = new Set(own.map(({ key }) => key));
  const made = new Set(rows.filter((row) => row.own === 1).map((row) => row.key));
  return {
    missing: own
      .filter(({ key }) => !made.has(key))
      .map(({ key, kind, written }) => ({ key, email: kind === 'mailbox' ? written : key }))
      .slice(0, Math.max(0, MAX_IDENTITIES - rows.length)),
    stale: rows.filter((row) => !formsOf(row.email).some((key) => keys.has(key))),
  };
}

/** Forms of an identity's address to match the account's addresses: unchanged, and without `+detail`. */
function formsOf(email: string): string[] {
  const address = parseAddress(email);
  if (address === undefined) return [];
  const plain = withoutDetail(address);
  return [address, ...(plain === undefined ? [] : [plain])].map(addressKey);
}

export type SaveIdentityResult = { kind: 'saved'; id: number } | { kind: 'foreign' } | { kind: 'too-many' };

/** Adds an identity for an address of the account or its +detail form. */
export const addIdentity = command(
  'add-identity',
  async (
    tx,
    { account, email, values }: { account: number; email: string; values: IdentityValues },
  ): Promise<SaveIdentityResult> => {
    const forms = formsOf(email);
    const own = await tx.get(
      `SELECT 1 AS own FROM own_address WHERE account_id = ? AND key IN (SELECT value FROM json_each(?, '$'))`,
      account,
      JSON.stringify(forms),
    );
    if (own === undefined || forms[0] === undefined) return { kind: 'foreign' };
    const count = await tx.get<{ n: number }>('SELECT count(*) AS n FROM identity WHERE account_id = ?', account);
    if ((count?.n ?? 0) >= MAX_IDENTITIES) return { kind: 'too-many' };
    return { kind: 'saved', id: await insert(tx, account, { key: forms[0], email, own: 0 }, values) };
  },
);

async function insert(
  tx: Write,
  account: number,
  { key, email, own }: { key: string; email: string; own: number },
  values: IdentityValues,
): Promise<number> {
  const modseq = await bumpState(tx, account, 'Identity');
  const { id } = await tx.run(
    `INSERT INTO identity (account_id, key, email, own, name, reply_to, bcc, text_signature, html_signature, created_modseq, modseq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    key,
    email,
    own,
    ...columns(values),
    modseq,
    modseq,
  );
  return id;
}

function columns(values: IdentityValues): [string, string | null, string | null, string, string] {
  const { name, replyTo, bcc, textSignature, htmlSignature } = values;
  return [name, replyTo && JSON.stringify(replyTo), bcc && JSON.stringify(bcc), textSignature, htmlSignature];
}

/** Changes an identity. False: the account has no such identity. */
export const changeIdentity = command(
  'change-identity',
  async (
    tx,
    { account, id, values }: { account: number; id: number; values: IdentityValues },
  ): Promise<{ kind: 'changed' | 'missing' }> => {
    if ((await find(tx, account, id)) === undefined) return { kind: 'missing' };
    const modseq = await bumpState(tx, account, 'Identity');
    await tx.run(
      `UPDATE identity SET name = ?, reply_to = ?, bcc = ?, text_signature = ?, html_signature = ?, modseq = ? WHERE id = ?`,
      ...columns(values),
      modseq,
      id,
    );
    return { kind: 'changed' };
  },
);

/** Deletes an identity, unless it belongs to an address. */
export const removeIdentity = command(
  'remove-identity',
  async (
    tx,
    { account, id }: { account: number; id: number },
    stamp,
  ): Promise<{ kind: 'removed' | 'missing' | 'kept' }> => {
    const row = await find(tx, account, id);
    if (row === undefined) return { kind: 'missing' };
    if (row.own === 1) return { kind: 'kept' };
    await remove(tx, account, row, stamp);
    return { kind: 'removed' };
  },
);

type Found = { id: number; own: number; created_modseq: number };

function find(tx: Write, account: number, id: number): Promise<Found | undefined> {
  return tx.get<Found>('SELECT id, own, created_modseq FROM identity WHERE id = ? AND account_id = ?', id, account);
}

async function remove(tx: Write, account: number, row: Found, stamp: Stamp): Promise<void> {
  const modseq = await bumpState(tx, account, 'Identity');
  await tx.run('DELETE FROM identity WHERE id = ?', row.id);
  await recordTombstone(
    tx,
    account,
    'Identity',
    { id: row.id, thread: null, created: row.created_modseq },
    modseq,
    stamp,
  );
}

/** Identities that changed after a state. */
export const identityChanges = query('identity-changes', async (rx, input: ChangesAfter): Promise<ObjectChanges> => {
  const { account, modseq, row, limit } = input;
  const changes = await rx.all<ObjectChange>(
    `SELECT * FROM (
       SELECT id, created_modseq AS created, modseq, 0 AS gone FROM identity WHERE account_id = ?1 AND modseq >= ?2
       UNION ALL SELECT object_id, created_modseq, modseq, 1 FROM tombstone
         WHERE account_id = ?1 AND type = 'Identity' AND modseq >= ?2)
     WHERE modseq > ?2 OR id > ?3 ORDER BY modseq, id LIMIT ?4`,
    account,
    modseq,
    Math.min(row, LAST_ROW),
    limit,
  );
  return {
    changes,
    state: await stateOf(rx, account, 'Identity'),
    floor: await tombstoneFloor(rx, account, 'Identity'),
  };
});
