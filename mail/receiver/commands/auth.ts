import type { SaslExchange, SaslStep } from '../../login/types.ts';
import { decodeBase64 } from '../../smtp/base64.ts';
import { reply } from '../../smtp/reply.ts';
import { fault } from '../../smtp/syntax.ts';
import { closing, type Answer } from '../answer.ts';
import type { Conversation } from '../conversation.ts';
import type { SmtpCommand } from './command.ts';

interface AuthWords {
  mechanism: string;
  /** Base64 of the initial response; `=` is an empty one. */
  initial: string | undefined;
}

/** AUTH. RFC 4954. */
export const auth: SmtpCommand<AuthWords> = {
  name: 'AUTH',
  states: 'greeted',

  parse(text) {
    const words = /^([A-Za-z0-9_-]{1,20})(?: ([A-Za-z0-9+/=]+))?$/.exec(text.trimEnd());
    if (words === null)
      return fault(501, '5.5.4', 'The form is AUTH mechanism, with a first response in base64 or not');
    return { mechanism: words[1]!.toUpperCase(), initial: words[2] };
  },

  run(session, { mechanism, initial }) {
    const { settled, peer, secure, door } = session;
    if (door === 'mx') return reply(502, '5.5.1', 'There is no login here; use the submission port');
    if (session.login !== undefined) return reply(503, '5.5.1', 'You are logged in already');
    if (session.transaction !== undefined) return reply(503, '5.5.1', 'A message is under way; finish it or say RSET');
    if (!secure) return reply(538, '5.7.11', 'Say STARTTLS first: passwords do not pass here in the clear');
    const exchange = settled.logins.start(mechanism, { ip: peer.ip, door, secure });
    if (exchange === undefined) return reply(504, '5.5.4', `The mechanism ${mechanism} is not offered here`);
    if (initial === undefined) return step(session, exchange, undefined);
    // RFC 4954 4: a single `=` is a response of no octets, which base64 could not show.
    const response = initial === '=' ? Buffer.alloc(0) : decodeBase64(initial);
    return response === undefined ? failed(session, notBase64) : step(session, exchange, response);
  },
};

const notBase64 = reply(501, '5.5.2', 'A response is base64');

async function step(session: Conversation, exchange: SaslExchange, response: Buffer | undefined): Promise<Answer> {
  return answer(session, exchange, await exchange.step(response));
}

/** The next line of the exchange. RFC 4954 4: `*` gives up. */
function takeLine(session: Conversation, exchange: SaslExchange, line: string): Answer | Promise<Answer> {
  if (line === '*') return failed(session, reply(501, '5.7.0', 'Login given up'));
  const response = decodeBase64(line);
  return response === undefined ? failed(session, notBase64) : step(session, exchange, response);
}

function answer(session: Conversation, exchange: SaslExchange, outcome: SaslStep): Answer {
  if (outcome.kind === 'challenge') {
    const take = (line: string) => takeLine(session, exchange, line);
    return { ...reply(334, '', outcome.data.toString('base64')), next: { kind: 'line', take } };
  }
  session.settled.meter.count('smtp_logins_total', { outcome: outcome.kind });
  switch (outcome.kind) {
    case 'in':
      session.enter(outcome.login);
      return reply(235, '2.7.0', 'Welcome');
    case 'wrong':
      return failed(session, reply(535, '5.7.8', 'Wrong user name or password'));
    case 'throttled':
      return failed(session, reply(454, '4.7.0', `Too many failed logins, try again in ${outcome.retryAfter} s`));
    case 'busy':
      return reply(454, '4.7.0', 'Too many logins at once, try again');
    case 'barred':
      return reply(454, '4.7.0', outcome.why);
    case 'malformed':
      return failed(session, reply(501, '5.5.2', outcome.why));
  }
}

/** RFC 4954 4 lets a server close when logins fail. */
function failed(session: Conversation, refusal: Answer): Answer {
  session.tally.failedLogins += 1;
  if (session.tally.failedLogins < session.settled.limits.failedLogins) return refusal;
  return closing(421, '4.7.0', 'Too many failed logins');
}
