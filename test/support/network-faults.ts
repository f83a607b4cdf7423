import { CERTIFICATE, HOST, HOUR, IP, IP6, LIST, NOW, SHOP_KEY, tlsaOf } from './doctor-world.ts';
import type { FaultRow } from './machine-faults.ts';

const refused = { [`A 2.0.0.127.${LIST}`]: ['127.255.255.254'], [`A 1.0.0.127.${LIST}`]: ['127.255.255.254'] };

const TLSA = [{ usage: 3, selector: 1, matchingType: 1, data: Buffer.alloc(32) }];

/** Faults of the DNS, the addresses, the ports and the domains. */
export const NETWORK_FAULTS: FaultRow[] = [
  // The resolver.
  [
    'the resolver is dead',
    { dead: true },
    [
      'resolver failed',
      'host name failed',
      'EHLO name unknown',
      'reverse name unknown',
      'blocklists off',
      'shop.example: mx unknown',
      'shop.example: spf unknown',
      'shop.example: dkim unknown',
      'shop.example: dmarc unknown',
      'shop.example: mtaSts unknown',
    ],
    'The resolver does not answer.',
  ],
  [
    'the resolver lies',
    { zone: { 'A doctor-check.invalid': ['203.0.113.80'] } },
    ['resolver failed'],
    'The resolver answers for names that do not exist: doctor-check.invalid has the address 203.0.113.80.',
  ],
  [
    'the resolver knows no names',
    { without: ['com'] },
    ['resolver failed'],
    'The resolver says that com does not exist.',
  ],
  // The name and the addresses of the server.
  [
    'the host name has no address',
    { without: [HOST] },
    ['host name failed', 'EHLO name failed', 'reverse name failed', 'blocklists off', 'shop.example: spf failed'],
    `${HOST} has no address in the DNS.`,
  ],
  [
    'the EHLO name has no address',
    { settings: { outboundHostname: 'out.box.example' } },
    ['EHLO name failed', 'reverse name failed'],
    'This server says EHLO out.box.example, which has no address in the DNS.',
  ],
  ['the reverse name is missing', { without: [IP] }, ['reverse name failed'], `${IP} has no reverse name.`],
  [
    "the reverse name is the provider's",
    { zone: { [`PTR ${IP}`]: ['host4.isp.example'], 'A host4.isp.example': [IP] } },
    ['reverse name failed'],
    `${IP} has the reverse name host4.isp.example, but this server's EHLO name is ${HOST}.`,
  ],
  [
    'the reverse name does not resolve back',
    { zone: { [`PTR ${IP}`]: ['host4.isp.example'] } },
    ['reverse name failed'],
    `The reverse name of ${IP} does not resolve back to it.`,
  ],
  [
    'the reverse zone is broken',
    { zone: { [`PTR ${IP}`]: 'trouble' } },
    ['reverse name unknown'],
    `Cannot look up the reverse name of ${IP} (DNS failure).`,
  ],
  [
    'the AAAA record is not of this machine',
    { zone: { [`AAAA ${HOST}`]: [IP6], [`PTR ${IP6}`]: [HOST] } },
    ['IPv6 warning'],
    `The AAAA record of ${HOST} is ${IP6}, which is no address of this machine.`,
  ],
  [
    'nothing listens on IPv6',
    { zone: { [`AAAA ${HOST}`]: [IP6], [`PTR ${IP6}`]: [HOST] }, ownIpv6: [IP6], settings: { listen: ['0.0.0.0'] } },
    ['IPv6 failed'],
    `${HOST} has an AAAA record, but this server does not listen on IPv6.`,
  ],
  [
    'IPv6 is not published',
    { ownIpv6: [IP6] },
    ['IPv6 warning'],
    `This machine has the IPv6 address ${IP6}, but ${HOST} has no AAAA record.`,
  ],
  [
    'the IPv6 address has no reverse name',
    { zone: { [`AAAA ${HOST}`]: [IP6] }, ownIpv6: [IP6] },
    ['reverse name failed'],
    `${IP6} has no reverse name.`,
  ],
  // Ports.
  [
    'port 25 was never reached from outside, although the own look succeeds',
    { inboundAt: null },
    ['incoming port 25 warning'],
    'No public address has ever connected to port 25 of this server.',
  ],
  [
    'port 25 was not reached from outside for days',
    { inboundAt: NOW - 4 * 24 * HOUR },
    ['incoming port 25 unknown'],
    '192.5.6.30 connected to port 25 of this server at 2026-11-27T12:00:00.000Z, and no public address since.',
  ],
  [
    'another server has the address',
    { smtp: { [IP]: ['220 mx.other.example ESMTP'] } },
    ['incoming port 25 failed'],
    `Another server answers on port 25 of ${IP}: 220 mx.other.example ESMTP`,
  ],
  [
    'port 25 outwards is blocked',
    { peer: 'mx.far.example', smtp: { 'mx.far.example': 'connect ETIMEDOUT' } },
    ['outgoing port 25 failed'],
    'mx.far.example cannot be reached on port 25: connect ETIMEDOUT.',
  ],
  [
    'a proxy answers outwards',
    { peer: 'mx.far.example', smtp: { 'mx.far.example': ['HTTP/1.1 400'] } },
    ['outgoing port 25 unknown'],
    'mx.far.example answered no SMTP: HTTP/1.1 400',
  ],
  [
    'the server is an open relay',
    { smtp: { '127.0.0.1': ['220 x', '250 x', '250 ok', '250 ok', '221 x'] } },
    ['open relay failed'],
    'Mail of a stranger to a stranger was accepted.',
  ],
  [
    'the own SMTP listener hangs',
    { smtp: { '127.0.0.1': 'no answer within 15 seconds' } },
    ['open relay unknown'],
    'The test could not run: no answer within 15 seconds.',
  ],
  // Blocklists.
  [
    'the address is listed',
    { zone: { [`A 4.0.41.198.${LIST}`]: ['127.0.0.2'] } },
    ['blocklists failed'],
    `${IP} is listed by ${LIST}.`,
  ],
  [
    'the list refuses the resolver',
    { zone: { ...refused, [`A 4.0.41.198.${LIST}`]: ['127.255.255.254'] } },
    ['blocklists unknown', 'blocklist access warning'],
    `No list gave an answer that counts: ${LIST} (the list refuses to answer this resolver).`,
  ],
  [
    'the list refuses the query of the address only',
    { zone: { [`A 4.0.41.198.${LIST}`]: ['127.255.255.252'] } },
    ['blocklists unknown', 'blocklist access warning'],
    `No list gave an answer that counts: ${LIST} (the list refuses to answer this resolver).`,
  ],
  [
    'the list of domains refuses the resolver',
    {
      settings: { dnsLists: { addresses: [], hosts: [{ zone: LIST, score: 3, refuse: false }] } },
      zone: { [`A test.${LIST}`]: ['127.0.0.2'], [`A shop.example.${LIST}`]: ['127.255.255.255'] },
    },
    ['blocklist access warning', 'blocklists off', 'shop.example: blocklists unknown'],
    `These lists refuse the resolver of this server: ${LIST}.`,
  ],
  [
    'the list lists everything',
    { zone: { [`A 1.0.0.127.${LIST}`]: ['127.0.0.2'], [`A 4.0.41.198.${LIST}`]: ['127.0.0.2'] } },
    ['blocklists unknown'],
    `No list gave an answer that counts: ${LIST} (the list lists its negative test entry).`,
  ],
  [
    'the list is gone',
    { without: [`2.0.0.127.${LIST}`] },
    ['blocklists unknown'],
    `No list gave an answer that counts: ${LIST} (the list has no test entry).`,
  ],
  [
    'the domain is listed',
    {
      settings: { dnsLists: { addresses: [], hosts: [{ zone: LIST, score: 3, refuse: false }] } },
      zone: { [`A test.${LIST}`]: ['127.0.0.2'], [`A shop.example.${LIST}`]: ['127.0.0.2'] },
    },
    ['blocklists off', 'shop.example: blocklists failed'],
    'Nothing was looked up: no list is set (MAILSTEAD_DNSBL), or the addresses that mail leaves from are unknown.',
  ],
  // The DNS of a domain.
  [
    'the MX record is missing',
    { zone: { 'MX shop.example': [] }, without: [] },
    ['shop.example: mx failed', 'shop.example: spf failed'],
    'shop.example has no MX record.',
  ],
  [
    'the MX is another server',
    { zone: { 'MX shop.example': ['10 mx.old.example'] } },
    ['shop.example: mx failed', 'shop.example: spf failed'],
    'Mail for shop.example goes to mx.old.example, not to this server.',
  ],
  [
    'two servers have the domain',
    { zone: { 'MX shop.example': [`10 ${HOST}`, '10 mx.old.example'] } },
    ['shop.example: mx warning'],
    'Mail for shop.example arrives here and at mx.old.example: each mailbox is on one server only.',
  ],
  [
    'the MX record is half propagated',
    { zone: { 'MX shop.example': 'trouble' } },
    ['shop.example: mx unknown', 'shop.example: spf unknown'],
    'The MX record of shop.example cannot be looked up now.',
  ],
  [
    'the domain is gone',
    { without: ['shop.example', 'ms1._domainkey.shop.example', '_dmarc.shop.example', '_mta-sts.shop.example'] },
    [
      'shop.example: mx failed',
      'shop.example: spf failed',
      'shop.example: dkim failed',
      'shop.example: dmarc failed',
      'shop.example: mtaSts off',
    ],
    'shop.example has no MX record.',
  ],
  ['SPF forbids this server', { zone: { 'TXT shop.example': ['v=spf1 -all'] } }, ['shop.example: spf failed'], ''],
  [
    'two SPF records',
    { zone: { 'TXT shop.example': ['v=spf1 mx ~all', 'v=spf1 a ~all'] } },
    ['shop.example: spf failed'],
    '',
  ],
  [
    'the DKIM key is another',
    { zone: { 'TXT ms1._domainkey.shop.example': ['v=DKIM1; p=AAAA'] } },
    ['shop.example: dkim failed'],
    'No selector of shop.example has a key of this organization.',
  ],
  [
    'the DKIM record is half propagated',
    { zone: { 'TXT ms1._domainkey.shop.example': 'trouble' } },
    ['shop.example: dkim unknown'],
    '',
  ],
  [
    'DMARC is missing',
    { without: ['_dmarc.shop.example'] },
    ['shop.example: dmarc failed'],
    'No DMARC record at _dmarc.shop.example or above.',
  ],
  [
    'the MTA-STS policy cannot be fetched',
    { sts: () => Promise.resolve({ kind: 'none', why: 'connect ECONNREFUSED' } as never) },
    ['shop.example: mtaSts failed'],
    'Cannot fetch the announced policy: connect ECONNREFUSED.',
  ],
  [
    'the MTA-STS policy names another host',
    { sts: () => Promise.resolve({ policy: { mode: 'enforce', mx: ['mx.old.example'], maxAge: 1 }, strings: [] }) },
    ['shop.example: mtaSts failed'],
    `The policy does not name ${HOST}.`,
  ],
  [
    'a domain is not verified',
    { unverified: ['new.example'] },
    ['new.example: verification warning'],
    'new.example is not verified: it neither receives nor sends mail.',
  ],
  [
    'the token of the DNS provider is revoked',
    { provider: 'Cloudflare refused the credentials (HTTP 403).' },
    ['shop.example: dns provider warning'],
    'The last access to the DNS provider of shop.example failed: Cloudflare refused the credentials (HTTP 403).',
  ],
  [
    'no TLSA record matches the certificate',
    { dane: tlsaOf(CERTIFICATE.other) },
    ['DANE failed'],
    `No TLSA record at _25._tcp.${HOST} matches the certificate in use: senders with DANE do not deliver.`,
  ],
  [
    'a signed zone has no TLSA records',
    { dane: { kind: 'signed', tlsa: { kind: 'none', nx: true, secure: true } } },
    ['DANE off'],
    `The zone of ${HOST} is signed, but there are no TLSA records at _25._tcp.${HOST}: senders cannot use DANE.`,
  ],
  [
    'the TLSA records are behind a CNAME to a zone that is not signed',
    { dane: { kind: 'signed', tlsa: { kind: 'found', secure: false, records: TLSA } } },
    ['DANE off'],
    `The TLSA records at _25._tcp.${HOST} are in a zone that is not signed, so that senders ignore them.`,
  ],
  [
    'the TLSA records cannot be looked up',
    { dane: { kind: 'trouble' } },
    ['DANE unknown'],
    `The TLSA records of ${HOST} cannot be looked up now.`,
  ],
  [
    'the DS record of a domain that is led here is of another key',
    { ds: { kind: 'found', records: [{ ...SHOP_KEY.delegationSigner, digest: Buffer.alloc(32) }] } },
    ['shop.example: dnssec failed'],
    "The DS record of shop.example is of another key than this server's: resolvers that validate answer nothing.",
  ],
  [
    'the DS record cannot be looked up',
    { ds: { kind: 'trouble', why: 'timeout' } },
    ['shop.example: dnssec unknown'],
    'The DS record of shop.example cannot be looked up now.',
  ],
  [
    'the reports cannot be made',
    { broken: 'reports' },
    ['domains unknown'],
    'The check could not run: the store is busy.',
  ],
];
