import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMailboxes } from '../../../mail/store/mailbox/mailbox.ts';
import { jmapId } from '../../../mail/store/object-id.ts';
import { translatedRefusal } from '../../../src/webmail/client/refusals.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { auditedOperations } from '../../support/factors.ts';
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

const share = ({ visitor }: Someone, fields: Record<string, string>, headers = {}) =>
  visitor.post('/mail/shares', fields, headers);

const list = ({ visitor }: Someone, site = 'same-origin'): Promise<Said> =>
  http('GET', `${box.base}/mail/shares`, { cookie: visitor.cookie ?? '', 'sec-fetch-site': site });

async function inboxOf(account: number): Promise<string> {
  const [inbox] = await box.world.store.read(listMailboxes, { account });
  return jmapId('mailbox', inbox?.id ?? 0);
}

test('a person shares a folder, changes that, lists it and revokes it; the audit log has each', async () => {
  const someone = await reader(box.anna);
  const folder = await inboxOf(box.anna);
  const address = 'bert@box.test';
  for (const [access, rights] of [
    ['view', 'lr'],
    ['read', 'lrs'],
    ['add', 'lrswi'],
    ['write', 'lrswiten'],
    ['custom', 'lrw'],
  ] as const) {
    const done = await share(someone, { folder, address, access, rights: access === 'custom' ? rights : '' });
    expect(done.status).toBe(200);
    expect((await list(someone)).json).toEqual({ shares: [{ folder, address, access, rights }] });
  }
  const done = await share(someone, { folder, address, access: 'none' });
  expect([done.status, done.json]).toEqual([200, { shares: [] }]);
  const audited = await box.world.store.read(auditedOperations, { target: `mbx_${box.anna}` });
  expect(audited.filter((one) => one === 'share_folder')).toHaveLength(6);
});

test.each([
  ['an address that is not of the organization', 422, 'unknown-address', { address: 'stranger@elsewhere.test' }],
  ['the own address', 422, 'unknown-address', { address: 'anna@box.test' }],
  ['another access', 422, 'no-access', { access: 'send' }],
  ['a property of objects as access', 422, 'no-access', { access: 'constructor' }],
  ['rights without a letter', 422, 'no-access', { access: 'custom', rights: '' }],
  ['a right that cannot be granted', 422, 'no-access', { access: 'custom', rights: 'lra' }],
  ['a folder that does not exist', 404, 'no-folder', { folder: 'f999' }],
])('%s is refused with a code that web mail translates, and nothing is shared', async (_name, status, code, given) => {
  const someone = await reader(box.anna);
  const fields = { folder: await inboxOf(box.anna), address: 'bert@box.test', access: 'read', ...given };
  const refused = await share(someone, fields);
  expect([refused.status, refused.json]).toEqual([status, { detail: translatedRefusal(code), code }]);
  expect((await list(someone)).json).toEqual({ shares: [] });
});

test('nobody shares or lists by the page of another site, or the folder of somebody else', async () => {
  const [anna, bert] = [await reader(box.anna), await reader(box.bert)];
  const folder = await inboxOf(box.anna);
  const fields = { folder, address: 'bert@box.test', access: 'read' };
  expect((await share(anna, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await list(anna, 'cross-site')).status).toBe(403);
  expect((await share(bert, { ...fields, address: 'anna@box.test' })).status).toBe(404);
  const nobody = { 'sec-fetch-site': 'same-origin' };
  expect((await http('GET', `${box.base}/mail/shares`, nobody)).status).toBe(401);
});
