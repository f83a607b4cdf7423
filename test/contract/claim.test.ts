import { beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { MailStore } from '../../mail/store/store.ts';
import { freezeOrganization } from '../../src/organizations/commands.ts';
import type { ClaimResult } from '../../src/people/claim-commands.ts';
import { claimFacts } from '../../src/people/claim-commands.ts';
import { joinOrganization } from '../../src/people/invite-commands.ts';
import { changePassword, requestReset, resetPassword } from '../../src/people/password-commands.ts';
import { newSecret } from '../../src/people/secrets.ts';
import { spendSignIn } from '../../src/people/session-commands.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import {
  claimedAt,
  claimWith,
  DAY,
  letterTo,
  newPassword,
  people,
  PEOPLE_TEST_COMMANDS,
  plantLink,
  plantPerson,
  unclaimed,
} from '../support/people.ts';
import { testStore, type TestStore } from '../support/store.ts';

const MINUTE = 60_000;
const OWNER = 'owner@x.test';
const ATTACKER = 'attacker@x.test';
let box: TestStore;
let store: MailStore;

beforeEach(async () => {
  const parts = storeParts();
  box = await testStore({ ...parts, commands: [...parts.commands, ...PEOPLE_TEST_COMMANDS] });
  ({ store } = box);
});
afterEach(() => box[Symbol.asyncDispose]());

const person = (email: string, password: string | null, proven = true) =>
  store.write(plantPerson, { email, password, proven });
const looked = (hash: Uint8Array) => store.read(claimFacts, { hash, key: null, now: box.clock.now });
const rows = (key = OWNER) => store.read(people, { key });

describe('a claim link', () => {
  test.each([
    ['returned', false],
    ['mailed', true],
  ] as const)('the %s one claims; the address is proved: %s', async (which, proven) => {
    const made = await unclaimed(store, OWNER);
    expect(await claimWith(store, made[which].hash, newPassword('P'))).toEqual({
      kind: 'claimed',
      organization: made.id,
      user: made.user,
      addressProven: proven,
    });
    expect(await rows()).toEqual([{ id: made.user, password: 'P', proven, organizations: `${made.id} owner` }]);
    expect(await store.read(claimedAt, { id: made.id })).toBe(box.clock.now);
  });

  test('lives 14 days: good after 13 d 23 h, too old after 14 d 1 min', async () => {
    const made = await unclaimed(store, OWNER);
    const began = box.clock.now;
    box.clock.now = began + 14 * DAY - 60 * MINUTE;
    expect((await looked(made.returned.hash)).kind).toBe('claim');
    box.clock.now = began + 14 * DAY + MINUTE;
    for (const { hash } of [made.returned, made.mailed]) {
      expect(await looked(hash)).toEqual({ kind: 'expired' });
      expect(await claimWith(store, hash, newPassword('P'))).toEqual({ kind: 'expired' });
    }
    expect(await store.read(claimedAt, { id: made.id })).toBeNull();
  });

  test('looking at it, however often, uses nothing up', async () => {
    const made = await unclaimed(store, OWNER);
    for (let i = 0; i < 5; i++) expect((await looked(made.returned.hash)).kind).toBe('claim');
    expect((await claimWith(store, made.returned.hash, newPassword('P'))).kind).toBe('claimed');
  });

  test('joins the organization to the account that the address has, by its sign-in', async () => {
    const user = await person(OWNER, 'OLD');
    const made = await unclaimed(store, OWNER);
    expect(await looked(made.returned.hash)).toMatchObject({ account: { user, password: 'OLD' } });
    const done = await claimWith(store, made.returned.hash, { kind: 'account', user, password: 'OLD' });
    expect(done).toEqual({ kind: 'claimed', organization: made.id, user, addressProven: true });
    // The person who was only named is merged.
    expect(await rows()).toEqual([{ id: user, password: 'OLD', proven: true, organizations: `${made.id} owner` }]);
  });

  test('that was mailed can still prove the address after a claim by the other, for who signs in', async () => {
    const made = await unclaimed(store, OWNER);
    await claimWith(store, made.returned.hash, newPassword('P'));
    expect((await looked(made.mailed.hash)).kind).toBe('prove');
    const by = { kind: 'account', user: made.user, password: 'P' } as const;
    expect((await claimWith(store, made.mailed.hash, by)).kind).toBe('proven');
    expect(await rows()).toMatchObject([{ password: 'P', proven: true }]);
    expect(await claimWith(store, made.mailed.hash, by)).toEqual({ kind: 'used' });
  });

  test('for nobody in particular asks who claims', async () => {
    const { secret: _, hash } = newSecret();
    const made = await unclaimed(store, OWNER);
    await store.write(plantLink, { purpose: 'claim', hash, organization: made.id, user: null, email: '' });
    expect(await claimWith(store, hash, newPassword('P'))).toEqual({ kind: 'address-needed' });
    const owner = { email: 'boss@x.test', key: 'boss@x.test' };
    expect((await claimWith(store, hash, { kind: 'new', password: 'P', owner })).kind).toBe('claimed');
    expect(await rows('boss@x.test')).toMatchObject([{ password: 'P', organizations: `${made.id} owner` }]);
  });
});

/** Facts that an attack must not change: no other member, no password set or changed. */
interface Attack {
  /** Makes the attack and answers what came of it. */
  run: () => Promise<readonly { kind: string }[]>;
  outcomes: readonly string[];
}

const taken = (password: string) => newPassword(password);

const ATTACKS: Record<string, () => Promise<Attack>> = {
  'an existing account, the returned link and a new password': async () => {
    await person(OWNER, 'OLD');
    const { returned } = await unclaimed(store, OWNER);
    return { run: async () => [await claimWith(store, returned.hash, taken('EVIL'))], outcomes: ['sign-in'] };
  },
  'an existing account, the mailed link and a new password': async () => {
    await person(OWNER, 'OLD');
    const { mailed } = await unclaimed(store, OWNER);
    return { run: async () => [await claimWith(store, mailed.hash, taken('EVIL'))], outcomes: ['sign-in'] };
  },
  "an existing account, the attacker's own sign-in": async () => {
    await person(OWNER, 'OLD');
    const user = await person(ATTACKER, 'EVIL');
    const { returned } = await unclaimed(store, OWNER);
    const by = { kind: 'account', user, password: 'EVIL' } as const;
    return { run: async () => [await claimWith(store, returned.hash, by)], outcomes: ['sign-in'] };
  },
  "an existing account, its number with the attacker's password": async () => {
    const user = await person(OWNER, 'OLD');
    const { returned } = await unclaimed(store, OWNER);
    const by = { kind: 'account', user, password: 'EVIL' } as const;
    return { run: async () => [await claimWith(store, returned.hash, by)], outcomes: ['sign-in'] };
  },
  'a password that was checked and changed before the claim': async () => {
    const user = await person(OWNER, 'OLD');
    const { returned } = await unclaimed(store, OWNER);
    await store.write(changePassword, { user, expected: 'OLD', password: 'OLD2', session: 0 });
    await store.write(changePassword, { user, expected: 'OLD2', password: 'NEW', session: 0 });
    const by = { kind: 'account', user, password: 'OLD' } as const;
    return { run: async () => [await claimWith(store, returned.hash, by)], outcomes: ['sign-in'] };
  },
  'the returned link a second time': async () => {
    const { returned } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    return { run: async () => [await claimWith(store, returned.hash, taken('EVIL'))], outcomes: ['used'] };
  },
  'the mailed link a second time': async () => {
    const { mailed } = await unclaimed(store, OWNER);
    await claimWith(store, mailed.hash, taken('OLD'));
    return { run: async () => [await claimWith(store, mailed.hash, taken('EVIL'))], outcomes: ['used'] };
  },
  'the returned link after a claim by the mailed one': async () => {
    const { returned, mailed } = await unclaimed(store, OWNER);
    await claimWith(store, mailed.hash, taken('OLD'));
    return { run: async () => [await claimWith(store, returned.hash, taken('EVIL'))], outcomes: ['used'] };
  },
  'the mailed link and a new password after a claim by the returned one': async () => {
    const { returned, mailed } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    return { run: async () => [await claimWith(store, mailed.hash, taken('EVIL'))], outcomes: ['sign-in'] };
  },
  "the mailed link and the attacker's sign-in after a claim by the returned one": async () => {
    const { returned, mailed } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    const user = await person(ATTACKER, 'EVIL');
    const by = { kind: 'account', user, password: 'EVIL' } as const;
    return { run: async () => [await claimWith(store, mailed.hash, by)], outcomes: ['sign-in'] };
  },
  'a link that is too old': async () => {
    const { returned, mailed } = await unclaimed(store, OWNER);
    box.clock.now += 14 * DAY + MINUTE;
    return {
      run: async () => [
        await claimWith(store, returned.hash, taken('EVIL')),
        await claimWith(store, mailed.hash, taken('EVIL')),
      ],
      outcomes: ['expired', 'expired'],
    };
  },
  'a link that was never given out': async () => {
    await unclaimed(store, OWNER);
    return { run: async () => [await claimWith(store, newSecret().hash, taken('EVIL'))], outcomes: ['missing'] };
  },
  'a link for a new password': async () => {
    const user = await person(OWNER, 'OLD');
    const { hash } = newSecret();
    await store.write(requestReset, { key: OWNER, hash, notice: letterTo(OWNER, 'password-reset'), base: 'b' });
    const by = { kind: 'account', user, password: 'OLD' } as const;
    return { run: async () => [await claimWith(store, hash, by)], outcomes: ['missing'] };
  },
  'an invitation': async () => {
    const { id } = await unclaimed(store, OWNER);
    const { hash } = newSecret();
    await store.write(plantLink, { purpose: 'invite', hash, organization: id, user: null, email: ATTACKER });
    return { run: async () => [await claimWith(store, hash, taken('EVIL'))], outcomes: ['missing'] };
  },
  'a sign-in link': async () => {
    const { id, user } = await unclaimed(store, OWNER);
    const { hash } = newSecret();
    await store.write(plantLink, { purpose: 'sign-in', hash, organization: id, user, email: OWNER });
    return { run: async () => [await claimWith(store, hash, taken('EVIL'))], outcomes: ['missing'] };
  },
  'a claim link as a link for a new password': async () => {
    await person(OWNER, 'OLD');
    const { mailed } = await unclaimed(store, OWNER);
    return {
      run: async () => [await store.write(resetPassword, { hash: mailed.hash, password: 'EVIL' })],
      outcomes: ['missing'],
    };
  },
  'a claim link as an invitation, and as a sign-in': async () => {
    const { mailed } = await unclaimed(store, OWNER);
    const by = { kind: 'new', password: 'EVIL', displayName: null } as const;
    return {
      run: async () => [
        await store.write(joinOrganization, { hash: mailed.hash, key: OWNER, by, ip: '' }),
        await store.write(spendSignIn, { hash: mailed.hash }),
      ],
      outcomes: ['missing', 'missing'],
    };
  },
  'a frozen organization': async () => {
    const { id, returned, mailed } = await unclaimed(store, OWNER);
    await store.write(freezeOrganization, { id, frozen: true });
    return {
      run: async () => [
        await claimWith(store, returned.hash, taken('EVIL')),
        await claimWith(store, mailed.hash, taken('EVIL')),
      ],
      outcomes: ['frozen', 'frozen'],
    };
  },
  'an unproven account and a reset by mail': async () => {
    const { returned } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    const { hash } = newSecret();
    return {
      run: async () => [
        await store.write(requestReset, { key: OWNER, hash, notice: letterTo(OWNER, 'password-reset'), base: 'b' }),
        await store.write(resetPassword, { hash, password: 'EVIL' }),
      ],
      outcomes: ['nobody', 'missing'],
    };
  },
  'an unproven account and a planted link for a new password': async () => {
    const { returned, user } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    const { hash } = newSecret();
    await store.write(plantLink, { purpose: 'reset', hash, organization: null, user, email: OWNER });
    return { run: async () => [await store.write(resetPassword, { hash, password: 'EVIL' })], outcomes: ['missing'] };
  },
  'an organization of its own that names the same owner': async () => {
    const { returned } = await unclaimed(store, OWNER);
    await claimWith(store, returned.hash, taken('OLD'));
    const theirs = await unclaimed(store, OWNER, 'Trap');
    return {
      run: async () => [
        await claimWith(store, theirs.returned.hash, taken('EVIL')),
        await claimWith(store, theirs.mailed.hash, taken('EVIL')),
      ],
      outcomes: ['sign-in', 'sign-in'],
    };
  },
};

describe('takeover', () => {
  const before = async () => JSON.stringify([await rows(), await rows(ATTACKER)]);

  test.each(Object.entries(ATTACKS))('by %s: nothing', async (_name, prepare) => {
    const { run, outcomes } = await prepare();
    const stood = await before();
    expect((await run()).map((one) => one.kind)).toEqual(outcomes);
    expect(await before()).toBe(stood);
  });

  test('by racing with one link: one wins, and its password is the one', async () => {
    const { id, returned } = await unclaimed(store, OWNER);
    const tries = ['P1', 'P2', 'P3', 'P4'].map((one) => claimWith(store, returned.hash, newPassword(one)));
    await oneWins(tries, id);
  });

  test('by racing with both links: one wins', async () => {
    const { id, returned, mailed } = await unclaimed(store, OWNER);
    const tries = [returned, mailed, returned, mailed].map((one, i) =>
      claimWith(store, one.hash, newPassword(`P${i + 1}`)),
    );
    await oneWins(tries, id);
  });

  test('by racing for an address that two organizations name: the second must sign in', async () => {
    const [a, b] = [await unclaimed(store, OWNER, 'A'), await unclaimed(store, OWNER, 'B')];
    const done = await Promise.all([
      claimWith(store, a.returned.hash, newPassword('P1')),
      claimWith(store, b.returned.hash, newPassword('P2')),
    ]);
    expect(done.map((one) => one.kind)).toEqual(['claimed', 'sign-in']);
    expect((await rows()).map((one) => one.password)).toEqual(['P1', null]);
    expect(await store.read(claimedAt, { id: b.id })).toBeNull();
  });

  async function oneWins(tries: readonly Promise<ClaimResult>[], id: number): Promise<void> {
    const done = await Promise.all(tries);
    const winner = done.findIndex((one) => one.kind === 'claimed');
    expect(done.filter((one) => one.kind === 'claimed')).toHaveLength(1);
    expect(await rows()).toMatchObject([{ password: `P${winner + 1}`, organizations: `${id} owner` }]);
  }
});
