import type { TlsResult } from '../store/queue/tls-result.ts';
import type { ReplyResult, Connection } from './connection.ts';
import type { RelayTimeouts } from './limits.ts';
import { NO_EXTENSIONS, parseExtensions, type ServerExtensions } from './server-extensions.ts';
import { deferred, failed, replyText, verdictOf, type AttemptVerdict } from './attempt-verdict.ts';

/** Reason why no session was opened. */
export interface SessionFailure {
  kind: 'none';
  verdict: AttemptVerdict;
  /** No SMTP server responds: the host is not tried for a while. */
  dead: boolean;
  /** TLS-RPT results; empty before TLS. */
  tlsResults: TlsResult[];
}

/** Options of the greeting. */
export interface GreetingOptions {
  /** EHLO name. */
  hostname: string;
  timeouts: RelayTimeouts;
}

export type GreetingResult = { kind: 'ok'; offers: ServerExtensions } | SessionFailure;

/** Reads the banner and sends EHLO. */
export async function readGreeting(connection: Connection, options: GreetingOptions): Promise<GreetingResult> {
  const banner = await connection.reply(options.timeouts.command);
  if (banner.kind === 'lost') return sessionFailure(deferred('4.4.2', banner.why), true);
  if (banner.reply.code !== 220) return refusedSession(banner);
  return sendEhlo(connection, options);
}

/** Sends EHLO, or HELO if the server does not know EHLO. RFC 5321 3.2. */
export async function sendEhlo(connection: Connection, options: GreetingOptions): Promise<GreetingResult> {
  const { hostname, timeouts } = options;
  const ehlo = await sendCommand(connection, `EHLO ${hostname}`, timeouts.command);
  if (ehlo.kind === 'lost') return sessionFailure(deferred('4.4.2', ehlo.why), true);
  if (ehlo.reply.code === 250) return { kind: 'ok', offers: parseExtensions(ehlo.reply.lines) };
  if (ehlo.reply.code < 500) return refusedSession(ehlo);
  const helo = await sendCommand(connection, `HELO ${hostname}`, timeouts.command);
  if (helo.kind === 'lost') return sessionFailure(deferred('4.4.2', helo.why), true);
  return helo.reply.code === 250 ? { kind: 'ok', offers: NO_EXTENSIONS } : refusedSession(helo);
}

/** Sends one command and reads its reply. */
export async function sendCommand(connection: Connection, command: string, timeout: number): Promise<ReplyResult> {
  const lost = await connection.write(`${command}\r\n`, timeout);
  return lost ?? connection.reply(timeout);
}

/** Creates the failure for a server that rejects this box before any message; another host may accept it. */
function refusedSession(answer: ReplyResult & { kind: 'reply' }): SessionFailure {
  const verdict = verdictOf(answer.reply);
  const text = `the server rejected the connection: ${replyText(answer.reply)}`;
  const { code, status } = verdict;
  if (verdict.outcome === 'failed') return sessionFailure(failed(status, text, code), false);
  return sessionFailure(deferred(verdict.outcome === 'delivered' ? '4.5.0' : status, text, code), false);
}

export function sessionFailure(verdict: AttemptVerdict, dead: boolean, tlsResults: TlsResult[] = []): SessionFailure {
  return { kind: 'none', verdict, dead, tlsResults };
}
