import { auditHeadNotices, toolsChanged } from '../agents/owner-notice-sources.ts';
import { approvalRequests } from '../approvals/notice-source.ts';
import { canaryAlerts } from '../canaries/notice-source.ts';
import { failingCertificateNotices } from '../certificates/notice-source.ts';
import { failingCheckNotices } from '../doctor/notice-source.ts';
import { dnsDriftNotices } from '../dns-providers/notice-source.ts';
import { dailyDigests } from '../digest/notice-source.ts';
import { type NoticeSource, Notifier } from '../notices/notifier.ts';
import { newDeviceNotices } from '../people/device-notice-source.ts';
import { failingSourceNotices } from '../reports/notice-source.ts';
import { pausedSenderNotices } from '../sending/pause-notice-source.ts';
import { disabledWebhookNotices, failingWebhookNotices } from '../webhooks/notice-sources.ts';
import type { Services } from './shared-parts.ts';

/** Every kind of notice that owners get unasked. In local mode only those that a person at this machine waits for. */
export function openNotifier(services: Services, baseUrl: () => string): Notifier {
  const { settings, queue, log, metrics } = services;
  const context = { ...services, baseUrl };
  const sources: NoticeSource[] = [
    approvalRequests(context),
    canaryAlerts(context),
    toolsChanged({ ...context, live: settings.live }),
    failingWebhookNotices(context),
    disabledWebhookNotices(context),
    failingSourceNotices(context),
    dnsDriftNotices(context),
    ...(settings.acme === undefined ? [] : [failingCertificateNotices(context)]),
    ...(settings.live
      ? [
          failingCheckNotices(context),
          auditHeadNotices(context),
          dailyDigests(context),
          pausedSenderNotices(context),
          newDeviceNotices(context),
        ]
      : []),
  ];
  return new Notifier({ sources, queued: () => queue.changed(), log, metrics });
}
