import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeForOwners } from '../notices/owners.ts';
import { type DnsDrift, recordDriftNotice, unnotifiedDrifts } from '../domains/drift-commands.ts';

const EVERY_MS = 5 * 60_000;

/** Notifies the owners of a domain that a published record disappeared or was changed. */
export function dnsDriftNotices(
  context: NoticeContext,
): NoticeSource<DnsDrift, { notices: readonly SystemNotice<'dns-drift'>[] }> {
  const { store, settings } = context;
  return {
    kind: 'dns-drift',
    everyMs: EVERY_MS,
    event: { level: 'warn', message: 'owners notified of changed DNS records' },
    async *due() {
      for (const drift of await store.read(unnotifiedDrifts, undefined)) yield drift;
    },
    async compose({ name, tenant, records, manual }) {
      const text = manual ? manualText(name, records, settings.hostname) : noticeText(name, records, settings.hostname);
      return { notices: await composeForOwners(context, { kind: 'dns-drift', organization: tenant }, text) };
    },
    async mark({ domain, name, records }, { notices }) {
      const sent = await store.write(recordDriftNotice, { domain, records, notices });
      return sent ? { domain: name, records: records.length } : undefined;
    },
  };
}

function noticeText(name: string, records: readonly string[], hostname: string) {
  return {
    subject: `DNS records of ${name} are missing or changed`,
    text: [
      'Hello,',
      '',
      `${hostname} published these records of ${name}; at its DNS provider they are missing or have other values:`,
      '',
      ...records.map((record) => `  ${record}`),
      '',
      'Without them, mail of the domain can be lost or rejected. To publish them again, open the page of the domain in',
      'the portal and choose "Publish", or:',
      '',
      `  mailstead call publish_dns_records domain=${name}`,
      '',
      'Records that somebody else wrote in their place are not changed: delete these first.',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}

function manualText(name: string, records: readonly string[], hostname: string) {
  return {
    subject: `DNS records of ${name} are missing or changed`,
    text: [
      'Hello,',
      '',
      `these DNS records of ${name} were right, and are missing now, or do not do any more what ${hostname} needs:`,
      '',
      ...records.map((record) => `  ${record}`),
      '',
      'Without them, mail of the domain can be lost or rejected. The page of the domain in the portal has the value of each',
      'record; publish them again where the DNS of the domain is.',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
