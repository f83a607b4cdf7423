import { textValue } from '../../mail/jmap/email/body-value.ts';
import { renderHtml } from './render-html.ts';
import { LinkRegistry } from './link-registry.ts';
import type { EncodedText, OriginalParts, OriginalTexts } from '../core/text-tasks.ts';

/** Octets of one text of a message to answer or forward. */
export const MAX_TEXT_OCTETS = 1024 * 1024;

/** Decodes the texts of a message to answer, forward or edit. */
export function readOriginalTexts({ text, html }: OriginalParts): OriginalTexts {
  const plain = joinTexts(text, 'text/plain');
  const page = joinTexts(html, 'text/html');
  return {
    plain: plain.text,
    html: page.text,
    text: plain.text ?? renderHtml(page.text ?? '', 'text', new LinkRegistry(false)).text,
    cut: plain.cut || page.cut,
  };
}

function joinTexts(list: readonly EncodedText[], kind: string): { text: string | undefined; cut: boolean } {
  const values = list
    .filter(({ body }) => body.type === kind)
    .map(({ body, octets }) => textValue(octets, body, MAX_TEXT_OCTETS));
  return {
    text: values.length === 0 ? undefined : values.map(({ value }) => value).join('\n'),
    cut: values.some(({ isTruncated }) => isTruncated),
  };
}
