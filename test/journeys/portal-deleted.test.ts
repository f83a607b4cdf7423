import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { leads, type Owned, portalBox } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;
beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
});
afterAll(() => box[Symbol.asyncDispose]());

const shown = async (path: string): Promise<string> =>
  (await acme.owner.get(`${acme.path}${path}`)).text.replaceAll('<wbr />', '');

test('a person deletes a mailbox, restores it, and deletes it permanently', async () => {
  const made = await tool(base, 'provision_email', { domain: 'acme.test', localPart: 'brief' }, acme.token);
  const { id: mailboxId, address } = made.body['mailbox'] as { id: string; address: string };
  const list = `${acme.path}/mailboxes`;
  expect(leads(await acme.owner.act(`${list}/${mailboxId}`, 'remove', { confirm: address }))).toBe(
    `303 ${list}?done=deleted`,
  );
  const text = await shown('/mailboxes?done=deleted');
  expect(text).toContain('You can restore it below for 30 days.');
  expect(text).toContain('Purged on');
  expect(text).not.toContain(`/mailboxes/${mailboxId}"`);
  expect((await acme.owner.get(`${list}/${mailboxId}`)).status).toBe(404);

  const theirs = await other.owner.act(`${other.path}/mailboxes`, 'restore', { mailboxId });
  expect(theirs.status).toBe(422);
  const back = await acme.owner.act(list, 'restore', { mailboxId });
  expect(back.text.replaceAll('<wbr />', '')).toContain(`>${address}</a> is restored.`);
  expect(back.text).toContain('The generated password was replaced');
  expect((await acme.owner.get(`${list}/${mailboxId}`)).status).toBe(200);

  await acme.owner.act(`${list}/${mailboxId}`, 'remove', { confirm: address });
  const wrong = await acme.owner.act(list, 'purge', { mailboxId, confirm: 'other@acme.test' });
  expect([wrong.status, wrong.text.includes('different address')]).toEqual([422, true]);
  expect(await shown('/mailboxes')).toContain('Purged on');
  expect(leads(await acme.owner.act(list, 'purge', { mailboxId, confirm: address }))).toBe(`303 ${list}?done=purged`);
  expect(await shown('/mailboxes')).not.toContain('Purged on');
});

test('a person deletes a service, restores it, and deletes it permanently', async () => {
  const made = await tool(base, 'create_service', { name: 'shop' }, acme.token);
  const { id: serviceId } = made.body['service'] as { id: string };
  const list = `${acme.path}/services`;
  expect(leads(await acme.owner.act(`${list}/${serviceId}`, 'remove'))).toBe(`303 ${list}?done=deleted`);
  expect(await shown('/services')).toContain('Purged on');
  expect((await acme.owner.act(list, 'restore', { serviceId })).text).toContain('shop</a> is restored.');
  await acme.owner.act(`${list}/${serviceId}`, 'remove');
  expect(leads(await acme.owner.act(list, 'purge', { serviceId }))).toBe(`303 ${list}?done=purged`);
  expect(await shown('/services')).not.toContain('Purged on');
});
