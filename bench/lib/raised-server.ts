import { loadSettings } from '../../config/load.ts';
import { startAppliance } from '../../src/start/appliance.ts';
import { openLog } from '../../src/start/log.ts';
import { openMetrics } from '../../src/core/metrics.ts';

/** The appliance as it is, but for one limit: any number of IMAP sessions an account. */
const settings = loadSettings(process.env, []);
if ('problem' in settings) throw new Error(settings.problem);
const appliance = await startAppliance({
  settings,
  log: openLog({ level: 'warn', format: 'json' }),
  metrics: openMetrics(),
  clock: Date.now,
  fatal: () => process.exit(70),
  imapLimits: { sessionsEachAccount: 100_000 },
});
process.stdout.write(`${JSON.stringify({ listeners: appliance.listeners, msg: 'ready' })}\n`);
process.once('SIGTERM', () => void appliance[Symbol.asyncDispose]().then(() => process.exit(0)));
