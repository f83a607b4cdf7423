import { describe, expect, test } from 'vitest';
import { filesOf, markupOf, mediaParts } from '../../../src/webmail/client/body-parts.ts';
import type { MessagePart } from '../../../src/webmail/client/jmap-types.ts';

const part = (type: string, more: Partial<MessagePart> = {}): MessagePart => ({
  partId: type,
  blobId: type,
  size: 1,
  name: null,
  type,
  charset: null,
  cid: null,
  disposition: null,
  ...more,
});
const [text, markup] = [part('text/plain'), part('text/html')];
const values = (more: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries({ 'text/plain': 'a < b', 'text/html': '<p>Hello</p>', ...more }).map(([id, value]) => [
      id,
      { value, isTruncated: false },
    ]),
  );
const types = (parts: readonly MessagePart[]): string[] => parts.map(({ type }) => type);

// The shapes of textBody, htmlBody and attachments are those of RFC 8621 4.1.4.
describe('the parts of a message', () => {
  test.each([
    ['a photo behind a text', [text, part('image/jpeg')], ['image/jpeg']],
    ['a sound behind a text', [text, part('audio/wav')], ['audio/wav']],
    [
      'two photos, one of them twice in the lists',
      [part('image/png'), text, part('image/jpeg')],
      ['image/png', 'image/jpeg'],
    ],
  ])('%s is a file, though it is not listed as an attachment', (_name, body, files) => {
    const email = { textBody: body, htmlBody: body.map((one) => ({ ...one })), attachments: [], bodyValues: values() };
    expect(types(mediaParts(email)).toSorted()).toEqual(files.toSorted());
    expect(types(filesOf(email, true)).toSorted()).toEqual(files.toSorted());
  });

  test('plain text beside formatted text is shown as text where it came', () => {
    const email = { textBody: [text, text], htmlBody: [markup, text], attachments: [], bodyValues: values() };
    expect(markupOf(email)).toBe('<p>Hello</p>\n<div style="white-space:pre-wrap">a &lt; b</div>');
  });

  test('an image that the text shows is no file; one that it does not show is, whatever its disposition says', () => {
    const shown = part('image/png', { cid: 'a b@x', disposition: 'inline' });
    const other = part('image/gif', { cid: 'c@x', disposition: 'inline' });
    const bodyValues = values({ 'text/html': '<img src="CID:a%20b%40x">' });
    const email = { textBody: [text], htmlBody: [markup], attachments: [shown, other], bodyValues };
    expect(types(filesOf(email, true))).toEqual(['image/gif']);
    expect(types(filesOf(email, false))).toEqual(['image/png', 'image/gif']);
  });
});
