import { highlight, highlightPart, unmarked } from '../../message/highlight.ts';
import { unpackParts } from '../../message/parts.ts';
import { previewText } from '../../message/preview.ts';
import type { Term } from '../../message/search-terms.ts';
import { partTexts } from '../../message/search-text.ts';
import { blobPath } from '../../store/blob.ts';
import { type Query, query } from '../../store/engine/types.ts';
import { ofBytes, ofFile } from '../../store/search/message-octets.ts';
import { factsOf } from './facts.ts';
import { type Filter, isOperator } from './filter.ts';

/** Emails of one call: each is read whole and taken apart. */
export const SNIPPETS = 20;
/** RFC 8621 5: octets of UTF-8. */
const PREVIEW = 255;
/** Characters of a subject that are looked at. */
const SUBJECT = 1000;

export interface Snippet {
  email: number;
  subject: string | null;
  preview: string | null;
  /** The preview has more of the text than the line that a list shows. */
  opens: boolean;
}

/** What is to be marked where. */
export interface Searched {
  subject: readonly Term[];
  body: readonly Term[];
}

/** The words that a filter asks for, those of a NOT left out. RFC 8621 5. */
export function searchedBy(filter: Filter): Searched {
  if (isOperator(filter)) {
    const of = filter.op === 'not' ? [] : filter.of.map(searchedBy);
    return { subject: of.flatMap(({ subject }) => subject), body: of.flatMap(({ body }) => body) };
  }
  if (filter.test !== 'text') return { subject: [], body: [] };
  const { columns, terms } = filter;
  const where = (column: 'subject' | 'body'): readonly Term[] =>
    columns === null || columns.includes(column) ? terms : [];
  return { subject: where('subject'), body: where('body') };
}

/**
 * Marks words in emails, at most {@link SNIPPETS}; those that nobody can see are left out. A program is shown none of the
 * text of a message that acts for a person.
 */
export const emailSnippets: Query<
  { account: number; blobs: string; emails: readonly number[]; searched: Searched; isPerson: boolean },
  Snippet[]
> = query('email-snippets', async (rx, { account, blobs, emails, searched, isPerson }) => {
  const seen = await factsOf(rx, account, emails);
  const rows = await rx.all<{
    id: number;
    veiled_from: number | null;
    subject: string;
    listed: string;
    parts: string;
    file: string | null;
    data: Uint8Array | null;
  }>(
    `SELECT e.id, e.veiled_from, m.subject, m.preview AS listed, m.parts, b.file, b.data FROM email e JOIN email_meta m ON m.email_id = e.id
     JOIN blob b ON b.id = e.blob_id WHERE e.id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(seen.map(({ id }) => id)),
  );
  return rows.map(({ id, veiled_from: veiledFrom, subject, listed, parts, file, data }) => {
    const mayShow = isPerson || veiledFrom === null;
    using octets = file === null ? ofBytes(data ?? new Uint8Array(0)) : ofFile(blobPath(blobs, file));
    const shown =
      searched.body.length === 0 || !mayShow
        ? null
        : preview((start, length) => octets.read(start, length), parts, searched);
    return {
      email: id,
      subject: searched.subject.length === 0 ? null : (highlight(subject.slice(0, SUBJECT), searched.subject) ?? null),
      preview: shown,
      opens: shown !== null && !listed.includes(previewText(unmarked(shown))),
    };
  });
});

function preview(
  read: (start: number, length: number) => Uint8Array,
  parts: string,
  { body: terms }: Searched,
): string | null {
  const { body, attach } = partTexts(read, unpackParts(parts));
  return highlightPart(body, terms, PREVIEW) ?? highlightPart(attach, terms, PREVIEW) ?? null;
}
