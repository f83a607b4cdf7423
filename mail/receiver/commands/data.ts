import { reply } from '../../smtp/reply.ts';
import { DataInput } from '../data-input.ts';
import { MessageTransfer } from '../message-transfer.ts';
import { noWords, type SmtpCommand } from './command.ts';
import { refuseData } from './data-refusal.ts';

/** DATA. RFC 5321 4.1.1.4. */
export const data: SmtpCommand<object> = {
  name: 'DATA',
  states: 'mail',
  parse: noWords('DATA'),

  run(session) {
    const { transaction } = session;
    if (transaction === undefined) return reply(503, '5.5.1', 'Send MAIL first');
    const refusal = refuseData(session, transaction);
    if (refusal !== undefined) return refusal;
    transaction.transfer = new MessageTransfer(session, transaction);
    const input = new DataInput(session, transaction.transfer);
    return { ...reply(354, '', 'Send the message, end it with <CRLF>.<CRLF>'), next: { kind: 'octets', input } };
  },
};
