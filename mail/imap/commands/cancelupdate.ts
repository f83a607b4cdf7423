import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** CANCELUPDATE: ends the updates of searches, by their tags. RFC 5267 4.3.5. */
export const cancelUpdate: ImapCommand<readonly string[]> = {
  name: 'CANCELUPDATE',
  states: SELECTED,

  parse(d) {
    const tags: string[] = [];
    do tags.push(d.sp().string());
    while (!d.trailing());
    return tags;
  },

  run({ contexts }, tags) {
    const missing = tags.filter((tag) => !contexts.delete(tag));
    return missing.length === 0 ? ok('Updates cancelled') : no('No updates for some of these tags');
  },
};
