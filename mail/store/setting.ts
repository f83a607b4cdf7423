import { command, lookup } from './engine/types.ts';

/** Stores a value of the database itself, such as its id or the check value of its key. An existing value stays. */
export const setSetting = command(
  'set-setting',
  async (tx, input: { name: string; value: Uint8Array }): Promise<'set' | 'kept'> => {
    const { changes } = await tx.run(
      'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
      input.name,
      input.value,
    );
    return changes === 1 ? 'set' : 'kept';
  },
);

/** Stores a value that changes. */
export const changeSetting = command(
  'change-setting',
  async (tx, input: { name: string; value: Uint8Array }): Promise<void> => {
    await tx.run(
      'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      input.name,
      input.value,
    );
  },
);

export const getSetting = lookup(
  'get-setting',
  async (rx, input: { name: string }): Promise<Uint8Array | undefined> => {
    const row = await rx.get<{ value: Uint8Array }>('SELECT value FROM setting WHERE name = ?', input.name);
    return row?.value;
  },
);
