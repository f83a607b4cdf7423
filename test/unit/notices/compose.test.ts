import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendNotice, type SystemNotice } from '../../../mail/delivery/notice.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { addDomain } from '../../../mail/store/address/domain.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { forwardsOf } from '../../../mail/store/address/forwarder.ts';
import { OPERATOR_VIEW } from '../../../mail/store/journal/journal.ts';
import { queueOfTrace } from '../../../mail/store/queue/queue-rows.ts';
import { composeNotice } from '../../../src/notices/compose.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import { setForward } from '../../support/forward-world.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const post = command('test-post', (tx, notice: SystemNotice, stamp) => sendNotice(tx, notice, stamp));
const forward = { tenant: 1, from: 'sales@box.test', keep: true, pending: false, stopped: false };

let box: TestWorld;

beforeEach(async () => {
  box = await testWorld({}, [setForward, post]);
  await box.world.store.write(addDomain, { tenant: 1, name: 'box.test', verified: true });
});
afterEach(() => box[Symbol.asyncDispose]());

async function mailed(text: string): Promise<string[]> {
  const to = parseAddress(text) ?? expect.fail(text);
  const letter = await composeNotice(box.world, {
    kind: 'claim',
    to,
    subject: 'Your organization',
    text: 'Open this page',
  });
  await box.world.store.write(post, letter);
  const rows = await box.world.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: letter.trace });
  return rows.map((row) => row.recipient);
}

test('a letter to an address that only forwards goes where it leads, never out to ourselves', async () => {
  await box.world.store.write(setForward, { ...forward, to: 'owner@elsewhere.example' });
  expect(await mailed('sales@box.test')).toEqual(['owner@elsewhere.example']);
});

test('one to an address elsewhere, or that leads nowhere, is tried at its domain', async () => {
  expect(await mailed('owner@elsewhere.example')).toEqual(['owner@elsewhere.example']);
  expect(await mailed('nobody@box.test')).toEqual(['nobody@box.test']);
});

test('the forwards of a frozen organization stand still until it may work again', async () => {
  const { store } = box.world;
  await store.write(setForward, { ...forward, to: 'owner@elsewhere.example' });
  const states = async () =>
    (await store.read(forwardsOf, { keys: ['sales@box.test'], now: 0 })).map(({ state }) => state);
  await store.write(freezeOrganization, { id: 1, frozen: true });
  expect(await states()).toEqual(['stopped']);
  await store.write(freezeOrganization, { id: 1, frozen: false });
  expect(await states()).toEqual(['active']);
});
