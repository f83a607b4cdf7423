import { randomBytes } from 'node:crypto';

import { parseClientFinal, parseClientFirst, serverFirst } from './scram.ts';
import type { ClientFinal, ClientFirst } from './scram.ts';
import type { LoginOutcome, SaslExchange, SaslStep } from './types.ts';

/** Octets of one decoded response. RFC 4954 4.9 allows 12,288 characters of base64. */
const RESPONSE_LIMIT = 12_288;

/** Who checks what a mechanism was told. Bound to the peer, so that a mechanism knows neither doors nor counters. */
export interface Judge {
  /** `authzid` is who the client wants to act for; only itself is allowed. */
  password(user: string, password: string, authzid: string | undefined): Promise<LoginOutcome>;
  /** Salt and count of a user, whether it exists or not, or the outcome that ends the exchange. */
  challenge(user: string): Promise<ScramChallenge | LoginOutcome>;
}

export interface ScramChallenge {
  kind: 'challenge';
  salt: Buffer;
  iterations: number;
  /** Checks the proof. `signature` is the server's last message. */
  prove(authMessage: string, proof: Buffer, authzid: string | undefined): Promise<Proven | LoginOutcome>;
}

export interface Proven {
  kind: 'proven';
  outcome: LoginOutcome;
  signature: string;
}

/** Answers one response with one step, and says how to take the next response when there is one. */
type Turn = (response: Buffer | undefined) => Promise<readonly [SaslStep, Turn?]>;

/** The mechanisms there are, strongest first. */
export const MECHANISMS: Readonly<Record<string, (judge: Judge) => SaslExchange>> = {
  'SCRAM-SHA-256': (judge) => exchange(scram(judge)),
  PLAIN: (judge) => exchange(plain(judge)),
  LOGIN: (judge) => exchange(login(judge)),
};

function exchange(first: Turn): SaslExchange {
  let turn: Turn | undefined = first;
  return {
    async step(response) {
      const current = turn;
      turn = undefined; // also while it runs: a second response before the answer is not this protocol
      if (!current) return malformed('the exchange is over');
      if (response && response.length > RESPONSE_LIMIT) return malformed('the response is too long');
      const [step, next] = await current(response);
      turn = next;
      return step;
    },
  };
}

/** PLAIN: `[authzid] NUL authcid NUL passwd`. RFC 4616. */
function plain(judge: Judge): Turn {
  return async function credentials(response) {
    if (!response) return [challenge(''), credentials];
    const fields = utf8(response)?.split('\0');
    if (fields?.length !== 3) return [malformed('PLAIN is UTF-8 with exactly two NUL characters')];
    const [authzid = '', user = '', password = ''] = fields;
    if (user === '' || password === '') return [malformed('the user name or the password is empty')];
    return [await judge.password(user, password, authzid === '' ? undefined : authzid)];
  };
}

/** LOGIN, which has no RFC: two prompts, two answers. Some clients send the user name at once. */
function login(judge: Judge): Turn {
  const name: Turn = async (response) => {
    if (!response || response.length === 0) return [challenge('Username:'), nameOnly];
    return nameOnly(response);
  };
  const nameOnly: Turn = async (response) => {
    const user = utf8(response);
    if (!user) return [malformed('the user name is empty or not UTF-8')];
    return [challenge('Password:'), (answer) => secret(user, answer)];
  };
  const secret = async (user: string, response: Buffer | undefined): Promise<readonly [SaslStep]> => {
    const password = utf8(response);
    if (!password) return [malformed('the password is empty or not UTF-8')];
    return [await judge.password(user, password, undefined)];
  };
  return name;
}

/** SCRAM-SHA-256, the server's side. RFC 5802, RFC 7677. */
function scram(judge: Judge, serverNonce = randomBytes(18).toString('base64')): Turn {
  const first: Turn = async (response) => {
    if (!response) return [challenge(''), first];
    const text = utf8(response);
    const message = text === undefined ? malformed('the message is not UTF-8') : parseClientFirst(text);
    if (message.kind === 'malformed') return [message];
    const salted = await judge.challenge(message.user);
    if (salted.kind !== 'challenge') return [salted];
    const nonce = message.nonce + serverNonce;
    const ours = serverFirst(nonce, salted.salt, salted.iterations);
    return [challenge(ours), (answer) => final(answer, message, ours, nonce, salted)];
  };
  return first;
}

async function final(
  response: Buffer | undefined,
  client: ClientFirst,
  server: string,
  nonce: string,
  salted: ScramChallenge,
): Promise<readonly [SaslStep, Turn?]> {
  const text = utf8(response);
  const message = text === undefined ? malformed('the message is not UTF-8') : parseClientFinal(text);
  if (message.kind === 'malformed') return [message];
  const trouble = mismatch(message, client, nonce);
  if (trouble !== undefined) return [malformed(trouble)];
  const authMessage = `${client.bare},${server},${message.withoutProof}`;
  const proven = await salted.prove(authMessage, message.proof, client.authzid);
  if (proven.kind !== 'proven') return [proven];
  // Neither SMTP nor IMAP can carry data with success: it goes as a challenge, answered by nothing. RFC 4954 4.
  return [challenge(proven.signature), async (answer) => [done(answer, proven)]];
}

function mismatch(message: ClientFinal, client: ClientFirst, nonce: string): string | undefined {
  if (message.nonce !== nonce) return 'the nonce is not the one of this exchange';
  const bound = message.channelBinding.equals(Buffer.from(client.gs2Header));
  return bound ? undefined : 'the channel binding does not repeat the gs2-header';
}

function done(answer: Buffer | undefined, proven: Proven): LoginOutcome {
  if (answer && answer.length > 0) return malformed('nothing is expected after the signature of the server');
  return proven.outcome;
}

function challenge(text: string): SaslStep {
  return { kind: 'challenge', data: Buffer.from(text) };
}

function malformed(why: string): { kind: 'malformed'; why: string } {
  return { kind: 'malformed', why };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes: Buffer | undefined): string | undefined {
  try {
    return bytes && decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
