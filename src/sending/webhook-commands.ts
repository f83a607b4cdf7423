import { command } from '../../mail/store/engine/types.ts';
import { listen, noteTest } from '../../mail/store/listener.ts';
import {
  changeRow,
  dropRow,
  insertRow,
  isMailboxOf,
  MOST_WEBHOOKS,
  numberOfWebhooks,
  noteWebhook,
  storedWebhook,
  webhookAt,
  type WebhookChange,
} from './webhook-row-commands.ts';

/** The agent that does it, for who wants it undone; left out or null: a person. */
interface By {
  by?: string | null;
}

/** Sets the webhook of a mailbox. The secret is a new one each time, so the old one holds no more. */
export const setWebhook = command(
  'set-webhook',
  async (
    tx,
    input: By & { account: number; organization: number; url: string; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'set' | 'rotated' | 'missing'; createdAt: number }> => {
    const { account, organization, url, secret } = input;
    if (!(await isMailboxOf(tx, organization, account))) return { kind: 'missing', createdAt: 0 };
    const before = await webhookAt(tx, account);
    const listener = await listen(tx, { tenant: organization, account, events: ['received'] });
    if (before === undefined) await insertRow(tx, { ...input, listener, project: null }, stamp);
    else await changeRow(tx, { listener, url, secret }, stamp);
    await noteWebhook(tx, input, before, await storedWebhook(tx, listener), stamp);
    return before === undefined
      ? { kind: 'set', createdAt: stamp.now }
      : { kind: 'rotated', createdAt: before.created_at };
  },
);

export const removeWebhook = command(
  'remove-webhook',
  async (tx, input: By & { organization: number; account: number }, stamp): Promise<{ kind: 'removed' | 'none' }> => {
    const before = await webhookAt(tx, input.account);
    if (before?.organization !== input.organization) return { kind: 'none' };
    await dropRow(tx, before.listener);
    await noteWebhook(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
  },
);

/** Adds a webhook of an organization, for what becomes of its mail; `full` when it has as many as it may. */
export const addWebhook = command(
  'add-webhook',
  async (
    tx,
    input: By & {
      organization: number;
      project: number | null;
      events: readonly string[];
      url: string;
      secret: Uint8Array;
    },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'full' }> => {
    const { organization, events } = input;
    if ((await numberOfWebhooks(tx, organization)) >= MOST_WEBHOOKS) return { kind: 'full' };
    const listener = await listen(tx, { tenant: organization, account: null, events });
    await insertRow(tx, { ...input, listener, account: null }, stamp);
    await noteWebhook(tx, input, undefined, await storedWebhook(tx, listener), stamp);
    return { kind: 'added', id: listener };
  },
);

/** Changes a webhook, and enables it again when it was disabled: what has waited is told. */
export const changeWebhook = command(
  'change-webhook',
  async (
    tx,
    input: By & WebhookChange & { organization: number },
    stamp,
  ): Promise<{ kind: 'changed' | 'missing'; wasDisabled: boolean }> => {
    const before = await storedWebhook(tx, input.listener);
    if (before?.organization !== input.organization) return { kind: 'missing', wasDisabled: false };
    await changeRow(tx, input, stamp);
    await noteWebhook(tx, input, before, await storedWebhook(tx, input.listener), stamp);
    return { kind: 'changed', wasDisabled: before.disabled_at !== null };
  },
);

export const dropWebhook = command(
  'drop-webhook',
  async (tx, input: By & { organization: number; listener: number }, stamp): Promise<{ kind: 'removed' | 'none' }> => {
    const before = await storedWebhook(tx, input.listener);
    if (before?.organization !== input.organization || before.account !== null) return { kind: 'none' };
    await dropRow(tx, input.listener);
    await noteWebhook(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
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
