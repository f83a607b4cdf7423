import type { TLSSocket } from 'node:tls';
import type { TlsFailure, TlsResult } from '../store/tls-result.ts';
import { Connection } from './connection.ts';
import type { Host } from './destination.ts';
import { ask, greet, type Greeter, hello, none, type NoSession } from './hello.ts';
import type { Offers } from './offers.ts';
import { Session } from './session.ts';
import type { Distrust } from './tls-policy/certificate.ts';
import { type HostPolicy, resultOf, type TlsWish } from './tls-policy/policy.ts';
import type { TlsSessions } from './tls-sessions.ts';
import { deferred, failed, type Verdict } from './verdict.ts';

export interface SessionOptions extends Greeter {
  policy: HostPolicy;
  wish: TlsWish;
  /** Our address, where it matters. */
  from?: string | undefined;
  sessions?: TlsSessions | undefined;
  /** TLS comes before the greeting. RFC 8314 3.3. */
  implicitTls?: boolean;
  /** What is to be done before mail is sent; a verdict ends it. */
  login?(connection: Connection, offers: Offers): Promise<Verdict | undefined>;
  /** Told of each connection, so that closing can end what is still being set up. */
  onConnection?(connection: Connection): void;
}

/**
 * Connects to a host, greets it and sets up TLS when it is offered. A TLS handshake that fails is followed by one more
 * connection in the clear, unless the policy demands TLS. Never rejects.
 */
export async function openSession(host: Host, options: SessionOptions): Promise<Session | NoSession> {
  const first = await attempt(host, options);
  return 'unprotected' in first ? ((await attempt(host, options, first)) as Session | NoSession) : first;
}

/** TLS was tried and failed, and nothing forbids to do without. */
interface Unprotected {
  unprotected: TlsFailure;
}

async function attempt(
  host: Host,
  options: SessionOptions,
  before?: Unprotected,
): Promise<Session | NoSession | Unprotected> {
  const connection = await Connection.dial(host, options.timeouts.connect, options.from);
  if (!(connection instanceof Connection)) return none(deferred('4.4.1', connection.why), true);
  options.onConnection?.(connection);
  if (options.implicitTls === true) return protect(connection, host, options, greet);
  const greeted = await greet(connection, options);
  if (greeted.kind === 'none') return give(connection, greeted);
  if (before !== undefined) {
    return inClear(connection, host, greeted.offers, options, before.unprotected, 'none, after a failed handshake');
  }
  if (greeted.offers.startTls) return withTls(connection, host, greeted.offers, options);
  return inClear(connection, host, greeted.offers, options, 'starttls-not-supported', 'none');
}

async function withTls(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
): Promise<Session | NoSession | Unprotected> {
  const answer = await ask(connection, 'STARTTLS', options.timeouts.command);
  if (answer.kind === 'lost') return give(connection, none(deferred('4.4.2', answer.why), true));
  if (answer.reply.code !== 220) {
    const passing = answer.reply.code < 500; // RFC 3207 4: 454 is "not now"
    return inClear(connection, host, offers, { ...options, passing }, 'starttls-not-supported', 'none');
  }
  // Replies that somebody put in before the encryption would be believed after it (CVE-2011-0411 and its kin).
  if (connection.unread || connection.closed) {
    return give(connection, none(deferred('4.7.0', 'the server sent something between STARTTLS and TLS'), false));
  }
  return protect(connection, host, options, hello);
}

/** Sets up TLS, judges the server, and says who we are, in whichever way comes `next`. */
async function protect(
  connection: Connection,
  host: Host,
  options: SessionOptions,
  next: typeof hello,
): Promise<Session | NoSession | Unprotected> {
  const { timeouts, policy } = options;
  const kept = policy.judge === undefined ? options.sessions?.take(host) : undefined;
  const socket = await connection.startTls(policy.servername, timeouts.tls, kept?.ticket);
  if ('kind' in socket) return noHandshake(connection, host, options, socket.why);
  const distrust = judged(socket, policy);
  if (distrust !== undefined && policy.required)
    return give(connection, refusedBy(connection, host, options, distrust));
  const verified = kept !== undefined && socket.isSessionReused() ? kept.verified : verifiedText(socket);
  // Tickets come when the server likes, so before anything else is waited for.
  if (policy.judge === undefined) socket.on('session', (ticket) => options.sessions?.keep(host, ticket, verified));
  const again = await next(connection, options);
  if (again.kind === 'none') return give(connection, again);
  if (options.wish === 'required' && !again.offers.requireTls)
    return give(connection, notRequirable(connection, host, policy));
  const results = [resultOf(policy.report, distrust?.failure ?? policy.flaw ?? 'success', host, connection.from)];
  return ready(connection, host, again.offers, options, tlsText(socket, policy, verified), results);
}

async function ready(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
  text: string,
  results: readonly TlsResult[],
): Promise<Session | NoSession> {
  const { timeouts, wish } = options;
  const refused = await options.login?.(connection, offers);
  return refused === undefined
    ? new Session(connection, host, offers, timeouts, { text, wish, results })
    : give(connection, none(refused, false));
}

/** What cannot be judged is not trusted. */
function judged(socket: TLSSocket, policy: HostPolicy): Distrust | undefined {
  try {
    return policy.judge?.(socket);
  } catch {
    return { failure: 'validation-failure', why: 'its certificate could not be read' };
  }
}

function noHandshake(
  connection: Connection,
  host: Host,
  options: SessionOptions,
  why: string,
): NoSession | Unprotected {
  if (!options.policy.required) return { unprotected: 'validation-failure' };
  const distrust: Distrust = { failure: 'validation-failure', why: `TLS could not be set up: ${why}` };
  return refusedBy(connection, host, { ...options, passing: true }, distrust);
}

async function inClear(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions & Passing,
  failure: TlsFailure,
  text: string,
): Promise<Session | NoSession> {
  const { policy } = options;
  if (policy.required) {
    return give(connection, refusedBy(connection, host, options, { failure, why: 'it does not offer TLS (STARTTLS)' }));
  }
  const results = [resultOf(policy.report, failure, host, connection.from)];
  return ready(connection, host, offers, options, text, results);
}

const REMEDIES: Partial<Record<TlsFailure, string>> = {
  'starttls-not-supported': 'offer STARTTLS',
  'certificate-expired': 'renew its certificate',
  'certificate-host-mismatch': 'give it a certificate for its name',
  'certificate-not-trusted': 'give it a certificate of a public authority, with all that are between',
};

interface Passing {
  /** What is wrong may be over at the next attempt. */
  passing?: boolean;
}

/**
 * Which rule, which host, what is wrong and who can put it right. What a receiver demands is waited for; what a sender
 * demands, and surely is not there, comes back. RFC 8689 4.2.1.
 */
function refusedBy(
  connection: Connection,
  host: Host,
  { policy, wish, passing = false }: SessionOptions & Passing,
  { failure, why }: Distrust,
): NoSession {
  const remedy = REMEDIES[failure] ?? 'bring its certificate and its policy together';
  const text = `${policy.rule} allows no mail to ${host.name} as it is: ${why}; its operator has to ${remedy}`;
  const status = failure === 'starttls-not-supported' ? '7.4' : '7.5';
  const lasting = failure === 'starttls-not-supported' ? '5.7.30' : '5.7.10';
  const verdict = wish === 'required' && !passing ? failed(lasting, text, 550) : deferred(`4.${status}`, text);
  return none(verdict, false, [resultOf(policy.report, failure, host, connection.from)]);
}

/** RFC 8689 4.2.1. */
function notRequirable(connection: Connection, host: Host, policy: HostPolicy): NoSession {
  const text = `The sender demands TLS for every step (REQUIRETLS), and ${host.name} does not promise it; send it without that demand, or by another way`;
  return none(failed('5.7.30', text, 550), false, [resultOf(policy.report, 'success', host, connection.from)]);
}

function give(connection: Connection, result: NoSession): NoSession {
  connection.quit();
  return result;
}

function verifiedText(socket: TLSSocket): string {
  const reason = String(socket.authorizationError ?? '').replace(/[^A-Za-z0-9_ -]/g, '');
  return socket.authorized ? 'certificate verified' : `certificate not verified (${reason.slice(0, 60)})`;
}

/** Version, cipher, by what rule, and what was verified under it. */
function tlsText(socket: TLSSocket, policy: HostPolicy, verified: string): string {
  const how = `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().standardName}, ${policy.by}`;
  if (policy.by === 'dane') return policy.judge === undefined ? `${how}, no usable record` : how;
  return policy.by === 'mta-sts' ? how : `${how}, ${verified}`;
}
