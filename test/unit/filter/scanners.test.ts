import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ScannerGuard } from '../../../mail/filter/scanners/scanner-guard.ts';
import { Clamav } from '../../../mail/filter/scanners/clamav.ts';
import { Rspamd } from '../../../mail/filter/scanners/rspamd.ts';
import { type ScannedMessage, type Scanner, ScanError } from '../../../mail/filter/scanners/scanner.ts';
import { openScanners } from '../../../mail/filter/scanners/scanners.ts';
import { quiet } from '../../../mail/log.ts';
import type { Finding } from '../../../mail/policy/finding.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((one) => new Promise((resolve) => one.close(resolve))));
});

async function listening<S extends Server>(server: S): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const MESSAGE = Buffer.from('From: a@x.test\r\n\r\nHello\r\n');

function mail(over: Partial<ScannedMessage> = {}): ScannedMessage & { closed: () => number } {
  let closed = 0;
  const octets = over.octets ?? pieces;
  async function* pieces(): AsyncIterable<Uint8Array> {
    await turn();
    yield MESSAGE.subarray(0, 10);
    yield MESSAGE.subarray(10);
  }
  return {
    trace: 't1',
    peer: { ip: '192.0.2.7', helo: 'mx.x.test', name: 'mx.x.test' },
    sender: 'a@x.test',
    recipients: ['me@box.test', 'you@box.test'],
    size: MESSAGE.length,
    ...over,
    async *octets() {
      try {
        yield* octets();
      } finally {
        closed++;
      }
    },
    closed: () => closed,
  };
}

/** 64 KiB again and again, more than any buffer takes. */
async function* endless(): AsyncIterable<Uint8Array> {
  for (;;) {
    await turn();
    yield Buffer.alloc(65_536, 'x');
  }
}

/** As it is used: nothing of a scanner's trouble comes through. */
function careful(scanner: Scanner, over: { timeoutMs?: number; clock?: () => number } = {}) {
  const warnings: string[] = [];
  const counts: unknown[] = [];
  const log = { ...quiet, warn: (_fields: object, text: string) => warnings.push(text) };
  const meter = { ...quiet, count: (_name: string, labels?: object) => counts.push(labels) };
  const made = new ScannerGuard(scanner, { log, meter, ...over });
  return { scan: (one = mail()) => made.scan(one), warnings, counts };
}

const none = (label: string, name: string, why: string): Finding[] => [
  { rule: label, score: 0, why: `not scanned by ${name}: ${why}` },
];

describe('Rspamd', () => {
  type Answer = (request: IncomingMessage, response: ServerResponse) => void;

  async function rspamd(answer: Answer): Promise<Rspamd> {
    return new Rspamd(`http://127.0.0.1:${await listening(createServer(answer))}`);
  }

  const says = (body: unknown, status = 200): Answer => {
    return (request, response) => {
      request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)));
    };
  };

  const answer = (action: string, score: number, symbols: Record<string, number> = {}) => ({
    action,
    score,
    required_score: 15,
    symbols: Object.fromEntries(Object.entries(symbols).map(([name, one]) => [name, { name, score: one }])),
  });

  test('is given the message, who brought it and for whom', async () => {
    let seen: { headers: IncomingMessage['headersDistinct']; url?: string | undefined; body: string } | undefined;
    const scanner = await rspamd((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = { headers: request.headersDistinct, url: request.url, body: Buffer.concat(chunks).toString() };
        response.end(JSON.stringify(answer('no action', 0)));
      });
    });
    const one = mail({ sender: 'ä@x.test', peer: { ip: '192.0.2.7', helo: 'a\r\nUser: root', name: '' } });
    expect(await careful(scanner).scan(one)).toEqual([]);
    expect(one.closed()).toBe(1);
    expect(seen).toMatchObject({ url: '/checkv2', body: MESSAGE.toString() });
    const headers = seen?.headers ?? {};
    expect(headers).toMatchObject({
      ip: ['192.0.2.7'],
      helo: ['a??User: root'],
      rcpt: ['me@box.test', 'you@box.test'],
    });
    expect(Buffer.from(headers['from']?.[0] ?? '', 'latin1').toString('utf8')).toBe('ä@x.test');
    expect([headers['user'], headers['hostname']]).toEqual([undefined, undefined]);
  });

  test.each([
    ['reject', 22, 10, true],
    ['discard', 22, 10, true],
    ['quarantine', 9, 5, undefined],
    ['add header', 7, 5, undefined],
    ['rewrite subject', 7, 5, undefined],
    ['greylist', 4.5, 3, undefined],
    ['soft reject', 3, 2, undefined],
    ['no action', 1.5, 1, undefined],
    ['no action', 14, 4, undefined],
  ])('%s with %d points', async (action, score, points, refuse) => {
    const { scan } = careful(await rspamd(says(answer(action, score, { BAD_ONE: 1 }))));
    const [finding, ...more] = await scan();
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ rule: 'rspamd', score: points });
    expect(finding?.refuse).toBe(refuse);
  });

  test('names the worst symbols in words, not those that say little, and never what they quote', async () => {
    const symbols = { R_SPF_FAIL: 1, MISSING_DATE: 2.04, TINY: 0.5, GOOD: -3, A: 0.6, B: 0.7, C: 0.8, D: 0.9 };
    const body = answer('add header', 7.26, symbols);
    const described = { score: 4, description: 'Only markup.', options: ['secret.example'] };
    Object.assign(body.symbols, { MIME_HTML: described });
    expect((await careful(await rspamd(says(body))).scan())[0]?.why).toBe(
      'Rspamd would mark the message as junk (7.3 of 15 points): Only markup (4), MISSING_DATE (2), R_SPF_FAIL (1), D (0.9), C (0.8)',
    );
  });

  test('nothing follows from what speaks for a message, nor from what it skips', async () => {
    expect(await careful(await rspamd(says(answer('no action', -3, { GOOD: -3 })))).scan()).toEqual([]);
    expect(await careful(await rspamd(says({ is_skipped: true }))).scan()).toEqual([]);
    const pattern = { is_skipped: true, action: 'reject', score: 15, symbols: { GTUBE: { score: 0 } } };
    expect(await careful(await rspamd(says(pattern))).scan()).toMatchObject([{ refuse: true }]);
  });

  test('a name of a symbol is made harmless', async () => {
    const { scan } = careful(await rspamd(says(answer('add header', 7, { [`a\r\nb\u202e${'x'.repeat(500)}`]: 3 }))));
    expect((await scan())[0]?.why).toMatch(
      /^Rspamd would mark the message as junk \(7 of 15 points\): a\?\?b\?x{75} \(3\)$/,
    );
  });

  test.each<[string, Answer, string]>([
    ['an error', says({ error: 'x' }, 500), 'HTTP status 500'],
    ['a redirect', says({}, 302), 'HTTP status 302'],
    ['no JSON', (_, response) => response.end('hello'), 'invalid response'],
    ['a list', says([]), 'invalid response'],
    ['null', says(null), 'invalid response'],
    ['no score', says({ action: 'reject' }), 'invalid response'],
    ['a score that is none', says({ action: 'reject', score: '99' }), 'invalid response'],
    ['symbols that are none', says({ action: 7, score: 1, symbols: 7 }), 'invalid response'],
    ['an endless answer', (_, response) => void pour(response), 'the response is too long'],
    ['a hang-up', (request) => request.socket.destroy(), 'no response'],
    [
      'half an answer',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"action"', () => request.socket.destroy());
      },
      'no response',
    ],
    ['no HTTP', (request) => request.socket.end('220 mail\r\n'), 'no response'],
  ])('%s loses and refuses nothing', async (_name, behave, why) => {
    const one = mail();
    const { scan, counts } = careful(await rspamd(behave));
    expect(await scan(one)).toEqual(none('rspamd', 'Rspamd', why));
    expect(counts).toEqual([{ scanner: 'rspamd', outcome: 'trouble' }]);
    expect(one.closed()).toBeLessThanOrEqual(1);
  });

  async function pour(response: ServerResponse): Promise<void> {
    while (!response.destroyed) {
      response.write('x'.repeat(65_536));
      await turn();
    }
  }

  test('nobody there', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    servers.splice(0);
    expect(await careful(new Rspamd(`http://127.0.0.1:${port}`)).scan()).toEqual(
      none('rspamd', 'Rspamd', 'no response'),
    );
  });

  test('one that never answers costs its time and no more, and the message is closed', async () => {
    const one = mail({ octets: endless, size: 1e7 });
    const { scan } = careful(await rspamd(() => undefined), { timeoutMs: 200 });
    expect(await scan(one)).toEqual(none('rspamd', 'Rspamd', 'no response within 0.2 seconds'));
    await expect.poll(() => one.closed()).toBe(1);
  });

  test('an answer that comes before the message is sent is an answer', async () => {
    const one = mail({ octets: endless, size: 1e9 });
    const early: Answer = (_, response) => response.end(JSON.stringify(answer('reject', 20, { BAD: 20 })));
    const scanner = new Rspamd(`http://127.0.0.1:${await listening(createServer(early))}`, 2e9);
    expect(await careful(scanner).scan(one)).toMatchObject([{ refuse: true }]);
    await expect.poll(() => one.closed()).toBe(1);
  });

  test('a message that cannot be read', async () => {
    const octets = async function* (): AsyncIterable<Uint8Array> {
      yield MESSAGE.subarray(0, 5);
      await turn();
      throw new Error('the disk');
    };
    const { scan } = careful(await rspamd(says(answer('no action', 0))));
    expect(await scan(mail({ octets }))).toEqual(none('rspamd', 'Rspamd', 'no response'));
  });
});

describe('ClamAV', () => {
  /** Reads one INSTREAM as clamd does. Answers what came, then behaves. */
  async function clamd(behave: (socket: Socket, message: Buffer) => void): Promise<Clamav> {
    const port = await listening(
      createTcp((socket) => {
        let all = Buffer.alloc(0);
        socket.on('data', (chunk) => {
          all = Buffer.concat([all, chunk]);
          const message = messageIn(all);
          if (message !== undefined) behave(socket, message);
        });
      }),
    );
    return new Clamav({ host: '127.0.0.1', port });
  }

  function messageIn(all: Buffer): Buffer | undefined {
    const command = 'zINSTREAM\0';
    if (all.subarray(0, command.length).toString() !== command) return undefined;
    const parts: Buffer[] = [];
    for (let at = command.length; at + 4 <= all.length;) {
      const length = all.readUInt32BE(at);
      if (length === 0) return Buffer.concat(parts);
      parts.push(all.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return undefined;
  }

  const says = (line: string) => clamd((socket) => socket.end(line));

  test('is given the message whole, in chunks', async () => {
    let seen: Buffer = Buffer.alloc(0);
    const scanner = await clamd((socket, message) => {
      seen = message;
      socket.end('stream: OK\0');
    });
    const large = Buffer.alloc(200_000, 'abc');
    const one = mail({
      size: large.length,
      async *octets() {
        await turn();
        yield large;
      },
    });
    expect(await careful(scanner).scan(one)).toEqual([]);
    expect(seen.equals(large)).toBe(true);
  });

  test('what it finds is refused, with its name made harmless', async () => {
    expect(await careful(await says('stream: Win.Test.EICAR_HDB-1 FOUND\0')).scan()).toEqual([
      {
        rule: 'clamav',
        score: 10,
        why: 'The message contains malware: ClamAV found Win.Test.EICAR_HDB-1',
        flag: 'malware',
        refuse: true,
      },
    ]);
    const [odd] = await careful(await says(`stream: A\r\nB ${'ü'.repeat(200)} FOUND\0`)).scan();
    expect(odd).toMatchObject({ rule: 'clamav', score: 0 });
    const [long] = await careful(await says(`stream: ${'ü x'.repeat(200)} FOUND\0`)).scan();
    expect(long?.why).toMatch(/^The message contains malware: ClamAV found [\x21-\x7e]{80}\.\.\.$/);
  });

  test('a guess refuses nothing', async () => {
    const guess = 'Heuristics.Phishing.Email.SpoofedDomain';
    const [phishing] = await careful(await says(`stream: ${guess} FOUND\0`)).scan();
    expect(phishing).toMatchObject({ score: 5, flag: 'phishing' });
    expect(phishing?.refuse).toBeUndefined();
    const [locked] = await careful(await says('stream: Heuristics.Encrypted.Zip FOUND\0')).scan();
    expect([locked?.score, locked?.flag, locked?.refuse]).toEqual([5, undefined, undefined]);
  });

  test.each<[string, (socket: Socket) => void, string]>([
    [
      'too large for it',
      (to) => to.end('INSTREAM size limit exceeded. ERROR\0'),
      'the message is larger than its StreamMaxLength',
    ],
    ['an error', (to) => to.end("stream: Can't allocate memory ERROR\0"), 'invalid response'],
    ['another protocol', (to) => to.end('220 mail\r\n'), 'it closed the connection'],
    ['nothing', (to) => to.end(), 'it closed the connection'],
    ['a reset', (to) => to.resetAndDestroy(), 'no response'],
    ['no end', (to) => to.write('x'.repeat(100_000)), 'the response is too long'],
    ['an empty name', (to) => to.end('stream:  FOUND\0'), 'invalid response'],
    ['half a line', (to) => to.end('stream: OK'), 'it closed the connection'],
  ])('%s loses and refuses nothing', async (_name, behave, why) => {
    const { scan, counts } = careful(await clamd(behave));
    expect(await scan()).toEqual(none('clamav', 'ClamAV', why));
    expect(counts).toEqual([{ scanner: 'clamav', outcome: 'trouble' }]);
  });

  test('one that hangs up in the middle has said why, and the message is closed', async () => {
    const port = await listening(
      createTcp((socket) => {
        socket.once('data', () => socket.end('INSTREAM size limit exceeded. ERROR\0', () => socket.destroy()));
      }),
    );
    const one = mail({ octets: endless, size: 1e6 });
    const [finding] = await careful(new Clamav({ host: '127.0.0.1', port })).scan(one);
    expect(finding).toMatchObject({ score: 0 });
    await expect.poll(() => one.closed()).toBe(1);
  });

  test('one that reads nothing, and a message that cannot be read', async () => {
    const port = await listening(createTcp((socket) => socket.pause()));
    const one = mail({ octets: endless, size: 1e7 });
    const { scan } = careful(new Clamav({ host: '127.0.0.1', port }), { timeoutMs: 200 });
    expect(await scan(one)).toEqual(none('clamav', 'ClamAV', 'no response within 0.2 seconds'));
    await expect.poll(() => one.closed()).toBe(1);
    const octets = async function* (): AsyncIterable<Uint8Array> {
      await turn();
      yield MESSAGE;
      throw new Error('the disk');
    };
    const unread = await careful(await says('stream: OK\0'), { timeoutMs: 2_000 }).scan(mail({ octets }));
    expect(unread).toMatchObject([{ score: 0, why: expect.stringContaining('not scanned by ClamAV: ') as string }]);
  });

  test('by a socket of this machine that is not there', async () => {
    const { scan } = careful(new Clamav({ path: '/nonexistent/clamd.ctl' }));
    expect(await scan()).toEqual(none('clamav', 'ClamAV', 'no response'));
  });
});

describe('care', () => {
  /** A scanner with scripted answers. */
  class Reported implements Scanner {
    readonly name = 'Rspamd';
    readonly label = 'rspamd';
    readonly maxSize = 1000;
    queried = 0;
    broken = true;
    waiting: (() => void)[] = [];

    async scan(): Promise<readonly Finding[]> {
      this.queried++;
      if (this.broken) throw new ScanError('no response');
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      return [];
    }
  }

  test('one that fails five times is left alone for half a minute, then tried by one message', async () => {
    const [told, now] = [new Reported(), { ms: 0 }];
    const { scan, warnings, counts } = careful(told, { clock: () => now.ms });
    for (let i = 0; i < 20; i++) await scan();
    expect([told.queried, warnings]).toEqual([5, ['mail goes on without Rspamd']]);
    expect(counts.filter((one) => JSON.stringify(one).includes('skipped'))).toHaveLength(15);
    now.ms = 30_001;
    await Promise.all([scan(), scan(), scan()]);
    expect(told.queried).toBe(6);
    now.ms = 60_002;
    told.broken = false;
    const tried = scan();
    expect(await scan()).toEqual(none('rspamd', 'Rspamd', 'it is suspended after repeated failures'));
    for (const end of told.waiting.splice(0)) end();
    expect(await tried).toEqual([]);
    const next = scan();
    for (const end of told.waiting.splice(0)) end();
    expect(await next).toEqual([]);
  });

  test('the log hears of it once a minute', async () => {
    const [told, now] = [new Reported(), { ms: 0 }];
    const { scan, warnings } = careful(told, { clock: () => now.ms });
    for (; now.ms < 150_000; now.ms += 100) await scan();
    expect(warnings).toHaveLength(3);
  });

  test('no more than twenty at once, and nothing that is too large', async () => {
    const told = new Reported();
    told.broken = false;
    const { scan } = careful(told);
    const all = Array.from({ length: 25 }, () => scan());
    expect(await Promise.all(all.slice(20))).toEqual(
      Array(5).fill(none('rspamd', 'Rspamd', 'too many concurrent scans')),
    );
    for (const end of told.waiting) end();
    expect((await Promise.all(all.slice(0, 20))).flat()).toEqual([]);
    expect(await scan(mail({ size: 1001 }))).toEqual(none('rspamd', 'Rspamd', 'the message has more than 1000 octets'));
    expect(told.queried).toBe(20);
  });

  test('all that the settings name are asked at the same time; without any nothing is found', async () => {
    expect(openScanners({}, { log: quiet, meter: quiet })).toBeUndefined();
    const both = openScanners(
      { rspamd: 'http://127.0.0.1:9', clamav: { path: '/nonexistent' } },
      { log: quiet, meter: quiet },
    );
    if (both === undefined) throw new Error('no scanner is used');
    expect((await both(mail())).map((one) => [one.rule, one.score])).toEqual([
      ['rspamd', 0],
      ['clamav', 0],
    ]);
  });
});
