import type { Random } from '../random.ts';
import { LANGUAGES, LURES } from './languages.ts';
import { type Letter, type Mailer, MAILERS } from './letter.ts';
import { newPage, pageOf } from './page.ts';
import { code, filled, inventedWord, languageOf, personName, sentences, type Slots } from './writing.ts';

export const HAM_KINDS = [
  'personal',
  'newsletter',
  'receipt',
  'sign-up code',
  'calendar',
  'bounce',
  'mailing list',
  'notification',
  'first contact',
] as const;
export type HamKind = (typeof HAM_KINDS)[number];

/** Occasional senders. */
export interface Writer<Kind> {
  kind: Kind;
  language: string;
  /** Relative frequency. */
  weight: number;
  /** Share of the whole time after which it begins, and ends. */
  begins: number;
  ends: number;
  /** Authentication: none, or by its own domain. */
  signs: boolean;
  write: (date: number) => Letter;
}

const FREE = ['gmail.example', 'outlook.example', 'yahoo.example', 'gmx.example', 'proton.example'];
const TOPS = ['com', 'net', 'org', 'de', 'fr', 'nl', 'pl', 'it', 'es', 'co.uk', 'jp', 'io', 'shop'];
const PERSONAL = ['thunderbird', 'apple', 'outlook', 'web', 'old'];

export function newDomain(random: Random): string {
  return `${inventedWord(random, 2 + random.below(2))}.${random.one(TOPS)}`;
}

export function anyAddress(random: Random): string {
  return [20 + random.below(180), random.below(256), random.below(256), 1 + random.below(254)].join('.');
}

export function mailerOf(name: string): Mailer {
  const mailer = MAILERS[name];
  if (mailer === undefined) throw new Error(`no mailer ${name}`);
  return mailer;
}

/** English or the person's own in that measure, and now and then another one. */
export function someLanguage(random: Random, own: string, ownShare: number, englishShare: number): string {
  const choice = random.next();
  if (choice < ownShare) return own;
  return choice < ownShare + englishShare ? 'en' : random.one(Object.keys(LANGUAGES));
}

/** All who write to a person what the person wants to have. */
export function goodWriters(random: Random, own: string): Writer<HamKind>[] {
  const begins = (): number => (random.chance(0.85) ? 0 : random.next() * 0.9);
  const language = (): string => someLanguage(random, own, 0.7, 0.2);
  const many = (count: number, make: () => Writer<HamKind>): Writer<HamKind>[] => Array.from({ length: count }, make);
  return [
    ...many(30, () => person(random, language(), begins())),
    ...many(14, () => company(random, 'newsletter', language(), begins(), 'bulk', 3)),
    ...many(12, () => company(random, 'receipt', language(), begins(), 'program', 2)),
    ...many(16, () => company(random, 'sign-up code', language(), begins(), random.one(['program', 'php']), 1)),
    ...many(10, () => company(random, 'notification', language(), begins(), 'program', 4)),
    ...many(4, () => list(random, language(), begins())),
    ...many(5, () => calendar(random, language(), begins())),
    ...many(3, () => bouncer(random)),
    ...many(60, () => stranger(random, language())),
  ];
}

function person(random: Random, language: string, begins: number): Writer<HamKind> {
  const name = personName(random);
  const own = random.chance(0.4);
  const domain = own ? newDomain(random) : random.one(FREE);
  const address = `${name.toLowerCase().replace(/[^a-z]+/g, random.one(['.', '_', '']))}@${domain}`;
  const mailer = mailerOf(random.one(PERSONAL));
  const peer = own
    ? peerOf(random, domain)
    : { ip: `198.51.${random.below(4)}.${1 + random.below(250)}`, helo: `out.${domain}`, name: `out.${domain}` };
  const write = (date: number): Letter => {
    const paragraphs = talk(random, language, name);
    const text = paragraphs.join('\n\n');
    const html = random.chance(0.5) ? `<html><body><div>${paragraphs.join('<br><br>')}</div></body></html>` : undefined;
    const photo = {
      type: 'image/jpeg',
      name: `IMG_${1000 + random.below(9000)}.jpg`,
      octets: Buffer.alloc(3000 + random.below(4000), 7),
    };
    const paper = {
      type: 'application/pdf',
      name: `${random.one(languageOf(language).nouns)}.pdf`,
      octets: Buffer.from('%PDF-1.7'),
    };
    const attachments = random.chance(0.15) ? [random.one([photo, paper])] : [];
    return {
      from: { name, address },
      to: 'me@box.test',
      subject: personalSubject(random, language),
      text,
      ...(html !== undefined && { html }),
      attachments,
      mailer,
      date,
      peer,
    };
  };
  return { kind: 'personal', language, weight: 2 + random.below(4), begins, ends: 1, signs: true, write };
}

/** A few sentences; now and then about an order, and now and then about junk that somebody got. */
function talk(random: Random, language: string, name: string): string[] {
  const words = languageOf(language);
  const slots: Slots = {
    person: random.one([name, 'Max', 'Mia']),
    company: 'Example',
    link: `https://www.${newDomain(random)}/${inventedWord(random)}`,
  };
  const said = sentences(random, words.talk, 1 + random.below(5));
  if (random.chance(0.15)) said.push(random.one(words.trade));
  if (random.chance(0.03)) said.push(`> ${random.one(words.lures[random.one(LURES)])}`);
  const body = said.map((one) => filled(random, words, one, slots));
  const from = name.split(' ')[0] ?? '';
  return [
    filled(random, words, random.one(words.hello), { ...slots, person: 'Max' }),
    body.join(' '),
    filled(random, words, random.one(words.bye), { ...slots, person: from }),
  ];
}

function personalSubject(random: Random, language: string): string {
  const words = languageOf(language);
  const about = `${random.one(words.nouns)}${random.chance(0.5) ? ` ${random.one(words.days)}` : ''}`;
  return random.chance(0.4) ? `Re: ${about}` : about;
}

function peerOf(random: Random, domain: string): Letter['peer'] {
  const helo = `${random.one(['mail', 'mx', 'smtp', 'out'])}.${domain}`;
  return { ip: anyAddress(random), helo, name: helo };
}

function company(
  random: Random,
  kind: 'newsletter' | 'receipt' | 'sign-up code' | 'notification' | 'first contact',
  language: string,
  begins: number,
  mailerName: string,
  weight: number,
): Writer<HamKind> {
  const brand = inventedWord(random, 3);
  const domain = `${brand}.${random.one(TOPS)}`;
  const words = languageOf(language);
  const page = newPage(random);
  const peer = random.chance(0.5)
    ? peerOf(random, domain)
    : { ip: `203.0.113.${random.below(255)}`, helo: 'o1.relay.sendhub.example', name: 'o1.relay.sendhub.example' };
  const mailer = mailerOf(mailerName);
  const address = `${random.one(['info', 'noreply', 'hello', 'service', 'news'])}@${random.chance(0.3) ? 'mail.' : ''}${domain}`;
  const unsubscribe = `https://${domain}/u/${inventedWord(random, 3)}`;
  const write = (date: number): Letter => {
    const link = `https://www.${domain}/${inventedWord(random)}/${random.below(9999)}`;
    const slots: Slots = { person: personName(random), company: brand, link };
    const source = kind === 'sign-up code' || kind === 'notification' ? words.notice : words.trade;
    const chosen = sentences(random, source, kind === 'newsletter' ? 3 + random.below(4) : 1 + random.below(2));
    if (random.chance(0.3)) chosen.push(random.one(words.trade));
    const paragraphs = [random.one(words.hello), ...chosen].map((one) =>
      filled(random, words, one, { ...slots, person: 'Max' }),
    );
    const footer = kind === 'newsletter' ? `${brand} · ${unsubscribe}` : brand;
    const fields = kind === 'newsletter' ? [`List-Unsubscribe: <${unsubscribe}>`, `List-Id: <news.${domain}>`] : [];
    const pdf = {
      type: 'application/pdf',
      name: `${random.one(['invoice', 'Rechnung', 'facture'])}-${code(random)}.pdf`,
      octets: Buffer.from('%PDF-1.4'),
    };
    return {
      from: { name: brand, address },
      to: 'me@box.test',
      subject: filled(random, words, random.one(source).split(/[.,:：，。]/)[0] ?? '', slots),
      ...(random.chance(0.8) && { text: [...paragraphs, footer].join('\n\n') }),
      html: pageOf(page, paragraphs, link, footer),
      attachments: kind === 'receipt' && random.chance(0.5) ? [pdf] : [],
      fields,
      mailer,
      date,
      peer,
    };
  };
  return { kind, language, weight, begins, ends: 1, signs: random.chance(0.9), write };
}

/** Somebody never seen before: writes once or twice. */
function stranger(random: Random, language: string): Writer<HamKind> {
  const begins = random.next();
  const what = random.chance(0.5)
    ? person(random, language, begins)
    : company(random, 'first contact', language, begins, random.one(['program', 'php', 'outlook']), 1);
  return { ...what, kind: 'first contact', weight: 2, ends: Math.min(1, begins + 0.05) };
}

function list(random: Random, language: string, begins: number): Writer<HamKind> {
  const name = inventedWord(random);
  const host = `lists.${newDomain(random)}`;
  const peer = peerOf(random, host);
  const fields = [
    `List-Id: <${name}.${host}>`,
    `List-Post: <mailto:${name}@${host}>`,
    `List-Unsubscribe: <https://${host}/options/${name}>`,
    'Precedence: list',
    'X-Mailman-Version: 3.3.8',
  ];
  const write = (date: number): Letter => {
    const author = personName(random);
    const address = `${inventedWord(random)}@${random.one([...FREE, newDomain(random)])}`;
    const text = `${talk(random, language, author).join('\n\n')}\n\n_______________\n${name} mailing list\nhttps://${host}/list/${name}`;
    return {
      from: { name: author, address },
      to: `${name}@${host}`,
      subject: `[${name}] ${personalSubject(random, language)}`,
      text,
      fields,
      mailer: mailerOf(random.one(PERSONAL)),
      date,
      peer,
    };
  };
  return { kind: 'mailing list', language, weight: 8, begins, ends: 1, signs: false, write };
}

function calendar(random: Random, language: string, begins: number): Writer<HamKind> {
  const inviting = person(random, language, begins);
  const write = (date: number): Letter => {
    const letter = inviting.write(date);
    const event = Buffer.from(
      `BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:${code(random)}\r\nSUMMARY:${letter.subject}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    );
    return { ...letter, attachments: [{ type: 'text/calendar; method=REQUEST', name: 'invite.ics', octets: event }] };
  };
  return { ...inviting, kind: 'calendar', weight: 3, write };
}

function bouncer(random: Random): Writer<HamKind> {
  const domain = newDomain(random);
  const peer = peerOf(random, domain);
  const write = (date: number): Letter => {
    const gone = `${inventedWord(random)}@${domain}`;
    const text = `This is the mail system at host ${peer.helo}.\n\nI'm sorry to have to inform you that your message could not be delivered to one or more recipients.\n\n<${gone}>: host ${peer.helo} said: 550 5.1.1 User unknown`;
    const status = Buffer.from(
      `Reporting-MTA: dns; ${peer.helo}\r\n\r\nFinal-Recipient: rfc822; ${gone}\r\nAction: failed\r\nStatus: 5.1.1\r\n`,
    );
    return {
      from: { name: 'Mail Delivery System', address: `MAILER-DAEMON@${domain}` },
      to: 'me@box.test',
      subject: 'Undelivered Mail Returned to Sender',
      text,
      attachments: [{ type: 'message/delivery-status', name: '', octets: status }],
      type: 'report',
      fields: ['Auto-Submitted: auto-replied'],
      mailer: mailerOf('program'),
      date,
      peer,
    };
  };
  return { kind: 'bounce', language: 'en', weight: 2, begins: 0, ends: 1, signs: false, write };
}
