import { OF_ACCOUNT_2 } from '../../store/search/account-span.ts';
import { isWholly, type Part, unpackParts } from '../../message/parts.ts';
import { command, lookup, type Row, type Write } from '../../store/engine/types.ts';
import { TAINT_MS, type TaintReader, type Sending } from './taint.ts';

/** Octets: smaller parts are equal by accident. */
export const MIN_COMPARED = 32;
/** Part sizes stored a message, the largest: its sender chooses how many parts it has. */
const MAX_SIZES = 40;
/** Rows stored a reader, some for each message; the oldest are dropped. */
const MAX_DOWNLOAD_ROWS = 20_000;
/** Downloaded messages that one is compared with, the latest. */
const MAX_MATCHES = 500;
/** Rows of one slice. */
const SLICE = 200;

/**
 * Records that an agent downloads messages of an account, internal ones included: the size of each as a whole and of its
 * largest parts. Lists record nothing, so listing cannot push records out.
 */
export const recordDownloads = command(
  'record-downloads',
  async (
    tx,
    { reader: who, account, emails }: { reader: TaintReader; account: number; emails: readonly number[] },
    { now },
  ): Promise<void> => {
    const { tenant, reader, byPassword } = who;
    const rows = await tx.all<{ id: number; size: number; parts: string }>(
      `SELECT e.id, e.size, m.parts FROM json_each(?1) g CROSS JOIN email e ON e.id = g.value
       JOIN email_meta m ON m.email_id = e.id WHERE ${OF_ACCOUNT_2}`,
      JSON.stringify(emails),
      account,
    );
    await tx.run(
      `INSERT INTO downloaded_content (tenant, size, reader, email_id, by_password, at)
       SELECT ?1, CAST(value ->> 1 AS INTEGER), ?2, CAST(value ->> 0 AS INTEGER), ?3, ?4 FROM json_each(?5, '$') WHERE true
       ON CONFLICT (tenant, size, reader, email_id) DO UPDATE SET at = excluded.at`,
      tenant,
      reader,
      Number(byPassword),
      now,
      JSON.stringify(rows.flatMap(({ id, size, parts }) => sizesOf(parts, size).map((one) => [id, one]))),
    );
    await trim(tx, reader);
  },
);

function sizesOf(parts: string, whole: number): number[] {
  const leaves = unpackParts(parts).filter(({ type }) => type !== 'multipart');
  const sizes = [whole, ...leaves.map(({ decodedLength }) => decodedLength)];
  const compared = [...new Set(sizes)].filter((size) => size >= MIN_COMPARED);
  return compared.toSorted((a, b) => b - a).slice(0, MAX_SIZES);
}

async function trim(tx: Write, reader: string): Promise<void> {
  await tx.run(
    `DELETE FROM downloaded_content WHERE reader = ?1 AND at <
       (SELECT at FROM downloaded_content WHERE reader = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`,
    reader,
    MAX_DOWNLOAD_ROWS - 1,
  );
}

/** A downloaded message with a part as long as one that its reader sends. */
export interface Download {
  trace: string;
  blob: number;
  /** Octets of trace and blob together. */
  size: number;
  /** The parts of equal length. */
  parts: Part[];
  /** In the conversation that is answered. */
  answered: boolean;
  /** Its text was sent from here before: its owner put it there, or it bounced. */
  ours: boolean;
}

interface AlikeRow extends Row {
  trace: string;
  blob_id: number;
  size: number;
  parts: string;
  answered: number;
  delivered: number;
}

/**
 * Finds a sender's downloads of the last day with a part as long as one that it sends. Its own messages are left out, whether
 * written with another password of the mailbox or with a token derived from its own.
 */
export const downloadsLike = lookup(
  'similar-downloads',
  async (
    rx,
    input: Sending & { credential: string; answers: number | null; sizes: readonly number[]; now: number },
  ): Promise<Download[]> => {
    const { tenant, reader, credential, byPassword, answers, sizes, now } = input;
    const rows = await rx.all<AlikeRow>(
      `SELECT e.trace, e.blob_id, e.size, m.parts, substr(e.trace, 1, 12) = 'Return-Path:' AS delivered,
         e.thread_id IS (SELECT thread_id FROM email WHERE id = ?6) AS answered
       FROM (SELECT h.email_id, max(h.at) AS at FROM json_each(?1) s CROSS JOIN downloaded_content h
           ON h.tenant = ?2 AND h.size = s.value
         WHERE h.at > ?3 AND (h.reader = ?4 OR ?5 = 1 OR h.by_password = 1) GROUP BY h.email_id) h
       CROSS JOIN email e ON e.id = h.email_id JOIN email_meta m ON m.email_id = e.id
       WHERE e.created_by IS NULL OR NOT (e.created_by IN (?4, ?7)
         OR (?5 = 1 AND substr(e.created_by, 1, 4) = 'pwd_' AND ?4 = 'mbx_' || e.account_id)
         OR EXISTS (SELECT 1 FROM agent_send g WHERE g.credential = e.created_by AND g.reader = ?4))
       ORDER BY h.at DESC, h.email_id DESC LIMIT ?8`,
      JSON.stringify(sizes),
      tenant,
      now - TAINT_MS,
      reader,
      Number(byPassword),
      answers,
      credential,
      MAX_MATCHES,
    );
    const wanted = new Set(sizes);
    return rows.map(({ blob_id: blob, parts, answered, delivered, ...row }) => ({
      trace: row.trace,
      blob,
      size: row.size,
      parts: unpackParts(parts).filter(({ type, decodedLength }) => type !== 'multipart' && wanted.has(decodedLength)),
      answered: answered === 1,
      ours: delivered === 0 || isWholly(parts, 'multipart', 'report'),
    }));
  },
);

/** Purges a slice of records older than a day. */
export const purgeDownloads = command('purge-downloads', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM downloaded_content WHERE (tenant, size, reader, email_id) IN
       (SELECT tenant, size, reader, email_id FROM downloaded_content WHERE at <= ? LIMIT ?)`,
    now - TAINT_MS,
    SLICE,
  );
  return changes === SLICE;
});
