import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { loadSettings } from '../../../config/load.ts';
import type { EnvironmentVariables } from '../../../config/load.ts';
import type { Settings } from '../../../config/settings.ts';

const NAME = 'mail.example.com';

/** Settings from names without their prefix. */
function load(given: EnvironmentVariables, args: string[] = [], terminal = false): ReturnType<typeof loadSettings> {
  const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [`MAILSTEAD_${name}`, value]));
  return loadSettings({ PATH: '/bin', ...env }, args, terminal);
}

function settings(given: EnvironmentVariables, args: string[] = []): Settings {
  const loaded = load(given, args);
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded;
}

function problem(given: EnvironmentVariables, args: string[] = []): string {
  const loaded = load(given, args);
  if (!('problem' in loaded)) throw new Error(`no problem: ${JSON.stringify(loaded)}`);
  return loaded.problem;
}

test('local mode', () => {
  expect(load({})).toEqual({
    live: false,
    dataDir: resolve('data'),
    hostname: 'box.test',
    baseUrl: undefined,
    listen: ['127.0.0.1'],
    ports: {
      http: 8080,
      https: 8443,
      smtp: 2525,
      submission: 2587,
      submissions: 2465,
      imap: 2143,
      imaps: 2993,
      dns: undefined,
    },
    resolvers: undefined,
    dnssec: 'auto',
    outboundAddresses: undefined,
    outboundHostname: undefined,
    sendingRamp: false,
    sendReports: false,
    outboundPort: 25,
    allowPrivateNetworks: { all: true, networks: [], endpoints: [] },
    exemptNetworks: [],
    tls: undefined,
    smarthost: undefined,
    singleSignOn: undefined,
    trustProxy: [],
    blobs: {
      bucket: undefined,
      cacheMb: 1024,
      s3: {
        endpoint: undefined,
        region: 'us-east-1',
        accessKey: undefined,
        secretKey: undefined,
        secretKeyFile: undefined,
      },
    },
    bootstrap: 'open',
    unclaimedSending: 'open',
    mailboxDaily: 1000,
    mailboxNewRecipients: 200,
    organizationDaily: 10_000,
    keyPerSecond: 10,
    pauseSenders: true,
    billingSetupUrl: undefined,
    tokenPrefix: 'mst',
    localPassword: undefined,
    keyFile: resolve('data/secret.key'),
    maxMessageBytes: 26_214_400,
    memoryMb: expect.any(Number) as number,
    rspamdUrl: undefined,
    clamav: undefined,
    dnsLists: { addresses: [], hosts: [] },
    imapUidOnly: false,
    greylist: false,
    spamChecks: true,
    trustedSealers: [],
    backup: {
      target: undefined,
      everyMs: 86_400_000,
      continuousMs: 0,
      keep: { hourly: 24, daily: 7, weekly: 5, monthly: 12 },
      rate: 32,
      passphrase: undefined,
      passphraseFile: undefined,
      recipients: [],
      identity: undefined,
      identityFile: undefined,
      s3: {
        endpoint: undefined,
        region: 'us-east-1',
        accessKey: undefined,
        secretKey: undefined,
        secretKeyFile: undefined,
      },
    },
    logLevel: 'info',
    logFormat: 'json',
  });
});

test('live mode', () => {
  expect(load({ HOSTNAME: 'Mail.Example.COM' })).toMatchObject({
    live: true,
    hostname: NAME,
    baseUrl: 'https://mail.example.com',
    listen: ['0.0.0.0', '::'],
    ports: { http: 80, https: 443, smtp: 25, submission: 587, submissions: 465, imap: 143, imaps: 993, dns: undefined },
    allowPrivateNetworks: { all: false, networks: [], endpoints: [] },
    dnsLists: { addresses: [{ zone: 'bl.spamcop.net' }, { zone: 'psbl.surriel.com' }], hosts: [] },
    greylist: false,
  });
  expect(load({ HOSTNAME: NAME, GREYLIST: 'on' })).toMatchObject({ greylist: true });
  expect(load({ GREYLIST: 'on' })).toMatchObject({ greylist: false });
});

test.each<[EnvironmentVariables, Partial<Settings>]>([
  [{ DATA_DIR: '/srv/mail' }, { dataDir: '/srv/mail', keyFile: '/srv/mail/secret.key' }],
  [{ DATA_DIR: '/srv/mail', KEY_FILE: '/run/key' }, { keyFile: '/run/key' }],
  [{ BASE_URL: 'https://Box.example/mail/' }, { baseUrl: 'https://box.example/mail' }],
  [{ BASE_URL: 'http://127.0.0.1:9000' }, { baseUrl: 'http://127.0.0.1:9000' }],
  [{ LISTEN: '127.0.0.1, ::1' }, { listen: ['127.0.0.1', '::1'] }],
  [
    { RESOLVERS: '127.0.0.1:5300,[::1]:53' },
    {
      resolvers: [
        { host: '127.0.0.1', port: 5300 },
        { host: '::1', port: 53 },
      ],
    },
  ],
  [{ OUTBOUND_PORT: '2526' }, { outboundPort: 2526 }],
  [
    { DNSSEC: 'on', OUTBOUND_HOSTNAME: 'out.example.com' },
    { dnssec: 'on', outboundHostname: 'out.example.com' },
  ],
  [{ OUTBOUND_ADDRESSES: '192.0.2.1' }, { outboundAddresses: { ipv4: '192.0.2.1', ipv6: undefined } }],
  [{ OUTBOUND_ADDRESSES: '2001:db8::1, 192.0.2.1' }, { outboundAddresses: { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } }],
  [{ TLS_CERT: '/a.pem', TLS_KEY: '/b.pem' }, { tls: { certFile: '/a.pem', keyFile: '/b.pem' } }],
  [{ LOCAL_PASSWORD: 'correct horse' }, { localPassword: 'correct horse' }],
  [{ MAX_MESSAGE_BYTES: '1048576' }, { maxMessageBytes: 1_048_576 }],
  [{ MEMORY: '1024' }, { memoryMb: 1024 }],
  [
    { LOG_LEVEL: 'debug', LOG_FORMAT: 'pretty' },
    { logLevel: 'debug', logFormat: 'pretty' },
  ],
  [{ TOKEN_PREFIX: 'abc' }, { tokenPrefix: 'abc' }],
  [{ RSPAMD_URL: 'http://127.0.0.1:11333/' }, { rspamdUrl: 'http://127.0.0.1:11333' }],
  [{ CLAMAV: 'unix:/run/clamav/clamd.ctl' }, { clamav: { path: '/run/clamav/clamd.ctl' } }],
  [{ CLAMAV: '[::1]:3310' }, { clamav: { host: '::1', port: 3310 } }],
  [
    { DNSBL: 'a.example, B.example=0.5,c.example=refuse,d.example=-2', URIBL: 'e.example' },
    {
      dnsLists: {
        addresses: [
          { zone: 'a.example', score: 2.5, refuse: false },
          { zone: 'b.example', score: 0.5, refuse: false },
          { zone: 'c.example', score: 2.5, refuse: true },
          { zone: 'd.example', score: -2, refuse: false },
        ],
        hosts: [{ zone: 'e.example', score: 2.5, refuse: false }],
      },
    },
  ],
  [{ HOSTNAME: NAME, DNSBL: 'off' }, { dnsLists: { addresses: [], hosts: [] } }],
  [
    { HOSTNAME: '', LOG_FORMAT: '' },
    { live: false, logFormat: 'json' },
  ],
  [
    { BOOTSTRAP: 'off', UNCLAIMED_SENDING: 'owner', BILLING_SETUP_URL: 'https://pay.example.com/setup' },
    { bootstrap: 'off', unclaimedSending: 'owner', billingSetupUrl: 'https://pay.example.com/setup' },
  ],
])('%j', (given, expected) => {
  expect(load(given)).toMatchObject(expected);
});

test('ports may be free ones or off, also several', () => {
  const { ports } = settings({
    SMTP_PORT: '0',
    IMAP_PORT: '0',
    HTTP_PORT: 'off',
    HTTPS_PORT: 'off',
    IMAPS_PORT: '65535',
  });
  expect(ports).toMatchObject({ smtp: 0, imap: 0, http: undefined, https: undefined, imaps: 65_535 });
});

test('networks match addresses', () => {
  const { exemptNetworks, allowPrivateNetworks } = settings({
    EXEMPT_NETWORKS: '10.0.0.0/8, 192.0.2.7,2001:db8::/32',
    ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,192.168.1.5:8025,[::1]:25,Sink.test:2526',
  });
  const matches = (ip: string) =>
    exemptNetworks.some(([base, bits]) => {
      const address = ipaddr.parse(ip);
      return address.kind() === base.kind() && address.match(base, bits);
    });
  expect(['10.1.2.3', '192.0.2.7', '2001:db8::5'].map(matches)).toEqual([true, true, true]);
  expect(['11.0.0.1', '192.0.2.8', '2001:db9::'].map(matches)).toEqual([false, false, false]);
  expect(allowPrivateNetworks.all).toBe(false);
  expect(allowPrivateNetworks.networks.map(([base, bits]) => `${base.toString()}/${bits}`)).toEqual(['127.0.0.0/8']);
  expect(allowPrivateNetworks.endpoints).toEqual([
    { host: '192.168.1.5', port: 8025 },
    { host: '::1', port: 25 },
    { host: 'sink.test', port: 2526 },
  ]);
});

test('a smarthost is a URL, its password in it or in a file', () => {
  const plain = { host: 'relay.example.com', tls: 'starttls', username: '', use: 'always', passwordFile: undefined };
  expect(settings({ SMARTHOST: 'smtp://Relay.example.com' }).smarthost).toEqual({ ...plain, port: 587 });
  const secret = { SMARTHOST: 'smtps://anna%40x.test:p%3Aw%2F@[2001:db8::1]', SMARTHOST_USE: 'failover' };
  const host = { host: '2001:db8::1', port: 465, tls: 'implicit', username: 'anna@x.test', password: 'p:w/' };
  expect(settings(secret).smarthost).toEqual({ ...host, use: 'failover', passwordFile: undefined });
  const file = { SMARTHOST: 'smtp://anna@192.0.2.1:2525', SMARTHOST_PASSWORD_FILE: '/run/secret' };
  expect(settings(file).smarthost).toMatchObject({ host: '192.0.2.1', port: 2525, passwordFile: '/run/secret' });
});

test('a terminal gets pretty logs unless set otherwise', () => {
  expect(load({}, [], true)).toMatchObject({ logFormat: 'pretty' });
  expect(load({ LOG_FORMAT: 'json' }, [], true)).toMatchObject({ logFormat: 'json' });
});

describe('a bad setting stops the start with one sentence that names it', () => {
  test.each<[EnvironmentVariables]>([
    [{ HOSTNAME: 'mail' }],
    [{ HOSTNAME: '192.0.2.1' }],
    [{ HOSTNAME: 'https://mail.example.com' }],
    [{ HOSTNAME: 'mail..example.com' }],
    [{ HOSTNAME: '-mail.example.com' }],
    [{ HOSTNAME: 'mail.example.com:25' }],
    [{ BASE_URL: 'mail.example.com' }],
    [{ BASE_URL: 'ftp://mail.example.com' }],
    [{ BASE_URL: 'https://mail.example.com/?x' }],
    [{ LISTEN: 'localhost' }],
    [{ LISTEN: '127.0.0.1,' }],
    [{ LISTEN: '127.0.0.1:25' }],
    [{ SMTP_PORT: '-1' }],
    [{ SMTP_PORT: '65536' }],
    [{ SMTP_PORT: '25.0' }],
    [{ SMTP_PORT: '0x19' }],
    [{ SMTP_PORT: ' 25' }],
    [{ SMTP_PORT: 'OFF' }],
    [{ OUTBOUND_PORT: '0' }],
    [{ OUTBOUND_PORT: 'off' }],
    [{ DNSSEC: 'yes' }],
    [{ RSPAMD_URL: '127.0.0.1:11333' }],
    [{ RSPAMD_URL: 'http://user:secret@127.0.0.1:11333' }],
    [{ RSPAMD_URL: 'http://127.0.0.1:11333/checkv2' }],
    [{ CLAMAV: '127.0.0.1' }],
    [{ CLAMAV: 'unix:clamd.ctl' }],
    [{ CLAMAV: '/run/clamav/clamd.ctl' }],
    [{ OUTBOUND_ADDRESSES: '192.0.2.1,192.0.2.2' }],
    [{ OUTBOUND_ADDRESSES: 'mail.example.com' }],
    [{ OUTBOUND_HOSTNAME: 'mail' }],
    [{ RESOLVERS: '127.0.0.1' }],
    [{ RESOLVERS: 'localhost:53' }],
    [{ RESOLVERS: '::1:53' }],
    [{ RESOLVERS: '127.0.0.1:0' }],
    [{ ALLOW_PRIVATE_NETWORKS: 'yes' }],
    [{ ALLOW_PRIVATE_NETWORKS: 'true,10.0.0.0/8' }],
    [{ ALLOW_PRIVATE_NETWORKS: '10.0.0.0/33' }],
    [{ EXEMPT_NETWORKS: '10.0.0.0/8;11.0.0.0/8' }],
    [{ EXEMPT_NETWORKS: '10/8' }],
    [{ EXEMPT_NETWORKS: '2001:db8::/129' }],
    [{ EXEMPT_NETWORKS: '127.0.0.1:25' }],
    [{ TLS_CERT: '/a.pem' }],
    [{ TLS_KEY: '/a.pem' }],
    [{ TOKEN_PREFIX: 'a' }],
    [{ DNSBL: 'list' }],
    [{ DNSBL: '127.0.0.1' }],
    [{ DNSBL: 'a.example=' }],
    [{ DNSBL: 'a.example=9' }],
    [{ DNSBL: 'a.example=1=2' }],
    [{ DNSBL: 'off,a.example' }],
    [{ URIBL: Array.from({ length: 11 }, (_, i) => `l${i}.example`).join(',') }],
    [{ GREYLIST: 'yes' }],
    [{ TOKEN_PREFIX: 'my_prefix' }],
    [{ LOCAL_PASSWORD: 'a\nb' }],
    [{ LOCAL_PASSWORD: 'secret', HOSTNAME: NAME }],
    [{ MAX_MESSAGE_BYTES: '25MB' }],
    [{ MAX_MESSAGE_BYTES: '0' }],
    [{ MAX_MESSAGE_BYTES: '1e9' }],
    [{ LOG_LEVEL: 'verbose' }],
    [{ LOG_FORMAT: 'text' }],
    [{ SMTP_PORT: '2143' }],
    [{ SMTPPORT: '25' }],
    [{ smtp_port: '25' }],
    [{ constructor: '1' }],
    [{ '': '1' }],
    [{ UNKNOWN: '' }],
  ])('%j', (given) => {
    const sentence = problem(given);
    const [name = ''] = Object.keys(given);
    expect(sentence).toContain(`MAILSTEAD_${name}`);
    expect(sentence).toMatch(/^[^\n]+\.$/);
    expect(sentence).not.toContain('secret');
  });

  const DATABASE = 'postgres://mailstead@db.example/mail';

  test.each<[Record<string, string>, string]>([
    [{ DATABASE: 'mysql://user:hunter2@db/mail' }, 'MAILSTEAD_DATABASE must be a URL such as postgres://'],
    [{ DATABASE: 'postgres://user:hunter2@db/' }, 'MAILSTEAD_DATABASE must be a URL such as postgres://'],
    [{ DATABASE_PASSWORD_FILE: '/etc/password' }, 'is set without MAILSTEAD_DATABASE'],
    [{ DATABASE: 'postgres://user:hunter2@db/mail', DATABASE_PASSWORD_FILE: '/etc/password' }, 'Use only one'],
    [{ DATABASE, BACKUP_TARGET: '/backups' }, 'back up PostgreSQL (pg_dump or a base backup)'],
  ])('a database: %j', (given, why) => {
    const sentence = problem(given);
    expect(sentence).toContain(why);
    expect(sentence).not.toContain('hunter2');
  });

  test.each([
    [{ ACME_EMAIL: 'me@example.com' }, 'is for live mode only'],
    [{ HOSTNAME: 'mail.example.com', ACME_EMAIL: 'me' }, 'must be an address such as'],
    [{ HOSTNAME: 'mail.example.com', ACME_EMAIL: 'a b@example.com' }, 'must be an address such as'],
    [{ ACME_DIRECTORY: 'http://acme.example/' }, 'must be a URL such as https:'],
    [{ ACME_CHALLENGE: 'http' }, 'must be "auto" or "http-01"'],
  ])('an authority: %j', (given, why) => {
    expect(problem(given)).toContain(why);
  });

  test.each([
    ['no URL', { SMARTHOST: 'relay.example.com hunter2' }],
    ['another scheme', { SMARTHOST: 'http://user:hunter2@relay.example.com' }],
    ['a path', { SMARTHOST: 'smtp://user:hunter2@relay.example.com/mail' }],
    ['a user without a password', { SMARTHOST: 'smtp://hunter2@relay.example.com' }],
    ['two passwords', { SMARTHOST: 'smtp://user:hunter2@relay.example.com', SMARTHOST_PASSWORD_FILE: '/x' }],
    ['a password file alone', { SMARTHOST_PASSWORD_FILE: '/x' }],
    ['a line end in the password', { SMARTHOST: 'smtp://user:hunter2%0d%0aRSET@relay.example.com' }],
  ])('a smarthost with %s, without its password', (_name, given) => {
    const sentence = problem(given);
    expect(sentence).toContain('MAILSTEAD_SMARTHOST');
    expect(sentence).not.toContain('hunter2');
  });

  test.each([
    ['an issuer without a client', { OIDC_ISSUER: 'https://login.example.com' }],
    ['a client secret alone', { OIDC_CLIENT_SECRET: 'hunter2' }],
    ['an issuer without TLS', { OIDC_ISSUER: 'http://login.example.com', OIDC_CLIENT_ID: 'hunter2' }],
    [
      'two secrets',
      {
        OIDC_ISSUER: 'https://x.example',
        OIDC_CLIENT_ID: 'x',
        OIDC_CLIENT_SECRET: 'hunter2',
        OIDC_CLIENT_SECRET_FILE: '/x',
      },
    ],
  ])('an OpenID provider with %s, without its secret', (_name, given) => {
    const sentence = problem(given);
    expect(sentence).toContain('MAILSTEAD_OIDC_');
    expect(sentence).not.toContain('hunter2');
  });

  test('an issuer is kept letter by letter: tokens repeat it', () => {
    const given = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'mailstead', OIDC_CLIENT_SECRET: 's' };
    expect(settings(given).singleSignOn).toMatchObject({ issuer: 'https://login.example.com', name: 'single sign-on' });
  });

  test('two endpoints on one port, by name', () => {
    expect(problem({ IMAP_PORT: '2525' })).toBe(
      'MAILSTEAD_SMTP_PORT and MAILSTEAD_IMAP_PORT use the same port. Change one.',
    );
  });
});

describe('a file of settings', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'env-'));
    writeFileSync(join(dir, 'one.env'), '# a box\nMAILSTEAD_SMTP_PORT="2600"\nMAILSTEAD_IMAP_PORT=2700\nOTHER=x\n');
    writeFileSync(join(dir, 'two.env'), 'MAILSTEAD_SMTP_PORT=2601\n');
    writeFileSync(join(dir, 'bad.env'), 'MAILSTEAD_SMPT_PORT=2601\n');
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('is read, and the environment wins over it', () => {
    expect(settings({}, ['serve', '--env-file', join(dir, 'one.env')]).ports).toMatchObject({ smtp: 2600, imap: 2700 });
    expect(settings({ SMTP_PORT: '1' }, [`--env-file=${join(dir, 'one.env')}`]).ports).toMatchObject({
      smtp: 1,
      imap: 2700,
    });
    expect(settings({ SMTP_PORT: '' }, [`--env-file=${join(dir, 'one.env')}`]).ports).toMatchObject({ smtp: 2600 });
  });

  test('may be several: the later wins', () => {
    const args = ['--env-file', join(dir, 'one.env'), '--env-file', join(dir, 'two.env')];
    expect(settings({}, args).ports).toMatchObject({ smtp: 2601, imap: 2700 });
  });

  test('that is missing, unnamed or wrong stops the start', () => {
    expect(problem({}, ['--env-file', join(dir, 'none.env')])).toContain('none.env');
    expect(problem({}, ['serve', '--env-file'])).toBe('--env-file needs a file name.');
    expect(problem({}, ['--env-file', join(dir, 'bad.env')])).toContain('MAILSTEAD_SMPT_PORT');
  });
});
