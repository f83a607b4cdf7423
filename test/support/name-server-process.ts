import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryServer } from '../../mail/dns/exchange.ts';
import { freePort } from './free-port.ts';

/** A primary name server of Debian with one zone, which accepts updates with a TSIG key. */
export interface NameServerProcess extends AsyncDisposable {
  port: number;
  keyName: string;
  /** Base64. */
  secret: string;
}

export const TSIG_SECRET = Buffer.from('thirty-two octets of a test key!').toString('base64');
const KEY = 'mailstead';

/** Starts Knot DNS on a loopback port. */
export function startKnot(zone: string, records: string): Promise<NameServerProcess> {
  return start('/usr/sbin/knotd', zone, records, (directory, port) => ({
    args: ['-c', join(directory, 'server.conf')],
    config: `server:
  rundir: ${directory}
  listen: 127.0.0.1@${port}
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
template:
  - id: default
    storage: ${directory}
zone:
  - domain: ${zone}
    file: zone.txt
    acl: update
`,
  }));
}

/** Starts BIND on a loopback port. */
export function startBind(zone: string, records: string): Promise<NameServerProcess> {
  return start('/usr/sbin/named', zone, records, (directory, port) => ({
    args: ['-f', '-c', join(directory, 'server.conf')],
    config: `options {
  directory "${directory}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file "${directory}/named.pid";
  session-keyfile "${directory}/session.key";
  recursion no;
  dnssec-validation no;
  notify no;
};
controls { };
key "${KEY}" { algorithm hmac-sha256; secret "${TSIG_SECRET}"; };
zone "${zone}" { type primary; file "zone.txt"; allow-update { key "${KEY}"; }; };
`,
  }));
}

async function start(
  program: string,
  zone: string,
  records: string,
  configure: (directory: string, port: number) => { config: string; args: string[] },
): Promise<NameServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'name-server-'));
  const port = await freePort();
  const { config, args } = configure(directory, port);
  await writeFile(join(directory, 'server.conf'), config);
  const soa = `${zone}. 3600 IN SOA ns.${zone}. admin.${zone}. 1 3600 600 604800 60\n${zone}. 3600 IN NS ns.${zone}.`;
  await writeFile(join(directory, 'zone.txt'), `${soa}\nns.${zone}. 3600 IN A 127.0.0.1\n${records}\n`);
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close');
  let running = true;
  void ended.then(() => (running = false));
  for (let tries = 0; ; tries += 1) {
    const response = await queryServer({ ip: '127.0.0.1', port }, { name: zone, type: 'SOA', recurse: false }, 1000);
    if ((response?.answers?.length ?? 0) > 0) break;
    if (!running || tries > 200) throw new Error(`${program} does not answer: ${output}`);
    await sleep(50);
  }
  return {
    port,
    keyName: KEY,
    secret: TSIG_SECRET,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
