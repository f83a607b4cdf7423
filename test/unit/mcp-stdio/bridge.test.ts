import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { StdioBridge, protocolHeaders } from '../../../src/mcp-stdio/bridge.ts';
import { eventData, lines } from '../../../src/mcp-stdio/events.ts';
import { reachableAddress, parseServerUrl } from '../../../src/mcp-stdio/endpoint.ts';

interface Posted {
  headers: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
  signal: AbortSignal;
  answer(status: number, headers: Record<string, string>, body: string): void;
  fail(error: Error): void;
}

function response(status: number, headers: Record<string, string>, body: string): IncomingMessage {
  const made = new IncomingMessage(new Socket());
  made.statusCode = status;
  Object.assign(made.headers, headers);
  made.push(body);
  made.push(null);
  return made;
}

/** A bridge whose server is the test. */
function bridge() {
  const posted: Posted[] = [];
  const out: unknown[] = [];
  const complaints: string[] = [];
  const made = new StdioBridge(
    {
      post(headers, body, signal) {
        const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        posted.push({
          headers,
          body: JSON.parse(body) as Record<string, unknown>,
          signal,
          answer: (...args) => resolve(response(...args)),
          fail: reject,
        });
        return promise;
      },
    },
    { message: (message) => out.push(message), warn: (sentence) => complaints.push(sentence) },
  );
  const take = (message: object): void => made.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const at = (i: number): Posted => posted[i] ?? expect.fail(`nothing was posted as number ${i}`);
  const waitFor = (i: number): Promise<Posted> =>
    expect
      .poll(() => posted[i])
      .toBeDefined()
      .then(() => at(i));
  return { made, take, at, waitFor, out, complaints, posted };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };

describe('the older era', () => {
  test('what follows the handshake waits for it, and names the version and the session', async () => {
    const { made, take, waitFor, posted, out } = bridge();
    take({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    take({ id: 2, method: 'tools/list' });
    const first = await waitFor(0);
    expect(first.headers).toEqual({});
    expect(posted).toHaveLength(1);
    const result = { protocolVersion: '2025-06-18' };
    first.answer(200, { ...JSON_TYPE, 'mcp-session-id': 'ses_1' }, JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    const second = await waitFor(1);
    expect(second.headers).toEqual({ 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 'ses_1' });
    second.answer(200, JSON_TYPE, '{"jsonrpc":"2.0","id":2,"result":{}}');
    await made.finish();
    expect(out).toEqual([
      { jsonrpc: '2.0', id: 1, result },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });

  test('a session that has ended is forgotten', async () => {
    const { made, take, waitFor } = bridge();
    take({ id: 1, method: 'ping' });
    (await waitFor(0)).answer(200, { ...JSON_TYPE, 'mcp-session-id': 'ses_1' }, '{"id":1,"result":{}}');
    await made.finish();
    take({ id: 2, method: 'tools/list' });
    const gone = { jsonrpc: '2.0', id: 2, error: { code: 404, message: 'x', data: { error: 'session_not_found' } } };
    (await waitFor(1)).answer(404, JSON_TYPE, JSON.stringify(gone));
    await made.finish();
    take({ id: 3, method: 'tools/list' });
    expect((await waitFor(2)).headers).toEqual({});
  });
});

describe('the current era', () => {
  test.each([
    [{ method: 'tools/list', params: modern }, { 'mcp-method': 'tools/list' }],
    [{ method: 'tools/call', params: { ...modern, name: 'whoami' } }, { 'mcp-name': 'whoami' }],
    [{ method: 'tools/call', params: { ...modern, name: 'Grüße' } }, { 'mcp-name': '=?base64?R3LDvMOfZQ==?=' }],
    [{ method: 'tools/call', params: { ...modern, name: ' a' } }, { 'mcp-name': '=?base64?IGE=?=' }],
    [{ method: 'tools/call', params: { ...modern, name: 'a\r\nx: y' } }, { 'mcp-name': '=?base64?YQ0KeDogeQ==?=' }],
    [{ method: 'tools/call', params: { ...modern, name: '=?base64?YQ==?=' } }, { 'mcp-name': expect.any(String) }],
    [{ method: 'resources/read', params: { ...modern, uri: 'mail://x' } }, { 'mcp-name': 'mail://x' }],
  ])('%j is repeated in headers, whatever the handshake said', (message, headers) => {
    const made = protocolHeaders(message, '2025-06-18');
    expect(made).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method, ...headers });
    for (const value of Object.values(made)) expect(value).toMatch(/^[\x20-\x7e]+$/);
  });
});

describe('every request is answered', () => {
  test.each([
    [
      'an error without an id gets it',
      401,
      JSON_TYPE,
      '{"jsonrpc":"2.0","id":null,"error":{"code":401,"message":"x"}}',
      401,
    ],
    ['another body', 502, { 'content-type': 'text/html' }, '<h1>Bad gateway</h1>', 502],
    ['no body', 202, {}, '', 202],
    [
      'a stream that ends without the answer',
      200,
      { 'content-type': 'text/event-stream' },
      'data: {"method":"x"}\n\n',
      200,
    ],
  ])('%s', async (_name, status, headers, body, code) => {
    const { made, take, waitFor, out } = bridge();
    take({ id: 'a', method: 'tools/list' });
    (await waitFor(0)).answer(status, headers, body);
    await made.finish();
    expect(out.at(-1)).toMatchObject({ id: 'a', error: { code } });
  });

  test('a server that cannot be reached', async () => {
    const { made, take, waitFor, out } = bridge();
    take({ id: 4, method: 'tools/list' });
    (await waitFor(0)).fail(new Error('connect ECONNREFUSED'));
    await made.finish();
    expect(out).toMatchObject([{ id: 4, error: { code: 503, message: expect.stringContaining('ECONNREFUSED') } }]);
  });

  test('what is no JSON is reported, and an empty line is nothing', () => {
    const { made, out } = bridge();
    for (const line of ['{', '[]', '"ping"', '', '  ']) made.send(line);
    expect(out).toMatchObject(['{', '[]', '"ping"'].map(() => ({ id: null, error: { code: -32700 } })));
  });

  test('a stream is passed on as it comes', async () => {
    const { made, take, waitFor, out } = bridge();
    take({ id: 5, method: 'tools/call' });
    const events =
      'event: message\ndata: {"method":"notifications/progress"}\n\n: beat\n\ndata: {"id":5,"result":{}}\n\n';
    (await waitFor(0)).answer(200, { 'content-type': 'text/event-stream; charset=utf-8' }, events);
    await made.finish();
    expect(out).toEqual([{ method: 'notifications/progress' }, { id: 5, result: {} }]);
  });
});

describe('what gets no answer', () => {
  test('a notification; when it is refused that is said elsewhere', async () => {
    const { made, take, waitFor, out, complaints } = bridge();
    take({ method: 'notifications/initialized' });
    (await waitFor(0)).answer(401, JSON_TYPE, '{"error":{}}');
    await made.finish();
    expect(out).toEqual([]);
    expect(complaints).toEqual([expect.stringContaining('refused with 401')]);
  });

  test('a request that the client gave up: its connection ends, and nothing is sent for that', async () => {
    const { made, take, waitFor, out, posted } = bridge();
    take({ id: 6, method: 'tools/call' });
    const { signal } = await waitFor(0);
    take({ method: 'notifications/cancelled', params: { requestId: 6 } });
    expect(signal.aborted).toBe(true);
    await made.finish();
    expect([out, posted.length]).toEqual([[], 1]);
  });

  test('a subscription, when the client ends', async () => {
    const { made, take, waitFor, out } = bridge();
    take({ id: 7, method: 'subscriptions/listen', params: modern });
    await waitFor(0);
    await made.finish();
    expect(out).toEqual([]);
  });
});

describe('streams', () => {
  const pieces = async function* (...texts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield typeof text === 'string' ? Buffer.from(text) : text;
  };
  const all = async (from: AsyncIterable<string>): Promise<string[]> => {
    const found: string[] = [];
    for await (const one of from) found.push(one);
    return found;
  };

  test('lines end at LF and nowhere else, in whatever pieces', async () => {
    expect(await all(lines(pieces('{"a":"\u2028', 'x\r"}\n\nb', '\nc')))).toEqual(['{"a":"\u2028x\r"}', '', 'b', 'c']);
    const [first, second] = [Buffer.from('ü\n').subarray(0, 1), Buffer.from('ü\n').subarray(1)];
    expect(await all(lines(pieces(first, second)))).toEqual(['ü']);
  });

  test('events have their data joined, and comments and other fields are passed over', async () => {
    const text = 'retry: 1\n\nid: 1\r\ndata: a\r\ndata:b\r\n\r\n:x\ndata: c\n\ndata: cut';
    expect(await all(eventData(pieces(text.slice(0, 20), text.slice(20))))).toEqual(['a\nb', 'c']);
  });
});

test.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/mcp'],
  ['https://mail.example.com/mcp?toolsets=core', 'https://mail.example.com/mcp?toolsets=core'],
  ['ftp://x', undefined],
  ['mail.example.com', undefined],
])('--url %s leads to %s', (text, url) => {
  const place = parseServerUrl(text);
  expect('url' in place ? place.url.href : undefined).toBe(url);
});

test.each([
  [['127.0.0.1'], '127.0.0.1'],
  [['0.0.0.0', '::'], '127.0.0.1'],
  [['::'], '[::1]'],
  [['10.0.0.5'], '10.0.0.5'],
  [['2001:db8::1'], '[2001:db8::1]'],
])('a server that listens on %j is reached at %s', (listen, address) => {
  expect(reachableAddress(listen)).toBe(address);
});
