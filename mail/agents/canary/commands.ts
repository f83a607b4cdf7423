import type { MessageIndex } from '../../message/index-types.ts';
import { addBlob } from '../../store/blob/blob.ts';
import { type CanaryTrip, MAX_CANARIES } from './canary.ts';
import { command, type Stamp, type Write } from '../../store/engine/types.ts';
import { newBlob, overQuota } from '../../store/mailbox/entry-commands.ts';
import { SEEN } from '../../store/mailbox/flags.ts';
import { addEntry, type EntryRow, takeEntries } from '../../store/message/entry.ts';
import { addEmail } from '../../store/message/message.ts';
import type { ShownForm } from '../secrets/shown-secret.ts';

/** A canary to plant, with at least one of its three parts. */
export interface NewCanary {
  tenant: number;
  account: number;
  label: string;
  by: string;
  /** Form by which its honeytoken is recognized. */
  form: Pick<ShownForm, 'digest' | 'length' | 'print'> | null;
  /** Lookup key; under the domain of the account. */
  address: string | null;
  /** Backdated, ms UTC, so that the message does not look new in the inbox. */
  receivedAt: number;
  index: MessageIndex | null;
  data: Uint8Array | null;
}

export type PlantResult =
  | { kind: 'planted'; id: number; email: number | null }
  | { kind: 'missing' }
  | { kind: 'too-many' }
  | { kind: 'over-quota' }
  | { kind: 'taken' };

/** Plants a canary. Its message is in the inbox with the same commit, and no listener is notified. */
export const plantCanary = command('plant-canary', async (tx, canary: NewCanary, stamp): Promise<PlantResult> => {
  const { tenant, account, label, by, form, address, index, data } = canary;
  const home = await plantTarget(tx, tenant, account);
  if (home === undefined) return { kind: 'missing' };
  if (home.canaries >= MAX_CANARIES) return { kind: 'too-many' };
  if (address !== null && (await isTaken(tx, address))) return { kind: 'taken' };
  if (index !== null && (await overQuota(tx, account, index.size))) return { kind: 'over-quota' };
  const put = index === null ? null : await putMessage(tx, { ...canary, index, data }, home.inbox, stamp);
  const email = put?.email ?? null;
  const { id } = await tx.run(
    `INSERT INTO canary (tenant, account_id, label, email_id, blob_id, address_key, domain_id, digest, length, print, created_by, created_at)
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

interface PlantTarget extends Record<string, number> {
  inbox: number;
  domain: number;
  canaries: number;
}

function plantTarget(tx: Write, tenant: number, account: number): Promise<PlantTarget | undefined> {
  return tx.get<PlantTarget>(
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

/** Deletes a canary, its message wherever that is now, and its trips. */
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
    if (gone.email_id !== null) await deleteMessage(tx, gone.account_id, gone.email_id, stamp);
    return { kind: 'removed' };
  },
);

async function deleteMessage(tx: Write, account: number, email: number, stamp: Stamp): Promise<void> {
  const rows = await tx.all<EntryRow & { mailbox_id: number }>(
    `SELECT mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE email_id = ?`,
    email,
  );
  for (const { mailbox_id: mailbox, ...row } of rows) await takeEntries(tx, account, mailbox, [row], stamp);
}

/** Settles a canary after review: later trips are reported again, and the mailbox's password works. */
export const settleCanary = command(
  'review-canary',
  async (tx, { tenant, id }: { tenant: number; id: number }, { now }): Promise<{ kind: 'settled' | 'missing' }> => {
    const there = await tx.get('SELECT 1 AS there FROM canary WHERE id = ? AND tenant = ?', id, tenant);
    if (there === undefined) return { kind: 'missing' };
    await tx.run(
      `UPDATE canary_trip SET reviewed_at = ?, notified_at = coalesce(notified_at, ?) WHERE canary_id = ? AND reviewed_at IS NULL`,
      now,
      now,
      id,
    );
    return { kind: 'settled' };
  },
);

/** A credential has one row for a canary, that of its last trip. */
const TRIPPED_AGAIN = `ON CONFLICT (canary_id, credential) DO UPDATE SET at = excluded.at, protocol = excluded.protocol,
  action = excluded.action, detail = excluded.detail, notified_at = NULL, reviewed_at = NULL`;

/** Records a trip in place of earlier ones of the same credential. It is reported to the owners and awaits review. */
export async function recordTrip(
  tx: Write,
  { canary, credential, protocol, what, about }: Omit<CanaryTrip, 'at' | 'settledAt'>,
  { now }: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO canary_trip (canary_id, credential, at, protocol, action, detail) VALUES (?, ?, ?, ?, ?, ?)
     ${TRIPPED_AGAIN}`,
    canary,
    credential,
    now,
    protocol,
    what,
    JSON.stringify(about),
  );
}

/**
 * Records mail to a canary's address, in the delivery's own commit. Only once until a person has reviewed it: an outside
 * sender could cause notices without end.
 */
export async function recordCanaryMail(
  tx: Write,
  { account, keys, sender }: { account: number; keys: readonly string[]; sender: string },
  { now }: Stamp,
): Promise<void> {
  await tx.send(
    `INSERT INTO canary_trip (canary_id, credential, at, protocol, action, detail)
     SELECT c.id, '', ?3, 'smtp', 'written-to', ?4 FROM canary c INDEXED BY canary_account
     WHERE c.account_id = ?1 AND c.address_key IN (SELECT value FROM json_each(?2, '$'))
       AND NOT EXISTS (SELECT 1 FROM canary_trip t WHERE t.canary_id = c.id AND t.credential = '' AND t.reviewed_at IS NULL)
     ${TRIPPED_AGAIN}`,
    account,
    JSON.stringify(keys),
    now,
    JSON.stringify(sender === '' ? [] : [sender]),
  );
}
