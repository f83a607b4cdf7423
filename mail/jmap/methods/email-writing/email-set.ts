import { MAIL } from '../../capabilities.ts';
import { EmailChanges } from '../../compose/change-emails.ts';
import { createEmail } from '../../compose/create-email.ts';
import { StateTrack } from '../../state-track.ts';
import { handOf, type Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { readSet, runSet } from '../../standard-set.ts';

/** RFC 8621 4.6. */
export const emailSet: Method = {
  name: 'Email/set',
  capability: MAIL,
  async run(call, args) {
    const { desk } = call;
    const set = readSet(call, args, {});
    const asked = { call, account: set.access.account, hand: handOf(set.access) };
    const track = await StateTrack.begin(desk.store, asked.account, set.ifInState);
    const changes = new EmailChanges(desk, asked, track);
    const answer = await runSet(call, set, {
      state: () => Promise.resolve(track.states.newState),
      create: (_, object) => refusable(call.desk.log, () => createEmail(desk, asked, track, object)),
      updateAll: (patches) => changes.update(patches),
      destroyAll: (ids) => changes.destroy(ids),
    });
    return { ...answer, ...track.states };
  },
};
