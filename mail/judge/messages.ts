import type { LessonSource } from '../store/lesson-words.ts';
import type { Arriving, Judgement } from './judging.ts';

/** What crosses between the main thread and the judge's. */
export type ToJudge =
  | { kind: 'judge'; id: number; mail: Arriving }
  /** Which words a stored message has, to learn from it. */
  | { kind: 'read'; id: number; source: LessonSource }
  | { kind: 'close' };

export type FromJudge =
  | { kind: 'judged'; id: number; judgement: Judgement }
  | { kind: 'read'; id: number; words: readonly number[] }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'said'; level: 'info' | 'warn'; fields: object; text: string };
