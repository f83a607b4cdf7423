import { JudgeClient } from '../../mail/judge/client.ts';
import type { Judging } from '../../mail/receiver/intake-desk.ts';
import type { Inside } from './inside.ts';

/** What the judge's thread is told. */
export interface JudgeSettings {
  database: string;
  /** Resolvers as Node writes them; none: the system's. */
  servers: readonly string[];
  /** Our own name. */
  hostname: string;
  /** The network may be asked. */
  network: boolean;
  /** Domains whose ARC seal is believed. */
  trustedSealers: readonly string[];
}

/** Who judges mail from outside, in a thread of its own. Without checks in local mode nobody has to. */
export function openJudge(
  { settings, store, servers, local, log, metrics }: Inside,
  stack: AsyncDisposableStack,
): (Judging & { judge: JudgeClient }) | null {
  if (local && !settings.spamChecks) return null;
  const told: JudgeSettings = {
    database: store.database,
    servers,
    hostname: settings.hostname,
    network: !local,
    trustedSealers: settings.trustedSealers,
  };
  const thread = new URL('../judge-thread.ts', import.meta.url);
  const judge = stack.use(new JudgeClient({ thread, settings: told, log, meter: metrics }));
  return { judge, checks: settings.spamChecks, network: !local };
}
