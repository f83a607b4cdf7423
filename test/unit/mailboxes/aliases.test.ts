import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { route } from '../../../mail/delivery/route.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { removeAliasOf, updateAlias, listAliases } from '../../../src/operations/aliases/change.ts';
import { createAlias } from '../../../src/operations/aliases/create.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { removeEmailDomain } from '../../../src/operations/domains/remove.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { sendOneEmail } from '../../../src/operations/sending/send.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { toAddress } from '../../support/receive-message.ts';
import { calls, type Calls } from '../../support/calls.ts';

interface Shown {
  id: string;
  address: string;
  kind: string;
  mailboxIds: string[];
  state: string;
  messages: number;
  note: string | null;
  expiresAt: string | null;
  maxMessages: number | null;
}

let box: Calls;
let owner: Caller;
let anna: string;
let bert: string;

beforeEach(async () => {
  box = await calls();
  owner = await box.organization('Owner');
  await onboard(owner, 'shop.example');
  anna = await mailbox('anna');
  bert = await mailbox('bert');
});
afterEach(() => box[Symbol.asyncDispose]());

async function onboard(caller: Caller, domain: string): Promise<void> {
  await box.done(caller, addEmailDomain, { domain });
  await box.perform(caller, verifyEmailDomain, { domain });
}
async function mailbox(localPart: string, caller = owner, domain = 'shop.example'): Promise<string> {
  return (await box.done<{ mailbox: { id: string } }>(caller, provisionEmail, { domain, localPart })).mailbox.id;
}
const create = async (args: object, caller = owner): Promise<Shown> =>
  (await box.done<{ alias: Shown }>(caller, createAlias, args)).alias;
const list = async (args: object = {}, caller = owner): Promise<Shown[]> =>
  (await box.done<{ aliases: Shown[] }>(caller, listAliases, args)).aliases;
const limited = (...mailboxes: string[]): Caller => ({
  ...owner,
  mailboxes: mailboxes.map((id) => Number(id.slice(4))),
});
const routeOf = (address: string) => route(box.world.store, toAddress(address), { now: box.world.clock() });

describe('an alias', () => {
  test('is created with a readable name and an expiry, and listed with its usage', async () => {
    const expiresAt = new Date(box.world.clock() + 1000).toISOString();
    const made = await create({ mailboxIds: [anna], expiresAt, maxMessages: 3, note: 'sign-up at a shop' });
    expect(made.address).toMatch(/^[a-z]+-[a-z]+-\d{4}@shop\.example$/);
    const use = { messages: 0, lastMessageAt: null, firstSenderDomain: null };
    expect(made).toMatchObject({
      kind: 'exact',
      state: 'active',
      expiresAt,
      maxMessages: 3,
      mailboxIds: [anna],
      ...use,
    });
    expect(await list()).toEqual([made]);
    expect(await list({ mailboxId: bert })).toEqual([]);
    expect(await list({ mailboxId: anna, domain: 'shop.example' })).toEqual([made]);
    box.test.store.clock.now += 1000;
    expect((await list())[0]?.state).toBe('expired');
    expect(await routeOf(made.address)).toEqual({ kind: 'over' });
  });

  test('keeps both of two concurrent changes', async () => {
    const { id: aliasId } = await create({ mailboxIds: [anna] });
    const changes = [{ mailboxIds: [bert] }, { note: 'all' }, { maxMessages: 5 }];
    await Promise.all(changes.map((one) => box.done(owner, updateAlias, { aliasId, ...one })));
    expect(await list()).toMatchObject([{ mailboxIds: [bert], note: 'all', maxMessages: 5 }]);
  });

  test('can lose its expiry, get another target and be deleted', async () => {
    const made = await create({ mailboxIds: [anna], expiresAt: new Date(box.world.clock() + 1000).toISOString() });
    box.test.store.clock.now += 1000;
    const change = { aliasId: made.id, expiresAt: null, mailboxIds: [anna, bert], note: 'all' };
    expect(await box.done(owner, updateAlias, change)).toMatchObject({
      alias: { state: 'active', expiresAt: null, mailboxIds: [anna, bert], note: 'all' },
    });
    // Omitted properties are unchanged.
    expect(await box.done(owner, updateAlias, { aliasId: made.id, maxMessages: 5 })).toMatchObject({
      alias: { mailboxIds: [anna, bert], note: 'all', maxMessages: 5 },
    });
    expect(await box.done(owner, removeAliasOf, { aliasId: made.id })).toEqual({
      removed: true,
      address: made.address,
    });
    expect(await box.refused(owner, removeAliasOf, { aliasId: made.id })).toMatchObject({ error: 'not_found' });
    expect(await routeOf(made.address)).toEqual({ kind: 'unknown' });
  });

  test.each([
    ['sales-*', 'wildcard'],
    ['*', 'catch_all'],
    ['Sales', 'exact'],
    ['anna+shop', 'exact'],
  ])('%s is %s', async (localPart, kind) => {
    expect(await create({ mailboxIds: [anna, bert], localPart })).toMatchObject({
      kind,
      address: `${localPart.toLowerCase()}@shop.example`,
      mailboxIds: [anna, bert],
    });
  });

  test.each([
    ['two stars', { localPart: 'a*b*' }, 'invalid_arguments'],
    ['an @', { localPart: 'a@b' }, 'invalid_arguments'],
    ['a blank', { localPart: 'a b' }, 'invalid_arguments'],
    ['a line end', { localPart: 'a\r\nb' }, 'invalid_arguments'],
    ['a time that is past', { expiresAt: '2020-01-01T00:00:00Z' }, 'invalid_arguments'],
    ['no message at all', { maxMessages: 0 }, 'invalid_arguments'],
    ['a mailbox there', { localPart: 'Bert' }, 'already_exists'],
    ['a domain of nobody', { domain: 'other.example' }, 'not_found'],
    ['a mailbox of nobody', { mailboxIds: ['mbx_999999'] }, 'not_found'],
    ['no mailbox', { mailboxIds: [] }, 'invalid_arguments'],
  ])('is not made with %s', async (_name, args, error) => {
    expect(await box.refused(owner, createAlias, { mailboxIds: [anna], ...args })).toMatchObject({ error });
    expect(await list()).toEqual([]);
  });

  test('and a mailbox cannot have the same address', async () => {
    await create({ mailboxIds: [anna], localPart: 'info' });
    const again = { domain: 'shop.example', localPart: 'info' };
    expect(await box.refused(owner, provisionEmail, again)).toMatchObject({ error: 'already_exists' });
    expect(await box.refused(owner, createAlias, { mailboxIds: [bert], localPart: 'info' })).toMatchObject({
      error: 'already_exists',
    });
  });

  test('can be at another domain of the organization, and is deleted with the domain', async () => {
    await onboard(owner, 'second.example');
    await create({ mailboxIds: [anna], localPart: 'info', domain: 'second.example' });
    expect(await routeOf('info@second.example')).toMatchObject({ kind: 'here', accounts: [Number(anna.slice(4))] });
    await box.done(owner, removeEmailDomain, { domain: 'second.example' });
    expect(await list()).toEqual([]);
    expect(await box.rows('SELECT * FROM alias_account')).toEqual([]);
  });

  test('is deleted with its last mailbox', async () => {
    await create({ mailboxIds: [anna, bert], localPart: 'team' });
    await box.done(owner, deleteEmail, { mailboxId: anna });
    expect(await list()).toMatchObject([{ mailboxIds: [bert] }]);
    await box.done(owner, deleteEmail, { mailboxId: bert });
    expect(await list()).toEqual([]);
  });

  test('is recorded in the audit log with its targets', async () => {
    await create({ mailboxIds: [anna], localPart: 'info' });
    const [row] = await box.rows<{ target: string; detail: string }>(
      `SELECT target, detail FROM audit WHERE operation = 'create_alias'`,
    );
    expect(row).toMatchObject({ target: 'info@shop.example' });
    expect(row?.detail).toContain(anna);
  });
});

describe('a token limited to some mailboxes', () => {
  test('can create aliases to these mailboxes only, and delete none', async () => {
    const made = await create({}, limited(anna));
    expect(made).toMatchObject({ mailboxIds: [anna] });
    for (const args of [
      { localPart: 'postmaster' },
      { localPart: '*' },
      { localPart: 'bert+x' },
      { localPart: 'free' },
    ])
      expect(await box.refused(limited(anna), createAlias, args)).toMatchObject({ error: 'out_of_scope' });
    await onboard(owner, 'second.example');
    const elsewhere = { domain: 'second.example' };
    expect(await box.refused(limited(anna), createAlias, elsewhere)).toMatchObject({ error: 'out_of_scope' });
    const foreign = { mailboxIds: [bert] };
    expect(await box.refused(limited(anna), createAlias, foreign)).toMatchObject({ error: 'out_of_scope' });
  });

  test('sees only its own mailboxes of a shared alias, and cannot change it', async () => {
    const shared = await create({ mailboxIds: [anna, bert], localPart: 'team' });
    await create({ mailboxIds: [bert], localPart: 'private' });
    expect(await list({}, limited(anna))).toEqual([{ ...shared, mailboxIds: [anna] }]);
    for (const operation of [updateAlias, removeAliasOf])
      expect(await box.refused(limited(anna), operation, { aliasId: shared.id })).toMatchObject({
        error: 'out_of_scope',
      });
    const own = await create({}, limited(anna));
    const away = { aliasId: own.id, mailboxIds: [bert] };
    expect(await box.refused(limited(anna), updateAlias, away)).toMatchObject({ error: 'out_of_scope' });
    await box.done(limited(anna), removeAliasOf, { aliasId: own.id });
  });
});

test('a tool sends from an alias as its mailbox, and a limited token from no other', async () => {
  const own = await create({}, limited(anna));
  const team = await create({ mailboxIds: [anna, bert], localPart: 'team' });
  const berts = await create({ mailboxIds: [bert], localPart: 'private' });
  const mail = { to: 'you@remote.example', subject: 'hello', text: 'hello' };
  for (const { address: from } of [own, team])
    expect(await box.done(limited(anna), sendOneEmail, { ...mail, from })).toMatchObject({ status: 'queued' });
  expect(await box.refused(limited(anna), sendOneEmail, { ...mail, from: berts.address })).toMatchObject({
    error: 'out_of_scope',
  });
  const accounts = await box.rows<{ account_id: number }>('SELECT account_id FROM submission');
  expect(accounts.map((row) => `mbx_${row.account_id}`)).toEqual([anna, anna]);
});

test('another organization has its own aliases, also at a domain that both claim', async () => {
  const other = await box.organization('Other');
  await box.done(other, addEmailDomain, { domain: 'shop.example' });
  const theirs = await mailbox('anna', other);
  const made = await create({ mailboxIds: [anna], localPart: 'info' });
  await create({ mailboxIds: [theirs], localPart: 'info' }, other);
  await create({ mailboxIds: [theirs], localPart: '*' }, other);
  expect(await routeOf('info@shop.example')).toMatchObject({ accounts: [Number(anna.slice(4))] });
  expect(await routeOf('whatever@shop.example')).toEqual({ kind: 'unknown' });
  expect(await box.refused(other, removeAliasOf, { aliasId: made.id })).toMatchObject({ error: 'not_found' });
  expect(await box.refused(other, createAlias, { mailboxIds: [anna] })).toMatchObject({ error: 'not_found' });
  expect(await list({}, other)).toHaveLength(2);
});
