import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../../src/core/caller.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { sendOneEmail } from '../../../src/operations/sending/send.ts';
import { addSenderRuleOf, listSenderRules, removeSenderRuleOf } from '../../../src/operations/sender-rules/rules.ts';
import { calls, type Calls } from '../../support/calls.ts';

interface Shown {
  id: string;
  kind: string;
  pattern: string;
  direction: string;
  mailboxId: string | null;
}

let box: Calls;
let owner: Caller;
let anna: string;
let bert: string;

beforeEach(async () => {
  box = await calls();
  owner = await box.organization('Owner');
  await box.done(owner, addEmailDomain, { domain: 'shop.example' });
  await box.perform(owner, verifyEmailDomain, { domain: 'shop.example' });
  anna = await mailbox('anna');
  bert = await mailbox('bert');
});
afterEach(() => box[Symbol.asyncDispose]());

async function mailbox(localPart: string): Promise<string> {
  const args = { domain: 'shop.example', localPart };
  return (await box.done<{ mailbox: { id: string } }>(owner, provisionEmail, args)).mailbox.id;
}
const add = async (args: object, caller = owner): Promise<Shown> =>
  (await box.done<{ rule: Shown }>(caller, addSenderRuleOf, { kind: 'block', ...args })).rule;
const list = async (args: object = {}, caller = owner): Promise<Shown[]> =>
  (await box.done<{ rules: Shown[] }>(caller, listSenderRules, args)).rules;
const limited = (id: string): Caller => ({ ...owner, mailboxes: [Number(id.slice(4))] });

test('rules are normalized, listed by mailbox and direction, and deleted', async () => {
  const all = await add({ pattern: '*.Rival.Example', direction: 'out', note: 'a competitor' });
  expect(all).toMatchObject({ direction: 'out', kind: 'block', pattern: '*.rival.example', mailboxId: null });
  const own = await add({ pattern: '192.0.2.77/24', mailboxId: anna });
  expect(own).toMatchObject({ direction: 'in', pattern: '192.0.2.0/24', mailboxId: anna });
  expect(await add({ pattern: '192.0.2.0/24', mailboxId: anna, kind: 'allow' })).toMatchObject({
    id: own.id,
    kind: 'allow',
  });
  expect((await list()).map(({ id }) => id)).toEqual([all.id, own.id]);
  expect((await list({ mailboxId: bert })).map(({ id }) => id)).toEqual([all.id]);
  expect((await list({ direction: 'in' })).map(({ id }) => id)).toEqual([own.id]);
  expect(await box.done(owner, listSenderRules, { limit: 1 })).toMatchObject({ nextCursor: all.id.slice(4) });
  expect(await list({ limit: 1, cursor: all.id.slice(4) })).toMatchObject([{ id: own.id }]);
  await box.done(owner, removeSenderRuleOf, { ruleId: own.id });
  expect(await list()).toMatchObject([{ id: all.id }]);
  const audit = await box.rows<{ operation: string }>(
    `SELECT operation FROM audit WHERE operation LIKE '%sender_rule'`,
  );
  expect(audit).toHaveLength(4);
});

test.each([
  ['no pattern at all', { pattern: 'everybody else' }],
  ['a star alone', { pattern: '*' }],
  ['half the Internet', { pattern: '0.0.0.0/1' }],
  ['a network for what leaves', { pattern: '192.0.2.0/24', direction: 'out' }],
  ['an allow list for what leaves', { pattern: 'shop.example', direction: 'out', kind: 'allow' }],
  ['a line end', { pattern: 'shop.example\r\nx' }],
])('%s is refused with the forms that there are', async (_name, args) => {
  expect(await box.refused(owner, addSenderRuleOf, { kind: 'block', ...args })).toMatchObject({
    error: 'invalid_arguments',
  });
});

test('a token limited to one mailbox manages the rules of that one only', async () => {
  const shared = await add({ pattern: 'all.example' });
  const berts = await add({ pattern: 'bert.example', mailboxId: bert });
  const own = await add({ pattern: 'own.example' }, limited(anna));
  expect(own).toMatchObject({ mailboxId: anna });
  expect((await list({}, limited(anna))).map(({ id }) => id)).toEqual([own.id]);
  for (const { id } of [shared, berts])
    expect(await box.refused(limited(anna), removeSenderRuleOf, { ruleId: id })).toMatchObject({
      error: 'out_of_scope',
    });
  const foreign = { kind: 'block', pattern: 'x.example', mailboxId: bert };
  expect(await box.refused(limited(anna), addSenderRuleOf, foreign)).toMatchObject({ error: 'out_of_scope' });
});

test('another organization can neither list nor delete them', async () => {
  const mine = await add({ pattern: 'all.example' });
  const other = await box.organization('Other');
  expect(await list({}, other)).toEqual([]);
  expect(await box.refused(other, removeSenderRuleOf, { ruleId: mine.id })).toMatchObject({ error: 'not_found' });
});

test('rules are deleted with their mailbox', async () => {
  await add({ pattern: 'bert.example', mailboxId: bert });
  await box.done(owner, deleteEmail, { mailboxId: bert });
  expect(await list({ direction: 'in' })).toEqual([]);
});

test('a send tool reports the rule that blocks it', async () => {
  await add({ pattern: 'rival.example', direction: 'out' });
  const mail = { from: 'anna@shop.example', to: 'ceo@rival.example', subject: 'hello', text: 'hello' };
  const refusal = await box.refused(owner, sendOneEmail, mail);
  expect(refusal).toMatchObject({ error: 'recipient_blocked' });
  expect(refusal.message).toContain('rival.example of the organization');
});

test.each(['*@shop.example', 'ann*@shop.example', 'a.*@shop.example'])('%s would be about nobody', async (pattern) => {
  expect(await box.refused(owner, addSenderRuleOf, { kind: 'block', pattern })).toMatchObject({
    error: 'invalid_arguments',
    message: expect.stringContaining('shop.example') as unknown,
  });
});
