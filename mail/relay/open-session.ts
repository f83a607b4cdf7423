import type { TLSSocket } from 'node:tls';
import { Connection, type Answer } from './connection.ts';
import type { Host } from './destination.ts';
import type { Timeouts } from './limits.ts';
import { NO_OFFERS, readOffers, type Offers } from './offers.ts';
import { Session } from './session.ts';
import { deferred, failed, replyText, verdictOf, type Verdict } from './verdict.ts';

/** What a destination demands of TLS. The default demands nothing: opportunistic TLS. RFC 7435. */
export interface TlsPolicy {
  /** Without TLS that {@link judge} accepts nothing is sent. */
  required: boolean;
  /** Why this peer is not to be trusted, or undefined when it is. For MTA-STS and DANE. */
  judge?(socket: TLSSocket, host: Host): string | undefined;
}

export interface SessionOptions {
  /** Our name in EHLO. */
  hostname: string;
  timeouts: Timeouts;
  tls: TlsPolicy;
  /** TLS comes before the greeting. RFC 8314 3.3. */
  implicitTls?: boolean;
  /** What is to be done before mail is sent; a verdict ends it. */
  login?(connection: Connection, offers: Offers): Promise<Verdict | undefined>;
  /** Told of each connection, so that closing can end what is still being set up. */
  onConnection?(connection: Connection): void;
}

/** Why there is no session. */
export interface NoSession {
  kind: 'none';
  verdict: Verdict;
  /** Nothing that speaks SMTP is there: the host is left alone for a while. */
  dead: boolean;
}

type Step = { kind: 'ok'; offers: Offers } | NoSession;

/**
 * Connects to a host, greets it and sets up TLS when it is offered. A TLS handshake that fails is followed by one more
 * connection in the clear, unless the policy demands TLS. Never rejects.
 */
export async function openSession(host: Host, options: SessionOptions): Promise<Session | NoSession> {
  const first = await attempt(host, options, true);
  return first === 'tls-failed' ? ((await attempt(host, options, false)) as Session | NoSession) : first;
}

async function attempt(
  host: Host,
  options: SessionOptions,
  tryTls: boolean,
): Promise<Session | NoSession | 'tls-failed'> {
  const connection = await Connection.dial(host, options.timeouts.connect);
  if (!(connection instanceof Connection)) return none(deferred('4.4.1', connection.why), true);
  options.onConnection?.(connection);
  if (options.implicitTls === true) return withImplicitTls(connection, host, options);
  const greeted = await greet(connection, options);
  if (greeted.kind === 'none') return give(connection, greeted);
  if (!greeted.offers.startTls || !tryTls) return inClear(connection, host, greeted.offers, options, tryTls);
  return withTls(connection, host, greeted.offers, options);
}

async function withTls(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
): Promise<Session | NoSession | 'tls-failed'> {
  const { timeouts, tls } = options;
  const answer = await ask(connection, 'STARTTLS', timeouts.command);
  if (answer.kind === 'lost') return give(connection, none(deferred('4.4.2', answer.why), true));
  if (answer.reply.code !== 220) return inClear(connection, host, offers, options, true);
  // Replies that somebody put in before the encryption would be believed after it (CVE-2011-0411 and its kin).
  if (connection.unread || connection.closed) {
    return give(connection, none(deferred('4.7.0', 'the server sent something between STARTTLS and TLS'), false));
  }
  const socket = await connection.startTls(host, timeouts.tls);
  if ('kind' in socket) {
    return tls.required ? none(deferred('4.7.5', `TLS is required and failed: ${socket.why}`), false) : 'tls-failed';
  }
  const distrust = tls.judge?.(socket, host);
  if (distrust !== undefined && tls.required) {
    return give(connection, none(deferred('4.7.5', `the certificate is not acceptable: ${distrust}`), false));
  }
  const again = await hello(connection, options);
  return again.kind === 'none'
    ? give(connection, again)
    : ready(connection, host, again.offers, options, tlsText(socket));
}

async function withImplicitTls(connection: Connection, host: Host, options: SessionOptions) {
  const socket = await connection.startTls(host, options.timeouts.tls);
  if ('kind' in socket) return none(deferred('4.7.5', `TLS could not be set up: ${socket.why}`), true);
  const distrust = options.tls.judge?.(socket, host);
  if (distrust !== undefined && options.tls.required) {
    return give(connection, none(deferred('4.7.5', `the certificate is not acceptable: ${distrust}`), false));
  }
  const greeted = await greet(connection, options);
  return greeted.kind === 'none'
    ? give(connection, greeted)
    : ready(connection, host, greeted.offers, options, tlsText(socket));
}

async function ready(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
  tls: string,
): Promise<Session | NoSession> {
  const refused = await options.login?.(connection, offers);
  return refused === undefined
    ? new Session(connection, host, offers, options.timeouts, tls)
    : give(connection, none(refused, false));
}

function inClear(
  connection: Connection,
  host: Host,
  offers: Offers,
  options: SessionOptions,
  offered: boolean,
): Session | NoSession {
  if (options.tls.required) {
    return give(connection, none(deferred('4.7.4', 'TLS is required and the server does not offer it'), false));
  }
  return new Session(connection, host, offers, options.timeouts, offered ? '' : 'none, after a failed handshake');
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

function none(verdict: Verdict, dead: boolean): NoSession {
  return { kind: 'none', verdict, dead };
}

function give(connection: Connection, result: NoSession): NoSession {
  connection.quit();
  return result;
}

function tlsText(socket: TLSSocket): string {
  const reason = String(socket.authorizationError ?? '').replace(/[^A-Za-z0-9_ -]/g, '');
  const verified = socket.authorized ? 'certificate verified' : `certificate not verified (${reason.slice(0, 60)})`;
  return `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().standardName}, ${verified}`;
}
