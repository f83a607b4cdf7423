import { expect, test } from 'vitest';
import { WriterClient } from '../../mail/store/engine/client.ts';

test('closing resolves also when the writer thread ended by itself', async () => {
  const thread = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => process.exit(1));
    parentPort.postMessage({ kind: 'ready' });`;
  const ended = Promise.withResolvers<Error>();
  const writer = await WriterClient.start({
    thread: new URL(`data:text/javascript,${encodeURIComponent(thread)}`),
    database: '',
    clock: Date.now,
    committed: () => {},
    fatal: ended.resolve,
    observe: () => {},
  });
  const lost = writer.write({ kind: 'command', name: 'any', run: () => Promise.resolve() }, {}, false);
  await expect(lost).rejects.toThrow('the writer thread ended');
  expect((await ended.promise).message).toBe('the writer thread ended');
  await writer.close();
}, 3000);
