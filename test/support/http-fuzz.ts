type Below = (end: number) => number;

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const TARGETS = [
  '/',
  '/healthz',
  '/readyz',
  '/mcp',
  '/jmap/ws',
  '/jmap/ws',
  '/jmap/api',
  '/jmap/session',
  '/jmap/eventsource?types=*&closeafter=x&ping=0',
  '/jmap/upload/a1',
  '/jmap/download/a/b/c',
  '/api/tools',
  '/api/tools/whoami',
  '/api/tools/search_tools',
  '/api/email/domains',
  '/api/email/send',
  '/api/email/upload-links?ticket=x&ticket=y',
  '/api/email/attachments/att_1_1?signature=a&expires=1',
  '/api/events',
  '/oauth/token',
  '/oauth/register',
  '/login',
  '/static/../../x',
  '/%zz',
  '/%00',
  '//x',
  '*',
  'http://[/mcp',
  'http://other.example/api/email/domains',
  `/${'a'.repeat(3000)}`,
];
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: jmap',
];
const FIELDS = [
  'Content-Type: application/json',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Type: multipart/form-data; boundary=x',
  'Accept: application/json, text/event-stream',
  'Accept-Encoding: gzip',
  'Connection: keep-alive',
  'Connection: close',
  'Expect: 100-continue',
  'Expect: x',
  'Host: other.example',
  'X-Forwarded-For: 1.2.3.4, x',
  'X-Forwarded-Proto: https',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Content-Length: 0',
  'Content-Length: 99999999999999999999',
  'Range: bytes=5-',
  'Last-Event-ID: a:z',
  'Mcp-Session-Id: x',
  'Cookie: session=x; session=y',
  'Authorization: Bearer x',
  'Authorization: Basic eDp5',
  `X-Long: ${'b'.repeat(2000)}`,
  ': empty',
  ' folded',
  'No colon',
];
const BODIES = [
  '',
  '{}',
  'null',
  '[1]',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  '{"query":"x"}',
  '{"using":[],"methodCalls":[]}',
  'grant_type=refresh_token&refresh_token=x',
  '2\r\n{}\r\n0\r\n\r\n',
  'zz\r\n',
  '['.repeat(500),
];

const one = <T>(list: readonly T[], below: Below): T => list[below(list.length)] as T;

/** One HTTP request, mostly well-formed. `authorization` is a credential that is good for some of them. */
export function httpRequest(below: Below, authorization: string): string {
  const target = one(TARGETS, below);
  const upgrades = target === '/jmap/ws' ? below(4) > 0 : below(20) === 0;
  const method = upgrades && below(10) > 0 ? 'GET' : one(METHODS, below);
  const body = below(3) === 0 || method === 'POST' ? one(BODIES, below) : '';
  const fields = [
    ...(below(15) === 0 ? [] : ['Host: 127.0.0.1']),
    ...(upgrades ? UPGRADE.filter(() => below(12) > 0) : []),
    ...(below(3) === 0 ? [`Authorization: ${authorization}`] : []),
    ...Array.from({ length: below(3) }, () => one(FIELDS, below)),
    ...(body === '' || below(20) === 0 ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...(method === 'POST' && below(3) > 0 ? ['Content-Type: application/json'] : []),
  ];
  const version = below(25) === 0 ? one(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', ''], below) : 'HTTP/1.1';
  const end = below(40) === 0 ? '\n' : '\r\n';
  return `${[`${method} ${target} ${version}`, ...fields].join(end)}${end}${end}${body}`;
}
