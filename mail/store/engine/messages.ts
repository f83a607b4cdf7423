import type { Answer, Failure, Job } from './writer.ts';
import type { TextPlace } from '../search/text-index.ts';
import type { WakeUp } from './types.ts';

/** What crosses between the main thread and the store's threads. Plain data only. */
export type ToWriter = { kind: 'jobs'; jobs: Job[] } | { kind: 'close' };

export type FromWriter =
  | { kind: 'ready' }
  | { kind: 'answers'; answers: Answer[]; wakeUps: WakeUp[] }
  | { kind: 'fatal'; failure: Failure }
  | { kind: 'closed' };

export type ToReader = { kind: 'query'; id: number; name: string; input: unknown } | { kind: 'close' };

export type FromReader = { kind: 'answer'; answer: Answer } | { kind: 'closed' };

/** What a store thread is started with. */
export type ThreadData =
  { role: 'writer'; database: string } | { role: 'reader'; database: string } | { role: 'text'; place: TextPlace };
