import { textKey } from '../../mail/message/address.ts';
import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { addUnsubscription, isUnsubscribed, type Unsubscription, withdraw } from '../../mail/store/unsubscription.ts';
import { appendAudit } from '../audit/commands.ts';
import type { Subscription } from './link.ts';

type Outcome = { kind: 'changed' | 'same' | 'missing' };
type Request = Subscription & { ip: string };

/** Whether somebody has unsubscribed; `missing`: there is no such organization any more. */
export const unsubscribed = query(
  'unsubscribed',
  async (
    rx,
    subscription: Subscription,
  ): Promise<{ kind: 'found'; organization: string; unsubscribed: boolean } | { kind: 'missing' }> => {
    const row = await rx.get<{ name: string }>('SELECT name FROM organization WHERE id = ?', subscription.organization);
    if (row === undefined) return { kind: 'missing' };
    return { kind: 'found', organization: row.name, unsubscribed: await isUnsubscribed(rx, wishOf(subscription)) };
  },
);

/** No program of the organization writes to the recipient any more, from this commit on. Again changes nothing. */
export const unsubscribe = command('unsubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  if ((await unsubscribed.run(tx, request)).kind === 'missing') return { kind: 'missing' };
  const done = await addUnsubscription(tx, wishOf(request), stamp);
  if (done) await audit(tx, request, 'unsubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

/** Takes an unsubscription back; what is suppressed for another reason stays so. */
export const resubscribe = command('resubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  const done = await withdraw(tx, wishOf(request), stamp);
  if (done) await audit(tx, request, 'resubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

function wishOf({ organization, recipient, trace }: Subscription): Unsubscription {
  return { tenant: organization, key: textKey(recipient), trace };
}

async function audit(
  tx: Write,
  { organization, recipient, ip, trace }: Request,
  operation: 'unsubscribe' | 'resubscribe',
  stamp: Stamp,
): Promise<void> {
  const who = { actor: 'anonymous', actorName: 'a recipient, by the link in a message', way: 'portal', ip } as const;
  const what = { organization, operation, target: textKey(recipient), detail: { message: trace } };
  await appendAudit(tx, { ...who, ...what }, 'done', stamp);
}
