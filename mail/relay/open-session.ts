import type { TLSSocket } from 'node:tls';
import type { TlsFailure, TlsResult } from '../store/tls-result.ts';
import { Connection, type Answer } from './connection.ts';
import type { Host } from './destination.ts';
import type { Timeouts } from './limits.ts';
import { NO_OFFERS, readOffers, type Offers } from './offers.ts';
import { Session } from './session.ts';
import type { Distrust } from './tls-policy/certificate.ts';
import { type HostPolicy, resultOf, type TlsWish } from './tls-policy/policy.ts';
import type { TlsSessions } from './tls-sessions.ts';
import { deferred, failed, replyText, verdictOf, type Verdict } from './verdict.ts';

export interface SessionOptions {
  /** Our name in EHLO. */
  hostname: string;
  timeouts: Timeouts;
  policy: HostPolicy;
  wish: TlsWish;
  /** Our address, where it matters. */
  from?: string | undefined;
  sessions?: TlsSessions | undefined;
  /** Told of each connection, so that closing can end what is still being set up. */
  onConnection?(connection: Connection): void;
}

/** Why there is no session. */
export interface NoSession {
  kind: 'none';
  verdict: Verdict;
  /** Nothing that speaks SMTP is there: the host is left alone for a while. */
  dead: boolean;
  /** For TLS-RPT; empty when it never came to TLS. */
  tlsResults: TlsResult[];
}

type Step = { kind: 'ok'; offers: Offers } | NoSession;

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
  const { timeouts, policy } = options;
  const answer = await ask(connection, 'STARTTLS', timeouts.command);
  if (answer.kind === 'lost') return give(connection, none(deferred('4.4.2', answer.why), true));
  if (answer.reply.code !== 220) {
    return inClear(connection, host, offers, options, 'starttls-not-supported', 'none');
  }
  // Replies that somebody put in before the encryption would be believed after it (CVE-2011-0411 and its kin).
  if (connection.unread || connection.closed) {
    return give(connection, none(deferred('4.7.0', 'the server sent something between STARTTLS and TLS'), false));
  }
  const kept = policy.judge === undefined ? options.sessions?.take(host) : undefined;
  const socket = await connection.startTls(policy.servername, timeouts.tls, kept?.ticket);
  if ('kind' in socket) return noHandshake(host, options, socket.why);
  const distrust = judged(socket, policy);
  if (distrust !== undefined && policy.required) return give(connection, refusedBy(host, options, distrust));
  const verified = kept !== undefined && socket.isSessionReused() ? kept.verified : verifiedText(socket);
  // Tickets come when the server likes, so before anything else is waited for.
  if (policy.judge === undefined) socket.on('session', (ticket) => options.sessions?.keep(host, ticket, verified));
  const again = await hello(connection, options);
  if (again.kind === 'none') return give(connection, again);
  if (options.wish === 'required' && !again.offers.requireTls) return give(connection, notRequirable(host, policy));
  const results = [resultOf(policy.report, distrust?.failure ?? 'success', host)];
  return new Session(connection, host, again.offers, timeouts, {
    text: tlsText(socket, policy, verified),
    wish: options.wish,
    results,
  });
}

/** What cannot be judged is not trusted. */
function judged(socket: TLSSocket, policy: HostPolicy): Distrust | undefined {
  try {
    return policy.judge?.(socket);
  } catch {
    return { failure: 'validation-failure', why: 'its certificate could not be read' };
  }
}

function noHandshake(host: Host, options: SessionOptions, why: string): NoSession | Unprotected {
  if (!options.policy.required) return { unprotected: 'validation-failure' };
  return refusedBy(host, options, { failure: 'validation-failure', why: `TLS could not be set up: ${why}` });
}

function inClear(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
  failure: TlsFailure,
  text: string,
): Session | NoSession {
  const { policy, wish, timeouts } = options;
  if (policy.required) {
    return give(connection, refusedBy(host, options, { failure, why: 'it does not offer TLS (STARTTLS)' }));
  }
  return new Session(connection, host, offers, timeouts, {
    text,
    wish,
    results: [resultOf(policy.report, failure, host)],
  });
}

const REMEDIES: Partial<Record<TlsFailure, string>> = {
  'starttls-not-supported': 'offer STARTTLS',
  'certificate-expired': 'renew its certificate',
  'certificate-host-mismatch': 'give it a certificate for its name',
  'certificate-not-trusted': 'give it a certificate of a public authority, with all that are between',
};

/** Which rule, which host, what is wrong and who can put it right. RFC 8689 4.2.1: what the sender demanded is not tried again. */
function refusedBy(host: Host, { policy, wish }: SessionOptions, { failure, why }: Distrust): NoSession {
  const remedy = REMEDIES[failure] ?? 'bring its certificate and its policy together';
  const text = `${policy.rule} allows no mail to ${host.name} as it is: ${why}; its operator has to ${remedy}`;
  const status = failure === 'starttls-not-supported' ? '7.4' : '7.5';
  const lasting = failure === 'starttls-not-supported' ? '5.7.30' : '5.7.10';
  const verdict = wish === 'required' ? failed(lasting, text, 550) : deferred(`4.${status}`, text);
  return none(verdict, false, [resultOf(policy.report, failure, host)]);
}

/** RFC 8689 4.2.1. */
function notRequirable(host: Host, policy: HostPolicy): NoSession {
  const text = `The sender demands TLS for every step (REQUIRETLS), and ${host.name} does not promise it; send it without that demand, or by another way`;
  return none(failed('5.7.30', text, 550), false, [resultOf(policy.report, 'success', host)]);
}

async function greet(connection: Connection, options: SessionOptions): Promise<Step> {
  const banner = await connection.reply(options.timeouts.command);
  if (banner.kind === 'lost') return none(deferred('4.4.2', banner.why), true);
  if (banner.reply.code !== 220) return refused(banner);
  return hello(connection, options);
}

/** RFC 5321 3.2: a server that does not know EHLO is greeted with HELO. */
async function hello(connection: Connection, options: SessionOptions): Promise<Step> {
  const { hostname, timeouts } = options;
  const ehlo = await ask(connection, `EHLO ${hostname}`, timeouts.command);
  if (ehlo.kind === 'lost') return none(deferred('4.4.2', ehlo.why), true);
  if (ehlo.reply.code === 250) return { kind: 'ok', offers: readOffers(ehlo.reply.lines) };
  if (ehlo.reply.code < 500) return refused(ehlo);
  const helo = await ask(connection, `HELO ${hostname}`, timeouts.command);
  if (helo.kind === 'lost') return none(deferred('4.4.2', helo.why), true);
  return helo.reply.code === 250 ? { kind: 'ok', offers: NO_OFFERS } : refused(helo);
}

async function ask(connection: Connection, command: string, timeout: number): Promise<Answer> {
  const lost = await connection.write(`${command}\r\n`, timeout);
  return lost ?? connection.reply(timeout);
}

/** The server turns us away before any message: another host of the domain may not. */
function refused(answer: Answer & { kind: 'reply' }): NoSession {
  const verdict = verdictOf(answer.reply);
  const text = `the server turned us away: ${replyText(answer.reply)}`;
  const { code, status } = verdict;
  if (verdict.outcome === 'failed') return none(failed(status, text, code), false);
  return none(deferred(verdict.outcome === 'delivered' ? '4.5.0' : status, text, code), false);
}

function none(verdict: Verdict, dead: boolean, tlsResults: TlsResult[] = []): NoSession {
  return { kind: 'none', verdict, dead, tlsResults };
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
