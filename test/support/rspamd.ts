import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** Modules that ask the network for something other than SPF, DKIM and DMARC, or need a Redis of their own. */
const OFF =
  'rbl surbl fuzzy_check asn phishing rspamd_update mx_check dcc url_redirector ' +
  'greylist history_redis ratelimit dkim_signing bimi neural replies whitelist';
const FLAGS = '-f -u _rspamd -g _rspamd -c /etc/rspamd/rspamd.conf';
const PATIENCE_MS = 180_000;

export interface RunningRspamd extends AsyncDisposable {
  pid: number;
  /** URL of its normal worker. */
  url: string;
  /** Where it speaks the protocol of milters. */
  milterPort: number;
  /** URL of its controller worker, which learns. */
  controllerUrl: string;
}

/**
 * Debian's Rspamd with Debian's rules, files of its own, on loopback, which it takes for anybody's address. Nothing outside is asked: names are looked up at
 * `dns` (`127.0.0.1:port`), and what is learnt is kept by the Redis at `redis`, or nowhere. Needs root.
 */
export async function startRspamd({ dns, redis }: { dns: string; redis?: string }): Promise<RunningRspamd> {
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'rspamd-'));
  chmodSync(dir, 0o755);
  const [normal, controller, milter] = [await freePort(), await freePort(), await freePort()];
  layRspamd(dir, { dns, redis, normal, controller, milter });
  const positions = { DBDIR: 'db', LOGDIR: 'log', RUNDIR: 'run', LOCAL_CONFDIR: 'local' };
  const child = spawn(
    '/usr/bin/rspamd',
    FLAGS.split(' ').concat(Object.entries(positions).map(([name, place]) => `--var=${name}=${join(dir, place)}`)),
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${normal}`;
  const running: RunningRspamd = {
    pid: child.pid ?? 0,
    url,
    milterPort: milter,
    controllerUrl: `http://127.0.0.1:${controller}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
  const late = performance.now() + PATIENCE_MS;
  while (!(await answers(url))) {
    if (child.exitCode === null && performance.now() < late) {
      await delay(100);
      continue;
    }
    const log = readFileSync(join(dir, 'log/rspamd.log'), 'utf8').slice(-2_000);
    await running[Symbol.asyncDispose]();
    throw new Error(`Rspamd did not start: ${log}`);
  }
  return running;
}

interface Layout {
  dns: string;
  redis: string | undefined;
  normal: number;
  controller: number;
  milter: number;
}

function layRspamd(dir: string, { dns, redis, normal, controller, milter }: Layout): void {
  const { uid, gid } = statSync('/var/lib/rspamd');
  for (const place of ['db', 'log', 'run']) {
    mkdirSync(join(dir, place));
    chownSync(join(dir, place), uid, gid);
  }
  mkdirSync(join(dir, 'local/local.d'), { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(dir, 'local/local.d', name), `${text}\n`);
  for (const name of OFF.split(' ')) write(`${name}.conf`, 'enabled = false;');
  for (const name of ['spf', 'dkim', 'dmarc', 'arc']) write(`${name}.conf`, 'check_local = true;');
  write('options.inc', `check_local = true; dns { nameserver = ["${dns}"]; timeout = 1s; retransmits = 2; }`);
  write('worker-normal.inc', `bind_socket = "127.0.0.1:${normal}";`);
  write('worker-controller.inc', `bind_socket = "127.0.0.1:${controller}"; secure_ip = "127.0.0.1";`);
  write(
    'worker-proxy.inc',
    `bind_socket = "127.0.0.1:${milter}"; count = 2; upstream "local" { default = yes; self_scan = yes; }`,
  );
  write('milter_headers.conf', 'use = ["authentication-results"]; skip_local = false;');
  if (redis !== undefined) write('redis.conf', `servers = "${redis}";`);
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/ping`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}
