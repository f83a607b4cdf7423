import { readTerms, type SearchTerm } from '../../message/search-terms.ts';
import { query } from '../../store/engine/types.ts';
import type { TextSearch } from '../../store/search/text-client.ts';
import type { TextKey } from './program.ts';
import { ACCOUNT_SPAN } from '../../store/search/account-span.ts';

/** Wait for messages that are not indexed yet, ms. */
const INDEX_WAIT_MS = 5_000;
/** Messages that a fuzzy key returns. */
const MAX_RELEVANT = 100_000;

/** Columns of the index by key. RFC 9051 6.4.4. */
const COLUMNS: Readonly<Record<string, string>> = {
  body: '{body attach} : ',
  text: '',
  subject: '{subject} : ',
  from: '{from_} : ',
  to: '{to_} : ',
  cc: '{cc_} : ',
  bcc: '{bcc_} : ',
};

interface RelevantInput {
  account: number;
  mailbox: number;
  /** FTS5 expression. */
  match: string;
}

/** UIDs of the messages of a mailbox that match words, the most relevant first; for the index thread. */
export const imapRelevant = query('imap-relevant', async (rx, { account, mailbox, match }: RelevantInput) => {
  // CAST is needed: numbers are bound as floating point, and FTS5 ignores a non-integer bound.
  const hits = await rx.all<{ id: number; rank: number }>(
    `SELECT rowid AS id, rank FROM message_text WHERE message_text MATCH ?
       AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) ORDER BY rank LIMIT ?`,
    match,
    account * ACCOUNT_SPAN,
    (account + 1) * ACCOUNT_SPAN - 1,
    MAX_RELEVANT,
  );
  return rx.all<{ uid: number; rank: number }>(
    `SELECT n.uid, CAST(j.value ->> 1 AS REAL) AS rank
     FROM json_each(?, '$') j CROSS JOIN entry n ON n.email_id = CAST(j.value ->> 0 AS INTEGER)
     WHERE n.mailbox_id = ? AND EXISTS (SELECT 1 FROM mailbox b WHERE b.id = n.mailbox_id AND b.account_id = ?)`,
    JSON.stringify(hits.map(({ id, rank }) => [id, rank])),
    mailbox,
    account,
  );
});

/** Relevancy from 1 to 100 by UID, RFC 6203 4; undefined: the index does not have the key, or cannot be used now. */
export async function relevantMessages(
  text: TextSearch,
  { account, mailbox, key }: { account: number; mailbox: number; key: TextKey },
): Promise<ReadonlyMap<number, number> | undefined> {
  const columns = COLUMNS[key.key === 'header' ? key.field : key.key];
  const terms = columns === undefined ? undefined : readTerms(key.text);
  if (columns === undefined || terms === undefined || terms.length === 0) return undefined;
  const match = `${columns}(${terms.map(expression).join(' AND ')})`;
  const searched = await text.search(imapRelevant, { account, mailbox, match }, { account, patienceMs: INDEX_WAIT_MS });
  return searched.kind === 'found' ? scoresOf(searched.value) : undefined;
}

/** Safe from injection: words have letters and digits only. Each word also matches as the begin of a longer one. */
function expression({ words, prefix }: SearchTerm): string {
  const isWord = words.length === 1 && (words[0]?.length ?? 0) > 2;
  return `"${words.join(' ')}"${prefix || isWord ? ' *' : ''}`;
}

/** FTS5 ranks are negative, the best the lowest. */
function scoresOf(hits: readonly { uid: number; rank: number }[]): Map<number, number> {
  let best = 0;
  for (const { rank } of hits) best = Math.min(best, rank);
  return new Map(hits.map(({ uid, rank }) => [uid, best === 0 ? 100 : Math.max(1, Math.round((rank / best) * 100))]));
}
