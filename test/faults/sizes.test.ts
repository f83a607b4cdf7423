import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { cpuOfProcess } from '../support/process-cost.ts';
import { Wire } from '../support/wire.ts';

const MB = 1_000_000;
/** Octets of BODY that are sent at once. */
const PIECE = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(1000));
/** Most CPU time for a message of dots, as a multiple of that for lines of text of the same size. */
const MOST_DOTS_RATIO = 4;

let box: Box;
beforeAll(async () => {
  box = await startBox({ settings: UNDER_LOAD });
});
afterAll(() => box[Symbol.asyncDispose]());

async function greeted(): Promise<Wire> {
  // Bounds memory and CPU time; wall time depends on the machine.
  const wire = await Wire.open(box.port('smtp'), { patienceMs: 60_000 });
  await wire.reply();
  await wire.command('EHLO far.example');
  return wire;
}

function cpu(): number {
  return cpuOfProcess(box.pid);
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

/** Returns the CPU time, ms, for a message of 25 MB that repeats `line`; the least of three, as other load only adds. */
async function costOfLines(line: string): Promise<number> {
  const message = Buffer.concat([Buffer.from('From: a@far.example\r\n\r\n'), Buffer.alloc(25 * MB, line)]);
  let least = Infinity;
  for (let n = 0; n < 3; n++) {
    using wire = await greeted();
    for (const command of ['MAIL FROM:<a@far.example>', `RCPT TO:<${box.address}>`, 'DATA'])
      await wire.command(command);
    const before = cpu();
    wire.send(message);
    expect(await wire.command('\r\n.')).toMatch(/^250 /);
    least = Math.min(least, cpu() - before);
  }
  return least;
}

test('a flood of dots costs little more than text of the same size', async () => {
  const text = await costOfLines(`${'x'.repeat(76)}\r\n`);
  const dots = await costOfLines('..\r\n');
  console.log(`25 MB of dots: ${dots} ms of CPU time, text ${text} ms`);
  expect(dots / text).toBeLessThan(MOST_DOTS_RATIO);
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
  ['SIZE=1', ' SIZE=1'],
  ['no size', ''],
])('a client that declares %s and sends 100 MB', (_name, parameter) => {
  test('is rejected at the end, and nothing of it is kept', async () => {
    const [before, left] = [await stored(), files()];
    // So much the memory for reading may become, before it is used again: it grows over the first few.
    let usual = 0;
    for (let n = 0; n < 8; n++) usual = Math.max(usual, await flood(parameter, 50));
    // A leak shows as some 50 MB each time; uncollected garbage only now and then.
    let least = Infinity;
    for (let n = 0; n < 6; n++) least = Math.min(least, await flood(parameter, 100));
    const more = least - usual;
    console.log(`RSS ${Math.round(more / MB)} MB more with 100 MB than with 50 MB`);
    expect(more).toBeLessThan(45 * MB);
    expect(await stored()).toBe(before);
    expect(files()).toEqual(left);
  });
});

test('a declared size of 100 MB is rejected before anything is sent', async () => {
  using wire = await greeted();
  expect(await wire.command(`MAIL FROM:<a@far.example> SIZE=${100 * MB}`)).toMatch(/^552 5\.3\.4 /);
});

/** 100 MB of spaces in 100 kB. */
const BOMB = gzipSync(Buffer.alloc(100 * MB, ' '), { level: 9 });
const ENCODINGS = ['gzip', 'deflate', 'br', 'gzip, gzip'];
const PATHS = [
  '/mcp',
  '/api/tools/whoami',
  '/api/email/send',
  '/jmap/api',
  '/jmap/upload/1',
  '/emails',
  '/login',
  '/claim',
];

/** CPU time, ms, for unpacking the body once for each encoding, in this process. */
function costOfUnpacking(): number {
  const before = process.cpuUsage();
  for (const _ of ENCODINGS) gunzipSync(BOMB);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test.each(PATHS)('a body that is packed is not unpacked at %s', async (path) => {
  const authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const [before, resident] = [cpu(), await residentOctets(box.pid)];
  for (const encoding of ENCODINGS) {
    const answer = await fetch(`http://127.0.0.1:${box.port('http')}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'content-encoding': encoding },
      body: BOMB,
    });
    await answer.body?.cancel();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  }
  expect(cpu() - before, 'CPU time').toBeLessThan(costOfUnpacking());
  expect((await residentOctets(box.pid)) - resident).toBeLessThan(32 * MB);
});
