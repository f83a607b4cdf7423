import type { TLSSocket } from 'node:tls';
import type { TlsFailure, TlsResult } from '../store/queue/tls-result.ts';
import { Connection } from './connection.ts';
import type { Host } from './destination.ts';
import {
  sendCommand,
  readGreeting,
  type GreetingOptions,
  sendEhlo,
  sessionFailure,
  type SessionFailure,
} from './greeting.ts';
import type { ServerExtensions } from './server-extensions.ts';
import { RelaySession } from './session.ts';
import type { CertificateProblem } from './tls-policy/certificate.ts';
import { type HostPolicy, toTlsResult, type TlsRequirement } from './tls-policy/policy.ts';
import type { TlsTicketCache } from './tls-ticket-cache.ts';
import { deferred, failed, type AttemptVerdict } from './attempt-verdict.ts';

export interface SessionOptions extends GreetingOptions {
  policy: HostPolicy;
  requirement: TlsRequirement;
  /** Source address. */
  from?: string | undefined;
  sessions?: TlsTicketCache | undefined;
  /** Implicit TLS, before the greeting. RFC 8314 3.3. */
  implicitTls?: boolean;
  /** Login before mail is sent; a verdict ends the session. */
  login?(connection: Connection, offers: ServerExtensions): Promise<AttemptVerdict | undefined>;
  /** Called with each new connection, so that shutdown can close it during setup. */
  onConnection?(connection: Connection): void;
}

/**
 * Connects to a host, sends EHLO and starts TLS if offered. After a failed handshake it connects once more without TLS, unless
 * the policy requires TLS. Never rejects.
 */
export async function openSession(host: Host, options: SessionOptions): Promise<RelaySession | SessionFailure> {
  const first = await attemptSession(host, options);
  return 'unprotected' in first
    ? ((await attemptSession(host, options, first)) as RelaySession | SessionFailure)
    : first;
}

/** The TLS handshake failed, and the policy allows plain text. */
interface HandshakeFailure {
  unprotected: TlsFailure;
}

async function attemptSession(
  host: Host,
  options: SessionOptions,
  before?: HandshakeFailure,
): Promise<RelaySession | SessionFailure | HandshakeFailure> {
  const connection = await Connection.dial(host, options.timeouts.connect, options.from);
  if (!(connection instanceof Connection)) return sessionFailure(deferred('4.4.1', connection.why), true);
  options.onConnection?.(connection);
  if (options.implicitTls === true) return upgradeToTls(connection, host, options, readGreeting);
  const greeted = await readGreeting(connection, options);
  if (greeted.kind === 'none') return quitWith(connection, greeted);
  if (before !== undefined) {
    return continueInClear(
      connection,
      host,
      greeted.offers,
      options,
      before.unprotected,
      'none, after a failed handshake',
    );
  }
  if (greeted.offers.startTls) return withTls(connection, host, greeted.offers, options);
  return continueInClear(connection, host, greeted.offers, options, 'starttls-not-supported', 'none');
}

async function withTls(
  connection: Connection,
  host: Host,
  offers: ServerExtensions,
  options: SessionOptions,
): Promise<RelaySession | SessionFailure | HandshakeFailure> {
  const answer = await sendCommand(connection, 'STARTTLS', options.timeouts.command);
  if (answer.kind === 'lost') return quitWith(connection, sessionFailure(deferred('4.4.2', answer.why), true));
  if (answer.reply.code !== 220) {
    const temporary = answer.reply.code < 500; // 454 is temporary, RFC 3207 4
    return continueInClear(connection, host, offers, { ...options, temporary }, 'starttls-not-supported', 'none');
  }
  // Injected plain-text replies would be trusted after the handshake (CVE-2011-0411).
  if (connection.unread || connection.closed) {
    return quitWith(
      connection,
      sessionFailure(deferred('4.7.0', 'the server sent data between STARTTLS and the TLS handshake'), false),
    );
  }
  return upgradeToTls(connection, host, options, sendEhlo);
}

/** Starts TLS, verifies the certificate, and continues with `next`. */
async function upgradeToTls(
  connection: Connection,
  host: Host,
  options: SessionOptions,
  next: typeof sendEhlo,
): Promise<RelaySession | SessionFailure | HandshakeFailure> {
  const { timeouts, policy } = options;
  const kept = policy.verify === undefined ? options.sessions?.take(host) : undefined;
  const socket = await connection.startTls(policy.servername, timeouts.tls, kept?.ticket);
  if ('kind' in socket) return handshakeFailed(connection, host, options, socket.why);
  const problem = verifyCertificate(socket, policy);
  if (problem !== undefined && policy.required)
    return quitWith(connection, refusedByPolicy(connection, host, options, problem));
  const verified = kept !== undefined && socket.isSessionReused() ? kept.verified : verifiedText(socket);
  // Tickets may come at any time, so the listener is added before any wait.
  if (policy.verify === undefined) socket.on('session', (ticket) => options.sessions?.store(host, ticket, verified));
  const again = await next(connection, options);
  if (again.kind === 'none') return quitWith(connection, again);
  if (options.requirement === 'required' && !again.offers.requireTls)
    return quitWith(connection, requireTlsNotOffered(connection, host, policy));
  const results = [toTlsResult(policy.report, problem?.failure ?? policy.flaw ?? 'success', host, connection.from)];
  return completeSession(connection, host, again.offers, options, tlsText(socket, policy, verified), results);
}

async function completeSession(
  connection: Connection,
  host: Host,
  offers: ServerExtensions,
  options: SessionOptions,
  text: string,
  results: readonly TlsResult[],
): Promise<RelaySession | SessionFailure> {
  const { timeouts, requirement } = options;
  const refused = await options.login?.(connection, offers);
  return refused === undefined
    ? new RelaySession(connection, host, offers, timeouts, { text, requirement, results })
    : quitWith(connection, sessionFailure(refused, false));
}

/** Verifies the certificate; an unreadable one is not trusted. */
function verifyCertificate(socket: TLSSocket, policy: HostPolicy): CertificateProblem | undefined {
  try {
    return policy.verify?.(socket);
  } catch {
    return { failure: 'validation-failure', why: 'its certificate could not be read' };
  }
}

function handshakeFailed(
  connection: Connection,
  host: Host,
  options: SessionOptions,
  why: string,
): SessionFailure | HandshakeFailure {
  if (!options.policy.required) return { unprotected: 'validation-failure' };
  const problem: CertificateProblem = { failure: 'validation-failure', why: `the TLS handshake failed: ${why}` };
  return refusedByPolicy(connection, host, { ...options, temporary: true }, problem);
}

async function continueInClear(
  connection: Connection,
  host: Host,
  offers: ServerExtensions,
  options: SessionOptions & TemporaryFailure,
  failure: TlsFailure,
  text: string,
): Promise<RelaySession | SessionFailure> {
  const { policy } = options;
  if (policy.required) {
    return quitWith(
      connection,
      refusedByPolicy(connection, host, options, { failure, why: 'it does not offer TLS (STARTTLS)' }),
    );
  }
  const results = [toTlsResult(policy.report, failure, host, connection.from)];
  return completeSession(connection, host, offers, options, text, results);
}

const REMEDIES: Partial<Record<TlsFailure, string>> = {
  'starttls-not-supported': 'offer STARTTLS',
  'certificate-expired': 'renew its certificate',
  'certificate-host-mismatch': 'install a certificate for its name',
  'certificate-not-trusted': 'install a certificate of a public authority, with its intermediate certificates',
};

interface TemporaryFailure {
  /** The failure may be temporary. */
  temporary?: boolean;
}

/**
 * Creates the failure for a violated TLS policy: rule, host, problem, and remedy. Policies of the receiver defer; REQUIRETLS
 * that is certainly not met fails. RFC 8689 4.2.1.
 */
function refusedByPolicy(
  connection: Connection,
  host: Host,
  { policy, requirement, temporary = false }: SessionOptions & TemporaryFailure,
  { failure, why }: CertificateProblem,
): SessionFailure {
  const remedy = REMEDIES[failure] ?? 'make its certificate match its policy';
  const text = `${policy.rule} forbids mail to ${host.name}: ${why}; its operator has to ${remedy}`;
  const status = failure === 'starttls-not-supported' ? '7.4' : '7.5';
  const lasting = failure === 'starttls-not-supported' ? '5.7.30' : '5.7.10';
  const verdict = requirement === 'required' && !temporary ? failed(lasting, text, 550) : deferred(`4.${status}`, text);
  return sessionFailure(verdict, false, [toTlsResult(policy.report, failure, host, connection.from)]);
}

/** Creates the failure for REQUIRETLS that the server does not offer. RFC 8689 4.2.1. */
function requireTlsNotOffered(connection: Connection, host: Host, policy: HostPolicy): SessionFailure {
  const text = `The sender requires TLS for every hop (REQUIRETLS), and ${host.name} does not support it; send it without REQUIRETLS, or by another route`;
  return sessionFailure(failed('5.7.30', text, 550), false, [
    toTlsResult(policy.report, 'success', host, connection.from),
  ]);
}

function quitWith(connection: Connection, result: SessionFailure): SessionFailure {
  connection.quit();
  return result;
}

function verifiedText(socket: TLSSocket): string {
  const reason = String(socket.authorizationError ?? '').replace(/[^A-Za-z0-9_ -]/g, '');
  return socket.authorized ? 'certificate verified' : `certificate not verified (${reason.slice(0, 60)})`;
}

/** Describes version, cipher, policy and verification. */
function tlsText(socket: TLSSocket, policy: HostPolicy, verified: string): string {
  const how = `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().standardName}, ${policy.by}`;
  if (policy.by === 'dane') return policy.verify === undefined ? `${how}, no usable record` : how;
  return policy.by === 'mta-sts' ? how : `${how}, ${verified}`;
}
