import type { Read } from '../engine/types.ts';
import type { StateType } from './type-state.ts';

/** Mod-sequence before which changes of a type were purged. */
export async function tombstoneFloor(rx: Read, account: number, type: StateType): Promise<number> {
  const row = await rx.get<{ floor: number }>(
    'SELECT floor FROM type_state WHERE account_id = ? AND type = ?',
    account,
    type,
  );
  return row?.floor ?? 0;
}
