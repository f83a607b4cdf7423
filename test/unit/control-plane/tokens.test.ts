import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorCaller } from '../../../src/core/caller.ts';
import { authenticateToken } from '../../../src/tokens/authenticate.ts';
import { makeApiKey, makeToken, secretHash, shownPart } from '../../../src/core/token.ts';
import { rowsOf } from '../../support/rows.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

describe('ten thousand tokens', () => {
  const tokens = Array.from({ length: 10_000 }, () => makeToken('mst'));

  test('have the form, and none is there twice', () => {
    expect(tokens.filter((one) => !/^mst_[0-9a-f]{48}$/.test(one))).toEqual([]);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(
      Array.from({ length: 1_000 }, () => makeApiKey('mst')).every((one) => /^mst_ek_[0-9a-f]{48}$/.test(one)),
    ).toBe(true);
  });

  test('have every digit at every place as often as any other', () => {
    // Chi-square of 15 degrees: beyond 60 in one of 48 places is less likely than one in 50,000.
    const expected = tokens.length / 16;
    const worst = Array.from({ length: 48 }, (_, place) => {
      const counts = new Map<string, number>();
      for (const one of tokens) counts.set(one[4 + place] ?? '', (counts.get(one[4 + place] ?? '') ?? 0) + 1);
      expect(counts.size).toBe(16);
      return [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    });
    expect(Math.max(...worst)).toBeLessThan(60);
  });

  test('show only how they begin', () => {
    const [one = ''] = tokens;
    expect(shownPart(one)).toBe(one.slice(0, 10));
    expect(shownPart(makeApiKey('mst'))).toMatch(/^mst_ek_[0-9a-f]{4}$/);
    expect(shownPart(makeToken('a-long-prefix'))).toMatch(/^a-long-prefix_[0-9a-f]{4}$/);
    expect(secretHash(one)).toHaveLength(32);
  });
});

describe('a token', () => {
  let tenants: Tenants;
  beforeAll(async () => {
    tenants = await twoTenants();
  });
  afterAll(() => tenants[Symbol.asyncDispose]());
  const holds = async (secret: string): Promise<string> =>
    (await authenticateToken(tenants.world, `Bearer ${secret}`, 'rest', '127.0.0.1')).kind;
  const create = async (args: object): Promise<{ secret: string; id: string }> => {
    const said = await tenants.do('create_agent_token', { name: 'one', actions: ['read'], ...args });
    return { secret: String(said['secret']), id: (said['token'] as { id: string }).id };
  };

  test('is in the store as its hash only', async () => {
    const { secret } = await create({});
    const all = [...(await rowsOf(tenants.world.store)).values()].flat().join('\n');
    expect(all).toContain(secretHash(secret).toString('hex'));
    expect(all).not.toContain(secret.slice(4, 16));
  });

  test('ends when it is revoked, when its time is over, and with its organization', async () => {
    const revoked = await create({});
    const timed = await create({ expiresAt: new Date(tenants.clock.now + 60_000).toISOString() });
    const frozen = await create({});
    expect(await Promise.all([revoked, timed, frozen].map((one) => holds(one.secret)))).toEqual(
      Array(3).fill('caller'),
    );
    await tenants.do('revoke_agent_token', { tokenId: revoked.id });
    expect(await holds(revoked.secret)).toBe('refused');
    tenants.clock.now += 60_000;
    expect(await holds(timed.secret)).toBe('refused');
    const target = { targetOrganizationId: tenants.a.main.organizationId };
    await tenants.do('freeze_organization', target, operatorCaller());
    expect(await holds(frozen.secret)).toBe('refused');
    await tenants.do('unfreeze_organization', target, operatorCaller());
    expect(await holds(frozen.secret)).toBe('caller');
    expect(await holds(revoked.secret)).toBe('refused');
  });

  test('that made another one does not outlive it by it', async () => {
    const end = new Date(tenants.clock.now + 60_000).toISOString();
    const by = await tenants.caller({ actions: ['read', 'manage'], expiresAt: end });
    const made = await tenants.caller({ actions: ['read'], expiresAt: '2099-01-01T00:00:00Z' }, by);
    expect(made.token?.expiresAt).toBe(Date.parse(end));
    expect((await tenants.caller({ actions: ['read'] }, by)).token?.expiresAt).toBe(Date.parse(end));
  });
});
