import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

let box: Box;
const servers: Server[] = [];

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'warn' } });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function receiver(answer: (response: ServerResponse, subject: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { message } = JSON.parse(Buffer.concat(chunks).toString()) as { message: { subject: string } };
      answer(response, message.subject);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function mailbox(local: string, url: string): Promise<string> {
  const address = `${local}@box.test`;
  await box.ask('add_mailbox', { address, password: box.password });
  await box.ask('set_email_inbound_webhook', { address, url });
  return address;
}

async function deliver(to: string, subjects: readonly string[]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true, pool: true });
  for (const subject of subjects) {
    await transport.sendMail({ from: 'a@elsewhere.example', to, subject, text: 'x' });
  }
  transport.close();
}

interface Delivery {
  outcome: string;
  httpStatus: number | null;
  durationMs: number;
  problem: string | null;
}

async function firstDelivery(address: string): Promise<Delivery> {
  const listed = async () =>
    ((await box.ask('list_webhook_deliveries', { address })) as { deliveries: Delivery[] }).deliveries;
  await expect.poll(async () => (await listed()).length, { timeout: 60_000, interval: 100 }).toBeGreaterThan(0);
  return (await listed()).at(-1) as Delivery;
}

/** Most memory that the process had since this was asked for before, KiB. */
function peak(): number {
  const value = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${box.pid}/status`, 'utf8'))?.[1];
  writeFileSync(`/proc/${box.pid}/clear_refs`, '5');
  return Number(value);
}

/** Writes the same again and again, as fast as it is taken, until the other side hangs up. */
function flood(response: ServerResponse, octets: number): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = octets;
  const on = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', on);
    }
    response.end();
  };
  on();
}

const MOST_KIB = 20 * 1024;
/** 64 MB of zeros; sixteen of these are 1 GB in about 1 MB. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024));

test.each<[string, (response: ServerResponse) => void, number | null]>([
  ['a body that never ends', (response) => void response.writeHead(200).write('x'), 200],
  ['no answer at all', () => undefined, null],
  ['a body of 1 GB', (response) => flood(response.writeHead(200), 1024 ** 3), 200],
  [
    'a gzip bomb',
    (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      for (let i = 0; i < 16; i++) response.write(BOMB);
      response.end();
    },
    200,
  ],
])(
  'I4: %s costs at most ten seconds and 20 MB',
  async (what, answer, status) => {
    // The first one loads what telling needs.
    await deliver(await mailbox(`warm${what.length}`, await receiver((response) => void response.end())), ['warm']);
    await firstDelivery(`warm${what.length}@box.test`);
    // A thread of its own begins to index texts, two seconds after a mail or when somebody searches: that is no cost of a
    // receiver.
    const searched = box.ask('search_messages', { mailbox: `warm${what.length}@box.test`, query: 'warm' });
    expect(await searched).toMatchObject({ messages: [{ direction: 'in' }] });
    // Other work of the process only adds: the least of three counts.
    let least = Infinity;
    for (let n = 0; n < 3 && least >= MOST_KIB; n++) {
      const address = await mailbox(`slow${what.length}n${n}`, await receiver(answer));
      peak();
      const before = peak();
      await deliver(address, ['s']);
      const delivery = await firstDelivery(address);
      expect(delivery.httpStatus).toBe(status);
      least = Math.min(least, peak() - before);
    }
    expect(least).toBeLessThan(MOST_KIB);
  },
  240_000,
);

test('I7: 1,000 messages for a receiver that never answers do not delay another one', async () => {
  const dead = await mailbox('dead', await receiver(() => undefined));
  const came = new Set<string>();
  const live = await mailbox(
    'live',
    await receiver((response, subject) => {
      came.add(subject);
      response.end();
    }),
  );
  const numbers = (n: number): string[] => Array.from({ length: n }, (_, i) => `${i}`);
  await deliver(dead, numbers(1000));
  await deliver(live, numbers(60));
  await expect.poll(() => came.size, { timeout: 60_000, interval: 50 }).toBe(60);
}, 300_000);
