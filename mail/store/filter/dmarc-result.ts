import { command, lookup } from '../engine/types.ts';
import { dayOf } from '../queue/tls-result.ts';

/** SPF and DKIM results of a message, whatever they mean for DMARC. RFC 9990 3.1.1.10. */
export interface AuthResults {
  /** Undefined for the null reverse-path: only the MAIL FROM identity counts. */
  spf?: { domain: string; result: string };
  dkim: readonly { domain: string; selector: string; result: string }[];
}

/** DMARC result of messages from one source. */
export interface DmarcResult {
  /** Domain whose DMARC record applied. */
  domain: string;
  source: string;
  headerFrom: string;
  /** '' for the null reverse-path. */
  envelopeFrom: string;
  /** Passes and is aligned. */
  spf: boolean;
  dkim: boolean;
  disposition: 'pass' | 'none' | 'quarantine' | 'reject';
  /** Reason for another disposition than the policy asks for. RFC 9990 3.1.6. */
  reason: '' | 'local_policy' | 'trusted_forwarder' | 'other';
  auth: AuthResults;
}

/** A result and its number of messages. */
export interface CountedDmarcResult extends DmarcResult {
  messages: number;
}

/** Distinct results of one domain and day; above it, details are left out. */
const MAX_DETAILED = 500;
/** Distinct results of one domain and day, and of all domains; further ones are not counted. */
const MAX_RESULTS = 4000;
const MAX_DAY_RESULTS = 100_000;
/** Octets of the SPF and DKIM results, which are in the key of their row: a key of PostgreSQL has 2,700 at most. */
const MAX_AUTH_OCTETS = 1500;
/** Retention: reports are sent the next day, or later after a downtime. */
const KEEP_DAYS = 14;
const SLICE = 200;

/** Adds counted results to those of a day. */
export const addDmarcResults = command(
  'add-dmarc-results',
  async (tx, { day, results }: { day: number; results: readonly CountedDmarcResult[] }): Promise<void> => {
    const all = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT 1 FROM dmarc_result WHERE day = ? LIMIT ?)',
      day,
      MAX_DAY_RESULTS,
    );
    let free = MAX_DAY_RESULTS - (all?.n ?? 0);
    for (const one of results) {
      const own = await tx.get<{ n: number }>(
        'SELECT count(*) AS n FROM (SELECT 1 FROM dmarc_result WHERE day = ? AND domain = ? LIMIT ?)',
        day,
        one.domain,
        MAX_RESULTS,
      );
      const there = own?.n ?? 0;
      const values = rowOf(day, one, there >= MAX_DETAILED);
      const { changes } = await tx.run(UPDATE, one.messages, ...values);
      if (changes > 0 || there >= MAX_RESULTS || free <= 0) continue;
      await tx.run(INSERT, ...values, one.messages);
      free -= 1;
    }
  },
);

const UPDATE = `UPDATE dmarc_result SET messages = messages + ? WHERE day = ? AND domain = ? AND source = ? AND header_from = ?
  AND envelope_from = ? AND spf = ? AND dkim = ? AND disposition = ? AND reason = ? AND auth = ?`;
const INSERT = `INSERT INTO dmarc_result (day, domain, source, header_from, envelope_from, spf, dkim, disposition, reason, auth,
  messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function rowOf(day: number, one: DmarcResult, many: boolean): (string | number)[] {
  const { domain, source, headerFrom, envelopeFrom, spf, dkim, disposition, reason, auth } = one;
  const from = many ? '' : envelopeFrom;
  const details = many ? '' : authText(auth);
  return [day, domain, source, headerFrom, from, Number(spf), Number(dkim), disposition, reason, details];
}

/** JSON of results; without the last signatures if they are too long, whose names a stranger chooses. */
function authText(auth: AuthResults): string {
  let text = JSON.stringify(auth);
  for (let left = auth.dkim.length - 1; Buffer.byteLength(text) > MAX_AUTH_OCTETS && left >= 0; left--)
    text = JSON.stringify({ ...auth, dkim: auth.dkim.slice(0, left) });
  return text;
}

interface ResultRow extends Record<string, string | number> {
  source: string;
  headerFrom: string;
  envelopeFrom: string;
  spf: number;
  dkim: number;
  disposition: DmarcResult['disposition'];
  reason: DmarcResult['reason'];
  auth: string;
  messages: number;
}

/** Results of one domain and day, those with the most messages first. */
export const dmarcResults = lookup(
  'dmarc-results',
  async (rx, { day, domain }: { day: number; domain: string }): Promise<CountedDmarcResult[]> => {
    const rows = await rx.all<ResultRow>(
      `SELECT source, header_from AS "headerFrom", envelope_from AS "envelopeFrom", spf, dkim, disposition, reason, auth,
         messages FROM dmarc_result WHERE day = ? AND domain = ? ORDER BY messages DESC, source, auth LIMIT ?`,
      day,
      domain,
      MAX_RESULTS,
    );
    return rows.map(({ auth, ...row }) => ({
      ...row,
      domain,
      spf: row.spf === 1,
      dkim: row.dkim === 1,
      auth: auth === '' ? { dkim: [] } : (JSON.parse(auth) as AuthResults),
    }));
  },
);

/** Deletes a slice of old results. True if there are more. */
export const purgeDmarcResults = command(
  'purge-dmarc-results',
  async (tx, _input: undefined, stamp): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM dmarc_result WHERE (day, domain, source, header_from, envelope_from, spf, dkim, disposition, reason, auth) IN
         (SELECT day, domain, source, header_from, envelope_from, spf, dkim, disposition, reason, auth FROM dmarc_result
          WHERE day < ? ORDER BY day LIMIT ?)`,
      dayOf(stamp.now) - KEEP_DAYS,
      SLICE,
    );
    return changes === SLICE;
  },
);
