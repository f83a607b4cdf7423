import { afterAll, beforeAll, expect, test } from 'vitest';
import { translatedRefusal } from '../../../src/webmail/client/refusals.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { http, type Said } from '../../support/mcp.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

async function reader(account: number): Promise<Someone> {
  const someone = await box.someone('member', 1, [account]);
  const form = await someone.visitor.formToken('/account');
  await someone.visitor.post('/mail/open', { form, mailbox: `mbx_${account}` });
  return someone;
}

const add = ({ visitor }: Someone, fields: Record<string, string>, headers = {}) =>
  visitor.post('/mail/senders/add', { kind: 'block', ...fields }, headers);
const remove = ({ visitor }: Someone, rule: string) => visitor.post('/mail/senders/remove', { rule });
const list = ({ visitor }: Someone, site = 'same-origin'): Promise<Said> =>
  http('GET', `${box.base}/mail/senders`, { cookie: visitor.cookie ?? '', 'sec-fetch-site': site });

test('a reader blocks a sender, allows a domain, sees both, the newest first, and removes one', async () => {
  const anna = await reader(box.anna);
  await add(anna, { pattern: 'ann@shop.example' });
  const { json } = await add(anna, { kind: 'allow', pattern: '*.shop.example' });
  const rules = json?.['rules'] as { id: string; kind: string; pattern: string }[];
  expect(rules.map(({ kind, pattern }) => [kind, pattern])).toEqual([
    ['allow', '*.shop.example'],
    ['block', 'ann@shop.example'],
  ]);
  expect((await remove(anna, rules[1]?.id ?? '')).json).toEqual({ rules: rules.slice(0, 1) });
  expect((await list(anna)).json).toEqual({ rules: rules.slice(0, 1) });
});

test.each(['', 'no domain', 'a*@shop.example', `${'a'.repeat(330)}@shop.example`])(
  '"%s" names no sender and is refused with a code that web mail translates',
  async (pattern) => {
    const bert = await reader(box.bert);
    const refused = await add(bert, { pattern });
    expect([refused.status, refused.json]).toEqual([
      422,
      { detail: translatedRefusal('no-sender'), code: 'no-sender' },
    ]);
    expect((await list(bert)).json).toEqual({ rules: [] });
  },
);

test('a rule of somebody else is no rule of the reader, and stays', async () => {
  const [anna, bert] = [await reader(box.anna), await reader(box.bert)];
  const { json } = await add(anna, { pattern: 'kept.example' });
  const rules = json?.['rules'] as { id: string }[];
  const refused = await remove(bert, rules[0]?.id ?? '');
  expect([refused.status, refused.json]).toEqual([404, { detail: translatedRefusal('no-rule'), code: 'no-rule' }]);
  expect((await list(anna)).json).toEqual(json);
});

test('the page of another site changes and lists nothing', async () => {
  const bert = await reader(box.bert);
  expect((await add(bert, { pattern: 'x.example' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await list(bert, 'cross-site')).status).toBe(403);
  expect((await list(bert)).json).toEqual({ rules: [] });
});
