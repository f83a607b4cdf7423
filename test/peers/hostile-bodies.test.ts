import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataEnds } from '../support/data-ends.ts';
import type { ReceivedMail } from '../support/scripted-smtp.ts';
import { Wire } from '../support/wire.ts';
import { flow, sources } from './flow.ts';
import { FRIEND, liveWorld, type LiveWorld, ME, queued, session } from './live-world.ts';
import { publishedKeys, prove, unstuffed } from './proof.ts';
import { succeed } from './run.ts';

const SOURCE = 'sales@box.test';
const AUTHOR = 'you@ext.example';

let world: LiveWorld;
let key: string;
beforeAll(async () => {
  world = await liveWorld();
  ({ secret: key } = (await world.box.ask('create_email_api_key', { name: 'program' })) as { secret: string });
  await world.box.ask('set_email_forwarder', { sourceAddress: SOURCE, destinationAddress: FRIEND });
});
afterAll(() => world[Symbol.asyncDispose]());

/** Something that may look like the end of a message, and a whole second one behind it. */
const hostile = (end: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('text'),
    Buffer.from(end as string),
    Buffer.from(`MAIL FROM:<${ME}>\r\nRCPT TO:<victim@remote.test>\r\nDATA\r\nFrom: ${ME}\r\nSubject: second\r\n\r\nx`),
  ]);

/** Each delivery holds one message with lines that conform to SMTP. RFC 5321 2.3.8, 4.5.2. */
function expectClean(mails: readonly ReceivedMail[]): void {
  for (const { raw, to } of mails) {
    const text = raw.toString('latin1');
    expect(text).not.toMatch(/\0|\r(?!\n)|(?<!\r)\n/);
    expect(text.slice(0, -'.\r\n'.length)).not.toMatch(/^\.(?!\.)/m);
    expect(text.match(/^\.\r\n/gm)).toHaveLength(1);
    expect(to).toEqual([FRIEND]);
    for (const line of text.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998 + 1);
  }
}

/** Messages that reach the sink while `action` runs; it answers how many to expect. */
async function leaving(action: () => Promise<number>): Promise<ReceivedMail[]> {
  const before = world.sink.mails.length;
  const mails = (await world.sink.received(before + (await action()))).slice(before);
  await expect.poll(() => queued(world), { interval: 200 }).toBe(0);
  return mails;
}

async function post(body: object): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${world.box.port('http')}/api/email/send`;
  const said = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ from: ME, to: FRIEND, ...body }) });
  await said.body?.cancel();
  return said.status;
}

describe(`none of ${dataEnds.length} ends makes a second message, or a line that is none,`, () => {
  /** As JSON has it: characters, not octets. */
  const text = (end: string | Buffer): string => hostile(end).toString('utf8');
  const filled = (end: string | Buffer): Record<string, object> => ({
    text: { subject: 'text', text: text(end) },
    html: { subject: 'html', html: `<p>${text(end)}</p>` },
    subject: { subject: text(end), text: 'x' },
    header: { subject: 'header', text: 'x', headers: { 'X-Note': text(end) } },
    'attachment name': { subject: 'name', text: 'x', attachments: [{ filename: `${text(end)}.txt`, content: 'eA==' }] },
    attachment: {
      subject: 'attachment',
      text: 'x',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: hostile(end).toString('base64') }],
    },
  });

  test.each(Object.keys(filled('')))('in the %s of what a program sends', async (field) => {
    let refused = 0;
    const mails = await leaving(async () => {
      for (const [name, end] of dataEnds) {
        const status = await post(filled(end)[field] ?? {});
        expect([name, [202, 400].includes(status)]).toEqual([name, true]);
        if (status === 400) refused += 1;
      }
      return dataEnds.length - refused;
    });
    expectClean(mails);
    // Where a line ends is no business of a subject or a name; a body may have lines.
    if (['subject', 'header', 'attachment name'].includes(field)) expect(refused).toBe(dataEnds.length);
    else expect(refused).toBe(0);
  });

  test('in what is put into a mailbox by IMAP, read back, and submitted', async () => {
    await using client = await flow(world.box, ME, world.password);
    await client.mailboxCreate('Hostile');
    for (const [name, end] of dataEnds) {
      const head = Buffer.from(`From: ${ME}\r\nTo: ${FRIEND}\r\nSubject: appended ${name}\r\n\r\n`);
      // The client's own library would mend it, so it goes as it is.
      await append(Buffer.concat([head, hostile(end), Buffer.from('\r\n')]));
    }
    const stored = await sources(client, 'Hostile');
    expect(stored.length).toBeGreaterThan(dataEnds.length / 2);
    const mails = await leaving(async () => {
      let taken = 0;
      for (const message of stored) taken += await submitted(message);
      return taken;
    });
    // SMTP accepts no NUL.
    expect(mails).toHaveLength(stored.filter((message) => !message.includes(0)).length);
    expectClean(mails);
  });

  test('in what comes from the world and goes on by a forward', async () => {
    const mails = await leaving(async () => {
      let taken = 0;
      for (const [name, end] of dataEnds) {
        if (await forwarded(name, `${taken}@ext.example`, hostile(end))) taken += 1;
      }
      expect(taken).toBeGreaterThan(0);
      return taken;
    });
    expectClean(mails);
    for (const { from } of mails) expect(from).toMatch(/^SRS0=.*@box\.test$/);
  });

  test('in the report of a failure that quotes it', async () => {
    world.sink.script.rcpt = (line) => (line.includes('gone') ? `550 5.1.1 no\x0bSubject: second\x00` : undefined);
    const before = await inbox();
    for (const [at, [name]] of dataEnds.entries())
      expect(await post({ to: `gone${at}@remote.test`, subject: `gone ${name}`, text: 'x' })).toBe(202);
    await expect.poll(() => queued(world), { interval: 200 }).toBe(0);
    delete world.sink.script.rcpt;
    const reports = (await inbox()).slice(before.length);
    expect(reports).toHaveLength(dataEnds.length);
    for (const report of reports) {
      expect(report).toMatch(/^Final-Recipient: rfc822; gone\d+@remote\.test\r$/m);
      expect(report).not.toMatch(/[\0\x0b]|\r(?!\n)|(?<!\r)\n|^Subject: second/m);
    }
  });
});

test('lines that are longer than mail allows are folded or encoded, bare line ends become whole ones', async () => {
  const mails = await leaving(async () => {
    const long = 'x'.repeat(5_000);
    expect(await post({ subject: 'long', text: `${long}\n.\r${long}\r\n.`, html: `<p>${long}</p>` })).toBe(202);
    return 1;
  });
  expectClean(mails);
});

test('a report to a sender that was rewritten here finds the author, as Postfix’s own clients send it', async () => {
  const [copy] = await leaving(async () => Number(await forwarded('once', 'once@ext.example', Buffer.from('Hello'))));
  const srs = copy?.from ?? expect.fail('nothing was forwarded');
  const port = String(world.box.port('smtp'));
  const send = (to: string): Promise<string> =>
    succeed('/usr/bin/swaks', [
      '--server',
      `127.0.0.1:${port}`,
      '--from',
      '<>',
      '--to',
      to,
      '--h-From',
      'postmaster@ext.example',
    ]);
  const mails = await leaving(async () => {
    await send(srs);
    return 1;
  });
  expect(mails.map(({ from, to }) => [from, to])).toEqual([['', [AUTHOR]]]);
  const forged = srs.replace(/^SRS0=..../, 'SRS0=AAAA');
  await expect(send(forged)).rejects.toThrow(/550/);
});

test('what is added to a signed message, or put in place of what is there, breaks every signature: 12 changes', async () => {
  const mails = await leaving(async () => {
    expect(await post({ subject: 'Offer', text: 'pay 10', html: '<p>pay 10</p>', replyTo: ME })).toBe(202);
    return 1;
  });
  const signed = unstuffed(mails[0]?.raw ?? Buffer.alloc(0)).toString('latin1');
  const [, head = '', body = ''] = /^(.*?\r\n)\r\n(.*)$/s.exec(signed) ?? expect.fail(signed);
  const [, signatures = '', fields = ''] = /^((?:DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*)+)(.*)$/s.exec(head) ?? [];
  const onTop = (line: string): string => `${line}\r\n${signed}`;
  const below = (line: string): string => `${head}${line}\r\n\r\n${body}`;
  const changes: Record<string, string> = {
    'a second From on top': onTop('From: ceo@bank.example'),
    'a second From below': below('From: ceo@bank.example'),
    'From between signature and header': `${signatures}From: ceo@bank.example\r\n${fields}\r\n${body}`,
    'a second Subject': onTop('Subject: You have won'),
    'a second To': onTop('To: victim@remote.test'),
    'a Cc that was not there': onTop('Cc: victim@remote.test'),
    'a second Date': onTop('Date: Sat, 21 Nov 2026 00:00:00 +0000'),
    'a second Message-ID': onTop('Message-ID: <other@bank.example>'),
    'a second Reply-To': onTop('Reply-To: ceo@bank.example'),
    'a second Content-Type': onTop('Content-Type: text/html'),
    'a second MIME-Version': onTop('MIME-Version: 1.0'),
    'more body': `${signed}and 1000 more\r\n`,
  };
  const zone = publishedKeys(world.box.dataDir);
  const whole = await prove(
    [signed, onTop('X-Note: harmless')].map((one) => Buffer.from(one, 'latin1')),
    zone,
  );
  expect(whole).toEqual({
    dkimpy: [
      [true, true],
      [true, true],
    ],
    opendkim: ['', ''],
  });
  const { dkimpy, opendkim } = await prove(
    Object.values(changes).map((one) => Buffer.from(one, 'latin1')),
    zone,
  );
  const names = Object.keys(changes);
  expect(names).toHaveLength(12);
  expect(names.filter((_name, at) => dkimpy[at]?.includes(true) !== false)).toEqual([]);
  expect(names.filter((_name, at) => opendkim[at] === '')).toEqual([]);
});

/** Sends a message from outside to the address that is forwarded; true when it was accepted. */
async function forwarded(name: string, id: string, body: Buffer): Promise<boolean> {
  using wire = await session(world, 'smtp');
  await wire.command(`MAIL FROM:<${AUTHOR}>`);
  await wire.command(`RCPT TO:<${SOURCE}>`);
  await wire.command('DATA');
  const date = `Date: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <${id}>\r\n`;
  const head = `From: ${AUTHOR}\r\nTo: ${SOURCE}\r\nSubject: forwarded ${name}\r\n${date}\r\n`;
  wire.send(Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n.\r\nQUIT\r\n')]));
  const accepted = (await wire.reply()).startsWith('250');
  await wire.all();
  return accepted;
}

async function inbox(): Promise<string[]> {
  await using client = await flow(world.box, ME, world.password);
  return (await sources(client)).map((source) => source.toString('latin1'));
}

/** Puts octets into the mailbox as they are, as a literal. */
async function append(octets: Buffer): Promise<void> {
  using wire = await Wire.open(world.box.port('imaps'), { tls: true });
  await wire.line();
  wire.send(`a LOGIN ${ME} ${world.password}\r\n`);
  await until(wire, 'a ');
  wire.send(`b APPEND Hostile {${octets.length}+}\r\n`);
  wire.send(octets);
  wire.send('\r\n');
  expect(await until(wire, 'b ')).toMatch(/^b (?:OK|NO|BAD)/);
}

async function until(wire: Wire, tag: string): Promise<string> {
  for (;;) {
    const line = await wire.line();
    if (line === undefined || line.startsWith(tag)) return line ?? '';
  }
}

/** Submits a message with its dots doubled, as a client does; answers 1 when it was taken. */
async function submitted(message: Buffer): Promise<number> {
  using wire = await session(world, 'submissions');
  await wire.command(`MAIL FROM:<${ME}>`);
  await wire.command(`RCPT TO:<${FRIEND}>`);
  await wire.command('DATA');
  wire.send(Buffer.from(`${message.toString('latin1').replace(/^\./gm, '..')}.\r\n`, 'latin1'));
  return Number((await wire.reply()).startsWith('250'));
}
