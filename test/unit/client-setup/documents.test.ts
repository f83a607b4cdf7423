import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { autoconfigXml } from '../../../src/client-setup/autoconfig.ts';
import { autodiscoverError, autodiscoverXml, readAutodiscover } from '../../../src/client-setup/autodiscover.ts';
import { isPaccDigest, isSamePaccDigest, paccDigestText, paccDocument } from '../../../src/client-setup/pacc.ts';
import { elementText, escapeXml } from '../../../src/client-setup/xml.ts';
import { readXml, type XmlNode } from '../../support/xml.ts';

const SETTINGS = {
  hostname: 'mail.box.test',
  imap: [
    { host: 'mail.box.test', port: 993, tls: 'implicit' as const },
    { host: 'mail.box.test', port: 143, tls: 'starttls' as const },
  ],
  submission: [{ host: 'mail.box.test', port: 465, tls: 'implicit' as const }],
  jmapUrl: 'https://mail.box.test/.well-known/jmap',
  baseUrl: 'https://mail.box.test',
};

/** Asserts the children of an element: `name` once, `name?` at most once, `name+` at least once, in this order. */
function hasChildren(node: XmlNode, pattern: string): void {
  const expression = pattern
    .split(' ')
    .map((one) => one.replace(/^([\w]+)([?+*]?)$/, '(?:$1,)$2'))
    .join('');
  expect(`${node.children.map(({ name }) => name).join(',')},`, node.name).toMatch(new RegExp(`^${expression}$`));
}

describe('the document of Thunderbird', () => {
  test('has the form of config-v1.1: implicit TLS first, the whole address as user', () => {
    const root = readXml(autoconfigXml('team.test', 'a&b@team.test', SETTINGS));
    expect(root).toMatchObject({ name: 'clientConfig', attributes: { version: '1.1' } });
    hasChildren(root, 'emailProvider webMail?');
    const [provider] = root.children;
    if (provider === undefined) throw new Error('no provider');
    expect(provider.attributes).toEqual({ id: 'team.test' });
    hasChildren(provider, 'domain+ displayName displayShortName incomingServer+ outgoingServer+');
    for (const server of provider.children.filter(({ name }) => name.endsWith('Server'))) {
      if (server.attributes['type'] === 'jmap') hasChildren(server, 'url authentication username');
      else hasChildren(server, 'hostname port socketType authentication username');
      expect(server.children.find(({ name }) => name === 'username')?.text).toBe('a&b@team.test');
    }
    const kinds = provider.children.flatMap(({ children }) =>
      children.filter(({ name }) => name === 'socketType').map(({ text }) => text),
    );
    expect(kinds).toEqual(['SSL', 'STARTTLS', 'SSL']);
  });

  test('leaves the address to the program that did not send one', () => {
    expect(autoconfigXml('team.test', undefined, SETTINGS)).toContain('<username>%EMAILADDRESS%</username>');
  });

  test('cannot be given markup', () => {
    const hostile = `"><script>]]>&'@team.test`;
    expect(readXml(autoconfigXml(hostile, hostile, SETTINGS)).children).toHaveLength(2);
    expect(escapeXml('a\u0000\u001f\ud800b')).toBe('a\ufffdb');
  });
});

const REQUEST = `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006">
  <Request>
    <EMailAddress>kim@team.test</EMailAddress>
    <AcceptableResponseSchema>http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a</AcceptableResponseSchema>
  </Request>
</Autodiscover>`;

describe('Autodiscover', () => {
  test('answers in the schema 2006a', () => {
    expect(readAutodiscover(REQUEST)).toEqual({ address: 'kim@team.test' });
    const root = readXml(autodiscoverXml('kim@team.test', SETTINGS));
    hasChildren(root, 'Response');
    const [response] = root.children;
    if (response === undefined) throw new Error('no response');
    expect(response.attributes['xmlns']).toMatch(/responseschema\/2006a$/);
    hasChildren(response, 'User Account');
    const account = response.children[1];
    if (account === undefined) throw new Error('no account');
    hasChildren(account, 'AccountType Action Protocol+');
    const protocols = account.children.slice(2);
    expect(protocols.map(({ children }) => children[0]?.text)).toEqual(['IMAP', 'SMTP']);
    for (const one of protocols) {
      hasChildren(
        one,
        'Type Server Port DomainRequired LoginName SPA SSL Encryption AuthRequired UsePOPAuth? SMTPLast?',
      );
    }
  });

  test.each([
    ['an address in another namespace prefix', REQUEST.replace(/(<\/?)(EMailAddress)/g, '$1a:$2'), 'kim@team.test'],
    [
      'Exchange ActiveSync',
      REQUEST.replace('outlook/responseschema/2006a', 'mobilesync/responseschema/2006'),
      undefined,
    ],
    ['no address', '<Autodiscover><Request/></Autodiscover>', undefined],
    ['no XML', 'EMailAddress>kim@team.test<', undefined],
  ])('%s', (_, xml, address) => {
    expect(readAutodiscover(xml)?.address).toBe(address);
  });

  test('an error has code 600', () => {
    const text = autodiscoverError(0);
    expect(readXml(text).children[0]?.children[0]?.children[0]).toMatchObject({ name: 'ErrorCode', text: '600' });
  });

  test('an element inside of a text, a name that only begins so, and entities', () => {
    expect(
      elementText(
        '<x>EMailAddress</x><EMailAddressList>no</EMailAddressList><EMailAddress>a&amp;b</EMailAddress>',
        'EMailAddress',
      ),
    ).toBe('a&b');
    expect(elementText('<!ENTITY x "y"><EMailAddress>&x;</EMailAddress>', 'EMailAddress')).toBe('&x;');
  });
});

test('PACC: the document names the protocols, and its octets are stable', () => {
  const document = paccDocument('team.test', SETTINGS);
  expect(JSON.parse(document)).toMatchObject({
    protocols: {
      imap: { host: 'mail.box.test' },
      // The key of revision 02, and that of 03.
      smtp: { host: 'mail.box.test' },
      submit: { host: 'mail.box.test' },
      jmap: { url: SETTINGS.jmapUrl },
    },
    authentication: { password: true },
    info: { provider: { name: 'team.test' } },
  });
  expect(paccDocument('team.test', SETTINGS)).toBe(document);
});

test('PACC: the record has the digest of the octets of the document, and changes with host name and URL', () => {
  const of = (more: Partial<typeof SETTINGS>, domain = 'team.test'): string =>
    paccDigestText(domain, { ...SETTINGS, ...more });
  const digest = execFileSync('openssl', ['dgst', '-sha256', '-binary'], {
    input: paccDocument('team.test', SETTINGS),
  });
  expect(of({})).toBe(`v=UAAC1; a=sha256; d=${digest.toString('base64')}`);
  const others = [of({ hostname: 'mx.box.test' }), of({ baseUrl: 'https://portal.box.test' }), of({}, 'other.test')];
  expect(new Set([of({}), ...others]).size).toBe(4);
});

// Owners publish the digest by hand: each change of the octets makes their records stale.
test('PACC: the octets are those that owners published', () => {
  expect(paccDigestText('team.test', SETTINGS)).toBe(
    'v=UAAC1; a=sha256; d=EjhduxTTJImU0r2sGI5D8vUDZIxmHLG/oKuWrqktmEo=',
  );
});

test.each([
  ['v=UAAC1;a=sha256;d=AAAA', true, true],
  ['v=UAAC1; a=sha256 ; d=AA AA;', true, true],
  ['v=UAAC1; a=sha256; d=BBBB', true, false],
  ['v=UAAC10; a=sha256; d=AAAA', false, false],
  ['v=UAAC1', true, false],
  ['v=spf1 -all', false, false],
])('PACC: the text %j', (text, isDigest, isSame) => {
  expect([isPaccDigest(text), isSamePaccDigest(text, 'v=UAAC1; a=sha256; d=AAAA')]).toEqual([isDigest, isSame]);
});
