import { highlight, highlightPart, withoutHighlights } from '../../message/highlight.ts';
import { unpackParts } from '../../message/parts.ts';
import { previewText } from '../../message/preview.ts';
import { boundTerms, type SearchTerm } from '../../message/search-terms.ts';
import { partTexts } from '../../message/search-text.ts';
import { readableRows, unlessUnreadable } from '../../store/blob/unreadable.ts';
import { type Query, query } from '../../store/engine/types.ts';
import { ofBytes, ofFile } from '../../store/search/message-octets.ts';
import { readEmailFacts } from './email-facts.ts';
import { type EmailFilter, isOperator } from './email-filter.ts';

/** Maximum emails of one store query; each is read whole and parsed. */
export const MAX_SNIPPETS = 20;
/** Maximum octets of UTF-8 in a preview. RFC 8621 5. */
const PREVIEW = 255;
/** Maximum characters searched in a subject. */
const SUBJECT = 1000;

export interface EmailSnippet {
  email: number;
  subject: string | null;
  preview: string | null;
  /** True if the preview reveals more text than the list preview. */
  opens: boolean;
}

/** Terms to highlight, by property. */
export interface SnippetTerms {
  subject: readonly SearchTerm[];
  body: readonly SearchTerm[];
}

/** The search terms of a filter, without those of NOT. RFC 8621 5. */
export function snippetTermsOf(filter: EmailFilter): SnippetTerms {
  return { subject: boundTerms(termsIn(filter, 'subject')), body: boundTerms(termsIn(filter, 'body')) };
}

function termsIn(filter: EmailFilter, column: keyof SnippetTerms): readonly SearchTerm[] {
  if (isOperator(filter)) return filter.op === 'not' ? [] : filter.of.flatMap((one) => termsIn(one, column));
  if (filter.test !== 'text') return [];
  return filter.columns === null || filter.columns.includes(column) ? filter.terms : [];
}

/**
 * Highlights terms in at most {@link MAX_SNIPPETS} emails; omits hidden ones. Programs get no text of a quarantined
 * message.
 */
export const emailSnippets: Query<
  {
    account: number;
    blobs: string;
    /** The only mailboxes that the reader sees; omitted: all. */
    within?: readonly number[] | undefined;
    emails: readonly number[];
    searched: SnippetTerms;
    isHuman: boolean;
  },
  EmailSnippet[]
> = query('email-snippets', async (rx, { account, blobs, within, emails, searched, isHuman }) => {
  const seen = await readEmailFacts({ rx, account, within: within && new Set(within) }, emails);
  const rows = await readableRows<{
    id: number;
    redacted_from: number | null;
    subject: string;
    listed: string;
    parts: string;
    file: string | null;
    data: Uint8Array | null;
  }>(
    rx,
    `SELECT e.id, e.redacted_from, m.subject, m.preview AS listed, m.parts, b.file, b.data FROM email e JOIN email_meta m ON m.email_id = e.id
     JOIN blob b ON b.id = e.blob_id WHERE e.id IN (SELECT value FROM json_each(?))`,
    seen.map(({ id }) => id),
  );
  const snippets: EmailSnippet[] = [];
  for (const { id, redacted_from: redactedFrom, subject, listed, parts, file, data } of rows) {
    await rx.pause?.();
    const mayShow = isHuman || redactedFrom === null;
    const read = (): string | null => {
      using octets = file === null ? ofBytes(data ?? new Uint8Array(0)) : ofFile(blobs, file);
      return preview((start, length) => octets.read(start, length), parts, searched);
    };
    const shown = searched.body.length === 0 || !mayShow ? null : unlessUnreadable(read, null);
    snippets.push({
      email: id,
      subject: searched.subject.length === 0 ? null : (highlight(subject.slice(0, SUBJECT), searched.subject) ?? null),
      preview: shown,
      opens: shown !== null && !listed.includes(previewText(withoutHighlights(shown))),
    });
  }
  return snippets;
});

function preview(
  read: (start: number, length: number) => Uint8Array,
  parts: string,
  { body: terms }: SnippetTerms,
): string | null {
  const { body, attach } = partTexts(read, unpackParts(parts));
  return highlightPart(body, terms, PREVIEW) ?? highlightPart(attach, terms, PREVIEW) ?? null;
}
