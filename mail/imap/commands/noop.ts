import { ok } from '../tagged-response.ts';
import { ANY, noArguments, SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** NOOP. RFC 9051 6.1.2. The loop sends pending updates, as after every command. */
export const noop: ImapCommand<undefined> = {
  name: 'NOOP',
  states: ANY,
  parse: noArguments,
  run: () => ok('NOOP completed'),
};

/** CHECK. RFC 3501 6.4.1. Every write is already flushed. */
export const check: ImapCommand<undefined> = {
  name: 'CHECK',
  states: SELECTED,
  parse: noArguments,
  run: () => ok('CHECK completed'),
};
