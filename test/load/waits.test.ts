import { Agent, type IncomingMessage, request } from 'node:http';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { leastGrowth, residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { http } from '../support/mcp.ts';

/** Waits when memory is looked at. */
const LOOKS = [100, 550, 1000] as const;
const WAITS = LOOKS[2];
const MAILBOXES = 10;
const MOST_KB = 70;

test(`${WAITS} waits at once cost little, and each is informed of its own mailbox`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const port = box.port('http');
  const mailboxes = Array.from({ length: MAILBOXES }, (_, i) => `waits${i}@box.test`);
  const tokens: string[] = [];
  for (const address of mailboxes) {
    await box.ask('add_mailbox', { address });
    const made = await box.ask('create_agent_token', { name: address, actions: ['mail_read'] });
    tokens.push((made as { secret: string }).secret);
  }
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  const answers: Promise<{ mailbox: number; status: number; text: string }>[] = [];
  const wait = (mailbox: number): Promise<{ mailbox: number; status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const path = `/api/email/mailboxes/${mailboxes[mailbox]}/wait?timeout=50`;
      const headers = { authorization: `Bearer ${tokens[mailbox]}` };
      const queried = request({ host: '127.0.0.1', port, path, headers, agent }, (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ mailbox, status: response.statusCode ?? 0, text }));
      });
      queried.on('error', reject);
      queried.end();
    });
  const metrics = async (): Promise<string> => (await http('GET', `http://127.0.0.1:${port}/metrics`)).text;
  const until = async (count: number): Promise<void> => {
    while (answers.length < count) answers.push(wait(answers.length % MAILBOXES));
    await expect.poll(metrics).toContain(`waits_open ${count}\n`);
  };
  const resident: number[] = [];
  for (const count of LOOKS) {
    await until(count);
    resident.push((await residentOctets(box.pid)) / 1000);
  }
  // A heap grows by steps of megabytes, between some looks and not others. What each wait holds shows between all: two
  // buffers of 64 KiB, or a reader of its own.
  const each = leastGrowth(LOOKS, resident);
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  for (const [i, to] of mailboxes.entries()) {
    await smtp.sendMail({ from: 'x@far.example', to, subject: `for ${i}`, text: 'told' });
  }
  for (const { mailbox, status, text } of await Promise.all(answers)) {
    expect(status).toBe(200);
    expect(text).toContain(`"subject":"for ${mailbox}"`);
  }
  await expect.poll(metrics).toContain('waits_open 0\n');
  expect(each).toBeLessThan(MOST_KB);
  console.log(`${WAITS} waits: ${each.toFixed(1)} kB each`);
  await box.stop();
});
