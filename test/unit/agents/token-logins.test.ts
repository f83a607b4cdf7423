import { beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { Peer } from '../../../mail/login/types.ts';
import { type PolicyTarget, saveAgentPolicy } from '../../../mail/agents/policy/policies.ts';
import { TokenLogins } from '../../../src/agents/token-logins.ts';
import { mailboxToken } from '../../../src/accounts/profile.ts';
import { makeToken, secretHash } from '../../../src/core/token.ts';
import type { NewToken } from '../../../src/tokens/commands.ts';
import { mintToken } from '../../support/agent-token.ts';
import { testAccount } from '../../support/store.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

let box: TestWorld;
let mine: { account: number };
const IMAP: Peer = { ip: '192.0.2.1', protocol: 'imap', secure: true };
const SUBMISSION: Peer = { ...IMAP, protocol: 'submission' };

beforeEach(async () => {
  box = await testWorld();
  mine = await testAccount(box.world.store, 'me');
  await testAccount(box.world.store, 'other');
});
afterEach(() => box[Symbol.asyncDispose]());

async function minted(over: Partial<NewToken> = {}): Promise<{ token: string; id: number }> {
  const token = makeToken(box.world.settings.tokenPrefix);
  return { token, id: await mintToken(box.world, { hash: secretHash(token), ...over }) };
}

/** Puts a token or a mailbox under a policy. */
const govern = (attach: PolicyTarget) =>
  box.world.store.write(saveAgentPolicy, { tenant: 1, id: null, name: 'desk', preset: 'custom', rules: '{}', attach });

const logins = () => new TokenLogins(box.world);

describe('a control plane token', () => {
  test('with read and manage opens the mailbox by IMAP, and with send submits', async () => {
    const { token, id } = await minted();
    const imap = await logins().find({ token, user: 'me@box.test', peer: IMAP });
    expect(imap).toMatchObject({ kind: 'token', login: { account: mine.account, credential: 0, token: { id } } });
    expect(await logins().find({ token, user: 'me@box.test', peer: SUBMISSION })).toMatchObject({ kind: 'token' });
  });

  test.each<[string, Peer, Partial<NewToken>]>([
    ['IMAP without manage', IMAP, { actions: ['read'] }],
    ['IMAP without read', IMAP, { actions: ['manage'] }],
    ['submission without send', SUBMISSION, { actions: ['read', 'organize'] }],
    ['a mailbox that it is not limited to', IMAP, { mailboxes: [999] }],
    ['a token of a service', IMAP, { service: 1 }],
  ])('is barred: %s', async (_, peer, over) => {
    const { token } = await minted(over);
    expect(await logins().find({ token, user: 'me@box.test', peer })).toMatchObject({ kind: 'barred' });
  });

  test('names a mailbox, unless it has only one', async () => {
    const { token } = await minted();
    expect(await logins().find({ token, user: undefined, peer: IMAP })).toMatchObject({ kind: 'barred' });
    const one = await minted({ mailboxes: [mine.account] });
    expect(await logins().find({ token: one.token, user: undefined, peer: IMAP })).toMatchObject({
      login: { account: mine.account },
    });
  });

  test.each<[string, (id: number) => PolicyTarget]>([
    ['the token', (id) => ({ credential: `tok_${id}` })],
    ['the mailbox', () => ({ account: mine.account })],
  ])('under a policy of %s has no IMAP, and an open session ends', async (_, target) => {
    const { token, id } = await minted();
    const before = await logins().find({ token, user: 'me@box.test', peer: IMAP });
    if (before.kind !== 'token') throw new Error(before.kind);
    await govern(target(id));
    const after = await logins().find({ token, user: 'me@box.test', peer: IMAP });
    expect(after).toMatchObject({ kind: 'barred', why: expect.stringContaining('under an agent policy') });
    expect(await logins().isValid(before.login)).toBe(false);
    expect(await logins().find({ token, user: 'me@box.test', peer: SUBMISSION })).toMatchObject({ kind: 'token' });
  });

  test('of another organization opens nothing', async () => {
    const { token } = await minted({ organization: 2 });
    const found = await logins().find({ token, user: 'me@box.test', peer: IMAP });
    expect(['wrong', 'barred']).toContain(found.kind);
  });

  test('that is expired, unknown or no token is wrong', async () => {
    const { token } = await minted({ expiresAt: 1 });
    for (const one of [token, makeToken(box.world.settings.tokenPrefix), 'nonsense']) {
      expect(await logins().find({ token: one, user: 'me@box.test', peer: IMAP })).toEqual({ kind: 'wrong' });
    }
  });

  test('that was revoked, or lost its actions, ends its sessions', async () => {
    const { token, id } = await minted();
    const found = await logins().find({ token, user: 'me@box.test', peer: IMAP });
    if (found.kind !== 'token') throw new Error(found.kind);
    expect(await logins().isValid(found.login)).toBe(true);
    expect(await logins().isValid({ ...found.login, token: { id: id + 1, actor: 'x', protocol: 'imap' } })).toBe(false);
    expect(await logins().isValid({ ...found.login, account: 999 })).toBe(false);
  });
});

test('the token of a mailbox stands for its password', async () => {
  const token = mailboxToken(box.world.settings.tokenPrefix, mine.account, 'secret');
  expect(await logins().find({ token, user: undefined, peer: IMAP })).toEqual({
    kind: 'password',
    user: 'me@box.test',
    password: 'secret',
  });
});
