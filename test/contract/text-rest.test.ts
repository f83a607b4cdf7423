import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { storeTestMessage } from '../support/jmap-message.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';

const threads = (): number => readdirSync('/proc/self/task').length;

test(
  'a full-text thread that nobody needs ends, and another begins when it is asked',
  { timeout: 60_000 },
  async () => {
    await using world = await createJmapFixture('writer thread');
    const search = (): Promise<Record<string, unknown>> => world.call('Email/query', { filter: { text: 'needle' } });
    const first = await storeTestMessage(world, 'Subject: one\n\nneedle\n');
    const without = threads();
    expect((await search())['ids']).toEqual([first]);
    const working = threads();
    expect(working).toBeGreaterThan(without);
    await vi.waitFor(() => expect(threads()).toBeLessThan(working), { timeout: 40_000, interval: 500 });
    const second = await storeTestMessage(world, 'Subject: two\n\nneedle\n');
    expect(((await search())['ids'] as string[]).sort()).toEqual([first, second].sort());
  },
);
