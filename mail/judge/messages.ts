import type { Arriving, Judgement } from './judging.ts';

/** What crosses between the main thread and the judge's. */
export type ToJudge = { kind: 'judge'; id: number; mail: Arriving } | { kind: 'close' };

export type FromJudge =
  | { kind: 'judged'; id: number; judgement: Judgement }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'said'; level: 'info' | 'warn'; fields: object; text: string };
