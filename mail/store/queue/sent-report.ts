import { command, lookup, type Stamp, type Write } from '../engine/types.ts';
import { dayOf } from './tls-result.ts';

export type SentReportKind = 'dmarc' | 'tls';

/** A report about one domain and day. */
export interface ReportKey {
  kind: SentReportKind;
  day: number;
  domain: string;
}

/** Result of a report. `none`: the domain does not ask for it, or is hosted here. */
export type ReportOutcome = 'sent' | 'posted' | 'none' | 'unauthorized' | 'too-large' | 'unresolved' | 'failed';

/** Longer than the results are kept. */
const KEEP_DAYS = 15;
const SLICE = 200;

const RESULTS: Readonly<Record<SentReportKind, string>> = {
  dmarc: `SELECT DISTINCT domain FROM dmarc_result r WHERE day = ?1 AND domain > ?2
    AND NOT EXISTS (SELECT 1 FROM sent_report WHERE kind = 'dmarc' AND day = ?1 AND domain = r.domain) ORDER BY domain LIMIT ?3`,
  tls: `SELECT DISTINCT domain FROM tls_result r WHERE day = ?1 AND domain > ?2
    AND NOT EXISTS (SELECT 1 FROM sent_report WHERE kind = 'tls' AND day = ?1 AND domain = r.domain) ORDER BY domain LIMIT ?3`,
};

/** Domains after `after` with results of a day and no finished report. */
export const unreportedDomains = lookup(
  'unreported-domains',
  async (
    rx,
    { kind, day, after, limit }: Omit<ReportKey, 'domain'> & { after: string; limit: number },
  ): Promise<string[]> => {
    const rows = await rx.all<{ domain: string }>(RESULTS[kind], day, after, limit);
    return rows.map(({ domain }) => domain);
  },
);

/** Records how a report ended, once. Returns whether it was open. */
export async function finishReport(
  tx: Write,
  { kind, day, domain }: ReportKey,
  outcome: ReportOutcome,
  stamp: Stamp,
): Promise<boolean> {
  const { changes } = await tx.run(
    'INSERT INTO sent_report (kind, day, domain, outcome, finished_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    kind,
    day,
    domain,
    outcome,
    stamp.now,
  );
  return changes > 0;
}

/** Deletes a slice of old records. True if there are more. */
export const purgeSentReports = command(
  'purge-sent-reports',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM sent_report WHERE (kind, day, domain) IN
         (SELECT kind, day, domain FROM sent_report WHERE day < ? LIMIT ?)`,
      dayOf(stamp.now) - KEEP_DAYS,
      SLICE,
    );
    return changes === SLICE;
  },
);
