import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataEnds } from '../support/data-ends.ts';
import type { Wire } from '../support/wire.ts';
import { flow, sources } from './flow.ts';
import { FRIEND, liveWorld, type LiveWorld, ME, queued, session, type SmtpEndpoint } from './live-world.ts';

let world: LiveWorld;
beforeAll(async () => {
  world = await liveWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const endpoints: readonly SmtpEndpoint[] = ['smtp', 'submission', 'submissions'];
const sender = (door: SmtpEndpoint): string => (door === 'smtp' ? 'first@example.org' : ME);

async function begin(door: SmtpEndpoint, recipient: string): Promise<Wire> {
  const wire = await session(world, door);
  await wire.command(`MAIL FROM:<${sender(door)}>`);
  await wire.command(`RCPT TO:<${recipient}>`);
  expect(await wire.command('DATA')).toMatch(/^354/);
  return wire;
}

/** A message named `name` with something in it that may look like its end, and a whole second one behind that. */
function body(door: SmtpEndpoint, name: string, end: string | Buffer): { octets: Buffer; half: number } {
  const first = Buffer.from(`From: ${sender(door)}\r\nSubject: first ${name}\r\n\r\ntext`);
  const second = `MAIL FROM:<${sender(door)}>\r\nRCPT TO:<${ME}>\r\nDATA\r\nFrom: ${sender(door)}\r\nSubject: second ${name}\r\n\r\nx`;
  const octets = Buffer.concat([first, Buffer.from(end as string), Buffer.from(`${second}\r\n.\r\nQUIT\r\n`)]);
  return { octets, half: first.length + Math.ceil(Buffer.byteLength(end) / 2) };
}

/** Subjects of what is in the mailbox, by IMAP. */
async function subjects(): Promise<string[]> {
  await using client = await flow(world.box, ME, world.password);
  const texts = (await sources(client)).map((source) => source.toString('latin1'));
  return texts.map((text) => /^Subject: (.*)\r$/m.exec(text)?.[1] ?? '');
}

for (const door of endpoints) {
  test(`${door}: none of ${dataEnds.length} ends, sent in three ways, makes a second message`, async () => {
    for (const [name, end] of dataEnds) {
      const { octets, half } = body(door, `${door} ${name}`, end);
      const single = Array.from(octets, (octet) => Buffer.from([octet]));
      for (const pieces of [[octets], single, [octets.subarray(0, half), octets.subarray(half)]]) {
        using wire = await begin(door, ME);
        await wire.sendInPieces(pieces);
        await wire.all();
      }
    }
    const found = (await subjects()).filter((subject) => subject.includes(` ${door} `));
    expect(found.filter((subject) => subject.startsWith('second'))).toEqual([]);
    for (const [name] of dataEnds) {
      expect(found.filter((subject) => subject === `first ${door} ${name}`).length, name).toBeLessThanOrEqual(3);
    }
  });

  test(`${door}: CRLF.CRLF, split anywhere, makes two`, async () => {
    const before = (await subjects()).length;
    const end = '\r\n.\r\n';
    const { octets, half } = body(door, `control ${door}`, end);
    for (let at = half - 3; at <= half + 3; at += 1) {
      using wire = await begin(door, ME);
      await wire.sendInPieces([octets.subarray(0, at), octets.subarray(at)]);
      await wire.all();
    }
    const found = (await subjects()).slice(before);
    expect(found.filter((subject) => subject.startsWith('first'))).toHaveLength(7);
    expect(found.filter((subject) => subject.startsWith('second'))).toHaveLength(7);
  });
}

test('nothing bare leaves: what is submitted with any of them is refused or leaves clean', async () => {
  let accepted = 0;
  for (const [name, end] of dataEnds) {
    using wire = await begin('submissions', FRIEND);
    wire.send(body('submissions', `leaving ${name}`, end).octets);
    const reply = await wire.reply();
    if (reply.startsWith('250')) accepted += 1;
    else expect(reply, name).toMatch(/^5\d\d /);
    await wire.all();
  }
  expect(accepted).toBeGreaterThan(0);
  const mails = await world.sink.received(accepted);
  expect(mails).toHaveLength(accepted);
  await expect.poll(() => queued(world), { interval: 200 }).toBe(0);
  for (const { raw } of mails) {
    const text = raw.toString('latin1');
    expect(text).not.toMatch(/\0|\r(?!\n)|(?<!\r)\n/);
    const inside = text.slice(0, -'.\r\n'.length);
    expect(inside).not.toMatch(/^\.(?!\.)/m); // dots are doubled
    expect(text.match(/^\.\r\n/gm)).toHaveLength(1);
  }
  const verbs = new Set(world.sink.lines.map((line) => line.split(' ')[1]?.toUpperCase() ?? ''));
  expect([...verbs].filter((verb) => !['EHLO', 'MAIL', 'RCPT', 'DATA', 'RSET', 'QUIT'].includes(verb))).toEqual([]);
});
