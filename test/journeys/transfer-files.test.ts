import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

const MESSAGES = 200;

let box: Box;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
});
afterAll(() => box[Symbol.asyncDispose]());

/** An mbox file of some hundred KiB. */
const MBOX = Buffer.from(
  Array.from(
    { length: MESSAGES },
    (_, n) =>
      `From ann@a.example Mon Nov 23 08:00:00 2026\nSubject: message ${n}\nStatus: RO\n\n${'text of old mail\n'.repeat(100)}\n`,
  ).join(''),
);

interface ImportState {
  importId: string;
  state: string;
  imported: number;
  known: number;
  skipped: number;
}

async function startUpload(): Promise<{ url: string; importId: string }> {
  const { putUrl, import: job } = (await box.ask('start_import', { address: box.address })) as {
    putUrl: string;
    import: ImportState;
  };
  return { url: putUrl, importId: job.importId };
}

async function ended(importId: string): Promise<ImportState> {
  const find = async (): Promise<ImportState> =>
    ((await box.ask('get_import', { importId })) as { import: ImportState }).import;
  await expect.poll(async () => (await find()).state).toBe('done');
  return find();
}

const rangeOf = (start: number, end: number, total: number) => ({
  'content-range': `bytes ${start}-${end - 1}/${total}`,
});

async function put(url: string, octets: Buffer, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await fetch(url, { method: 'PUT', body: Uint8Array.from(octets), headers });
  return [response.status, await response.text()];
}

/** Sends the beginning of a file as if all of it came, and ends the connection. */
async function putAndCut(url: string, octets: Buffer, total: number): Promise<void> {
  const headers = { ...rangeOf(0, total, total), 'content-length': String(total) };
  const sending = request(url, { method: 'PUT', headers });
  sending.on('error', () => undefined);
  await new Promise((resolve) => sending.write(octets, resolve));
  // Once the server has read it all.
  await expect.poll(() => arrived(url, total)).toBe(octets.length);
  const closed = new Promise((resolve) => sending.once('close', resolve));
  sending.destroy();
  await closed;
}

/** Octets that the server has, as it says to a client that would go on behind them. */
async function arrived(url: string, total: number): Promise<number> {
  const [, text] = await put(url, Buffer.from('x'), rangeOf(total - 1, total, total));
  return Number(/Only (\d+) octets have arrived/.exec(text)?.[1] ?? -1);
}

test('an upload that was cut goes on where it ended, is imported once, and its link is used up', async () => {
  const { url, importId } = await startUpload();
  const half = Math.floor(MBOX.length / 2);
  await putAndCut(url, MBOX.subarray(0, half), MBOX.length);
  const middle = half + 1_000;
  const range = rangeOf(half, middle, MBOX.length);
  expect(await put(url, MBOX.subarray(half, middle), range)).toEqual([
    202,
    JSON.stringify({ received: middle, total: MBOX.length }),
  ]);
  const rest = rangeOf(middle, MBOX.length, MBOX.length);
  expect((await put(url, MBOX.subarray(middle), rest))[0]).toBe(201);
  expect(await ended(importId)).toMatchObject({ imported: MESSAGES, known: 0, skipped: 0 });
  expect((await put(url, Buffer.from('x')))[0]).toBe(409);

  const again = await startUpload();
  expect((await put(again.url, MBOX))[0]).toBe(201);
  expect(await ended(again.importId)).toMatchObject({ imported: 0, known: MESSAGES, skipped: 0 });
});

test('a part that is sent again, while the server still waits for the rest of it, is the one that counts', async () => {
  const { url, importId } = await startUpload();
  const half = Math.floor(MBOX.length / 2);
  const headers = { ...rangeOf(0, MBOX.length, MBOX.length), 'content-length': String(MBOX.length) };
  const lost = request(url, { method: 'PUT', headers });
  const isClosed = new Promise((resolve) => lost.once('error', resolve));
  await new Promise((resolve) => lost.write(MBOX.subarray(0, half), resolve));
  await expect.poll(() => arrived(url, MBOX.length)).toBe(half);
  expect((await put(url, MBOX))[0]).toBe(201);
  await isClosed;
  expect(await ended(importId)).toMatchObject({ skipped: 0 });
  const { imported, known } = await ended(importId);
  expect(imported + known).toBe(MESSAGES);
});

async function octetsOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

test('a download of an export goes on at any octet, and the file imports as what it was', async () => {
  const { url, importId } = await startUpload();
  await put(url, MBOX);
  await ended(importId);
  const { url: link } = (await box.ask('export_mailbox', { address: box.address, format: 'mbox' })) as { url: string };
  const statusOf = async (): Promise<number> => {
    const response = await fetch(link);
    await response.body?.cancel();
    return response.status;
  };
  await expect.poll(statusOf).toBe(200);
  const whole = await octetsOf(await fetch(link));
  const at = Math.floor(whole.length / 3);
  const rest = await fetch(link, { headers: { range: `bytes=${at}-` } });
  expect([rest.status, rest.headers.get('content-range')]).toEqual([
    206,
    `bytes ${at}-${whole.length - 1}/${whole.length}`,
  ]);
  expect((await octetsOf(rest)).equals(whole.subarray(at))).toBe(true);
  const behind = await fetch(link, { headers: { range: `bytes=${whole.length}-` } });
  expect([behind.status, behind.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  await behind.body?.cancel();

  const back = await startUpload();
  expect((await put(back.url, whole))[0]).toBe(201);
  expect(await ended(back.importId)).toMatchObject({ imported: 0, known: MESSAGES, skipped: 0 });
});
