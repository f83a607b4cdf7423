import type { Stamp, Write } from './engine/types.ts';
import { sendersOf } from './judged.ts';
import type { Says } from './lesson.ts';
import { noteSenderLesson } from './sender.ts';

/** What was said of a message counts for who sent it as well. Part of the commit that takes up the lesson. */
export async function noteLessonOfSender(
  tx: Write,
  { account, email, says }: { account: number; email: number; says: Says },
  stamp: Stamp,
): Promise<void> {
  const keys = await sendersOf(tx, email);
  if (keys.length === 0) return;
  await noteSenderLesson(tx, { account, keys, lesson: says === 'junk' ? 'junk' : 'kept' }, stamp);
}
