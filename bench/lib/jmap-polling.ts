import { at, JmapWire } from './jmap-load.ts';
import { cpuMs } from './process.ts';

/** An account that clients of a load ask for: its JMAP id, and what stands in `Authorization`. */
export interface Polled {
  id: string;
  authorization: string;
}

export interface PollingFigures {
  perSecond: number;
  p50: number;
  p99: number;
  /** CPU milliseconds of the server for each request. */
  cpu: number;
}

/** Opens so many clients, spread over the accounts; each has its state and asks from there on. */
export async function pollers(count: number, port: number, path: string, accounts: readonly Polled[]) {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { id: accountId, authorization } = accounts[i % accounts.length] ?? { id: '', authorization: '' };
      const wire = await JmapWire.open(port, authorization, path);
      const { g } = await wire.call(['Email/get', { accountId, ids: [] }, 'g']);
      const changes = ['Email/changes', { accountId, sinceState: g?.['state'] }, 'c'] as const;
      return { wire, text: JmapWire.text(changes, ['Mailbox/get', { accountId, ids: null }, 'm']) };
    }),
  );
}

type Client = Awaited<ReturnType<typeof pollers>>[number];

/** Clients that ask on and on whether anything changed, and what folders there are. */
export async function poll(
  clients: readonly Client[],
  seconds: number,
  roots: readonly number[],
): Promise<PollingFigures> {
  const before = cpuMs(roots);
  const until = performance.now() + seconds * 1000;
  const took: number[] = [];
  await Promise.all(
    clients.map(async ({ wire, text }) => {
      for (let from = performance.now(); from < until; from = performance.now()) {
        await wire.ask(text);
        took.push(performance.now() - from);
      }
    }),
  );
  took.sort((a, b) => a - b);
  return {
    perSecond: took.length / seconds,
    p50: at(took, 0.5),
    p99: at(took, 0.99),
    cpu: (cpuMs(roots) - before) / took.length,
  };
}
