import { loadSettings } from '../../config/load.ts';
import { startAppliance } from '../../src/start/appliance.ts';
import { openLog } from '../../src/start/log.ts';
import { openMetrics } from '../../src/core/metrics.ts';

/** The appliance as it is, but that other people's name servers listen at the port that is the first argument. */
const settings = loadSettings(process.env, []);
if ('problem' in settings) throw new Error(settings.problem);
const appliance = await startAppliance({
  settings,
  log: openLog({ level: 'info', format: 'json' }),
  metrics: openMetrics(),
  clock: Date.now,
  fatal: () => process.exit(70),
  nameServerPort: Number(process.argv[2]),
});
process.stdout.write(`${JSON.stringify({ listeners: appliance.listeners, msg: 'ready' })}\n`);
process.once('SIGTERM', () => void appliance[Symbol.asyncDispose]().then(() => process.exit(0)));
