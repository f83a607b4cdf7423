import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { Wire } from '../support/wire.ts';

const MB = 1_000_000;
/** Octets of BODY that are sent at once. */
const PIECE = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(1000));
const TICKS_MS = 10;

let box: Box;
beforeAll(async () => {
  box = await startBox({ settings: UNDER_LOAD });
});
afterAll(() => box[Symbol.asyncDispose]());

async function greeted(): Promise<Wire> {
  // What is bounded is memory and the time of a processor, which may come late.
  const wire = await Wire.open(box.port('smtp'), { patienceMs: 60_000 });
  await wire.reply();
  await wire.command('EHLO far.example');
  return wire;
}

/** CPU time of the box so far, in ms. */
function cpu(): number {
  const fields = readFileSync(`/proc/${box.pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICKS_MS;
}

/** Files of messages, finished and not. */
function files(): string[] {
  return readdirSync(join(box.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

async function stored(): Promise<number> {
  using wire = await Wire.open(box.port('imap'));
  wire.send(`a LOGIN ${box.address} ${box.password}\r\nb STATUS INBOX (MESSAGES)\r\nc LOGOUT\r\n`);
  return Number(/MESSAGES (\d+)/.exec(await wire.all())?.[1]);
}

test('a flood of dots is read as fast as anything else: at least 20 MB in a second of CPU time', async () => {
  using wire = await greeted();
  for (const line of ['MAIL FROM:<a@far.example>', `RCPT TO:<${box.address}>`, 'DATA']) await wire.command(line);
  const flood = Buffer.concat([Buffer.from('From: a@far.example\r\n\r\n'), Buffer.alloc(25 * MB, '..\r\n')]);
  const before = cpu();
  wire.send(flood);
  expect(await wire.command('\r\n.')).toMatch(/^250 /);
  const took = cpu() - before;
  console.log(`25 MB of dots: ${took} ms of CPU time, ${Math.round(25_000 / took)} MB/s`);
  expect(took).toBeLessThan(1250);
});

/** Sends so many megabytes and is refused; answers what the box had of memory at most. */
async function flood(parameter: string, megabytes: number): Promise<number> {
  using wire = await greeted();
  for (const line of [`MAIL FROM:<a@far.example>${parameter}`, `RCPT TO:<${box.address}>`, 'DATA'])
    await wire.command(line);
  let most = 0;
  for (let sent = 0; sent < megabytes; sent++) {
    await wire.sendInPieces([PIECE]);
    if (sent % 10 === 9) most = Math.max(most, await residentOctets(box.pid));
  }
  expect(await wire.command('.')).toMatch(/^552 5\.3\.4 /);
  expect(await wire.command('NOOP')).toMatch(/^250 /);
  return most;
}

describe.each([
  ['says 1', ' SIZE=1'],
  ['says nothing', ''],
])('who %s and sends 100 MB', (_name, parameter) => {
  test('is told at the end that it is too much, and nothing of it is held', async () => {
    const [before, left] = [await stored(), files()];
    // So much the memory for reading may become, before it is used again: it grows over the first few.
    let usual = 0;
    for (let n = 0; n < 8; n++) usual = Math.max(usual, await flood(parameter, 50));
    // What is held is held each time and shows as some 50 MB more; what waits for its collection shows now and then.
    let least = Infinity;
    for (let n = 0; n < 6; n++) least = Math.min(least, await flood(parameter, 100));
    const more = least - usual;
    console.log(`RSS ${Math.round(more / MB)} MB more with 100 MB than with 50 MB`);
    expect(more).toBeLessThan(45 * MB);
    expect(await stored()).toBe(before);
    expect(files()).toEqual(left);
  });
});

test('who says 100 MB is refused before anything is sent', async () => {
  using wire = await greeted();
  expect(await wire.command(`MAIL FROM:<a@far.example> SIZE=${100 * MB}`)).toMatch(/^552 5\.3\.4 /);
});

/** 100 MB of spaces in 100 kB. */
const BOMB = gzipSync(Buffer.alloc(100 * MB, ' '), { level: 9 });
const DOORS = [
  '/mcp',
  '/api/tools/whoami',
  '/api/email/send',
  '/jmap/api',
  '/jmap/upload/1',
  '/emails',
  '/login',
  '/claim',
];

test.each(DOORS)('a body that is packed is not unpacked at %s', async (path) => {
  const authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const [before, resident] = [cpu(), await residentOctets(box.pid)];
  for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip']) {
    const said = await fetch(`http://127.0.0.1:${box.port('http')}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'content-encoding': encoding },
      body: BOMB,
    });
    await said.body?.cancel();
    expect(said.status).toBeGreaterThanOrEqual(400);
    expect(said.status).toBeLessThan(500);
  }
  expect(cpu() - before).toBeLessThan(1000);
  expect((await residentOctets(box.pid)) - resident).toBeLessThan(32 * MB);
});
