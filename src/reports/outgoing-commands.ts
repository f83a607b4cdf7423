import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';
import { finishReport, type ReportKey, type ReportOutcome } from '../../mail/store/queue/sent-report.ts';

export type ReportNotice = SystemNotice<'dmarc-report'> | SystemNotice<'tls-report'>;

/** Queues the report about a domain and day, once. Returns whether it was queued. */
export const sendReport = command(
  'send-report',
  async (tx, { notice, ...key }: ReportKey & { notice: ReportNotice }, stamp): Promise<boolean> => {
    const first = await finishReport(tx, key, 'sent', stamp);
    if (first) await sendNotice(tx, notice, stamp);
    return first;
  },
);

/** Records reports that end without a message. */
export const closeReports = command(
  'close-reports',
  async (tx, { reports }: { reports: readonly (ReportKey & { outcome: ReportOutcome })[] }, stamp): Promise<void> => {
    for (const { outcome, ...key } of reports) await finishReport(tx, key, outcome, stamp);
  },
);
