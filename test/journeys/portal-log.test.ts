import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { http } from '../support/mcp.ts';
import { operatorOf, OWNER_PASSWORD, type PortalBox, portalBox, Visitor } from '../support/visitor.ts';

let portal: PortalBox;
let operator: Visitor;

beforeAll(async () => {
  portal = await portalBox();
  operator = await operatorOf(portal.box);
});
afterAll(() => portal.box[Symbol.asyncDispose]());

/** Reads events until their text matches. */
async function eventsUntil(path: string, pattern: RegExp, begin: () => Promise<unknown>): Promise<string> {
  const stop = new AbortController();
  const response = await fetch(`${portal.base}${path}`, {
    headers: { cookie: operator.cookie ?? '' },
    signal: stop.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await begin();
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (pattern.test(text)) break;
  }
  stop.abort();
  return text;
}

const guess = (password: string): Promise<unknown> => new Visitor(portal.base).signIn('ada@example.test', password);

describe('the log of the server', () => {
  test('is shown to its operator, filtered, without secrets', async () => {
    await guess('not the password of ada');
    const { text } = await operator.get('/o/org_1/log');
    expect(text).toContain('sign-in');
    expect(text).not.toContain('not the password of ada');
    expect(text).not.toContain(OWNER_PASSWORD);
    expect((await operator.get('/o/org_1/log?level=error')).text).toContain('No lines');
    expect((await operator.get('/o/org_1/log?text=no+line+has+this')).text).toContain('No lines');
    expect((await operator.get('/o/org_1/log?text=%3Cscript%3Ealert(1)%3C%2Fscript%3E')).text).not.toContain(
      '<script>alert',
    );
  });

  test('arrives while it is written', async () => {
    const text = await eventsUntil('/o/org_1/log/events?text=sign-in', /event: lines\ndata: .*sign-in/, () =>
      guess('wrong'),
    );
    expect(text).toContain(String.raw`\"outcome\":\"wrong\"`);
  });

  test('is nobody else’s: not of owners of other organizations, nor of strangers', async () => {
    const { acme, base } = portal;
    for (const path of ['/log', '/log/events']) {
      expect((await acme.owner.get(`${acme.path}${path}`)).status).toBe(404);
      expect((await acme.owner.get(`/o/org_1${path}`)).status).toBe(404);
    }
    expect((await http('GET', `${base}/o/org_1/log/events`)).status).toBe(404);
  });

  test('is followed by five at once, and the sixth is refused', async () => {
    const stop = new AbortController();
    const headers = { cookie: operator.cookie ?? '' };
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => fetch(`${portal.base}/o/org_1/log/events`, { headers, signal: stop.signal })),
    );
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await operator.get('/o/org_1/log/events')).status).toBe(503);
    stop.abort();
    await expect
      .poll(async () => {
        const one = new AbortController();
        const { status } = await fetch(`${portal.base}/o/org_1/log/events`, { headers, signal: one.signal });
        one.abort();
        return status;
      })
      .toBe(200);
  });
});
