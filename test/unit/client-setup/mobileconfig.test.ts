import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { signCms } from '../../../src/client-setup/cms.ts';
import { elementsIn, objectId, utcTime } from '../../../src/client-setup/der.ts';
import { mobileConfig } from '../../../src/client-setup/mobileconfig.ts';
import { testAuthority } from '../../support/authority.ts';
import { readXml, type XmlNode } from '../../support/xml.ts';

const server = (port: number) => [{ host: 'mail.box.test', port, tls: 'implicit' as const }];
const SETTINGS = { hostname: 'mail.box.test', imap: server(993), submission: server(465), jmapUrl: '', baseUrl: '' };
const ACCOUNT = { address: 'kim@team.test', name: 'Kim <& "Kim">', password: 'abcd-efgh' };

test('the profile has the account with its password, and a name cannot add keys', () => {
  const [dict] = readXml(mobileConfig(ACCOUNT, SETTINGS) ?? '').children;
  const profile = entries(dict);
  expect(profile.get('PayloadType')?.text).toBe('Configuration');
  const account = entries(profile.get('PayloadContent')?.children[0]);
  const shown = [...account].map(([key, node]) => [key, node.text || node.name]);
  expect(Object.fromEntries(shown)).toMatchObject({
    PayloadType: 'com.apple.mail.managed',
    EmailAccountType: 'EmailTypeIMAP',
    EmailAccountName: ACCOUNT.name,
    EmailAddress: ACCOUNT.address,
    IncomingMailServerHostName: 'mail.box.test',
    IncomingMailServerPortNumber: '993',
    IncomingMailServerUseSSL: 'true',
    IncomingPassword: ACCOUNT.password,
    OutgoingMailServerPortNumber: '465',
    OutgoingPasswordSameAsIncomingPassword: 'true',
  });
});

function entries(dict: XmlNode | undefined): Map<string, XmlNode> {
  const all = dict?.children ?? [];
  return new Map(all.flatMap((node, at) => (node.name === 'key' ? [[node.text, all[at + 1] ?? node]] : [])));
}

test('without a listener for IMAP there is no profile', () => {
  expect(mobileConfig(ACCOUNT, { ...SETTINGS, imap: [] })).toBeUndefined();
});

test.each(['ecdsa', 'rsa'] as const)(
  'a signature with %s verifies with openssl, and a changed document does not',
  async (kind) => {
    const directory = await mkdtemp(join(tmpdir(), 'cms-'));
    try {
      const file = (name: string): string => join(directory, name);
      const authority = await testAuthority();
      const { cert, key } = kind === 'ecdsa' ? await authority.issue(['mail.box.test']) : rsaPair(directory);
      const data = Buffer.from(mobileConfig(ACCOUNT, SETTINGS) ?? '');
      const signed = signCms(data, { cert, key }, Date.UTC(2026, 10, 23));
      await writeFile(file('root.pem'), kind === 'ecdsa' ? authority.pem : cert);
      await writeFile(file('signed'), signed);
      const verify = ['cms', '-verify', '-inform', 'DER', '-CAfile', file('root.pem'), '-purpose', 'any', '-binary'];
      const found = execFileSync('openssl', [...verify, '-in', file('signed')], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      expect(found.equals(data)).toBe(true);
      const at = signed.indexOf('kim@team.test');
      signed.write('eve', at);
      await writeFile(file('changed'), signed);
      expect(() => execFileSync('openssl', [...verify, '-in', file('changed')], { stdio: 'ignore' })).toThrow();
    } finally {
      await rm(directory, { recursive: true });
    }
  },
);

/** A self-signed certificate with RSA, made by openssl. */
function rsaPair(directory: string): { cert: string; key: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(directory, 'key.pem'), key);
  const args = ['req', '-x509', '-key', 'key.pem', '-subj', '/CN=mail.box.test', '-days', '9'];
  const cert = execFileSync('openssl', args, { cwd: directory });
  return { cert: cert.toString(), key };
}

test('DER: identifiers, times and lengths', () => {
  expect(objectId('1.2.840.113549.1.7.2').toString('hex')).toBe('06092a864886f70d010702');
  expect(utcTime(Date.UTC(2026, 10, 23, 8, 9, 10)).toString('latin1')).toBe('\x17\r261123080910Z');
  expect(() => elementsIn(Buffer.from('3005020101', 'hex'))).toThrow(RangeError);
  expect(() => elementsIn(Buffer.from('3085', 'hex'))).toThrow(RangeError);
});
