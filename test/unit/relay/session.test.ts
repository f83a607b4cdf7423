import { createSecureContext } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '../../../mail/message/address.ts';
import { RELAY_LIMITS, type RelayTimeouts } from '../../../mail/relay/limits.ts';
import { openSession } from '../../../mail/relay/open-session.ts';
import { RelaySession } from '../../../mail/relay/session.ts';
import type { Transaction } from '../../../mail/relay/transaction.ts';
import { type HostPolicy, opportunistic, type TlsRequirement } from '../../../mail/relay/tls-policy/policy.ts';
import { TlsTicketCache } from '../../../mail/relay/tls-ticket-cache.ts';
import type { AttemptVerdict } from '../../../mail/relay/attempt-verdict.ts';
import { testCertificate } from '../../support/certificate.ts';
import {
  DROP,
  RESET,
  scriptedServer,
  SILENCE,
  type Action,
  type Script,
  type ScriptedServer,
} from '../../support/scripted-smtp.ts';

// The server shares this event loop: who has little patience takes a moment's standstill for silence.
const PATIENT: RelayTimeouts = {
  connect: 10_000,
  tls: 10_000,
  command: 10_000,
  data: 10_000,
  block: 10_000,
  end: 10_000,
};
/** For those who are to be given up: nothing else can come of it. */
const IMPATIENT: RelayTimeouts = { ...PATIENT, command: 120, data: 120, end: 120 };
const BODY = 'Subject: x\r\n\r\nHello\r\n';

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`not an address: ${text}`);
  return parsed;
}

function transaction(to: readonly string[] = ['you@remote.test'], body: string | Buffer = BODY): Transaction {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body, 'latin1');
  return {
    sender: address('me@box.test'),
    envid: '',
    ret: '',
    recipients: to.map((text) => ({ address: address(text), notify: '', orcpt: '' })),
    message: { size: bytes.length, eightBit: bytes.some((o) => o > 127), utf8Header: false, chunks: () => [bytes] },
  };
}

async function open(
  server: ScriptedServer,
  change: Partial<HostPolicy> = {},
  {
    timeouts = PATIENT,
    requirement,
    sessions,
  }: { timeouts?: RelayTimeouts; requirement?: TlsRequirement; sessions?: TlsTicketCache } = {},
) {
  const host = { name: 'mx.remote.test', ip: server.host, port: server.port };
  const policy = { ...opportunistic('remote.test', host), ...change };
  return openSession(host, { hostname: 'box.test', timeouts, policy, requirement: requirement ?? 'policy', sessions });
}

async function send(server: ScriptedServer, one = transaction(), timeouts = PATIENT): Promise<AttemptVerdict[]> {
  const session = await open(server, {}, { timeouts });
  if (!(session instanceof RelaySession)) return one.recipients.map(() => session.verdict);
  const { verdicts } = await session.transact(one);
  session.quit();
  return verdicts;
}

function short(verdicts: readonly AttemptVerdict[]): string {
  return verdicts.map((v) => `${v.outcome} ${v.code} ${v.status}`).join(', ');
}

describe('every stage, every bad turn', () => {
  const bad: [string, Action, string][] = [
    ['4xx', '450 4.2.1 Later', 'deferred 450 4.2.1'],
    ['4xx without enhanced code', '450 Later', 'deferred 450 4.0.0'],
    ['421', { close: '421 4.3.2 Closing' }, 'deferred 421 4.3.2'],
    ['5xx', '550 5.7.1 Never', 'failed 550 5.7.1'],
    ['5xx with a wrong enhanced code', '550 2.0.0 Never', 'failed 550 5.0.0'],
    ['5xx in lines', '550-5.7.1 Never\r\n550 5.7.1 Ever', 'failed 550 5.7.1'],
    ['drop', DROP, 'deferred 0 4.4.2'],
    ['reset', RESET, 'deferred 0 4.4.2'],
    ['silence', SILENCE, 'deferred 0 4.4.2'],
    ['one octet at a time', { slowly: `250 ${'x'.repeat(200)}\r\n` }, 'deferred 0 4.4.2'],
    ['no SMTP', 'HTTP/1.1 400 Bad Request', 'deferred 0 4.4.2'],
    ['binary', { say: Buffer.from([0, 255, 10, 13, 10]) }, 'deferred 0 4.4.2'],
    ['an endless line', { say: Buffer.alloc(200_000, 'x') }, 'deferred 0 4.4.2'],
    ['endless lines', { say: '250-x\r\n'.repeat(5000) }, 'deferred 0 4.4.2'],
    ['lines that differ in code', '250-x\r\n550 y', 'deferred 0 4.4.2'],
    ['ten megabytes', { say: Buffer.alloc(10_000_000, '250-x\r\n') }, 'deferred 0 4.4.2'],
  ];
  const patience = (action: Action): RelayTimeouts =>
    action === SILENCE || (typeof action === 'object' && 'slowly' in action) ? IMPATIENT : PATIENT;
  for (const stage of ['connect', 'mail', 'rcpt', 'data', 'dot'] as const) {
    test.each(bad)(`${stage}: %s`, async (_name, action, expected) => {
      await using server = await scriptedServer({ [stage]: action });
      // A reset right after accept() may be seen as a connection that was never made.
      const status = stage === 'connect' && action === RESET ? /^deferred 0 4\.4\.[12]$/ : new RegExp(`^${expected}$`);
      expect(short(await send(server, transaction(), patience(action)))).toMatch(status);
      // An empty message to nobody may end a refused group; nothing else may arrive.
      if (stage !== 'dot') expect(server.mails.filter((mail) => mail.to.length > 0)).toEqual([]);
    });
    test.each(bad.filter((one) => one[1] !== RESET))(
      `${stage}, without PIPELINING: %s`,
      async (_name, action, expected) => {
        await using server = await scriptedServer({ [stage]: action });
        server.offers = ['SIZE'];
        expect(short(await send(server, transaction(), patience(action)))).toBe(expected);
      },
    );
  }

  test.each([
    ['ehlo', '421 4.3.2 Later', 'deferred 421 4.3.2'],
    ['ehlo', DROP, 'deferred 0 4.4.2'],
    ['connect', '554 5.7.1 We do not like you', 'failed 554 5.7.1'],
    ['connect', '250 hello', 'deferred 250 4.5.0'],
    ['mail', '354 what', 'deferred 354 4.5.0'],
    ['data', '250 ok', 'deferred 250 4.5.0'],
    ['dot', '354 more', 'deferred 354 4.5.0'],
    ['rcpt', '552 too many', 'deferred 552 4.5.3'],
    ['rcpt', '552 5.2.2 Mailbox full', 'failed 552 5.2.2'],
    ['rcpt', '251 2.1.5 Will forward', 'delivered 250 2.0.0'],
  ] as const)('%s: %s', async (stage, action, expected) => {
    await using server = await scriptedServer({ [stage]: action });
    expect(short(await send(server))).toBe(expected);
  });

  test('nobody listens', async () => {
    const server = await scriptedServer();
    await server[Symbol.asyncDispose]();
    expect(await open(server)).toMatchObject({ kind: 'none', dead: true, verdict: { status: '4.4.1' } });
  });

  test('EHLO is not known: HELO', async () => {
    await using server = await scriptedServer({ ehlo: '502 5.5.1 What?' });
    expect(short(await send(server))).toBe('delivered 250 2.0.0');
    expect(server.lines.slice(0, 5)).toEqual([
      '1 EHLO box.test',
      '1 HELO box.test',
      '1 MAIL FROM:<me@box.test>',
      '1 RCPT TO:<you@remote.test>',
      '1 DATA',
    ]);
  });

  test('dropped after every number of octets: nothing is ever taken for delivered or failed', async () => {
    const whole =
      `EHLO box.test\r\nMAIL FROM:<me@box.test> SIZE=${BODY.length}\r\nRCPT TO:<you@remote.test>\r\nDATA\r\n${BODY}.\r\n`
        .length;
    await using server = await scriptedServer();
    for (let octets = 1; octets <= whole; octets += 1) {
      server.dropAfter = octets;
      expect(short(await send(server)), `after ${octets}`).toBe('deferred 0 4.4.2');
    }
    expect(server.mails).toEqual([]);
  });

  test('words of a server are clean', async () => {
    await using server = await scriptedServer({ rcpt: `550 5.1.1 a\x1b[31mb\x00c\u202e\rd ${'x'.repeat(3000)}` });
    const [verdict] = await send(server);
    expect(verdict?.text).toMatch(/^550 5\.1\.1 a\?\[31mb\?c\?\?d x+$/);
    expect(verdict?.text.length).toBeLessThanOrEqual(1000);
  });
});

describe('several recipients', () => {
  const to = ['a@remote.test', 'b@remote.test', 'c@remote.test'];
  const some: Script['rcpt'] = (line) =>
    line.includes('<b@') ? '550 5.1.1 No such user' : line.includes('<c@') ? '451 4.7.1 Greylisted' : undefined;

  test.each([[['PIPELINING']], [[]]])('each gets an answer of its own (%j)', async (offers) => {
    await using server = await scriptedServer({ rcpt: some });
    server.offers = offers;
    expect(short(await send(server, transaction(to)))).toBe(
      'delivered 250 2.0.0, failed 550 5.1.1, deferred 451 4.7.1',
    );
    expect(server.mails).toMatchObject([{ to: ['a@remote.test'] }]);
  });

  test.each([[['PIPELINING']], [[]]])('a bad end counts for those who were let in (%j)', async (offers) => {
    await using server = await scriptedServer({ rcpt: some, dot: '554 5.6.0 Spam' });
    server.offers = offers;
    expect(short(await send(server, transaction(to)))).toBe('failed 554 5.6.0, failed 550 5.1.1, deferred 451 4.7.1');
  });

  test('421 in the middle puts the rest off and keeps what was said', async () => {
    const rcpt: Script['rcpt'] = (line) =>
      line.includes('<b@') ? '550 5.1.1 No' : line.includes('<c@') ? { close: '421 4.3.2 Bye' } : undefined;
    await using server = await scriptedServer({ rcpt });
    expect(short(await send(server, transaction(to)))).toBe('deferred 421 4.3.2, failed 550 5.1.1, deferred 421 4.3.2');
    expect(server.mails).toEqual([]);
  });

  test('all refused and DATA let in all the same: an empty message to nobody, then the next', async () => {
    await using server = await scriptedServer({ rcpt: (_line, times) => (times <= 3 ? '550 5.1.1 No' : undefined) });
    const session = await open(server);
    if (!(session instanceof RelaySession)) throw new Error('no session');
    expect(short((await session.transact(transaction(to))).verdicts)).toBe(
      'failed 550 5.1.1, failed 550 5.1.1, failed 550 5.1.1',
    );
    expect(short((await session.transact(transaction())).verdicts)).toBe('delivered 250 2.0.0');
    expect(server.mails.map((mail) => [mail.to, mail.raw.toString()])).toEqual([
      [[], '.\r\n'],
      [['you@remote.test'], `${BODY}.\r\n`],
    ]);
  });
});

describe('one connection, many messages', () => {
  test('RSET only where it is needed', async () => {
    await using server = await scriptedServer({
      data: (_line, times) => (times === 2 ? '451 4.3.0 Not now' : undefined),
    });
    const session = await open(server);
    if (!(session instanceof RelaySession)) throw new Error('no session');
    const results: string[] = [];
    for (let n = 0; n < 4; n += 1) results.push(short((await session.transact(transaction())).verdicts));
    expect(results).toEqual([
      'delivered 250 2.0.0',
      'deferred 451 4.3.0',
      'delivered 250 2.0.0',
      'delivered 250 2.0.0',
    ]);
    expect(server.lines.filter((line) => line.includes('RSET'))).toEqual(['1 RSET']);
    expect(server.connections).toBe(1);
  });

  test('a server that has closed meanwhile has touched nothing', async () => {
    await using server = await scriptedServer({
      mail: (_line, times) => (times === 2 ? { close: '421 4.4.2 Idle' } : undefined),
    });
    const session = await open(server);
    if (!(session instanceof RelaySession)) throw new Error('no session');
    expect(await session.transact(transaction())).toMatchObject({ untouched: false });
    expect(await session.transact(transaction())).toMatchObject({
      untouched: true,
      verdicts: [{ outcome: 'deferred' }],
    });
    expect(session.usable).toBe(false);
  });
});

describe('extensions', () => {
  test('what is offered is used, exactly', async () => {
    await using server = await scriptedServer();
    const one: Transaction = {
      ...transaction(),
      sender: undefined,
      envid: 'a+b c',
      ret: 'HDRS',
      recipients: [
        { address: address('"odd one"@remote.test'), notify: 'SUCCESS,FAILURE', orcpt: 'rfc822;o=ne@remote.test' },
      ],
    };
    await send(server, one);
    expect(server.lines).toContain(`1 MAIL FROM:<> SIZE=${BODY.length} RET=HDRS ENVID=a+2Bb+20c`);
    expect(server.lines).toContain(
      '1 RCPT TO:<"odd one"@remote.test> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;o+3Dne@remote.test',
    );
  });

  test('what could end a line never gets into a command', async () => {
    await using server = await scriptedServer();
    const one: Transaction = {
      ...transaction(),
      envid: 'a\r\nRCPT TO:<evil@remote.test>',
      ret: 'FULL\r\nNOOP',
      recipients: [{ address: address('you@remote.test'), notify: 'NEVER\r\nNOOP', orcpt: 'rfc822;a\r\nNOOP' }],
    };
    expect(short(await send(server, one))).toBe('delivered 250 2.0.0');
    expect(server.lines.slice(0, 4).map((line) => line.split(' ')[1])).toEqual(['EHLO', 'MAIL', 'RCPT', 'DATA']);
    expect(server.lines.filter((line) => !/QUIT/.test(line))).toHaveLength(4);
  });

  test.each([
    ['8-bit to a 7-bit server', ['PIPELINING'], transaction(undefined, 'x: y\r\n\r\n\xff\r\n'), 'failed 0 5.6.3'],
    ['8-bit to an 8-bit server', ['8BITMIME'], transaction(undefined, 'x: y\r\n\r\n\xff\r\n'), 'delivered 250 2.0.0'],
    ['too big', ['SIZE 10'], transaction(), 'failed 0 5.3.4'],
    ['no limit named', ['SIZE'], transaction(), 'delivered 250 2.0.0'],
    ['SIZE=0 is no limit', ['SIZE 0'], transaction(), 'delivered 250 2.0.0'],
    [
      'UTF-8 recipient',
      ['8BITMIME'],
      transaction(['jürgen@remote.test', 'you@remote.test']),
      'failed 0 5.6.7, delivered 250 2.0.0',
    ],
    ['UTF-8 recipient, offered', ['8BITMIME', 'SMTPUTF8'], transaction(['jürgen@remote.test']), 'delivered 250 2.0.0'],
  ])('%s', async (_name, offers, one, expected) => {
    await using server = await scriptedServer();
    server.offers = offers;
    expect(short(await send(server, one))).toBe(expected);
  });

  test('SMTPUTF8 and BODY are said when they are needed', async () => {
    await using server = await scriptedServer();
    await send(server, transaction(['jürgen@remote.test'], '\xff\r\n'));
    expect(server.lines).toContain('1 MAIL FROM:<me@box.test> SIZE=3 BODY=8BITMIME SMTPUTF8');
    expect(server.lines).toContain('1 RCPT TO:<jürgen@remote.test>');
  });
});

describe('TLS', () => {
  test('is used when offered, whatever the certificate', async () => {
    await using server = await scriptedServer();
    server.tls = createSecureContext(await testCertificate());
    const session = await open(server);
    expect(session).toBeInstanceOf(RelaySession);
    if (!(session instanceof RelaySession)) return;
    expect(session.tls).toMatch(/^TLSv1\.3 TLS_\w+, opportunistic, certificate not verified \(\w+\)$/);
    expect(session.tlsResults).toMatchObject([
      { type: 'no-policy-found', result: 'success', mx: 'mx.remote.test', from: '127.0.0.1' },
    ]);
    expect(short((await session.transact(transaction())).verdicts)).toBe('delivered 250 2.0.0');
    expect(server.lines.slice(0, 3)).toEqual(['1 EHLO box.test', '1 STARTTLS', '1 EHLO box.test']);
    session.quit();
  });

  test.each([
    ['refused', '454 4.7.0 Not now'],
    ['refused for good', '502 5.5.1 What?'],
  ])('%s: in the clear', async (_name, action) => {
    await using server = await scriptedServer({ starttls: action });
    server.tls = createSecureContext(await testCertificate());
    expect(short(await send(server))).toBe('delivered 250 2.0.0');
    expect(server.connections).toBe(1);
  });

  test('a handshake that fails: in the clear over a new connection', async () => {
    await using server = await scriptedServer({ starttls: { close: '220 Go ahead' } });
    server.tls = createSecureContext(await testCertificate());
    expect(short(await send(server))).toBe('delivered 250 2.0.0');
    expect(server.connections).toBe(2);
  });

  test('a handshake that never ends: in the clear', async () => {
    await using server = await scriptedServer({
      starttls: (_line, times) => (times === 1 ? { say: '220 Go ahead\r\n' } : undefined),
    });
    server.offers.push('STARTTLS'); // and no certificate: the server waits for commands
    expect(short(await send(server, transaction(), { ...PATIENT, tls: 500 }))).toBe('delivered 250 2.0.0');
  });

  test.each([
    ['a reply', '220 Go ahead\r\n250 injected\r\n'],
    ['half a reply', '220 Go ahead\r\n250 inj'],
    ['many', `220 Go ahead\r\n${'250 x\r\n'.repeat(50)}`],
    ['an octet', '220 Go ahead\r\n\n'],
  ])('%s put in behind the 220: nothing is sent', async (_name, say) => {
    await using server = await scriptedServer({ starttls: { say } });
    server.tls = createSecureContext(await testCertificate());
    expect(short(await send(server))).toMatch(/^deferred 0 4\.(7\.0|4\.2)$/);
    expect(server.mails).toEqual([]);
    expect(server.lines.some((line) => line.includes('MAIL'))).toBe(false);
  });

  test.each([
    ['not offered', undefined, {}, '4.7.4', 'starttls-not-supported'],
    ['refused', 'with', { starttls: '454 4.7.0 No' }, '4.7.4', 'starttls-not-supported'],
    ['handshake fails', 'with', { starttls: { close: '220 Go ahead' } }, '4.7.5', 'validation-failure'],
  ] as const)('demanded and %s: nothing is sent', async (_name, certificate, script, status, failure) => {
    await using server = await scriptedServer(script);
    if (certificate !== undefined) server.tls = createSecureContext(await testCertificate());
    const opened = await open(server, { required: true, rule: 'a policy' });
    expect(opened).toMatchObject({ verdict: { outcome: 'deferred', status }, tlsResults: [{ result: failure }] });
    expect(opened).toMatchObject({
      verdict: { text: expect.stringMatching(/^a policy forbids mail to mx\.remote\.test/) as unknown },
    });
    expect(server.lines.some((line) => line.includes('MAIL'))).toBe(false);
  });

  test('demanded with a certificate that is not good enough: nothing is sent', async () => {
    await using server = await scriptedServer();
    server.tls = createSecureContext(await testCertificate());
    const classifier = () => ({ failure: 'certificate-host-mismatch', why: 'wrong name' }) as const;
    const opened = await open(server, { required: true, verify: classifier });
    expect(opened).toMatchObject({
      verdict: { status: '4.7.5' },
      tlsResults: [{ result: 'certificate-host-mismatch' }],
    });
    expect(await open(server, { required: true, verify: () => undefined })).toBeInstanceOf(RelaySession);
    const broken = (): never => {
      throw new Error('an odd key');
    };
    expect(await open(server, { required: true, verify: broken })).toMatchObject({ verdict: { status: '4.7.5' } });
  });

  test('only checked, not demanded: it goes, and what was wrong is counted', async () => {
    await using server = await scriptedServer();
    const classifier = () => ({ failure: 'certificate-expired', why: 'old' }) as const;
    server.tls = createSecureContext(await testCertificate());
    const session = await open(server, { by: 'mta-sts testing', verify: classifier });
    expect(session).toMatchObject({
      tls: expect.stringContaining('mta-sts testing') as unknown,
      tlsResults: [{ result: 'certificate-expired' }],
    });
  });

  test.each([
    ['no TLS', undefined, [], '5.7.30'],
    ['a certificate of nobody', 'with', ['REQUIRETLS'], '5.7.10'],
  ] as const)('REQUIRETLS and %s: it fails for good', async (_name, certificate, offers, status) => {
    await using server = await scriptedServer();
    server.offers.push(...offers);
    if (certificate !== undefined) server.tls = createSecureContext(await testCertificate());
    const classifier = () => ({ failure: 'certificate-not-trusted', why: 'nobody' }) as const;
    const opened = await open(server, { required: true, verify: classifier }, { requirement: 'required' });
    expect(opened).toMatchObject({ verdict: { outcome: 'failed', status } });
  });

  test.each([
    ['is not there now', { starttls: '454 4.7.0 Not now' }],
    ['breaks', { starttls: { close: '220 Go ahead' } }],
  ])('REQUIRETLS and TLS that %s: later', async (_name, script) => {
    await using server = await scriptedServer(script);
    server.tls = createSecureContext(await testCertificate());
    const opened = await open(server, { required: true }, { requirement: 'required' });
    expect(opened).toMatchObject({ verdict: { outcome: 'deferred' } });
  });

  test('REQUIRETLS goes to who offers it under TLS, and to nobody else', async () => {
    await using server = await scriptedServer();
    server.tls = createSecureContext(await testCertificate());
    const demand = { required: true, classifier: () => undefined };
    const opened = await open(server, demand, { requirement: 'required' });
    expect(opened).toMatchObject({ verdict: { outcome: 'failed', status: '5.7.30' } });
    server.offers.push('REQUIRETLS');
    const session = await open(server, demand, { requirement: 'required' });
    if (!(session instanceof RelaySession)) throw new Error(session.verdict.text);
    await session.transact({ ...transaction(), requireTls: true });
    expect(server.lines.findLast((line) => line.includes('MAIL'))).toContain(' REQUIRETLS');
  });

  test('a session goes on at the next connection, never one that is filtered', async () => {
    await using server = await scriptedServer();
    server.tls = createSecureContext(await testCertificate());
    const sessions = new TlsTicketCache(() => 0);
    const ticket = Promise.withResolvers<void>();
    const keep = sessions.store.bind(sessions);
    sessions.store = (...kept) => (keep(...kept), ticket.resolve());
    const first = await open(server, {}, { sessions });
    if (!(first instanceof RelaySession)) throw new Error(first.verdict.text);
    await first.transact(transaction()); // tickets come after the handshake
    await ticket.promise;
    const filtered: boolean[] = [];
    const classifier: HostPolicy['verify'] = (socket) => void filtered.push(socket.isSessionReused());
    await open(server, { verify: classifier }, { sessions });
    expect(filtered).toEqual([false]);
    const again = await open(server, {}, { sessions });
    expect(again).toMatchObject({ tls: first.tls });
    expect(server.resumed).toEqual([false, false, true]);
  });

  test.each([
    ['policy', 'policy', true],
    ['policy', 'optional', true],
    ['policy', 'required', false],
    ['required', 'policy', true],
    ['required', 'required', true],
    ['optional', 'optional', true],
    ['optional', 'policy', false],
    ['optional', 'required', false],
  ] as const)('a session opened for "%s" fits "%s": %s', async (opened, wanted, fits) => {
    await using server = await scriptedServer();
    server.offers.push('REQUIRETLS');
    server.tls = createSecureContext(await testCertificate());
    const session = await open(server, {}, { requirement: opened });
    expect(session instanceof RelaySession && session.satisfies(wanted)).toBe(fits);
  });
});

describe('the message', () => {
  test('a server that stops reading is given up', async () => {
    await using server = await scriptedServer({ data: (): Action => '354 Go ahead' });
    const big = Buffer.alloc(64 * 1024, 'x\r\n'.repeat(20));
    const one = transaction();
    const endless: Transaction = {
      ...one,
      message: { ...one.message, chunks: () => Array.from({ length: 2000 }, () => big) },
    };
    server.script.data = () => new Promise<Action>(() => undefined);
    expect(short(await send(server, endless, { ...PATIENT, block: 300 }))).toBe('deferred 0 4.4.2');
  });

  test('a refusal before the end is believed', async () => {
    await using server = await scriptedServer({ data: { say: '354 Go ahead\r\n552 5.3.4 Too much\r\n' } });
    const big = Buffer.from('0123456789abcd\r\n'.repeat(4096));
    const one = transaction();
    const long: Transaction = {
      ...one,
      message: { ...one.message, chunks: () => Array.from({ length: 500 }, () => big) },
    };
    expect(short(await send(server, long))).toBe('failed 552 5.3.4');
  });

  test('a store that fails in the middle sends no end', async () => {
    await using server = await scriptedServer();
    const one = transaction();
    const broken: Transaction = {
      ...one,
      message: {
        ...one.message,
        async *chunks() {
          yield Buffer.from(BODY);
          await Promise.resolve();
          throw new Error('disk');
        },
      },
    };
    expect(short(await send(server, broken))).toBe('deferred 0 4.3.0');
    expect(server.mails).toEqual([]);
  });

  test('dots are doubled', async () => {
    await using server = await scriptedServer();
    await send(server, transaction(undefined, '.\r\n..\r\n.x\r\nno . here\r\n\r\n.\r\n'));
    expect(server.mails[0]?.raw.toString()).toBe('..\r\n...\r\n..x\r\nno . here\r\n\r\n..\r\n.\r\n');
  });

  test('the limits as shipped', () => {
    expect(RELAY_LIMITS.timeouts).toEqual({
      connect: 30_000,
      tls: 60_000,
      command: 300_000,
      data: 120_000,
      block: 180_000,
      end: 600_000,
    });
  });
});
