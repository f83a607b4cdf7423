import { MAIL } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { answerChanges, readChanges } from '../../standard-changes.ts';
import { changedThreads } from '../../thread/changes.ts';

/** Thread/changes: a thread is destroyed with the last of its emails that is shown. RFC 8621 3.2. */
export const threadChangesMethod: Method = {
  name: 'Thread/changes',
  capability: MAIL,
  async run(call, args) {
    const asked = readChanges(call, args);
    return answerChanges(asked, await changedThreads(call.desk, asked));
  },
};
