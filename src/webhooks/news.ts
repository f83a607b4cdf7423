import type { Post } from '../letters/letter.ts';
import { toOwners } from '../letters/owners.ts';
import { DISABLED_AFTER_MS, type WebhookNews } from './commands.ts';
import type { Target } from './queries.ts';
import type { Told } from './teller.ts';

/** What the owners of a webhook have to be told of an attempt: nothing, nearly always. */
export async function newsOf(post: Post, { target, end }: Told): Promise<WebhookNews[]> {
  const kinds: WebhookNews['kind'][] = [];
  if (end.kind === 'dead' && target.toldDeadAt === null) kinds.push('dead');
  const failsFor = target.failingSince === null ? 0 : post.clock() - target.failingSince;
  if (end.kind !== 'told' && failsFor >= DISABLED_AFTER_MS) kinds.push('disabled');
  return Promise.all(
    kinds.map(async (kind) => {
      const letters = await toOwners(post, target.organization, letterOf(target, kind, post.settings.hostname));
      return { listener: target.listener, kind, letters };
    }),
  );
}

function letterOf({ url, account, address }: Target, kind: WebhookNews['kind'], hostname: string) {
  const whose = account === null ? 'your organization' : address;
  const { host } = new URL(url);
  const happened =
    kind === 'dead'
      ? [
          'did not take a message for 32 hours. This one is not tried again by itself; it is kept for 30 days,',
          'and others are still tried. You are told this once, until a delivery succeeds.',
        ]
      : [
          'has failed for five days and was switched off. What happens meanwhile is kept: for 30 days, and',
          '100,000 events at most. It is told when you switch the webhook on again.',
        ];
  const next =
    account === null
      ? 'Mend the receiver, then use update_webhook or the page "Webhooks" of the portal.'
      : 'Mend the receiver, then use enable_webhook or the page of the mailbox in the portal.';
  return {
    subject: kind === 'dead' ? `A webhook of ${whose} does not answer` : `A webhook of ${whose} was switched off`,
    text: [
      'Hello,',
      '',
      `the webhook of ${whose} at ${host} (mail server ${hostname})`,
      ...happened,
      '',
      next,
      'list_webhook_deliveries shows what the receiver answered, replay_webhook_deliveries sends it again.',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
