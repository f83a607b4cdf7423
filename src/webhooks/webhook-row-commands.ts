import { onRuleChange } from '../../mail/agents/undo/rule-changes.ts';
import type { Read, Row, Stamp, Write } from '../../mail/store/engine/types.ts';
import { setListenerEvents, setListenerEnabled, removeListener } from '../../mail/store/notification/listener.ts';

/** Webhooks of one organization, without those of its mailboxes. */
export const MAX_WEBHOOKS = 10;

/** A webhook as recorded when an agent changes it. */
export interface StoredWebhook extends Row {
  listener: number;
  organization: number;
  account: number | null;
  project: number | null;
  url: string;
  /** Encrypted, in hexadecimal. */
  secret: string;
  /** JSON. */
  events: string;
  created_at: number;
  disabled_at: number | null;
}

const STORED = `SELECT w.listener_id AS listener, w.organization_id AS organization, w.account_id AS account,
  w.project_id AS project, w.url, hex(w.secret) AS secret, l.events, w.created_at, w.disabled_at
  FROM webhook w JOIN listener l ON l.id = w.listener_id`;

export function storedWebhook(rx: Read, listener: number): Promise<StoredWebhook | undefined> {
  return rx.get<StoredWebhook>(`${STORED} WHERE w.listener_id = ?`, listener);
}

/** The webhook of a mailbox. */
export function storedWebhookOfMailbox(rx: Read, account: number): Promise<StoredWebhook | undefined> {
  return rx.get<StoredWebhook>(`${STORED} WHERE w.account_id = ?`, account);
}

/** Number of webhooks of an organization, without those of its mailboxes. */
export async function numberOfWebhooks(rx: Read, organization: number): Promise<number> {
  const row = await rx.get<{ n: number }>(
    'SELECT count(*) AS n FROM webhook WHERE organization_id = ? AND account_id IS NULL',
    organization,
  );
  return row?.n ?? 0;
}

export async function isMailboxOf(rx: Read, organization: number, account: number): Promise<boolean> {
  const there = 'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state < 2';
  return (await rx.get(there, account, organization)) !== undefined;
}

/** Records an agent's change of a webhook, so that it can be undone. */
export async function noteWebhook(
  tx: Write,
  { organization: tenant, by }: { organization: number; by?: string | null },
  before: StoredWebhook | undefined,
  after: StoredWebhook | undefined,
  stamp: Stamp,
): Promise<void> {
  const about = { tenant, by, what: 'webhook' } as const;
  await onRuleChange(tx, about, { before: before ?? null, after: after ?? null }, stamp);
}

interface NewRow {
  listener: number;
  organization: number;
  account: number | null;
  project: number | null;
  url: string;
  secret: Uint8Array;
}

export async function insertRow(tx: Write, row: NewRow, stamp: Stamp): Promise<void> {
  await tx.run(
    `INSERT INTO webhook (listener_id, organization_id, account_id, project_id, url, secret, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    row.listener,
    row.organization,
    row.account,
    row.project,
    row.url,
    row.secret,
    stamp.now,
  );
}

export interface WebhookChange {
  listener: number;
  url?: string;
  events?: readonly string[];
  /** Encrypted; replaces the old one. */
  secret?: Uint8Array;
}

/** Changes the given fields, and enables a disabled webhook. */
export async function changeRow(
  tx: Write,
  { listener, url, events, secret }: WebhookChange,
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `UPDATE webhook SET url = coalesce(?, url), secret = coalesce(?, secret), failures = 0, failing_since = NULL,
       disabled_at = NULL, dead_notified_at = NULL WHERE listener_id = ?`,
    url ?? null,
    secret ?? null,
    listener,
  );
  if (events !== undefined) await setListenerEvents(tx, listener, events);
  await setListenerEnabled(tx, listener, true, stamp);
}

export async function dropRow(tx: Write, listener: number): Promise<void> {
  await removeListener(tx, listener);
  await tx.run('DELETE FROM webhook WHERE listener_id = ?', listener);
  await tx.run('DELETE FROM webhook_delivery WHERE listener_id = ?', listener);
}
