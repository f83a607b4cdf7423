import { loadSettings } from '../../config/load.ts';
import type { Settings } from '../../config/settings.ts';
import { type Appliance, startAppliance } from './appliance.ts';
import { welcomeText } from './welcome-text.ts';
import { SteadyClock } from '../../mail/jobs/steady-clock.ts';
import { openLog } from './log.ts';
import { RecentLog } from '../core/recent-log.ts';
import { openMetrics } from '../core/metrics.ts';
import { CannotStart } from './options.ts';

/** Time to answer clients with 4xx after the store failed, before the process exits. */
const FATAL_EXIT_MS = 500;
const MAX_STOP_MS = 29_000;

/** Runs the appliance until a signal ends it. Exit codes: 0 stopped, 1 failed, 2 bad settings, 70 store failed. */
export async function serve(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const settings = loadSettings(env, args, process.stdout.isTTY);
  if ('problem' in settings) return complain(settings.problem, 2);
  // Database, keys and mail are readable by this user only.
  process.umask(0o077);
  const recentLog = new RecentLog();
  const log = openLog({
    level: settings.logLevel,
    format: settings.logFormat,
    colors: process.stdout.isTTY,
    copy: (line) => recentLog.add(line),
  });
  const fatal = (error: Error): void => {
    log.error({ err: error }, 'store failed: exiting, a restart recovers all committed data');
    setTimeout(() => process.exit(70), FATAL_EXIT_MS);
  };
  const steadyClock = new SteadyClock();
  try {
    const appliance = await startAppliance({
      settings,
      log,
      recentLog,
      metrics: openMetrics(),
      clock: () => steadyClock.now(),
      steadyClock,
      fatal,
    });
    const stop = (signal: string): void => {
      log.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), MAX_STOP_MS).unref();
      appliance[Symbol.asyncDispose]().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'failed to stop in order');
          process.exit(1);
        },
      );
    };
    process.once('SIGTERM', () => stop('SIGTERM'));
    process.once('SIGINT', () => stop('SIGINT'));
    await welcome(appliance, settings);
  } catch (error) {
    return complain(error instanceof CannotStart ? error.message : startError(error, settings), 1);
  }
}

function complain(sentence: string, code: number): never {
  process.stderr.write(`mailstead: ${sentence}\n`);
  process.exit(code);
}

/** A failed start in one line: the causes and, for ports, the setting to change. */
function startError(error: unknown, { ports }: Settings): string {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (port !== undefined && (code === 'EADDRINUSE' || code === 'EACCES')) {
    const name = Object.entries(ports).find(([, value]) => value === port)?.[0];
    const setting = name === undefined ? '' : ` (MAILSTEAD_${name.toUpperCase()}_PORT)`;
    if (code === 'EADDRINUSE') {
      return `Port ${port} on ${address} is in use${setting}. Stop the other program, or choose another port.`;
    }
    return `Port ${port} on ${address} needs more privileges${setting}. Grant CAP_NET_BIND_SERVICE (docs/operating.md), or choose a port above 1023.`;
  }
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 4; at = at.cause) parts.push(at.message);
  return parts.join(': ');
}

/** Prints the welcome text, then the ready line. The ready line comes last: its reader may stop the server at once. */
async function welcome(appliance: Appliance, settings: Settings): Promise<void> {
  const { listeners, seeded, selfSigned, baseUrl } = appliance;
  process.stdout.write(`${welcomeText({ settings, listeners, seeded, selfSigned, baseUrl })}\n`);
  await appliance.confirmWelcome();
  // For scripts, in every log format: all listeners are open.
  process.stdout.write(
    `${JSON.stringify({ level: 'info', time: new Date().toISOString(), listeners, msg: 'ready' })}\n`,
  );
}
