import type { Random } from '../random.ts';
import { anyAddress, mailerOf, newDomain, someLanguage, type Writer } from './ham.ts';
import { type Language, type Lure, LURES } from './languages.ts';
import type { Attachment, Letter, Mailer } from './letter.ts';
import { newPage, type Page, pageOf } from './page.ts';
import { filled, inventedWord, languageOf, personName, sentences, type Slots } from './writing.ts';

export const JUNK_KINDS = [...LURES, 'malware', 'hash-buster', 'image only', 'snowshoe'] as const;
export type JunkKind = (typeof JUNK_KINDS)[number];

const FREE = ['gmail.example', 'outlook.example', 'yahoo.example', 'mail.example'];
const CHEAP = ['top', 'xyz', 'shop', 'click', 'com', 'net', 'info', 'ru', 'online'];
const BRANDS = ['paypol', 'amazom', 'micros0ft', 'netfIix', 'dhl-parcel', 'bank-secure', 'app1e-id', 'post-track'];
const MAILERS_USED = ['php', 'old', 'outlook', 'bulk', 'program', 'thunderbird', 'web'];

/** Evasion tricks of a campaign. */
type Padding = 'none' | 'talk' | 'trade' | 'hidden talk' | 'invented words' | 'odd letters';
const PADDINGS: readonly Padding[] = [
  'none',
  'none',
  'none',
  'none',
  'talk',
  'trade',
  'hidden talk',
  'invented words',
  'odd letters',
];

/** One wave of junk: its messages share a text, a layout and a way to send. */
interface Campaign {
  random: Random;
  kind: JunkKind;
  lure: Lure;
  words: Language;
  mailer: Mailer;
  page: Page;
  padding: Padding;
  /** Domains that it wears out. */
  domains: readonly string[];
  /** Sent by stolen machines and accounts all over. */
  scattered: boolean;
  text: readonly string[];
  net: string;
  html: boolean;
}

/** All who write to a person what the person does not want. */
export function junkWriters(random: Random, own: string, count = 300): Writer<JunkKind>[] {
  return Array.from({ length: count }, () => {
    const campaign = newCampaign(random, someLanguage(random, own, 0.35, 0.5));
    const begins = random.next() * 0.98 - 0.05;
    const { kind, scattered, language } = campaign;
    const ends = Math.min(1, begins + 0.02 + random.next() * 0.3);
    const write = (date: number): Letter => letterOf(campaign, date);
    return {
      kind,
      language,
      weight: 1 + random.below(6),
      begins,
      ends,
      signs: !scattered && random.chance(0.7),
      write,
    };
  });
}

function newCampaign(random: Random, language: string): Campaign & { language: string } {
  const kind = random.one(JUNK_KINDS);
  const lure = LURES.find((one) => one === kind) ?? (kind === 'malware' ? 'invoice' : random.one(LURES));
  const words = languageOf(language);
  const brand = lure === 'phishing' ? random.one(BRANDS) : inventedWord(random, 3);
  const wearsOut = kind === 'snowshoe' ? 20 : 1 + random.below(4);
  return {
    random,
    kind,
    lure,
    words,
    language,
    mailer: mailerOf(random.one(MAILERS_USED)),
    page: newPage(random),
    padding: kind === 'hash-buster' ? 'invented words' : random.one(PADDINGS),
    domains: Array.from(
      { length: wearsOut },
      () => `${random.chance(0.5) ? brand : inventedWord(random, 3)}.${random.one(CHEAP)}`,
    ),
    scattered: kind !== 'snowshoe' && random.chance(0.5),
    text: sentences(random, words.lures[lure], 1 + random.below(3)),
    net: random.chance(0.15) ? '203.0.113' : anyAddress(random).replace(/\.\d+$/, ''),
    html: random.chance(0.7),
  };
}

function letterOf(campaign: Campaign, date: number): Letter {
  const { random, kind, words, domains, scattered, html, page, mailer } = campaign;
  const domain = random.one(domains);
  const link = `http${random.chance(0.6) ? 's' : ''}://${random.chance(0.3) ? `${inventedWord(random)}.` : ''}${domain}/${inventedWord(random)}${random.chance(0.5) ? `?id=${random.below(1e6)}` : ''}`;
  const name = campaign.lure === 'phishing' ? (domain.split('.')[0] ?? '') : personName(random);
  const slots: Slots = { person: random.one(['Max', 'me', name]), company: name, link };
  const say = (sentence: string): string => filled(random, words, sentence, slots);
  const paragraphs =
    kind === 'image only'
      ? []
      : [say(random.one(words.hello)), campaign.text.map(say).join(' '), ...paddingOf(campaign, say)];
  if (kind === 'snowshoe' || random.chance(0.3)) paragraphs.push(link);
  const shown = campaign.padding === 'odd letters' ? paragraphs.map((one) => oddLetters(random, one)) : paragraphs;
  const hidden =
    campaign.padding === 'hidden talk'
      ? `<div style="display:none">${sentences(random, words.talk, 4).map(say).join(' ')}</div>`
      : '';
  const markup =
    html || kind === 'image only'
      ? pageOf(page, shown, link, random.chance(0.5) ? name : '').replace('</body>', `${hidden}</body>`)
      : undefined;
  const attachments = attachmentsOf(campaign, say);
  return {
    from: { name, address: author(random, scattered, name, domain) },
    ...(random.chance(0.2) && { replyTo: `${inventedWord(random)}@${random.one(FREE)}` }),
    to: random.chance(0.8) ? 'me@box.test' : 'undisclosed-recipients:;',
    subject: subjectOf(campaign, say),
    ...((markup === undefined || random.chance(0.4)) && { text: shown.join('\n\n') }),
    ...(markup !== undefined && { html: markup }),
    attachments,
    ...(kind === 'snowshoe' && { fields: [`List-Unsubscribe: <https://${domain}/u/${inventedWord(random)}>`] }),
    mailer,
    date,
    peer: peerOf(campaign, domain),
  };
}

function paddingOf({ random, words, padding }: Campaign, say: (sentence: string) => string): string[] {
  switch (padding) {
    case 'talk':
      return [
        sentences(random, words.talk, 3 + random.below(4))
          .map(say)
          .join(' '),
        say(random.one(words.bye)),
      ];
    case 'trade':
      return sentences(random, [...words.trade, ...words.notice], 2 + random.below(3)).map(say);
    case 'invented words':
      return [Array.from({ length: 10 + random.below(60) }, () => inventedWord(random, 1 + random.below(4))).join(' ')];
    case 'none':
    case 'hidden talk':
    case 'odd letters':
      return random.chance(0.3) ? [say(random.one(words.bye))] : [];
  }
}

/** Letters of another alphabet and marks that nobody sees, here and there. */
function oddLetters(random: Random, text: string): string {
  const alike: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', i: 'і', c: 'с' };
  return text.replace(/(?<!\/\S*)[aeoic]/g, (letter) =>
    random.chance(0.15) ? (alike[letter] ?? letter) : random.chance(0.05) ? `${letter}\u200b` : letter,
  );
}

function author(random: Random, scattered: boolean, name: string, domain: string): string {
  const local = random.chance(0.5) ? name.toLowerCase().replace(/[^a-z]+/g, '.') : inventedWord(random, 3);
  if (!scattered) return `${local}@${domain}`;
  return `${local}${random.chance(0.5) ? random.below(99) : ''}@${random.chance(0.5) ? random.one(FREE) : newDomain(random)}`;
}

function peerOf({ random, scattered, net }: Campaign, domain: string): Letter['peer'] {
  if (!scattered) {
    const helo = `${random.one(['mail', 'mx', 'smtp', 'mta'])}${random.below(9)}.${domain}`;
    return { ip: `${net}.${random.below(255)}`, helo, name: helo };
  }
  const ip = anyAddress(random);
  return {
    ip,
    helo: random.chance(0.5) ? `mail.${newDomain(random)}` : `host-${ip.replaceAll('.', '-')}.dyn.example`,
    name: '',
  };
}

function subjectOf({ random, words, text, kind, padding }: Campaign, say: (sentence: string) => string): string {
  const choice = random.next();
  if (choice < 0.2 || kind === 'malware')
    return `${random.chance(0.5) ? 'Re: ' : ''}${random.one(words.nouns)} ${random.below(9999)}`;
  if (choice < 0.35) return say(random.one([...words.notice, ...words.trade]).split(/[.,:：，。]/)[0] ?? '');
  const line = say((random.one(text).split(/[.,:：，。]/)[0] ?? '').slice(0, 80));
  return padding === 'odd letters'
    ? oddLetters(random, line)
    : padding === 'invented words'
      ? `${line} ${inventedWord(random)}`
      : line;
}

function attachmentsOf({ random, kind, words }: Campaign, say: (sentence: string) => string): Attachment[] {
  const name = `${say(random.one(words.nouns))}_${random.below(99999)}`;
  if (kind === 'image only')
    return [
      {
        type: 'image/png',
        name: `${inventedWord(random)}.png`,
        octets: Buffer.concat([
          Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
          Buffer.alloc(8000 + random.below(20000), random.below(255)),
        ]),
      },
    ];
  if (kind === 'malware')
    return [
      random.one([
        {
          type: 'application/octet-stream',
          name: `${name}.pdf.js`,
          octets: Buffer.from('var a = new ActiveXObject("WScript.Shell");'),
        },
        { type: 'application/zip', name: `${name}.zip`, octets: Buffer.from('PK\x03\x04', 'latin1') },
        {
          type: 'application/octet-stream',
          name: `${name}.exe`,
          octets: Buffer.concat([Buffer.from('MZ'), Buffer.alloc(500)]),
        },
        {
          type: 'text/html',
          name: `${name}.html`,
          octets: Buffer.from('<script>location="https://x.example"</script>'),
        },
      ]),
    ];
  return kind === 'invoice' && random.chance(0.6)
    ? [{ type: 'application/pdf', name: `${name}.pdf`, octets: Buffer.from('%PDF-1.5') }]
    : [];
}
