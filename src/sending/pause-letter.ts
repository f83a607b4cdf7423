import type { Outgoing } from '../../mail/delivery/submit.ts';
import { accountOf } from '../../mail/store/account.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { PausedSender } from '../../mail/store/paused-sender.ts';
import { publicId } from '../ids.ts';
import type { Post } from '../letters/letter.ts';
import { toOwners } from '../letters/owners.ts';
import { listApiKeys } from './key-commands.ts';

/** A sender as people know it: its public id, and its address or name. */
export async function namedSender(
  store: Store,
  { sender, tenant, account }: Pick<PausedSender, 'sender' | 'tenant' | 'account'>,
): Promise<{ id: string; name: string }> {
  if (account !== null) {
    const found = await store.read(accountOf, { tenant, id: account });
    return { id: publicId('mailbox', account), name: found?.address ?? '' };
  }
  const keys = await store.read(listApiKeys, { organization: tenant });
  return { id: sender, name: keys.find((key) => publicId('apiKey', key.id) === sender)?.name ?? '' };
}

/** What the owners of an organization are told of a pause, a letter each. */
export async function pauseLetters(post: Post, paused: PausedSender): Promise<Outgoing[]> {
  const { id, name } = await namedSender(post.store, paused);
  const what = paused.account === null ? `the key "${name}" (${id})` : `the mailbox ${name}`;
  return toOwners(post, paused.tenant, textOf(post, paused, { what, id }));
}

function textOf(post: Post, { why, pausedAt, figures }: PausedSender, { what, id }: { what: string; id: string }) {
  const { hostname } = post.settings;
  return {
    subject: 'Sending was paused',
    text: [
      'Hello,',
      '',
      `${what} on the mail server ${hostname} sends nothing more since`,
      `${new Date(pausedAt).toISOString()}, because`,
      `${why}.`,
      '',
      'What was counted:',
      ...Object.entries(figures).map(([counted, number]) => `  ${counted}: ${number}`),
      '',
      'Its mail is kept, also what it goes on to send. When you did not expect this, change its password',
      'or revoke the key, look at what waits in the outbox and the queue, and cancel it.',
      'When all is well, let it go on: the page "Queue" of the portal, or',
      `resume_sender with the sender ${id}.`,
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
