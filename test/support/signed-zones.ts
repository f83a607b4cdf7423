import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { queryServer } from '../../mail/dns/exchange.ts';
import { TSIG_SECRET } from './name-server-process.ts';

const run = promisify(execFile);
const KEY = 'mailstead';

/** A zone: its name, and its records below SOA and NS. */
export interface SignedZone {
  name: string;
  records: string;
  /** False: not signed. */
  signed?: boolean;
}

/** A primary name server (Knot DNS) at port 53 of an address, which signs its zones (DNSSEC). */
export interface SignedServer extends AsyncDisposable {
  address: string;
  keyName: string;
  /** Base64. */
  secret: string;
  /** Delegations of the zones for the zone above: NS, address of the server, DS. */
  delegations: string;
  /** Public key of the first zone, as BIND wants a trust anchor. */
  anchor: string;
  /** Adds a record, as the operator of the server does. */
  add(zone: string, name: string, record: string): Promise<void>;
}

/** Starts a server for these zones. Updates and queries with the TSIG key are allowed. */
export async function startSignedServer(address: string, zones: readonly SignedZone[]): Promise<SignedServer> {
  const directory = await mkdtemp(join(tmpdir(), 'zones-'));
  const config = join(directory, 'server.conf');
  await writeFile(config, configOf(directory, address, zones));
  const keys = await Promise.all(zones.map((zone) => makeKey(config, directory, zone, address)));
  const child = spawn('/usr/sbin/knotd', ['-c', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  await answers(child, address, zones[0]?.name ?? '.');
  return {
    address,
    keyName: KEY,
    secret: TSIG_SECRET,
    delegations: keys.map(({ delegation }) => delegation).join('\n'),
    anchor: keys[0]?.anchor ?? '',
    async add(zone, name, record) {
      const knotc = (...words: string[]) => run('/usr/sbin/knotc', ['-c', config, ...words]);
      await knotc('zone-begin', zone);
      await knotc('zone-set', zone, `${name}.`, ...record.split(' '));
      await knotc('zone-commit', zone);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const fileOf = (zone: string): string => `zone-${zone === '.' ? 'root' : zone}`;
const serverOf = (zone: string): string => (zone === '.' ? 'ns.' : `ns.${zone}.`);
const fullName = (zone: string): string => (zone === '.' ? '.' : `${zone}.`);

function configOf(directory: string, address: string, zones: readonly SignedZone[]): string {
  return `server:
  rundir: ${directory}
  listen: ${address}@53
  user: root
database:
  storage: ${directory}
key:
  - id: ${KEY}
    algorithm: hmac-sha256
    secret: ${TSIG_SECRET}
acl:
  - id: update
    key: ${KEY}
    action: [update, transfer, query]
policy:
  - id: signed
    algorithm: ecdsap256sha256
    single-type-signing: on
template:
  - id: default
    storage: ${directory}
zone:
${zones
  .map(
    ({ name, signed = true }) => `  - domain: ${name}
    file: ${fileOf(name)}
    acl: update
${signed ? '    dnssec-signing: on\n    dnssec-policy: signed\n' : ''}`,
  )
  .join('')}`;
}

/** Writes the file of a zone, and makes its key before it is served, so that the zone above can have the DS record. */
async function makeKey(
  config: string,
  directory: string,
  { name, records, signed = true }: SignedZone,
  address: string,
): Promise<{ delegation: string; anchor: string }> {
  const [zone, server] = [fullName(name), serverOf(name)];
  const soa = `${zone} 60 IN SOA ${server} admin.${zone.replace(/^\.$/, '')} 1 3600 600 604800 60`;
  const own = `${zone} 60 IN NS ${server}\n${server} 60 IN A ${address}`;
  await writeFile(join(directory, fileOf(name)), `${soa}\n${own}\n${records}\n`);
  if (!signed) return { delegation: own, anchor: '' };
  const keymgr = async (...words: string[]): Promise<string> =>
    (await run('/usr/sbin/keymgr', ['-c', config, zone, ...words])).stdout;
  await keymgr('generate', 'ksk=yes', 'zsk=yes');
  const ds = /^\S+ DS (\d+ 13 2 \S+)$/m.exec(await keymgr('ds'))?.[1] ?? '';
  const [, flags, key] = /DNSKEY (\d+ 3 13) (\S+)/.exec(await keymgr('dnskey')) ?? [];
  return { delegation: `${own}\n${zone} 60 IN DS ${ds}`, anchor: `${zone} static-key ${flags} "${key}"` };
}

/** Starts BIND as a validating resolver at port 53 of an address. */
export async function startResolver(address: string, root: SignedServer): Promise<AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'resolver-'));
  const config = join(directory, 'server.conf');
  await writeFile(join(directory, 'hints'), `. 60 IN NS ns.\nns. 60 IN A ${root.address}\n`);
  await writeFile(
    config,
    `options {
  directory "${directory}";
  listen-on { ${address}; };
  listen-on-v6 { none; };
  pid-file "${directory}/named.pid";
  session-keyfile "${directory}/session.key";
  recursion yes;
  allow-recursion { any; };
  dnssec-validation yes;
  max-ncache-ttl 1;
  max-cache-ttl 2;
};
controls { };
trust-anchors { ${root.anchor}; };
zone "." { type hint; file "hints"; };
`,
  );
  const child = spawn('/usr/sbin/named', ['-4', '-g', '-c', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  await answers(child, address, '.');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function answers(child: ChildProcess, ip: string, zone: string): Promise<void> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  for (let tries = 0; ; tries += 1) {
    const query = { name: zone, type: 'SOA', recurse: true } as const;
    const response = await queryServer({ ip, port: 53 }, query, 250);
    if ((response?.answers?.length ?? 0) > 0) return;
    if (child.exitCode !== null || tries > 40) throw new Error(`no answer at ${ip}: ${output}`);
    await sleep(50);
  }
}
