import type { Part } from '../../mail/message/parts.ts';
import type { EncodedText } from '../../src/core/text-tasks.ts';

/** A text/html part as it lies in a message, in UTF-8 and without a transfer encoding. */
export function encodedHtml(html: string): EncodedText {
  const octets = Buffer.from(html);
  const part: Part = {
    path: '1',
    type: 'text',
    subtype: 'html',
    charset: 'utf-8',
    encoding: '8bit',
    headerOffset: 0,
    bodyOffset: 0,
    bodyLength: octets.length,
    decodedLength: octets.length,
    lines: 0,
    disposition: '',
    filename: '',
    contentId: '',
  };
  const about = { disposition: null, name: null, cid: null, language: null, location: null, subParts: null };
  return { body: { part, type: 'text/html', charset: 'utf-8', ...about }, octets };
}
