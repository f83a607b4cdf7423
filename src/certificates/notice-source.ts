import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { composeForOwners, type OwnerNoticeText } from '../notices/owners.ts';
import { recordCertificateNotice } from './commands.ts';
import { type FailedOrder, failedOrders, type StoredCertificate, storedCertificates } from './queries.ts';
import { lettersDue } from './schedule.ts';

const EVERY_MS = 10 * 60_000;

/** A certificate whose renewal fails, with the number of letters that are due by now. */
interface FailingCertificate {
  failed: FailedOrder;
  stored: StoredCertificate | undefined;
  letters: number;
}

/** Notifies the owners of the operator that a certificate is not renewed, long before it expires and near its end. */
export function failingCertificateNotices(
  context: NoticeContext,
): NoticeSource<FailingCertificate, { notices: readonly SystemNotice<'certificate-failing'>[] }> {
  const { store, clock } = context;
  return {
    kind: 'certificate-failing',
    everyMs: EVERY_MS,
    event: { level: 'warn', message: 'owners notified of a failing certificate' },
    async *due() {
      const all = await store.read(storedCertificates, undefined);
      for (const failed of await store.read(failedOrders, undefined)) {
        const stored = all.find((one) => one.name === failed.name && one.algorithm === failed.algorithm);
        const letters = lettersDue(stored, failed, clock());
        if (letters > failed.warned) yield { failed, stored, letters };
      }
    },
    async compose(failing) {
      const text = noticeText(failing, context);
      return {
        notices: await composeForOwners(context, { kind: 'certificate-failing', organization: OPERATOR }, text),
      };
    },
    async mark({ failed, letters }, { notices }) {
      const { name, algorithm } = failed;
      const { notified } = await store.write(recordCertificateNotice, { name, algorithm, letters, notices });
      return notified ? { certificate: name, algorithm } : undefined;
    },
  };
}

function noticeText({ failed, stored }: FailingCertificate, { settings }: NoticeContext): OwnerNoticeText {
  const { hostname } = settings;
  const until = stored === undefined ? undefined : new Date(stored.notAfter).toISOString().slice(0, 10);
  return {
    subject:
      until === undefined
        ? `No certificate for ${failed.name}`
        : `The certificate for ${failed.name} expires on ${until} and is not renewed`,
    text: [
      'Hello,',
      '',
      `${failed.failures} orders of a certificate for ${failed.name} failed in a row (mail server ${hostname}):`,
      '',
      `  ${failed.error}`,
      '',
      until === undefined
        ? 'Until one is issued, mail programs warn about this name, or do not connect.'
        : `The present one works until ${until}. Then mail programs warn, or do not connect.`,
      `The next order is at ${new Date(failed.retryAt).toISOString()}. After a correction, order at once:`,
      '',
      `  mailstead certificate renew ${failed.name}`,
      '',
      'docs/going-live.md lists the usual causes.',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
