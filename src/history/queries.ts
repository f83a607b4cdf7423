import { lookup } from '../../mail/store/engine/types.ts';

/** Hours are counted since 1970, UTC. */
export const HOUR_MS = 3_600_000;

/** Upper ends of the intervals in which delivery times are counted, seconds; those of the metric relay_queued_seconds. */
export const DELIVERY_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 432_000] as const;

/** Kinds of which the maximum of the hour is stored; all others are sums. */
export const MAXIMA = ['queue-oldest-seconds', 'queue-due'] as const;

/** Kind of the deliveries that took at most so many seconds and more than the next lower end. */
export function deliveryKind(seconds: number): string {
  return `delivered-in-${seconds}`;
}

/** Numbers of one interval, by kind. */
export type HourNumbers = Readonly<Record<string, number>>;

/** Time within which a share of the deliveries ended: the upper end of its interval, seconds; null: none ended. */
export function deliveryPercentile(numbers: HourNumbers, share: number): number | null {
  const counts = DELIVERY_SECONDS.map((seconds) => numbers[deliveryKind(seconds)] ?? 0);
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let passed = 0;
  const at = counts.findIndex((n) => (passed += n) >= total * share);
  return DELIVERY_SECONDS[at] ?? null;
}

/** Joins the numbers of several hours. */
export function joinHours(all: readonly HourNumbers[]): HourNumbers {
  const joined: Record<string, number> = {};
  for (const one of all) {
    for (const [kind, n] of Object.entries(one)) {
      const before = joined[kind] ?? 0;
      joined[kind] = isMaximum(kind) ? Math.max(before, n) : before + n;
    }
  }
  return joined;
}

/** True for kinds whose maximum is stored. */
export function isMaximum(kind: string): boolean {
  return (MAXIMA as readonly string[]).includes(kind);
}

/** Numbers of the hours from `from` on, by hour. At most 90 days with about 20 kinds each hour. */
export const serverHours = lookup(
  'server-hours',
  async (rx, input: { from: number }): Promise<Map<number, HourNumbers>> => {
    const rows = await rx.all<{ hour: number; kind: string; n: number }>(
      'SELECT hour, kind, n FROM server_hour WHERE hour >= ? ORDER BY hour',
      input.from,
    );
    const hours = Map.groupBy(rows, ({ hour }) => hour);
    return new Map([...hours].map(([hour, some]) => [hour, Object.fromEntries(some.map(({ kind, n }) => [kind, n]))]));
  },
);
