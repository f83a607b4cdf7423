import { describe, expect, test } from 'vitest';
import { parseAddressList } from '../../../mail/message/header-addresses.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { namedAddresses } from '../../../mail/message/named-address.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { readEnvelope } from '../../../mail/message/stored-envelope.ts';
import { readStructure, type StructureNode } from '../../../mail/message/stored-structure.ts';
import { corpus } from '../../support/corpus.ts';

const index = (text: string) => indexMessage(Buffer.from(text.replaceAll('\n', '\r\n')));

describe('a stored ENVELOPE', () => {
  test('is read as it was written, quotes, literals and all', () => {
    const subject = `${String.raw`a "b" \c) (NIL`} ${'x'.repeat(1200)}`;
    const written = index(
      `Subject: ${subject}\nDate: today\nMessage-ID: <a@b>\nIn-Reply-To: <c@d>\nTo: a:b@c;,d@e\n\n`,
    );
    const read = readEnvelope(written.envelope);
    expect(read).toMatchObject({ subject, date: 'today', messageId: '<a@b>', inReplyTo: '<c@d>', from: undefined });
    expect(read.to).toEqual(parseAddressList('a:b@c;,d@e'));
  });

  test('reports the same addresses as the field itself, also beyond ASCII', () => {
    const field = '"Jürgen, B." <jürgen@bücher.example>, =?utf-8?q?=C3=A4?= <"a b"@c.example>, x, g: y@z;';
    const stored = namedAddresses(readEnvelope(index(`From: ${field}\n\n`).envelope).from ?? []);
    const fresh = namedAddresses(parseAddressList(Buffer.from(field).toString('latin1')));
    expect(stored).toEqual(fresh);
  });

  test.each(['', '(', ')', '(((', '({9', '("a', 'NIL', '({5}\r\na)'])('%j is no harm', (text) => {
    expect(readEnvelope(text)).toMatchObject({ subject: undefined });
  });
});

describe('a stored BODYSTRUCTURE', () => {
  test('has the parts of the part table but what is inside attached messages', () => {
    for (const { name, bytes } of corpus()) {
      const written = indexMessage(bytes);
      const parts = unpackParts(written.parts);
      const attached = parts.filter(({ type, subtype }) => `${type}/${subtype}` === 'message/rfc822');
      const own = parts.filter(({ path }) => !attached.some((outer) => path.startsWith(`${outer.path}.`)));
      const paths = (node: StructureNode): string[] => [node.path, ...(node.children ?? []).flatMap(paths)];
      expect(paths(readStructure(written.bodyStructure)), name).toEqual(own.map(({ path }) => path));
    }
  });

  test('knows what the part table does not', () => {
    const type = 'Content-Type: text/plain; charset="ISO-8859-15"; x="(NIL"';
    const written = index(`${type}\nContent-Language: de, en\nContent-Location: http://a.example/b\n\n`);
    expect(readStructure(written.bodyStructure)).toEqual({
      path: '1',
      charset: 'ISO-8859-15',
      language: ['de', 'en'],
      location: 'http://a.example/b',
      children: undefined,
    });
  });
});
