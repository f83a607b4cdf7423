import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataEnds } from '../../support/data-ends.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { Wire } from '../../support/wire.ts';

const SECOND = 'MAIL FROM:<second@remote.example>\r\nRCPT TO:<you@box.test>\r\nDATA\r\nSubject: second\r\n';
const LOGIN = 'AUTH PLAIN AG1lQGJveC50ZXN0AHNlY3JldA==\r\n';

let door: FakeReceiver;
beforeAll(async () => {
  door = await fakeReceiver({ exempt: () => true });
});
afterAll(() => door.receiver.close());

const endpoints = [
  { name: 'mx', sender: 'first@remote.example' },
  { name: 'submission', sender: 'me@box.test' },
  { name: 'submissions', sender: 'me@box.test' },
] as const;

/** Opens a session up to the 354. */
async function begin({ name, sender }: (typeof endpoints)[number]): Promise<Wire> {
  const wire = await Wire.open(door.ports[name], { tls: name === 'submissions' });
  await wire.reply();
  await wire.command('EHLO client.example');
  if (name === 'submission') {
    await wire.command('STARTTLS');
    await wire.encrypt();
    await wire.command('EHLO client.example');
  }
  if (name !== 'mx') expect(await wire.command(LOGIN.trim())).toMatch(/^235/);
  await wire.command(`MAIL FROM:<${sender}>`);
  await wire.command('RCPT TO:<me@box.test>');
  expect(await wire.command('DATA')).toMatch(/^354/);
  return wire;
}

async function smuggle(at: (typeof endpoints)[number], pieces: readonly Buffer[]): Promise<string[]> {
  using wire = await begin(at);
  door.backend.taken.length = 0;
  await wire.sendInPieces(pieces);
  await wire.all();
  return door.backend.taken.map(({ envelope, octets }) => `${envelope.recipients.length}:${octets.toString('latin1')}`);
}

for (const at of endpoints) {
  test.each(dataEnds)(`${at.name}: %s makes no second message`, async (_, end) => {
    const body = Buffer.concat([
      Buffer.from('Subject: first\r\n\r\ntext'),
      Buffer.from(end as string),
      Buffer.from(`${SECOND}\r\n.\r\nQUIT\r\n`),
    ]);
    const half = Buffer.byteLength('Subject: first\r\n\r\ntext') + Math.ceil(Buffer.byteLength(end) / 2);
    const bytes = Array.from(body, (octet) => Buffer.from([octet]));
    for (const pieces of [[body], bytes, [body.subarray(0, half), body.subarray(half)]]) {
      const taken = await smuggle(at, pieces);
      expect(taken.length).toBeLessThanOrEqual(1);
      // The accepted message contains everything as text, including the second one.
      for (const message of taken) expect(message).toContain('Subject: second');
    }
  });
}

test('mx: every split of every end in two', async () => {
  for (const [, end] of dataEnds) {
    const octets = Buffer.concat([Buffer.from('text'), Buffer.from(end as string), Buffer.from(`${SECOND}\r\n.\r\n`)]);
    for (let at = 3; at < 6 + Buffer.byteLength(end); at += 1) {
      const taken = await smuggle(endpoints[0], [octets.subarray(0, at), octets.subarray(at), Buffer.from('QUIT\r\n')]);
      expect(taken.filter((message) => message.includes('Subject: second')).length).toBe(taken.length);
      expect(taken.length).toBeLessThanOrEqual(1);
    }
  }
});

test('CRLF.CRLF, split at every octet, ends the message, and the next one is another', async () => {
  const first = Buffer.from('Subject: first\r\n\r\n..dots\r\n...\r\n.\r\n');
  for (let at = 0; at <= first.length; at += 1) {
    const taken = await smuggle(endpoints[0], [
      first.subarray(0, at),
      first.subarray(at),
      Buffer.from(`${SECOND}.\r\nQUIT\r\n`),
    ]);
    expect(taken).toEqual(['1:Subject: first\r\n\r\n.dots\r\n..\r\n', '1:Subject: second\r\n']);
  }
});
