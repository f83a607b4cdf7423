import { expect, test } from 'vitest';
import { run, succeed } from './run.ts';

const shell = (script: string, patienceMs?: number) =>
  run('/bin/sh', ['-c', script], patienceMs === undefined ? {} : { patienceMs });

test('a program that does not end is killed with its children, and the error says after how long', async () => {
  // The child holds the pipes open: without its death `close` would come after an hour.
  await expect(shell('sleep 3600 & wait', 100)).rejects.toThrow(
    '/bin/sh was killed after 0.1 s; it had written nothing',
  );
});

test('a program that a signal ended says which one, and what it had written', async () => {
  await expect(shell('echo begun; echo warning >&2; kill -SEGV $$')).rejects.toThrow(
    '/bin/sh was ended by SIGSEGV; it had written:\nbegun\n\nwarning\n',
  );
});

test('a program that failed says its status and what it wrote', async () => {
  expect(await shell('echo begun; exit 3')).toEqual({ status: 3, out: 'begun\n', err: '' });
  await expect(succeed('/bin/sh', ['-c', 'echo begun; exit 3'])).rejects.toThrow(
    '/bin/sh ended with 3; it had written:\nbegun\n',
  );
});
