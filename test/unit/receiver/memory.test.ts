import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import type { MessageSink } from '../../../mail/receiver/needs.ts';
import { testBackend, toAddress } from '../../support/receive-message.ts';
import { testAccount, testStore } from '../../support/store.ts';

const HEADER = 'From: a@far.example\r\nSubject: x\r\n\r\n';
const BODY = Buffer.from(`${'text '.repeat(15)}\r\n`.repeat(1000));

async function world() {
  const box = await testStore();
  await testAccount(box.store, 'anna');
  const memory = new MemoryBudget(170_000);
  const backend = testBackend(box, { memory });
  const address = toAddress('anna@box.test');
  const route = await backend.route(address, undefined);
  let sent = 0;
  const begin = (ip: string): MessageSink => {
    const sink = backend.open({
      id: `message-${++sent}`,
      service: 'mx',
      sender: toAddress('a@far.example'),
      recipients: [{ address, route, dsn: {} }],
      login: undefined,
      smtputf8: false,
      body: '7BIT',
      ret: undefined,
      envid: undefined,
      received: 'Received: from mx.far.example\r\n',
      peer: { ip, port: 1, helo: 'mx.far.example', tls: false },
    });
    void sink.write(Buffer.from(HEADER));
    return sink;
  };
  return { begin, memory, [Symbol.asyncDispose]: () => box[Symbol.asyncDispose]() };
}

test('messages under way are counted; without memory the next one is deferred, others are accepted', async () => {
  await using here = await world();
  const first = here.begin('192.0.2.1');
  await first.write(BODY);
  const again = here.begin('192.0.2.1');
  await again.write(BODY);
  expect(here.memory.held).toBeLessThan(170_000);
  expect(await again.finish()).toMatchObject({ code: 451 });
  const other = here.begin('192.0.2.9');
  await other.write(BODY.subarray(0, 40_000));
  expect(await other.finish()).toEqual({ kind: 'accepted' });
  expect(await first.finish()).toEqual({ kind: 'accepted' });
  expect(here.memory.held).toBe(0);
});

test('a message that is given up gives its memory back', async () => {
  await using here = await world();
  const sink = here.begin('192.0.2.1');
  await sink.write(BODY);
  expect(here.memory.held).toBeGreaterThan(70_000);
  sink.abort();
  expect(here.memory.held).toBe(0);
});
