import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeForOwners, type OwnerNoticeText } from '../notices/owners.ts';
import { disableWebhook, notifyFailingWebhook } from './commands.ts';
import { type FailingWebhook, failingWebhooks, longFailingWebhooks } from './queries.ts';

/** Time of failures after which a webhook is disabled. */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
const EVERY_MS = 10_000;
const MAX_PER_RUN = 100;

/** Notifies owners when all retries of a delivery failed, once until a delivery succeeds. */
export function failingWebhookNotices(
  context: NoticeContext,
): NoticeSource<FailingWebhook, { notices: readonly SystemNotice<'webhook-failing'>[] }> {
  const { store } = context;
  return {
    kind: 'webhook-failing',
    everyMs: EVERY_MS,
    event: { level: 'info', message: 'webhook is failing, owners notified' },
    async *due() {
      yield* await store.scan(failingWebhooks, { limit: MAX_PER_RUN });
    },
    async compose(webhook) {
      const { organization } = webhook;
      return {
        notices: await composeForOwners(context, { kind: 'webhook-failing', organization }, failing(webhook, context)),
      };
    },
    async mark({ listener, organization }, { notices }) {
      const { notified } = await store.write(notifyFailingWebhook, { listener, notices });
      return notified ? { organization, webhook: listener } : undefined;
    },
  };
}

/** Disables webhooks that failed for five days, and notifies their owners. */
export function disabledWebhookNotices(
  context: NoticeContext,
): NoticeSource<FailingWebhook, { notices: readonly SystemNotice<'webhook-disabled'>[] }> {
  const { store } = context;
  return {
    kind: 'webhook-disabled',
    everyMs: EVERY_MS,
    event: { level: 'warn', message: 'webhook disabled' },
    async *due() {
      yield* await store.scan(longFailingWebhooks, { forMs: DISABLED_AFTER_MS, limit: MAX_PER_RUN });
    },
    async compose(webhook) {
      const { organization } = webhook;
      return {
        notices: await composeForOwners(
          context,
          { kind: 'webhook-disabled', organization },
          disabled(webhook, context),
        ),
      };
    },
    async mark({ listener, organization }, { notices }) {
      const { notified } = await store.write(disableWebhook, { listener, notices });
      return notified ? { organization, webhook: listener } : undefined;
    },
  };
}

function failing(webhook: FailingWebhook, context: NoticeContext): OwnerNoticeText {
  return {
    subject: `A webhook of ${ownerOf(webhook)} is failing`,
    text: textOf(webhook, context, [
      'has rejected or missed an event for 32 hours. This event is not retried automatically, but stored for 30 days.',
      'Later events are still sent. You get this notice once, until a delivery succeeds.',
    ]),
  };
}

function disabled(webhook: FailingWebhook, context: NoticeContext): OwnerNoticeText {
  return {
    subject: `A webhook of ${ownerOf(webhook)} was disabled`,
    text: textOf(webhook, context, [
      'has failed for five days and was disabled. Events are stored meanwhile for 30 days, 100,000 events',
      'at most, and sent when you enable the webhook again.',
    ]),
  };
}

function ownerOf({ account, address }: FailingWebhook): string {
  return account === null ? 'your organization' : address;
}

function textOf(
  webhook: FailingWebhook,
  { settings: { hostname } }: NoticeContext,
  problem: readonly string[],
): string[] {
  const { host } = new URL(webhook.url);
  const action =
    webhook.account === null
      ? 'use update_webhook or the page "Webhooks" of the portal.'
      : 'use enable_webhook or the page of the mailbox in the portal.';
  return [
    'Hello,',
    '',
    `the webhook of ${ownerOf(webhook)} at ${host} (mail server ${hostname})`,
    ...problem,
    '',
    `Repair the receiver, then ${action}`,
    'list_webhook_deliveries shows the responses of the receiver, replay_webhook_deliveries sends events again.',
    '',
    `Mailstead on ${hostname}`,
  ];
}
