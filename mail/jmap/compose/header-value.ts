import { field, formatMailbox, formatPhrase } from '../../message/compose.ts';
import { encodeWords } from '../../message/encoded-word.ts';
import { formatAddress, parseAddress } from '../../message/address.ts';
import { formatDate } from '../../message/date.ts';
import type { HeaderForm } from '../../message/header-forms.ts';
import { join, list, nullable, object, type Reader, text, wrong } from '../arguments.ts';

/** No line of a header may be longer, and one word cannot be folded. RFC 5322 2.1.1. */
const LONGEST_WORD = 900;

/** Writes a header field from its value in a form: whole lines, or nothing for a list of nothing. RFC 8621 4.1.2. */
export function headerLines(name: string, form: HeaderForm, value: unknown, path: string): string {
  if (form === 'Raw') return rawField(name, text(value, path), path);
  const written = WRITERS[form](value, path);
  return written === '' && form !== 'Text' ? '' : field(name, written);
}

const WRITERS: Readonly<Record<Exclude<HeaderForm, 'Raw'>, Reader<string>>> = {
  Text: (value, path) => unstructured(line(value, path)),
  Addresses: (value, path) => addresses(value, path),
  GroupedAddresses: (value, path) => groups(value, path),
  MessageIds: (value, path) => list(messageId)(value, path).join(' '),
  Date: (value, path) => date(value, path),
  URLs: (value, path) => list(url)(value, path).join(', '),
};

/** Text that stays on its line: what is a control character or a line end anywhere would begin another field. */
export const line: Reader<string> = (value, path) => {
  const given = text(value, path);
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(given)) throw wrong(path, 'must be one line without control characters');
  return given;
};

/** Octets as the client wants them, folds with their CRLF included; what readers could take for another field is not. */
function rawField(name: string, value: string, path: string): string {
  const lines = value.split(/\r\n(?=[ \t])/);
  if (lines.some((one) => !/^[\t\x20-\x7e]*$/.test(one))) {
    throw wrong(path, 'must be ASCII, folded with CRLF and a blank if at all: other text goes with :asText');
  }
  if (lines.slice(1).some((one) => one.trim() === '')) throw wrong(path, 'must not be folded into an empty line');
  if (lines.some((one) => one.length > LONGEST_WORD)) {
    if (/[^ ]{900}/.test(value)) throw wrong(path, `must not have words of more than ${LONGEST_WORD} characters`);
    return field(name, lines.join('').trim());
  }
  return `${name}:${/^[ \t]/.test(value) ? '' : ' '}${value}\r\n`;
}

/** As it is where every reader shows it so, else in encoded-words, blanks at its ends and all. */
function unstructured(given: string): string {
  const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(given) && !given.includes('=?');
  return plain && !/[^ ]{900}/.test(given) ? given : encodeWords(given);
}

const oneAddress = object({ name: nullable(line), email: line });

function addresses(value: unknown, path: string): string {
  const named = list(oneAddress)(value, path);
  return named
    .map(({ name, email }, i) => formatMailbox(spelled(email, join(join(path, String(i)), 'email')), name ?? ''))
    .join(', ');
}

/** An address; or a single word, which is what a draft has while somebody is still typing. */
function spelled(email: string, path: string): string {
  const address = parseAddress(email);
  if (address !== undefined) return formatAddress(address);
  if (/^[\w!#$%&'*+\-/=?^`{|}~.]{1,64}$/.test(email)) return email;
  throw wrong(path, 'must be an address such as anna@example.com');
}

const oneGroup = object({ name: nullable(line), addresses: (value) => value });

function groups(value: unknown, path: string): string {
  return list(oneGroup)(value, path)
    .map(({ name, addresses: members }, i) => {
      const inside = addresses(members, join(join(path, String(i)), 'addresses'));
      return name === null ? inside : `${formatPhrase(name)}: ${inside};`;
    })
    .filter((group) => group !== '')
    .join(', ');
}

const messageId: Reader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/.test(given))
    throw wrong(path, 'must be a message id without angle brackets');
  return `<${given}>`;
};

const url: Reader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/.test(given)) throw wrong(path, 'must be a URL in ASCII');
  return `<${given}>`;
};

/** RFC 8620 1.4: a Date, with the zone of its writer. */
const date: Reader<string> = (value, path) => {
  const given = text(value, path);
  const [whole, hours, minutes] =
    /^(?:19|[2-9]\d)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|([+-]\d\d):(\d\d))$/.exec(given) ?? [];
  const at = whole === undefined ? Number.NaN : Date.parse(whole);
  if (Number.isNaN(at)) throw wrong(path, 'must be a time such as 2026-11-21T10:00:00+01:00');
  const sign = hours?.startsWith('-') === true ? -1 : 1;
  return formatDate(at, Number(hours ?? 0) * 60 + sign * Number(minutes ?? 0));
};
