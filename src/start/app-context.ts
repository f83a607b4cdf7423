import type { Settings } from '../../config/settings.ts';
import { BackupRuns } from '../backup/backup-runs.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import type { Revoke } from '../agents/agent-logins.ts';
import { signCms } from '../client-setup/cms.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { HttpLimits } from '../http/rate-limits.ts';
import type { AppContext } from '../core/app-context.ts';
import { ServiceSupervisor } from '../services/runner.ts';
import { TransferRunner } from '../transfers/transfers.ts';
import { WaitRegistry } from '../waiting/wait-registry.ts';
import { memoryShares } from './memory-shares.ts';
import type { Services } from './shared-parts.ts';
import type { Listeners } from './ports.ts';

/** {base_url}, without a slash at the end. */
export function baseUrlOf({ baseUrl }: Pick<Settings, 'baseUrl'>, { http, https }: Listeners): string {
  return baseUrl ?? `http://127.0.0.1:${http ?? https ?? 0}`;
}

/** The context with the parts that the appliance starts and stops itself. */
export interface RunningContext extends AppContext {
  readonly waits: WaitRegistry;
  readonly runner: ServiceSupervisor;
  readonly transfers: TransferRunner;
  readonly backups: BackupRuns;
}

/** Creates the context of areas and operations. `listeners` is filled in when all servers listen. */
export function createAppContext(
  services: Services,
  listeners: Listeners,
  refusedLogins: AppContext['refusedLogins'],
): RunningContext {
  const { settings, clock, logins, queue } = services;
  const baseUrl = (): string => baseUrlOf(settings, listeners);
  const ports = (): Listeners => listeners;
  return {
    ...services,
    limits: new HttpLimits((ip) => services.exempt(ip) || (services.local && isLoopback(ip)), services.guard),
    certificate: () => ({ pem: services.tls.pair.cert, selfSigned: services.tls.selfSigned }),
    signDocument: (document) => signCms(document, services.tls.pair, clock()),
    startedAt: clock(),
    policy: services.agents.policy,
    baseUrl,
    ports,
    inFlight: new KeyedSemaphore({ proposal: Infinity }),
    waits: new WaitRegistry(services),
    runner: new ServiceSupervisor({ ...services, baseUrl, ports }),
    transfers: new TransferRunner(services, memoryShares(services.settings.memoryMb).imports),
    backups: new BackupRuns(services),
    revoked: revoking(logins),
    catalogue: async () => (await import('../operations/catalogue.ts')).CATALOGUE,
    queueChanged: () => queue.changed(),
    refusedLogins,
  };
}

/** Ends sessions of passwords that hold no more; without their rows all of an account. */
export function revoking(logins: Services['logins']): Revoke {
  return (account, gone) => {
    if (gone === undefined) logins.revoked({ account });
    for (const credential of gone ?? []) logins.revoked({ account, credential });
  };
}
