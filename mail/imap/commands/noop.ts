import { ok } from '../answer.ts';
import { ANY, nothing, SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RFC 9051 6.1.2. What happened meanwhile is told by the loop, as after every command. */
export const noop: ImapCommand<undefined> = {
  name: 'NOOP',
  states: ANY,
  parse: nothing,
  run: () => ok('Nothing done'),
};

/** RFC 3501 6.4.1. */
export const check: ImapCommand<undefined> = {
  name: 'CHECK',
  states: SELECTED,
  parse: nothing,
  run: () => ok('Everything is on disk'),
};
