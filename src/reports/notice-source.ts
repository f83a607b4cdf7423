import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { publicId } from '../core/ids.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeForOwners, type OwnerNoticeText } from '../notices/owners.ts';
import { recordReportAlarm } from './alarm-commands.ts';
import { type FailingSource, failingSources } from './alarm-queries.ts';

const DAY_MS = 24 * 3_600_000;
/** Failing messages within a week from which a source is reported: forgeries of a few are everyday. */
const LEAST = 100;
const WINDOW_DAYS = 7;
const MAX_ROWS = 500;
/** Sources that one notice names. */
const MAX_NAMED = 10;

/** New failing sources of one domain, those with the most messages first. */
interface FailingDomain {
  domain: number;
  tenant: number;
  name: string;
  sources: readonly FailingSource[];
}

/** Notifies owners when much mail in the name of a domain fails DMARC from a source that is new: at most daily. */
export function failingSourceNotices(
  context: NoticeContext,
): NoticeSource<FailingDomain, { notices: readonly SystemNotice<'failing-source'>[] }> {
  const { store, clock } = context;
  return {
    kind: 'failing-source',
    everyMs: 10 * 60_000,
    event: { level: 'info', message: 'owners notified of failing sources' },
    async *due() {
      const since = Math.floor(clock() / DAY_MS) - WINDOW_DAYS;
      const input = { since, least: LEAST, quietSince: clock() - DAY_MS, limit: MAX_ROWS };
      const found = await store.scan(failingSources, input);
      for (const sources of Map.groupBy(found, ({ domain }) => domain).values()) {
        const [first] = sources;
        if (first !== undefined) yield { domain: first.domain, tenant: first.tenant, name: first.name, sources };
      }
    },
    async compose(failing) {
      const about = { kind: 'failing-source', organization: failing.tenant } as const;
      return { notices: await composeForOwners(context, about, noticeText(failing, context)) };
    },
    async mark({ domain, name, sources }, { notices }) {
      const all = sources.map(({ source }) => source);
      const { notified } = await store.write(recordReportAlarm, { domain, sources: all, notices });
      return notified ? { domain: name, sources: all.length } : undefined;
    },
  };
}

function noticeText({ domain, tenant, name, sources }: FailingDomain, context: NoticeContext): OwnerNoticeText {
  const named = sources.slice(0, MAX_NAMED);
  const page = `${context.baseUrl()}/o/${publicId('organization', tenant)}/domains/${publicId('domain', domain)}/reports`;
  return {
    subject: `Mail in the name of ${name} fails DMARC`,
    text: [
      'Hello,',
      '',
      `other servers report mail from ${name} that fails SPF and DKIM, in the last ${WINDOW_DAYS} days:`,
      '',
      ...named.map(({ source, failed }) => `  ${source}: ${failed} messages`),
      ...(sources.length > named.length ? [`  and ${sources.length - named.length} more sources`] : []),
      '',
      'If a source is a service of yours, add its include to SPF and publish its DKIM keys. If none is,',
      'somebody forges your address: a stricter DMARC policy has that mail refused. The page has advice:',
      page,
      '',
      'Each source is reported once in 90 days.',
      '',
      `Mailstead on ${context.settings.hostname}`,
    ],
  };
}
