import { afterAll, beforeAll, expect, test } from 'vitest';
import { foreignAuthors } from '../support/foreign-authors.ts';
import { relayRecipients, relaySenders } from '../support/relay-forms.ts';
import { Wire } from '../support/wire.ts';
import { FRIEND, liveWorld, type LiveWorld, ME, queued, session, type SmtpEndpoint, startTls } from './live-world.ts';

let world: LiveWorld;
beforeAll(async () => {
  world = await liveWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Reads the queue first: mail that was let through is there before its reply, and leaves it only when the sink has it. */
async function expectNothingLeft(): Promise<void> {
  expect(await queued(world)).toBe(0);
  expect(world.sink.mails).toHaveLength(0);
}

type Before = 'plain' | 'tls' | 'failed login';

async function stranger(before: Before, sender: string): Promise<Wire> {
  const wire = await Wire.open(world.box.port('smtp'));
  await wire.reply();
  await wire.command('EHLO client.example');
  if (before === 'tls') await startTls(wire);
  if (before === 'failed login') await wire.command('AUTH PLAIN AG1lQGJveC50ZXN0AHdyb25n');
  await wire.command(`MAIL FROM:${sender}`);
  return wire;
}

test(`no relay: ${relayRecipients.length} recipients from ${relaySenders.length} senders, plain, under TLS, after a failed login`, async () => {
  const taken: string[] = [];
  for (const before of ['plain', 'tls', 'failed login'] as const) {
    for (const sender of relaySenders) {
      for (const recipient of relayRecipients) {
        using wire = await stranger(before, sender);
        const replies = [await wire.command(`RCPT TO:${recipient}`), await wire.command('DATA')];
        if (replies.some((reply) => !/^[45]\d\d /.test(reply)))
          taken.push(`${before} ${sender} ${recipient}: ${replies.join()}`);
      }
    }
  }
  expect(taken).toEqual([]);
  await expectNothingLeft();
});

test.each(['submission', 'submissions'] as const)('%s takes nothing from who has not logged in', async (door) => {
  for (const recipient of [...relayRecipients, `<${ME}>`]) {
    using wire = await Wire.open(world.box.port(door), { tls: door === 'submissions' });
    await wire.reply();
    await wire.command('EHLO client.example');
    if (door === 'submission') await startTls(wire);
    expect(await wire.command(`MAIL FROM:<${ME}>`)).toMatch(/^5\d\d /);
    expect(await wire.command(`RCPT TO:${recipient}`)).toMatch(/^5\d\d /);
  }
});

/** Submits to the sink and answers the reply to the message, or to what was refused before. */
async function submit(door: SmtpEndpoint, from: string, header: string): Promise<string> {
  using wire = await session(world, door);
  const mail = await wire.command(`MAIL FROM:${from}`);
  if (!mail.startsWith('250')) return mail;
  await wire.command(`RCPT TO:<${FRIEND}>`);
  await wire.command('DATA');
  wire.send(Buffer.from(`${header}\r\nTo: ${FRIEND}\r\n\r\nHi\r\n.\r\n`, 'latin1'));
  return await wire.reply(); // before the connection goes
}

test(`a foreign author does not leave: ${foreignAuthors.length} headers`, async () => {
  expect(foreignAuthors.length).toBeGreaterThanOrEqual(60);
  const taken: string[] = [];
  for (const header of foreignAuthors) {
    const reply = await submit('submissions', `<${ME}>`, header);
    if (!/^5\d\d /.test(reply)) taken.push(`${JSON.stringify(header)}: ${reply}`);
  }
  expect(taken).toEqual([]);
  await expectNothingLeft();
});

/** Reverse-paths that are not this login's. */
const foreignPaths = [
  '<ceo@bank.example>',
  '<you@box.test>',
  '<me@sub.box.test>',
  '<me@box.test.>',
  '<me@box.test@bank.example>',
  '<@box.test:ceo@bank.example>',
  '<"me@box.test"@bank.example>',
  '<ceo@bank.example> AUTH=<me@box.test>',
  '<mailstead@mail.box.test>',
  '<me@mail.box.test>',
];

test.each(foreignPaths)('a foreign reverse-path does not leave: %s', async (path) => {
  expect(await submit('submission', path, `From: ${ME}`)).toMatch(/^5\d\d /);
});

test('what is one’s own leaves, from both endpoints', async () => {
  expect(world.sink.mails).toHaveLength(0);
  expect(await submit('submission', `<${ME}>`, `From: ${ME}`)).toMatch(/^250 /);
  expect(await submit('submissions', `<${ME}>`, `From: Me <${ME}>`)).toMatch(/^250 /);
  const mails = await world.sink.received(2);
  expect(mails.map(({ from, to }) => [from.replace(/\+r[0-9a-z]+-[a-z2-7]{12}@/, '@'), to])).toEqual([
    [ME, [FRIEND]],
    [ME, [FRIEND]],
  ]);
});
