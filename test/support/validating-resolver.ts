import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryServer } from '../../mail/dns/exchange.ts';
import { freePort } from './free-port.ts';

export interface ValidatingResolverOptions {
  /** Port of the name server on loopback that all queries go to. */
  server: number;
  /** Data of DS records by zone. */
  anchors: Readonly<Record<string, string>>;
}

/** BIND on a loopback port, which validates what one name server answers, from trust anchors of the test. */
export async function startValidatingResolver({
  server,
  anchors,
}: ValidatingResolverOptions): Promise<{ ip: string; port: number } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'validating-'));
  const port = await freePort();
  const trust = Object.entries(anchors).map(([zone, ds]) => {
    const [tag = '', algorithm = '', type = '', digest = ''] = ds.split(' ');
    return `${zone}. static-ds ${tag} ${algorithm} ${type} "${digest}";`;
  });
  const config = join(directory, 'server.conf');
  await writeFile(
    config,
    `options {
  directory "${directory}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file "${directory}/named.pid";
  session-keyfile "${directory}/session.key";
  recursion yes;
  allow-recursion { any; };
  forward only;
  forwarders { 127.0.0.1 port ${server}; };
  dnssec-validation yes;
};
controls { };
trust-anchors { ${trust.join(' ')} };
`,
  );
  const child = spawn('/usr/sbin/named', ['-4', '-g', '-c', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const query = { name: 'version.bind', type: 'TXT', recurse: false } as const;
  for (let tries = 0; (await queryServer({ ip: '127.0.0.1', port }, query, 250)) === undefined; tries += 1) {
    if (child.exitCode !== null || tries > 100) throw new Error(`named does not answer: ${output}`);
    await sleep(50);
  }
  return {
    ip: '127.0.0.1',
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
