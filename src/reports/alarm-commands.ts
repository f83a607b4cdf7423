import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';

/** Notifies owners of failing sources of a domain, each source once in this time. */
export const ALARM_AGAIN_MS = 90 * 24 * 3_600_000;

/** Sends notices about new failing sources, and records which. Idempotent. */
export const recordReportAlarm = command(
  'record-report-alarm',
  async (
    tx,
    input: { domain: number; sources: readonly string[]; notices: readonly SystemNotice<'failing-source'>[] },
    stamp,
  ): Promise<{ notified: boolean }> => {
    let recorded = 0;
    await tx.run('DELETE FROM report_alarm WHERE notified_at < ?', stamp.now - ALARM_AGAIN_MS);
    for (const source of input.sources) {
      const { changes } = await tx.run(
        `INSERT INTO report_alarm (domain_id, source, notified_at) SELECT id, ?, ? FROM domain WHERE id = ?
         ON CONFLICT DO NOTHING`,
        source,
        stamp.now,
        input.domain,
      );
      recorded += changes;
    }
    if (recorded > 0) await sendNotices(tx, input.notices, stamp);
    return { notified: recorded > 0 };
  },
);
