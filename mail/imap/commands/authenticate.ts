import type { SaslExchange, SaslStep } from '../../login/types.ts';
import { bad, no } from '../answer.ts';
import { BEFORE_LOGIN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { logIn } from '../log-in.ts';
import type { Session } from '../session.ts';

/** Octets of one base64 line; RFC 4422 leaves it open, and no mechanism of ours needs more. */
const LINE = 16_384;

/** RFC 9051 6.2.2, with the initial response of RFC 4959. */
export const authenticate: ImapCommand<{ mechanism: string; initial: string | undefined }> = {
  name: 'AUTHENTICATE',
  states: BEFORE_LOGIN,
  capabilities: ['SASL-IR'],

  parse(d) {
    const mechanism = d.sp().word();
    return { mechanism, initial: d.trailing() ? undefined : d.sp().atom() };
  },

  async run(session, { mechanism, initial }) {
    const { logins } = session.door;
    if (logins.mechanisms(session.peer).length === 0) return no('PRIVACYREQUIRED', 'Begin TLS first');
    const exchange = logins.start(mechanism, session.peer);
    if (exchange === undefined) return no('CANNOT', 'This way of logging in is not offered');
    const first = initial === undefined ? undefined : decode(initial);
    if (first === 'bad') return bad('That is not base64');
    return converseSasl(session, exchange, await exchange.step(first));
  },
};

async function converseSasl(session: Session, exchange: SaslExchange, first: SaslStep) {
  let step = first;
  while (step.kind === 'challenge') {
    session.prompt(step.data.toString('base64'));
    const line = (await session.line(LINE)).toString('latin1');
    // RFC 9051 6.2.2: a single `*` cancels, and the answer to that is BAD.
    if (line === '*') return bad('Cancelled');
    const response = decode(line);
    if (response === 'bad') return bad('That is not base64');
    step = await exchange.step(response);
  }
  return logIn(session, step);
}

/** Strict base64; `=` is an empty initial response. Buffer.from would pass over whatever it does not know. */
function decode(text: string): Buffer | 'bad' {
  if (text === '=') return Buffer.alloc(0);
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return 'bad';
  return Buffer.from(text, 'base64');
}
