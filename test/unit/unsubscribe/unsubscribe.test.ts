import { randomBytes } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { journalOf, OPERATOR_VIEW } from '../../../mail/store/journal/journal.ts';
import { suppressedOf } from '../../../mail/delivery/destinations.ts';
import {
  addSuppression,
  listSuppressions,
  removeSuppression,
  suppress,
} from '../../../mail/store/queue/suppression.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import {
  readUnsubscribe,
  unsubscribeFields,
  unsubscribeKey,
  unsubscribeLink,
} from '../../../src/unsubscribe/commands.ts';
import { unsubscribeRoutes } from '../../../src/portal/unsubscribe-routes.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const FAR = '192.0.2.7';
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const audited = query('test-audited', (rx) =>
  rx.all<{ operation: string; target: string; ip: string }>(
    `SELECT operation, target, ip FROM audit WHERE operation LIKE '%subscribe' ORDER BY id`,
  ),
);

const put = command(
  'test-suppress',
  (tx, input: { tenant: number; key: string; reason: 'manual' | 'complaint' | 'hard_bounce'; source: string }, stamp) =>
    suppress(tx, input, stamp),
);

let box: TestWorld;
let app: FastifyInstance;
let path: string;

beforeEach(async () => {
  box = await testWorld({}, [put]);
  app = Fastify();
  await app.register(async (inner) => unsubscribeRoutes(box.world)(inner));
  path = linkTo('Joe@x.example');
});
afterEach(async () => {
  await app.close();
  await box[Symbol.asyncDispose]();
});

function linkTo(recipient: string, organization = 1): string {
  const subscription = { organization, recipient, trace: 'message' };
  return new URL(unsubscribeLink('https://box.test', unsubscribeKey(box.world.secrets), subscription)).pathname;
}
const get = (url: string) => app.inject({ url, remoteAddress: FAR });
const post = (payload: string, url = path, type = 'application/x-www-form-urlencoded') =>
  app.inject({ method: 'POST', url, remoteAddress: FAR, headers: { 'content-type': type }, payload });
const list = async () =>
  (await box.world.store.read(listSuppressions, { tenant: 1, after: '', limit: 10 })).map(
    ({ key, reason, trace }) => `${key} ${reason} ${trace}`,
  );
const MULTIPART = `--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n`;

describe('the link', () => {
  const key = randomBytes(32);
  const subscription = { organization: 7, recipient: 'j\u00f6e@x.example', trace: 'abc' };
  const token = unsubscribeLink('https://box.test', key, subscription).split('/').at(-1) ?? '';

  test('says who, and cannot be made or changed by others', () => {
    expect(readUnsubscribe(key, token)).toEqual(subscription);
    const other = Buffer.from(JSON.stringify([8, 'victim@x.example', 'abc'])).toString('base64url');
    for (const wrong of ['', 'x', `${other}.${token.split('.')[1]}`, `${token}a`, token.slice(1), 'a'.repeat(5000)]) {
      expect(readUnsubscribe(key, wrong)).toBeUndefined();
    }
    expect(readUnsubscribe(randomBytes(32), token)).toBeUndefined();
  });

  test('stands in the two fields of RFC 8058', () => {
    expect(unsubscribeFields('https://box.test/u/x')).toEqual([
      ['List-Unsubscribe', '<https://box.test/u/x>'],
      ['List-Unsubscribe-Post', ONE_CLICK],
    ]);
  });
});

describe('opening it', () => {
  test('changes nothing, and shows who and from whom with one button', async () => {
    const said = await get(path);
    expect(said.statusCode).toBe(200);
    expect(said.body.replace('<wbr />', '')).toContain('<strong>Joe@x.example</strong>');
    expect(said.body).toContain('<strong>Local</strong>');
    expect(said.body.match(/<button/g)).toHaveLength(1);
    expect(said.headers['referrer-policy']).toBe('no-referrer');
    expect(said.headers['x-robots-tag']).toBe('noindex');
    expect(await list()).toEqual([]);
  });

  test('an address in it is shown as text', async () => {
    expect((await get(linkTo('"<img src=x>"@x.example'))).body).not.toContain('<img');
  });
});

describe('one click', () => {
  test.each([
    ['a form', ONE_CLICK, 'application/x-www-form-urlencoded'],
    ['a form in parts', MULTIPART, 'multipart/form-data; boundary=b'],
  ])('as %s suppresses at once, once, with its story and its row in the log', async (_, body, type) => {
    for (let time = 0; time < 3; time++) {
      const said = await post(body, path, type);
      expect([said.statusCode, said.headers['set-cookie']]).toEqual([200, undefined]);
      expect(said.body).toContain('Unsubscribed');
    }
    expect(await list()).toEqual(['joe@x.example unsubscribe message']);
    expect(await box.world.store.read(audited, undefined)).toEqual([
      { operation: 'unsubscribe', target: 'joe@x.example', ip: FAR },
    ]);
    const story = await box.world.store.read(journalOf, { ...OPERATOR_VIEW, trace: 'message' });
    expect(story.map((line) => line.event)).toEqual(['listed']);
    expect((await get(path)).body).toContain('Unsubscribed');
  });

  test('can be taken back on the page, by who has the link', async () => {
    await post(ONE_CLICK);
    expect((await post('undo=1')).body).not.toContain('Unsubscribed');
    expect(await list()).toEqual([]);
    await post('undo=1');
    const rows = await box.world.store.read(audited, undefined);
    expect(rows.map((row) => row.operation)).toEqual(['unsubscribe', 'resubscribe']);
  });

  test.each(['manual', 'complaint', 'hard_bounce'] as const)(
    'counts also where the address is listed as %s, and taking it back leaves that',
    async (reason) => {
      const listed = { tenant: 1, key: 'joe@x.example', reason, source: 'tok_1' };
      await box.world.store.write(put, listed);
      expect((await get(path)).body).not.toContain('Unsubscribed');
      expect((await post(ONE_CLICK)).body).toContain('Unsubscribed');
      expect((await get(path)).body).toContain('Unsubscribed');
      expect(await list()).toEqual(['joe@x.example unsubscribe message']);
      await box.world.store.write(put, listed);
      expect((await post('undo=1')).body).not.toContain('Unsubscribed');
      expect(await list()).toEqual([`joe@x.example ${reason} `]);
      await post('undo=1');
      const rows = await box.world.store.read(audited, undefined);
      expect(rows.map((row) => row.operation)).toEqual(['unsubscribe', 'resubscribe']);
    },
  );

  test('that the owner lists later is still the wish that is shown, and what is lifted is both', async () => {
    await post(ONE_CLICK);
    const who = { tenant: 1, key: 'joe@x.example' };
    await box.world.store.write(addSuppression, { ...who, source: 'tok_1' });
    expect(await list()).toEqual(['joe@x.example unsubscribe message']);
    expect(await box.world.store.write(removeSuppression, who)).toEqual({ kind: 'removed' });
    expect(await box.world.store.write(removeSuppression, who)).toEqual({ kind: 'missing' });
    expect([await list(), (await get(path)).body.includes('Unsubscribed')]).toEqual([[], false]);
  });

  test('keeps the programs of that organization away, and of no other', async () => {
    await post(ONE_CLICK);
    const queried = { keys: ['joe@x.example', 'ann@x.example'] };
    expect(await box.world.store.read(suppressedOf, { tenant: 1, ...queried })).toMatchObject([
      { key: 'joe@x.example', reason: 'unsubscribe' },
    ]);
    expect(await box.world.store.read(suppressedOf, { tenant: 2, ...queried })).toEqual([]);
  });

  test.each(['', 'List-Unsubscribe=Maybe', 'x=List-Unsubscribe=One-Click', 'undo=1&x=2', '{"undo":1}'])(
    'what is none (%s) does nothing',
    async (body) => {
      expect((await post(body)).statusCode).toBe(400);
      expect(await list()).toEqual([]);
    },
  );

  test('a link of nobody, of another box, or of an organization that is gone opens nothing', async () => {
    for (const url of ['/unsubscribe/', '/unsubscribe/x.y', path.slice(0, -1), linkTo('joe@x.example', 99)]) {
      expect((await post(ONE_CLICK, url)).statusCode).toBe(404);
      expect((await get(url)).statusCode).toBe(404);
    }
    expect(await list()).toEqual([]);
  });

  test('a large body is not read', async () => {
    expect((await post(`${ONE_CLICK}&${'x'.repeat(5000)}`)).statusCode).toBe(413);
  });

  test('600 a minute from one network, then wait', async () => {
    const codes = new Set<number>();
    for (let n = 0; n <= 600; n++) codes.add((await get('/unsubscribe/x')).statusCode);
    expect([...codes]).toEqual([404, 429]);
    expect((await post(ONE_CLICK)).headers['retry-after']).toBe('60');
  });
});
