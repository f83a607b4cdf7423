import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SendVerdict } from '../../mail/agents/gate/sending-policy.ts';
import { quiet } from '../../mail/log.ts';
import { receiveMessage, testBackend } from '../support/receive-message.ts';
import { type ForwardWorld, forwardWorld } from '../support/forward-world.ts';
import { testAccount } from '../support/store.ts';

let world: ForwardWorld;
let account: number;
beforeEach(async () => {
  world = await forwardWorld();
  ({ account } = await testAccount(world.box.store));
  await world.set('sales', 'you@x.example', { keep: false });
});
afterEach(() => world[Symbol.asyncDispose]());

test.each([
  [{ kind: 'allow' }, 1],
  [{ kind: 'hold', because: 'a person looks at it' }, 0],
  [{ kind: 'refuse', because: 'Not this' }, 0],
] as [SendVerdict, number][])('what the gate says (%o) counts %d forwards', async (verdict, forwards) => {
  const counted: unknown[] = [];
  const meter = { ...quiet, count: (name: string, labels?: object) => counted.push([name, labels]) };
  const backend = testBackend(world.box, { policy: () => verdict, meter });
  const body = 'From: me@box.test\nSubject: hello\n\nhello\n';
  await receiveMessage(backend, {
    from: 'me@box.test',
    to: 'sales@box.test',
    body,
    login: { account, address: 'me@box.test' },
  });
  expect(counted).toEqual(Array.from({ length: forwards }, () => ['forwards_total', { outcome: 'sent_on' }]));
});
