import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

// Findings of an external scanner on a running box, which does not depend on the scanner.

const END = Buffer.alloc(4);
let clamd: Server;
let box: Box;
beforeAll(async () => {
  // Calls bad what says so of itself.
  clamd = createServer((socket) => {
    let all = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      all = Buffer.concat([all, chunk]);
      if (!all.subarray(-4).equals(END)) return;
      socket.end(all.includes('Subject: Bad') ? 'stream: Test.Bad FOUND\0' : 'stream: OK\0');
    });
  }).listen(0, '127.0.0.1');
  await once(clamd, 'listening');
  const { port } = clamd.address() as AddressInfo;
  box = await startBox({ settings: { CLAMAV: `127.0.0.1:${port}`, HTTP_PORT: '0' } });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  clamd.close();
});

async function send(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'ann@remote.example', to: box.address, subject, text: 'Hello' });
  transport.close();
}

/** Subjects in a mailbox. */
async function inside(mailbox: string): Promise<string[]> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user: box.address, pass: box.password },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  try {
    await client.mailboxOpen(mailbox, { readOnly: true });
    const all = await client.fetchAll('1:*', { envelope: true }).catch(() => []);
    return all.map((one) => one.envelope?.subject ?? '');
  } finally {
    await client.logout();
  }
}

async function counted(outcome: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${box.port('http')}/metrics`)).text();
  const line = new RegExp(`^\\w*scans_total{scanner="clamav",outcome="${outcome}"} (\\d+)`, 'm').exec(text);
  return Number(line?.[1] ?? 0);
}

test('malware goes to Junk where nobody is refused, and mail goes on without the daemon, which is said', async () => {
  await send('Good');
  await send('Bad');
  expect(await inside('INBOX')).toEqual(['Good']);
  expect(await inside('Junk')).toEqual(['Bad']);
  expect([await counted('clean'), await counted('found')]).toEqual([1, 1]);
  clamd.close();
  await send('Bad, unseen');
  expect(await inside('INBOX')).toEqual(['Good', 'Bad, unseen']);
  expect(await counted('trouble')).toBe(1);
  const warning = await box.logged((line) => line.msg === 'mail goes on without ClamAV');
  expect(warning).toMatchObject({ failures: 1 });
});
