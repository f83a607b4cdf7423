import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import { memoryHolderOf } from '../../../mail/login/types.ts';
import { openMemory } from '../../../src/jmap/http-exchange.ts';
import { toAddress } from '../../support/receive-message.ts';

test('logins of one organization share its memory, whatever their credential, account and network', () => {
  const context = { memory: new MemoryBudget(100) } as Parameters<typeof openMemory>[0];
  const open = (account: number, tenant: number, ip: string) => {
    const login = { account, tenant, credential: account, address: toAddress('a@box.test') };
    const session = { username: 'a', accounts: new Map(), credential: `pwd-${account}` };
    return openMemory(context, { ...session, memoryHolder: memoryHolderOf(login) }, ip);
  };
  expect(open(1, 1, '192.0.2.1').tryGrow(50)).toBe(true);
  expect(open(2, 1, '192.0.2.2').tryGrow(1)).toBe(false);
  expect(open(3, 2, '192.0.2.3').tryGrow(25)).toBe(true);
});
