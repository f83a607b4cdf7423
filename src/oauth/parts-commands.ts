import type { Command } from '../../mail/store/engine/types.ts';
import { registerClient } from './client-commands.ts';
import { addCode, exchangeCode } from './code-commands.ts';
import { endGrant, refreshGrant } from './grant-commands.ts';
import { forgetOAuth } from './tidy-commands.ts';

/** What this area writes. */
export const OAUTH: readonly Command<never, unknown>[] = [
  addCode,
  endGrant,
  exchangeCode,
  forgetOAuth,
  refreshGrant,
  registerClient,
];
