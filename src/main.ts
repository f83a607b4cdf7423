import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { type Appliance, startAppliance } from './appliance.ts';
import { howToTry } from './how-to-try.ts';
import { openLog } from './log.ts';
import { openMetrics } from './metrics.ts';
import { CannotStart } from './start/surroundings.ts';

/** Time to say "later" to who waits, before a store that cannot be trusted takes the process with it. */
const LAST_WORDS_MS = 500;
const LONGEST_STOP_MS = 29_000;

/** Runs the appliance until a signal ends it. The exit code says how it went. */
export async function serve(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const settings = loadSettings(env, args, process.stdout.isTTY);
  if ('problem' in settings) return complain(settings.problem, 2);
  // What this process writes is its own: database, keys, mail.
  process.umask(0o077);
  const log = openLog({ level: settings.logLevel, format: settings.logFormat, colors: process.stdout.isTTY });
  const fatal = (error: Error): void => {
    log.error({ err: error }, 'the store failed: ending now, a restart recovers what was committed');
    setTimeout(() => process.exit(70), LAST_WORDS_MS);
  };
  try {
    const appliance = await startAppliance({ settings, log, metrics: openMetrics(), clock: Date.now, fatal });
    const stop = (signal: string): void => {
      log.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref();
      appliance[Symbol.asyncDispose]().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'could not stop in order');
          process.exit(1);
        },
      );
    };
    process.once('SIGTERM', () => stop('SIGTERM'));
    process.once('SIGINT', () => stop('SIGINT'));
    // Last: whoever reads that it is ready may stop it at once.
    welcome(appliance, settings);
  } catch (error) {
    return complain(error instanceof CannotStart ? error.message : reason(error), 1);
  }
}

function complain(sentence: string, code: number): never {
  process.stderr.write(`mailstead: ${sentence}\n`);
  process.exit(code);
}

/** A failure in one line, with what caused it and, where it is known, what to do. */
function reason(error: unknown): string {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${address} is taken by another program: stop it, or choose another port (MAILSTEAD_..._PORT, see config/example.env).`;
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} may not be opened by this user: run it with the right to (docs/operating.md), or choose ports above 1023.`;
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 4; at = at.cause) parts.push(at.message);
  return parts.join(': ');
}

function welcome(appliance: Appliance, settings: Settings): void {
  const { listeners, seeded, selfSigned, baseUrl } = appliance;
  process.stdout.write(`${howToTry({ settings, listeners, seeded, selfSigned, baseUrl })}\n`);
  // For scripts, whatever the log format: every door is open.
  process.stdout.write(
    `${JSON.stringify({ level: 'info', time: new Date().toISOString(), listeners, msg: 'ready' })}\n`,
  );
}
