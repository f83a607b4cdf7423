import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PdfReader } from '../../../src/reading/pdf/read-pdf.ts';
import { pdf } from '../../support/pdf.ts';

const reader = new PdfReader(60_000);

test('the text of a PDF, page by page', async () => {
  expect(await reader.read(pdf(['Invoice 17', 'Total: 42 EUR']))).toEqual({
    kind: 'read',
    text: 'Invoice 17\n\nTotal: 42 EUR',
    pages: 2,
    cut: false,
  });
});

test.each([
  ['no PDF at all', Buffer.from('hello')],
  ['nothing', Buffer.alloc(0)],
  ['a PDF that was cut off', pdf(['x']).subarray(0, 60)],
])('%s is unreadable', async (_name, octets) => {
  expect(await reader.read(octets)).toEqual({ kind: 'unreadable' });
});

test('what unfolds without end ends its own process and nothing else', { timeout: 60_000 }, async () => {
  const bomb = deflateSync(deflateSync(Buffer.alloc(300 * 1024 ** 2, ' '), { level: 1 }));
  expect(bomb.length).toBeLessThan(10_000);
  // It has time enough to be read, were it not for its memory.
  using patient = new PdfReader(60_000);
  const said = await patient.read(pdf(['x', 'y'], { data: bomb, filter: '[/FlateDecode /FlateDecode]' }));
  expect(said).toEqual({ kind: 'unreadable' });
  expect(await patient.read(pdf(['after']))).toMatchObject({ kind: 'read', text: 'after' });
});

test('what takes too long is left unread', async () => {
  using hasty = new PdfReader(5);
  expect(await hasty.read(pdf(['x']))).toEqual({ kind: 'unreadable' });
});

test('only so many wait', async () => {
  const crowd = await Promise.all(Array.from({ length: 10 }, () => reader.read(pdf(['x']))));
  expect(crowd.filter(({ kind }) => kind === 'later')).toHaveLength(6);
  expect(crowd.filter(({ kind }) => kind === 'read')).toHaveLength(4);
});
