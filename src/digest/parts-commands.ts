import type { Command } from '../../mail/store/engine/types.ts';
import { answerOnce, forgetDigests, setDailyLetter, stopByAnswer, tellDigest } from './commands.ts';

/** What this area writes. */
export const DIGEST: readonly Command<never, unknown>[] = [
  answerOnce,
  forgetDigests,
  setDailyLetter,
  stopByAnswer,
  tellDigest,
];
