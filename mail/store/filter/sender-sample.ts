import type { Stamp, Write } from '../engine/types.ts';
import { sendersOf } from './filter-result.ts';
import { recordSenderVote } from './sender.ts';

/** Category of a sample: junk or good as stated by a person, or kept, inferred. */
export type SampleCategory = 'junk' | 'good' | 'kept';

/** Records a sample in the sender's reputation. Part of the commit that trains it. */
export async function recordSenderSample(
  tx: Write,
  { account, email, says }: { account: number; email: number; says: SampleCategory },
  stamp: Stamp,
): Promise<void> {
  const keys = await sendersOf(tx, email);
  if (keys.length === 0) return;
  await recordSenderVote(tx, { account, keys, vote: says === 'junk' ? 'junk' : 'kept' }, stamp);
}
