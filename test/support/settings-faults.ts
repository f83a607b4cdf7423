import ipaddr from 'ipaddr.js';
import { HOST, IP } from './doctor-world.ts';
import type { FaultRow } from './machine-faults.ts';

const anywhere = [[ipaddr.parse('0.0.0.0'), 0]] as never;
const smarthost = { host: 'smart.example', port: 587, use: 'always', passwordFile: undefined } as never;
const acme = (challenge: 'http-01' | 'tls-alpn-01' | 'dns-01') => ({
  email: 'a@box.example',
  directory: 'https://acme.example/d',
  challenge,
  rsa: false,
});
const ports = { http: 80, https: 443, smtp: 25, submission: 587, submissions: 465, imap: 143, imaps: 993, dns: 53 };
/** Settings that are unsafe or contradict each other. */
export const SETTINGS_FAULTS: FaultRow[] = [
  // Settings.
  [
    'anybody may create organizations',
    { settings: { bootstrap: 'open' } },
    ['settings: bootstrap warning'],
    'Anybody on the internet may create an organization here and send mail.',
  ],
  [
    'private networks are open',
    { settings: { allowPrivateNetworks: { all: true, networks: [], endpoints: [] } } },
    ['settings: private networks warning'],
    'Webhooks, forwards and imports may reach every private network of this machine.',
  ],
  [
    'the name server is off',
    { settings: { ports: { ...ports, dns: undefined } } },
    ['settings: name server off'],
    'The embedded name server is off: DKIM keys are published by hand and do not rotate by themselves.',
  ],
  [
    'it listens on loopback only',
    { settings: { listen: ['127.0.0.1'] } },
    ['settings: listen warning'],
    `MAILSTEAD_LISTEN has loopback addresses only, although MAILSTEAD_HOSTNAME is ${HOST}: other servers cannot connect.`,
  ],
  [
    'links without encryption',
    { settings: { baseUrl: `http://${HOST}` } },
    ['settings: base URL warning'],
    `MAILSTEAD_BASE_URL is http://${HOST}: links in mail lead to a page without encryption.`,
  ],
  [
    'HTTP-01 without port 80',
    { settings: { acme: acme('http-01'), ports: { ...ports, http: undefined } } },
    ['settings: challenge warning'],
    'MAILSTEAD_ACME_CHALLENGE is http-01, but MAILSTEAD_HTTP_PORT is off: no certificate can be issued.',
  ],
  [
    'TLS-ALPN-01 without port 443',
    { settings: { acme: acme('tls-alpn-01'), ports: { ...ports, https: undefined } } },
    ['settings: challenge warning'],
    'MAILSTEAD_ACME_CHALLENGE is tls-alpn-01, but MAILSTEAD_HTTPS_PORT is off: no certificate can be issued.',
  ],
  [
    'mail leaves by another port',
    { settings: { outboundPort: 2525 } },
    ['settings: outbound port warning'],
    'MAILSTEAD_OUTBOUND_PORT is 2525, but mail servers of others listen on port 25.',
  ],
  [
    'a smarthost and an address',
    { settings: { smarthost, outboundAddresses: { ipv4: IP, ipv6: undefined } } },
    ['settings: smarthost warning', 'reverse name unknown', 'blocklists off', 'shop.example: spf unknown'],
    'MAILSTEAD_OUTBOUND_ADDRESSES has no effect on receivers: all mail goes through the smarthost.',
  ],
  [
    'DNSSEC by a far resolver',
    { settings: { dnssec: 'on', resolvers: [{ host: '9.9.9.9', port: 53 }] } },
    ['settings: DNSSEC warning'],
    'MAILSTEAD_DNSSEC=on trusts a resolver on another machine: whoever can change its answers on the way can forge them.',
  ],
  [
    'a scanner that nobody asks',
    { settings: { spamChecks: false, rspamdUrl: 'http://127.0.0.1:11333' } },
    ['settings: scanners warning'],
    'MAILSTEAD_RSPAMD_URL or MAILSTEAD_CLAMAV is set, but MAILSTEAD_SPAM_CHECKS is off: no message is scanned.',
  ],
  [
    'every proxy is trusted',
    { settings: { trustProxy: anywhere } },
    ['settings: proxy failed'],
    'MAILSTEAD_TRUST_PROXY has every address: any client can forge its own and escape bans.',
  ],
  [
    'everybody is exempt',
    { settings: { exemptNetworks: anywhere } },
    ['settings: exempt networks failed'],
    'MAILSTEAD_EXEMPT_NETWORKS has every address: nobody is limited or banned for guessing passwords.',
  ],
];
