import { statfs } from 'node:fs/promises';
import { z } from 'zod';
import { listDomains } from '../../../mail/store/address/domain.ts';
import { queueDepth } from '../../../mail/store/queue/queue-rows.ts';
import { readStatus } from '../../backup/backup-commands.ts';
import { certificateStates } from '../../certificates/state.ts';
import { type Call, operation } from '../../core/operation.ts';
import { reportOn } from '../../deliverability/report.ts';
import { type HealthCheck, HEALTH_STATUSES, isHealthy } from '../../doctor/health-check.ts';
import { checkHostname, domainChecks, reverseNameCheck } from '../../doctor/network-checks.ts';
import { checkOpenRelay, checkOutboundPort } from '../../doctor/relay-test.ts';
import { checkServer, type ServerFacts } from '../../doctor/server-checks.ts';
import { publishedKeys } from '../../domains/queries.ts';
import { stsFetcherOf } from '../deliverability/report.ts';

/** Domains of which the DNS is checked; `domain` commands check others. */
const MAX_DOMAINS = 20;

export const runDoctor = operation({
  name: 'run_doctor',
  title: 'Check everything',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Checks the server, its DNS, certificates, disk, backups and settings. Sends no mail. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    peer: z
      .string()
      .regex(/^[\w.:-]{1,253}$/)
      .describe('A mail server of others, to test port 25 outwards')
      .optional(),
  }),
  output: z.object({
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), status: z.enum(HEALTH_STATUSES), why: z.string(), fix: z.string() })),
  }),
  async run(call, { peer }) {
    const checks = [
      ...checkServer(await factsOf(call)),
      await checkOpenRelay(call.ports()['smtp']),
      ...(peer === undefined ? [] : [await checkOutboundPort(peer, call.settings.outboundPort)]),
      ...(call.settings.live ? await networkChecks(call) : []),
    ];
    return { ok: isHealthy(checks), checks };
  },
});

async function networkChecks(call: Call): Promise<HealthCheck[]> {
  const domains = (await call.store.read(listDomains, undefined)).slice(0, MAX_DOMAINS);
  const reports = await Promise.all(
    domains.map(async (one) => {
      const keys = await call.store.read(publishedKeys, { domain: one.id });
      return { name: one.name, report: await reportOn({ ...call, fetchSts: stsFetcherOf(call) }, { ...one, keys }) };
    }),
  );
  const [first] = reports;
  return [
    await checkHostname(call.settings.hostname, call.lookNow),
    ...(first === undefined ? [] : [reverseNameCheck(first.report)]),
    ...reports.flatMap(({ name, report }) => domainChecks(name, report)),
  ];
}

async function factsOf(call: Call): Promise<ServerFacts> {
  const { settings, store, clock } = call;
  const [space, queue, { certificates }, backup] = await Promise.all([
    statfs(settings.dataDir),
    store.scan(queueDepth, undefined),
    certificateStates(call),
    readStatus(settings.dataDir),
  ]);
  const { pem, selfSigned } = call.certificate();
  const { target, everyMs, passphrase, passphraseFile } = settings.backup;
  return {
    now: clock(),
    live: settings.live,
    hostname: settings.hostname,
    failing: call.failing(),
    listeners: Object.entries(call.ports()).flatMap(([name, port]) => (port === undefined ? [] : [name])),
    certificate: {
      pem,
      selfSigned,
      automatic: settings.acme !== undefined,
      failing: certificates.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`])),
    },
    disk: { free: space.bavail * space.bsize, total: space.blocks * space.bsize },
    queue,
    refusedLogins: call.refusedLogins(),
    damaged: store.unreadable,
    bucket: store.files.remote?.state ?? null,
    backup: {
      target: target !== undefined,
      everyMs,
      lastGoodAt: backup?.lastGoodAt ?? undefined,
      sealed: passphrase !== undefined || passphraseFile !== undefined,
    },
    settings: {
      bootstrapOpen: settings.bootstrap === 'open',
      privateNetworks: settings.allowPrivateNetworks.all,
      dns: settings.ports.dns !== undefined,
    },
  };
}
