import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import type { Box } from '../support/box.ts';
import { http, organizationBox, tool, type Said } from '../support/mcp.ts';

type Json = Record<string, unknown>;

let box: Box;
let base: string;
let token: string;
let key: string;
let document: { paths: Record<string, Record<string, Json>>; components: { securitySchemes: Json } };

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Forms'));
  await tool(base, 'add_email_domain', { domain: 'forms.test' }, token);
  await tool(base, 'verify_email_domain', { domain: 'forms.test' }, token);
  key = String((await tool(base, 'create_email_api_key', { name: 'app' }, token)).body['secret']);
  document = (await http('GET', `${base}/openapi.json`)).json as typeof document;
});
afterAll(() => box[Symbol.asyncDispose]());

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const asToken = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });
const asKey = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const example = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x_1');
/** Methods by path; several documented paths may fit one, as /a/{id} and /a/all fit /a/all. */
function routes(): [string, string[]][] {
  const methods = (one: Record<string, Json>) => Object.keys(one).filter((name) => METHODS.includes(name));
  const all = Object.entries(document.paths).map(([path, one]) => [path, methods(one)] as const);
  const fits = (path: string, at: string): boolean =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(example(at));
  return all.map(([at]) => [example(at), all.flatMap(([path, one]) => (fits(path, at) ? one : []))]);
}

describe('the REST interface', () => {
  test('answers 405 with Allow where only another method is there, on every path', async () => {
    let wrong = 0;
    for (const [path, known] of routes()) {
      for (const method of METHODS.filter((one) => !known.includes(one))) {
        wrong++;
        const said = await http(method.toUpperCase(), `${base}${path}`, asToken());
        const allow = String(said.headers['allow']).toLowerCase().split(', ');
        expect([path, method, said.status, said.json?.['error']]).toEqual([path, method, 405, 'method_not_allowed']);
        expect(allow, path).toEqual(expect.arrayContaining(known));
      }
    }
    expect(wrong).toBeGreaterThan(500);
    for (const one of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      expect(Object.keys(one['responses'] as Json)).toEqual(expect.arrayContaining(['405', '415']));
    }
  });

  test('takes no JSON that is not an object for arguments', async () => {
    const written = CATALOGUE.filter(({ rest }) => rest?.method === 'POST' || rest?.method === 'PUT');
    const paths = written.map(
      ({ rest }) => [rest?.method ?? '', rest?.path.replaceAll(/\/:\w+/g, '/x_1') ?? ''] as const,
    );
    const byName = CATALOGUE.map(({ name }) => ['POST', `/api/tools/${name}`] as const);
    expect(paths.length).toBeGreaterThan(15);
    for (const [method, path] of [...paths, ...byName]) {
      for (const body of ['null', '[]', '[{}]', '"text"', '1', 'false']) {
        const said = await http(method, `${base}${path.replace('::', ':')}`, asToken(), body);
        expect([path, body, said.status, said.json?.['error']]).toEqual([path, body, 400, 'invalid_arguments']);
      }
    }
  });

  test('says which key a route needs', () => {
    expect(document.components.securitySchemes).toHaveProperty('emailKey');
    for (const path of ['/api/email/send', '/api/email/send/batch', '/api/email/messages/{id}']) {
      for (const one of Object.values(document.paths[path] ?? {})) expect(one['security']).toEqual([{ emailKey: [] }]);
    }
    expect(document.paths['/api/tools/send_email']?.['post']).not.toHaveProperty('security');
  });

  test('has no length that its body cannot have', async () => {
    const schemas = (document as unknown as { components: { schemas: Json } }).components.schemas;
    const lengths = [...JSON.stringify(schemas).matchAll(/"maxLength":(\d+)/g)].map((found) => Number(found[1]));
    expect(Math.max(...lengths)).toBeLessThan(1_000_000);
    const text = 'x'.repeat(500_000);
    const mail = { from: 'a@forms.test', to: 'b@elsewhere.example', subject: 'Long', text, html: text, dryRun: true };
    const said = await tool(base, 'create_email_template', { name: 'long', subject: 'x', text, html: text }, token);
    expect(said.status).toBe(201);
    expect((await http('POST', `${base}/api/email/send`, asKey(), JSON.stringify(mail))).status).toBe(202);
  });

  test('answers a path that cannot be decoded like any other refusal', async () => {
    expect(await http('GET', `${base}/api/email/%zz`, asToken())).toMatchObject({
      status: 400,
      json: { error: 'invalid_arguments' },
    });
  });
});

describe('recipients', () => {
  const mail = { from: 'shop@forms.test', subject: 'Hello', text: 'Hello' };
  const send = (over: object): Promise<Said> =>
    http('POST', `${base}/api/email/send`, asKey(), JSON.stringify({ ...mail, ...over }));
  const many = Array.from({ length: 51 }, (_, i) => `a${i}@elsewhere.example`);

  test.each([
    [{}, 'to: is missing.'],
    [{ to: 7 }, 'to: Invalid input.'],
    [{ to: many }, 'to: has more than 50 addresses.'],
    [{ to: ['a@elsewhere.example', 'b@elsewhere.example', 'no address'] }, 'to.2: must be an address such as'],
    [{ to: '' }, 'to: must be an address such as'],
    [{ to: 'a@elsewhere.example', cc: 'no address' }, 'cc: must be an address such as'],
  ])('%j is refused with what is wrong with it', async (over, message) => {
    const said = await send(over);
    expect(said.status).toBe(400);
    expect(said.json?.['message']).toContain(message);
  });

  test('that are left empty count as none', async () => {
    for (const [i, empty] of ['', []].entries()) {
      const said = await send({ to: `e${i}@elsewhere.example`, cc: empty, bcc: empty, replyTo: empty });
      expect(said).toMatchObject({ status: 202, json: { envelope: { rcptTo: [`e${i}@elsewhere.example`] } } });
    }
    await tool(base, 'provision_email', { domain: 'forms.test', localPart: 'me' }, token);
    const args = { ...mail, from: 'me@forms.test', to: 'f@elsewhere.example', cc: '', bcc: '', replyTo: '' };
    expect((await tool(base, 'send_email', args, token)).body).toMatchObject({ status: 'queued' });
  });

  test('of a tool are refused with what is wrong too', async () => {
    const wrong = await tool(base, 'send_email', { ...mail, to: ['a@elsewhere.example', 'no'] }, token);
    expect(wrong.body['message']).toContain('send_email: to.1: must be an address such as');
    const none = await tool(base, 'send_email', mail, token);
    expect(none.body['message']).toBe('send_email: to: is missing.');
  });
});
