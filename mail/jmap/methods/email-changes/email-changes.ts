import { MAIL } from '../../capabilities.ts';
import { changedEmails } from '../../email/changes.ts';
import type { Method } from '../../method.ts';
import { answerChanges, readChanges } from '../../standard-changes.ts';

/** Email/changes. RFC 8621 4.3. */
export const emailChangesMethod: Method = {
  name: 'Email/changes',
  capability: MAIL,
  async run(call, args) {
    const asked = readChanges(call, args);
    return answerChanges(asked, await changedEmails(call.desk, asked));
  },
};
