import { textKey } from '../../mail/message/address.ts';
import { command, query, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { suppress, suppressed, withdraw } from '../../mail/store/suppression.ts';
import { appendAudit } from '../audit/commands.ts';
import type { Subscription } from './link.ts';

type Outcome = { kind: 'changed' | 'same' | 'missing' };
type Request = Subscription & { ip: string };

/** Whether somebody has unsubscribed; `missing`: there is no such organization any more. */
export const unsubscribed = query(
  'unsubscribed',
  async (
    rx,
    { organization, recipient }: Subscription,
  ): Promise<{ kind: 'found'; organization: string; unsubscribed: boolean } | { kind: 'missing' }> => {
    const row = await rx.get<{ name: string }>('SELECT name FROM organization WHERE id = ?', organization);
    if (row === undefined) return { kind: 'missing' };
    const [found] = await suppressed(rx, organization, [textKey(recipient)]);
    return { kind: 'found', organization: row.name, unsubscribed: found?.reason === 'unsubscribe' };
  },
);

/** No program of the organization writes to the recipient any more, from this commit on. Again changes nothing. */
export const unsubscribe = command('unsubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  const { organization, recipient, trace } = request;
  if ((await unsubscribed.run(tx, request)).kind === 'missing') return { kind: 'missing' };
  const who = { tenant: organization, key: textKey(recipient) };
  const done = await suppress(tx, { ...who, reason: 'unsubscribe', source: 'link', trace }, stamp);
  if (done) await audit(tx, request, 'unsubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

/** Takes an unsubscription back; what is suppressed for another reason stays so. */
export const resubscribe = command('resubscribe', async (tx, request: Request, stamp): Promise<Outcome> => {
  const { organization, recipient, trace } = request;
  const done = await withdraw(tx, { tenant: organization, key: textKey(recipient), trace }, stamp);
  if (done) await audit(tx, request, 'resubscribe', stamp);
  return { kind: done ? 'changed' : 'same' };
});

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
