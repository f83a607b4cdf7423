import type { SaslExchange, SaslStep } from '../../login/types.ts';
import { decodeStrictBase64 } from '../../smtp/base64.ts';
import { reply } from '../../smtp/reply.ts';
import { fault } from '../../smtp/syntax.ts';
import { closing, type SmtpResponse } from '../response.ts';
import { loginPeer, type SmtpSessionState } from '../session-state.ts';
import type { SmtpCommand } from './command.ts';

interface AuthArguments {
  mechanism: string;
  /** Base64 of the initial response; `=` is an empty one. */
  initial: string | undefined;
}

/** AUTH. RFC 4954. */
export const auth: SmtpCommand<AuthArguments> = {
  name: 'AUTH',
  states: 'greeted',

  parse(text) {
    const words = /^([A-Za-z0-9_-]{1,20})(?: ([A-Za-z0-9+/=]+))?$/.exec(text.trimEnd());
    if (words === null) return fault(501, '5.5.4', 'Syntax: AUTH mechanism [initial response in base64]');
    return { mechanism: words[1]!.toUpperCase(), initial: words[2] };
  },

  run(session, { mechanism, initial }) {
    const { options, secure, service } = session;
    if (service === 'mx') return reply(502, '5.5.1', 'AUTH is not available on this port, use the submission port');
    if (session.login !== undefined) return reply(503, '5.5.1', 'Already logged in');
    if (session.transaction !== undefined) {
      return reply(503, '5.5.1', 'A transaction is open: finish it or send RSET');
    }
    if (!secure) return reply(538, '5.7.11', 'Encryption required: send STARTTLS before AUTH');
    const exchange = options.logins.start(mechanism, loginPeer(session));
    if (exchange === undefined) return reply(504, '5.5.4', `The mechanism ${mechanism} is not supported`);
    if (initial === undefined) return step(session, exchange, undefined);
    // RFC 4954 4: a single `=` is a response of no octets, which base64 cannot express.
    const response = initial === '=' ? Buffer.alloc(0) : decodeStrictBase64(initial);
    return response === undefined ? countFailure(session, notBase64) : step(session, exchange, response);
  },
};

const notBase64 = reply(501, '5.5.2', 'The response is not valid base64');

async function step(
  session: SmtpSessionState,
  exchange: SaslExchange,
  response: Buffer | undefined,
): Promise<SmtpResponse> {
  return respond(session, exchange, await exchange.step(response));
}

/** Takes the next line of the exchange. RFC 4954 4: `*` cancels it. */
function takeLine(
  session: SmtpSessionState,
  exchange: SaslExchange,
  line: string,
): SmtpResponse | Promise<SmtpResponse> {
  if (line === '*') return countFailure(session, reply(501, '5.7.0', 'Authentication cancelled'));
  const response = decodeStrictBase64(line);
  return response === undefined ? countFailure(session, notBase64) : step(session, exchange, response);
}

function respond(session: SmtpSessionState, exchange: SaslExchange, outcome: SaslStep): SmtpResponse {
  if (outcome.kind === 'challenge') {
    const take = (line: string) => takeLine(session, exchange, line);
    return { ...reply(334, '', outcome.data.toString('base64')), next: { kind: 'line', take } };
  }
  session.options.meter.count('smtp_logins_total', { outcome: outcome.kind });
  switch (outcome.kind) {
    case 'in':
      session.logIn(outcome.login);
      return reply(235, '2.7.0', 'Authentication successful');
    case 'wrong':
      return countFailure(session, reply(535, '5.7.8', 'Wrong user name or password'));
    case 'throttled':
      return countFailure(session, reply(454, '4.7.0', `Too many failed logins, try again in ${outcome.retryAfter} s`));
    case 'busy':
      return reply(454, '4.7.0', 'Too many logins at once, try again later');
    case 'barred':
      return reply(454, '4.7.0', outcome.why);
    case 'malformed':
      return countFailure(session, reply(501, '5.5.2', outcome.why));
  }
}

/** Closes after too many failed logins, as RFC 4954 4 allows. */
function countFailure(session: SmtpSessionState, refusal: SmtpResponse): SmtpResponse {
  session.counters.failedLogins += 1;
  if (session.counters.failedLogins < session.options.limits.failedLogins) return refusal;
  return closing(421, '4.7.0', 'Too many failed logins');
}
