import { isWholly, type Part, unpackParts } from '../message/parts.ts';
import { command, query, type Row, type Write } from './engine/types.ts';
import { EXPOSED_MS, type Reader, type Sending } from './exposure.ts';

/** Octets: what is smaller is the same by accident. */
export const LEAST_COMPARED = 32;
/** Sizes that are remembered of one message, the largest: who writes one chooses how many parts it has. */
const MOST_SIZES = 40;
/** Rows that are remembered of one reader, some for each message; the oldest go first. */
const MOST_HANDED_OUT = 20_000;
/** Messages that one is compared with, those that were handed out last. */
const MOST_ALIKE = 500;
/** Rows of one slice. */
const SLICE = 200;

/**
 * Writes down that an agent is handed messages of an account, those of the house too: the sizes of each as a whole and
 * of its largest parts. Lists hand out nothing, so no number of them has this forgotten.
 */
export const noteHandedOut = command(
  'note-handed-out',
  async (
    tx,
    { reader: who, account, emails }: { reader: Reader; account: number; emails: readonly number[] },
    { now },
  ): Promise<void> => {
    const { tenant, reader, byPassword } = who;
    const rows = await tx.all<{ id: number; size: number; parts: string }>(
      `SELECT e.id, e.size, m.parts FROM json_each(?) g CROSS JOIN email e ON e.id = g.value
       JOIN email_meta m ON m.email_id = e.id WHERE +e.account_id = ?`,
      JSON.stringify(emails),
      account,
    );
    await tx.run(
      `INSERT INTO handed_out (tenant, size, reader, email_id, by_password, at)
       SELECT ?1, value ->> 1, ?2, value ->> 0, ?3, ?4 FROM json_each(?5) WHERE true
       ON CONFLICT DO UPDATE SET at = excluded.at`,
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
  const compared = [...new Set(sizes)].filter((size) => size >= LEAST_COMPARED);
  return compared.toSorted((a, b) => b - a).slice(0, MOST_SIZES);
}

async function trim(tx: Write, reader: string): Promise<void> {
  await tx.run(
    `DELETE FROM handed_out WHERE reader = ?1 AND at <
       (SELECT at FROM handed_out WHERE reader = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`,
    reader,
    MOST_HANDED_OUT - 1,
  );
}

/** A message that its sender was handed, and of which something is as long as something that it sends. */
export interface HandedOut {
  trace: string;
  blob: number;
  /** Octets of trace and blob together. */
  size: number;
  /** Those that are as long. */
  parts: Part[];
  /** It is of the conversation that is answered. */
  answered: boolean;
  /** Its text was sent from here before: its owner put it there, or it came back. */
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
 * What a sender was handed within a day that is as long as what it sends. What it wrote itself is nobody else's, with
 * whichever password of the mailbox, or token that was made of its own.
 */
export const alikeHandedOut = query(
  'alike-handed-out',
  async (
    rx,
    input: Sending & { credential: string; answers: number | null; sizes: readonly number[]; now: number },
  ): Promise<HandedOut[]> => {
    const { tenant, reader, credential, byPassword, answers, sizes, now } = input;
    const rows = await rx.all<AlikeRow>(
      `SELECT e.trace, e.blob_id, e.size, m.parts, substr(e.trace, 1, 12) = 'Return-Path:' AS delivered,
         e.thread_id IS (SELECT thread_id FROM email WHERE id = ?6) AS answered
       FROM (SELECT h.email_id, max(h.at) AS at FROM json_each(?1) s CROSS JOIN handed_out h
           ON h.tenant = ?2 AND h.size = s.value
         WHERE h.at > ?3 AND (h.reader = ?4 OR ?5 = 1 OR h.by_password = 1) GROUP BY h.email_id) h
       CROSS JOIN email e ON e.id = h.email_id JOIN email_meta m ON m.email_id = e.id
       WHERE e.made_by IS NULL OR NOT (e.made_by IN (?4, ?7)
         OR (?5 = 1 AND substr(e.made_by, 1, 4) = 'pwd_' AND ?4 = 'mbx_' || e.account_id)
         OR EXISTS (SELECT 1 FROM agent_send g WHERE g.credential = e.made_by AND g.reader = ?4))
       ORDER BY h.at DESC, h.email_id DESC LIMIT ?8`,
      JSON.stringify(sizes),
      tenant,
      now - EXPOSED_MS,
      reader,
      Number(byPassword),
      answers,
      credential,
      MOST_ALIKE,
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

/** Forgets a slice of what is older than a day. */
export const forgetHandedOut = command(
  'forget-handed-out',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM handed_out WHERE (tenant, size, reader, email_id) IN
       (SELECT tenant, size, reader, email_id FROM handed_out WHERE at <= ? LIMIT ?)`,
      now - EXPOSED_MS,
      SLICE,
    );
    return changes === SLICE;
  },
);
