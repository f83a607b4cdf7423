import { afterEach, beforeEach, expect, test } from 'vitest';
import { SharingStore } from '../../../mail/imap/sharing-store.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { restoreEmail } from '../../../src/operations/mailboxes/restore.ts';
import { listFolderShares, shareFolder } from '../../../src/operations/mailboxes/sharing.ts';
import { calls, type Calls } from '../../support/calls.ts';

let box: Calls;
/** A person who owns the organization, and its token. */
let owner: Caller;
let token: Caller;

beforeEach(async () => {
  box = await calls();
  token = await box.organization('Owner');
  owner = operatorCaller(token.organization);
  await onboard(owner, 'shop.example');
});
afterEach(() => box[Symbol.asyncDispose]());

async function onboard(caller: Caller, domain: string): Promise<void> {
  await box.done(caller, addEmailDomain, { domain });
  await box.perform(caller, verifyEmailDomain, { domain });
}

async function provision(localPart: string, caller = owner, domain = 'shop.example'): Promise<string> {
  const { mailbox } = await box.done<{ mailbox: { id: string } }>(caller, provisionEmail, { domain, localPart });
  return mailbox.id;
}

/** Names of the mailboxes of others that a person with the mailbox sees by IMAP. */
async function seenBy(mailboxId: string): Promise<string[]> {
  const account = Number(mailboxId.slice(4));
  const [row] = await box.rows<{ id: number }>(`SELECT id FROM credential WHERE account_id = ${account}`);
  await box.run(`UPDATE credential SET scopes = scopes || ' person' WHERE account_id = ${account}`);
  const actor = { credential: row?.id ?? 0 };
  const store = new SharingStore(box.world.store, account, () => 0, { actor });
  const all = await store.mailboxes();
  return all.filter(({ rights }) => rights !== undefined).map(({ name, rights = '' }) => `${name} ${rights}`);
}

test('a folder is shared, listed, changed and no longer shared', async () => {
  const [ann, bob] = [await provision('ann'), await provision('bob')];
  const share = (more: object) =>
    box.done(owner, shareFolder, { mailboxId: ann, withAddress: 'bob@shop.example', ...more });
  const inbox = { folder: 'INBOX', withAddress: 'bob@shop.example' };
  expect(await share({})).toEqual({ shares: [{ ...inbox, access: 'read', rights: 'lrs' }] });
  expect(await seenBy(bob)).toEqual(['Other Users/ann@shop.example/INBOX lrs']);
  await share({ folder: 'sent', access: 'write' });
  expect(await box.done(owner, listFolderShares, { mailboxId: ann })).toEqual({
    shares: [
      { ...inbox, access: 'read', rights: 'lrs' },
      { folder: 'Sent', withAddress: 'bob@shop.example', access: 'write', rights: 'lrswiten' },
    ],
  });
  expect(await share({ access: 'none' })).toMatchObject({ shares: [{ folder: 'Sent' }] });
  expect(await seenBy(bob)).toEqual(['Other Users/ann@shop.example/Sent lrswiten']);
  expect(await seenBy(ann)).toEqual([]);
});

test('an agent sees nothing of it: a password that a token was shown, or one of a mailbox under a policy', async () => {
  const [ann, bob] = [await provision('ann'), await provision('bob')];
  await box.done(owner, shareFolder, { mailboxId: ann, withAddress: 'bob@shop.example' });
  const account = Number(bob.slice(4));
  await box.run(`UPDATE credential SET scopes = 'imap agent' WHERE account_id = ${account}`);
  const [row] = await box.rows<{ id: number }>(`SELECT id FROM credential WHERE account_id = ${account}`);
  const seen = async (actor?: { credential: number }) =>
    (await new SharingStore(box.world.store, account, () => 0, { ...(actor && { actor }) }).mailboxes()).filter(
      ({ rights }) => rights !== undefined,
    );
  expect(await seen({ credential: row?.id ?? 0 })).toEqual([]);
  expect(await seen()).toEqual([]);
  await box.run(`UPDATE credential SET scopes = 'imap' WHERE account_id = ${account}`);
  expect(await seen({ credential: row?.id ?? 0 })).toHaveLength(1);
  await box.run(`INSERT INTO agent_policy_account (account_id, policy_id) VALUES (${account}, 1)`);
  expect(await seen({ credential: row?.id ?? 0 })).toEqual([]);
});

test('another organization is never shared with, and its mailboxes answer as if they did not exist', async () => {
  const ann = await provision('ann');
  const other = operatorCaller((await box.organization('Other')).organization);
  await onboard(other, 'else.example');
  const eve = await provision('eve', other, 'else.example');
  const share = (withAddress: string) => box.refused(owner, shareFolder, { mailboxId: ann, withAddress });
  const [foreign, unknown] = [await share('eve@else.example'), await share('nobody@shop.example')];
  expect(foreign.error).toBe('not_found');
  expect({ ...foreign, requestId: '' }).toEqual({ ...unknown, requestId: '' });
  expect(await box.refused(other, shareFolder, { mailboxId: ann, withAddress: 'eve@else.example' })).toMatchObject({
    error: 'not_found',
  });
  expect(await box.refused(other, listFolderShares, { mailboxId: ann })).toMatchObject({ error: 'not_found' });
  expect(await seenBy(eve)).toEqual([]);
  expect(
    await box.refused(owner, shareFolder, { mailboxId: ann, folder: 'nowhere', withAddress: 'ann@shop.example' }),
  ).toMatchObject({
    error: 'not_found',
  });
});

test('a share ends with its mailbox, and returns when that is restored', async () => {
  const [ann, bob] = [await provision('ann'), await provision('bob')];
  await box.done(owner, shareFolder, { mailboxId: ann, withAddress: 'bob@shop.example' });
  await box.done(owner, deleteEmail, { mailboxId: ann, confirm: 'ann@shop.example' });
  expect(await seenBy(bob)).toEqual([]);
  await box.done(owner, restoreEmail, { mailboxId: ann });
  expect(await seenBy(bob)).toEqual(['Other Users/ann@shop.example/INBOX lrs']);
});

test('no token shares or lists shares, whatever it may do', async () => {
  const mailboxId = await provision('ann');
  await provision('bob');
  for (const [operation, more] of [
    [shareFolder, { withAddress: 'bob@shop.example' }],
    [listFolderShares, {}],
  ] as const)
    expect(await box.refused(token, operation, { mailboxId, ...more })).toMatchObject({ error: 'action_not_allowed' });
});

test('shares are in the audit log, with the folder and the access', async () => {
  const ann = await provision('ann');
  await provision('bob');
  await box.done(owner, shareFolder, { mailboxId: ann, withAddress: 'bob@shop.example', access: 'write' });
  const rows = await box.rows<{ line: string }>(
    `SELECT json_object('what', operation, 'detail', detail) AS line FROM audit`,
  );
  expect(rows.map(({ line }) => line).join('\n')).toMatch(/share_folder.*write/);
});
