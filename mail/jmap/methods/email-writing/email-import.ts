import { access } from '../../access.ts';
import { mapOf, nullable, object, plainObject, text } from '../../arguments.ts';
import { MAIL } from '../../capabilities.ts';
import { importEmail } from '../../compose/import-email.ts';
import { StateTrack } from '../../state-track.ts';
import { handOf, type Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { checkCount, createEach } from '../../standard-set.ts';

/** RFC 8621 4.8. */
export const emailImport: Method = {
  name: 'Email/import',
  capability: MAIL,
  async run(call, args) {
    const read = object({ accountId: access(call, 'write'), ifInState: nullable(text), emails: mapOf(plainObject) })(
      args,
      '',
    );
    checkCount(call, read.emails.size);
    const asked = { call, account: read.accountId.account, hand: handOf(read.accountId) };
    const track = await StateTrack.begin(call.desk.store, asked.account, read.ifInState);
    const created = await createEach(call, read.emails, (given) =>
      refusable(call.desk.log, () => importEmail(call.desk, asked, track, given)),
    );
    return { accountId: args['accountId'], ...track.states, ...created };
  },
};
