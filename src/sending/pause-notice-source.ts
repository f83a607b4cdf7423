import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { Meter } from '../../mail/log.ts';
import { type PausedSender, unnotifiedPauses } from '../../mail/store/limit/paused-sender.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { notifyPause } from './pause-commands.ts';
import { publicId } from '../core/ids.ts';
import { accountInfo } from '../../mail/store/account/account.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { composeForOwners } from '../notices/owners.ts';
import { listApiKeys } from './key-commands.ts';

const MAX_NOTICES = 50;

interface PauseNotices {
  notices: readonly SystemNotice<'paused-sender'>[];
}

/** Notifies owners once when one of their mailboxes or API keys is paused. */
export function pausedSenderNotices(
  context: NoticeContext & { metrics: Meter },
): NoticeSource<PausedSender, PauseNotices> {
  const { store, metrics } = context;
  return {
    kind: 'paused-sender',
    everyMs: 5_000,
    event: { level: 'warn', message: 'a sender was paused' },
    async *due() {
      yield* await store.read(unnotifiedPauses, { limit: MAX_NOTICES });
    },
    async compose(paused) {
      return { notices: await composePausedSender(context, paused) };
    },
    async mark({ sender, tenant, account, pausedAt, why, figures }, { notices }) {
      const { notified } = await store.write(notifyPause, { sender, pausedAt, notices });
      if (!notified) return undefined;
      metrics.count('senders_paused_total', { kind: account === null ? 'key' : 'mailbox' });
      return { sender, organization: tenant, account, why, figures };
    },
  };
}

/** Returns the public id of a sender, and its address or name. */
export async function namedSender(
  store: Store,
  { sender, tenant, account }: Pick<PausedSender, 'sender' | 'tenant' | 'account'>,
): Promise<{ id: string; name: string }> {
  if (account !== null) {
    const found = await store.read(accountInfo, { tenant, id: account });
    return { id: publicId('mailbox', account), name: found?.address ?? '' };
  }
  const keys = await store.read(listApiKeys, { organization: tenant });
  return { id: sender, name: keys.find((key) => publicId('apiKey', key.id) === sender)?.name ?? '' };
}

/** Composes the notice about a paused sender for each owner. */
export async function composePausedSender(
  context: NoticeContext,
  paused: PausedSender,
): Promise<SystemNotice<'paused-sender'>[]> {
  const { id, name } = await namedSender(context.store, paused);
  const what = paused.account === null ? `the key "${name}" (${id})` : `the mailbox ${name}`;
  return composeForOwners(
    context,
    { kind: 'paused-sender', organization: paused.tenant },
    textOf(context, paused, { what, id }),
  );
}

function textOf(
  context: NoticeContext,
  { why, pausedAt, figures }: PausedSender,
  { what, id }: { what: string; id: string },
) {
  const { hostname } = context.settings;
  return {
    subject: 'Sending was paused',
    text: [
      'Hello,',
      '',
      `Sending is paused for ${what} on the mail server ${hostname} since`,
      `${new Date(pausedAt).toISOString()}, because`,
      `${why}.`,
      '',
      'Counters:',
      ...Object.entries(figures).map(([counted, number]) => `  ${counted}: ${number}`),
      '',
      'Its mail is held, including what it continues to send. If you did not expect this, change its password',
      'or revoke the key, review the held mail in the outbox and the queue, and cancel it.',
      'If everything is in order, resume it on the page "Queue" of the portal, or call',
      `resume_sender with the sender ${id}.`,
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
