import { expect, test } from 'vitest';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { testWorld } from '../../support/world.ts';

const operator: Caller = operatorCaller();

test('the operator sees the certificate, what is used, and the documentation', async () => {
  await using made = await testWorld();
  const ask = async (name: string, input: object = {}) => {
    const operation = findOperation(name);
    if (operation === undefined) throw new Error(name);
    return perform(made.world, operation, operator, input);
  };
  expect(await ask('get_tls_status')).toMatchObject({
    result: { selfSigned: true, names: expect.stringContaining('DNS:mail.test') as string },
  });
  expect(await ask('get_usage')).toMatchObject({
    result: { domains: 0, mailboxes: 0, messages: 0, storedBytes: 0, services: 0, queued: 0 },
  });
  const found = await ask('search_docs', { query: 'backup disk', limit: 2 });
  expect(found).toMatchObject({ kind: 'done' });
  if (found.kind !== 'done') throw new Error('refused');
  expect((found.result['sections'] as { document: string }[])[0]?.document).toBe('backups.md');
  expect(await ask('search_docs', { query: 'zzzzzz' })).toMatchObject({ result: { sections: [] } });
});
