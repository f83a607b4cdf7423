import type { Random } from '../random.ts';
import { inventedWord } from './writing.ts';

export interface Attachment {
  type: string;
  name: string;
  octets: Buffer;
}

/** A message before it is octets. */
export interface Letter {
  from: { name: string; address: string };
  replyTo?: string;
  to: string;
  subject: string;
  /** Undefined: HTML only. */
  text?: string;
  html?: string;
  attachments?: readonly Attachment[];
  /** Further fields, as they stand. */
  fields?: readonly string[];
  mailer: Mailer;
  /** ms UTC. */
  date: number;
  peer: { ip: string; helo: string; name: string };
  /** Subtype of the multipart; `mixed` if left out. */
  type?: string;
}

/** Header style of a mail program. */
export interface Mailer {
  fields: readonly string[];
  id: (random: Random, domain: string) => string;
  boundary: (random: Random) => string;
  encoding: 'base64' | 'quoted-printable';
  zone: string;
}

const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => String(random.below(10))).join('');
const hex = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.below(16).toString(16)).join('');
const uuid = (random: Random): string => [8, 4, 4, 4, 12].map((count) => hex(random, count)).join('-');

/** Programs that people and companies use; those who send junk use them as well, or say so. */
export const MAILERS: Readonly<Record<string, Mailer>> = {
  thunderbird: {
    fields: ['User-Agent: Mozilla Thunderbird', 'Content-Language: en-US'],
    id: (random, domain) => `${uuid(random)}@${domain}`,
    boundary: (random) => `------------${hex(random, 24).toUpperCase()}`,
    encoding: 'quoted-printable',
    zone: '+0100',
  },
  apple: {
    fields: ['X-Mailer: Apple Mail (2.3774.600.62)'],
    id: (random, domain) => `${uuid(random).toUpperCase()}@${domain}`,
    boundary: (random) => `Apple-Mail=_${uuid(random).toUpperCase()}`,
    encoding: 'quoted-printable',
    zone: '+0200',
  },
  outlook: {
    fields: ['X-Mailer: Microsoft Outlook 16.0', 'Thread-Index: AdqF0n3K', 'X-MS-Has-Attach:'],
    id: (random, domain) => `${hex(random, 16)}$${hex(random, 8)}$@${domain}`,
    boundary: (random) =>
      `----=_NextPart_000_${hex(random, 4).toUpperCase()}_01D${hex(random, 5).toUpperCase()}.${hex(random, 8).toUpperCase()}`,
    encoding: 'base64',
    zone: '+0000',
  },
  web: {
    fields: [],
    id: (random) => `CA+${hex(random, 30)}@mail.web.example`,
    boundary: (random) => `000000000000${hex(random, 16)}`,
    encoding: 'quoted-printable',
    zone: '+0000',
  },
  php: {
    fields: ['X-Mailer: PHPMailer 6.9.1 (https://github.com/PHPMailer/PHPMailer)'],
    id: (random, domain) => `${inventedWord(random, 16)}@${domain}`,
    boundary: (random) => `b1=_${hex(random, 32)}`,
    encoding: 'base64',
    zone: '+0000',
  },
  bulk: {
    fields: ['Feedback-ID: 10:campaign:stream', 'Precedence: bulk'],
    id: (random, domain) => `${digits(random, 10)}.${hex(random, 20)}@${domain}`,
    boundary: (random) => `_----------=_MCPart_${digits(random, 9)}`,
    encoding: 'quoted-printable',
    zone: '+0000',
  },
  program: {
    fields: ['Auto-Submitted: auto-generated'],
    id: (random, domain) => `${hex(random, 12)}.${digits(random, 13)}@${domain}`,
    boundary: (random) => `--_NmP-${hex(random, 16)}-Part_1`,
    encoding: 'quoted-printable',
    zone: '+0000',
  },
  old: {
    fields: ['X-Mailer: Microsoft Outlook Express 6.00.2900.5512', 'X-Priority: 3', 'X-MSMail-Priority: Normal'],
    id: (random, domain) => `${hex(random, 12)}$${hex(random, 8)}$${hex(random, 8)}@${domain}`,
    boundary: (random) => `----=_NextPart_${digits(random, 3)}_${hex(random, 4)}`,
    encoding: 'base64',
    zone: '-0500',
  },
};

/** The octets as this box keeps them, with its Received field on top. */
export function octetsOf(random: Random, letter: Letter): Buffer {
  const { from, to, subject, mailer, peer, date } = letter;
  const domain = from.address.split('@')[1] ?? '';
  const at = new Date(date).toUTCString().replace('GMT', mailer.zone);
  const fields = [
    `Received: from ${peer.helo} ([${peer.ip}])\r\n\tby box.test with ESMTPS id ${hex(random, 12)};\r\n\t${new Date(date).toUTCString().replace('GMT', '+0000')}`,
    ...(random.chance(0.5) ? [`Received: from ${inventedWord(random)} by ${peer.helo} with ESMTPA; ${at}`] : []),
    `Date: ${at}`,
    `From: ${from.name === '' ? from.address : `${phrase(from.name)} <${from.address}>`}`,
    `To: ${to}`,
    `Subject: ${phrase(subject)}`,
    `Message-ID: <${mailer.id(random, domain)}>`,
    ...(letter.replyTo === undefined ? [] : [`Reply-To: ${letter.replyTo}`]),
    ...mailer.fields,
    ...(letter.fields ?? []),
    'MIME-Version: 1.0',
  ];
  return Buffer.from(`${fields.join('\r\n')}\r\n${body(random, letter)}`);
}

function phrase(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const words = text.match(/.{1,12}/gsu) ?? [];
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ');
}

function body(random: Random, { text, html, attachments = [], mailer, type }: Letter): string {
  const texts = [
    ...(text === undefined ? [] : [leaf(mailer, 'text/plain', text)]),
    ...(html === undefined ? [] : [leaf(mailer, 'text/html', html)]),
  ];
  const whole =
    texts.length > 1
      ? multipart(mailer.boundary(random), 'alternative', texts)
      : (texts[0] ?? leaf(mailer, 'text/plain', ''));
  if (attachments.length === 0) return whole;
  return multipart(mailer.boundary(random), type ?? 'mixed', [whole, ...attachments.map(attached)]);
}

function leaf(mailer: Mailer, type: string, text: string): string {
  const octets = Buffer.from(text.replaceAll('\n', '\r\n'));
  const encoded = mailer.encoding === 'base64' ? base64(octets) : quoted(octets);
  return `Content-Type: ${type}; charset="utf-8"\r\nContent-Transfer-Encoding: ${mailer.encoding}\r\n\r\n${encoded}\r\n`;
}

function attached({ type, name, octets }: Attachment): string {
  return `Content-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(octets)}\r\n`;
}

function multipart(boundary: string, subtype: string, parts: readonly string[]): string {
  const inner = parts.map((part) => `--${boundary}\r\n${part}`).join('');
  return `Content-Type: multipart/${subtype}; boundary="${boundary}"\r\n\r\n${inner}--${boundary}--\r\n`;
}

function base64(octets: Buffer): string {
  return octets.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n');
}

function quoted(octets: Buffer): string {
  const escaped = octets.toString('latin1').replace(/[^\r\n\x20-\x3c\x3e-\x7e]/g, (octet) => {
    return `=${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return escaped
    .split('\r\n')
    .map((line) => line.match(/(?:=[0-9A-F]{2}|[^=]){1,70}/g)?.join('=\r\n') ?? '')
    .join('\r\n');
}
