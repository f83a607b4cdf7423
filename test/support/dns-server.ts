import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

const TYPES: Record<number, string> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  43: 'DS',
  52: 'TLSA',
};
const AD = 0x20;
const CODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };

/**
 * Answer of a scripted name server: records as in a zone file (`'10 mx.example'`, `'192.0.2.1'`), a response code,
 * or silence. A record may begin with `CNAME `.
 */
export type DnsAnswer = readonly string[] | keyof typeof CODES | 'silence';

export interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as the resolver takes it. */
  address: string;
  /** Keys are `TYPE name`, such as `MX remote.test`; a name that has no key at all does not exist. */
  zone: Record<string, DnsAnswer>;
  ttl: number;
  /** True if DNSSEC secures the answers for a name: the AD bit is set for clients that request it. RFC 6840 5.8. */
  secure: (name: string) => boolean;
  /** Every question asked so far. */
  queried: string[];
}

/** Starts a name server on loopback that answers from `zone`, which may be changed at any time. */
export async function dnsServer(
  zone: Record<string, DnsAnswer>,
  at = { host: '127.0.0.1', port: 0 },
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const server: DnsServer = {
    address: '',
    zone,
    ttl: 60,
    secure: () => false,
    queried: [],
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = question(query);
    server.queried.push(`${type} ${name}`);
    const answer = server.zone[`${type} ${name}`] ?? (exists(server.zone, name) ? 'NOERROR' : 'NXDOMAIN');
    if (answer === 'silence') return;
    const records = typeof answer === 'string' ? [] : answer;
    const head = Buffer.from(query.subarray(0, 12));
    const proved = (query.readUInt16BE(2) & AD) !== 0 && server.secure(name) ? AD : 0;
    head.writeUInt16BE(0x8180 | proved | (typeof answer === 'string' ? CODES[answer] : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const body = records.flatMap((record, at) => {
      // Records after an alias belong to the name that it leads to.
      const owner =
        records
          .slice(0, at)
          .findLast((one) => one.startsWith('CNAME '))
          ?.slice(6) ?? name;
      return resourceRecord(owner, type, record, server.ttl);
    });
    socket.send(Buffer.concat([head, query.subarray(12, end), ...body]), from.port, from.address);
  });
  socket.bind(at.port, at.host);
  await once(socket, 'listening');
  server.address = `${at.host}:${socket.address().port}`;
  return server;
}

function exists(zone: Record<string, DnsAnswer>, name: string): boolean {
  return Object.keys(zone).some((key) => key.endsWith(` ${name}`));
}

function question(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: TYPES[query.readUInt16BE(at + 1)] ?? 'other', end: at + 5 };
}

function resourceRecord(name: string, queried: string, record: string, ttl: number): Buffer {
  const type = record.startsWith('CNAME ') ? 'CNAME' : queried;
  const data = recordData(type, record.replace(/^CNAME /, ''));
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(Number(Object.keys(TYPES).find((key) => TYPES[Number(key)] === type)), 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

function recordData(type: string, text: string): Buffer {
  switch (type) {
    case 'A':
      return Buffer.from(text.split('.').map(Number));
    case 'AAAA':
      return ipv6(text);
    case 'MX': {
      const [preference = '0', exchange = ''] = text.split(' ');
      return Buffer.concat([Buffer.from([Number(preference) >> 8, Number(preference) & 255]), encodeName(exchange)]);
    }
    case 'DS': {
      const [tag = '', algorithm = '', digestType = '', hex = ''] = text.split(' ');
      const head = Buffer.from([Number(tag) >> 8, Number(tag) & 255, Number(algorithm), Number(digestType)]);
      return Buffer.concat([head, Buffer.from(hex, 'hex')]);
    }
    case 'TLSA': {
      const [usage = '', selector = '', matching = '', hex = ''] = text.split(' ');
      return Buffer.concat([Buffer.from([usage, selector, matching].map(Number)), Buffer.from(hex, 'hex')]);
    }
    case 'TXT': {
      const chunks = text.match(/[^]{1,255}/g) ?? [''];
      return Buffer.concat(chunks.map((c) => Buffer.concat([Buffer.from([c.length]), Buffer.from(c, 'latin1')])));
    }
    default:
      return encodeName(text);
  }
}

function ipv6(text: string): Buffer {
  const [left = '', right = ''] = text.split('::');
  const words = (half: string): number[] =>
    half === '' ? [] : half.split(':').map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(left), words(right)];
  const all = text.includes('::') ? [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head;
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 255]));
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.from([0]),
  ]);
}

/** The `in-addr.arpa` name of an IPv4 address. */
export function reverseName(ip: string): string {
  if (!isIPv4(ip)) throw new Error(`not an IPv4 address: ${ip}`);
  return `${ip.split('.').reverse().join('.')}.in-addr.arpa`;
}
