import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeOAuth } from '../../../src/oauth/grant-commands.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { tool } from '../../support/mcp.ts';
import {
  cameBack,
  CALLBACK,
  connected,
  decided,
  exchanged,
  pkce,
  posted,
  refreshed,
  registered,
  tokensOf,
  type Wish,
  wish,
} from '../../support/oauth.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
let box: ConsentWorld;
let base: string;
beforeAll(async () => {
  box = await consentWorld();
  base = box.base;
});
afterAll(() => box[Symbol.asyncDispose]());

// Sessions of browsers end while the clock turns: each test has an owner of its own.
const signIn = (): Promise<Someone> => box.someone('owner');
const statusOf = async (access: string): Promise<number> => (await tool(base, 'whoami', {}, access)).status;

/** A code that nobody has used yet. */
async function coded(more: Wish = {}): Promise<{ client: string; code: string; verifier: string }> {
  const { visitor } = await signIn();
  const client = await registered(base);
  const { verifier, challenge } = pkce();
  const { code = '' } = cameBack(await decided(visitor, wish(client, challenge, more)));
  return { client, code, verifier };
}

describe('a code', () => {
  const refusedWith = (why: string) => ({ status: 400, json: { error: 'invalid_grant', error_description: why } });

  test('is good for two minutes and not a moment longer', async () => {
    const early = await coded();
    const late = await coded();
    box.clock.now += 2 * MINUTE - 1;
    expect((await exchanged(base, early.client, early.code, early.verifier)).status).toBe(200);
    box.clock.now += 1;
    expect(await exchanged(base, late.client, late.code, late.verifier)).toMatchObject(
      refusedWith('Not granted: the code has expired.'),
    );
  });

  test('used twice ends what it was exchanged for', async () => {
    const { client, code, verifier } = await coded();
    const { access, refresh } = tokensOf(await exchanged(base, client, code, verifier));
    expect(await statusOf(access)).toBe(200);
    expect(await exchanged(base, client, code, verifier)).toMatchObject(
      refusedWith('Not granted: the code was already used.'),
    );
    expect(await statusOf(access)).toBe(401);
    expect((await refreshed(base, client, refresh)).status).toBe(400);
  });

  test('used twice at the same moment gives one pair, which ends', async () => {
    const { client, code, verifier } = await coded();
    const both = await Promise.all([1, 2].map(() => exchanged(base, client, code, verifier)));
    expect(both.map((one) => one.status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    const won = both.find((one) => one.status === 200);
    expect(await statusOf(String(won?.json?.['access_token']))).toBe(401);
  });

  test.each([
    ['another verifier', { code_verifier: pkce().verifier }, 'the code_verifier does not match'],
    ['no verifier', { code_verifier: '' }, 'the code_verifier does not match'],
    ['a verifier that is too short', { code_verifier: 'x'.repeat(42) }, 'the code_verifier does not match'],
    ['another redirect_uri', { redirect_uri: `${CALLBACK}/x` }, 'the redirect_uri differs'],
    [
      'a redirect_uri with another port',
      { redirect_uri: 'http://127.0.0.1:7778/callback' },
      'the redirect_uri differs',
    ],
  ])('with %s is refused, and used up', async (_name, more, why) => {
    const { client, code, verifier } = await coded();
    expect(await exchanged(base, client, code, verifier, more)).toMatchObject(refusedWith(`Not granted: ${why}.`));
    expect((await exchanged(base, client, code, verifier)).status).toBe(400);
  });

  test('of one client is nothing to another', async () => {
    const { code, verifier, client } = await coded();
    const thief = await registered(base);
    expect(await exchanged(base, thief, code, verifier)).toMatchObject(
      refusedWith('Not granted: the code was issued to another client.'),
    );
    expect((await exchanged(base, client, code, verifier)).status).toBe(400);
  });

  test('is exchanged without a redirect_uri, too, as OAuth 2.1 has it', async () => {
    const { client, code, verifier } = await coded();
    expect((await exchanged(base, client, code, verifier, { redirect_uri: '' })).status).toBe(200);
  });

  test('is given for this box only', async () => {
    const { client, code, verifier } = await coded({ resource: `${base}/mcp` });
    const foreign = await exchanged(base, client, code, verifier, { resource: 'https://elsewhere.example/mcp' });
    expect(foreign).toMatchObject({ status: 400, json: { error: 'invalid_target' } });
    expect((await exchanged(base, client, code, verifier, { resource: base })).status).toBe(200);
  });

  test('is nothing that opens an endpoint', async () => {
    const { code } = await coded();
    expect(await statusOf(code)).toBe(401);
  });
});

describe('tokens', () => {
  test('an access token is good for an hour, a refresh token opens nothing, and none is the other', async () => {
    const { access, refresh, client } = await connected(base, (await signIn()).visitor);
    expect(await statusOf(refresh)).toBe(401);
    expect((await refreshed(base, client, access)).json).toMatchObject({ error: 'invalid_grant' });
    box.clock.now += 60 * MINUTE - 1;
    expect(await statusOf(access)).toBe(200);
    box.clock.now += 1;
    expect(await statusOf(access)).toBe(401);
    expect(await statusOf(tokensOf(await refreshed(base, client, refresh)).access)).toBe(200);
  });

  test('a refresh token is used once; used again, everything that came of the consent ends', async () => {
    const first = await connected(base, (await signIn()).visitor);
    const second = tokensOf(await refreshed(base, first.client, first.refresh));
    const third = tokensOf(await refreshed(base, first.client, second.refresh));
    expect(new Set([first.refresh, second.refresh, third.refresh]).size).toBe(3);
    expect([await statusOf(first.access), await statusOf(third.access)]).toEqual([200, 200]);
    expect((await refreshed(base, first.client, first.refresh)).json).toMatchObject({ error: 'invalid_grant' });
    for (const { access } of [first, second, third]) expect(await statusOf(access)).toBe(401);
    expect((await refreshed(base, first.client, third.refresh)).status).toBe(400);
  });

  test('two consents are apart: the end of one is not that of the other', async () => {
    const { visitor } = await signIn();
    const [a, b] = [await connected(base, visitor), await connected(base, visitor)];
    await refreshed(base, a.client, a.refresh);
    await refreshed(base, a.client, a.refresh);
    expect([await statusOf(a.access), await statusOf(b.access)]).toEqual([401, 200]);
  });

  test('a refresh token of one client is nothing to another, and stays good', async () => {
    const { refresh, client } = await connected(base, (await signIn()).visitor);
    const thief = await registered(base);
    expect((await refreshed(base, thief, refresh)).json).toMatchObject({ error: 'invalid_grant' });
    expect((await refreshed(base, client, refresh)).status).toBe(200);
  });

  test('who asks for nothing for 30 days has to ask the person again', async () => {
    const { refresh, client } = await connected(base, (await signIn()).visitor);
    box.clock.now += 29 * DAY;
    const next = tokensOf(await refreshed(base, client, refresh));
    box.clock.now += 30 * DAY - 1;
    const last = tokensOf(await refreshed(base, client, next.refresh));
    box.clock.now += 30 * DAY;
    expect((await refreshed(base, client, last.refresh)).json).toMatchObject({ error: 'invalid_grant' });
  });

  test('of a hundred refreshes only some are remembered, and the program goes on', async () => {
    let { access, refresh, client } = { ...(await connected(base, (await signIn()).visitor)) };
    const first = access;
    for (let i = 0; i < 60; i++) {
      box.clock.now += 1;
      ({ access, refresh } = tokensOf(await refreshed(base, client, refresh)));
    }
    expect([await statusOf(first), await statusOf(access)]).toEqual([401, 200]);
    expect((await refreshed(base, client, refresh)).status).toBe(200);
  });

  test('a person has a hundred programs let in at most; the oldest makes room', async () => {
    const { visitor } = await signIn();
    const { visitor: other } = await signIn();
    const separate = await connected(base, other);
    const [first, second] = [await connected(base, visitor), await connected(base, visitor)];
    for (let i = 0; i < 98; i++) await connected(base, visitor);
    expect(await statusOf(first.access)).toBe(200);
    await connected(base, visitor);
    const all = [first, second, separate].map(({ access }) => statusOf(access));
    expect(await Promise.all(all)).toEqual([401, 200, 200]);
  });

  test('revoking either token ends both, only for its client, and an unknown one is gone already', async () => {
    for (const which of ['access', 'refresh'] as const) {
      const tokens = await connected(base, (await signIn()).visitor);
      const other = await registered(base);
      expect((await posted(base, 'revoke', { token: tokens[which], client_id: other })).status).toBe(200);
      expect(await statusOf(tokens.access)).toBe(200);
      const said = await posted(base, 'revoke', { token: tokens[which], client_id: tokens.client });
      expect([said.status, said.text]).toEqual([200, '']);
      expect(await statusOf(tokens.access)).toBe(401);
      expect((await refreshed(base, tokens.client, tokens.refresh)).status).toBe(400);
    }
    for (const token of ['nonsense', `mst_or_${'0'.repeat(48)}`]) {
      expect((await posted(base, 'revoke', { token })).status).toBe(200);
    }
    expect((await posted(base, 'revoke', {})).json).toMatchObject({ error: 'invalid_request' });
  });
});

describe('a program never may more than its person may now', () => {
  const mine = async (access: string) =>
    (await tool(base, 'whoami', {}, access)).body['principal'] as Record<string, unknown>;

  test('a role that was lost is lost at once, and so is what came of it', async () => {
    const { visitor, user } = await signIn();
    const { access, refresh, client } = await connected(base, visitor, { scope: 'read manage deploy' });
    expect(await mine(access)).toMatchObject({
      mailboxIds: null,
      actions: expect.arrayContaining(['deploy']) as unknown,
    });
    await box.change(user, 'member', [box.anna]);
    expect(await mine(access)).toMatchObject({
      mailboxIds: [`mbx_${box.anna}`],
      actions: ['read', 'manage', 'send', 'organize', 'mail_read'],
    });
    expect((await tool(base, 'list_services', {}, access)).status).toBe(403);
    expect(tokensOf(await refreshed(base, client, refresh)).scope).toBe('read manage');
    await box.change(user, 'member', []);
    expect(await mine(access)).toMatchObject({ mailboxIds: [] });
  });

  test('of several mailboxes those stay that the person still has', async () => {
    const { visitor, user } = await box.someone('member', 1, [box.anna, box.bert]);
    const both = [`mbx_${box.anna}`, `mbx_${box.bert}`];
    const { access } = await connected(base, visitor, {}, { reach: 'mailboxes', mailboxIds: both });
    expect(await mine(access)).toMatchObject({ mailboxIds: both });
    await box.change(user, 'member', [box.bert]);
    expect(await mine(access)).toMatchObject({ mailboxIds: both.slice(1) });
  });

  test('who left took the program along', async () => {
    const { visitor, user } = await signIn();
    const { access, refresh, client } = await connected(base, visitor);
    expect(await statusOf(access)).toBe(200);
    await box.leave(user);
    expect(await statusOf(access)).toBe(401);
    expect((await refreshed(base, client, refresh)).json).toMatchObject({ error: 'invalid_grant' });
  });

  test('a token that is narrowed from it ends with it', async () => {
    const { access, client } = await connected(base, (await signIn()).visitor, { scope: 'read manage' });
    const args = { name: 'child', mailbox: `mbx_${box.anna}`, actions: ['mail_read'] };
    const made = await tool(base, 'create_narrow_token', args, access);
    const child = String(made.body['secret']);
    expect(await statusOf(child)).toBe(200);
    await posted(base, 'revoke', { token: access, client_id: client });
    expect(await statusOf(child)).toBe(401);
  });

  test('a token that it makes ends with its hour', async () => {
    const { access } = await connected(base, (await signIn()).visitor, { scope: 'read manage' });
    const made = await tool(base, 'create_agent_token', { name: 'child', actions: ['read'] }, access);
    expect(await statusOf(String(made.body['secret']))).toBe(200);
    box.clock.now += 60 * MINUTE;
    expect(await statusOf(String(made.body['secret']))).toBe(401);
  });
});

test('what is over is forgotten; who is let in stays', async () => {
  const { visitor } = await signIn();
  const used = await connected(base, visitor);
  const unused = await registered(base);
  const cleanUp = async (): Promise<void> => {
    while (await box.world.store.write(purgeOAuth, undefined));
  };
  const asks = async (client: string): Promise<number> => {
    const { visitor: somebody } = await signIn();
    return (await somebody.get(`/oauth/authorize?${new URLSearchParams(wish(client, pkce().challenge)).toString()}`))
      .status;
  };
  await cleanUp();
  expect([await asks(used.client), await asks(unused)]).toEqual([200, 200]);
  box.clock.now += DAY;
  await cleanUp();
  expect([await asks(used.client), await asks(unused)]).toEqual([200, 400]);
  let { refresh } = used;
  for (let i = 0; i < 5; i++) {
    box.clock.now += 25 * DAY;
    await cleanUp();
    ({ refresh } = tokensOf(await refreshed(base, used.client, refresh)));
  }
  expect(await asks(used.client)).toBe(200);
  box.clock.now += 31 * DAY;
  await cleanUp();
  expect(await asks(used.client)).toBe(400);
});
