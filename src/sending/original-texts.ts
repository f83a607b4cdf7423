import { textValue } from '../../mail/jmap/email/body-value.ts';
import type { Encoded } from '../reading/encoded.ts';
import { htmlReading } from '../reading/html-reading.ts';
import { LinkBook } from '../reading/link-book.ts';

/** Octets of one text of a message that is answered or passed on. */
export const MOST_TEXT = 1024 * 1024;

/** Its texts as they were sent: those that are shown beside HTML, and the HTML. */
export interface OriginalParts {
  text: readonly Encoded[];
  html: readonly Encoded[];
}

export interface OriginalTexts {
  /** Undefined: it has none of the kind. */
  plain: string | undefined;
  html: string | undefined;
  /** Its plain text, or what a person sees of its HTML. */
  text: string;
  /** There is more than was read. */
  cut: boolean;
}

/** The texts of a message that is answered, passed on or edited. */
export function readOriginalTexts({ text, html }: OriginalParts): OriginalTexts {
  const plain = joined(text, 'text/plain');
  const page = joined(html, 'text/html');
  return {
    plain: plain.text,
    html: page.text,
    text: plain.text ?? htmlReading(page.text ?? '', 'text', new LinkBook(false)).text,
    cut: plain.cut || page.cut,
  };
}

function joined(list: readonly Encoded[], kind: string): { text: string | undefined; cut: boolean } {
  const values = list
    .filter(({ body }) => body.type === kind)
    .map(({ body, octets }) => textValue(octets, body, MOST_TEXT));
  return {
    text: values.length === 0 ? undefined : values.map(({ value }) => value).join('\n'),
    cut: values.some(({ isTruncated }) => isTruncated),
  };
}
