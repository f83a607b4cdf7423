import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { dnsServer } from '../support/dns-server.ts';
import { expectIntegrity, expectKept, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, type Numbered, numberedMany } from '../support/load.ts';
import { scriptedServer, SILENCE } from '../support/scripted-smtp.ts';
import { Wire } from '../support/wire.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));

const STOPS = repetitions(10, 5);
const SEED = 11;

test(`${STOPS} stops under load lose nothing, repeat nothing and leave nobody without an answer`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const ledger = new Ledger();
  const queue: Numbered[] = [];
  for (let stops = 0; stops < STOPS; stops++) {
    queue.push(...numberedMany(`stop-${stops}`, 1000, SEED + 2000 * stops));
    const running = load({ port: box.port('smtp'), queue, ledger, clients: 16 });
    await delay(50 + random(300));
    await box.stop(); // Fails unless it exits with 0; a stop that took 29 s would exit with 1.
    await running;
    await box.start();
  }
  while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: 16 });
  expect(ledger.unanswered, 'messages that got no answer').toBe(0);
  expect(ledger.refusals.filter((reply) => !reply.startsWith('421 '))).toEqual([]);
  await expectKept(box, ledger, 0);
  await box.stop();
  expectIntegrity(box.dataDir);
  console.log(`${STOPS} stops, ${ledger.acknowledged.size} messages, seed ${SEED}`);
});

test('a stop that waits for a slow client and for a slow server still ends in time, and in good order', async () => {
  const reached = Promise.withResolvers<void>();
  await using remote = await scriptedServer({
    dot: () => {
      reached.resolve();
      return SILENCE;
    },
  });
  await using dns = await dnsServer({
    'MX remote.example': ['10 mx.remote.example'],
    'A mx.remote.example': ['127.0.0.1'],
  });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port) };
  await using box = await startBox({ hostname: 'mail.home.example', settings });
  const operator = (...words: string[]): string =>
    spawnSync(command, [...words, '--json', '--data-dir', box.dataDir], { encoding: 'utf8' }).stdout;
  operator('domain', 'add', 'home.example');
  const { password } = JSON.parse(operator('mailbox', 'add', 'me@home.example')) as { password: string };
  using sender = await Wire.open(box.port('submissions'), { tls: true });
  await sender.reply();
  await sender.command('EHLO client.example');
  const secret = Buffer.from(`\0me@home.example\0${password}`).toString('base64');
  expect(await sender.command(`AUTH PLAIN ${secret}`)).toMatch(/^235 /);
  await sender.command('MAIL FROM:<me@home.example>');
  await sender.command('RCPT TO:<you@remote.example>');
  await sender.command('DATA');
  expect(await sender.command('From: me@home.example\r\n\r\nhello\r\n.')).toMatch(/^250 /);
  await reached.promise;
  using slow = await Wire.open(box.port('smtp'));
  await slow.reply();
  await slow.command('EHLO client.example');
  await slow.command('MAIL FROM:<a@remote.example>');
  await slow.command('RCPT TO:<me@home.example>');
  expect(await slow.command('DATA')).toMatch(/^354 /);
  await box.stop();
});
