import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { getAsHost } from '../support/get-as-host.ts';

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

const url = (path: string): string => `http://127.0.0.1:${box.port('http')}${path}`;

/** Returns what xmllint says of a document; '' if it is valid. */
function problem(schema: string, document: string): string {
  const file = `test/vectors/${schema}.rng`;
  const { status, stderr, error } = spawnSync('xmllint', ['--noout', '--nonet', '--relaxng', file, '-'], {
    input: document,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  // 0 valid, 3 invalid, 1 not well-formed; 5: the schema itself is wrong.
  if (status === 5) throw new Error(stderr);
  return status === 0 ? '' : stderr;
}

const autoconfig = async (): Promise<string> =>
  (await fetch(url(`/mail/config-v1.1.xml?emailaddress=${box.address}`))).text();

const SCHEMA = 'http://schemas.microsoft.com/exchange/autodiscover/outlook';
const autodiscover = async (address: string): Promise<string> => {
  const body = `<Autodiscover xmlns="${SCHEMA}/requestschema/2006"><Request><EMailAddress>${address}</EMailAddress><AcceptableResponseSchema>${SCHEMA}/responseschema/2006a</AcceptableResponseSchema></Request></Autodiscover>`;
  const init = { method: 'POST', headers: { 'content-type': 'text/xml' }, body };
  return (await fetch(url('/autodiscover/autodiscover.xml'), init)).text();
};

test('the document of Thunderbird is valid, with and without an address', async () => {
  expect(problem('autoconfig-1.1', await autoconfig())).toBe('');
  const general = await getAsHost(url('/mail/config-v1.1.xml'), 'autoconfig.box.test');
  expect(general).toMatchObject({ status: 200, type: 'text/xml; charset=utf-8' });
  expect(problem('autoconfig-1.1', general.body)).toBe('');
});

test('the answers of Autodiscover are valid, that to a foreign address too', async () => {
  expect(problem('autodiscover-2006a', await autodiscover(box.address))).toBe('');
  expect(problem('autodiscover-2006a', await autodiscover('me@foreign.test'))).toBe('');
});

type Change = [what: string, from: RegExp, to: string];

const BAD_AUTOCONFIG: Change[] = [
  ['another version', /version="1\.1"/, 'version="2"'],
  ['no domain', /<domain>[^<]*<\/domain>/, ''],
  ['no name of the provider', /<displayName>[^<]*<\/displayName>/, ''],
  ['a short name of 21 characters', /(<displayShortName>)[^<]*/, '$1aaaaaaaaaaaaaaaaaaaaa'],
  ['a protocol in place of a type', /type="imap"/, 'type="imaps"'],
  ['a port that is no number', /<port>\d+/, '<port>imaps'],
  ['port 0', /<port>\d+/, '<port>0'],
  ['a port above 65535', /<port>\d+/, '<port>65536'],
  ['TLS in place of SSL', /<socketType>SSL/, '<socketType>TLS'],
  ['a way to log in that does not exist', /password-cleartext/, 'password'],
  ['no user name', /<username>[^<]*<\/username>/, ''],
  ['an unknown placeholder', /<username>[^<]*/, '<username>%USER%'],
  ['a URL for IMAP', /<hostname>[^<]*<\/hostname>/, '<url>https://mail.box.test/</url>'],
  ['JMAP without a URL', /<url>[^<]*<\/url>/, ''],
  ['a server outside of the provider', /<\/clientConfig>/, '<incomingServer type="imap"/></clientConfig>'],
  ['an end that is missing', /<\/emailProvider>/, ''],
];

test.each(BAD_AUTOCONFIG)('Thunderbird: %s is refused', async (_, from, to) => {
  const good = await autoconfig();
  const bad = good.replace(from, to);
  expect(bad).not.toBe(good);
  expect(problem('autoconfig-1.1', bad)).not.toBe('');
});

const BAD_AUTODISCOVER: Change[] = [
  ['the response in the wrong namespace', /outlook\/responseschema\/2006a/, 'outlook/responseschema/2006'],
  ['another type of account', /<AccountType>email/, '<AccountType>mail'],
  ['another action', /<Action>settings/, '<Action>setting'],
  ['no account', /<Account>[^]*<\/Account>/, ''],
  ['no protocol', /<Protocol>[^]*<\/Protocol>/, ''],
  ['an unknown protocol', /<Type>IMAP/, '<Type>IMAP4'],
  ['no server', /<Server>[^<]*<\/Server>/, ''],
  ['a port that is no number', /<Port>\d+/, '<Port>993x'],
  ['yes in place of on', /<SSL>\w+/, '<SSL>yes'],
  ['an unknown encryption', /<Encryption>\w+/, '<Encryption>STARTTLS'],
  ['SMTPLast for IMAP', /<Type>IMAP<\/Type>/, '<Type>IMAP</Type><SMTPLast>off</SMTPLast>'],
  ['a setting twice', /<SPA>off<\/SPA>/, '<SPA>off</SPA><SPA>on</SPA>'],
];

test.each(BAD_AUTODISCOVER)('Outlook: %s is refused', async (_, from, to) => {
  const good = await autodiscover(box.address);
  const bad = good.replace(from, to);
  expect(bad).not.toBe(good);
  expect(problem('autodiscover-2006a', bad)).not.toBe('');
});

test('an error without a time or with an unknown code is refused', async () => {
  const good = await autodiscover('me@foreign.test');
  for (const bad of [good.replace(/ Time="[^"]*"/, ''), good.replace('<ErrorCode>600', '<ErrorCode>200')])
    expect(problem('autodiscover-2006a', bad)).not.toBe('');
});
