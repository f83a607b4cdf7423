import type { Call } from '../operations/operation.ts';

/** A secret of a message that an agent was given. */
export interface ShownSecret {
  kind: 'code' | 'link';
  text: string;
  account: number;
}

/** Where the filter of what leaves is told of it. */
export async function noteShownSecret(_call: Call, _shown: ShownSecret): Promise<void> {}
