import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpLimits } from '../../../src/http/rate-limits.ts';
import { bootstrapAccount, createOwnOrganization } from '../../../src/operations/accounts/bootstrap-tools.ts';
import { anonymousCaller } from '../../../src/core/caller.ts';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { rowsOf } from '../../support/rows.ts';
import { type TestWorld, testWorld } from '../../support/world.ts';
import { testGuard } from '../../support/guard.ts';

const HOUR = 3_600_000;
let test_: TestWorld;
let made = 0;
beforeEach(async () => {
  test_ = await testWorld();
});
afterEach(() => test_[Symbol.asyncDispose]());

function overRest(ip: string, email = `owner${++made}@people.test`): Promise<OperationOutcome> {
  const args = { ownerEmail: email, organizationName: `Nr ${++made}` };
  return perform(test_.world, bootstrapAccount, anonymousCaller('rest', ip), args);
}

function overMcp(ip: string): Promise<OperationOutcome> {
  const args = { organizationName: `Nr ${++made}` };
  return perform(test_.world, createOwnOrganization, anonymousCaller('mcp', ip), args);
}

const passed = (all: readonly OperationOutcome[]): number => all.filter((one) => one.kind === 'done').length;

describe('ten an hour of one address, by both ways', () => {
  test('in any order exactly ten of six and five', async () => {
    for (let order = 0; order < 200; order++) {
      const ip = `198.18.${order}.7`;
      // The orders of six and five are numbered; each number is another one.
      const ways = Array.from({ length: 11 }, (_, i) => (i * (order + 1)) % 11 < 6);
      const all: OperationOutcome[] = [];
      for (const rest of ways) all.push(await (rest ? overRest(ip) : overMcp(ip)));
      expect(passed(all)).toBe(10);
      expect(all.at(-1)).toMatchObject({ refusal: { error: 'rate_limited', scope: 'ip' } });
      if (order % 40 === 39) test_.store.clock.now += 25 * HOUR;
    }
  });

  test('of a hundred at once exactly ten, and the eleventh is informed when', async () => {
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? overRest : overMcp)('198.18.0.1')),
    );
    expect(passed(all)).toBe(10);
    const refused = all.find((one) => one.kind === 'refused');
    expect(refused).toMatchObject({ refusal: { error: 'rate_limited', scope: 'ip' } });
    const wait = Number(refused?.kind === 'refused' && refused.refusal['retryAfterSeconds']);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(3600);
  });

  test('the hour rolls', async () => {
    for (let i = 0; i < 10; i++) {
      expect((await overMcp('198.18.0.1')).kind).toBe('done');
      test_.store.clock.now += 60_000;
    }
    expect((await overMcp('198.18.0.1')).kind).toBe('refused');
    test_.store.clock.now += HOUR - 10 * 60_000;
    expect((await overMcp('198.18.0.1')).kind).toBe('done');
    expect((await overMcp('198.18.0.1')).kind).toBe('refused');
  });

  test('survives a restart', async () => {
    for (let i = 0; i < 10; i++) await overMcp('198.18.0.1');
    const store = await test_.store.reopen();
    test_.world = { ...test_.world, store };
    expect((await overMcp('198.18.0.1')).kind).toBe('refused');
  });

  test('an IPv6 network of 64 bits is one address', async () => {
    const all: OperationOutcome[] = [];
    for (let i = 0; i < 12; i++) all.push(await overMcp(`2001:db8:0:1::${i + 1}`));
    expect(passed(all)).toBe(10);
    expect((await overMcp('2001:db8:0:2::1')).kind).toBe('done');
  });

  test('what is refused for another reason is not counted', async () => {
    await overRest('198.18.0.2', 'one@people.test');
    for (let i = 0; i < 20; i++) expect((await overRest('198.18.0.1', 'one@people.test')).kind).toBe('refused');
    const all: OperationOutcome[] = [];
    for (let i = 0; i < 11; i++) all.push(await overMcp('198.18.0.1'));
    expect(passed(all)).toBe(10);
  });
});

describe('one a day of one mail address', () => {
  test.each([
    ['case', 'ANNA@People.Test'],
    ['a trailing dot', 'anna@people.test.'],
    ['spaces around it', ' anna@people.test '],
  ])('also with another %s', async (_name, variant) => {
    expect((await overRest('198.18.0.1', 'anna@people.test')).kind).toBe('done');
    const said = await overRest('198.18.0.2', variant);
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'rate_limited', scope: 'email' } });
    test_.store.clock.now += 24 * HOUR;
    expect((await overRest('198.18.0.2', variant)).kind).toBe('done');
  });

  test('U-labels and A-labels are one domain', async () => {
    expect((await overRest('198.18.0.1', 'anna@bücher.example')).kind).toBe('done');
    expect((await overRest('198.18.0.2', 'anna@xn--bcher-kva.example')).kind).toBe('refused');
  });

  test('of fifty at once exactly one', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => overRest(`198.18.1.${i}`, 'anna@people.test')));
    expect(passed(all)).toBe(1);
  });

  test('tags are addresses of their own, and one base gets five claim mails a day', async () => {
    const sent: unknown[] = [];
    for (let i = 0; i < 7; i++) {
      const said = await overRest(`198.18.1.${i}`, `anna+${i}@people.test`);
      sent.push(said.kind === 'done' && said.result['emailSent']);
    }
    expect(sent).toEqual([true, true, true, true, true, false, false]);
  });

  test('nothing in an answer shows whether the address owns something already', async () => {
    const first = await overRest('198.18.0.1', 'anna@people.test');
    test_.store.clock.now += 25 * HOUR;
    const second = await overRest('198.18.0.2', 'anna@people.test');
    const shape = (said: OperationOutcome): unknown =>
      said.kind === 'done' && Object.entries(said.result).map(([name, value]) => [name, typeof value, value === true]);
    expect(shape(second)).toEqual(shape(first));
    expect(JSON.stringify(second)).not.toMatch(/exist|already/);
  });
});

describe('what is kept of who asked', () => {
  test('goes after a day', async () => {
    for (let i = 0; i < 60; i++) await overRest(`198.18.2.${i}`);
    test_.store.clock.now += 25 * HOUR;
    for (let i = 0; i < 4; i++) await overRest(`198.18.3.${i}`);
    const left = (await rowsOf(test_.world.store)).get('rate_limit_hit') ?? expect.fail('no rows');
    expect(left.filter((row) => row.includes(`"at":${test_.store.clock.now}`)).length).toBe(left.length);
  });

  test('names nobody by their address', async () => {
    await overRest('198.18.0.1', 'anna@people.test');
    expect((await rowsOf(test_.world.store)).get('rate_limit_hit')?.join()).not.toMatch(/anna|people/);
  });

  test('counts a network of 64 bits once at the HTTP endpoints', () => {
    const limits = new HttpLimits(() => false, testGuard());
    const waits = Array.from({ length: 101 }, (_, i) => limits.take(`2001:db8::${i.toString(16)}`, undefined, 0));
    expect(waits.filter((wait) => wait > 0)).toEqual([60]);
  });
});
