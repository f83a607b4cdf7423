import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/** Parameters of the URL, as in libpq; the server never gets them. */
export const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;

const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;
const MODES = new Set(['disable', 'require', 'verify-ca', 'verify-full']);

/** Options of TLS by `sslmode`; false: none. A socket of this machine has no TLS. */
export function tlsOf(url: string): ConnectionOptions | false {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (mode === 'disable' || isSocket(url)) return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  const files = filesOf(searchParams);
  return {
    ...files,
    // As in libpq: with an authority of its own, `require` checks the certificate as `verify-ca` does.
    rejectUnauthorized: mode !== 'require' || files.ca !== undefined,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    // Without it the certificate of an address would have to be for localhost.
    ...(isIP(host) !== 0 && { host }),
  };
}

/** Returns a sentence about wrong parameters of TLS; undefined: they are right. */
export function tlsProblem(url: string): string | undefined {
  const { hostname, searchParams } = new URL(url);
  if (isSocket(url)) return undefined;
  const mode = searchParams.get('sslmode');
  if (mode === null && !isLoopback(hostname)) {
    return `The connection to the database on ${hostname} would not be encrypted. Add ?sslmode=verify-full to its URL, or ?sslmode=disable if nobody else can read the network.`;
  }
  if (mode !== null && !MODES.has(mode)) {
    return `sslmode=${mode} may go on without encryption. Use verify-full, verify-ca, require or disable.`;
  }
  try {
    filesOf(searchParams);
    return undefined;
  } catch (error) {
    return `Cannot read a file of the URL of the database: ${(error as Error).message}.`;
  }
}

function filesOf(parameters: URLSearchParams): Partial<Record<'ca' | 'cert' | 'key', Buffer>> {
  const found = Object.entries(FILES).flatMap(([name, option]) => {
    const path = parameters.get(name);
    // `system`: the authorities that Node trusts.
    return path === null || path === 'system' ? [] : [[option, readFileSync(path)] as const];
  });
  return Object.fromEntries(found);
}

function isSocket(url: string): boolean {
  return new URL(url).searchParams.get('host')?.startsWith('/') === true;
}

function isLoopback(host: string): boolean {
  return host === '' || host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
