import { expect, test } from 'vitest';
import { CommandOrder } from '../../../mail/store/engine/postgres/command-order.ts';

/** Adds commands at once; each ends when `end` is called with its name. Returns the names of those that run. */
function ordered(commands: Record<string, readonly number[] | undefined>): {
  running: () => Promise<string[]>;
  end: (name: string) => void;
} {
  const order = new CommandOrder();
  const running = new Map<string, () => void>();
  for (const [name, accounts] of Object.entries(commands)) {
    void order.add(accounts, () => new Promise<void>((resolve) => running.set(name, resolve)));
  }
  return {
    running: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return [...running.keys()];
    },
    end: (name) => {
      running.get(name)?.();
      running.delete(name);
    },
  };
}

test('commands of different accounts run at once, those of one account in their order', async () => {
  const { running, end } = ordered({ a: [1], b: [2], c: [1], d: [3, 2], e: [3] });
  expect(await running()).toEqual(['a', 'b']);
  end('a');
  expect(await running()).toEqual(['b', 'c']);
  end('b');
  expect(await running()).toEqual(['c', 'd']);
  end('d');
  expect(await running()).toEqual(['c', 'e']);
});

test('a command that keeps to no account waits for all before it, and all behind it wait for it', async () => {
  const { running, end } = ordered({ a: [1], b: [2], whole: undefined, c: [1], other: undefined });
  expect(await running()).toEqual(['a', 'b']);
  end('a');
  expect(await running()).toEqual(['b']);
  end('b');
  expect(await running()).toEqual(['whole']);
  end('whole');
  expect(await running()).toEqual(['c']);
  end('c');
  expect(await running()).toEqual(['other']);
});
