import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MailStore } from '../../mail/store/store.ts';
import { freezeOrganization, seedOperator } from '../../src/organizations/commands.ts';
import { claimFacts } from '../../src/people/claim-commands.ts';
import { joinOrganization } from '../../src/people/invite-commands.ts';
import { listMembers, memberMailboxes, updateMember } from '../../src/people/member-commands.ts';
import { beginSignIn } from '../../src/people/pending-commands.ts';
import { offerOperatorClaim, seedLocalOwner } from '../../src/people/commands.ts';
import { changePassword, requestReset, resetFacts, resetPassword } from '../../src/people/password-commands.ts';
import { newSecret } from '../../src/people/secrets.ts';
import {
  endSessions,
  findVisitor,
  listSessions,
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  spendSignIn,
  touchSession,
} from '../../src/people/session-commands.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import {
  claimedAt,
  claimWith,
  DAY,
  letterTo,
  people,
  PEOPLE_TEST_COMMANDS,
  plantLink,
  plantPerson,
  unclaimed,
} from '../support/people.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const OWNER = 'owner@x.test';
let box: TestStore;
let store: MailStore;

beforeEach(async () => {
  const parts = storeParts();
  box = await testStore({ ...parts, commands: [...parts.commands, ...PEOPLE_TEST_COMMANDS] });
  ({ store } = box);
});
afterEach(() => box[Symbol.asyncDispose]());

const person = (email = OWNER, password: string | null = 'P') =>
  store.write(plantPerson, { email, password, proven: true });
const visitor = (hash: Uint8Array) => store.read(findVisitor, { hash, now: box.clock.now });

async function session(user: number, before: Uint8Array | null = null): Promise<{ id: number; hash: Uint8Array }> {
  const { hash } = newSecret();
  const opened = {
    user,
    hash,
    ip: '192.0.2.1',
    agent: 'Firefox',
    before,
    device: newSecret().hash,
    method: 'password',
  } as const;
  await store.write(beginSignIn, { session: opened, pending: newSecret().hash, next: '/' });
  const [last] = await store.read(listSessions, { user, now: box.clock.now });
  return { id: last?.id ?? 0, hash };
}

describe('a session', () => {
  test('ends two hours after its last use, and seven days after it began', async () => {
    const { id, hash } = await session(await person());
    const began = box.clock.now;
    box.clock.now += SESSION_IDLE_MS - 1;
    expect(await visitor(hash)).toMatchObject({ person: { email: OWNER }, session: { id } });
    box.clock.now += 1;
    expect(await visitor(hash)).toBeUndefined();

    const used = await session(await person('b@x.test'));
    while (box.clock.now < began + SESSION_LIFE_MS) {
      box.clock.now += SESSION_IDLE_MS - 1;
      await store.write(touchSession, { id: used.id });
    }
    expect(await visitor(used.hash)).toMatchObject({ session: { id: used.id } });
    box.clock.now += SESSION_IDLE_MS - 1;
    expect(await visitor(used.hash)).toBeUndefined();
  });

  test('takes the place of the one before it, and is one of at most fifty', async () => {
    const user = await person();
    const first = await session(user);
    const second = await session(user, first.hash);
    expect([await visitor(first.hash), (await visitor(second.hash))?.session.id]).toEqual([undefined, second.id]);
    for (let i = 0; i < 60; i++) await session(user);
    expect(await store.read(listSessions, { user, now: box.clock.now })).toHaveLength(50);
  });

  test('is ended by its owner only', async () => {
    const [mine, theirs] = [await person(), await person('b@x.test')];
    const [one, two, other] = [await session(mine), await session(mine), await session(theirs)];
    expect(await store.write(endSessions, { user: theirs, id: one.id })).toEqual({ ended: 0 });
    expect(await store.write(endSessions, { user: mine, keep: one.id })).toEqual({ ended: 1 });
    expect([await visitor(two.hash), await visitor(one.hash), await visitor(other.hash)]).toEqual([
      undefined,
      expect.anything(),
      expect.anything(),
    ]);
  });
});

describe('a password', () => {
  test('is replaced by a mailed link once, within the hour, and everybody is signed out', async () => {
    const user = await person();
    const { hash: cookie } = await session(user);
    const [one, two] = [newSecret(), newSecret()];
    for (const { hash } of [one, two]) {
      await store.write(requestReset, { key: OWNER, hash, notice: letterTo(OWNER, 'password-reset'), base: 'b' });
    }
    expect(await store.read(resetFacts, { hash: one.hash, now: box.clock.now })).toEqual({
      kind: 'reset',
      email: OWNER,
    });
    box.clock.now += DAY / 24 - 1;
    expect((await store.write(resetPassword, { hash: one.hash, password: 'NEW' })).kind).toBe('reset');
    expect(await visitor(cookie)).toBeUndefined();
    for (const { hash } of [one, two]) {
      expect(await store.write(resetPassword, { hash, password: 'EVIL' })).toEqual({ kind: 'used' });
    }
    expect(await store.read(people, { key: OWNER })).toMatchObject([{ password: 'NEW' }]);
  });

  test('is not replaced after the hour, nor mailed for more than five times a day', async () => {
    await person();
    const { hash } = newSecret();
    const queried = async (link = newSecret().hash) =>
      (
        await store.write(requestReset, {
          key: OWNER,
          hash: link,
          notice: letterTo(OWNER, 'password-reset'),
          base: 'b',
        })
      ).kind;
    const kinds = [
      await queried(hash),
      await queried(),
      await queried(),
      await queried(),
      await queried(),
      await queried(),
    ];
    expect(kinds).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'limited']);
    box.clock.now += DAY / 24;
    expect(await store.write(resetPassword, { hash, password: 'LATE' })).toEqual({ kind: 'expired' });
  });

  test('that changes keeps this session and ends links for a new one', async () => {
    const user = await person();
    const [here, there] = [await session(user), await session(user)];
    const { hash } = newSecret();
    await store.write(requestReset, { key: OWNER, hash, notice: letterTo(OWNER, 'password-reset'), base: 'b' });
    const change = (expected: string, password: string) =>
      store.write(changePassword, { user, expected, password, session: here.id });
    expect([await change('wrong', 'X'), await change('P', 'NEW')]).toEqual([{ kind: 'stale' }, { kind: 'changed' }]);
    expect([(await visitor(here.hash))?.session.id, await visitor(there.hash)]).toEqual([here.id, undefined]);
    expect(await store.write(resetPassword, { hash, password: 'EVIL' })).toEqual({ kind: 'used' });
  });
});

describe('an invitation', () => {
  const invited = async (email: string) => {
    const { id: organization } = await unclaimed(store, OWNER);
    const { hash } = newSecret();
    await store.write(plantLink, { purpose: 'invite', hash, organization, user: null, email });
    return { organization, hash };
  };
  const accept = (hash: Uint8Array, key: string, by: Parameters<typeof joinOrganization.run>[1]['by']) =>
    store.write(joinOrganization, { hash, key, by, ip: '' });

  test('makes an account whose address is proved, once', async () => {
    const { organization, hash } = await invited('new@x.test');
    const by = { kind: 'new', password: 'P', displayName: 'Nia' } as const;
    expect(await accept(hash, 'new@x.test', by)).toMatchObject({ kind: 'joined', organization });
    expect(await store.read(people, { key: 'new@x.test' })).toMatchObject([
      { password: 'P', proven: true, organizations: `${organization} admin` },
    ]);
    expect(await accept(hash, 'new@x.test', by)).toEqual({ kind: 'used' });
  });

  test('of somebody who has an account takes its sign-in and nothing else', async () => {
    const [user, thief] = [await person('old@x.test'), await person('thief@x.test')];
    const { organization, hash } = await invited('old@x.test');
    for (const by of [
      { kind: 'new', password: 'EVIL', displayName: null },
      { kind: 'account', user: thief, password: 'P' },
      { kind: 'account', user, password: 'EVIL' },
    ] as const) {
      expect(await accept(hash, 'old@x.test', by)).toEqual({ kind: 'sign-in' });
    }
    const done = await accept(hash, 'old@x.test', { kind: 'account', user, password: 'P' });
    expect(done).toEqual({ kind: 'joined', organization, user });
  });

  test('to a frozen organization, or one too old, opens nothing', async () => {
    const { organization, hash } = await invited('new@x.test');
    const by = { kind: 'new', password: 'P', displayName: null } as const;
    await store.write(freezeOrganization, { id: organization, frozen: true });
    expect(await accept(hash, 'new@x.test', by)).toEqual({ kind: 'frozen' });
    await store.write(freezeOrganization, { id: organization, frozen: false });
    box.clock.now += 14 * DAY;
    expect(await accept(hash, 'new@x.test', by)).toEqual({ kind: 'expired' });
    expect(await store.read(people, { key: 'new@x.test' })).toEqual([]);
  });
});

describe('a member', () => {
  test('has mailboxes of the organization only; the last owner stays one', async () => {
    await store.write(seedOperator, { name: 'Local' });
    await store.write(seedLocalOwner, { organization: 1, email: OWNER, hash: newSecret().hash });
    const [owner] = await store.read(listMembers, { organization: 1 });
    const user = owner?.user ?? 0;
    const { account } = await testAccount(store);
    const update = (organization: number, role: 'owner' | 'member' | null, mailboxes: number[] | null) =>
      store.write(updateMember, { organization, user, role, mailboxes });
    expect(await update(1, 'member', null)).toEqual({ kind: 'last-owner' });
    expect(await update(2, 'owner', [account])).toEqual({ kind: 'missing' });
    expect(await update(1, null, [account, account, 999])).toEqual({ kind: 'updated' });
    expect(await store.read(memberMailboxes, { organization: 1, user })).toEqual([account]);
    expect(await store.read(listMembers, { organization: 1 })).toMatchObject([{ role: 'owner', mailboxes: [account] }]);
    await update(1, null, []);
    expect(await store.read(memberMailboxes, { organization: 1, user })).toEqual([]);
  });
});

describe('the operator', () => {
  beforeEach(() => store.write(seedOperator, { name: 'Local' }));

  test('of local mode is signed in by the link of the last start, once', async () => {
    const [first, second] = [newSecret().hash, newSecret().hash];
    for (const hash of [first, second]) await store.write(seedLocalOwner, { organization: 1, email: OWNER, hash });
    expect(await store.read(people, { key: OWNER })).toMatchObject([{ password: null, organizations: '1 owner' }]);
    expect(await store.write(spendSignIn, { hash: first })).toEqual({ kind: 'missing' });
    expect((await store.write(spendSignIn, { hash: second })).kind).toBe('in');
    expect(await store.write(spendSignIn, { hash: second })).toEqual({ kind: 'used' });
  });

  test('of a live box is who claims by the link of the last start', async () => {
    const [first, second] = [newSecret().hash, newSecret().hash];
    for (const hash of [first, second]) {
      expect(await store.write(offerOperatorClaim, { organization: 1, hash })).toEqual({ kind: 'offered' });
    }
    const look = (hash: Uint8Array, key: string | null) => store.read(claimFacts, { hash, key, now: box.clock.now });
    expect(await look(first, null)).toEqual({ kind: 'missing' });
    expect(await look(second, null)).toMatchObject({ kind: 'claim', email: null, account: null });
    const owner = { email: OWNER, key: OWNER };
    const done = await claimWith(store, second, { kind: 'new', password: 'P', owner });
    expect(done).toMatchObject({ kind: 'claimed', organization: 1, addressProven: false });
    expect(await store.write(offerOperatorClaim, { organization: 1, hash: first })).toEqual({ kind: 'claimed' });
    expect(await store.read(claimedAt, { id: 1 })).toBe(box.clock.now);
  });
});
