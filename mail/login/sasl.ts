import { randomBytes } from 'node:crypto';

import { oauthBearer, xoauth2 } from './bearer.ts';
import type { ChannelBinding } from './channel-binding.ts';
import { parseClientFinal, parseClientFirst, serverFirst } from './scram.ts';
import type { ClientFinal, ClientFirst } from './scram.ts';
import type { SaslBackend, SaslTurn, ScramChallenge, ScramProof } from './sasl-backend.ts';
import type { LoginOutcome, SaslExchange, SaslStep } from './types.ts';

/** Octets of one decoded response. RFC 4954 4.9 allows 12,288 characters of base64. */
const MAX_RESPONSE_OCTETS = 12_288;

/** Supported mechanisms, strongest first. */
export const MECHANISMS: Readonly<Record<string, (backend: SaslBackend) => SaslExchange>> = {
  'SCRAM-SHA-256-PLUS': (backend) => exchange(scram(backend, true)),
  'SCRAM-SHA-256': (backend) => exchange(scram(backend, false)),
  OAUTHBEARER: (backend) => exchange(oauthBearer(backend)),
  XOAUTH2: (backend) => exchange(xoauth2(backend)),
  PLAIN: (backend) => exchange(plain(backend)),
  LOGIN: (backend) => exchange(login(backend)),
};

function exchange(first: SaslTurn): SaslExchange {
  let turn: SaslTurn | undefined = first;
  return {
    async step(response) {
      const current = turn;
      turn = undefined; // also while it runs: a second response before the step is a protocol error
      if (!current) return malformed('the SASL exchange has ended');
      if (response && response.length > MAX_RESPONSE_OCTETS) return malformed('the response is too long');
      const [step, next] = await current(response);
      turn = next;
      return step;
    },
  };
}

/** PLAIN: `[authzid] NUL authcid NUL passwd`. RFC 4616. */
function plain(backend: SaslBackend): SaslTurn {
  return async function credentials(response) {
    if (!response) return [challenge(''), credentials];
    const fields = utf8(response)?.split('\0');
    if (fields?.length !== 3) return [malformed('PLAIN is UTF-8 with exactly two NUL characters')];
    const [authzid = '', user = '', password = ''] = fields;
    if (user === '' || password === '') return [malformed('the user name or the password is empty')];
    return [await backend.password(user, password, authzid === '' ? undefined : authzid)];
  };
}

/** LOGIN, which has no RFC: two prompts, two responses. Some clients send the user name as initial response. */
function login(backend: SaslBackend): SaslTurn {
  const name: SaslTurn = async (response) => {
    if (!response || response.length === 0) return [challenge('Username:'), nameOnly];
    return nameOnly(response);
  };
  const nameOnly: SaslTurn = async (response) => {
    const user = utf8(response);
    if (!user) return [malformed('the user name is empty or not UTF-8')];
    return [challenge('Password:'), (answer) => secret(user, answer)];
  };
  const secret = async (user: string, response: Buffer | undefined): Promise<readonly [SaslStep]> => {
    const password = utf8(response);
    if (!password) return [malformed('the password is empty or not UTF-8')];
    return [await backend.password(user, password, undefined)];
  };
  return name;
}

/** SCRAM-SHA-256 and, with `plus`, SCRAM-SHA-256-PLUS, the server's side. RFC 5802, RFC 7677. */
function scram(backend: SaslBackend, plus: boolean, serverNonce = randomBytes(18).toString('base64')): SaslTurn {
  const first: SaslTurn = async (response) => {
    if (!response) return [challenge(''), first];
    const text = utf8(response);
    const message = text === undefined ? malformed('the message is not UTF-8') : parseClientFirst(text);
    if (message.kind === 'malformed') return [message];
    const bound = boundData(message, backend.channelBinding, plus);
    if (typeof bound === 'string') return [malformed(bound)];
    const salted = await backend.challenge(message.user);
    if (salted.kind !== 'challenge') return [salted];
    const nonce = message.nonce + serverNonce;
    const ours = serverFirst(nonce, salted.salt, salted.iterations);
    return [challenge(ours), (answer) => readClientFinal(answer, { message, bound }, ours, nonce, salted)];
  };
  return first;
}

async function readClientFinal(
  response: Buffer | undefined,
  { message: client, bound }: { message: ClientFirst; bound: Buffer },
  server: string,
  nonce: string,
  salted: ScramChallenge,
): Promise<readonly [SaslStep, SaslTurn?]> {
  const text = utf8(response);
  const message = text === undefined ? malformed('the message is not UTF-8') : parseClientFinal(text);
  if (message.kind === 'malformed') return [message];
  const problem = mismatch(message, bound, nonce);
  if (problem !== undefined) return [malformed(problem)];
  const authMessage = `${client.bare},${server},${message.withoutProof}`;
  const proven = await salted.prove(authMessage, message.proof, client.authzid);
  if (proven.kind !== 'proven') return [proven];
  // SMTP and IMAP cannot send data with success: the signature is a challenge with an empty response. RFC 4954 4.
  return [challenge(proven.signature), async (answer) => [finishScram(answer, proven)]];
}

/** The octets that the client must repeat: its gs2-header, and the data of the channel binding. Text: why it fails. RFC 5802 6. */
function boundData(
  { gs2Header, binding }: ClientFirst,
  channelBinding: ChannelBinding | undefined,
  plus: boolean,
): Buffer | string {
  const header = Buffer.from(gs2Header);
  if (!plus) {
    if (binding.kind === 'used') return 'channel binding needs SCRAM-SHA-256-PLUS';
    // Somebody between removed -PLUS from the list of mechanisms.
    const isDowngraded = binding.kind === 'thought-unsupported' && channelBinding !== undefined;
    return isDowngraded ? 'the server supports channel binding, and the client did not see that' : header;
  }
  if (binding.kind !== 'used') return 'SCRAM-SHA-256-PLUS needs channel binding';
  const data = channelBinding?.(binding.type);
  return data === undefined ? `channel binding ${binding.type} is not available` : Buffer.concat([header, data]);
}

function mismatch(message: ClientFinal, bound: Buffer, nonce: string): string | undefined {
  if (message.nonce !== nonce) return 'the nonce is not the one of this exchange';
  return message.channelBinding.equals(bound) ? undefined : 'the channel binding is not that of this connection';
}

function finishScram(answer: Buffer | undefined, proven: ScramProof): LoginOutcome {
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
