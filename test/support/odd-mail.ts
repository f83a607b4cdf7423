import { Random } from './random.ts';

/** Messages that are hard to carry: lines that look like separators, no last line end, odd octets, no header, no body. */
const HARD: readonly string[] = [
  'From: a@a.example\r\nSubject: plain\r\n\r\nbody\r\n',
  'Subject: no last line end\r\n\r\nlast',
  'Subject: header alone\r\n\r\n',
  'Subject: not even a blank line',
  'From here on it is text, not a separator\r\n\r\nx\r\n',
  'Subject: quoted\r\n\r\nFrom me\r\n>From you\r\n>>From them\r\n>>>>>>>>From all\r\n',
  'Subject: separator\r\n\r\n\r\nFrom ann@a.example Thu Jan  1 00:00:00 2026\r\nSubject: inside\r\n\r\nx\r\n',
  'Subject: blank lines at the end\r\n\r\nx\r\n\r\n\r\n\r\n',
  'Subject: a space\r\n\r\n \r\nFrom x 10:00\r\n\r\n',
  'Status: RO\r\nX-Status: F\r\nX-Keywords: forged\r\nX-Mailstead-Received: 2001-01-01T00:00:00.000Z\r\nSubject: own fields\r\n\r\nx\r\n',
  'Content-Length: 5\r\nSubject: length\r\n\r\nfar more than five octets\r\n',
  'X-Gmail-Labels: Inbox,Trash\r\nSubject: labels\r\n\r\nx\r\n',
  'Subject: 8 bit \xe9\xff\x00\r\n\r\n\x00\x01\x80\xff\r\n',
  '\r\nno header at all\r\n',
  '>From the start\r\n\r\n>\r\n>From \r\n',
  `Subject: long line\r\n\r\n${'x'.repeat(100_000)}\r\n`,
  `Subject: many quotes\r\n\r\n${'>'.repeat(2_000)}From \r\n`,
  `Subject: large\r\n\r\n${'0123456789abcdef\r\nFrom x 10:00\r\n\r\n'.repeat(9_000)}`,
];

/** `count` messages with flags, keywords and times. The same for the same seed. */
export function oddMail(count: number, seed = 1): OddMessage[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, number) => {
    const octets = Buffer.from(HARD[number] ?? scrambled(random, number), 'latin1');
    const keywords = ['$Forwarded', 'work', 'Weird~key', '$Label1', 'todo'].filter(() => random.chance(0.2));
    return {
      octets,
      flags: { bits: random.below(32), keywords },
      receivedAt: Date.UTC(1995, 0, 1) + random.below(1_000_000_000) * 1_000 + random.below(1_000),
    };
  });
}

export interface OddMessage {
  octets: Buffer;
  flags: { bits: number; keywords: string[] };
  receivedAt: number;
}

const PIECES = ['\r\n', '\r\n', 'From ', '>', '\r\n\r\nFrom a@b 11:22:33\r\n', 'word', '\xe4', ' ', '--b', ': ', '='];

function scrambled(random: Random, number: number): string {
  const body = Array.from({ length: random.below(60) }, () => PIECES[random.below(PIECES.length)]).join('');
  return `Message-ID: <odd-${number}@a.example>\r\nSubject: odd ${number}\r\n\r\n${body}`.replaceAll(
    /\r(?!\n)|(?<!\r)\n/g,
    '\r\n',
  );
}
