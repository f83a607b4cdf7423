import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { startRspamd } from '../../test/support/rspamd.ts';
import type { Senders } from './judged-mail.ts';
import type { Subject } from './mailstead.ts';
import { startPeer } from './peer.ts';
import { Wire } from './wire.ts';

/** Messages of each kind that Rspamd must learn before it classifies. */
const LEARNT = 250;

/**
 * Debian's Postfix and Dovecot with Debian's Rspamd as its milter: SPF, DKIM, DMARC, its rules, and its Bayes filter on a
 * Redis, trained. What asks the network for anything else is off.
 */
export async function startFilteredPeer(users: number, dns: string, senders: Senders): Promise<Subject> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedis());
  const rspamd = stack.use(await startRspamd({ dns, redis: `127.0.0.1:${redis.port}` }));
  await train(rspamd.controllerUrl, senders);
  const postfix = await startPeer(
    users,
    `smtpd_milters = inet:127.0.0.1:${rspamd.milterPort}
milter_default_action = tempfail
milter_protocol = 6
`,
  );
  const beside = stack.move();
  return {
    ...postfix,
    name: 'postfix+dovecot+rspamd',
    roots: [...postfix.roots, rspamd.pid, redis.pid],
    async stop() {
      await postfix.stop();
      await beside.disposeAsync();
    },
  };
}

async function train(url: string, senders: Senders): Promise<void> {
  for (let n = 0; n < LEARNT; n++) {
    for (const kind of ['ham', 'spam']) {
      const body = Uint8Array.from(await senders.mail(n, 2_000, kind));
      const answer = await fetch(`${url}/learn${kind}`, { method: 'POST', body });
      if (!answer.ok && answer.status !== 208) throw new Error(`Rspamd learns nothing: ${await answer.text()}`);
      await answer.body?.cancel();
    }
  }
}

async function startRedis(): Promise<{ port: number; pid: number } & AsyncDisposable> {
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'redis-'));
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'];
  const child = spawn('/usr/bin/redis-server', flags, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  for (let tries = 0; ; tries++) {
    const there = await Wire.open(port).catch(() => undefined);
    there?.close();
    if (there !== undefined) break;
    if (child.exitCode !== null || tries === 100) throw new Error('Redis did not start');
    await sleep(50);
  }
  return {
    port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
