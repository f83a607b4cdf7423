import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { readReport, statusFor } from '../../../mail/message/report.ts';
import { startRelay, type Relay } from '../../../mail/relay/relay.ts';
import { DELAY_REPORT_AFTER } from '../../../mail/relay/schedule.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue } from '../../support/fake-queue.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type Action, scriptedServer, type ScriptedServer } from '../../support/scripted-smtp.ts';

const YOU = 'you@remote.test';
let server: ScriptedServer;
let queue: FakeQueue;
let relay: Relay;
let clock: FakeClock;

beforeEach(async () => {
  server = await scriptedServer();
  clock = new FakeClock();
  queue = new FakeQueue(() => clock.now());
  relay = startRelay({
    queue,
    resolver: fakeResolver({ 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': ['127.0.0.1'] }),
    keys: () => Promise.resolve([]),
    hostname: 'box.test',
    outboundPort: server.port,
    allowPrivate: () => true,
    isOurAddress: () => false,
    clock,
    random: () => 0.5,
    log: quiet,
    meter: quiet,
    limits: { timeouts: { connect: 10_000, tls: 10_000, command: 10_000, data: 10_000, block: 10_000, end: 10_000 } },
  });
});
afterEach(async () => {
  await relay.close();
  await server[Symbol.asyncDispose]();
});

const REPLIES: Readonly<Record<string, Action | undefined>> = {
  delivered: undefined,
  failed: '550 5.1.1 no such user',
  deferred: '450 4.2.1 later',
};
const KIND: Readonly<Record<string, string>> = { delivered: 'success', failed: 'failure', deferred: 'delay' };
const WORD: Readonly<Record<string, string>> = { delivered: 'SUCCESS', failed: 'FAILURE', deferred: 'DELAY' };
const ACTION: Readonly<Record<string, string>> = { delivered: 'relayed', failed: 'failed', deferred: 'delayed' };

const NOTIFY = [
  '',
  'NEVER',
  'SUCCESS',
  'FAILURE',
  'DELAY',
  'SUCCESS,FAILURE',
  'FAILURE,DELAY',
  'SUCCESS,FAILURE,DELAY',
];
const MATRIX = NOTIFY.flatMap((notify) =>
  Object.keys(REPLIES).flatMap((outcome) =>
    [true, false].map((offered) => {
      // RFC 3461 4.1: without NOTIFY a failure is reported, and a delay may be. 5.2.1: the next server reports success.
      const wanted = notify === '' ? outcome !== 'delivered' : notify.split(',').includes(WORD[outcome] ?? '');
      const told = wanted && !(outcome === 'delivered' && offered);
      return { notify, outcome, offered, told };
    }),
  ),
);

describe(`who asks for a report: ${MATRIX.length} cases`, () => {
  test.each(MATRIX)('NOTIFY=$notify, $outcome, DSN offered $offered: reported $told', async (one) => {
    const { notify, outcome, offered, told } = one;
    server.offers = offered ? [...server.offers, 'DSN'] : server.offers.filter((word) => word !== 'DSN');
    server.script = { rcpt: REPLIES[outcome] };
    const queried = { notify, orcpt: 'rfc822;you+1@remote.test', envid: 'a=b +c', ret: 'HDRS' };
    queue.add([YOU], { ...queried, queuedAt: clock.now() - DELAY_REPORT_AFTER });
    await queue.recorded(1);
    expect(queue.bounces.map(({ kind }) => kind)).toEqual(told ? [KIND[outcome]] : []);
    const [report = ''] = queue.bounces.map(({ bytes }) => bytes.toString());
    if (told) {
      expect(report).toContain(`Action: ${ACTION[outcome]}`);
      expect(report).toContain('Original-Envelope-Id: a=b +c');
      expect(report).toContain('Original-Recipient: rfc822;you+1@remote.test');
      expect(report.includes('Will-Retry-Until:')).toBe(outcome === 'deferred');
    }
    const [mail = '', rcpt = ''] = ['MAIL', 'RCPT'].map((word) => server.lines.find((line) => line.includes(word)));
    expect(/ (?:RET|ENVID)=.*$/.exec(mail)?.[0]).toBe(offered ? ' RET=HDRS ENVID=a+3Db+20+2Bc' : undefined);
    const words = `${notify === '' ? '' : ` NOTIFY=${notify}`} ORCPT=rfc822;you+2B1@remote.test`;
    expect(/ (?:NOTIFY|ORCPT)=.*$/.exec(rcpt)?.[0]).toBe(offered ? words : undefined);
  });

  test('nobody is informed of the null sender’s', async () => {
    server.script = { rcpt: REPLIES['failed'] };
    queue.add([YOU], { sender: undefined, notify: 'SUCCESS,FAILURE,DELAY' });
    await queue.recorded(1);
    expect(queue.bounces).toEqual([]);
  });

  test('a delay is reported once', async () => {
    server.script = { rcpt: REPLIES['deferred'] };
    queue.add([YOU], { queuedAt: clock.now() - DELAY_REPORT_AFTER, delayReported: true });
    await queue.recorded(1);
    expect(queue.bounces).toEqual([]);
  });

  test('the header goes back and nothing else, at most 50 KB of it, in whole fields', async () => {
    server.script = { rcpt: REPLIES['failed'] };
    const long = Array.from({ length: 900 }, (_, n) => `X-Long-${n}: ${'x'.repeat(90)}\r\n`).join('');
    queue.add([YOU], { body: `From: me@box.test\r\n${long}\r\nthe secret body\r\n` });
    await queue.recorded(1);
    const text = queue.bounces[0]?.bytes.toString() ?? '';
    expect(text.length).toBeGreaterThan(40_000);
    expect(text.length).toBeLessThan(53_000);
    expect(text).not.toContain('the secret body');
    expect(/^X-Long-\d+: x{90}\r\n(?=\r\n--)/m.test(text)).toBe(true);
  });
});

describe('hostile answers', () => {
  const HOSTILE: Readonly<Record<string, Action>> = {
    'control characters': { say: Buffer.from('550 5.1.1 a\x00b\x07\x1b[31mc\rd\x7fe\r\n', 'latin1'), raw: true },
    'a header of their own': { say: '550-5.1.1 no\r\n550 X-Injected: yes\r\n', raw: true },
    'the end of a part': { say: '550-5.1.1 no\r\n550---=_boundary--\r\n550 Subject: x\r\n', raw: true },
    'bidi and separators': '550 5.1.1 \u202eevil\u2028X-Injected: yes\u0085X-Injected: yes',
    'no UTF-8': { say: Buffer.from([...Buffer.from('550 5.1.1 '), 0xff, 0xfe, 0xc0, 0x80, 0x85, 13, 10]), raw: true },
    'a line of 1 MB': `550 5.1.1 ${'A'.repeat(1_000_000)}`,
    '150 lines': `${Array.from({ length: 150 }, (_, n) => `550-5.1.1 line ${n}`).join('\r\n')}\r\n550 5.1.1 end`,
    'a reply without an end': Array.from({ length: 20_000 }, () => `550-${'x'.repeat(60)}`).join('\r\n'),
    'an encoded word': '550 5.1.1 =?utf-8?b?DQpYLUluamVjdGVkOiB5ZXM=?=',
  };

  test.each(Object.keys(HOSTILE))('%s inject nothing', async (name) => {
    server.script = { rcpt: HOSTILE[name] };
    queue.add([YOU], { queuedAt: clock.now() - DELAY_REPORT_AFTER });
    const [result] = await queue.recorded(1);
    for (const text of [result?.text ?? '', result?.host ?? '', result?.status ?? '']) {
      expect(text.length).toBeLessThanOrEqual(1000);
      expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/);
    }
    const [report] = queue.bounces;
    expect(queue.bounces).toHaveLength(1);
    const bytes = report?.bytes ?? Buffer.alloc(0);
    const text = bytes.toString('latin1');
    expect(text).toMatch(/^[\r\n\t\x20-\x7e]*$/);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(text).not.toMatch(/^X-Injected:/im);
    expect(text.split('\r\n').every((line) => line.length <= 998)).toBe(true);
    expect(bytes.length).toBeLessThan(20_000);
    const parts = unpackParts(indexMessage(bytes).parts);
    expect(parts.map(({ type, subtype }) => `${type}/${subtype}`)).toEqual([
      'multipart/report',
      'text/plain',
      'message/delivery-status',
      'text/rfc822-headers',
    ]);
    expect(statusFor(readReport(bytes, parts), YOU)).toBeDefined();
  });
});
