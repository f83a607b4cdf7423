import { RESET } from '../support/scripted-smtp.ts';
import type { DnsAnswer } from '../support/dns-server.ts';
import { AT, reverseName } from '../support/network-namespace.ts';
import { ADDRESS_LISTS, DOMAIN_LIST, HOST, SERVERS, ZONE } from './faulty-dns.ts';
import type { FaultyWorld } from './faulty-world.ts';

/** A fault of the world around a running server, and what the doctor says about it. */
export interface WorldFault {
  fault: string;
  inject: (world: FaultyWorld) => unknown;
  /** All lines that are not ok; the fault is that of the first. */
  lines: string[];
  why: RegExp;
  /** The advice; no advice where there is nothing to do but to wait. */
  fix: RegExp;
  heal: (world: FaultyWorld) => unknown;
  /** Mail is deferred meanwhile. */
  defers?: true;
}

type Changes = Record<string, DnsAnswer | undefined>;

const [LIST] = ADDRESS_LISTS;
const PTR = `PTR ${reverseName(AT.box)}`;
const REFUSED = ['127.255.255.254'];
const RUN_AGAIN = /^Wait some minutes, then run the doctor again\./;
const OTHER_PLACE = ['reverse name failed'];
const PUBLISH_MX = new RegExp(`^Publish "MX 10 ${HOST}" for ${ZONE}\\.$`);
const ASK_PROVIDER = new RegExp(`^Ask the provider of .* to set its reverse name \\(PTR\\) to ${HOST}`);
const RESOLVER_AWAY = [
  'resolver failed',
  'host name failed',
  'EHLO name unknown',
  'IPv6 unknown',
  'DANE unknown',
  'reverse name unknown',
  'blocklists unknown',
  ...['mx', 'spf', 'dkim', 'dmarc', 'mtaSts', 'blocklists'].map((check) => `${ZONE}: ${check} unknown`),
];

/** Records of the DNS that are away or wrong. */
function records(fault: string, changes: Changes | ((world: FaultyWorld) => Changes), ...said: Said): WorldFault {
  const [lines, why, fix] = said;
  const inject = (world: FaultyWorld): void =>
    world.dns.change(typeof changes === 'function' ? changes(world) : changes);
  return { fault, inject, lines, why, fix, heal: ({ dns }) => dns.change({}) };
}
type Said = [lines: string[], why: RegExp, fix: RegExp];

/** The same answer for every DKIM key of the domain. */
const everyKey =
  (answer: DnsAnswer | undefined) =>
  ({ api }: FaultyWorld): Changes =>
    Object.fromEntries(
      api.zone.records.flatMap(({ name }) => (name.includes('._domainkey.') ? [[`TXT ${name}`, answer]] : [])),
    );

export const RESOLVER_FAULTS: WorldFault[] = [
  {
    fault: 'the resolver answers SERVFAIL',
    inject: ({ dns }) => dns.always('SERVFAIL'),
    lines: RESOLVER_AWAY,
    why: /^The resolver does not answer\.$/,
    fix: /MAILSTEAD_RESOLVERS/,
    heal: ({ dns }) => dns.update(),
  },
  {
    fault: 'the resolver is away',
    inject: ({ dns }) => dns.stop(),
    lines: RESOLVER_AWAY,
    why: /^The resolver does not answer\.$/,
    fix: /MAILSTEAD_RESOLVERS/,
    heal: ({ dns }) => dns.start(),
  },
  records(
    'the resolver invents answers',
    { 'A doctor-check.invalid': ['203.0.113.80'] },
    ['resolver failed'],
    /answers for names that do not exist: doctor-check\.invalid has the address 203\.0\.113\.80/,
    /^Use another resolver \(MAILSTEAD_RESOLVERS\)/,
  ),
];

export const HOST_FAULTS: WorldFault[] = [
  records(
    'the host name has no address',
    { [`A ${HOST}`]: undefined, [`AAAA ${HOST}`]: undefined },
    ['host name failed', 'EHLO name failed', 'IPv6 warning', ...OTHER_PLACE],
    /has no address in the DNS/,
    /^Publish the address of this server as the A record/,
  ),
  records(
    'the host name leads to another server',
    { [`A ${HOST}`]: [AT.dane] },
    ['incoming port 25 failed', ...OTHER_PLACE],
    /^Another server answers on port 25 of 44\.0\.0\.20: 220 scripted\.test/,
    /^Point mail\.example\.net to this machine/,
  ),
  records(
    'nothing listens on port 25 of the address',
    { [`A ${HOST}`]: [SERVERS.nobody] },
    OTHER_PLACE,
    /^The reverse name of 44\.0\.0\.10 does not resolve back to it/,
    ASK_PROVIDER,
  ),
  records(
    'IPv6 is not published',
    { [`AAAA ${HOST}`]: undefined },
    ['IPv6 warning', ...OTHER_PLACE],
    /has the IPv6 address .*, but mail\.example\.net has no AAAA record/,
    /^Publish it as AAAA/,
  ),
  records(
    'the AAAA record is that of another machine',
    { [`AAAA ${HOST}`]: ['2600::4'] },
    ['IPv6 warning', ...OTHER_PLACE],
    /is 2600::4, which is no address of this machine/,
    /^Correct the AAAA record/,
  ),
  records('no reverse name', { [PTR]: undefined }, ['reverse name failed'], /has no reverse name/, ASK_PROVIDER),
  records(
    "the provider's reverse name",
    { [PTR]: ['host4.isp.example'], 'A host4.isp.example': [AT.box] },
    ['reverse name failed'],
    /has the reverse name host4\.isp\.example, but this server's EHLO name is mail\.example\.net/,
    ASK_PROVIDER,
  ),
  records(
    'a reverse name that does not resolve back',
    { [PTR]: ['host4.isp.example'] },
    ['reverse name failed'],
    /does not resolve back to it/,
    ASK_PROVIDER,
  ),
  records(
    'the reverse zone fails',
    { [PTR]: 'SERVFAIL' },
    ['reverse name unknown'],
    /^Cannot look up the reverse name of 44\.0\.0\.10 \(DNS failure\)/,
    RUN_AGAIN,
  ),
  {
    fault: 'a firewall resets connections to port 25 of others',
    inject: ({ far }) => void (far.script = { connect: RESET }),
    lines: ['outgoing port 25 failed'],
    why: /^44\.0\.0\.20 cannot be reached on port 25: .*ECONNRESET/,
    fix: /^Ask the provider of this machine to open port 25 outwards, or set MAILSTEAD_SMARTHOST/,
    heal: ({ far }) => void (far.script = {}),
  },
  {
    fault: 'a proxy answers on port 25 of others',
    inject: ({ far }) => void (far.script = { connect: 'HTTP/1.1 400 Bad Request' }),
    lines: ['outgoing port 25 unknown'],
    why: /answered no SMTP: HTTP\/1\.1 400/,
    fix: /^Name another mail server/,
    heal: ({ far }) => void (far.script = {}),
  },
  records(
    'a list has the address',
    { [`A ${AT.box.split('.').toReversed().join('.')}.${LIST}`]: ['127.0.0.2'] },
    ['blocklists failed'],
    /^44\.0\.0\.10 is listed by psbl\.surriel\.com/,
    /^Look up the reason at the list psbl\.surriel\.com \(https:\/\/psbl\.org\/\), fix it, and request the removal/,
  ),
  records(
    'a list refuses the resolver',
    { [`A 2.0.0.127.${LIST}`]: REFUSED, [`A 1.0.0.127.${LIST}`]: REFUSED },
    ['blocklist access warning'],
    /^These lists refuse the resolver of this server: psbl\.surriel\.com/,
    /^Run a resolver of your own/,
  ),
  records(
    'a list has the domain',
    { [`A ${ZONE}.${DOMAIN_LIST}`]: ['127.0.0.2'] },
    [`${ZONE}: blocklists failed`],
    /^example\.net is listed by dbl\.lists\.test/,
    /request the removal of example\.net/,
  ),
];

const MX = `MX ${ZONE}`;
const SPF = `TXT ${ZONE}`;
const DMARC = `TXT _dmarc.${ZONE}`;
const mx = (...answers: string[]): string[] => answers.map((one) => `${ZONE}: ${one}`);
const ADD_TO_SPF = /^Add this server to the SPF record of example\.net/;
const PUBLISH_DKIM = /^Publish the DKIM records of example\.net/;
const SERVE_POLICY = /^Serve a valid policy at https:\/\/mta-sts\.example\.net/;

export const DOMAIN_FAULTS: WorldFault[] = [
  records('no MX record', { [MX]: undefined }, mx('mx failed'), /has no MX record/, PUBLISH_MX),
  records(
    'the MX record of the server before',
    { [MX]: ['10 mx.old.example'] },
    mx('mx failed'),
    /^Mail for example\.net goes to mx\.old\.example, not to this server/,
    PUBLISH_MX,
  ),
  records(
    'two servers at one domain',
    { [MX]: [`10 ${HOST}`, '10 mx.old.example'] },
    mx('mx warning'),
    /arrives here and at mx\.old\.example: each mailbox is on one server only/,
    /^Remove the MX record mx\.old\.example/,
  ),
  records(
    'the MX record is half propagated',
    { [MX]: 'SERVFAIL' },
    mx('mx unknown', 'spf unknown'),
    /cannot be looked up now/,
    RUN_AGAIN,
  ),
  records('no SPF record', { [SPF]: undefined }, mx('spf failed'), /has no SPF record/, ADD_TO_SPF),
  records('SPF forbids this server', { [SPF]: ['v=spf1 -all'] }, mx('spf failed'), /SPF|-all/i, ADD_TO_SPF),
  records(
    'two SPF records',
    { [SPF]: ['v=spf1 mx ~all', 'v=spf1 a ~all'] },
    mx('spf failed'),
    /several SPF records, only one is allowed/i,
    ADD_TO_SPF,
  ),
  records(
    'a mistake in the SPF record',
    { [SPF]: [`v=spf1 ipv4:${AT.box} -all`] },
    mx('spf failed'),
    /SPF record of example\.net has an invalid term: ipv4:44\.0\.0\.10/,
    ADD_TO_SPF,
  ),
  records(
    'an SPF record with too many lookups',
    { [SPF]: [`v=spf1 ${'exists:%{i}.far.test '.repeat(11)}mx ~all`] },
    mx('spf failed'),
    /more than 10 DNS lookups/,
    ADD_TO_SPF,
  ),
  records('the SPF record is half propagated', { [SPF]: 'SERVFAIL' }, mx('spf unknown'), /SERVFAIL/, RUN_AGAIN),
  records('no DKIM record', everyKey(undefined), mx('dkim failed'), /^No selector of example\.net/, PUBLISH_DKIM),
  records(
    'the DKIM key of another server',
    everyKey(['v=DKIM1; p=AAAA']),
    mx('dkim failed'),
    /^No selector of example\.net has a key of this organization/,
    PUBLISH_DKIM,
  ),
  records(
    'the DKIM keys were taken back',
    everyKey(['v=DKIM1; p=']),
    mx('dkim failed'),
    /^No selector of example\.net has a key of this organization/,
    PUBLISH_DKIM,
  ),
  records('DKIM is half propagated', everyKey('SERVFAIL'), mx('dkim unknown'), /SERVFAIL/, RUN_AGAIN),
  records(
    'no DMARC record',
    { [DMARC]: undefined },
    mx('dmarc failed'),
    /^No DMARC record at _dmarc\.example\.net or above/,
    /^Publish the TXT record _dmarc\.example\.net with "v=DMARC1/,
  ),
  records(
    'two DMARC records',
    { [DMARC]: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    mx('dmarc failed'),
    /^_dmarc\.example\.net has 2 DMARC records, which count as none/,
    /^Delete all DMARC records of example\.net but one\.$/,
  ),
  records('DMARC is half propagated', { [DMARC]: 'SERVFAIL' }, mx('dmarc unknown'), /\(DNS failure\)/, RUN_AGAIN),
  records(
    'the TLS port of the MTA-STS policy is closed',
    { [`A mta-sts.${ZONE}`]: [SERVERS.nobody], [`AAAA mta-sts.${ZONE}`]: undefined },
    mx('mtaSts failed'),
    /^Cannot fetch the announced policy: .*ECONNREFUSED/,
    SERVE_POLICY,
  ),
  records(
    'the host of the MTA-STS policy has no address',
    { [`A mta-sts.${ZONE}`]: undefined, [`AAAA mta-sts.${ZONE}`]: undefined },
    mx('mtaSts failed'),
    /^Cannot fetch the announced policy: /,
    SERVE_POLICY,
  ),
  records(
    'the MTA-STS policy is at a server with the certificate of another name',
    { [`A mta-sts.${ZONE}`]: [AT.provider], [`AAAA mta-sts.${ZONE}`]: undefined },
    mx('mtaSts failed'),
    /^Cannot fetch the announced policy: /,
    SERVE_POLICY,
  ),
  {
    fault: 'a domain without DNS records',
    inject: ({ ask }) => ask('add_email_domain', { domain: 'new.test' }),
    lines: ['new.test: verification warning', 'settings: name server off'],
    why: /^new\.test is not verified: it neither receives nor sends mail/,
    fix: /^Publish its DNS records \(page of the domain\), or delete it/,
    heal: ({ ask }) => ask('remove_email_domain', { domain: 'new.test' }),
  },
];
