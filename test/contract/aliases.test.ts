import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { route } from '../../mail/delivery/route.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import type { MessageEnvelope, SmtpRefusal } from '../../mail/receiver/needs.ts';
import type { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import { ownsAddress } from '../../mail/store/account/account.ts';
import { addAlias, changeAlias, MAX_ALIASES, removeAlias } from '../../mail/store/address/alias.ts';
import { rewriteSender } from '../../mail/forwarder/srs.ts';
import { removeAccount } from '../../mail/store/account/account-removal.ts';
import { addSenderRule } from '../../mail/store/filter/sender-rule.ts';
import { command } from '../../mail/store/engine/types.ts';
import { alignIdentities, identitiesOf } from '../../mail/store/submission/identity.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { aliasNow, inInbox, testAlias } from '../support/aliases.ts';
import { receiveMessage, testBackend, toAddress } from '../support/receive-message.ts';
import { setForward } from '../support/forward-world.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { growth, PROPORTIONAL } from '../support/cost.ts';

const dismiss = command('test-dismiss', removeAccount);
const setUse = command('test-use', (tx, one: { account: number; used: number; quota: number }) =>
  tx.run('UPDATE account SET used_bytes = ?, quota_bytes = ? WHERE id = ?', one.used, one.quota, one.account),
);

let box: TestStore;
let backend: StoreReceiverBackend;
let anna: number;
let bert: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, setForward, dismiss, setUse] as never });
  backend = testBackend(box);
  ({ account: anna } = await testAccount(box.store, 'anna'));
  ({ account: bert } = await testAccount(box.store, 'bert'));
});
afterEach(() => box[Symbol.asyncDispose]());

const alias = (local: string, terms: Parameters<typeof testAlias>[2] = {}) =>
  testAlias(box, local, { accounts: [anna], ...terms });
const whose = async (local: string) => route(box.store, toAddress(`${local}@box.test`), { now: box.clock.now });
const accountsOf = async (local: string): Promise<readonly number[] | string> => {
  const where = await whose(local);
  return where.kind === 'here' ? where.accounts : where.kind;
};
const mail = (to: string, from = 'news@list.shop.example') =>
  receiveMessage(backend, { from, to: `${to}@box.test`, body: 'From: news@shop.example\r\n\r\nhello\r\n' });

describe('which address is meant', () => {
  test('a mailbox, then an alias, then both without the +detail, then what fits most, then the roles', async () => {
    await alias('sales', { accounts: [bert] });
    await alias('anna+shop', { accounts: [bert] });
    await alias('sales-*', { accounts: [bert] });
    await alias('sales-*-old', { accounts: [anna] });
    await alias('s*', { accounts: [anna] });
    expect(await accountsOf('anna')).toEqual([anna]);
    expect(await accountsOf('ANNA+Other')).toEqual([anna]);
    expect(await accountsOf('anna+shop')).toEqual([bert]);
    expect(await accountsOf('Sales')).toEqual([bert]);
    expect(await accountsOf('sales+x')).toEqual([bert]);
    expect(await accountsOf('sales-2026')).toEqual([bert]);
    expect(await accountsOf('sales-')).toEqual([bert]);
    expect(await accountsOf('sales-2026-old')).toEqual([anna]);
    // Head and tail may not share octets.
    expect(await accountsOf('sales-old')).toEqual([bert]);
    expect(await accountsOf('support')).toEqual([anna]);
    expect(await accountsOf('nobody')).toBe('unknown');
    expect(await accountsOf('postmaster')).toEqual([anna]);
  });

  test('a catch-all is asked last, before the roles only', async () => {
    await alias('x-*', { accounts: [anna] });
    await alias('*', { accounts: [bert] });
    expect(await accountsOf('x-1')).toEqual([anna]);
    expect(await accountsOf('anything.at-all')).toEqual([bert]);
    expect(await accountsOf('postmaster')).toEqual([bert]);
    expect(await accountsOf('anna')).toEqual([anna]);
  });

  test('a rewritten sender that shows its MAC is no business of the catch-all, one that does not is', async () => {
    await alias('*', { accounts: [bert] });
    const key = Buffer.alloc(32, 3);
    const sender = rewriteSender(toAddress('ann@remote.example'), 'box.test', key, box.clock.now);
    if (sender === undefined) throw new Error('not rewritten');
    expect(await backend.route(sender, undefined)).toMatchObject({ kind: 'return' });
    const forged = { ...sender, local: sender.local.replace('ann', 'eve') };
    expect(await backend.route(forged, undefined)).toMatchObject({ kind: 'here', accounts: [bert] });
  });

  test('signs that SQL and patterns know are letters here', async () => {
    await alias('a%b*');
    await alias('c_d-*');
    expect(await accountsOf('axxb1')).toBe('unknown');
    expect(await accountsOf('a%b1')).toEqual([anna]);
    expect(await accountsOf('cxd-1')).toBe('unknown');
  });

  test('an address that only forwards is no business of the catch-all, and a forward none of an alias for one +detail', async () => {
    await alias('*', { accounts: [bert] });
    const forward = { tenant: 1, keep: true, pending: false, stopped: false };
    await box.store.write(setForward, { ...forward, from: 'out@box.test', to: 'you@remote.example' });
    await box.store.write(setForward, { ...forward, from: 'anna@box.test', to: 'you@remote.example' });
    expect(await whose('out')).toMatchObject({ kind: 'forward' });
    expect(await whose('anna+x')).toMatchObject({ kind: 'here', accounts: [anna], forwards: true });
    await alias('anna+shop', { accounts: [bert] });
    expect(await whose('anna+shop')).toMatchObject({ kind: 'here', accounts: [bert], forwards: false });
  });

  test('a thousand wildcards and a long local part are looked through at once', async () => {
    const locals = Array.from(
      { length: MAX_ALIASES },
      (_, i) => `${'a'.repeat(i % 30)}-${i}-*-${i}${'b'.repeat(i % 20)}`,
    );
    await Promise.all(locals.map((local) => alias(local)));
    const domain = (await aliasNow(box, 1)).domain;
    const one = { tenant: 1, domain, key: 'x@box.test', accounts: [anna], note: '', expiresAt: null, most: null };
    expect(await box.store.write(addAlias, one)).toEqual({ kind: 'too-many' });
    const look = async (length: number): Promise<void> =>
      expect(await accountsOf(`${'a'.repeat(length)}-1`)).toBe('unknown');
    expect(await growth(look, 40)).toBeLessThan(PROPORTIONAL);
  });
});

describe('several mailboxes', () => {
  test('each get one copy, and it counts as one', async () => {
    const id = await alias('team', { accounts: [bert, anna] });
    expect(await mail('team')).toEqual({ kind: 'accepted' });
    expect([await inInbox(box, anna), await inInbox(box, bert)]).toEqual([1, 1]);
    expect(await aliasNow(box, id)).toMatchObject({ used: 1, usedAt: box.clock.now, firstFrom: 'list.shop.example' });
    await mail('team', 'other@else.example');
    expect(await aliasNow(box, id)).toMatchObject({ used: 2, firstFrom: 'list.shop.example' });
  });

  test('a full one misses what the others have room for; when all are full, the sender hears of it', async () => {
    await alias('team', { accounts: [bert, anna] });
    await box.store.write(setUse, { account: bert, used: 10, quota: 10 });
    expect(await accountsOf('team')).toEqual([anna]);
    await box.store.write(setUse, { account: anna, used: 10, quota: 10 });
    expect(await accountsOf('team')).toBe('full');
  });

  test('who blocks its sender gets nothing by its forward either', async () => {
    await alias('team', { accounts: [bert, anna] });
    const forward = { tenant: 1, keep: true, pending: false, stopped: false };
    await box.store.write(setForward, { ...forward, from: 'team@box.test', to: 'you@remote.example' });
    const rule = { tenant: 1, outward: false, kind: 'block', note: '' } as const;
    await box.store.write(addSenderRule, { ...rule, account: anna, pattern: 'list.shop.example' });
    expect(await mail('team')).toEqual({ kind: 'accepted' });
    expect([await inInbox(box, anna), await inInbox(box, bert)]).toEqual([0, 1]);
  });

  test('a mailbox that goes leaves the alias to the others, and takes with it what led to it alone', async () => {
    const team = await alias('team', { accounts: [bert, anna] });
    await alias('only', { accounts: [bert] });
    await box.store.write(dismiss, { tenant: 1, account: bert });
    expect((await aliasNow(box, team)).accounts).toEqual([anna]);
    expect(await accountsOf('only')).toBe('unknown');
  });

  test('of another tenant are never led to', async () => {
    const domain = (await aliasNow(box, await alias('one'))).domain;
    const input = { tenant: 2, domain, key: 'two@box.test', accounts: [anna], note: '', expiresAt: null, most: null };
    expect(await box.store.write(addAlias, input)).toEqual({ kind: 'no-domain' });
    expect(await box.store.write(changeAlias, { ...input, id: 1 })).toEqual({ kind: 'missing' });
    const elsewhere = { id: 1, tenant: 1, accounts: [anna, 999] };
    expect(await box.store.write(changeAlias, elsewhere)).toEqual({ kind: 'no-account' });
    expect(await box.store.write(removeAlias, { id: 1, tenant: 2 })).toEqual({ kind: 'missing' });
    expect(await accountsOf('one')).toEqual([anna]);
  });
});

describe('postmaster and abuse', () => {
  test.each(['postmaster', 'abuse'])('%s@ is there when what takes its mail has ended', async (role) => {
    await alias('*', { accounts: [bert], expiresAt: box.clock.now + 1000 });
    expect(await accountsOf(role)).toEqual([bert]);
    box.clock.now += 1000;
    expect(await accountsOf(role)).toEqual([anna]);
    expect(await accountsOf('other')).toBe('over');
    await alias(role, { accounts: [bert], expiresAt: box.clock.now + 1000 });
    expect(await accountsOf(role)).toEqual([bert]);
    box.clock.now += 1000;
    expect(await accountsOf(role)).toEqual([anna]);
  });
});

describe('an alias for a while', () => {
  test('ends at its time, and the catch-all does not take over', async () => {
    await alias('*', { accounts: [bert] });
    await alias('trial', { expiresAt: box.clock.now + 1000 });
    expect(await mail('trial')).toEqual({ kind: 'accepted' });
    box.clock.now += 1000;
    expect(await mail('trial')).toBe('over');
  });

  test('takes its one message, whoever is first of fifty at once', async () => {
    const id = await alias('once', { most: 1 });
    const said = await Promise.all(Array.from({ length: 50 }, () => mail('once')));
    const kinds = said.map((one) => (typeof one === 'string' ? one : one.kind));
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(1);
    const refused = said.filter((one): one is SmtpRefusal => typeof one !== 'string' && one.kind === 'refused');
    expect(refused.map(({ code, enhanced }) => `${code} ${enhanced}`)).toEqual(refused.map(() => '550 5.2.1'));
    expect(refused.length).toBeGreaterThan(0);
    expect(await inInbox(box, anna)).toBe(1);
    expect(await aliasNow(box, id)).toMatchObject({ used: 1 });
    expect(await mail('once')).toBe('over');
  });

  test('counts exactly under two hundred messages at once, also between wildcards and several mailboxes', async () => {
    const id = await alias('many-*', { most: 120, accounts: [anna, bert] });
    const said = await Promise.all(Array.from({ length: 200 }, (_, i) => mail(`many-${i}`)));
    expect(said.filter((one) => typeof one !== 'string' && one.kind === 'accepted')).toHaveLength(120);
    expect([await inInbox(box, anna), await inInbox(box, bert)]).toEqual([120, 120]);
    expect(await aliasNow(box, id)).toMatchObject({ used: 120 });
  });

  test('that ends on the way of a message asks for it again when there are other recipients', async () => {
    const id = await alias('once', { most: 1 });
    const to = [toAddress('once@box.test'), toAddress('bert@box.test')];
    const routes = await Promise.all(to.map((one) => backend.route(one, undefined)));
    await mail('once');
    const envelope: MessageEnvelope = {
      id: 'two',
      service: 'mx',
      sender: toAddress('a@else.example'),
      recipients: to.map((address, i) => ({ address, route: routes[i] ?? { kind: 'unknown' }, dsn: {} })),
      login: undefined,
      smtputf8: false,
      body: '7BIT',
      ret: undefined,
      envid: undefined,
      received: '',
      peer: { ip: '192.0.2.1', port: 1, helo: 'mx', tls: false },
    };
    const sink = backend.open(envelope);
    await sink.write(Buffer.from('From: a@else.example\r\n\r\nhello\r\n'));
    expect(await sink.finish()).toMatchObject({ code: 451, enhanced: '4.2.1' });
    expect(await inInbox(box, bert)).toBe(0);
    expect(await aliasNow(box, id)).toMatchObject({ used: 1 });
  });

  test('counts what people here send to it as well, and stops them too', async () => {
    const id = await alias('once', { most: 1 });
    const where = await whose('once');
    if (where.kind !== 'here') throw new Error(where.kind);
    const here = [{ account: anna, to: 'once@box.test', trace: '', aliases: [id] }];
    const of = { account: bert, sender: 'bert@box.test', here };
    const one = unlimitedSubmission(outgoing('From: bert@box.test\r\n\r\nhello\r\n', [], { ...of, trace: 'one' }));
    expect(await box.store.write(submit, one)).toMatchObject({ kind: 'taken' });
    expect(await box.store.write(submit, { ...one, trace: 'two' })).toMatchObject({ kind: 'refused' });
    expect(await aliasNow(box, id)).toMatchObject({ used: 1, firstFrom: 'box.test' });
  });

  test('counts what it passes on and keeps nothing of, and ends by that as well', async () => {
    const forward = { tenant: 1, keep: false, pending: false, stopped: false };
    await box.store.write(setForward, { ...forward, from: 'out@box.test', to: 'you@remote.example' });
    const id = await alias('out', { most: 1 });
    expect(await mail('out')).toEqual({ kind: 'accepted' });
    expect(await aliasNow(box, id)).toMatchObject({ used: 1 });
    expect(await mail('out')).toBe('over');
    expect(await inInbox(box, anna)).toBe(0);
  });

  test('counts what a forward inside of the box brings to it, and what somebody here sends through it', async () => {
    const forward = { tenant: 1, keep: false, pending: false, stopped: false };
    await box.store.write(setForward, { ...forward, from: 'bert@box.test', to: 'once@box.test' });
    await box.store.write(setForward, { ...forward, from: 'once@box.test', to: 'you@remote.example' });
    const id = await alias('once', { most: 2 });
    expect(await mail('bert')).toEqual({ kind: 'accepted' });
    const login = { account: bert, address: 'bert@box.test' };
    const body = 'From: bert@box.test\r\n\r\nhello\r\n';
    expect(await receiveMessage(backend, { from: 'bert@box.test', to: 'once@box.test', body, login })).toEqual({
      kind: 'accepted',
    });
    expect(await aliasNow(box, id)).toMatchObject({ used: 2 });
    // It leads nowhere now, so the mailbox of which it was forwarded keeps it.
    expect(await mail('bert')).toEqual({ kind: 'accepted' });
    expect(await inInbox(box, bert)).toBe(1);
  });

  test('goes on when it is given more', async () => {
    const id = await alias('once', { most: 1 });
    await mail('once');
    const terms = { id, tenant: 1, accounts: [bert], note: 'again', expiresAt: null, most: 2 };
    expect(await box.store.write(changeAlias, terms)).toEqual({ kind: 'changed' });
    expect(await mail('once')).toEqual({ kind: 'accepted' });
    expect([await inInbox(box, anna), await inInbox(box, bert)]).toEqual([1, 1]);
    expect(await mail('once')).toBe('over');
  });

  test('reports about what was written from it find who wrote it', async () => {
    await alias('trial', { expiresAt: box.clock.now });
    expect(await route(box.store, toAddress('trial@box.test'))).toMatchObject({ kind: 'here', accounts: [anna] });
  });
});

describe('whose an address is', () => {
  const owns = (account: number, key: string) => box.store.read(ownsAddress, { account, keys: [key] });

  test('each mailbox of an alias writes from it, and nobody from what only fits a *', async () => {
    await alias('team', { accounts: [bert, anna] });
    await alias('mine');
    await alias('x-*');
    await alias('*');
    expect(await Promise.all([anna, bert].map((one) => owns(one, 'team@box.test')))).toEqual(['own', 'own']);
    expect(await Promise.all([anna, bert].map((one) => owns(one, 'mine@box.test')))).toEqual(['own', 'foreign']);
    for (const key of ['x-1@box.test', 'x-*@box.test', 'any@box.test', '*@box.test'])
      expect(await owns(anna, key)).toBe('foreign');
  });

  test('it is an identity while it leads there', async () => {
    const id = await alias('mine');
    await alias('x-*');
    await box.store.write(alignIdentities, { account: anna });
    const emails = async () =>
      (await box.store.read(identitiesOf, { account: anna })).identities.map(({ email }) => email);
    expect(await emails()).toEqual(['anna@box.test', 'mine@box.test']);
    await box.store.write(removeAlias, { id, tenant: 1 });
    expect(await box.store.read(identitiesOf, { account: anna })).toMatchObject({ aligned: false });
    await box.store.write(alignIdentities, { account: anna });
    expect(await emails()).toEqual(['anna@box.test']);
  });

  test('one address has one meaning', async () => {
    await alias('mine');
    await expect(alias('mine', { accounts: [bert] })).rejects.toThrow('taken');
    await expect(alias('anna', { accounts: [bert] })).rejects.toThrow('taken');
    await expect(testAccount(box.store, 'mine')).rejects.toThrow('address-taken');
  });
});

describe('room for a message', () => {
  const announced = (size?: number) =>
    backend.route(toAddress('anna@box.test'), undefined, { sender: undefined, ip: '192.0.2.1', size });

  test('is looked for at RCPT when SIZE says how much', async () => {
    await box.store.write(setUse, { account: anna, used: 900, quota: 1000 });
    expect((await announced(100)).kind).toBe('here');
    expect((await announced(101)).kind).toBe('full');
    expect((await announced()).kind).toBe('here');
  });

  test('is looked for after DATA when it did not', async () => {
    await box.store.write(setUse, { account: anna, used: 990, quota: 1000 });
    expect(await mail('anna')).toMatchObject({ code: 452, enhanced: '4.2.2' });
    expect(await inInbox(box, anna)).toBe(0);
  });
});
