import type { TlsResult } from '../store/tls-result.ts';
import type { Answer, Connection } from './connection.ts';
import type { Timeouts } from './limits.ts';
import { NO_OFFERS, readOffers, type Offers } from './offers.ts';
import { deferred, failed, replyText, verdictOf, type Verdict } from './verdict.ts';

/** Why there is no session. */
export interface NoSession {
  kind: 'none';
  verdict: Verdict;
  /** Nothing that speaks SMTP is there: the host is left alone for a while. */
  dead: boolean;
  /** For TLS-RPT; empty when it never came to TLS. */
  tlsResults: TlsResult[];
}

/** How a server is greeted. */
export interface Greeter {
  /** Our name in EHLO. */
  hostname: string;
  timeouts: Timeouts;
}

export type Greeted = { kind: 'ok'; offers: Offers } | NoSession;

/** Waits for the banner and says who we are. */
export async function greet(connection: Connection, options: Greeter): Promise<Greeted> {
  const banner = await connection.reply(options.timeouts.command);
  if (banner.kind === 'lost') return none(deferred('4.4.2', banner.why), true);
  if (banner.reply.code !== 220) return refused(banner);
  return hello(connection, options);
}

/** RFC 5321 3.2: a server that does not know EHLO is greeted with HELO. */
export async function hello(connection: Connection, options: Greeter): Promise<Greeted> {
  const { hostname, timeouts } = options;
  const ehlo = await ask(connection, `EHLO ${hostname}`, timeouts.command);
  if (ehlo.kind === 'lost') return none(deferred('4.4.2', ehlo.why), true);
  if (ehlo.reply.code === 250) return { kind: 'ok', offers: readOffers(ehlo.reply.lines) };
  if (ehlo.reply.code < 500) return refused(ehlo);
  const helo = await ask(connection, `HELO ${hostname}`, timeouts.command);
  if (helo.kind === 'lost') return none(deferred('4.4.2', helo.why), true);
  return helo.reply.code === 250 ? { kind: 'ok', offers: NO_OFFERS } : refused(helo);
}

/** One command and its answer. */
export async function ask(connection: Connection, command: string, timeout: number): Promise<Answer> {
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

export function none(verdict: Verdict, dead: boolean, tlsResults: TlsResult[] = []): NoSession {
  return { kind: 'none', verdict, dead, tlsResults };
}
