import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { http, type Said } from '../../support/mcp.ts';

let box: ConsentWorld;
/** The owner of the operator's organization, who has the portal and a mailbox open: nobody may do more by a cookie. */
let owner: Someone;

beforeAll(async () => {
  box = await consentWorld();
  owner = await box.someone('owner', 1, [box.anna]);
  const form = await owner.visitor.formToken('/account');
  await owner.visitor.post('/mail/open', { form, mailbox: `mbx_${box.anna}` });
  expect(owner.visitor.cookie).toMatch(/mailstead=[0-9a-f]{48}.*mailstead-mail=[0-9a-f]{48}/);
});
afterAll(() => box[Symbol.asyncDispose]());

const READS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
/** Routes for programs, which take a credential or a secret in the request, and no cookie. */
const PROGRAMS =
  /^\/(?:api\/(?!outbox\/)|mcp\/?$|jmap\/|oauth\/(?!authorize$)|unsubscribe\/|(?:emails|domains|api-keys)(?:\/|$)|autodiscover\/)/i;

const FOREIGN: readonly (readonly [string, Record<string, string>])[] = [
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }],
  ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'http://evil.127.0.0.1' }],
  ['an older browser on another site', { origin: 'https://evil.test' }],
  ['a sandboxed frame', { origin: 'null' }],
  ['a client that says nothing', {}],
];

/** Routes that change something, with ids of things that exist. */
function writes(): { method: string; path: string }[] {
  const filled = (url: string): string =>
    url
      .replace(':org', 'org_1')
      .replaceAll(/:[A-Za-z]+/g, '1')
      .replace('*', 'x');
  return box.routes
    .filter(({ method }) => !READS.has(method))
    .map(({ method, url }) => ({ method, path: filled(url) }));
}

const FORM = ['application/x-www-form-urlencoded', 'do=x&a=b'] as const;
const JSON_BODY = ['application/json', '{}'] as const;

const send = (
  method: string,
  path: string,
  headers: Record<string, string>,
  [type, body]: readonly [string, string] = FORM,
): Promise<Said> => http(method, `${box.base}${path}`, { 'content-type': type, ...headers }, body);

describe('a request that another site sends with the cookies of an owner', () => {
  test.each(FOREIGN)('is refused at every route, and writes nothing: %s', async (_name, headers) => {
    const cookie = owner.visitor.cookie ?? '';
    const pages = writes().filter(({ path }) => !PROGRAMS.test(path));
    expect(pages.length).toBeGreaterThan(60);
    const written = vi.spyOn(box.world.store, 'write');
    const passed: string[] = [];
    for (const { method, path } of pages) {
      const { status } = await send(method, path, { ...headers, cookie });
      if (status !== 403) passed.push(`${method} ${path}: ${status}`);
    }
    expect(passed).toEqual([]);
    expect(written.mock.calls.map(([{ name }]) => name)).toEqual([]);
    written.mockRestore();
  });

  test.each([FORM, JSON_BODY])(
    'has no more rights at the routes of programs than without the cookies: %s',
    async (...body) => {
      const cookie = owner.visitor.cookie ?? '';
      const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' };
      const programs = writes().filter(({ path }) => PROGRAMS.test(path));
      expect(programs.length).toBeGreaterThan(20);
      const differ: string[] = [];
      for (const { method, path } of programs) {
        const without = await send(method, path, headers, body);
        const having = await send(method, path, { ...headers, cookie }, body);
        // Where mail programs find their servers is the same for everybody.
        if (without.status === having.status && (having.status >= 400 || without.text === having.text)) continue;
        differ.push(`${method} ${path}: ${without.status}, ${having.status}`);
      }
      expect(differ).toEqual([]);
    },
  );

  test('leaves both sessions open', async () => {
    expect((await owner.visitor.get('/account')).status).toBe(200);
    expect((await owner.visitor.get('/mail')).status).toBe(200);
  });
});
