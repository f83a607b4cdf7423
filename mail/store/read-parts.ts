import { type Part, unpackParts } from '../message/parts.ts';
import { query, type Row } from './engine/types.ts';
import { EXPOSED_MS, type Sending } from './exposure.ts';

/** Messages that are looked at, those that were read last. */
const MOST = 100;

interface PartsRow extends Row {
  blob_id: number;
  parts: string;
}

/** The parts of what outsiders wrote and a sender has read, of conversations other than that of `answers`; newest first. */
export const readParts = query(
  'read-parts',
  async (
    rx,
    { tenant, reader, byPassword, answers, now }: Sending & { answers: number | null; now: number },
  ): Promise<{ blob: number; parts: Part[] }[]> => {
    const rows = await rx.all<PartsRow>(
      `SELECT m.blob_id, i.parts FROM exposed x JOIN exposure e ON e.reader = x.reader
       CROSS JOIN email m ON m.id = e.email_id JOIN email_meta i ON i.email_id = m.id
       WHERE x.tenant = ?1 AND x.last_at > ?2 AND e.at > ?2 AND (x.reader = ?3 OR ?4 = 1 OR x.by_password = 1)
         AND m.thread_id IS NOT (SELECT thread_id FROM email WHERE id = ?5)
       ORDER BY e.at DESC, e.email_id DESC LIMIT ?6`,
      tenant,
      now - EXPOSED_MS,
      reader,
      Number(byPassword),
      answers,
      MOST,
    );
    return rows.map(({ blob_id: blob, parts }) => ({ blob, parts: unpackParts(parts) }));
  },
);
