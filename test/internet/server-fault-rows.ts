import { rename, rm, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { WorldFault } from './dns-fault-rows.ts';
import { FAR, HOST, SMARTHOST, ZONE } from './faulty-dns.ts';
import type { AuthorityMode } from './faulty-servers.ts';
import { arrived, type FaultyWorld, linesOf } from './faulty-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The reason why the certificate of the domain is not renewed; undefined: it is. */
async function renewalProblem({ ask }: FaultyWorld): Promise<string | undefined> {
  const { certificates } = (await ask('list_certificates')) as {
    certificates: { name: string; error: string | null }[];
  };
  return certificates.find(({ name }) => name === ZONE)?.error ?? undefined;
}

function authorityFault(fault: string, mode: AuthorityMode, problem: RegExp): WorldFault {
  return {
    fault: `the authority ${fault}`,
    async inject(world) {
      world.authority.mode = mode;
      await world.ask('renew_certificate', { name: ZONE });
      await expect.poll(() => renewalProblem(world)).toMatch(problem);
    },
    lines: ['certificate warning'],
    why: new RegExp(`^A renewal fails: ${ZONE}: .*${problem.source}`),
    fix: /^Run "mailstead certificate list", which says why it is late/,
    async heal(world) {
      world.authority.mode = 'well';
      await expect.poll(() => renewalProblem(world)).toBeUndefined();
    },
  };
}

function certificateFault(
  fault: string,
  names: readonly string[],
  days: number,
  ...[lines, why, fix]: [string[], RegExp, RegExp]
): WorldFault {
  const reloads = ({ log }: FaultyWorld): number => log.filter(({ text }) => text === 'certificate reloaded').length;
  const replace = async (world: FaultyWorld, ...given: Parameters<FaultyWorld['certify']>): Promise<void> => {
    const before = reloads(world);
    await world.certify(...given);
    await expect.poll(() => reloads(world)).toBeGreaterThan(before);
  };
  const notAfter = (): string => new Date(Date.now() + days * DAY).toISOString();
  return {
    fault,
    inject: (world) => replace(world, names, notAfter()),
    lines,
    why,
    fix,
    heal: (world) => replace(world, [HOST]),
  };
}

export const CERTIFICATE_FAULTS: WorldFault[] = [
  authorityFault('is down', 'down', /the request to acme\.test:14000 failed/),
  authorityFault('does not answer', 'slow', /acme\.test:14000 did not answer in time/),
  authorityFault('answers nonsense', 'nonsense', /(?:its response is no JSON object|it gave no nonce)/),
  authorityFault('limits the rate', 'limited', /the authority refused \(rateLimited\): too many orders/),
  authorityFault(
    'refuses the account',
    'refusing',
    /the authority refused \(unauthorized\): the account was deactivated/,
  ),
  certificateFault(
    'the certificate is nearly ended',
    [HOST],
    5.5,
    ['certificate warning'],
    /^The certificate expires in 5 days/,
    /mailstead certificate list/,
  ),
  certificateFault(
    'the certificate has ended',
    [HOST],
    -3,
    ['certificate failed'],
    /^The certificate has expired/,
    /mailstead certificate list/,
  ),
  certificateFault(
    'the certificate is that of another host',
    ['mail.old.example'],
    90,
    ['certificate failed'],
    /^The certificate is not for mail\.example\.net/,
    /^Set MAILSTEAD_ACME_EMAIL, or MAILSTEAD_TLS_CERT/,
  ),
];

const LINE = `${ZONE}: dns provider warning`;
const CONNECT_AGAIN = /^Connect example\.net again with valid credentials, then publish its records/;

function providerFault(fault: string, mode: FaultyWorld['provider']['mode'], problem: RegExp): WorldFault {
  return {
    fault: `the DNS provider ${fault}`,
    async inject({ provider, publishes }) {
      provider.mode = mode;
      expect(await publishes()).toMatch(problem);
    },
    lines: [LINE],
    why: new RegExp(`^The last access to the DNS provider of example\\.net failed: .*${problem.source}`),
    fix: CONNECT_AGAIN,
    async heal({ provider, publishes }) {
      provider.mode = 'well';
      expect(await publishes()).toBe('');
    },
  };
}

/** Records at the provider, as the faults of the zone found them. */
let before: string[] = [];

/** Publishes again, which must bring every record back and no other. */
async function publishAll({ api, provider, publishes }: FaultyWorld): Promise<void> {
  provider.changesLeft = Infinity;
  expect(await publishes()).toBe('');
  expect(linesOf(api)).toEqual(before);
}

/** Removes what this server published, as another person does. */
function removeAtProvider({ api, dns }: FaultyWorld, which: (type: string, name: string) => boolean): void {
  before = linesOf(api);
  api.zone.records = api.zone.records.filter(({ type, name }) => !which(type, name));
  dns.update();
}

const isForeign = (type: string): boolean => type === 'A' || type === 'AAAA';

export const PROVIDER_FAULTS: WorldFault[] = [
  providerFault('does not answer', 'slow', /api\.cloudflare\.com did not answer in time/),
  providerFault('answers nonsense', 'nonsense', /Cloudflare sent an answer that cannot be read/),
  providerFault('limits the rate', 'limited', /Cloudflare accepts no more requests now \(HTTP 429\)/),
  {
    fault: 'the token of the DNS provider is revoked in the middle',
    async inject(world) {
      removeAtProvider(world, (type) => !isForeign(type));
      world.provider.changesLeft = 3;
      expect(await world.publishes()).toMatch(/Cloudflare refused the credentials \(HTTP 403/);
      expect(linesOf(world.api)).toHaveLength(before.filter((one) => / A{1,4} /.test(one)).length + 3);
    },
    // The first records, MX and DKIM, were published.
    lines: [LINE, ...['spf failed', 'dmarc failed', 'mtaSts off'].map((one) => `${ZONE}: ${one}`)],
    why: /refused the credentials .*They need: an API token with/,
    fix: CONNECT_AGAIN,
    heal: publishAll,
  },
  {
    fault: 'half of the records are published',
    inject: (world) => removeAtProvider(world, (type, name) => type === 'MX' || name.includes('._domainkey.')),
    lines: ['mx failed', 'dkim failed'].map((one) => `${ZONE}: ${one}`),
    why: /has no MX record/,
    fix: /^Publish "MX 10 mail\.example\.net" for example\.net\.$/,
    heal: publishAll,
  },
  {
    fault: 'records of others have the same names',
    async inject(world) {
      removeAtProvider(world, (type) => type === 'MX');
      world.api.zone.add(ZONE, 'MX', 300, '10 mx.old.example.');
      expect(await world.publishes()).toBe('');
      const exchanges = world.api.zone.records.filter(({ type }) => type === 'MX').map(({ data }) => data);
      expect(exchanges, 'nothing of others is changed').toEqual(['10 mx.old.example.']);
    },
    lines: [`${ZONE}: mx failed`],
    why: /^Mail for example\.net goes to mx\.old\.example, not to this server/,
    fix: /^Publish "MX 10 mail\.example\.net" for example\.net\.$/,
    async heal(world) {
      world.api.zone.records = world.api.zone.records.filter(({ data }) => data !== '10 mx.old.example.');
      await publishAll(world);
    },
  },
];

const route = { receiverDomain: 'smart.test', host: SMARTHOST, certificate: 'any', username: 'box' } as const;
const retryAll = ({ ask }: FaultyWorld): Promise<unknown> => ask('retry_box_queue', { ids: 'all' });

/** Attempts at the receiver of others that were deferred and recorded. */
const deferrals = ({ log }: FaultyWorld): number =>
  log.filter(({ text, fields }) => text === 'relay: deferred' && fields['host'] === FAR).length;

/** Sends a message that its receiver defers, and lets hours pass. */
async function waitInQueue(world: FaultyWorld): Promise<void> {
  world.far.script = { rcpt: '451 4.3.0 later' };
  const before = deferrals(world);
  await world.sendsOut('you@far.test');
  await expect.poll(() => deferrals(world)).toBe(before + 1);
  world.clock.passed += 5 * HOUR;
}

const healQueue = (count: number) => async (world: FaultyWorld) => {
  world.far.script = {};
  await retryAll(world);
  await arrived(world.far, count);
};

/** Backs up, and waits for the line of the log. */
async function backUp({ ask, log }: FaultyWorld, line: string): Promise<void> {
  const seen = (): number => log.filter(({ text }) => text === line).length;
  const before = seen();
  await ask('run_backup');
  await expect.poll(seen).toBe(before + 1);
}

const failing = async ({ ask }: FaultyWorld): Promise<unknown> => (await ask('get_status'))['failing'];

export const MACHINE_FAULTS_OUTSIDE: WorldFault[] = [
  {
    fault: 'the smarthost refuses the login',
    async inject(world) {
      const { smarthost, ask } = world;
      smarthost.script = { other: (line) => (line.startsWith('AUTH') ? '535 5.7.8 wrong password' : undefined) };
      await ask('set_outbound_route', { ...route, password: 'old' });
      await world.sendsOut('you@smart.test');
      await expect.poll(async () => (await ask('get_status'))['refusedLogins']).toHaveLength(1);
    },
    lines: ['smarthost failed'],
    why: /^The smarthost smart\.far\.test rejects the login: .*535 5\.7\.8 wrong password/,
    fix: /^Correct the user name and password of the route/,
    async heal(world) {
      world.smarthost.script = { other: (line) => (line.startsWith('AUTH') ? '235 2.7.0 Ok' : undefined) };
      await world.ask('set_outbound_route', { ...route, password: 'new' });
      await retryAll(world);
      await arrived(world.smarthost, 1);
    },
  },
  {
    fault: 'the spam scanner is away',
    inject: ({ scanner }) => scanner.stop(),
    lines: ['spam filter failed'],
    why: /^Rspamd cannot be reached: connect ECONNREFUSED/,
    fix: /^Start the scanner, or remove its setting: mail is accepted without it meanwhile/,
    heal: ({ scanner }) => scanner.start(),
  },
  {
    fault: 'the target of backups is away',
    async inject(world) {
      await rename(world.backups, `${world.backups}-away`);
      await writeFile(world.backups, '');
      await backUp(world, 'failed to back up, will retry');
    },
    lines: ['backup warning'],
    why: /^The last good backup is 0 hours old\. The last attempt failed: ./,
    fix: /^Run "mailstead backup TARGET" and read its error/,
    async heal(world) {
      await rm(world.backups);
      await rename(`${world.backups}-away`, world.backups);
      await backUp(world, 'backup made');
    },
  },
  {
    fault: 'the disk is nearly full',
    inject: ({ resize }) => resize('1g'),
    lines: ['disk warning'],
    why: /^0\.9|^1\.0 GiB of 1\.0 GiB are free on the disk of the data directory/,
    fix: /^Free space or add a disk/,
    heal: ({ resize }) => resize('40g'),
  },
  {
    fault: 'the disk is full',
    async inject(world) {
      world.resize('80m');
      await expect.poll(() => failing(world)).toContain('disk');
    },
    lines: ['disk failed', 'readiness failed'],
    why: /^0\.[01] GiB of 0\.1 GiB are free/,
    fix: /without space mail is refused with "try later", and nothing is lost/,
    async heal(world) {
      world.resize('40g');
      await expect.poll(() => failing(world)).toEqual([]);
    },
    defers: true,
  },
  {
    fault: 'the clock differs from that of the authority',
    inject: ({ authority }) => void (authority.skewMs = -20 * 60_000),
    lines: ['clock failed'],
    why: /which is 20 minutes ahead of the clock of the certificate authority/,
    fix: /^Set the clock and run a time service/,
    heal: ({ authority }) => void (authority.skewMs = 0),
  },
  {
    fault: 'the clock is a day ahead',
    inject: ({ clock }) => void (clock.error = DAY),
    lines: ['clock failed'],
    why: /24 hours after the time that was expected\. Nothing is purged/,
    fix: /^Set the clock and run a time service/,
    heal: ({ clock }) => void (clock.error = 0),
  },
  {
    fault: 'the clock is a day behind',
    inject: ({ clock }) => void (clock.error = -DAY),
    lines: ['clock failed'],
    why: /the system clock is 24 hours behind, and is not followed/,
    fix: /^Set the clock and run a time service/,
    heal: ({ clock }) => void (clock.error = 0),
  },
  {
    fault: 'the queue does not move',
    inject: waitInQueue,
    lines: ['queue failed'],
    why: /^Messages have been due for more than an hour and were not tried\./,
    fix: /and restart the server/,
    heal: healQueue(1),
  },
  {
    fault: 'mail waits for a receiver that defers it',
    async inject(world) {
      await waitInQueue(world);
      const before = deferrals(world);
      await retryAll(world);
      await expect.poll(() => deferrals(world)).toBe(before + 1);
    },
    lines: ['queue warning'],
    why: /^Messages that wait for delivery: 1, the oldest for 5 hours/,
    fix: /^Run "mailstead queue list"/,
    heal: healQueue(2),
  },
];
