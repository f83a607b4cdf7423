import type { SaslExchange, SaslStep } from '../../login/types.ts';
import { bad, no } from '../tagged-response.ts';
import { BEFORE_LOGIN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { completeLogin } from '../login-response.ts';
import type { Session } from '../session.ts';

/** Octets of one base64 line. RFC 4422 sets no limit; no offered mechanism needs more. */
const MAX_RESPONSE_LINE = 16_384;

/** AUTHENTICATE. RFC 9051 6.2.2, with the initial response of RFC 4959. */
export const authenticate: ImapCommand<{ mechanism: string; initial: string | undefined }> = {
  name: 'AUTHENTICATE',
  states: BEFORE_LOGIN,
  capabilities: ['SASL-IR'],

  parse(d) {
    const mechanism = d.sp().word();
    return { mechanism, initial: d.trailing() ? undefined : d.sp().atom() };
  },

  async run(session, { mechanism, initial }) {
    const { logins } = session.context;
    if (logins.mechanisms(session.peer).length === 0) return no('PRIVACYREQUIRED', 'Start TLS first');
    const exchange = logins.start(mechanism, session.peer);
    if (exchange === undefined) return no('CANNOT', 'Unsupported SASL mechanism');
    const first = initial === undefined ? undefined : decode(initial);
    if (first === 'bad') return bad('Invalid base64');
    return runSaslExchange(session, exchange, await exchange.step(first));
  },
};

async function runSaslExchange(session: Session, exchange: SaslExchange, first: SaslStep) {
  let step = first;
  while (step.kind === 'challenge') {
    session.sendContinuation(step.data.toString('base64'));
    const line = (await session.readLine(MAX_RESPONSE_LINE)).toString('latin1');
    // RFC 9051 6.2.2: a single `*` cancels; the response is BAD.
    if (line === '*') return bad('AUTHENTICATE cancelled');
    const response = decode(line);
    if (response === 'bad') return bad('Invalid base64');
    step = await exchange.step(response);
  }
  return completeLogin(session, step);
}

/** Decodes strict base64; `=` is an empty initial response. Buffer.from alone would ignore invalid characters. */
function decode(text: string): Buffer | 'bad' {
  if (text === '=') return Buffer.alloc(0);
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return 'bad';
  return Buffer.from(text, 'base64');
}
