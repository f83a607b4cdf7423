import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { holdMany, letGo } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';

const DESCRIPTORS = 256;
const LOOK_MS = 3000;
/** Ticks a second of the kernel's CPU clock. */
const TICK_MS = 10;

/** CPU time of a process so far, in ms. */
async function cpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

test.each(['smtp', 'imap', 'http', 'https'] as const)(
  'out of file descriptors by connections to %s: it idles, lives and recovers',
  async (door) => {
    await using box = await startBox({
      hostname: 'mail.home.example',
      wrapper: ['prlimit', `--nofile=${DESCRIPTORS}`],
    });
    // Five of an address each: no limit of ours is reached before the system's.
    const held = await holdMany(
      2 * DESCRIPTORS,
      (i) => ({ from: `127.3.${Math.floor(i / 5)}.1`, port: box.port(door) }),
      50,
    );
    // libuv accepts and drops connections beyond the limit with a spare descriptor.
    await expect
      .poll(() => held.filter(({ closedAt }) => closedAt !== undefined).length, { timeout: 60_000 })
      .toBeGreaterThan(DESCRIPTORS);
    const from = await cpuMs(box.pid);
    await delay(LOOK_MS);
    const share = ((await cpuMs(box.pid)) - from) / LOOK_MS;
    expect(share).toBeLessThanOrEqual(0.2);
    await letGo(held);
    await expect.poll(() => greets(box.port('imap'))).toBe(true);
    await box.stop();
    expect(box.log.filter(({ level }) => level === 'error').length).toBeLessThan(10);
    console.log(`${door}: ${Math.round(100 * share)} % of a core at the limit`);
  },
);

async function greets(port: number): Promise<boolean> {
  try {
    using wire = await Wire.open(port);
    return (await wire.line())?.startsWith('* OK') ?? false;
  } catch {
    return false;
  }
}
