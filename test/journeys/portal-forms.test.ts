import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from '../../src/portal/pages/index.ts';
import type { Box } from '../support/box.ts';
import { http, tool } from '../support/mcp.ts';
import { leads, type Owned, ownedOrganization, portalBox, Visitor } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
});
afterAll(() => box[Symbol.asyncDispose]());

describe('forms of other sites', () => {
  const rename = { do: 'rename', name: 'Stolen' };
  const name = async () => (await tool(base, 'get_organization', {}, acme.token)).text;

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbor', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { 'sec-fetch-site': '', origin: 'https://evil.test' }],
    ['no origin', { 'sec-fetch-site': '', origin: 'null' }],
    ['text/plain', { 'content-type': 'text/plain' }],
    ['JSON', { 'content-type': 'application/json' }],
    ['a tab before the type', { 'content-type': '\tapplication/json' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
  ])('%s changes nothing', async (_name, headers) => {
    const form = await acme.owner.formToken(`${acme.path}/settings`);
    const before = await name();
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const visitor = new Visitor(base);
    visitor.cookie = acme.owner.cookie;
    const said = await raw(visitor, `${acme.path}/settings`, { ...rename, form }, sent, 'sec-fetch-site' in headers);
    expect(said.status).toBeGreaterThanOrEqual(400);
    expect(await name()).toBe(before);
  });

  /** Sends exactly these headers. */
  function raw(
    { cookie = '' }: Visitor,
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string>,
    bare: boolean,
  ) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const site: Record<string, string> = bare ? {} : { 'sec-fetch-site': 'same-origin' };
    const all = { cookie, ...type, ...site, ...headers };
    return http('POST', `${base}${path}`, all, new URLSearchParams(fields).toString());
  }

  test('a form without its token, or with one of another session, changes nothing', async () => {
    const before = await name();
    const theirs = await other.owner.formToken(`${other.path}/settings`);
    for (const form of ['', 'x', theirs]) {
      expect((await acme.owner.post(`${acme.path}/settings`, { ...rename, form })).status).toBe(403);
    }
    expect(await name()).toBe(before);
    const good = await acme.owner.act(`${acme.path}/settings`, 'rename', { name: 'Acme' });
    expect(leads(good)).toBe(`303 ${acme.path}/settings?done=renamed`);
  });

  test('a cookie opens no API', async () => {
    const headers = { cookie: acme.owner.cookie ?? '', 'content-type': 'application/json' };
    expect((await http('POST', `${base}/api/tools/list_members`, headers, '{}')).status).toBe(401);
    expect((await http('GET', `${base}/api/email/domains`, headers)).status).toBe(401);
  });
});

describe('every form', () => {
  const NAMES = `name email role domain localPart domainId displayName password confirm url alias serviceId mailboxIds
    userId tokenId keyId queueId forwarderId appPasswordId actions sourceAddress destinationAddress keepLocalCopy scopes
    readOnly expiresAt projectId allowedDomains revision address organization current session
    route`.split(/\s+/);
  const VALUES: readonly (string | string[])[] = [
    '',
    'x'.repeat(1_000),
    'a\0b\r\nBcc: x@y.test\u2028',
    '__proto__',
    ['one', 'two'],
    '\ud800',
    '-1e999',
    "' OR 1=1 --",
  ];

  /** They need nothing that could be wrong, and show a secret once: 200. */
  const ANSWERS: ReadonlySet<string> = new Set(['reveal', 'rotate', 'device']);
  /** Shows each row of a file with the reason why it is refused: 200. */
  const IMPORT = '/mailboxes/import';

  test('takes nonsense as nonsense: nothing fails and nothing happens', async () => {
    const { owner, path, token } = await ownedOrganization(base, 'Nonsense', 'nonsense@example.test');
    await tool(base, 'add_email_domain', { domain: 'nonsense.test' }, token);
    const made = await tool(base, 'provision_email', { domain: 'nonsense.test', localPart: 'a' }, token);
    const ids = {
      domains: 'dom_99',
      services: 'svc_99',
      queue: 'que_99',
      mailboxes: (made.body['mailbox'] as { id: string }).id,
    };
    const form = await owner.formToken('/account');
    const seen = new Set<number>();
    for (const page of PAGES) {
      const [, list = ''] = page.path.split('/');
      const at = `${path}${page.path.replace(':id', ids[list as keyof typeof ids] ?? '')}`;
      for (const act of [...Object.keys(page.actions), '__proto__', 'constructor', '']) {
        for (const value of VALUES.slice(0, ANSWERS.has(act) ? 0 : undefined)) {
          const fields = Object.fromEntries(NAMES.map((name) => [name, value]));
          const said = await owner.post(at, { ...fields, do: act, form });
          expect([at, act, value, said.status < 500]).toEqual([at, act, value, true]);
          if (page.path !== IMPORT) seen.add(said.status);
        }
      }
    }
    for (const at of [
      '/login',
      '/auth/setup',
      '/auth/reset',
      '/auth/invite',
      '/auth/sign-in',
      '/auth/prove',
      '/account',
    ]) {
      for (const value of VALUES) {
        const fields = { token: value, email: value, password: value, displayName: value, next: value, do: value };
        expect([at, value, (await owner.post(at, { ...fields, form })).status < 500]).toEqual([at, value, true]);
      }
    }
    expect([...seen].toSorted((a, b) => a - b)).toEqual([303, 404, 422]);
    expect(box.log.filter((line) => /page failed|operation failed/.test(line.msg))).toEqual([]);
  });
});
