import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeWriting, openForWriting } from '../../../mail/store/engine/connection.ts';
import { command, type WriteHooks } from '../../../mail/store/engine/types.ts';
import type { WriteJob } from '../../../mail/store/engine/writer-host.ts';
import { Writer } from '../../../mail/store/engine/writer.ts';

const note = command('note', async (tx, input: { text: string }): Promise<string> => {
  await tx.run('INSERT INTO note (text) VALUES (?)', input.text);
  return input.text;
});

const job = (id: number, text: string, slice: boolean): WriteJob => ({
  id,
  name: 'note',
  input: { text },
  stamp: { now: 0 },
  slice,
});

test('work that arrives while slices wait goes before those that have not begun, and all of them run', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'writer-'));
  const connection = openForWriting(join(directory, 'writer.db'));
  try {
    connection.script('CREATE TABLE note (text TEXT)');
    const arriving = [job(9, 'arrived', false)];
    const { promise: idle, resolve } = Promise.withResolvers<void>();
    const writer = new Writer(
      connection,
      { commands: [note], hooks: {} as WriteHooks },
      {
        // The first look is before the first slice, the second one after it.
        more: () => (looks++ === 0 ? [] : arriving.splice(0)),
        answer: (answers) => order.push(...answers.map((one) => (one.ok ? String(one.value) : one.failure.message))),
        fatal: (failure) => order.push(failure.message),
        idle: resolve,
      },
    );
    const order: string[] = [];
    let looks = 0;
    writer.submit([job(1, 'slice 1', true), job(2, 'slice 2', true), job(3, 'slice 3', true)]);
    await idle;
    expect(order).toEqual(['slice 1', 'arrived', 'slice 2', 'slice 3']);
    expect(
      connection.all<{ text: string }>('SELECT text FROM note ORDER BY rowid', []).map(({ text }) => text),
    ).toEqual(order);
  } finally {
    closeWriting(connection);
    rmSync(directory, { recursive: true });
  }
});
