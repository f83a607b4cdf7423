import type { Authentication } from '../../mail/auth/authentication.ts';
import { authenticateMail, type AuthenticationOptions } from '../../mail/auth/authenticate.ts';
import { fakeResolver, type FakeZone } from './fake-resolver.ts';

export interface AuthenticationSetup extends Omit<Partial<AuthenticationOptions>, 'resolver'> {
  zone?: FakeZone;
  ip?: string;
  helo?: string;
  sender?: string;
  /** Octets in a chunk. */
  chunk?: number;
  local?: boolean;
}

/** Authenticates a message (one character an octet) from an unknown address. */
export async function authenticateMessage(message: string, more: AuthenticationSetup = {}): Promise<Authentication> {
  const {
    zone = {},
    ip = '198.51.100.1',
    helo = 'mx.peer.example',
    sender = 'bounce@list.example',
    chunk = 997,
  } = more;
  async function* chunks(): AsyncIterable<Buffer> {
    for (let at = 0; at < message.length; at += chunk) yield Buffer.from(message.slice(at, at + chunk), 'latin1');
  }
  const { policies, timeoutMs, now, local = false } = more;
  return authenticateMail(
    { chunks, ip, helo, sender },
    {
      resolver: local ? null : fakeResolver(zone),
      ...(policies !== undefined && { policies }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(now !== undefined && { now }),
    },
  );
}
