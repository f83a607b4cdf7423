import { addressesIn, hasUnreadableAddress } from '../../../src/sending/reply-recipients.ts';
import { appendQuote, forwardedBody, prefixed } from '../../../src/sending/quote.ts';
import { fillTemplate, hasStrayBraces, variablesOf } from '../../../src/sending/template-text.ts';
import { readMailbox } from '../../../src/sending/mailbox-text.ts';
import { sendTime } from '../../../src/sending/send-time.ts';
import { readUploadTicket } from '../../../src/sending/upload-link.ts';
import { readFields } from '../../../mail/message/header.ts';
import { LIMITS } from '../../../mail/message/limits.ts';
import { type CostRow, costs, driven } from './row.ts';

const key = new Uint8Array(32);

function quoted(text: string): unknown {
  const of = { from: 'a@b.example', to: 'c@d.example', subject: 'a', date: 0, text, html: text };
  return [appendQuote({ text, html: text }, of), forwardedBody(text, of)];
}

/** Functions that read what programs send and what it answers. */
export const SENDING_COSTS: readonly CostRow[] = [
  ...costs(
    {
      at: 'src/sending',
      input: 'body of an outgoing message',
      bound: '5,000,000 characters; quotes of 200,000',
      thread: 'main',
    },
    {
      appendQuote: driven(quoted, { worst: ['</body', '</', '<body', '>\n'] }),
      fillTemplate: driven((text) => fillTemplate({ subject: '', text, html: text }, { a: 'x'.repeat(1000) }), {
        input: 'template',
        bound: '500,000 characters; filled 5,000,000',
        worst: ['{{a}}', '{{ a }}', '{{', '{{ ', '{{a '],
        most: 500_000,
      }),
      variablesOf: driven((text) => variablesOf({ subject: text, text, html: text }), {
        input: 'template',
        bound: '500,000 characters',
        worst: ['{{a}}', '{{', '{{ ', '{{a '],
        most: 500_000,
      }),
      hasStrayBraces: driven(hasStrayBraces, {
        input: 'template',
        bound: '500,000 characters',
        worst: ['{{a}}', '{{', '{{ ', '{{a ', '{ '],
        most: 500_000,
      }),
    },
  ),
  ...costs(
    {
      at: 'src/sending',
      input: 'header of an answered message',
      bound: '256 KiB, 200 addresses',
      thread: 'main',
      most: LIMITS.header,
    },
    {
      addressesIn: (text) => addressesIn(readFields(`To: ${text}`), 'to'),
      hasUnreadableAddress: (text) => hasUnreadableAddress(readFields(`To: ${text}`), 'to'),
      prefixed: (text) => prefixed('Re', text),
    },
  ),
  ...costs(
    {
      at: 'src/sending',
      input: 'address, time or ticket of a request',
      bound: '500 characters of an address',
      thread: 'main',
    },
    {
      readMailbox,
      'readMailbox: name': (text) => readMailbox(`${text.slice(0, 480)} <a@b.example>`),
      sendTime: (text) => sendTime(text, 0),
      readUploadTicket: (text) => readUploadTicket(key, text, 0),
    },
  ),
];
