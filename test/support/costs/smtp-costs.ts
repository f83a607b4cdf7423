import type { Resolver } from '../../../mail/dns/lookup.ts';
import { isDnsName, isWithin } from '../../../mail/dns/name.ts';
import { decodePacket } from '../../../mail/dns/packet.ts';
import { canonicalAddress, isPublicAddress } from '../../../mail/dns/public-address.ts';
import { canonicalHostName } from '../../../mail/dns/query-servers.ts';
import { checkForward } from '../../../mail/forwarder/loop-guard.ts';
import { isSrsLocalPart, originalSender } from '../../../mail/forwarder/srs.ts';
import { isLoopback, neighborhoodOf, networkOf } from '../../../mail/guard/network.ts';
import { parseOauthBearer, parseXoauth2 } from '../../../mail/login/bearer.ts';
import { preparePassword } from '../../../mail/login/saslprep.ts';
import { parseClientFinal, parseClientFirst } from '../../../mail/login/scram.ts';
import { userKey } from '../../../mail/login/candidates.ts';
import { composeDeliveryReport } from '../../../mail/message/delivery-report.ts';
import { LineCleaner } from '../../../mail/relay/line-cleaner.ts';
import { classifyReply } from '../../../mail/relay/reply-class.ts';
import { parseExtensions } from '../../../mail/relay/server-extensions.ts';
import { matchesMx, readStsPolicy, readStsRecord } from '../../../mail/relay/tls-policy/sts-text.ts';
import { decodeStrictBase64 } from '../../../mail/smtp/base64.ts';
import { parseBdat } from '../../../mail/smtp/bdat-command.ts';
import { BdatReader } from '../../../mail/smtp/bdat-reader.ts';
import { DataReader } from '../../../mail/smtp/data-reader.ts';
import { DotStuffer } from '../../../mail/smtp/dot-stuff.ts';
import { parseHelo } from '../../../mail/smtp/helo-command.ts';
import { LineReader } from '../../../mail/smtp/line-reader.ts';
import { parseMail } from '../../../mail/smtp/mail-command.ts';
import { readParameters } from '../../../mail/smtp/parameters.ts';
import { readPath } from '../../../mail/smtp/path.ts';
import { parseRcpt } from '../../../mail/smtp/rcpt-command.ts';
import { ReplyReader } from '../../../mail/smtp/reply-reader.ts';
import { reply } from '../../../mail/smtp/reply.ts';
import { decodeXtext, encodeXtext } from '../../../mail/smtp/xtext.ts';
import { hostileFields } from './header-costs.ts';
import { caught, type CostRow, costs, driven, octets } from './row.ts';

const key = Buffer.alloc(32, 1);

function lines(text: string): number {
  const reader = new LineReader();
  let found = 0;
  reader.push(octets(text));
  while (reader.line(512) !== undefined) found += 1;
  return found;
}

function chunk(text: string): unknown {
  const reader = new BdatReader();
  reader.begin(text.length);
  return reader.read(octets(text));
}

function bounced(text: string): Buffer {
  const address = { local: 'a', domain: 'b.example' };
  return composeDeliveryReport({
    host: 'mx.example',
    from: { address },
    to: address,
    date: 0,
    messageId: '<a@mx.example>',
    recipients: [{ address, action: 'failed', status: '5.0.0', diagnostic: text, originalRecipient: text }],
    envelopeId: text,
    originalHeader: octets(text),
  });
}

/** Makes a DNS response whose names all follow one chain of compression pointers. */
function pointerChains(size: number): string {
  const packet = Buffer.alloc(size);
  const chain = Math.min(8000, Math.floor(size / 4));
  const records = Math.floor((size - 24 - 2 * chain) / 12);
  packet.writeUInt16BE(0x8180, 2);
  packet.writeUInt16BE(records + 1, 6);
  packet.writeUInt16BE(10, 13);
  packet.writeUInt16BE(1, 15);
  packet.writeUInt16BE(2 * chain + 1, 21);
  for (let n = 0; n < chain; n++) packet.writeUInt16BE(0xc000 | (n === 0 ? 23 : 22 + 2 * n), 24 + 2 * n);
  for (let n = 0, at = 24 + 2 * chain; n < records; n++, at += 12) {
    packet.writeUInt16BE(0xc000 | (22 + 2 * chain), at);
    packet.writeUInt16BE(10, at + 2);
    packet.writeUInt16BE(1, at + 4);
  }
  return packet.toString('latin1');
}

const COMMANDS = costs(
  {
    at: 'mail/smtp',
    input: 'line of an SMTP client',
    bound: 'line of 512 to 2,048 octets',
    thread: 'main',
    most: 64 * 1024,
  },
  {
    LineReader: driven(lines, { bound: '64 KiB of a line that is too long', most: 1024 * 1024 }),
    parseMail: (text) => parseMail(`FROM:<a@b> ${text}`),
    'parseMail: path': (text) => parseMail(`FROM:${text}`),
    parseRcpt: (text) => parseRcpt(`TO:<a@b> ${text}`),
    'parseRcpt: path': (text) => parseRcpt(`TO:<"${text}"@b>`),
    readPath,
    readParameters,
    parseHelo,
    parseBdat,
    decodeXtext,
    encodeXtext,
    decodeStrictBase64: driven(decodeStrictBase64, { bound: '12,288 octets of SASL' }),
    reply: (text) => reply(250, '2.0.0', text),
  },
);

const DATA = costs(
  { at: 'mail/smtp', input: 'message', bound: 'message limit', thread: 'main' },
  {
    DataReader: (text) => new DataReader().read(octets(text)),
    BdatReader: chunk,
    DotStuffer: (text) => new DotStuffer().push(octets(text)),
    LineCleaner: driven((text) => new LineCleaner().push(octets(text)), { at: 'mail/relay' }),
  },
);

const LOGIN = costs(
  { at: 'mail/login', input: 'SASL response', bound: '12,288 octets', thread: 'main', most: 12_288 },
  {
    parseClientFirst: (text) => parseClientFirst(`n,a=${text},n=a,r=b`),
    parseClientFinal: (text) => parseClientFinal(`c=biws,r=${text},p=a`),
    parseOauthBearer: (text) => parseOauthBearer(`n,a=b,\x01${text}\x01auth=Bearer a\x01\x01`),
    parseXoauth2: (text) => parseXoauth2(`user=${text}\x01auth=Bearer a\x01\x01`),
    preparePassword,
    userKey,
  },
);

const SERVERS = costs(
  {
    at: 'mail/relay',
    input: 'reply of another server',
    bound: '64 KiB, 100 lines',
    thread: 'main',
    most: 65_536,
  },
  {
    ReplyReader: driven((text) => new ReplyReader().push(octets(`250 ${text}\n`)), { at: 'mail/smtp' }),
    parseExtensions: (text) => parseExtensions(['x', text, `LIMITS ${text}`, `AUTH ${text}`]),
    classifyReply: (text) => classifyReply({ status: '5.0.0', text: `mailbox ${text}` }),
    composeDeliveryReport: driven(bounced, {
      at: 'mail/message',
      input: 'reply and header that a bounce quotes',
      bound: '900 characters, 50,000 octets',
    }),
    readStsPolicy: driven(readStsPolicy, { at: 'mail/relay/tls-policy', input: 'MTA-STS policy', bound: '64 KiB' }),
    'readStsPolicy: field': driven((text) => readStsPolicy(`mode: ${text}`), {
      at: 'mail/relay/tls-policy',
      input: 'MTA-STS policy',
      bound: '64 KiB',
    }),
    matchesMx: driven((text) => matchesMx(text.split('\n', 200), 'mx.b.example'), {
      at: 'mail/relay/tls-policy',
      input: 'MTA-STS policy',
      bound: '200 patterns',
    }),
  },
);

const NAMES = costs(
  {
    at: 'mail/dns',
    input: 'name or address of the DNS or of a peer',
    bound: 'record of 64 KiB',
    thread: 'main',
    most: 65_535,
  },
  {
    decodePacket: driven((text) => caught(() => decodePacket(octets(text))), {
      input: 'DNS packet',
      bound: '64 KiB, 1,000 pointers to pointers',
      made: [pointerChains],
    }),
    isDnsName,
    isWithin: (text) => isWithin(text, `b.${text}`),
    isPublicAddress,
    canonicalAddress,
    canonicalHostName,
    readStsRecord: driven((text) => readStsRecord([`v=STSv1; id=${text}`]), { at: 'mail/relay/tls-policy' }),
    networkOf: driven(networkOf, { at: 'mail/guard' }),
    neighborhoodOf: driven(neighborhoodOf, { at: 'mail/guard' }),
    isLoopback: driven(isLoopback, { at: 'mail/guard' }),
  },
);

const FORWARDED = costs(
  {
    at: 'mail/forwarder',
    input: 'sender and header of a forwarded message',
    bound: 'line limit; header of 256 KiB',
    thread: 'main',
  },
  {
    originalSender: (text) => originalSender({ local: `srs0=${text}`, domain: 'b' }, key, 0),
    isSrsLocalPart,
    checkForward: (text) => checkForward({ nullSender: false, fields: hostileFields(text), source: 'a@b', key }),
  },
);

/** Resolver in whose DNS nothing exists. */
export const EMPTY_DNS: Pick<Resolver, 'a' | 'aaaa'> = {
  a: () => Promise.resolve({ kind: 'none', nx: true }),
  aaaa: () => Promise.resolve({ kind: 'none', nx: true }),
};

/** Functions that read SMTP, replies of servers, and names. */
export const SMTP_COSTS: readonly CostRow[] = [...COMMANDS, ...DATA, ...LOGIN, ...SERVERS, ...NAMES, ...FORWARDED];
