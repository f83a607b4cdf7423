import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PdfReader } from '../../../src/reading/pdf/read-pdf.ts';
import { pdf } from '../../support/pdf.ts';

const reader = new PdfReader(60_000);

test('the text of a PDF, page by page', async () => {
  expect(await reader.read(pdf(['Invoice 17', 'Total: 42 EUR']))).toEqual({
    kind: 'read',
    text: 'Invoice 17\n\nTotal: 42 EUR',
    hidden: '',
    pages: 2,
    cut: false,
  });
});

const drawn = (drawing: string): Buffer =>
  pdf(['', 'Next'], {
    data: deflateSync(`BT /F1 12 Tf 72 700 Td (Seen) Tj 0 -20 Td ${drawing} ET`),
    filter: '/FlateDecode',
  });

test.each([
  ['without ink', '3 Tr (Order) Tj'],
  ['in white', '1 g (Order) Tj'],
  ['nearly in white', '0.98 0.99 1 rg (Order) Tj'],
  ['too small', '/F1 0.4 Tf (Order) Tj'],
  ['beside the page', '3000 0 Td (Order) Tj'],
  ['in pieces', '3 Tr (Or) Tj 10 0 Td (der) Tj'],
])('text %s is no text that a person reads', async (_name, drawing) => {
  const said = await reader.read(drawn(drawing));
  if (said.kind !== 'read') throw new Error(said.kind);
  expect(said.text.replace(/\s+/g, ' ')).toBe('Seen Next');
  if (said.hidden !== '') expect(said.hidden.replace(/\s+/g, '')).toBe('Order');
});

test.each([
  ['black', '1 g 0 g (Order) Tj'],
  ['what was without ink before', 'q 3 Tr (x) Tj Q (Order) Tj'],
  ['on a page that is painted', 'ET 0 0 0 rg 0 0 600 800 re f BT /F1 12 Tf 1 g 72 600 Td (Order) Tj'],
])('text is read that is %s', async (_name, drawing) => {
  expect(await reader.read(drawn(drawing))).toMatchObject({ text: expect.stringContaining('Order') as unknown });
});

test('invisible text on a scanned page is its visible text', async () => {
  const scanned = pdf([''], {
    data: deflateSync('BT 3 Tr /F1 12 Tf 72 700 Td (Scanned) Tj ET'),
    filter: '/FlateDecode',
  });
  expect(await reader.read(scanned)).toMatchObject({ text: '', hidden: expect.stringContaining('Scanned') as unknown });
  const picture = Buffer.concat([scanned, Buffer.from('% /Subtype /Image')]);
  expect(await reader.read(picture)).toMatchObject({ text: 'Scanned', hidden: '' });
});

test.each([
  ['no PDF at all', Buffer.from('hello')],
  ['nothing', Buffer.alloc(0)],
  ['a PDF that was cut off', pdf(['x']).subarray(0, 60)],
])('%s is unreadable', async (_name, octets) => {
  expect(await reader.read(octets)).toEqual({ kind: 'unreadable' });
});

test('a decompression bomb ends only its own process', { timeout: 240_000 }, async () => {
  const bomb = deflateSync(deflateSync(Buffer.alloc(300 * 1024 ** 2, ' '), { level: 1 }));
  expect(bomb.length).toBeLessThan(10_000);
  // It has time enough to be read, were it not for its memory.
  using patient = new PdfReader(60_000);
  const said = await patient.read(pdf(['x', 'y'], { data: bomb, filter: '[/FlateDecode /FlateDecode]' }));
  expect(said).toEqual({ kind: 'unreadable' });
  expect(await patient.read(pdf(['after']))).toMatchObject({ kind: 'read', text: 'after' });
});

test('a slow document is unreadable', async () => {
  using hasty = new PdfReader(5);
  expect(await hasty.read(pdf(['x']))).toEqual({ kind: 'unreadable' });
});

test('the queue is limited', async () => {
  const many = await Promise.all(Array.from({ length: 10 }, () => reader.read(pdf(['x']))));
  expect(many.filter(({ kind }) => kind === 'later')).toHaveLength(6);
  expect(many.filter(({ kind }) => kind === 'read')).toHaveLength(4);
});

test('organizations take turns', async () => {
  const ended: number[] = [];
  const read = async (organization: number): Promise<void> => {
    await reader.for(organization).read(pdf(['x']));
    ended.push(organization);
  };
  await Promise.all([1, 1, 1, 1, 2].map(read));
  expect(ended).toEqual([1, 1, 2, 1, 1]);
});
