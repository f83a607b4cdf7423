import { domainToASCII } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Address, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { parseAuthors } from '../../../mail/message/authors.ts';
import { guessLatin1 } from '../../../mail/message/decode.ts';
import { parseAddressList } from '../../../mail/message/header-addresses.ts';
import { parseMail } from '../../../mail/smtp/mail-command.ts';
import { parseRcpt } from '../../../mail/smtp/rcpt-command.ts';
import { readMailbox } from '../../../src/sending/mailbox-text.ts';
import { ADDRESSES } from '../../support/ambiguous-addresses.ts';

/** Unambiguous address: one local part, quoted or plain, one "@", one domain. */
const PLAIN = /^(?:"(?:[^"\\]|\\.)*"|[^\s"(),:;<>@[\\\]]+)@([a-z0-9.-]+)$/u;

/** Reads the domain as any other parser does. */
function domainOf(wire: string): string | undefined {
  return PLAIN.exec(wire)?.[1];
}

/** The checked domain is the one that is connected to and the one that the next server parses. */
function expectOneDomain(text: string, address: Address): void {
  const wire = formatAddress(address);
  expect([text, domainOf(wire)]).toEqual([text, address.domain]);
  expect([text, parseAddress(wire)]).toEqual([text, address]);
  expect([text, parseRcpt(`TO:<${wire}>`)]).toMatchObject([text, { path: { kind: 'address', address } }]);
}

test('there are 300, each once', () => {
  expect(ADDRESSES.length).toBe(300);
  expect(new Set(ADDRESSES).size).toBe(300);
});

describe.each<[string, (text: string) => Address | undefined]>([
  ['an address', parseAddress],
  ['a mailbox of a program', (text) => readMailbox(text)?.address],
  ['MAIL', (text) => taken(parseMail(`FROM:<${text}> SMTPUTF8`), 'sender')],
  ['RCPT', (text) => path(parseRcpt(`TO:<${text}>`))],
  ['RCPT as it stands', (text) => path(parseRcpt(`TO:${text}`))],
])('as %s', (_name, read) => {
  test('what is taken leads to one domain only', () => {
    const found = ADDRESSES.flatMap((text) => [[text, read(text)] as const]).filter(
      ([, address]) => address !== undefined,
    );
    for (const [text, address] of found) if (address !== undefined) expectOneDomain(text, address);
    // Most of them are no address at all.
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(ADDRESSES.length / 4);
  });
});

test('an author who is believed is the one whom readers see', () => {
  let believed = 0;
  for (const text of ADDRESSES) {
    const field = Buffer.from(text.replaceAll(/[\r\n]+/g, '\r\n '));
    const authors = parseAuthors(Buffer.concat([Buffer.from('From: '), field, Buffer.from('\r\n')]));
    if (authors.kind === 'refused') continue;
    believed++;
    // As ENVELOPE writes a domain.
    const shown = parseAddressList(field.toString('latin1')).map(({ host = '' }) => domainToASCII(guessLatin1(host)));
    expect([text, authors.from.map(({ domain }) => domain)]).toEqual([text, shown]);
    for (const address of authors.from) expectOneDomain(text, address);
  }
  expect(believed).toBeGreaterThan(0);
  expect(believed).toBeLessThan(ADDRESSES.length / 4);
});

function taken(mail: object, name: 'sender'): Address | undefined {
  return name in mail ? (mail as { sender: Address | undefined }).sender : undefined;
}

function path(rcpt: ReturnType<typeof parseRcpt>): Address | undefined {
  return 'path' in rcpt && rcpt.path.kind === 'address' ? rcpt.path.address : undefined;
}
