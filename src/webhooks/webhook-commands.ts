import { command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { addListener, queueTestEvent } from '../../mail/store/notification/listener.ts';
import {
  changeRow,
  dropRow,
  insertRow,
  isMailboxOf,
  MAX_WEBHOOKS,
  numberOfWebhooks,
  noteWebhook,
  storedWebhook,
  storedWebhookOfMailbox,
  type WebhookChange,
  type StoredWebhook,
} from './webhook-row-commands.ts';
import { type RuleUndoRequest, type RuleUndoResult, undoRules } from '../../mail/agents/undo/rule-changes.ts';

/** The agent that makes the change, so that it can be undone; left out or null: a person. */
interface ChangeActor {
  by?: string | null;
}

/** Sets the webhook of a mailbox, with a new secret that replaces the old one. */
export const setWebhook = command(
  'set-webhook',
  async (
    tx,
    input: ChangeActor & { account: number; organization: number; url: string; secret: Uint8Array },
    stamp,
  ): Promise<{ kind: 'set' | 'rotated' | 'missing'; createdAt: number }> => {
    const { account, organization, url, secret } = input;
    if (!(await isMailboxOf(tx, organization, account))) return { kind: 'missing', createdAt: 0 };
    const before = await storedWebhookOfMailbox(tx, account);
    const listener = await addListener(tx, { tenant: organization, account, events: ['received'] });
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
  async (
    tx,
    input: ChangeActor & { organization: number; account: number },
    stamp,
  ): Promise<{ kind: 'removed' | 'none' }> => {
    const before = await storedWebhookOfMailbox(tx, input.account);
    if (before?.organization !== input.organization) return { kind: 'none' };
    await dropRow(tx, before.listener);
    await noteWebhook(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
  },
);

/** Creates a webhook of an organization for outbound events; `full`: limit reached. */
export const addWebhook = command(
  'add-webhook',
  async (
    tx,
    input: ChangeActor & {
      organization: number;
      project: number | null;
      events: readonly string[];
      url: string;
      secret: Uint8Array;
    },
    stamp,
  ): Promise<{ kind: 'added'; id: number } | { kind: 'full' }> => {
    const { organization, events } = input;
    if ((await numberOfWebhooks(tx, organization)) >= MAX_WEBHOOKS) return { kind: 'full' };
    const listener = await addListener(tx, { tenant: organization, account: null, events });
    await insertRow(tx, { ...input, listener, account: null }, stamp);
    await noteWebhook(tx, input, undefined, await storedWebhook(tx, listener), stamp);
    return { kind: 'added', id: listener };
  },
);

/** Changes a webhook, and enables it again if disabled: stored events are sent. */
export const changeWebhook = command(
  'change-webhook',
  async (
    tx,
    input: ChangeActor & WebhookChange & { organization: number },
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
  async (
    tx,
    input: ChangeActor & { organization: number; listener: number },
    stamp,
  ): Promise<{ kind: 'removed' | 'none' }> => {
    const before = await storedWebhook(tx, input.listener);
    if (before?.organization !== input.organization || before.account !== null) return { kind: 'none' };
    await dropRow(tx, input.listener);
    await noteWebhook(tx, input, before, undefined, stamp);
    return { kind: 'removed' };
  },
);

/** Queues a test event for a webhook of an organization. */
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
    return row === undefined ? { kind: 'missing' } : { kind: 'noted', id: await queueTestEvent(tx, listener, stamp) };
  },
);

interface Change {
  before: StoredWebhook | null;
  after: StoredWebhook | null;
}

/** Undoes an agent's changes of webhooks, unless somebody changed them since. */
export const undoWebhooks = command('undo-webhooks', (tx, input: RuleUndoRequest, stamp): Promise<RuleUndoResult> =>
  undoRules<StoredWebhook>(tx, input, 'webhook', (change) => undoChange(tx, change, stamp)),
);

/** Undoes one change. The old secret is valid again, so the old receiver can verify events. */
async function undoChange(tx: Write, { before, after }: Change, stamp: Stamp): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const now = await currentWebhook(tx, about);
  if (!isSame(now, after)) return false;
  if (before === null) {
    if (now !== undefined) await dropRow(tx, now.listener);
    return true;
  }
  const secret = Uint8Array.from(Buffer.from(before.secret, 'hex'));
  const events = JSON.parse(before.events) as string[];
  if (now === undefined) return restore(tx, { ...before, secret, events }, stamp);
  await changeRow(tx, { listener: now.listener, url: before.url, secret, events }, stamp);
  return true;
}

function currentWebhook(rx: Read, { account, listener }: StoredWebhook): Promise<StoredWebhook | undefined> {
  return account === null ? storedWebhook(rx, listener) : storedWebhookOfMailbox(rx, account);
}

function isSame(now: StoredWebhook | undefined, then: StoredWebhook | null): boolean {
  if (now === undefined || then === null) return now === undefined && then === null;
  return now.url === then.url && now.secret === then.secret && now.events === then.events;
}

/** Restores a deleted webhook, without its delivery log. False when the mailbox is deleted or the limit is reached. */
async function restore(
  tx: Write,
  row: Pick<StoredWebhook, 'listener' | 'organization' | 'account' | 'project' | 'url'> & {
    secret: Uint8Array;
    events: string[];
  },
  stamp: Stamp,
): Promise<boolean> {
  const { organization, account, project, url, secret, events } = row;
  const fits =
    account === null
      ? (await numberOfWebhooks(tx, organization)) < MAX_WEBHOOKS
      : await isMailboxOf(tx, organization, account);
  if (!fits) return false;
  const listener = await addListener(tx, { tenant: organization, account, events, id: row.listener });
  await insertRow(tx, { listener, organization, account, project, url, secret }, stamp);
  return true;
}
