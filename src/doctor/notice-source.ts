import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeForOwners } from '../notices/owners.ts';
import type { HealthCheck } from './health-check.ts';
import { lastHealth, recordHealthNotice, unnotifiedFailures } from './health-commands.ts';
import { impactOf } from './impact.ts';

const EVERY_MS = 5 * 60_000;

/** Notifies the owners of the operator of checks that began to fail: one letter about all of them. */
export function failingCheckNotices(
  context: NoticeContext,
): NoticeSource<HealthCheck[], { notices: readonly SystemNotice<'check-failing'>[] }> {
  const { store, clock, settings } = context;
  return {
    kind: 'check-failing',
    everyMs: EVERY_MS,
    event: { level: 'warn', message: 'owners notified of failing checks' },
    async *due() {
      const names = await store.read(unnotifiedFailures, { now: clock() });
      const last = names.length === 0 ? undefined : await store.read(lastHealth, undefined);
      // A check that is unknown in the last run waits until it fails again.
      const failed = last?.checks.filter(({ name, status }) => status === 'failed' && names.includes(name)) ?? [];
      if (failed.length > 0) yield failed;
    },
    async compose(failed) {
      const text = noticeText(failed, settings.hostname);
      return { notices: await composeForOwners(context, { kind: 'check-failing', organization: OPERATOR }, text) };
    },
    async mark(failed, { notices }) {
      const names = failed.map(({ name }) => name);
      const { marked } = await store.write(recordHealthNotice, { names, notices });
      return marked > 0 ? { checks: names } : undefined;
    },
  };
}

function noticeText(failed: readonly HealthCheck[], hostname: string): { subject: string; text: string[] } {
  const [first] = failed;
  const subject =
    failed.length === 1
      ? `A check of ${hostname} fails: ${first?.name ?? ''}`
      : `${failed.length} checks of ${hostname} fail`;
  const lines = failed.flatMap(({ name, why, fix }) => [
    name,
    `  ${why}`,
    `  ${impactOf(name)}`,
    ...(fix === '' ? [] : [`  ${fix}`]),
    '',
  ]);
  return {
    subject,
    text: [
      'Hello,',
      '',
      `these checks of the mail server ${hostname} began to fail:`,
      '',
      ...lines,
      'The page Health of the portal, and "mailstead doctor", show them all. They run every hour.',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
