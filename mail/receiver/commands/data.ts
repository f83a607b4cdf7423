import { reply } from '../../smtp/reply.ts';
import { DataBody } from '../data-body.ts';
import { Incoming } from '../incoming.ts';
import { noWords, type SmtpCommand } from './command.ts';
import { unfit } from './unfit.ts';

/** DATA. RFC 5321 4.1.1.4. */
export const data: SmtpCommand<object> = {
  name: 'DATA',
  states: 'mail',
  parse: noWords('DATA'),

  run(session) {
    const { transaction } = session;
    if (transaction === undefined) return reply(503, '5.5.1', 'Say MAIL first');
    const refusal = unfit(session, transaction);
    if (refusal !== undefined) return refusal;
    transaction.incoming = new Incoming(session, transaction);
    const body = new DataBody(session, transaction.incoming);
    return { ...reply(354, '', 'Send the message, end it with <CRLF>.<CRLF>'), next: { kind: 'octets', body } };
  },
};
