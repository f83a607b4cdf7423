import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { RELAY_LIMITS, type RelayLimits } from '../../../mail/relay/limits.ts';
import type { BounceMessage } from '../../../mail/relay/relay-queue.ts';
import { startRelay, type Relay, type RelayOptions } from '../../../mail/relay/relay.ts';
import { MAX_RETRY_DELAY } from '../../../mail/relay/schedule.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue, type Row } from '../../support/fake-queue.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import {
  DROP,
  scriptedServer,
  SILENCE,
  type Action,
  type Script,
  type ScriptedServer,
} from '../../support/scripted-smtp.ts';
import { testKeys, verifyAll } from '../../support/dkim.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// The servers share this event loop: who has little patience takes a moment's standstill for silence.
const PATIENT = { connect: 10_000, tls: 10_000, command: 10_000, data: 10_000, block: 10_000, end: 10_000 };

interface World extends AsyncDisposable {
  clock: FakeClock;
  queue: FakeQueue;
  zone: FakeZone;
  relay: Relay;
}

/** A relay over a fake queue and a fake DNS where `remote.test` is at 127.0.0.1. */
function world(
  port: number,
  options: Partial<RelayOptions> & { limits?: Partial<RelayLimits> } = {},
  queue?: FakeQueue,
): World {
  const clock = new FakeClock();
  const rows = queue ?? new FakeQueue(() => clock.now());
  const zone: FakeZone = { 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': ['127.0.0.1'] };
  const relay = startRelay({
    queue: rows,
    resolver: fakeResolver(zone),
    keys: (domain) => Promise.resolve(testKeys.filter((key) => key.domain === domain)),
    hostname: 'box.test',
    outboundPort: port,
    allowPrivate: () => true,
    isOurAddress: () => false,
    clock,
    random: () => 0.5,
    log: quiet,
    meter: quiet,
    ...options,
    limits: { timeouts: PATIENT, ...options.limits },
  });
  return { clock, queue: rows, zone, relay, [Symbol.asyncDispose]: () => relay.close() };
}

function outcomes(queue: FakeQueue): Record<string, string> {
  return Object.fromEntries(queue.results.map((r) => [r.id, `${r.outcome} ${r.status}`]));
}

describe('one message', () => {
  test('is recorded as tried, dialed, delivered, signed', async () => {
    const seen: string[] = [];
    await using server = await scriptedServer({
      connect: () => {
        seen.push('dialed');
        return undefined;
      },
    });
    await using box = world(server.port);
    box.queue.before = (call) => void (call === 'begin' && seen.push('begin'));
    box.queue.add(['you@remote.test']);
    const [result] = await box.queue.recorded(1);
    expect(seen).toEqual(['begin', 'dialed']);
    expect(result).toMatchObject({
      outcome: 'delivered',
      host: 'mx.remote.test',
      ip: '127.0.0.1',
      code: 250,
      status: '2.0.0',
    });
    const raw = server.mails[0]?.raw.subarray(0, -3) ?? Buffer.alloc(0);
    expect(verifyAll(raw, testKeys)).toEqual(['pass', 'pass']);
    expect(box.queue.rows[0]).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('for several at one place is one transaction; other places get their own', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    Object.assign(box.zone, { 'A other.test': ['127.0.0.1'] });
    box.queue.add(['a@remote.test', 'b@remote.test', 'c@other.test']);
    await box.queue.recorded(3);
    expect(server.mails.map((mail) => mail.to).sort((a, b) => b.length - a.length)).toEqual([
      ['a@remote.test', 'b@remote.test'],
      ['c@other.test'],
    ]);
  });

  test('to more destinations than there are places waits for no idle connection', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { limits: { connections: 2 } });
    const domains = Array.from({ length: 9 }, (_, at) => `d${at}.test`);
    for (const domain of domains) box.zone[`A ${domain}`] = ['127.0.0.1'];
    for (const domain of domains) box.queue.add([`you@${domain}`]);
    // The clock stands still, so what is idle stays so.
    await box.queue.recorded(9);
    expect(server.mails).toHaveLength(9);
  });

  test('for several with senders of their own is a transaction each, over one connection', async () => {
    await using server = await scriptedServer();
    const returnPath: RelayOptions['returnPath'] = ({ id, sender }) =>
      Promise.resolve(sender && { ...sender, local: `${sender.local}+${id}` });
    await using box = world(server.port, { returnPath });
    box.queue.add(['a@remote.test', 'b@remote.test', 'c@remote.test']);
    await box.queue.recorded(3);
    expect(server.mails.map((mail) => [mail.from, mail.to])).toEqual([
      ['me+1@box.test', ['a@remote.test']],
      ['me+2@box.test', ['b@remote.test']],
      ['me+3@box.test', ['c@remote.test']],
    ]);
    expect(server.connections).toBe(1);
  });

  test('leaves under its own sender when the one of a copy cannot be made', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { returnPath: () => Promise.reject(new Error('no store')) });
    box.queue.add(['a@remote.test', 'b@remote.test']);
    await box.queue.recorded(2);
    expect(server.mails.map((mail) => mail.from)).toEqual(['me@box.test']);
  });

  test('goes on at once over another connection when the server closes after some of its copies', async () => {
    await using server = await scriptedServer();
    let taken = 0;
    server.script.mail = () => (++taken % 3 === 0 ? '421 4.7.0 enough for one connection' : undefined);
    const returnPath: RelayOptions['returnPath'] = ({ id, sender }) =>
      Promise.resolve(sender && { ...sender, local: `${sender.local}+${id}` });
    await using box = world(server.port, { returnPath });
    box.queue.add(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@remote.test`));
    const results = await box.queue.recorded(5);
    expect(results.map(({ outcome, nextAt }) => [outcome, nextAt > box.clock.now()])).toEqual([
      ['delivered', false],
      ['delivered', false],
      ['deferred', false],
      ['delivered', false],
      ['delivered', false],
    ]);
    // The others were not tried twice.
    expect(box.queue.rows.map(({ attempts }) => attempts).slice(3)).toEqual([1, 1]);
  });

  test('with more recipients than the server takes at a time goes in parts', async () => {
    await using server = await scriptedServer();
    server.offers.push('LIMITS RCPTMAX=2');
    await using box = world(server.port);
    box.queue.add(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@remote.test`));
    await box.queue.recorded(5);
    expect(server.mails.map((mail) => mail.to.length)).toEqual([2, 2, 1]);
    expect(server.connections).toBe(1);
  });

  test('"too many recipients" sends the rest at once', async () => {
    let taken = 0;
    await using server = await scriptedServer({
      mail: () => {
        taken = 0;
        return undefined;
      },
      rcpt: () => (++taken > 2 ? '452 4.5.3 Too many recipients' : undefined),
    });
    await using box = world(server.port);
    box.queue.add(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@remote.test`));
    await box.queue.until(() => box.queue.rows.every((row) => row.state === 'delivered'));
    expect(server.mails.map((mail) => mail.to.length)).toEqual([2, 2, 1]);
  });

  test('each recipient has an end of its own, and the sender hears of the failure alone', async () => {
    const rcpt: Script['rcpt'] = (line) =>
      line.includes('<b@') ? '550 5.1.1 No such user' : line.includes('<c@') ? '451 4.7.1 Later' : undefined;
    await using server = await scriptedServer({ rcpt });
    await using box = world(server.port);
    box.queue.add(['a@remote.test', 'b@remote.test', 'c@remote.test']);
    await box.queue.recorded(3);
    expect(outcomes(box.queue)).toEqual({ 1: 'delivered 2.0.0', 2: 'failed 5.1.1', 3: 'deferred 4.7.1' });
    expect(box.queue.rows[2]).toMatchObject({ attempts: 1, nextAt: box.clock.now() + 5 * MINUTE, state: 'queued' });
    expect(box.queue.bounces.map(({ kind, about }) => ({ kind, about }))).toEqual([{ kind: 'failure', about: [2] }]);
  });

  test('canceled between being taken and being begun is not sent', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    box.queue.before = (call) => {
      if (call === 'begin') box.queue.rows[0]!.state = 'held';
    };
    box.queue.add(['a@remote.test', 'b@remote.test']);
    await box.queue.recorded(1);
    expect(server.mails.map((mail) => mail.to)).toEqual([['b@remote.test']]);
  });

  test('that cannot be read waits', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    box.queue.before = (call) => {
      if (call === 'content') throw new Error('disk');
    };
    box.queue.add(['a@remote.test']);
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.3.0' });
    expect(server.mails).toEqual([]);
  });

  test('that cannot be read a second time waits, and the log says why', async () => {
    const causes: unknown[] = [];
    const log = { ...quiet, error: (fields: object) => void causes.push((fields as { err?: unknown }).err) };
    await using server = await scriptedServer();
    await using box = world(server.port, { log });
    let reads = 0;
    const fault = new Error('a bad sector');
    box.queue.before = (call) => {
      if (call === 'content' && ++reads === 2) throw fault;
    };
    box.queue.add(['a@remote.test'], { body: `From: me@box.test\r\n\r\n${'x'.repeat(70)}\r\n`.repeat(5000) });
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.3.0' });
    expect(server.mails).toEqual([]);
    expect(causes).toEqual([fault]);
  });

  test('whose keys cannot be read waits rather than leave unsigned', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { keys: () => Promise.reject(new Error('locked')) });
    box.queue.add(['a@remote.test']);
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.3.0' });
    expect(server.mails).toEqual([]);
  });

  test.each([
    ['the envelope sender', {}, 2],
    ['nobody for a foreign sender, whatever From says', { sender: { local: 'x', domain: 'foreign.test' } }, 0],
    ['the checked author', { sender: { local: 'x', domain: 'foreign.test' }, signAs: ['box.test'] }, 2],
    ['the box itself for a null sender', { sender: undefined }, 2],
  ] as const)('is signed by %s', async (_name, change, count) => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    box.queue.add(['a@remote.test'], change);
    await box.queue.recorded(1);
    expect(server.mails[0]?.raw.toString().match(/^DKIM-Signature:/gm) ?? []).toHaveLength(count);
  });
});

describe('bounces', () => {
  async function bounced(change: Partial<Row>, script: Script, advance = 0): Promise<BounceMessage[]> {
    await using server = await scriptedServer(script);
    await using box = world(server.port);
    box.queue.add(['a@remote.test'], { queuedAt: box.clock.now() - advance, ...change });
    await box.queue.recorded(1);
    return box.queue.bounces;
  }
  const refuse: Script = { rcpt: '550 5.1.1 No' };
  const later: Script = { rcpt: '450 4.2.1 Later' };

  test.each([
    ['failure', {}, refuse, 0, ['failure']],
    ['failure of a null sender', { sender: undefined }, refuse, 0, []],
    ['failure, NEVER', { notify: 'NEVER' }, refuse, 0, []],
    ['failure, SUCCESS only', { notify: 'SUCCESS' }, refuse, 0, []],
    ['failure, asked for', { notify: 'SUCCESS,FAILURE' }, refuse, 0, ['failure']],
    ['put off, early', {}, later, 4 * HOUR - 1, []],
    ['put off, late', {}, later, 4 * HOUR, ['delay']],
    ['put off, told already', { delayReported: true }, later, 5 * HOUR, []],
    ['put off, FAILURE only', { notify: 'FAILURE' }, later, 5 * HOUR, []],
    ['put off, null sender', { sender: undefined }, later, 5 * HOUR, []],
    ['delivered', {}, {}, 0, []],
    ['delivered, SUCCESS, the next hop reports', { notify: 'SUCCESS' }, {}, 0, []],
    [
      'delivered, SUCCESS, the next hop does not',
      { notify: 'SUCCESS' },
      { ehlo: '250-x\r\n250 PIPELINING' },
      0,
      ['success'],
    ],
  ] as [string, Partial<Row>, Script, number, string[]][])('%s', async (_name, change, script, age, kinds) => {
    expect((await bounced(change, script, age)).map((bounce) => bounce.kind)).toEqual(kinds);
  });

  test('say what happened, to the sender', async () => {
    const [bounce] = await bounced({ orcpt: 'rfc822;old@box.test', envid: 'e1' }, refuse);
    const text = bounce?.bytes.toString() ?? '';
    expect(bounce?.recipient).toEqual({ local: 'me', domain: 'box.test' });
    for (const line of [
      'Reporting-MTA: dns; box.test',
      'Original-Envelope-Id: e1',
      'Original-Recipient: rfc822;old@box.test',
      'Final-Recipient: rfc822; a@remote.test',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; mx.remote.test',
      'Diagnostic-Code: smtp; 550 5.1.1 No',
      'Auto-Submitted: auto-replied',
      'Message-ID: <1@box.test>',
    ])
      expect(text).toContain(line);
  });

  test('come after five days and eight attempts, not before', async () => {
    await using server = await scriptedServer(later);
    await using box = world(server.port);
    box.queue.add(['old@remote.test'], { attempts: 34, queuedAt: box.clock.now() - 5 * DAY, delayReported: true });
    box.queue.add(['seldom@remote.test'], { attempts: 3, queuedAt: box.clock.now() - 50 * DAY, delayReported: true });
    await box.queue.recorded(2);
    expect(outcomes(box.queue)).toEqual({ 1: 'failed 5.4.7', 2: 'deferred 4.2.1' });
    expect(box.queue.results.find((r) => r.id === 1)?.text).toBe(
      'Given up after 5 days. The last reply was: 450 4.2.1 Later',
    );
  });

  test.each([
    ['no such domain', { 'MX remote.test': undefined }, 'failed 5.1.2'],
    ['null MX', { 'MX remote.test': ['0 .'] }, 'failed 5.1.10'],
    ['DNS in trouble', { 'MX remote.test': 'trouble' }, 'deferred 4.4.3'],
  ] as const)('%s', async (_name, zone, expected) => {
    await using box = world(1);
    for (const [key, records] of Object.entries(zone)) {
      if (records === undefined) delete box.zone[key];
      else box.zone[key] = records;
    }
    box.queue.add(['a@remote.test']);
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: expected });
    expect(box.queue.bounces).toHaveLength(expected.startsWith('failed') ? 1 : 0);
  });
});

describe('many messages', () => {
  test('share few connections, within the bounds', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { limits: { perDestination: { first: 2, most: 4 } } });
    for (let n = 0; n < 200; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(200);
    expect(server.mails).toHaveLength(200);
    expect(server.mostOpen).toBeLessThanOrEqual(4);
    expect(server.connections).toBeLessThanOrEqual(8);
  });

  test('a connection carries so many and no more', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, {
      limits: { messagesPerConnection: 5, perDestination: { first: 1, most: 1 } },
    });
    for (let n = 0; n < 20; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(20);
    expect(server.connections).toBe(4);
    expect(server.mostOpen).toBeLessThanOrEqual(2); // the one that is closing may overlap the next
  });

  test('all destinations together stay within the bound, and each gets its turn', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { limits: { connections: 4 } });
    for (let d = 0; d < 20; d += 1) box.zone[`A d${d}.test`] = ['127.0.0.1'];
    for (let n = 0; n < 10; n += 1) for (let d = 0; d < 20; d += 1) box.queue.add([`u${n}@d${d}.test`]);
    await box.queue.recorded(200);
    expect(server.mails).toHaveLength(200);
    expect(server.mostOpen).toBeLessThanOrEqual(8);
  });

  test('a dead destination does not hold up a live one', async () => {
    await using dead = await scriptedServer({ connect: SILENCE }, '127.0.0.2');
    await using live = await scriptedServer({}, '127.0.0.1', dead.port);
    await using box = world(dead.port, { limits: { timeouts: { ...PATIENT, command: 60_000 }, shutdown: 0 } });
    box.zone['A dead.test'] = ['127.0.0.2'];
    for (let n = 0; n < 2000; n += 1) box.queue.add([`u${n}@dead.test`]);
    for (let n = 0; n < 100; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(100);
    expect(live.mails).toHaveLength(100);
    expect(dead.mostOpen).toBeLessThanOrEqual(RELAY_LIMITS.perDestination.first);
    const closed = box.relay.close();
    box.clock.advance(0);
    await closed;
  });

  test('nobody waits behind the many of another at the same destination', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port, { limits: { perDestination: { first: 1, most: 1 } } });
    for (let n = 0; n < 500; n += 1) box.queue.add([`bulk${n}@remote.test`]);
    await server.received(3);
    box.queue.add(['second@remote.test'], { owner: 2 });
    for (let n = 0; n < 3; n += 1) box.queue.add([`other${n}@remote.test`], { tenant: 2, owner: 3 });
    await box.queue.until(() => box.queue.rows.slice(-4).every((row) => row.state === 'delivered'));
    expect(box.queue.results.length).toBeLessThan(150);
  });

  test('connections to a server that is slow do not become more, and make place after each message', async () => {
    const clock = new FakeClock();
    const dot: Script['dot'] = () => {
      clock.advance(6000);
      return undefined;
    };
    await using slow = await scriptedServer({ dot });
    await using box = world(slow.port, { clock, limits: { connections: 2 } }, new FakeQueue(() => clock.now()));
    box.zone['A other.test'] = ['127.0.0.1'];
    for (let n = 0; n < 60; n += 1) box.queue.add([`u${n}@remote.test`]);
    box.queue.add(['you@other.test']);
    await box.queue.until(() => box.queue.rows.at(-1)?.state === 'delivered');
    expect(slow.mostOpen).toBeLessThanOrEqual(3); // one that is closing may overlap the next
    expect(box.queue.results.length).toBeLessThan(15);
  });

  test('a host that does not answer is left alone for the others as well, then tried again', async () => {
    const down = await scriptedServer();
    await down[Symbol.asyncDispose]();
    await using box = world(down.port);
    for (let n = 0; n < 50; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(50);
    expect(new Set(Object.values(outcomes(box.queue)))).toEqual(new Set(['deferred 4.4.1']));
    await using up = await scriptedServer({}, '127.0.0.1', down.port);
    box.queue.add(['again@remote.test']);
    await box.queue.recorded(51);
    expect(up.connections).toBe(0);
    box.clock.advance(6 * MINUTE);
    // Rows that are being recorded now are found by the next scan of the queue.
    for (; up.mails.length < 51; await sleep(5)) box.clock.advance(1000);
    await box.queue.until(() => box.queue.rows.filter((row) => row.state === 'delivered').length === 51);
  });

  test('the next host takes over where the first is dead or turns us away', async () => {
    await using first = await scriptedServer({ connect: '554 5.7.1 Not you' }, '127.0.0.2');
    await using second = await scriptedServer({}, '127.0.0.3', first.port);
    await using box = world(first.port);
    box.zone['MX remote.test'] = ['5 gone.remote.test', '10 a.remote.test', '20 b.remote.test'];
    Object.assign(box.zone, {
      'A gone.remote.test': ['127.0.0.9'],
      'A a.remote.test': ['127.0.0.2'],
      'A b.remote.test': ['127.0.0.3'],
    });
    box.queue.add(['you@remote.test']);
    expect(await box.queue.recorded(1)).toMatchObject([{ outcome: 'delivered', host: 'b.remote.test' }]);
    expect([first.connections, second.connections]).toEqual([1, 1]);
  });

  test('a connection that the server closed while it was idle costs nothing', async () => {
    await using server = await scriptedServer({
      mail: (_line, times): Action | undefined => (times === 2 ? { close: '421 4.4.2 Idle' } : undefined),
    });
    await using box = world(server.port, { limits: { perDestination: { first: 1, most: 1 } } });
    box.queue.add(['a@remote.test']);
    box.queue.add(['b@remote.test']);
    box.queue.add(['c@remote.test']);
    await box.queue.recorded(3);
    expect(outcomes(box.queue)).toEqual({ 1: 'delivered 2.0.0', 2: 'delivered 2.0.0', 3: 'delivered 2.0.0' });
  });

  test('421 in the middle: what was not sent comes back by the schedule', async () => {
    await using server = await scriptedServer({
      dot: (_line, times): Action | undefined => (times % 3 === 0 ? { close: '421 4.3.2 Going down' } : undefined),
    });
    await using box = world(server.port);
    for (let n = 0; n < 30; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(30);
    const all = Object.values(outcomes(box.queue));
    expect(all.filter((one) => one === 'delivered 2.0.0')).toHaveLength(20);
    expect(all.filter((one) => one === 'deferred 4.3.2')).toHaveLength(10);
  });
});

describe('faults', () => {
  test('a crash after the 250: at most one copy more, not before its time', async () => {
    await using server = await scriptedServer();
    const clock = new FakeClock();
    const queue = new FakeQueue(() => clock.now());
    let stuck = true;
    queue.before = (call) => (stuck && call === 'finish' ? new Promise<void>(() => undefined) : undefined);
    // A relay whose result is never written, as if the process had been killed: it is left where it is.
    const crashed = world(server.port, { clock }, queue);
    queue.add(['you@remote.test']);
    await server.received(1);
    expect(queue.rows[0]).toMatchObject({ attempts: 1, nextAt: clock.now() + 5 * MINUTE, state: 'queued' });
    stuck = false;
    await using again = world(server.port, { clock }, queue);
    clock.advance(5 * MINUTE - 1);
    const all = { limit: 10, lanes: [], owners: [], after: undefined };
    expect((await queue.due({ now: clock.now(), ...all })).items).toEqual([]);
    expect(server.mails).toHaveLength(1);
    clock.advance(MINUTE);
    await queue.recorded(1);
    expect(server.mails.length).toBeLessThanOrEqual(2);
    expect(queue.rows[0]?.state).toBe('delivered');
    expect(again.relay).not.toBe(crashed.relay);
  });

  test('an end that is lost after the dot is tried again', async () => {
    await using server = await scriptedServer({ dot: (_line, times) => (times === 1 ? DROP : undefined) });
    await using box = world(server.port);
    box.queue.add(['you@remote.test']);
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.4.2' });
    box.clock.advance(6 * MINUTE);
    await box.queue.recorded(2);
    expect(outcomes(box.queue)).toEqual({ 1: 'delivered 2.0.0' });
  });

  test('no attempt without its record', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    let broken = true;
    box.queue.before = (call) => {
      if (broken && call === 'begin') throw new Error('disk full');
    };
    box.queue.add(['you@remote.test']);
    for (let n = 0; n < 5; n += 1) {
      await new Promise(setImmediate);
      box.clock.advance(5000);
    }
    expect(server.connections).toBe(0);
    broken = false;
    box.clock.advance(5000);
    await box.queue.recorded(1);
    expect(server.mails).toHaveLength(1);
  });

  test('a store that takes no attempts is reported once and then left alone for a while', async () => {
    const told: string[] = [];
    const log = { ...quiet, error: (_fields: object, text: string) => void told.push(text) };
    await using server = await scriptedServer();
    await using box = world(server.port, { log });
    box.queue.before = (call) => {
      if (call === 'begin') throw new Error('disk full');
    };
    for (let d = 0; d < 50; d += 1) box.queue.add([`u@d${d}.test`]);
    for (let second = 0; second < 4; second += 1) {
      for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
      box.clock.advance(1000);
    }
    expect(told).toEqual(['failed to record delivery attempts, relay paused']);
    box.queue.before = () => undefined;
    Object.assign(box.zone, Object.fromEntries(Array.from({ length: 50 }, (_, d) => [`A d${d}.test`, ['127.0.0.1']])));
    box.clock.advance(2000);
    await box.queue.recorded(50);
  });

  test('a result that could not be written is written later, and the message is not sent again', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    let failures = 0;
    const failed = Promise.withResolvers<void>();
    box.queue.before = (call) => {
      if (call !== 'finish' || failures >= 2) return;
      failures += 1;
      if (failures === 2) failed.resolve();
      throw new Error('disk full');
    };
    box.queue.add(['you@remote.test']);
    await server.received(1);
    const ticking = (async () => {
      while (box.queue.results.length === 0) {
        await new Promise(setImmediate);
        box.clock.advance(100);
      }
    })();
    await failed.promise;
    await ticking;
    expect(server.mails).toHaveLength(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'delivered 2.0.0' });
  });

  test('as many rows as memory may hold, and two wake-ups in one turn: it looks again later, not for ever', async () => {
    await using dead = await scriptedServer({ connect: SILENCE });
    await using box = world(dead.port, { limits: { timeouts: { ...PATIENT, command: 60_000 }, shutdown: 0 } });
    let looks = 0;
    box.queue.before = (call) => {
      if (call !== 'nextDue') return undefined;
      looks += 1;
      return looks > 100 ? new Promise((resolve) => setImmediate(resolve)) : undefined; // so that the test can end
    };
    const users = Array.from({ length: 500 }, (_, n) => `u${n}`);
    for (let d = 0; d < 21; d += 1) {
      box.zone[`A d${d}.test`] = ['127.0.0.1'];
      box.queue.add(users.map((user) => `${user}@d${d}.test`));
    }
    await new Promise(setImmediate);
    box.queue.wake();
    box.queue.wake();
    for (let n = 0; n < 100; n += 1) await new Promise(setImmediate);
    expect(looks).toBeLessThan(50);
    const closed = box.relay.close();
    box.clock.advance(0);
    await closed;
  });

  test('a fault of our own costs a message one attempt, and never leaves it lying', async () => {
    await using server = await scriptedServer();
    await using box = world(server.port);
    let faults = 0;
    const mx = box.zone['MX remote.test'];
    Object.defineProperty(box.zone, 'MX remote.test', {
      configurable: true,
      get() {
        faults += 1;
        if (faults === 1) throw new Error('a fault of our own');
        return mx;
      },
    });
    box.queue.add(['you@remote.test']);
    for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
    expect(faults).toBe(1);
    box.clock.advance(6 * MINUTE);
    await box.queue.recorded(1);
    expect(outcomes(box.queue)).toEqual({ 1: 'delivered 2.0.0' });
  });

  test('a server that talks unasked and does not close is left all the same', async () => {
    await using server = await scriptedServer({ dot: '250 2.0.0 Taken\r\n250 2.0.0 And more' });
    await using box = world(server.port);
    for (let n = 0; n < 5; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(5);
    for (let n = 0; n < 1000 && server.open > 0; n += 1) await new Promise(setImmediate);
    expect(server.open).toBe(0);
  });

  test('a clock five days ahead bounces nothing, and set back three days it goes on within one wait', async () => {
    await using server = await scriptedServer({ rcpt: '450 4.2.1 Later' });
    await using box = world(server.port);
    box.queue.add(['you@remote.test']);
    await box.queue.recorded(1);
    box.clock.jump(5 * DAY);
    box.clock.advance(MINUTE);
    await box.queue.recorded(2);
    box.clock.jump(-3 * DAY);
    box.clock.advance(MAX_RETRY_DELAY);
    await box.queue.recorded(3);
    expect(box.queue.results.map((result) => result.outcome)).toEqual(['deferred', 'deferred', 'deferred']);
    expect(box.queue.bounces.filter((bounce) => bounce.kind === 'failure')).toEqual([]);
  });

  test('a process that was stopped for a day tries each row once when it goes on', async () => {
    await using server = await scriptedServer({ rcpt: '450 4.2.1 Later' });
    await using box = world(server.port);
    for (let n = 0; n < 10; n += 1) box.queue.add([`u${n}@remote.test`]);
    await box.queue.recorded(10);
    box.clock.advance(DAY);
    await box.queue.recorded(20);
    for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
    expect(box.queue.results).toHaveLength(20);
  });
});

describe('closing', () => {
  test('finishes what is on the wire and begins nothing', async () => {
    const release = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<void>();
    await using server = await scriptedServer({
      dot: () => {
        reached.resolve();
        return release.promise;
      },
    });
    const box = world(server.port, {
      limits: { perDestination: { first: 1, most: 1 } },
    });
    for (let n = 0; n < 10; n += 1) box.queue.add([`u${n}@remote.test`]);
    await reached.promise;
    const closed = box.relay.close();
    release.resolve(undefined);
    await closed;
    expect(server.mails).toHaveLength(1);
    expect(box.queue.rows.filter((row) => row.state === 'delivered')).toHaveLength(1);
    // Rows that were prepared ahead and not tried are due again at once.
    expect(box.queue.rows.filter((row) => row.state === 'queued').every((row) => row.nextAt <= box.clock.now())).toBe(
      true,
    );
  });

  test('breaks off what does not end in time', async () => {
    const reached = Promise.withResolvers<void>();
    await using server = await scriptedServer({
      dot: () => {
        reached.resolve();
        return SILENCE;
      },
    });
    const box = world(server.port, { limits: { timeouts: { ...PATIENT, end: 600_000 }, shutdown: 5000 } });
    box.queue.add(['you@remote.test']);
    await reached.promise;
    const closed = box.relay.close();
    box.clock.advance(5000);
    await closed;
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.4.2' });
  });

  test('does not go on to the next host of a destination', async () => {
    const reached = Promise.withResolvers<void>();
    const connect: Script['connect'] = () => {
      reached.resolve();
      return SILENCE;
    };
    await using first = await scriptedServer({ connect }, '127.0.0.2');
    await using second = await scriptedServer({ connect }, '127.0.0.3', first.port);
    const box = world(first.port, { limits: { timeouts: { ...PATIENT, command: 600_000 }, shutdown: 5000 } });
    box.zone['A mx.remote.test'] = ['127.0.0.2', '127.0.0.3'];
    box.queue.add(['you@remote.test']);
    await reached.promise;
    const closed = box.relay.close();
    box.clock.advance(5000);
    await closed;
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.3.2' });
    expect(second).toBeDefined();
  });

  test('does not wait for the DNS', async () => {
    const queried = Promise.withResolvers<void>();
    const mx = (): Promise<never> => {
      queried.resolve();
      return new Promise<never>(() => undefined);
    };
    const box = world(1, { resolver: { ...fakeResolver({}), mx }, limits: { shutdown: 5000 } });
    box.queue.add(['you@remote.test']);
    await queried.promise;
    const closed = box.relay.close();
    box.clock.advance(5000);
    await closed;
    expect(outcomes(box.queue)).toEqual({ 1: 'deferred 4.3.2' });
  });
});

/** Two messages in one, if a server on the way takes another line end than CRLF for one. */
const SMUGGLED = 'MAIL FROM:<evil@box.test>\r\nRCPT TO:<victim@remote.test>\r\nDATA\r\nFrom: x\r\n\r\nevil\r\n.\r\n';
const ENDS = [
  '\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r.\n', '\n.\r', '\r.\r\n', '\r\n.\r', '\r\n\0.\r\n', '\r\n.\0\r\n',
  '\r\n.\r\r\n', '\r\r\n.\r\n', '\r\n. \r\n', '\r\n.\t\r\n', '\r\n.\v\r\n', '\r\n.\f\r\n', '\r\n.\x85\n', '\n..\r\n',
  '\r..\r\n', '\r\n..\n', '\n.\r\r\n', '\u2028.\u2028', '\u0085.\u0085', '\xc0\x8d\xc0\x8a.\xc0\x8d\xc0\x8a', '\r\n.\r\n',
]; // prettier-ignore

describe('nothing is smuggled out', () => {
  async function leaves(server: ScriptedServer, body: string): Promise<void> {
    await using box = world(server.port);
    const before = server.mails.length;
    box.queue.add(['you@remote.test'], { body });
    await box.queue.recorded(1);
    expect(server.mails).toHaveLength(before + 1);
    const raw = server.mails.at(-1)?.raw.toString('latin1') ?? '';
    expect(raw).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
    const lines = raw.split('\r\n');
    expect(lines.slice(-2)).toEqual(['.', '']);
    expect(lines.slice(0, -2).filter((line) => /^\.(?!\.)/.test(line))).toEqual([]);
    const sent = Buffer.from(
      lines
        .slice(0, -2)
        .map((line) => `${line.replace(/^\./, '')}\r\n`)
        .join(''),
      'latin1',
    );
    expect(verifyAll(sent, testKeys)).toEqual(['pass', 'pass']);
  }

  test.each(ENDS.map((end) => [JSON.stringify(end), end]))('%s', async (_name, end) => {
    await using server = await scriptedServer();
    await leaves(server, `From: me@box.test\r\n\r\nHello${end}${SMUGGLED}`);
    await leaves(server, `From: me@box.test\r\nSubject: Hello${end}${SMUGGLED}`);
  });
});
