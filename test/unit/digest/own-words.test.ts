import { firstOwnLine, isStopReply } from '../../../src/reading/stop-reply.ts';
import { describe, expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const HEAD =
  'From: Owner <owner@home.test>\r\nTo: mailstead@box.test\r\nSubject: Re: What the agents did\r\nMIME-Version: 1.0\r\n';
const QUOTE = ['> Hello,', '>', '> answer this letter with the one word STOP:', '> STOP', '>> STOP'];

const says = (fields: string, body: string): boolean => {
  const octets = Buffer.from(`${HEAD}${fields}\r\n\r\n${body.replace(/\r?\n/g, '\r\n')}\r\n`);
  return isStopReply({ octets, parts: indexMessage(octets).parts });
};
const plain = (text: string): boolean => says('Content-Type: text/plain; charset=utf-8', text);
const html = (text: string): boolean => says('Content-Type: text/html; charset=utf-8', text);
const lines = (...all: (string | string[])[]): string => all.flat().join('\n');

/** A letter as the program of somebody answers it; `own` is what they typed. */
const FORMS: Readonly<Record<string, (own: string) => boolean>> = {
  'nothing quoted': (own) => plain(own),
  'Thunderbird, above': (own) => plain(lines(own, '', 'Am 22.11.26 um 07:01 schrieb Mailstead:', QUOTE)),
  'Thunderbird, below, signed with a name': (own) =>
    plain(lines('On 11/22/26 07:01, Mailstead wrote:', QUOTE, '', own, '', '-- ', 'Ada')),
  'Gmail, above, broken line': (own) =>
    plain(lines(own, '', 'On Sun, Nov 22, 2026 at 7:01 AM Mailstead <mailstead@box.test>', 'wrote:', '', QUOTE)),
  'Gmail, below': (own) =>
    plain(lines('Le dim. 22 nov. 2026 à 07:01, Mailstead <mailstead@box.test>', 'a écrit :', '', QUOTE, '', own)),
  'Gmail, Japanese, below': (own) =>
    plain(lines('2026年11月22日(日) 7:01 Mailstead <mailstead@box.test>:', '', QUOTE, own)),
  'no colon, below': (own) => plain(lines('Mailstead <mailstead@box.test> kirjoitti 22.11.2026', QUOTE, own)),
  'Outlook, above': (own) =>
    plain(
      lines(
        own,
        '',
        '________________________________',
        'From: Mailstead <mailstead@box.test>',
        'Sent: Sunday',
        '',
        'STOP',
      ),
    ),
  'Outlook, HTML only': (own) =>
    html(
      `<html><head><style>p {margin:0}</style></head><body><div class="elementToProof" style="font-family: Aptos">${own}</div>
       <div id="appendonsend"></div><hr style="display:inline-block;width:98%">
       <div id="divRplyFwdMsg"><b>From:</b> Mailstead<br><b>Subject:</b> What</div><div>STOP</div></body></html>`,
    ),
  'Gmail, HTML only': (own) =>
    html(
      `<div dir="ltr"><div>${own}</div></div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Sun
       Mailstead &lt;<a href="mailto:mailstead@box.test">mailstead@box.test</a>&gt; wrote:<br></div>
       <blockquote class="gmail_quote"><div>STOP</div></blockquote></div>`,
    ),
  'Apple Mail, HTML, below': (own) =>
    html(
      `<blockquote type="cite"><div>On 22. Nov 2026, Mailstead wrote:</div><div>STOP</div></blockquote><div>${own}</div>`,
    ),
  'both forms': (own) =>
    says(
      'Content-Type: multipart/alternative; boundary=b',
      lines(
        '--b',
        'Content-Type: text/plain',
        '',
        own,
        '',
        QUOTE,
        '--b',
        'Content-Type: text/html',
        '',
        `<p>${own}</p>`,
        '--b--',
      ),
    ),
  'an empty plain form': (own) =>
    says(
      'Content-Type: multipart/alternative; boundary=b',
      lines('--b', 'Content-Type: text/plain', '', '', '--b', 'Content-Type: text/html', '', `<p>${own}</p>`, '--b--'),
    ),
  'signed, base64': (own) =>
    says(
      'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary=b',
      lines(
        '--b',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from(lines(own, QUOTE)).toString('base64'),
        '--b',
        'Content-Type: application/pgp-signature; name=signature.asc',
        '',
        '-----BEGIN PGP SIGNATURE-----',
        '--b--',
      ),
    ),
  'UTF-16, with an attachment': (own) =>
    says(
      'Content-Type: multipart/mixed; boundary=b',
      lines(
        '--b',
        'Content-Type: text/plain; charset=utf-16le',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from(own, 'utf16le').toString('base64'),
        '--b',
        'Content-Type: text/plain; name=stop.txt',
        'Content-Disposition: attachment; filename=stop.txt',
        '',
        'STOP',
        '--b--',
      ),
    ),
};

describe.each(Object.entries(FORMS))('an answer from a mail program: %s', (_name, answer) => {
  test.each([
    'STOP',
    'stop',
    'Stop all',
    'Stop.',
    '*STOP*',
    'STOP!!',
    '\u201eStop\u201c',
    '\u200bSTOP',
    '\uff33\uff34\uff2f\uff30',
  ])('%s stops', (own) => {
    expect(answer(own)).toBe(true);
  });

  test.each(['', 'Thank you', 'Do not stop', 'Stopping by later', 'Nonstop', 'Hello\n\nSTOP'])(
    '"%s" does not',
    (own) => {
      // HTML has its lines by elements.
      expect(answer(own.replace('\n\n', '\n\n<br><br>'))).toBe(false);
    },
  );
});

test.each(['a@b\n>\n', '\n', 'x\n', '>', 'a@', ': ', '|\n:\n'])('%j takes time by its length', async (piece) => {
  const read = (size: number): void =>
    expect(firstOwnLine(piece.repeat(size / piece.length))?.startsWith('stop') ?? false).toBe(false);
  expect(await growth(read, 262_144)).toBeLessThan(PROPORTIONAL);
});
