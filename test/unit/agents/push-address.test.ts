import { afterEach, beforeEach, expect, test } from 'vitest';
import { loginPushBar, tokenPushBar } from '../../../src/agents/push-address.ts';
import { operatorCaller, tokenCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { noteShownSecret } from '../../../src/agents/shown-secrets.ts';
import { findToken } from '../../../src/tokens/commands.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { mintToken } from '../../support/agent-token.ts';
import { SendWorld } from '../../support/send-world.ts';

const passwordOf = query('test-password', (rx, account: number) =>
  rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ? LIMIT 1', account),
);
const URL_ = 'https://push.example/abc';
const BARRED = /^needs a person: .* cannot set a push address$/;

let world: SendWorld;
let account: number;
beforeEach(async () => {
  world = await SendWorld.open();
  account = await world.account('me@a.test');
});
afterEach(() => world[Symbol.asyncDispose]());

const asPerson = (name: string, input: object) =>
  perform(world.world, findOperation(name) ?? expect.fail(name), operatorCaller(), input);

async function barOf(id: number, url = URL_): Promise<string | undefined> {
  const token = (await world.world.store.read(findToken, { id })) ?? expect.fail();
  return tokenPushBar(world.world, tokenCaller(token, 'jmap', '192.0.2.1'), [account], url);
}

test('a token without a policy has devices notified, until it has read mail of outsiders', async () => {
  const token = await mintToken(world.world);
  expect(await barOf(token)).toBeUndefined();
  await world.world.agents.onTextRead({ token: token });
  expect(await barOf(token)).toMatch(BARRED);
});

test('one under a policy names no address, nor does one whose mailbox is under one', async () => {
  const [own, free] = [await mintToken(world.world), await mintToken(world.world)];
  await asPerson('save_agent_policy', { tokenId: `tok_${own}`, preset: 'signup-bot', name: 'bot' });
  expect(await barOf(own)).toMatch(BARRED);
  await asPerson('save_agent_policy', { mailboxId: `mbx_${account}`, preset: 'custom', name: 'box' });
  expect(await barOf(free)).toMatch(BARRED);
});

test('one that only reads names none either', async () => {
  const token = await mintToken(world.world);
  await asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode: 'read_only' });
  expect(await barOf(token)).toMatch(BARRED);
});

test('no secret stands in an address', async () => {
  const token = await mintToken(world.world);
  await noteShownSecret({ ...world.world, tenant: 1 }, { kind: 'code', text: '482915' });
  expect(await barOf(token, 'https://482915.push.example/')).toBe('contains a secret (code)');
});

test('a password of a mailbox under a policy names none, a person’s does', async () => {
  await asPerson('create_app_password', { mailboxId: `mbx_${account}`, name: 'phone' });
  const { id: credential } = (await world.world.store.read(passwordOf, account)) ?? expect.fail();
  expect(await loginPushBar(world.world, { account, credential }, URL_)).toBeUndefined();
  await asPerson('save_agent_policy', { mailboxId: `mbx_${account}`, preset: 'custom', name: 'box' });
  expect(await loginPushBar(world.world, { account, credential }, URL_)).toMatch(BARRED);
});
