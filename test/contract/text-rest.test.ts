import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { keep } from '../support/jmap-kept.ts';
import { jmapWorld } from '../support/jmap-world.ts';

const threads = (): number => readdirSync('/proc/self/task').length;

test(
  'a full-text thread that nobody needs ends, and another begins when it is asked',
  { timeout: 60_000 },
  async () => {
    await using world = await jmapWorld('writer thread');
    const search = (): Promise<Record<string, unknown>> => world.call('Email/query', { filter: { text: 'needle' } });
    const first = await keep(world, 'Subject: one\n\nneedle\n');
    const without = threads();
    expect((await search())['ids']).toEqual([first]);
    const working = threads();
    expect(working).toBeGreaterThan(without);
    await vi.waitFor(() => expect(threads()).toBeLessThan(working), { timeout: 40_000, interval: 500 });
    const second = await keep(world, 'Subject: two\n\nneedle\n');
    expect(((await search())['ids'] as string[]).sort()).toEqual([first, second].sort());
  },
);
