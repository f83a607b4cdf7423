import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { expungedCode } from '../condstore.ts';
import { STAR } from '../wire/sequence-set.ts';
import { type AppendArguments, appendUid, receiveMessages } from './append.ts';

interface ReplaceArguments extends AppendArguments {
  /** A sequence number or UID; {@link STAR}: the last message. */
  message: number;
}

/** REPLACE and UID REPLACE: stores a new version of a message and expunges the old one, in one commit. RFC 8508. */
export const replace: ImapCommand<ReplaceArguments> = {
  name: 'REPLACE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  capabilities: ['REPLACE'],

  parse(d) {
    const message = d.sp().maybe('*') ? STAR : d.nzNumber();
    return { message, mailbox: d.sp().mailbox(), text: d.rest() };
  },

  async run(session, { message, ...into }, call) {
    const { view } = session;
    if (view.readOnly) return no('READ-ONLY', 'Mailbox is read-only');
    const [uid] = view.uidsOf([{ from: message, to: message }], call.uid);
    if (uid === undefined || (call.uid && message !== STAR && uid !== message)) {
      return no('EXPUNGEISSUED', 'The message to replace does not exist');
    }
    const outcome = await receiveMessages(session, into, call, { mailbox: view.shared.mailbox, uid });
    if (outcome.kind === 'refused') return outcome.response;
    // RFC 8508 3.1: before EXISTS and EXPUNGE, which the view sends.
    session.write(`* OK [${appendUid(outcome)}] Stored\r\n`);
    const code = await expungedCode(session);
    return code === undefined ? ok('Replaced') : ok(code, 'Replaced');
  },
};
