import { describe, expect, test } from 'vitest';
import { readPolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { PRESET_POLICIES, PRESETS } from '../../../mail/agents/policy/presets.ts';
import { covers, strictest } from '../../../mail/agents/policy/strictest.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '../../../mail/agents/gate/types.ts';
import { Random } from '../../support/random.ts';

const policy = (over: Partial<AgentPolicy>): AgentPolicy => ({ ...DEFAULT_POLICY, ...over });
const allowed = (...allow: string[]): AgentPolicy => policy({ sends: 'allowed', allow });

describe('several policies at once', () => {
  test('are what each allows: none is what holds everywhere, one is itself', () => {
    expect(strictest([])).toEqual(DEFAULT_POLICY);
    const one = policy({ block: ['x.example'] });
    expect(strictest([one])).toBe(one);
  });

  test.each([
    ['anybody', 'replies', 'replies'],
    ['anybody', 'allowed', 'allowed'],
    ['replies', 'allowed', 'nobody'],
    ['nobody', 'anybody', 'nobody'],
  ] as const)('%s and %s leave %s', (one, other, left) => {
    for (const pair of [[one, other] as const, [other, one] as const]) {
      expect(strictest(pair.map((sends) => policy({ sends }))).sends).toBe(left);
    }
  });

  test('the narrower entry of two lists stays, what only one names goes', () => {
    const both = strictest([allowed('shop.example', 'a@else.example'), allowed('ann@shop.example', 'b@else.example')]);
    expect(both.allow).toEqual(['ann@shop.example']);
  });

  test('a list that bounds is not widened by one that only spares, and is not emptied by a policy without', () => {
    expect(strictest([policy({}), allowed('shop.example')]).allow).toEqual(['shop.example']);
    expect(strictest([policy({ allow: ['other.example'] }), allowed('shop.example')]).allow).toEqual(['shop.example']);
    expect(strictest([policy({ allow: ['shop.example'] }), policy({})]).allow).toEqual([]);
  });

  test('blocked by one is blocked; what waits under one waits; of budgets the smaller holds', () => {
    const budgets = { ...DEFAULT_POLICY.budgets, messagesPerDay: 10, bytesPerDay: 5 };
    const other = { ...DEFAULT_POLICY.budgets, messagesPerDay: 3, messagesPerHour: 1 };
    const both = strictest([
      policy({ block: ['a.example'], holdAfterReading: false, budgets }),
      policy({ block: ['b.example'], rulesWait: true, budgets: other }),
    ]);
    expect(both).toMatchObject({ block: ['a.example', 'b.example'], holdAfterReading: true, rulesWait: true });
    expect(both.budgets).toEqual({ ...DEFAULT_POLICY.budgets, messagesPerDay: 3, messagesPerHour: 1, bytesPerDay: 5 });
  });
});

test('an address is covered by itself and by its domain, never by what only ends alike', () => {
  expect(covers('shop.example', 'ann@shop.example')).toBe(true);
  expect(covers('shop.example', 'ann@myshop.example')).toBe(false);
  expect(covers('ann@shop.example', 'shop.example')).toBe(false);
  expect(covers('shop.example', 'ann@sub.shop.example')).toBe(false);
});

describe('whoever may be written to', () => {
  const PEOPLE = ['ann@shop.example', 'bob@shop.example', 'eve@else.example'];
  const ENTRIES = [...PEOPLE, 'shop.example', 'else.example'];

  const mayWrite = ({ sends, allow, block }: AgentPolicy, to: string): boolean =>
    !block.some((one) => covers(one, to)) &&
    (sends === 'anybody' || (sends === 'allowed' && allow.some((one) => covers(one, to))));

  test('by the strictest may be by each; drawn at random', () => {
    const random = new Random(4);
    const drawn = (): AgentPolicy =>
      policy({
        sends: random.one(['anybody', 'replies', 'allowed', 'nobody'] as const),
        allow: random.some(ENTRIES, 0.4),
        block: random.some(ENTRIES, 0.4).slice(0, 1),
      });
    let may = 0;
    for (let round = 0; round < 3_000; round++) {
      const all = [drawn(), drawn(), drawn()].slice(0, 2 + (round % 2));
      const whole = strictest(all);
      for (const to of PEOPLE) {
        if (!mayWrite(whole, to)) continue;
        may++;
        expect(
          all.every((one) => mayWrite(one, to)),
          JSON.stringify([all, whole, to]),
        ).toBe(true);
      }
    }
    expect(may).toBeGreaterThan(100);
  });
});

describe('a preset', () => {
  test.each(PRESETS)('%s makes rules wait, and holds after reading', (name) => {
    expect(PRESET_POLICIES[name]).toMatchObject({ rulesWait: true, holdAfterReading: true });
  });

  test('is read again as it was written; what is new since is as where nobody chose', () => {
    for (const name of PRESETS) {
      expect(readPolicy(JSON.stringify(PRESET_POLICIES[name]))).toEqual(PRESET_POLICIES[name]);
    }
    expect(readPolicy('{"sends":"replies","budgets":{"bytesPerDay":3}}')).toEqual({
      ...DEFAULT_POLICY,
      sends: 'replies',
      budgets: { ...DEFAULT_POLICY.budgets, bytesPerDay: 3 },
    });
  });
});
