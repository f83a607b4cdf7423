import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/** A value, or a description of valid values that follows "must be". */
export type ParseResult<T> = { ok: true; value: T } | { ok: false; expected: string };

export type Parse<T> = (text: string) => ParseResult<T>;

/** An IP network, as ipaddr.js matches it. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** An IP address or lower-case host name, and a port. */
export interface HostPort {
  host: string;
  port: number;
}

/** Address of clamd: a Unix socket or host and port. */
export type ClamavSetting = { path: string } | HostPort;

/** Private addresses that outgoing connections may reach. */
export interface PrivateNetworks {
  /** True: all of them. */
  all: boolean;
  networks: readonly Network[];
  endpoints: readonly HostPort[];
}

/** A smarthost. */
export interface SmarthostUrl {
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
  /** '' without authentication. */
  username: string;
  password: string | undefined;
}

/** Source addresses of outgoing mail. A family without an address is not used. */
export interface OutboundAddresses {
  ipv4: string | undefined;
  ipv6: string | undefined;
}

/** A port number, 0 for any free one, or undefined to disable the listener. */
export type Port = number | undefined;

const good = <T>(value: T): ParseResult<T> => ({ ok: true, value });
const bad = (expected: string): { ok: false; expected: string } => ({ ok: false, expected });

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

export const text: Parse<string> = good;

/** Any text without control characters. */
export const password: Parse<string> = (value) =>
  /\p{Cc}/u.test(value) ? bad('without control characters') : good(value);

export const hostName: Parse<string> = (value) => {
  const name = value.toLowerCase();
  const full = HOST_NAME.test(name) && name.includes('.') && isIP(name) === 0;
  return full ? good(name) : bad('a full host name such as mail.example.com');
};

/** Domains, separated by commas. */
export const domains: Parse<readonly string[]> = (value) => {
  const names = value
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const all = names.every((name) => HOST_NAME.test(name) && name.includes('.'));
  return all ? good(names) : bad('domains such as "lists.example.org,example.com"');
};

export const baseUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
  return plain ? good(url.href.replace(/\/+$/, '')) : bad('a URL such as https://mail.example.com');
};

/** Base URL of Rspamd, without a path. */
export const rspamd: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain =
    url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.href === `${url.origin}/`;
  return plain ? good(url.origin) : bad('a URL such as http://127.0.0.1:11333');
};

export const clamav: Parse<ClamavSetting> = (value) => {
  const path = /^unix:(\/[^\0]{1,100})$/.exec(value)?.[1];
  const address = path === undefined ? hostPort(value) : { path };
  return address === undefined ? bad('an address such as unix:/run/clamav/clamd.ctl or 127.0.0.1:3310') : good(address);
};

/** URL of a PostgreSQL database: the database is named, and the host, or the directory of its socket by `?host=`. */
export const postgresUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const named = url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol) && /^\/[^/]+$/.test(url.pathname);
  return named ? good(url.href) : bad('a URL such as postgres://mailstead@127.0.0.1/mailstead');
};

/** Name of a node. */
export const nodeName: Parse<string> = (value) =>
  /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(value) ? good(value) : bad('a name such as mail-1, of a-z, 0-9 and -');

/** URL of a web page. */
export const webUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url && /^https?:$/.test(url.protocol) ? good(url.href) : bad('a URL such as https://pay.example.com/setup');
};

/** Mail address of a person, in ASCII: it becomes part of a URL. */
export const mailAddress: Parse<string> = (value) => {
  const plain = value.length <= 254 && /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[^@]+$/.test(value);
  const host = value.slice(value.lastIndexOf('@') + 1).toLowerCase();
  return plain && HOST_NAME.test(host) && host.includes('.') ? good(value) : bad('an address such as you@example.com');
};

/** URL of a service over TLS. */
export const httpsUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url?.protocol === 'https:' && url.username === '' && url.hash === '';
  return plain ? good(url.href) : bad('a URL such as https://acme.example.com/directory');
};

/** Issuer of OpenID Connect, as written: tokens repeat it letter by letter. http is for this machine only. */
export const issuerUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) && !/[\s\\\x00-\x1f]/.test(value) ? new URL(value) : undefined;
  const secure = url?.protocol === 'https:' || /^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(`${value}/`);
  const plain = url !== undefined && url.username === '' && url.search === '' && url.hash === '';
  return secure && plain ? good(value) : bad('a URL such as https://login.example.com');
};

/** `smtp://` uses STARTTLS, `smtps://` implicit TLS. */
export const smarthost: Parse<SmarthostUrl> = (value) => {
  const url = URL.canParse(value) && !/[\s\\\x00-\x1f]/.test(value) ? new URL(value) : undefined;
  const tls = url?.protocol === 'smtps:' ? 'implicit' : url?.protocol === 'smtp:' ? 'starttls' : undefined;
  const host = (url?.hostname ?? '').replace(/^\[|\]$/g, '').toLowerCase();
  const login = [decoded(url?.username ?? ''), decoded(url?.password ?? '')] as const;
  const plain = url !== undefined && /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
  const known = isIP(host) !== 0 || HOST_NAME.test(host);
  const [username, password] = login;
  if (!plain || tls === undefined || !known || username === undefined || password === undefined || url.port === '0') {
    return bad('a URL such as smtps://user:password@relay.example.com:465');
  }
  const number = url.port === '' ? (tls === 'implicit' ? 465 : 587) : Number(url.port);
  return good({ host, port: number, tls, username, password: password === '' ? undefined : password });
};

/** Percent-decodes a login; undefined if malformed or with control characters. */
function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text);
    return /\p{Cc}/u.test(plain) ? undefined : plain;
  } catch {
    return undefined;
  }
}

export const port: Parse<Port> = (value) => {
  if (value === 'off') return good(undefined);
  const number = wholeNumber(value);
  return number !== undefined && number <= 65_535 ? good(number) : bad('a port number, 0 for a free one, or "off"');
};

export const remotePort: Parse<number> = (value) => {
  const number = wholeNumber(value);
  return number !== undefined && number >= 1 && number <= 65_535 ? good(number) : bad('a port number from 1 to 65535');
};

/** A whole number within bounds. */
export function between(least: number, most: number): Parse<number> {
  return (value) => {
    const number = wholeNumber(value);
    const within = number !== undefined && number >= least && number <= most;
    return within ? good(number) : bad(`a whole number from ${least} to ${most}`);
  };
}

/** One of several words. */
export function oneWordOf<W extends string>(...words: readonly W[]): Parse<W> {
  return (value) => {
    const word = words.find((one) => one === value);
    return word === undefined ? bad(words.map((one) => `"${one}"`).join(' or ')) : good(word);
  };
}

/** Prefix of tokens: lower-case letters and digits. */
export const tokenPrefix: Parse<string> = (value) =>
  /^[a-z][a-z0-9]{1,15}$/.test(value) ? good(value) : bad('2 to 16 lower-case letters and digits, a letter first');

export const addresses = list('IP addresses separated by commas', (item) => (isIP(item) === 0 ? undefined : item));

export const outboundAddresses: Parse<OutboundAddresses> = (value) => {
  const expected = 'one IPv4 address, one IPv6 address, or both separated by a comma';
  const parsed = addresses(value);
  if (!parsed.ok) return bad(expected);
  const [ipv4, four] = parsed.value.filter((ip) => isIP(ip) === 4);
  const [ipv6, six] = parsed.value.filter((ip) => isIP(ip) === 6);
  return four === undefined && six === undefined ? good({ ipv4, ipv6 }) : bad(expected);
};

export const networks = list('networks such as 10.0.0.0/8 separated by commas', network);

export const resolvers = list('addresses such as 127.0.0.1:53 or [::1]:53 separated by commas', (item) => {
  const address = hostPort(item);
  return address && isIP(address.host) !== 0 ? address : undefined;
});

/** A DNS list (DNSBL or URIBL). */
export interface DnsListSetting {
  zone: string;
  score: number;
  refuse: boolean;
}

/** Default score of a listing; two make a message junk. */
const DEFAULT_LIST_SCORE = 2.5;

const someDnsLists = list(
  '"off", or zones such as bl.example.org, bl.example.org=1.5 or bl.example.org=refuse, separated by commas',
  (item) => {
    const [zone = '', counts = String(DEFAULT_LIST_SCORE), ...rest] = item.toLowerCase().split('=');
    const named = HOST_NAME.test(zone) && zone.includes('.') && isIP(zone) === 0 && rest.length === 0;
    if (!named) return undefined;
    if (counts === 'refuse') return { zone, score: DEFAULT_LIST_SCORE, refuse: true };
    const score = /^-?\d(?:\.\d{1,2})?$/.test(counts) ? Number(counts) : NaN;
    return Math.abs(score) <= 5 ? { zone, score, refuse: false } : undefined;
  },
);

/** At most ten, because each is queried for each message. */
export const dnsLists: Parse<readonly DnsListSetting[]> = (value) => {
  if (value === 'off') return good([]);
  const parsed = someDnsLists(value);
  return parsed.ok && parsed.value.length > 10 ? bad('at most ten zones') : parsed;
};

const privateEndpoints = list(
  '"true", "false", or networks such as 10.0.0.0/8 and endpoints such as 127.0.0.1:2526 separated by commas',
  (item) => network(item) ?? hostPort(item),
);

export const privateNetworks: Parse<PrivateNetworks> = (value) => {
  if (value === 'true' || value === 'false') return good({ all: value === 'true', networks: [], endpoints: [] });
  const parsed = privateEndpoints(value);
  if (!parsed.ok) return parsed;
  const isNetwork = (one: Network | HostPort): one is Network => Array.isArray(one);
  const endpoints = parsed.value.filter((one): one is HostPort => !isNetwork(one));
  return good({ all: false, networks: parsed.value.filter(isNetwork), endpoints });
};

function list<T>(expected: string, parseItem: (item: string) => T | undefined): Parse<readonly T[]> {
  return (value) => {
    const items = value.split(',').map((item) => parseItem(item.trim()));
    return items.every((item) => item !== undefined) ? good(items) : bad(expected);
  };
}

/** A CIDR, or one address as the network of itself. */
function network(item: string): Network | undefined {
  if (isIP(item) !== 0) return ipaddr.parseCIDR(`${item}/${isIP(item) === 4 ? 32 : 128}`);
  const [address = '', bits = '', ...rest] = item.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  const number = wholeNumber(bits);
  if (isIP(address) === 0 || rest.length > 0 || number === undefined || number > most) return undefined;
  return ipaddr.parseCIDR(item);
}

function hostPort(item: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/]+)):(\d{1,5})$/i.exec(item);
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  const number = remotePort(match?.[3] ?? '');
  const known = match?.[1] === undefined ? isIP(host) === 4 || HOST_NAME.test(host) : isIP(host) === 6;
  return known && number.ok ? { host, port: number.value } : undefined;
}

function wholeNumber(value: string): number | undefined {
  return /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : undefined;
}
