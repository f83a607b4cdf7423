import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { portalRoutes } from '../../../src/portal/routes.ts';
import { claimedAt, PEOPLE_TEST_COMMANDS, unclaimed, type Unclaimed } from '../../support/people.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const FAR = '192.0.2.7';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

let box: TestWorld;
let app: FastifyInstance;
let acme: Unclaimed;

beforeEach(async () => {
  box = await testWorld({}, PEOPLE_TEST_COMMANDS);
  acme = await unclaimed(box.world.store, 'owner@x.test');
  app = Fastify();
  await app.register(portalRoutes(box.world));
});
afterEach(async () => {
  await app.close();
  await box[Symbol.asyncDispose]();
});

const get = (url: string, remoteAddress: string) => app.inject({ url, remoteAddress });
const post = (url: string, fields: Record<string, string>, remoteAddress: string) =>
  app.inject({ method: 'POST', url, remoteAddress, headers: FORM, payload: new URLSearchParams(fields).toString() });

describe('from afar without TLS', () => {
  test.each(['/login', '/auth/setup?token=x', '/auth/reset', '/auth/invite?token=x'])(
    '%s takes no password, and says where it does',
    async (path) => {
      const said = await get(path, FAR);
      expect([said.statusCode, said.body]).toEqual([403, expect.stringContaining('Connection not encrypted')]);
      expect((await get(path, '127.0.0.1')).body).not.toContain('not encrypted');
    },
  );

  test('nothing is claimed by a page and nobody is signed in', async () => {
    const fields = { token: acme.returned.secret, password: 'a calculus of logic' };
    const said = await post('/auth/setup', fields, FAR);
    expect([said.statusCode, said.cookies]).toEqual([403, []]);
    expect(await box.world.store.read(claimedAt, { id: acme.id })).toBeNull();
    expect((await post('/login', { email: 'a@x.test', password: 'x' }, FAR)).statusCode).toBe(403);
  });

  test('a program may claim, as its operator may have ended TLS before; it gets no session', async () => {
    const payload = { token: acme.returned.secret, password: 'a calculus of logic' };
    const claim = (remoteAddress: string) =>
      app.inject({ method: 'POST', url: '/api/auth/claim', remoteAddress, payload });
    const said = await claim(FAR);
    expect([said.statusCode, said.cookies]).toEqual([200, []]);
  });
});

test('a flood of forms is asked to wait, and who reads goes on', async () => {
  const codes = new Set<number>();
  for (let i = 0; i < 101; i++) codes.add((await post('/auth/reset', { email: '' }, FAR)).statusCode);
  expect([...codes]).toEqual([403, 429]);
  const said = await post('/auth/reset', { email: '' }, FAR);
  expect([said.headers['retry-after'], said.body]).toEqual(['60', expect.stringContaining('Too many requests')]);
  expect((await get('/', FAR)).statusCode).toBe(200);
  expect((await post('/auth/reset', { email: '' }, '198.51.100.1')).statusCode).toBe(403);
});

test('a form that is larger than any of ours is not read', async () => {
  const said = await post('/login', { email: 'x'.repeat(70_000) }, '127.0.0.1');
  expect([said.statusCode, said.headers['content-type']]).toEqual([413, 'text/html; charset=utf-8']);
});

test('a failure of ours is logged, and says nothing of itself', async () => {
  const errors: unknown[] = [];
  const log = { ...box.world.log, error: (fields: unknown) => void errors.push(fields) };
  const broken = Fastify();
  const store = Object.create(box.world.store) as typeof box.world.store;
  store.read = () => Promise.reject(new Error('the disk is gone'));
  await broken.register(portalRoutes({ ...box.world, log, store }));
  const said = await broken.inject({ url: `/auth/setup?token=${acme.mailed.secret}` });
  expect([said.statusCode, said.body.includes('disk'), said.body.includes(acme.mailed.secret)]).toEqual([
    500,
    false,
    false,
  ]);
  expect(errors).toHaveLength(1);
  expect(JSON.stringify(errors)).not.toContain(acme.mailed.secret);
  await broken.close();
});
