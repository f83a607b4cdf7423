import type { Command } from '../../mail/store/engine/types.ts';
import { addKeys, forgetKeys, recordCheck, removeDomain, setManaged, setUpDomain } from './commands.ts';

/** What this area writes. */
export const DOMAINS: readonly Command<never, unknown>[] = [
  addKeys,
  forgetKeys,
  recordCheck,
  removeDomain,
  setManaged,
  setUpDomain,
];
