import { describe, expect, test } from 'vitest';
import { bodyLists, type BodyPart, bodyTree } from '../../../../mail/jmap/email/body-part.ts';
import { indexMessage } from '../../../../mail/message/indexer.ts';

/** A leaf by its letter, or a multipart with subtype and children. */
type Shape = readonly [letter: string, type: string, more?: string] | { [subtype: string]: Shape[] };

let boundaries = 0;

function entity(shape: Shape): string {
  if (Array.isArray(shape)) {
    const [letter, type, more = ''] = shape as [string, string, string?];
    const body = type === 'message/rfc822' ? 'Subject: inside\n\ntext\n' : `${letter}\n`;
    return `Content-Type: ${type}\nContent-ID: <${letter}>\n${more === '' ? '' : `${more}\n`}\n${body}`;
  }
  const [[subtype, parts] = ['', []]] = Object.entries(shape as Record<string, Shape[]>);
  const boundary = `b${++boundaries}`;
  const inside = parts.map((part) => `--${boundary}\n${entity(part)}\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=${boundary}\n\n${inside}--${boundary}--\n`;
}

function listsOf(shape: Shape): Record<string, string> {
  const lists = bodyLists(bodyTree(indexMessage(Buffer.from(entity(shape).replaceAll('\n', '\r\n')))));
  const letters = (parts: readonly BodyPart[]): string => parts.map(({ cid }) => cid).join('');
  return { text: letters(lists.textBody), html: letters(lists.htmlBody), attachments: letters(lists.attachments) };
}

const inline = 'Content-Disposition: inline';
const attached = 'Content-Disposition: attachment';
const named = 'Content-Disposition: inline; filename=a';

/** The mailing list example of RFC 8621 4.1.4. */
const LIST: Shape = {
  mixed: [
    ['A', 'text/plain', inline],
    {
      mixed: [
        {
          alternative: [
            {
              mixed: [
                ['B', 'text/plain', inline],
                ['C', 'image/jpeg', inline],
                ['D', 'text/plain', inline],
              ],
            },
            {
              related: [
                ['E', 'text/html'],
                ['F', 'image/jpeg'],
              ],
            },
          ],
        },
        ['G', 'image/jpeg', attached],
        ['H', 'application/x-excel'],
        ['J', 'message/rfc822'],
      ],
    },
    ['K', 'text/plain', inline],
  ],
};

const cases: [what: string, shape: Shape, text: string, html: string, attachments: string][] = [
  ['the example of the RFC', LIST, 'ABCDK', 'AEK', 'CFGHJ'],
  ['plain text alone', ['A', 'text/plain'], 'A', 'A', ''],
  ['HTML alone', ['A', 'text/html'], 'A', 'A', ''],
  ['a picture alone', ['A', 'image/png'], 'A', 'A', ''],
  ['a file alone', ['A', 'application/pdf'], '', '', 'A'],
  ['plain text as attachment', ['A', 'text/plain', attached], '', '', 'A'],
  ['another kind of text', ['A', 'text/calendar'], '', '', 'A'],
  ['a name on the first text', { mixed: [['A', 'text/plain', named]] }, 'A', 'A', ''],
  [
    'a name on a later text',
    {
      mixed: [
        ['A', 'text/plain'],
        ['B', 'text/plain', named],
      ],
    },
    'A',
    'A',
    'B',
  ],
  [
    'a name on a picture',
    {
      mixed: [
        ['A', 'text/plain'],
        ['B', 'image/png', named],
      ],
    },
    'AB',
    'AB',
    '',
  ],
  [
    'a sound and a film',
    {
      mixed: [
        ['A', 'audio/ogg'],
        ['B', 'video/mp4'],
      ],
    },
    'AB',
    'AB',
    '',
  ],
  [
    'both forms',
    {
      alternative: [
        ['A', 'text/plain'],
        ['B', 'text/html'],
      ],
    },
    'A',
    'B',
    '',
  ],
  [
    'both forms and a calendar',
    {
      alternative: [
        ['A', 'text/plain'],
        ['B', 'text/html'],
        ['C', 'text/calendar'],
      ],
    },
    'A',
    'B',
    'C',
  ],
  ['HTML as the only form', { alternative: [['A', 'text/html']] }, 'A', 'A', ''],
  ['plain text as the only form', { alternative: [['A', 'text/plain']] }, 'A', 'A', ''],
  [
    'a picture as one form',
    {
      alternative: [
        ['A', 'text/plain'],
        ['B', 'image/png'],
      ],
    },
    'A',
    'A',
    'B',
  ],
  [
    'HTML with its picture',
    {
      related: [
        ['A', 'text/html'],
        ['B', 'image/png', inline],
      ],
    },
    'A',
    'A',
    'B',
  ],
  [
    'HTML behind its picture',
    {
      related: [
        ['A', 'image/png'],
        ['B', 'text/html'],
      ],
    },
    'A',
    'A',
    'B',
  ],
  [
    'text, HTML with its picture',
    {
      alternative: [
        ['A', 'text/plain'],
        {
          related: [
            ['B', 'text/html'],
            ['C', 'image/png'],
          ],
        },
      ],
    },
    'A',
    'B',
    'C',
  ],
  [
    'a form with text between pictures',
    {
      alternative: [
        ['A', 'text/plain'],
        {
          mixed: [
            ['B', 'text/html'],
            ['C', 'image/png'],
            ['D', 'text/html'],
          ],
        },
      ],
    },
    'A',
    'BCD',
    'C',
  ],
  [
    'text beside both forms',
    {
      mixed: [
        {
          alternative: [
            ['A', 'text/plain'],
            ['B', 'text/html'],
          ],
        },
        ['C', 'text/plain'],
      ],
    },
    'AC',
    'BC',
    '',
  ],
  [
    'files beside the text',
    {
      mixed: [
        ['A', 'text/plain'],
        ['B', 'application/pdf', inline],
        ['C', 'text/plain', attached],
      ],
    },
    'A',
    'A',
    'BC',
  ],
  [
    'both texts inside one form: none is lost',
    {
      alternative: [
        {
          mixed: [
            ['A', 'text/html'],
            ['B', 'text/plain'],
          ],
        },
      ],
    },
    'A',
    'A',
    'B',
  ],
  [
    'forms inside a form that shows no HTML',
    { alternative: [{ mixed: [['A', 'text/plain'], { alternative: [['B', 'text/html']] }] }] },
    'A',
    'A',
    'B',
  ],
  [
    'a signed message',
    {
      signed: [
        ['A', 'text/plain'],
        ['B', 'application/pgp-signature'],
      ],
    },
    'A',
    'A',
    'B',
  ],
];

describe('the part lists of a body', () => {
  test.each(cases)('%s', (_what, shape, text, html, attachments) => {
    expect(listsOf(shape)).toEqual({ text, html, attachments });
  });
});
