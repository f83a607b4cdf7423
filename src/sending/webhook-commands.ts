import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { listen, listenTo, noteTest, turnListener, unlisten } from '../../mail/store/listener.ts';

/** Webhooks of one organization beside those of its mailboxes. */
export const MOST_WEBHOOKS = 10;

/** Sets the webhook of a mailbox. The secret is a new one each time, so the old one holds no more. */
export const setWebhook = command(
  'set-webhook',
  async (
    tx,
    input: { account: number; organization: number; url: string; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'set' | 'rotated' | 'missing'; createdAt: number }> => {
    const { account, organization, url, secret } = input;
    const there = await tx.get(
      'SELECT 1 AS there FROM account WHERE id = ? AND tenant = ? AND state <> 2',
      account,
      organization,
    );
    if (there === undefined) return { kind: 'missing', createdAt: 0 };
    const old = await tx.get<{ created_at: number }>('SELECT created_at FROM webhook WHERE account_id = ?', account);
    const listener = await listen(tx, { tenant: organization, account, events: ['received'] });
    if (old !== undefined) {
      await change(tx, { listener, url, secret }, stamp);
      return { kind: 'rotated', createdAt: old.created_at };
    }
    await insert(tx, { ...input, listener, project: null }, stamp);
    return { kind: 'set', createdAt: stamp.now };
  },
);

export const removeWebhook = command(
  'remove-webhook',
  async (tx, input: { organization: number; account: number }): Promise<{ kind: 'removed' | 'none' }> => {
    const row = await tx.get<{ listener_id: number }>(
      'SELECT listener_id FROM webhook WHERE account_id = ? AND organization_id = ?',
      input.account,
      input.organization,
    );
    if (row !== undefined) await drop(tx, row.listener_id);
    return { kind: row === undefined ? 'none' : 'removed' };
  },
);

/** Adds a webhook of an organization, for what becomes of its mail; `full` when it has as many as it may. */
export const addWebhook = command(
  'add-webhook',
  async (
    tx,
    input: { organization: number; project: number | null; events: readonly string[]; url: string; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'full' }> => {
    const { organization, events } = input;
    const row = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM webhook WHERE organization_id = ? AND account_id IS NULL',
      organization,
    );
    if ((row?.n ?? 0) >= MOST_WEBHOOKS) return { kind: 'full' };
    const listener = await listen(tx, { tenant: organization, account: null, events });
    await insert(tx, { ...input, listener, account: null }, stamp);
    return { kind: 'added', id: listener };
  },
);

export interface WebhookChange {
  listener: number;
  url?: string;
  events?: readonly string[];
  /** Sealed; the old one holds no more. */
  secret?: Uint8Array;
}

/** Changes a webhook, and enables it again when it was disabled: what has waited is told. */
export const changeWebhook = command(
  'change-webhook',
  async (
    tx,
    input: WebhookChange & { organization: number },
    stamp,
  ): Promise<{ kind: 'changed' | 'missing'; wasDisabled: boolean }> => {
    const row = await tx.get<{ disabled_at: number | null }>(
      'SELECT disabled_at FROM webhook WHERE listener_id = ? AND organization_id = ?',
      input.listener,
      input.organization,
    );
    if (row === undefined) return { kind: 'missing', wasDisabled: false };
    await change(tx, input, stamp);
    return { kind: 'changed', wasDisabled: row.disabled_at !== null };
  },
);

export const dropWebhook = command(
  'drop-webhook',
  async (tx, input: { organization: number; listener: number }): Promise<{ kind: 'removed' | 'none' }> => {
    const row = await tx.get(
      'SELECT 1 AS there FROM webhook WHERE listener_id = ? AND organization_id = ? AND account_id IS NULL',
      input.listener,
      input.organization,
    );
    if (row !== undefined) await drop(tx, input.listener);
    return { kind: row === undefined ? 'none' : 'removed' };
  },
);

/** Has a webhook of an organization told of nothing, to see whether it answers. */
export const testWebhook = command(
  'test-webhook',
  async (
    tx,
    { listener, organization }: { organization: number; listener: number },
    stamp,
  ): Promise<{ kind: 'noted'; id: number } | { kind: 'missing' }> => {
    const row = await tx.get(
      'SELECT 1 AS there FROM webhook WHERE listener_id = ? AND organization_id = ? AND disabled_at IS NULL',
      listener,
      organization,
    );
    return row === undefined ? { kind: 'missing' } : { kind: 'noted', id: await noteTest(tx, listener, stamp) };
  },
);

async function insert(
  tx: Write,
  row: {
    listener: number;
    organization: number;
    account: number | null;
    project: number | null;
    url: string;
    secret: Uint8Array;
  },
  stamp: Stamp,
): Promise<void> {
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

async function change(tx: Write, { listener, url, events, secret }: WebhookChange, stamp: Stamp): Promise<void> {
  await tx.run(
    `UPDATE webhook SET url = coalesce(?, url), secret = coalesce(?, secret), failures = 0, failing_since = NULL,
       disabled_at = NULL, told_dead_at = NULL WHERE listener_id = ?`,
    url ?? null,
    secret ?? null,
    listener,
  );
  if (events !== undefined) await listenTo(tx, listener, events);
  await turnListener(tx, listener, true, stamp);
}

async function drop(tx: Write, listener: number): Promise<void> {
  await unlisten(tx, listener);
  await tx.run('DELETE FROM webhook WHERE listener_id = ?', listener);
  await tx.run('DELETE FROM webhook_delivery WHERE listener_id = ?', listener);
}
