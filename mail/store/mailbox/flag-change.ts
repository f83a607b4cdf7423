import type { Actor } from '../actor.ts';
import type { NamedFlags } from './flags.ts';

export type StoreFlagsResult =
  { kind: 'done'; modseq: number | null; modified: number[] } | { kind: 'too-many-keywords' } | { kind: 'missing' };

export interface FlagChange {
  account: number;
  mailbox: number;
  uids: readonly number[];
  how: 'add' | 'remove' | 'replace';
  flags: NamedFlags;
  unchangedSince: number | null;
  /** The credential that makes the change, if any. */
  actor?: Actor | undefined;
  /** The agent that makes it; null or left out: a person. */
  by?: string | null;
}
