import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { expectIntegrity, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';

const KILLS = repetitions(20, 8);
const MAILBOXES = 5;
const EACH = 15;
const SEED = 20_261_122;

test(`${KILLS} kills: every message that was accepted is reported at least once, in order, under one id`, async () => {
  const random = seeded(SEED);
  /** By mailbox: the subjects and ids as they came. */
  const told = new Map<string, { subject: string; id: string }[]>();
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { mailbox, message } = JSON.parse(Buffer.concat(chunks).toString()) as {
        mailbox: string;
        message: { subject: string };
      };
      const id = String(request.headers['webhook-id']);
      told.set(mailbox, [...(told.get(mailbox) ?? []), { subject: message.subject, id }]);
      // Some answers come after the kill: those deliveries are repeated.
      setTimeout(() => response.end(), random(30));
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/mail`;
  await using box = await startBox({ settings: UNDER_LOAD });
  const mailboxes = Array.from({ length: MAILBOXES }, (_, i) => `hook${i}@box.test`);
  for (const address of mailboxes) {
    await box.ask('add_mailbox', { address, password: box.password });
    await box.ask('set_email_inbound_webhook', { address, url });
  }
  const accepted: { to: string; subject: string }[] = [];
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      accepted.push(...(await deliver(box, mailboxes, kill)));
      await sleep(random(60));
      await box.kill();
      await box.start();
    }
    const subjects = (address: string): string[] => [...new Set(told.get(address)?.map((one) => one.subject))];
    const wanted = (address: string): string[] =>
      accepted.filter((one) => one.to === address).map((one) => one.subject);
    for (const address of mailboxes) {
      await expect.poll(() => subjects(address), { timeout: 60_000, interval: 100 }).toEqual(wanted(address));
    }
    const all = [...told.values()].flat();
    const ids = new Map<string, Set<string>>();
    for (const { subject, id } of all) ids.set(subject, (ids.get(subject) ?? new Set()).add(id));
    expect([...ids.values()].filter((one) => one.size > 1)).toEqual([]);
    expect(accepted).toHaveLength(KILLS * EACH);
    console.log(
      `${KILLS} kills, ${accepted.length} messages, ${all.length - accepted.length} told again, seed ${SEED}`,
    );
    await box.stop();
    expectIntegrity(box.dataDir);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});

/** Messages of one round; each was answered with 250. */
async function deliver(box: Box, mailboxes: readonly string[], round: number) {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('smtp'),
    ignoreTLS: true,
    pool: true,
    maxConnections: 1,
  });
  const accepted: { to: string; subject: string }[] = [];
  for (let i = 0; i < EACH; i++) {
    const to = mailboxes[i % mailboxes.length] ?? '';
    const subject = `r${round}n${i}`;
    await transport.sendMail({ from: 'a@elsewhere.example', to, subject, text: 'x' });
    accepted.push({ to, subject });
  }
  transport.close();
  return accepted;
}
