import type { MessageIndex } from '../message/index-types.ts';
import { addBlob } from './blob.ts';
import { type CanaryTrip, MOST_CANARIES } from './canary.ts';
import { command, type Stamp, type Write } from './engine/types.ts';
import { newBlob, overQuota } from './entry-commands.ts';
import { SEEN } from './flags.ts';
import { addEmail, addEntry, type EntryRow, takeEntries } from './message.ts';
import type { ShownForm } from './shown-secret.ts';

/** What a person lays out: at least one of its three parts. */
export interface NewCanary {
  tenant: number;
  account: number;
  label: string;
  by: string;
  /** Its honeytoken, as it is known again. */
  form: Pick<ShownForm, 'digest' | 'length' | 'print'> | null;
  /** As addresses are looked up; under the domain of the account. */
  address: string | null;
  /** For its inbox, as if it had been there for long. */
  receivedAt: number;
  index: MessageIndex | null;
  data: Uint8Array | null;
}

export type Planted =
  | { kind: 'planted'; id: number; email: number | null }
  | { kind: 'missing' }
  | { kind: 'too-many' }
  | { kind: 'over-quota' }
  | { kind: 'taken' };

/** Lays out a canary; its message is in the inbox with the same commit, and no listener hears of it. */
export const plantCanary = command('plant-canary', async (tx, canary: NewCanary, stamp): Promise<Planted> => {
  const { tenant, account, label, by, form, address, index, data } = canary;
  const home = await homeOf(tx, tenant, account);
  if (home === undefined) return { kind: 'missing' };
  if (home.canaries >= MOST_CANARIES) return { kind: 'too-many' };
  if (address !== null && (await isTaken(tx, address))) return { kind: 'taken' };
  if (index !== null && (await overQuota(tx, account, index.size))) return { kind: 'over-quota' };
  const put = index === null ? null : await putMessage(tx, { ...canary, index, data }, home.inbox, stamp);
  const email = put?.email ?? null;
  const { id } = await tx.run(
    `INSERT INTO canary (tenant, account_id, label, email_id, blob_id, address_key, domain_id, digest, length, print, made_by, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tenant,
    account,
    label,
    email,
    put?.blob ?? null,
    address,
    address === null ? null : home.domain,
    form?.digest ?? null,
    form?.length ?? null,
    form?.print ?? null,
    by,
    stamp.now,
  );
  return { kind: 'planted', id, email };
});

interface Home extends Record<string, number> {
  inbox: number;
  domain: number;
  canaries: number;
}

function homeOf(tx: Write, tenant: number, account: number): Promise<Home | undefined> {
  return tx.get<Home>(
    `SELECT m.id AS inbox, d.domain_id AS domain, (SELECT count(*) FROM canary WHERE account_id = a.id) AS canaries
     FROM account a JOIN mailbox m ON m.account_id = a.id AND m.role = 'inbox'
     JOIN address d ON d.account_id = a.id AND d.kind = 'mailbox' WHERE a.id = ? AND a.tenant = ? AND a.state = 1 LIMIT 1`,
    account,
    tenant,
  );
}

async function isTaken(tx: Write, key: string): Promise<boolean> {
  const there = await tx.get(
    `SELECT 1 AS there FROM canary WHERE address_key = ?1 UNION ALL SELECT 1 FROM address WHERE key = ?1
     UNION ALL SELECT 1 FROM alias WHERE key = ?1 UNION ALL SELECT 1 FROM forwarder WHERE source_key = ?1 LIMIT 1`,
    key,
  );
  return there !== undefined;
}

async function putMessage(
  tx: Write,
  { account, index, data, receivedAt }: NewCanary & { index: MessageIndex },
  inbox: number,
  stamp: Stamp,
): Promise<{ email: number; blob: number }> {
  const blob = await addBlob(tx, newBlob({ data, file: null }));
  const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt });
  await addEntry(tx, inbox, email, { bits: SEEN, kw: [] }, stamp);
  return { email: email.id, blob };
}

/** Takes a canary away, with its message wherever that was moved to and with all that is known of who went to it. */
export const removeCanary = command(
  'remove-canary',
  async (tx, { tenant, id }: { tenant: number; id: number }, stamp): Promise<{ kind: 'removed' | 'missing' }> => {
    const gone = await tx.get<{ account_id: number; email_id: number | null }>(
      'DELETE FROM canary WHERE id = ? AND tenant = ? RETURNING account_id, email_id',
      id,
      tenant,
    );
    if (gone === undefined) return { kind: 'missing' };
    await tx.run('DELETE FROM canary_trip WHERE canary_id = ?', id);
    if (gone.email_id !== null) await takeMessage(tx, gone.account_id, gone.email_id, stamp);
    return { kind: 'removed' };
  },
);

async function takeMessage(tx: Write, account: number, email: number, stamp: Stamp): Promise<void> {
  const rows = await tx.all<EntryRow & { mailbox_id: number }>(
    `SELECT mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE email_id = ?`,
    email,
  );
  for (const { mailbox_id: mailbox, ...row } of rows) await takeEntries(tx, account, mailbox, [row], stamp);
}

/** A person has looked at who went to a canary: what comes from now on is told again, and its mailbox's password works. */
export const settleCanary = command(
  'settle-canary',
  async (tx, { tenant, id }: { tenant: number; id: number }, { now }): Promise<{ kind: 'settled' | 'missing' }> => {
    const there = await tx.get('SELECT 1 AS there FROM canary WHERE id = ? AND tenant = ?', id, tenant);
    if (there === undefined) return { kind: 'missing' };
    await tx.run(
      `UPDATE canary_trip SET settled_at = ?, told_at = coalesce(told_at, ?) WHERE canary_id = ? AND settled_at IS NULL`,
      now,
      now,
      id,
    );
    return { kind: 'settled' };
  },
);

/** Notes who went to a canary, in place of what was known of that; its owners are to be told, and a person is to look at it. */
export async function noteTrip(
  tx: Write,
  { canary, credential, door, what, about }: Omit<CanaryTrip, 'at' | 'settledAt'>,
  { now }: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO canary_trip (canary_id, credential, at, door, what, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (canary_id, credential) DO UPDATE SET at = ?3, door = ?4, what = ?5, detail = ?6, told_at = NULL,
       settled_at = NULL`,
    canary,
    credential,
    now,
    door,
    what,
    JSON.stringify(about),
  );
}

/**
 * Mail came to one of an account's addresses: notes it when that is a canary. Once, until a person has looked at it: who
 * writes there is nobody here, and could have owners told without end. Part of the delivery's own commit.
 */
export async function noteCanaryMail(
  tx: Write,
  { account, keys, sender }: { account: number; keys: () => readonly string[]; sender: string },
  stamp: Stamp,
): Promise<void> {
  const any = await tx.get(
    'SELECT 1 AS there FROM canary WHERE account_id = ? AND address_key IS NOT NULL LIMIT 1',
    account,
  );
  if (any === undefined) return;
  const found = await tx.all<{ id: number }>(
    `SELECT id FROM canary c WHERE account_id = ? AND address_key IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM canary_trip t WHERE t.canary_id = c.id AND t.credential = '' AND t.settled_at IS NULL)`,
    account,
    JSON.stringify(keys()),
  );
  const about = sender === '' ? [] : [sender];
  for (const { id } of found) {
    await noteTrip(tx, { canary: id, credential: '', door: 'smtp', what: 'written-to', about }, stamp);
  }
}
