import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { anonymousCaller, operatorCaller, tokenCaller } from '../../../src/operations/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { findToken } from '../../../src/tokens/commands.ts';
import { secretHash } from '../../../src/tokens/token.ts';
import { testWorld } from '../../support/world.ts';

test('a removed organization leaves nothing but its audit rows', async () => {
  await using made = await testWorld();
  const { world, store } = made;
  const run = async (caller: Parameters<typeof perform>[2], name: string, input: object) => {
    const operation = findOperation(name);
    if (operation === undefined) throw new Error(name);
    const done = await perform(world, operation, caller, input);
    if (done.kind === 'refused') throw new Error(JSON.stringify(done.refusal));
    return done.result;
  };
  const before = rowsOf(store.dataDir);
  const nobody = anonymousCaller('rest', '192.0.2.7');
  const { token, organization } = await run(nobody, 'create_account_and_claim_link', {
    organizationName: 'Short-lived',
    ownerEmail: 'owner@elsewhere.example',
  });
  const found = await world.store.read(findToken, { hash: secretHash(String(token)) });
  if (found === undefined) throw new Error('no token');
  const owner = tokenCaller(found, 'rest', '192.0.2.7');
  await run(owner, 'add_email_domain', { domain: 'short.test' });
  await run(owner, 'verify_email_domain', { domain: 'short.test' });
  const { service } = (await run(owner, 'create_service', { name: 'app' })) as { service: { id: string } };
  await run(owner, 'provision_email', { domain: 'short.test', localPart: 'me', attachServiceId: service.id });
  await run(owner, 'create_app_password', { address: 'me@short.test', name: 'phone' });
  await run(owner, 'create_email_api_key', { name: 'key' });
  await run(owner, 'set_email_inbound_webhook', { address: 'me@short.test', url: 'http://127.0.0.1:9/hook' });
  await run(owner, 'set_email_forwarder', {
    sourceAddress: 'me@short.test',
    destinationAddress: 'me@elsewhere.example',
  });
  await run(owner, 'create_project', { name: 'Second' });

  const { id, slug } = organization as { id: string; slug: string };
  await run(operatorCaller(), 'remove_organization', { targetOrganizationId: id, confirm: slug });
  const after = rowsOf(store.dataDir);
  const left = Object.keys(after).filter((table) => after[table] !== before[table]);
  // The gone account is emptied by housekeeping; the claim mail and what was counted belong to the box.
  expect(left.toSorted()).toEqual([
    'account',
    'audit',
    'blob',
    'hit',
    'journal',
    'mailbox',
    'queue',
    'queue_lane',
    'setting',
    'submission',
  ]);
});

function rowsOf(dataDir: string): Record<string, number> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`).all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      Number(db.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).get()?.['n']),
    ]),
  );
}
