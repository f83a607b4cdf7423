import { type RulesToUndo, type RulesUndone, undoRules } from '../../mail/store/agent-rule-change.ts';
import { command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { listen } from '../../mail/store/listener.ts';
import {
  changeRow,
  dropRow,
  insertRow,
  isMailboxOf,
  MOST_WEBHOOKS,
  numberOfWebhooks,
  type StoredWebhook,
  storedWebhook,
  webhookAt,
} from './webhook-row-commands.ts';

interface Change {
  before: StoredWebhook | null;
  after: StoredWebhook | null;
}

/** Undoes what an agent did to webhooks of an organization, where nobody has changed them since. */
export const undoWebhooks = command('undo-webhooks', (tx, input: RulesToUndo, stamp): Promise<RulesUndone> =>
  undoRules<StoredWebhook>(tx, input, 'webhook', (change) => putBack(tx, change, stamp)),
);

/** The secret of before holds again: whoever was told then reads what it is told now. */
async function putBack(tx: Write, { before, after }: Change, stamp: Stamp): Promise<boolean> {
  const about = before ?? after;
  if (about === null) return true;
  const now = await standing(tx, about);
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

function standing(rx: Read, { account, listener }: StoredWebhook): Promise<StoredWebhook | undefined> {
  return account === null ? storedWebhook(rx, listener) : webhookAt(rx, account);
}

function isSame(now: StoredWebhook | undefined, then: StoredWebhook | null): boolean {
  if (now === undefined || then === null) return now === undefined && then === null;
  return now.url === then.url && now.secret === then.secret && now.events === then.events;
}

/** Not where its mailbox is gone, or there are as many as there may be. What it was told before is forgotten. */
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
      ? (await numberOfWebhooks(tx, organization)) < MOST_WEBHOOKS
      : await isMailboxOf(tx, organization, account);
  if (!fits) return false;
  const listener = await listen(tx, { tenant: organization, account, events, id: row.listener });
  await insertRow(tx, { listener, organization, account, project, url, secret }, stamp);
  return true;
}
