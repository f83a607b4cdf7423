import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { createSenderRuleLookup } from '../../mail/filter/sender-rule-lookup.ts';
import { networksOf } from '../../mail/policy/network-pattern.ts';
import { senderPatterns, matchSenderRules } from '../../mail/policy/sender-rules.ts';
import type { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import {
  addSenderRule,
  MAX_SENDER_RULES,
  type NewSenderRule,
  removeSenderRule,
  senderRules,
  senderRulesOf,
} from '../../mail/store/filter/sender-rule.ts';
import { sampleFrom, sampleWith, vouchedBy } from '../support/sample.ts';
import { testAlias } from '../support/aliases.ts';
import { testBackend, toAddress } from '../support/receive-message.ts';
import { filteringBy } from '../support/filtering.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { cpuOf } from '../support/cost.ts';

let box: TestStore;
let backend: StoreReceiverBackend;
let anna: number;
let bert: number;

beforeEach(async () => {
  box = await testStore();
  backend = testBackend(box);
  ({ account: anna } = await testAccount(box.store, 'anna'));
  ({ account: bert } = await testAccount(box.store, 'bert'));
});
afterEach(() => box[Symbol.asyncDispose]());

const add = (rule: Partial<NewSenderRule> & { pattern: string }) =>
  box.store.write(addSenderRule, { tenant: 1, account: anna, outward: false, kind: 'block', note: '', ...rule });
const toAnna = (sender: string | undefined, ip = '192.0.2.7', local = 'anna', by = backend) =>
  by.route(toAddress(`${local}@box.test`), undefined, {
    sender: sender === undefined ? undefined : toAddress(sender),
    ip,
    size: undefined,
  });

const CHECKS = { ...filteringBy(() => Promise.reject(new Error('nobody asks'))), checks: true };

describe('before a message has come', () => {
  test.each([
    ['its envelope sender', 'ann@shop.example'],
    ['the domain of that', 'shop.example'],
    ['a domain above it', '*.example'],
    ['the network of the peer', '192.0.2.0/24'],
  ])('%s is blocked', async (_name, pattern) => {
    expect((await toAnna('Ann@shop.example')).kind).toBe('here');
    await add({ pattern });
    expect((await toAnna('Ann@shop.example')).kind).toBe('blocked');
    expect((await toAnna('Ann@other.test', '198.51.100.1')).kind).toBe('here');
    // Nobody else's business.
    expect((await toAnna('Ann@shop.example', undefined, 'bert')).kind).toBe('here');
  });

  test('its envelope sender is blocked with and without quotes', async () => {
    await add({ pattern: 'shop.example' });
    expect((await toAnna('"a b"@shop.example')).kind).toBe('blocked');
    expect((await toAnna('"a b"@other.test')).kind).toBe('here');
  });

  test('the null reverse-path is nobody, and comes from somewhere', async () => {
    await add({ pattern: 'shop.example' });
    expect((await toAnna(undefined)).kind).toBe('here');
    await add({ pattern: '192.0.2.7/32' });
    expect((await toAnna(undefined)).kind).toBe('blocked');
    expect((await toAnna(undefined, '::ffff:192.0.2.7')).kind).toBe('blocked');
    expect((await toAnna(undefined, '2001:db8::7')).kind).toBe('here');
  });

  test('what an organization blocks a mailbox allows for itself', async () => {
    await add({ pattern: 'shop.example', account: null });
    expect((await toAnna('ann@shop.example')).kind).toBe('blocked');
    await add({ pattern: 'shop.example', kind: 'allow' });
    expect((await toAnna('ann@shop.example')).kind).toBe('here');
    expect((await toAnna('ann@shop.example', undefined, 'bert')).kind).toBe('blocked');
  });

  test.each([
    ['a network', '192.0.2.0/24', null, 'boss@partner.example', null],
    ['a domain above', '*.example', null, '*.sub.partner.example', null],
    ['a domain', 'shop.example', null, 'boss@partner.example', null],
    ['a domain of the organization', 'shop.example', null, 'partner.example', 'own'],
    ['an address', 'ann@shop.example', null, 'boss@partner.example', 'own'],
  ])('%s that is blocked waits for the author whom a rule allows', async (_name, pattern, _all, allowed, own) => {
    await add({ pattern, account: null });
    expect((await toAnna('ann@shop.example')).kind).toBe('blocked');
    await add({ pattern: allowed, kind: 'allow', account: own === null ? null : anna });
    // A sending service has an envelope sender of its own: the allow rule may match the author in From.
    expect((await toAnna('ann@shop.example')).kind).toBe('blocked');
    const filtered = testBackend(box, { filter: CHECKS });
    expect((await toAnna('ann@shop.example', undefined, 'anna', filtered)).kind).toBe('here');
  });

  test('a network that is allowed weighs less than the name that is blocked', async () => {
    await add({ pattern: 'shop.example' });
    await add({ pattern: '192.0.2.7/32', kind: 'allow' });
    const filtered = testBackend(box, { filter: CHECKS });
    expect((await toAnna('ann@shop.example', undefined, 'anna', filtered)).kind).toBe('blocked');
  });

  test('an alias leads on to those who do not block', async () => {
    await testAlias(box, 'team', { accounts: [anna, bert] });
    await add({ pattern: 'shop.example' });
    expect(await toAnna('ann@shop.example', undefined, 'team')).toMatchObject({ kind: 'here', accounts: [bert] });
    await add({ pattern: 'shop.example', account: bert });
    expect((await toAnna('ann@shop.example', undefined, 'team')).kind).toBe('blocked');
  });

  test('who is logged in is no stranger', async () => {
    await add({ pattern: 'box.test' });
    const login = { account: bert, address: toAddress('bert@box.test'), credential: 1 };
    const announced = { sender: toAddress('bert@box.test'), ip: '192.0.2.7', size: undefined };
    expect((await backend.route(toAddress('anna@box.test'), login, announced)).kind).toBe('here');
  });
});

describe('rules of a mailbox and of its organization', () => {
  const about = {
    author: toAddress('ann@shop.example'),
    aligned: true,
    sender: undefined,
    networks: networksOf('192.0.2.7'),
  };
  const ruling = async (account: number) =>
    matchSenderRules(await box.store.read(senderRules, { account, patterns: senderPatterns(about) }), about);

  test('are found for who is filtered', async () => {
    await add({ pattern: 'shop.example', kind: 'allow' });
    await add({ pattern: '*.example', account: null });
    await add({ pattern: 'shop.example', outward: true });
    expect(await ruling(anna)).toMatchObject({ kind: 'allow' });
    expect(await ruling(bert)).toMatchObject({
      kind: 'block',
      why: 'Mail from *.example is blocked by the organization',
    });
    expect(await ruling(999)).toBeUndefined();
  });

  test('of another tenant are not', async () => {
    expect(await add({ pattern: 'shop.example', tenant: 2 })).toEqual({ kind: 'no-account' });
    await add({ pattern: 'shop.example', tenant: 2, account: null });
    expect(await ruling(anna)).toBeUndefined();
    expect((await toAnna('ann@shop.example')).kind).toBe('here');
  });

  test('are changed by adding them again, and removed by their own tenant', async () => {
    const first = await add({ pattern: 'shop.example' });
    expect(await add({ pattern: 'shop.example', kind: 'allow' })).toEqual(first);
    expect(await ruling(anna)).toMatchObject({ kind: 'allow' });
    const id = first.kind === 'added' ? first.id : 0;
    expect(await box.store.write(removeSenderRule, { tenant: 2, id })).toEqual({ kind: 'missing' });
    expect(await box.store.write(removeSenderRule, { tenant: 1, id })).toEqual({ kind: 'removed' });
    expect(await ruling(anna)).toBeUndefined();
  });

  test('are at most ten thousand, and found among these as among few', async () => {
    const look = (): Promise<unknown> => toAnna('ann@n7.example');
    await add({ pattern: 'n7.example' });
    const few = await cpuOf(look);
    for (let i = 0; i < MAX_SENDER_RULES; i += 500)
      await Promise.all(Array.from({ length: 500 }, (_, j) => add({ pattern: `n${i + j}.example` })));
    expect(await add({ pattern: 'one-more.example' })).toEqual({ kind: 'too-many' });
    expect(await add({ pattern: 'n7.example', kind: 'allow' })).toMatchObject({ kind: 'added' });
    const page = { tenant: 1, accounts: [anna], shared: true, outward: false, after: 0, limit: 3 };
    expect(await box.store.read(senderRulesOf, page)).toHaveLength(3);
    for (let i = 0; i < 50; i++) expect((await toAnna(`ann@n${i * 7}.example`)).kind).toMatch(/^(?:blocked|here)$/);
    expect(await cpuOf(look)).toBeLessThan(10 * few);
  });
});

describe('a message that is filtered', () => {
  const ruled = (authentication = vouchedBy('shop.example')) =>
    createSenderRuleLookup(box.store, sampleWith({ author: 'ann@shop.example', authentication }));

  test('by an author who is allowed and proved, or blocked, has a rule; one not proved has a remark', async () => {
    expect(await ruled()(anna)).toEqual({ findings: [] });
    await add({ pattern: 'shop.example', kind: 'allow' });
    await add({ pattern: 'shop.example', account: bert });
    const said = ruled();
    expect(await said(anna)).toEqual({
      rule: { kind: 'allow', why: 'Mail from shop.example is allowed by the mailbox' },
      findings: [],
    });
    expect(await said(bert)).toMatchObject({ rule: { kind: 'block' } });
    const unproven = await ruled(sampleWith({}).authentication)(anna);
    expect(unproven.rule).toBeUndefined();
    expect(unproven.findings).toMatchObject([{ rule: 'allow-list', score: 0 }]);
  });
});

test('a message by an author in quotes is ruled like any', async () => {
  await add({ pattern: 'shop.example', account: null });
  const sample = await sampleFrom('From: "a b"@shop.example\n\nx\n');
  expect(await createSenderRuleLookup(box.store, sample)(anna)).toMatchObject({ rule: { kind: 'block' } });
});

describe('mail that leaves', () => {
  const send = async (to: string, over: object = {}) => {
    const mail = outgoing('From: anna@box.test\r\n\r\nhello\r\n', [to], {
      trace: `to ${to}`,
      account: anna,
      sender: 'anna@box.test',
      ...over,
    });
    return box.store.write(submit, unlimitedSubmission(mail));
  };

  test('goes to nobody who is blocked, and the refusal names the rule', async () => {
    await add({ pattern: '*.rival.example', outward: true, account: null });
    await add({ pattern: 'boss@shop.example', outward: true });
    expect(await send('ann@shop.example')).toMatchObject({ kind: 'taken' });
    expect(await send('"a b"@eu.rival.example')).toMatchObject({ kind: 'refused' });
    expect(await send('Boss+x@Shop.example')).toEqual({
      kind: 'refused',
      because:
        'Mail to Boss+x@Shop.example is blocked by the rule boss@shop.example of the mailbox; list_sender_rules shows it',
    });
    expect(await send('x@eu.rival.example')).toMatchObject({
      because: expect.stringContaining('the rule *.rival.example of the organization') as string,
    });
  });

  test('is not stopped by what is said about who writes to us, nor by rules of others', async () => {
    await add({ pattern: 'shop.example' });
    await add({ pattern: 'shop.example', outward: true, account: bert });
    await add({ pattern: 'shop.example', outward: true, account: null, tenant: 2 });
    expect(await send('ann@shop.example')).toMatchObject({ kind: 'taken' });
  });

  test('of a program is stopped by what the organization says', async () => {
    await add({ pattern: 'shop.example', outward: true });
    const program = { account: null, tenant: 1 };
    expect(await send('ann@shop.example', program)).toMatchObject({ kind: 'taken' });
    await add({ pattern: 'shop.example', outward: true, account: null });
    expect(await send('bea@shop.example', program)).toMatchObject({ kind: 'refused' });
  });
});
