import { networkInterfaces } from 'node:os';
import type { Settings } from '../config/settings.ts';
import type { ImapListener } from '../mail/imap/door.ts';
import type { Listener } from '../mail/receiver/options.ts';
import type { HttpListener } from './http/server.ts';

/** Every address of MAILSTEAD_LISTEN with every port that is not off. */
function everywhere<T>(
  settings: Settings,
  ports: readonly [number | undefined, T][],
): (T & { host: string; port: number })[] {
  return reachable(settings.listen).flatMap((host) =>
    ports.flatMap(([port, door]) => (port === undefined ? [] : [{ ...door, host, port }])),
  );
}

/** `::` is in the default of live mode and asks for IPv6 where there is any; on a machine without it is left out. */
function reachable(addresses: readonly string[]): readonly string[] {
  const ipv6 = Object.values(networkInterfaces()).some((list) => list?.some((one) => one.family === 'IPv6'));
  return ipv6 || addresses.length === 1 ? addresses : addresses.filter((address) => address !== '::');
}

export function smtpListeners(settings: Settings): Listener[] {
  const { smtp, submission, submissions } = settings.ports;
  return everywhere<Pick<Listener, 'door' | 'tls'>>(settings, [
    [smtp, { door: 'mx', tls: 'starttls' }],
    [submission, { door: 'submission', tls: 'starttls' }],
    [submissions, { door: 'submission', tls: 'implicit' }],
  ]);
}

export function imapListeners(settings: Settings): ImapListener[] {
  return everywhere<Pick<ImapListener, 'tls'>>(settings, [
    [settings.ports.imap, { tls: 'starttls' }],
    [settings.ports.imaps, { tls: 'implicit' }],
  ]);
}

/** The addresses of the name server. */
export function dnsHosts(settings: Settings): readonly string[] {
  return reachable(settings.listen);
}

export function httpListeners(settings: Settings): HttpListener[] {
  return everywhere<Pick<HttpListener, 'tls'>>(settings, [
    [settings.ports.http, { tls: false }],
    [settings.ports.https, { tls: true }],
  ]);
}
