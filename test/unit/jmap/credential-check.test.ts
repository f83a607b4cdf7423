import { expect, test } from 'vitest';
import { stopAgents } from '../../../src/tokens/mode-commands.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { isCredentialValid } from '../../../src/jmap/routes.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { SendWorld } from '../../support/send-world.ts';

const passwords = query('test-passwords', async (rx, { account }: { account: number }): Promise<string[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM credential WHERE account_id = ? ORDER BY id', account);
  return rows.map(({ id }) => `pwd-${id}`);
});

test('while all agents are stopped, the password of an agent is invalid and that of a person is valid', async () => {
  await using box = await SendWorld.open();
  const { world } = box;
  const ask = (name: string, input: object) =>
    perform(world, findOperation(name) ?? expect.fail(name), operatorCaller(), input);
  const account = await box.account('me@a.test');
  await ask('create_app_password', { address: 'me@a.test', name: 'phone', person: true });
  await ask('save_agent_policy', { mailboxId: `mbx_${account}`, preset: 'custom' });
  const all = await world.store.read(passwords, { account });
  const told = (): Promise<boolean[]> => Promise.all(all.map((one) => isCredentialValid(world, one)));
  expect(await told()).toEqual([true, true]);
  await world.store.write(stopAgents, { organization: 1, stopped: true });
  expect(await told()).toEqual([false, true]);
  await world.store.write(stopAgents, { organization: 1, stopped: false });
  expect(await told()).toEqual([true, true]);
  expect(await isCredentialValid(world, 'pwd-999')).toBe(false);
});
