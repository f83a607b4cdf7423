import type { Read } from './engine/types.ts';
import type { StateType } from './type-state.ts';

/** Changes of a type before this mod-sequence are not known any more. */
export async function floorOf(rx: Read, account: number, type: StateType): Promise<number> {
  const row = await rx.get<{ floor: number }>(
    'SELECT floor FROM type_state WHERE account_id = ? AND type = ?',
    account,
    type,
  );
  return row?.floor ?? 0;
}
