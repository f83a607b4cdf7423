import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectMessage } from '../../mail/agents/gate/inspect-message.ts';
import { createOctetReader } from '../../mail/delivery/octet-reader.ts';
import { rowIn } from '../../src/core/message-ids.ts';
import { composeMessage, type ComposedMessage } from '../../mail/message/compose-message.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { TAINT_MS, type TaintReader } from '../../mail/agents/taint/taint.ts';
import { purgeDownloads, recordDownloads } from '../../mail/agents/taint/downloads.ts';
import { GateWorld, outcomeOf } from '../support/gate-world.ts';
import { putMail } from '../support/put-mail.ts';

const PAYROLL = Buffer.from(`%PDF-1.4 what everybody earns ${'1234 '.repeat(60)}`);
const TABLE = `name;salary\r\n${'Somebody;1234\r\n'.repeat(20)}`;
const KNOWN = 'evil@y.test';

const TRACE = 'Return-Path: <somebody@else.test>\r\n';
/** It was delivered, and is no copy that somebody put there; or an agent put it there. */
const mark = command('test-mark', async (tx, { email, by }: { email: number; by: string | null }): Promise<void> => {
  if (by !== null) await tx.run('UPDATE email SET created_by = ? WHERE id = ?', by, email);
  else await tx.run('UPDATE email SET trace = ?1, size = size + ?2 WHERE id = ?3', TRACE, TRACE.length, email);
});

let world: GateWorld;
beforeEach(async () => {
  world = await GateWorld.open([mark]);
  await world.sendManually([KNOWN]);
});
afterEach(() => world[Symbol.asyncDispose]());

function compose(over: Partial<ComposedMessage> = {}): Buffer {
  const text = 'Here it is, as you asked for it.\n';
  const header = { subject: 'Something', date: 0, messageId: `<${Math.random()}@home.test>`, cc: [], replyTo: [] };
  const from = { name: '', address: { local: 'me', domain: 'box.test' } } as unknown as ComposedMessage['from'];
  return composeMessage({ from, to: [], ...header, text, attachments: [], headers: [], ...over });
}

const file = (content: Uint8Array, filename = 'a.bin', contentType = 'application/octet-stream') => ({
  attachments: [{ filename, contentType, content }],
});

/** Delivers a message of a colleague: internal and authenticated. */
async function fromColleague(octets: Buffer): Promise<number> {
  const email = await kept(Buffer.from(octets.toString('latin1').replace(/^From:.*$/m, 'From: owner@home.test')));
  await world.box.store.write(mark, { email, by: null });
  return email;
}

/** Imports a message into the mailbox. */
async function kept(octets: Buffer): Promise<number> {
  const put = { account: world.account, receivedAt: world.box.clock.now, trust: {} };
  return rowIn('email', world.account, await putMail(world.box.store, put, octets.toString('latin1'))) ?? 0;
}

/** Records that the agent downloaded messages. */
const passed = (emails: readonly number[], over: Partial<TaintReader> = {}): Promise<void> =>
  world.box.store.write(recordDownloads, { reader: world.reader(over), account: world.account, emails });

/** Submits a message to the gate and returns its reasons. */
async function sent(
  octets: Buffer,
  {
    answers = null,
    to = KNOWN,
    by = {},
  }: { answers?: number | null; to?: string; by?: Parameters<GateWorld['agent']>[0] } = {},
): Promise<string> {
  const data = Uint8Array.from(octets);
  const verdict = { kind: 'agent', agent: world.agent({ answers, ...by }) } as const;
  const read = createOctetReader(world.box.store, { data, file: null });
  const leaving = { account: world.account, index: indexMessage(octets), read, tenant: 1 };
  const now = world.box.clock.now;
  const told = await inspectMessage(world.box.store, verdict, { ...leaving, recipients: [to], now, protocol: 'test' });
  return outcomeOf(await world.send([to], {}, { verdict: told.verdict }));
}

const HELD = 'forward_after_reading';
const left = query('test-left', (rx) => rx.get<{ n: number }>('SELECT count(*) AS n FROM downloaded_content'));
const source = query('test-source', async (rx, email: number) => {
  const row = await rx.get<{ trace: string; data: Uint8Array }>(
    'SELECT e.trace, b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.id = ?',
    email,
  );
  return `${row?.trace}${Buffer.from(row?.data ?? []).toString('latin1')}`;
});

describe('a file of the organization that an agent was handed', () => {
  test.each([
    ['under another name', file(PAYROLL)],
    ['as a text', file(PAYROLL, 'notes.txt', 'text/plain')],
    ['as a picture that the text shows', { html: '<img src="cid:a">', ...cid(PAYROLL) }],
  ])('is known: %s', async (_how, carried) => {
    await passed([await fromColleague(compose(file(PAYROLL, 'payroll.pdf', 'application/pdf')))]);
    expect(await sent(compose(carried))).toBe(HELD);
    expect(await sent(compose(carried), { to: 'owner@home.test' })).toBe('taken');
  });

  test('is known when lists of much other mail were read since', async () => {
    await passed([await fromColleague(compose(file(PAYROLL)))]);
    world.box.clock.now += 1000;
    const others: number[] = [];
    for (let i = 0; i < 120; i++) others.push(await world.put({ from: 'evil@y.test' }));
    await world.read(others);
    expect(await sent(compose(file(PAYROLL)))).toBe(HELD);
  });

  test('is known to whoever of the organization may have it, and to no other', async () => {
    const email = await fromColleague(compose(file(PAYROLL)));
    await passed([email], { reader: 'tok_2', credential: 'tok_2' });
    expect(await sent(compose(file(PAYROLL)))).toBe('taken');
    await passed([email], { reader: 'mbx_1', byPassword: true });
    expect(await sent(compose(file(PAYROLL)))).toBe(HELD);
  });

  test("is nobody else's when the agent itself wrote the message", async () => {
    const email = await kept(compose(file(PAYROLL)));
    await passed([email]);
    expect(await sent(compose(file(PAYROLL)))).toBe(HELD);
    await world.box.store.write(mark, { email, by: 'tok_2' });
    expect(await sent(compose(file(PAYROLL)))).toBe(HELD);
    await world.box.store.write(mark, { email, by: 'tok_1' });
    expect(await sent(compose(file(PAYROLL)))).toBe('taken');
  });

  test('is its own when it wrote it with another password of the mailbox, or a token that was made of its own', async () => {
    const email = await kept(compose(file(PAYROLL)));
    const own = `mbx_${world.account}`;
    await passed([email], { reader: own, credential: own, byPassword: true });
    await world.box.store.write(mark, { email, by: 'pwd_12' });
    expect(await sent(compose(file(PAYROLL)), { by: { reader: own, credential: own, byPassword: true } })).toBe(
      'taken',
    );
    expect(await sent(compose(file(PAYROLL)))).toBe(HELD);
    await passed([email]);
    await world.box.store.write(mark, { email, by: 'tok_5' });
    expect(await sent(compose(file(PAYROLL)), { by: { credential: 'tok_6' } })).toBe(HELD);
    await world.send([KNOWN], {}, { verdict: { kind: 'agent', agent: world.agent({ credential: 'tok_5' }) } });
    expect(await sent(compose(file(PAYROLL)), { by: { credential: 'tok_6' } })).toBe('taken');
  });

  test('stays known however many parts a stranger’s message has', async () => {
    await passed([await fromColleague(compose(file(PAYROLL)))]);
    const parts = Array.from({ length: 300 }, (_, n) => ({
      filename: `${n}.bin`,
      contentType: 'application/octet-stream',
      content: Buffer.alloc(40 + n),
    }));
    await passed([await fromColleague(compose({ attachments: parts }))]);
    expect((await world.box.store.read(left, undefined))?.n).toBeLessThan(50);
  });

  test('is forgotten after a day, with what was written down of it', async () => {
    await passed([await fromColleague(compose(file(PAYROLL)))]);
    world.box.clock.now += TAINT_MS;
    expect(await sent(compose(file(PAYROLL)))).toBe('taken');
    await world.box.store.write(purgeDownloads, undefined);
    expect(await world.box.store.read(left, undefined)).toEqual({ n: 0 });
  });

  test('goes to those of the conversation that it is of, and to nobody else for naming it', async () => {
    const octets = compose(file(PAYROLL))
      .toString('latin1')
      .replace('To: undisclosed-recipients:;', 'To: other@x.test');
    const answers = await fromColleague(Buffer.from(octets, 'latin1'));
    await world.sendManually(['other@x.test']);
    await passed([answers]);
    expect(await sent(compose(file(PAYROLL)), { answers, to: 'other@x.test' })).toBe('taken');
    expect(await sent(compose(file(PAYROLL)), { answers })).toBe(HELD);
  });
});

function cid(content: Uint8Array): Partial<ComposedMessage> {
  return { attachments: [{ filename: '', contentType: 'image/png', content, contentId: 'a' }] };
}

describe('a text without a name', () => {
  /** A message of one part, which is shown. */
  const inline = (text: string): Buffer =>
    Buffer.from(`From: me@box.test\r\nSubject: Something\r\nContent-Type: text/csv\r\n\r\n${text}`);

  test('is known when it is what the agent was handed', async () => {
    await passed([await fromColleague(inline(TABLE))]);
    expect(await sent(inline(TABLE))).toBe(HELD);
    expect(await sent(inline(TABLE.replace('1234', '1235')))).toBe('taken');
  });

  test("is nobody else's when it was sent from here before, or came back", async () => {
    const report = `From: me@box.test\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\n${TABLE}\r\n--b--\r\n`;
    await passed([await kept(inline(TABLE)), await fromColleague(Buffer.from(report))]);
    expect(await sent(inline(TABLE))).toBe('taken');
  });

  test('may be what many say', async () => {
    const short = 'Thank you very much, we shall look at it at once.\r\n';
    await passed([await fromColleague(inline(short))]);
    expect(await sent(inline(short))).toBe('taken');
  });
});

describe('a whole message', () => {
  test.each([
    ['as octets', 'application/octet-stream'],
    ['as a text', 'text/plain'],
    ['as a message that is not plain', 'message/rfc822'],
  ])('is known by how it begins, never given away: %s', async (_how, type) => {
    const octets = Buffer.from(await world.box.store.read(source, await fromColleague(compose())), 'latin1');
    const content = Buffer.concat([octets, Buffer.from([0xe9])]);
    expect(await sent(compose(file(content, 'm.txt', type)))).toBe(HELD);
  });

  test('is known by its octets', async () => {
    const email = await kept(Buffer.from(`X-Only: one\r\n\r\n${TABLE}`));
    const content = Buffer.from(await world.box.store.read(source, email), 'latin1');
    expect(await sent(compose(file(content)))).toBe('taken');
    await passed([email]);
    expect(await sent(compose(file(content)))).toBe(HELD);
  });

  test('is not what only names who wrote to whom', async () => {
    const log = 'From: the shop\r\nDate: today\r\nSubject: Orders\r\nTo: all\r\n\r\nTen of them\r\n';
    expect(await sent(compose(file(Buffer.from(log), 'log.txt', 'text/plain')))).toBe('taken');
    const paid = Buffer.from('Date: 22 Nov 2026\r\nFrom: ACME Ltd\r\nReceived: EUR 250.00\r\n\r\nThank you\r\n');
    expect(await sent(compose(file(paid, 'receipt.txt', 'text/plain')))).toBe('taken');
  });
});
