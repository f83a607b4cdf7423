import { expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import type { AttemptResult } from '../../../mail/store/queue/queue.ts';
import { ResultRecorder } from '../../../mail/relay/result-recorder.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeQueue } from '../../support/fake-queue.ts';

function result(id: number): AttemptResult {
  const where = { host: '', ip: '', tls: '', at: 0, nextAt: 0 };
  return { id, outcome: 'delivered', code: 250, status: '2.0.0', text: 'ok', ...where };
}

function setUp(): { clock: FakeClock; queue: FakeQueue; recorder: ResultRecorder } {
  const clock = new FakeClock();
  const queue = new FakeQueue(() => clock.now());
  queue.add(['a', 'b', 'c', 'd'].map((name) => `${name}@remote.test`));
  return { clock, queue, recorder: new ResultRecorder(queue, clock, quiet) };
}

test('results that come together are one write; those that come meanwhile are the next', async () => {
  const { queue, recorder } = setUp();
  const written: number[] = [];
  const gate = Promise.withResolvers<void>();
  queue.before = (call) => (call === 'finish' ? gate.promise : undefined);
  for (const id of [1, 2]) recorder.add([result(id)], [], () => written.push(id));
  await Promise.resolve();
  for (const id of [3, 4]) recorder.add([result(id)], [], () => written.push(id));
  expect(written).toEqual([]);
  gate.resolve();
  await recorder.close();
  expect(queue.events).toEqual(['finish 1 2', 'finish 3 4']);
  expect(written).toEqual([1, 2, 3, 4]);
});

test('one result that the store refuses does not hold up the others, and is tried again', async () => {
  const { clock, queue, recorder } = setUp();
  const finish = queue.finish.bind(queue);
  let refuses = true;
  queue.finish = (results, bounces) =>
    refuses && results.some(({ id }) => id === 2) ? Promise.reject(new Error('no')) : finish(results, bounces);
  for (const id of [1, 2, 3]) recorder.add([result(id)], [], () => undefined);
  await queue.recorded(2);
  expect(queue.events).toEqual(['finish 1', 'finish 3']);
  refuses = false;
  while (queue.results.length < 3) {
    await new Promise(setImmediate);
    clock.advance(1000);
  }
  expect(queue.events).toEqual(['finish 1', 'finish 3', 'finish 2']);
});

test('closing does not wait for a store that takes nothing', async () => {
  const { queue, recorder } = setUp();
  queue.finish = () => Promise.reject(new Error('closed'));
  recorder.add([result(1)], [], () => expect.unreachable());
  await recorder.close();
  expect(queue.results).toEqual([]);
});
