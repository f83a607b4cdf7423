import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** CPU ms in two seconds below which a server has no work left. */
const IDLE_MS = 100;

/** All processes below these, themselves included. */
export function tree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = Number(statOf(name)?.[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all: number[] = [];
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    all.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return all;
}

/** CPU milliseconds that the trees used so far, ended children included; in steps of 10. */
export function cpuMs(roots: readonly number[]): number {
  let ticks = 0;
  for (const pid of tree(roots)) {
    const stat = statOf(String(pid));
    if (stat !== undefined) ticks += [11, 12, 13, 14].reduce((sum, field) => sum + Number(stat[field]), 0);
  }
  return ticks * 10;
}

/** Waits until the trees use next to no CPU, a few minutes at most. */
export async function untilIdle(roots: readonly number[]): Promise<void> {
  const until = performance.now() + 300_000;
  for (let before = -Infinity; performance.now() < until;) {
    const now = cpuMs(roots);
    if (now - before < IDLE_MS) return;
    before = now;
    await sleep(2_000);
  }
}

/** Memory of the trees in KiB: proportional (shared pages are divided) and resident. */
export function memoryKib(roots: readonly number[]): { pss: number; rss: number } {
  const sum = { pss: 0, rss: 0 };
  for (const pid of tree(roots)) {
    const text = read(`/proc/${pid}/smaps_rollup`);
    sum.pss += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    sum.rss += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return sum;
}

function statOf(pid: string): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}
