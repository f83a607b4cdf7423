import type { LessonSource } from '../store/lesson-words.ts';
import type { Labels } from '../log.ts';
import type { Arriving, Judgement } from './judging.ts';

/** What the judge is asked: all about a message that arrives, or the words of a stored one. */
export type Question = { kind: 'judge'; mail: Arriving } | { kind: 'words'; source: LessonSource };

/** What it answers. */
export type Found = Judgement | number[];

/** What crosses between the main thread and the judge's. */
export type ToJudge = (Question & { id: number }) | { kind: 'close' };

export type FromJudge =
  /** It has something to do and is not in a loop; when it begins, and four times a second. `cpu`: ms that it has had so far. */
  | { kind: 'works'; cpu: number }
  | { kind: 'begun'; id: number }
  | { kind: 'answer'; id: number; value: Found }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'counted'; name: string; labels: Labels }
  | { kind: 'said'; level: 'info' | 'warn'; fields: object; text: string };
