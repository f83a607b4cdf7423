import { hashOf } from '../people/secrets.ts';

/** The __Host- prefix binds the cookie to this host, path / and TLS. RFC 6265bis 4.1.3.2. */
const OVER_TLS = '__Host-mailstead-mail';
/** For loopback without TLS only. */
const WITHOUT_TLS = 'mailstead-mail';

/** Name of the cookie that holds a session of web mail. */
export function mailCookieName(secure: boolean): string {
  return secure ? OVER_TLS : WITHOUT_TLS;
}

/** Hash of the session in a Cookie header; undefined if missing, repeated or malformed. Linear in the header. */
export function mailSessionHash(header: string | undefined, secure: boolean): Uint8Array | undefined {
  const name = `${mailCookieName(secure)}=`;
  const values = (header ?? '').split(';').map((pair) => pair.trim());
  const own = values.filter((pair) => pair.startsWith(name));
  return own.length === 1 ? hashOf(own[0]?.slice(name.length)) : undefined;
}
