import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { sharedNode } from '../support/shared-node.ts';

const USER = 61_002;

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** A service of the operator's that is a program; answers its pid. */
async function supervised(box: Box): Promise<number> {
  const { service } = (await box.ask('create_service', { name: 'clock' })) as { service: { id: string } };
  const command = [sharedNode(), '-e', 'console.log("here"); setInterval(() => {}, 1000)'];
  await box.ask('set_service_control', { serviceId: service.id, control: { kind: 'command', command, uid: USER } });
  const { detail } = (await box.ask('deploy_service', { serviceId: service.id })) as { detail: string };
  return Number(/pid (\d+)/.exec(detail)?.[1]);
}

/** The pids of what was started, by the log of the only service. */
const started = (box: Box): number[] =>
  [...readFileSync(`${box.dataDir}/services/svc_1.log`, 'utf8').matchAll(/started, pid (\d+)/g)].map(([, pid]) =>
    Number(pid),
  );

test('a supervised program ends with the box, and comes again with it', async () => {
  await using box = await startBox();
  const pid = await supervised(box);
  expect(runs(pid)).toBe(true);
  await box.stop();
  expect(runs(pid)).toBe(false);
  await box.start();
  await expect.poll(() => started(box).length).toBe(2);
  const again = started(box).at(-1) ?? 0;
  expect(runs(again)).toBe(true);
  await box.stop();
  expect(runs(again)).toBe(false);
});

test.runIf(process.platform === 'linux')('after the box was killed there is one of it, not two', async () => {
  await using box = await startBox();
  const pid = await supervised(box);
  await box.kill();
  await box.start();
  await expect.poll(() => started(box).length).toBe(2);
  expect(started(box).filter(runs)).toHaveLength(1);
  expect(runs(pid)).toBe(false);
  await box.stop();
});
