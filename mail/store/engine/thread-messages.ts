import type { UpgradeStep } from './upgrade-step.ts';
import type { WriteResponse, Failure, WriteJob } from './writer-host.ts';
import type { TextIndexPaths } from '../search/text-index.ts';
import type { BlobRequest } from '../blob/blob-request.ts';
import type { WakeUp } from './types.ts';

/** Messages between the main thread and the store threads. Plain data only. */
export type ToWriter = { kind: 'jobs'; jobs: WriteJob[] } | { kind: 'close' };

export type FromWriter =
  /** Before `ready`. */
  | { kind: 'upgrading'; step: UpgradeStep }
  | { kind: 'ready' }
  | { kind: 'answers'; answers: WriteResponse[]; wakeUps: WakeUp[] }
  | { kind: 'fatal'; failure: Failure }
  | { kind: 'closed' };

export type ToReader =
  { kind: 'query'; id: number; name: string; input: unknown } | { kind: 'ping' } | { kind: 'close' };

export type FromReader =
  { kind: 'answer'; answer: WriteResponse } | BlobRequest | { kind: 'pong' } | { kind: 'closed' };

/** Start parameters of a store thread. */
export type ThreadData =
  | { role: 'writer'; database: string }
  /** `running`: the id of the query that runs now, as Int32; 0: none. */
  | { role: 'reader'; database: string; running: SharedArrayBuffer }
  | { role: 'text'; place: TextIndexPaths };
